"""Examples that a model is fine-tuned on, and which of them it is tested on.

How a model is fine-tuned: numbers from a TOML file, ours where the user's does not say.

Reads texts with their sentiment: a table in any form that data sets are read in, as the UTF-16 of HARD.

Reads sentences with tagged names in CoNLL's form: a word and its tag a line, an empty line behind each sentence.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import file_sha256
from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.instruments.datasets.model import Label
from polyculture.instruments.datasets.sheets import Sheet, cell, read_sheets, read_text

OURS = Path(__file__).parent / "fine_tuning.toml"
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0, lt=2**32 - 1000)]


class FineTuning(BaseModel):
    """The hyperparameters; each is explained in `fine_tuning.toml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    epochs: Count
    learning_rate: Positive
    warmup_share: Share
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    batch_size: Count
    max_gradient_norm: Positive
    longest: Annotated[int, Field(ge=4)]
    held_out: Annotated[float, Field(gt=0, lt=1)]
    first_seed: Seed
    sample_seed: Seed
    labels: Mapping[Label, tuple[str, ...]]

    @field_validator("labels")
    @classmethod
    def _one_meaning(cls, labels: Mapping[Label, tuple[str, ...]]) -> Mapping[Label, tuple[str, ...]]:
        words = [word for theirs in labels.values() for word in theirs]
        twice = sorted({word for word in words if words.count(word) > 1})
        if twice:
            raise ValueError(f"{twice[0]!r} means two labels")
        return labels

    def label_of(self, word: str) -> Label | None:
        """The sentiment that a file's label means; None for an unknown one."""
        return next((ours for ours, theirs in self.labels.items() if word.casefold() in theirs), None)


def read_settings(file: Path | None = None) -> FineTuning:
    """The settings in a file over ours. Raises `DataSetError` or `CatalogError` where it is invalid."""
    own = {} if file is None else read_toml(file, DataSetError)
    return parse_model(FineTuning, {**read_toml(OURS, DataSetError), **own}, file or OURS)


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text and its sentiment."""

    text: str
    label: str


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """The words of a sentence, and their tags in IOB2: 'B-PER' begins a name, 'I-PER' goes on, 'O' is no name."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


Example = LabelledText | TaggedSentence
X = TypeVar("X", LabelledText, TaggedSentence)


@dataclass(frozen=True)
class ExampleFile(Generic[X]):
    """A file as it was read: its examples, in order, and how many rows were left out for which reason."""

    path: Path
    examples: tuple[X, ...]
    left_out: Counter[str]

    @property
    def sha256(self) -> str:
        return file_sha256(self.path)


@dataclass(frozen=True)
class Split(Generic[X]):
    """Examples to learn from, and others to test on."""

    train: tuple[X, ...]
    test: tuple[X, ...]
    left_out: Counter[str]


def split_of(file: ExampleFile[X], test: ExampleFile[X] | None, held_out: float, seed: int) -> Split[X]:
    """The examples to learn from and those to test on: a file of their own, or a random share of the first.

    A text of both sides is left out of those to learn from, so that none is known by heart. Raises `DataSetError`
    where one side is empty.
    """
    train, kept = list(file.examples), list(test.examples) if test else []
    left_out = file.left_out + (test.left_out if test else Counter())
    if test is None:
        random.Random(seed).shuffle(train)
        size = max(1, round(held_out * len(train)))
        train, kept = train[size:], train[:size]
    tested = {_content(example) for example in kept}
    fresh = tuple(example for example in train if _content(example) not in tested)
    left_out += Counter({"also in the test": len(train) - len(fresh)})
    for side, path in ((fresh, file.path), (kept, test.path if test else file.path)):
        if not side:
            raise DataSetError("too few examples to learn from and to test on", where=path, remedy="Give more of them.")
    return Split(fresh, tuple(kept), left_out)


def balanced(texts: Sequence[LabelledText], rows: int, seed: int, path: Path) -> tuple[LabelledText, ...]:
    """`rows` of the texts, equally many of each label, at random. Raises `DataSetError` where a label has too few."""
    by_label: dict[str, list[LabelledText]] = defaultdict(list)
    for text in texts:
        by_label[text.label].append(text)
    each, rest = divmod(rows, len(by_label))
    if rest:
        remedy = f"Give a multiple of {len(by_label)}."
        raise DataSetError(f"--rows {rows} is not divisible by its {len(by_label)} labels", where=path, remedy=remedy)
    few = min(by_label, key=lambda label: len(by_label[label]))
    if len(by_label[few]) < each:
        what = f"has {len(by_label[few])} rows of {few!r}, and --rows {rows} needs {each}"
        raise DataSetError(what, where=path, remedy=f"Ask for at most --rows {len(by_label[few]) * len(by_label)}.")
    drawn = random.Random(seed)
    return tuple(text for label in sorted(by_label) for text in drawn.sample(by_label[label], each))


def _content(example: Example) -> str | tuple[str, ...]:
    return example.text if isinstance(example, LabelledText) else example.words


def read_labelled(path: Path, columns: tuple[str, str], settings: FineTuning) -> ExampleFile[LabelledText]:
    """The texts of a file and their sentiments; `columns` name that of the text and that of the label.

    Raises `DataSetError`, naming the row, where a label is unknown, and where the file holds fewer than two labels.
    A row without text or label, and a text that stands twice, is left out and counted.
    """
    left_out, found = Counter[str](), dict[str, str]()
    sheets = read_sheets(path.parent, path)
    places = [_place(sheets[0], name, path) for name in columns] if sheets else []
    for number, cells in sheets[0].numbered() if sheets else ():
        text, label = (cell(cells, place) for place in places)
        meant = settings.label_of(label)
        if not text or not label:
            left_out["no text" if not text else "no label"] += 1
        elif meant is None:
            remedy = "Say under [labels] what it means, in a file that --settings names."
            raise DataSetError(f"row {number}: the label {label!r} is unknown", where=path, remedy=remedy)
        elif text in found:
            left_out["the same text twice" if found[text] == meant else "the same text twice, with another label"] += 1
        else:
            found[text] = meant
    if len(set(found.values())) < 2:
        have = f"only {next(iter(found.values()))!r}" if found else "no labelled text"
        raise DataSetError(f"holds {have}", where=path, remedy="Give texts of two labels at least.")
    return ExampleFile(path, tuple(LabelledText(text, label) for text, label in found.items()), left_out)


def _place(sheet: Sheet, name: str, path: Path) -> int:
    if sheet.header.count(name) != 1:
        what = f"has {'no' if name not in sheet.header else 'more than one'} column {name!r}"
        remedy = f"It has {', '.join(sheet.header)}: name two of these with --text-column and --label-column."
        raise DataSetError(what, where=path, remedy=remedy)
    return sheet.header.index(name)


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
