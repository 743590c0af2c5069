"""Gold texts, whose mentions are known: `gold/<language>.jsonl`, written by hand, described in `gold/README.md`.

A line is `{"id", "topic", "trap", "marked"}`; `marked` is the text with its mentions as `[[surface|kind]]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import CatalogError, StoreError, did_you_mean
from polyculture.extract.base import FoundMention

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
    mentions: tuple[FoundMention, ...]


def read_gold(catalog: Catalog, folder: Path = GOLD, languages: tuple[str, ...] = ()) -> list[GoldText]:
    """The gold texts of a folder, of all languages or of those given, language by language, topic by topic.

    Raises `StoreError`, with file and line, where one is malformed or refers to something that the catalogue lacks.
    """
    files = sorted(folder.glob("*.jsonl"))
    known = [file.stem for file in files]
    if not files:
        raise StoreError("holds no gold texts", where=folder, remedy="Name a folder with <language>.jsonl files.")
    for language in languages:
        if language not in known:
            raise StoreError(f"no gold texts in {language!r}", where=folder, remedy=did_you_mean(language, known))
    texts = [text for file in files if not languages or file.stem in languages for text in _read_file(file, catalog)]
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


def _read_file(file: Path, catalog: Catalog) -> Iterator[GoldText]:
    catalog.language(file.stem)
    seen: set[str] = set()
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        try:
            row = orjson.loads(line)
            text, mentions = unmark(row["marked"])
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


def _fault(file: Path, line: int, what: str, remedy: str = "See extract/gold/README.md.") -> StoreError:
    return StoreError(what, where=f"{file}, line {line}", remedy=remedy)
