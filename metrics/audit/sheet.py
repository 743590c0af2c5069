"""The sheet of an audit: exported for a judge, and imported from a spreadsheet.

A row is a mention of a sampled response. After its mentions, the response itself has a row. The judge fills in seven
columns:

- `mention`: right or wrong: is this a thing of that kind that the text names?
- `specific`: 1 or 0, only where the label beside it is wrong
- `link`: right, wrong, or none. For a linked mention: is the item the one that is meant (none: no item is)? For one
  without a link: right where Wikidata has no item for it, wrong where it has
- `existence`: item, no item (it is real, and Wikidata lacks it), or invented: there is no such thing
- `missed`: in the response's own row, how many things of the topic the text names that have no row
- `on_topic`: in the response's own row, yes or no: is the text about its topic?
- `region`: in the response's own row, of which region, or culture, the text is: a region's code, mixed, or neutral
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from polyculture.cache.catalog.model import NO_REGION
from polyculture.cache.errors import StoreError
from polyculture.cache.schema import Judgement
from polyculture.cache.spreadsheet import read_sheet_rows
from polyculture.cache.sql_file import read_sql

SQL = Path(__file__).with_name("sql")
JUDGED = ("mention", "specific", "link", "existence", "missed", "on_topic", "region")
_OF_RESPONSES = ("missed", "on_topic", "region")
SHOWN = ("model", "language", "topic", "condition", "country", "prompt", "response", "surface", "kind", "granularity")
LINKED = ("status", "qid", "label", "description")
COLUMNS = ("id", *JUDGED, "note", *SHOWN, *LINKED)
WORDS: Mapping[str, tuple[str, ...]] = {
    "mention": ("right", "wrong"),
    "specific": ("0", "1"),
    "link": ("right", "wrong", "none"),
    "existence": ("item", "no item", "invented"),
    "on_topic": ("yes", "no"),
}
_REMEDY = "Give a sheet of polyculture audit export, with all of its columns."


@dataclass(frozen=True, slots=True)
class AuditSample:
    """The rows of a sheet, each with all of `COLUMNS`, and the number of their responses."""

    rows: list[dict[str, Any]]
    responses: int


def sample(store: duckdb.DuckDBPyConnection, per: int, seed: int) -> AuditSample:
    """The rows of `per` responses of every language and topic, the same for the same store and seed."""
    found = store.execute(read_sql(SQL, "sample"), {"per": per, "seed": seed})
    names = [column[0] for column in found.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    return AuditSample([_sheet_row(row) for row in rows], sum(row["ordinal"] is None for row in rows))


def read_judgements(store: duckdb.DuckDBPyConnection, path: Path) -> list[Judgement]:
    """The judgements of a sheet; the judge is the file's name. Unjudged rows are left out.

    Raises `StoreError` naming file and row where the file is not a sheet, repeats a row, has an invalid judgement, or
    has a mention that the store lacks: of another run, or extracted again since.
    """
    rows = read_sheet_rows(path, ("id", *JUDGED), _REMEDY)
    known = _known(store, [row["id"] for row in rows])
    words = {**WORDS, "region": _region_words(store)}
    found = dict[str, Judgement]()
    for row in rows:
        where = f"{path}, row {row['id']}"
        if row["id"] in found:
            raise StoreError("stands there twice", where=where, remedy="Remove one of the two.")
        if row["id"] not in known:
            remedy = "Export the sheet again: the mentions were extracted again since, or it belongs to another run."
            raise StoreError("is no mention of this run", where=where, remedy=remedy)
        found[row["id"]] = _judgement(path.stem, row, known[row["id"]], words, where)
    return [one for one in found.values() if any(getattr(one, name) is not None for name in JUDGED)]


def _known(store: duckdb.DuckDBPyConnection, ids: list[str]) -> dict[str, dict[str, Any]]:
    """The store's rows with these ids."""
    extractions = sorted({one.split(":")[1] for one in ids if one.count(":") == 2})
    found = store.execute(read_sql(SQL, "known"), {"extractions": extractions})
    names = [column[0] for column in found.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    return {row_id(row["extraction_id"], row["ordinal"]): row for row in rows}


def _region_words(store: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """What may stand in `region`: the regions that the run's links know, and what texts of no single one are called."""
    query = "SELECT region FROM known_countries WHERE region IS NOT NULL GROUP BY region ORDER BY min(place)"
    return *(region for (region,) in store.sql(query).fetchall()), *NO_REGION


def row_id(extraction_id: str, ordinal: int | None) -> str:
    """The id of a row in a sheet, in a form that no spreadsheet converts to a number, a date or a formula."""
    return f"m:{extraction_id}:{'missed' if ordinal is None else ordinal}"


def _sheet_row(row: Mapping[str, Any]) -> dict[str, Any]:
    own = {"id": row_id(row["extraction_id"], row["ordinal"]), **dict.fromkeys(JUDGED, ""), "note": ""}
    return {**own, **{name: "" if row[name] is None else row[name] for name in (*SHOWN, *LINKED)}}


def _check_place(row: Mapping[str, str], ordinal: int | None, said: Mapping[str, str | None], where: str) -> None:
    """Check that judgements of responses are in a response's own row, and all others in a mention's row."""
    own = ordinal is None
    for name in JUDGED:
        if said[name] is not None and (name in _OF_RESPONSES) != own:
            there = "a mention's row" if own else "the row of the response itself, whose id ends in 'missed'"
            what = f"{name} is {row[name]!r} in {'a response' if own else 'a mention'}'s row, where it has no meaning"
            raise StoreError(what, where=where, remedy=f"Write it into {there}.")


def _check_existence(qid: str | None, said: Mapping[str, str | None], where: str) -> None:
    """Check that `link` and `existence` say the same of whether there is an item."""
    link, existence = said["link"], said["existence"]
    if link is None or existence is None:
        return
    has_item = link != "none" if qid is not None else link == "wrong"
    if has_item != (existence == "item"):
        what = f"link {link!r} says that there is {'an' if has_item else 'no'} item, and existence is {existence!r}"
        raise StoreError(what, where=where, remedy="Correct one of the two, or leave it empty.")


def _judgement(
    judge: str, row: Mapping[str, str], known: Mapping[str, Any], words: Mapping[str, tuple[str, ...]], where: str
) -> Judgement:
    said = {name: row[name].strip().casefold() or None for name in JUDGED}
    for name, allowed in words.items():
        if said[name] is not None and said[name] not in allowed:
            remedy = f"Write {' or '.join(allowed)}, or leave it empty."
            raise StoreError(f"{name} is {row[name]!r}", where=where, remedy=remedy)
    _check_place(row, known["ordinal"], said, where)
    _check_existence(known["qid"], said, where)
    missed = said["missed"]
    if missed is not None and not missed.isdecimal():
        raise StoreError(f"missed is {row['missed']!r}", where=where, remedy="Write how many, 0 or more.")
    return Judgement(
        judge=judge,
        extraction_id=known["extraction_id"],
        ordinal=known["ordinal"],
        language=known["language"],
        topic=known["topic"],
        mention=said["mention"],
        specific=None if said["specific"] is None else int(said["specific"]),
        qid=known["qid"],
        link=said["link"],
        missed=None if missed is None else int(missed),
        existence=said["existence"],
        on_topic=said["on_topic"],
        region=said["region"],
    )
