"""Links names to Wikidata by the experiment's linker: the entities of data sets, and the items of layers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from polyculture.cache.store.layout import Table
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.instruments.contract import AskedExperiment


class NameQuery(NamedTuple):
    """A name as the linker looks it up."""

    language: str
    topic: str
    kind: str
    surface: str


@dataclass(frozen=True, slots=True)
class NameToLink:
    """A name of a run, with what it may mean: the first under which it is found counts."""

    columns: Mapping[str, str]  # of its row, besides the link
    queries: Sequence[NameQuery]


@cache
def kinds_in(file: Path) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Topics and kinds of the linker, by the words of a data set: of each word in order."""
    told = tomllib.loads(file.read_text(encoding="utf-8"))
    return {word: [(one["topic"], one["kind"]) for one in several] for word, several in told.items()}


def link_names(asked: AskedExperiment, what: str, table: Table[Any], names: Sequence[NameToLink]) -> None:
    """Writes the table of the links of some names, which are called `what` in messages.

    A name has the first link under which it is found, else what the first one says.
    """
    queries = sorted({query for one in names for query in one.queries})
    found: dict[NameQuery, Mapping[str, Any]] = {}
    if queries:
        schema = pa.schema([(name, pa.string()) for name in NameQuery._fields])
        with asked.watch(f"link {what}", len(queries)):
            linked = asked.link(pa.Table.from_pylist([query._asdict() for query in queries], schema=schema))
        found = {NameQuery(*(row[name] for name in NameQuery._fields)): row for row in linked.to_pylist()}
    rows = [table.row(**one.columns, **_first(one, found)) for one in names]
    write_parquet(objects_to_table(table, rows), asked.run.table(table.name))
    asked.info(f"link {what}: {sum(row.status == 'linked' for row in rows)} of {len(rows)} linked")


def _first(one: NameToLink, found: Mapping[NameQuery, Mapping[str, Any]]) -> dict[str, Any]:
    links = [found[query] for query in one.queries]
    best = next((link for link in links if link["status"] == "linked"), links[0])
    return {name: best[name] for name in ("topic", "kind", "status", "qid", "match")}
