"""Gold texts, whose mentions are known: `gold/<language>.jsonl`, written by hand, described in `gold/README.md`.

A line is `{"id", "topic", "trap", "marked"}`; `marked` is the text with its mentions as `[[surface|kind]]`. A folder
may have the names of some surfaces in `names.tsv`: their dictionary forms and their English names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import CatalogError, StoreError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.extract.base import FoundMention

NAMES = "names.tsv"
OR = "|"  # between several right names
GOLD = Path(__file__).with_name("gold")
_MARK = re.compile(r"\[\[([^\[\]|]+)\|([^\[\]|]+)\]\]")


@dataclass(frozen=True, slots=True)
class GoldText:
    """A text and every mention in it."""

    text_id: str
    language: str
    topic: str
    trap: str | None  # the distractor in it: 'cutlery', 'brand', 'metaphor', ...
    text: str
    mentions: tuple[FoundMention, ...]  # of those in `names.tsv` with all right names, `OR` between them


def read_gold(catalog: Catalog, folders: Sequence[Path] = (GOLD,), languages: tuple[str, ...] = ()) -> list[GoldText]:
    """The gold texts of folders, of all languages or of those given, language by language, topic by topic.

    Raises `StoreError`, with file and line, where one is malformed or refers to something that the catalogue lacks.
    """
    files = {folder: sorted(folder.glob("*.jsonl")) for folder in folders}
    known = [file.stem for some in files.values() for file in some]
    for folder, some in files.items():
        if not some:
            raise StoreError("holds no gold texts", where=folder, remedy="It needs <language>.jsonl files.")
    for language in languages:
        if language not in known:
            raise StoreError(f"no gold texts in {language!r}", where=folders[0], remedy=did_you_mean(language, known))
    texts = [
        text
        for folder, some in files.items()
        for file in some
        if not languages or file.stem in languages
        for text in _read_file(file, catalog, _read_names(folder / NAMES))
    ]
    return sorted(texts, key=lambda text: (text.language, text.topic))


def unmark(marked: str) -> tuple[str, tuple[FoundMention, ...]]:
    """The plain text of a marked one, and its mentions with their offsets in the plain text."""
    plain, mentions, end, length = [], [], 0, 0
    for mark in _MARK.finditer(marked):
        before, (surface, kind) = marked[end : mark.start()], mark.groups()
        start = length + len(before)
        mentions.append(FoundMention(surface, kind, start, start + len(surface)))
        plain += [before, surface]
        end, length = mark.end(), start + len(surface)
    return "".join([*plain, marked[end:]]), tuple(mentions)


def _read_names(file: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """The dictionary forms and the English names of surfaces, by language and surface."""
    if not file.exists():
        return {}
    rows = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]
    if broken := [number for number, row in enumerate(rows, start=1) if len(row) != 4]:
        raise _fault(file, broken[0], "not four columns between tabs: language, surface, name, english")
    return {(language, surface): (name, english) for language, surface, name, english in rows[1:]}


def _read_file(file: Path, catalog: Catalog, names: Mapping[tuple[str, str], tuple[str, str]]) -> Iterator[GoldText]:
    catalog.language(file.stem)
    seen: set[str] = set()
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        try:
            row = orjson.loads(line)
            text, mentions = unmark(row["marked"])
            mentions = tuple(
                _with_names(mention, *names.get((file.stem, mention.surface), ("", ""))) for mention in mentions
            )
            gold = GoldText(row["id"], file.stem, row["topic"], row["trap"], text, mentions)
            kinds = catalog.topic(gold.topic).kinds
        except CatalogError as fault:
            raise _fault(file, number, fault.what, str(fault.remedy)) from fault
        except (orjson.JSONDecodeError, KeyError, TypeError) as fault:
            raise _fault(file, number, f"not a gold text: {fault!r}") from fault
        unknown = [mention.kind for mention in mentions if mention.kind not in kinds]
        if unknown:
            raise _fault(file, number, f"{gold.topic} has no kind {unknown[0]!r}", did_you_mean(unknown[0], kinds))
        if "[[" in text or "]]" in text:
            raise _fault(file, number, "a mark is not closed")
        if gold.text_id in seen:
            raise _fault(file, number, f"the id {gold.text_id!r} is not unique")
        seen.add(gold.text_id)
        yield gold


def _with_names(mention: FoundMention, name: str, english: str) -> FoundMention:
    return replace(mention, name=name or None, english=english or None)


def _fault(file: Path, line: int, what: str, remedy: str = "See extract/gold/README.md.") -> StoreError:
    return StoreError(what, where=f"{file}, line {line}", remedy=remedy)
