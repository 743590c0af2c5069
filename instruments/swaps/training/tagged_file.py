"""Reads sentences with tagged names in CoNLL's form: a word and its tag a line, an empty line behind each sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.instruments.datasets.sheets import read_text
from polyculture.instruments.swaps.training.examples import ExampleFile, TaggedSentence

_TAG = re.compile(r"O|[BIESLUM]-\S+")
_BEGINS = ("B", "S", "U")
_OF_DOCUMENTS = "-DOCSTART-"


def read_tagged(path: Path) -> ExampleFile[TaggedSentence]:
    """The sentences of a file. The word is a line's first field and the tag its last, in any of IOB, IOB2 and IOBES.

    Raises `DataSetError`, naming the line, where a tag has another form, and where no name is tagged. A sentence that
    stands twice is left out and counted; comments and lines between documents are none.
    """
    left_out, found = Counter[str](), dict[tuple[str, ...], tuple[str, ...]]()
    for words, tags in _sentences(path):
        if words in found:
            left_out["the same sentence twice"] += 1
        else:
            found[words] = in_iob2(tags)
    if not any(tag != "O" for tags in found.values() for tag in tags):
        raise DataSetError("tags no name", where=path, remedy="Give a word and its tag a line: 'Cairo B-LOC'.")
    return ExampleFile(path, tuple(TaggedSentence(*one) for one in found.items()), left_out)


def in_iob2(tags: Sequence[str]) -> tuple[str, ...]:
    """Tags in IOB2: each name begins with B-, also where it began with I- or S-."""
    turned, last = [], ""
    for tag in tags:
        prefix, _, kind = tag.partition("-")
        begins = bool(kind) and (prefix in _BEGINS or kind != last)
        turned.append(f"{'B' if begins else 'I'}-{kind}" if kind else "O")
        last = kind
    return tuple(turned)


def _sentences(path: Path) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    for empty, lines in groupby(_lines(path), key=lambda pair: pair is None):
        if not empty:
            words, tags = zip(*(pair for pair in lines if pair is not None), strict=True)
            yield words, tags


def _lines(path: Path) -> Iterator[tuple[str, str] | None]:
    """The word and tag of each line; None between sentences."""
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        fields = line.split("\t") if "\t" in line else line.split()
        fields = [field.strip() for field in fields if field.strip()]
        if not fields or fields[0] == _OF_DOCUMENTS:
            yield None
        elif len(fields) > 1 and _TAG.fullmatch(fields[-1]):
            yield fields[0], fields[-1]
        elif not fields[0].startswith("#"):
            remedy = "Give a word and its tag a line: 'Cairo B-LOC'; 'O' where there is no name."
            raise DataSetError(f"line {number}: {line[:60]!r} has no word and tag", where=path, remedy=remedy)
