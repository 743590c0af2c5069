"""The answers of the live services, on disk beside the snapshot until they are part of it.

Each answer is a transaction of its own: a process that is killed loses those on their way, and no other. They stand in
the tables of a draft (`link/index/draft.py`), with all that the snapshot holds so far.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.cache.errors import SnapshotError
from polyculture.link.api.client import Entity
from polyculture.link.api.names import Term
from polyculture.link.entity_json import Rows
from polyculture.link.index.assemble import assemble
from polyculture.link.index.current_keys import create_keys
from polyculture.link.index.draft import Draft, answers_folder, kept_draft
from polyculture.link.index.snapshot import Snapshot, rows_version
from polyculture.link.index.tables import PLAIN
from polyculture.link.origins import create_states
from polyculture.link.qid import number
from polyculture.link.statements import statement

BY_NUMBER = ""  # in `fetched` in place of a language: items that were asked for by number, and do not exist
_TABLES = """
    CREATE TABLE IF NOT EXISTS draft.unfinished (language VARCHAR, term VARCHAR, start BIGINT);
    CREATE TABLE IF NOT EXISTS draft.topic_items (item UINTEGER);
    CREATE TABLE IF NOT EXISTS draft.pairs (query VARCHAR, above UINTEGER, item UINTEGER)
"""


def read_searches(snapshot: Snapshot) -> dict[Term, bool]:
    """The names that the service was asked for while the snapshot was filled, and whether it found anything."""
    with connect(snapshot.path, read_only=True) as connection:
        return _searches(connection, "fetched")


@contextmanager
def kept_answers(
    out: Path, asked: Mapping[str, Any], languages: Collection[str], catalog: Catalog, base: Snapshot | None = None
) -> Iterator[Kept]:
    """What was answered so far for the snapshot `out`. `asked` says what is asked of whom.

    Raises `SnapshotError` where the answers are to something else, in other languages or of another version.
    """
    with kept_draft(answers_folder(out), lambda state: bool(state["answered"])) as draft:
        yield Kept(draft, {**asked, "version": rows_version(languages)}, languages, catalog, base)


class Kept:
    """The answers in `draft`, on top of what the snapshot `base` holds.

    `searched` says for each term that was searched whether anything was found; `unfinished` where its next page starts.
    Where `base` lacks one of the `languages`, its items are asked for anew, and only its searches are taken over.
    """

    def __init__(
        self, draft: Draft, asked: Mapping[str, Any], languages: Iterable[str], catalog: Catalog, base: Snapshot | None
    ) -> None:
        self.languages = frozenset(languages)
        self._draft, self._connection = draft, draft.connection
        wanted = {"languages": sorted(self.languages), **asked}
        self._check(wanted)
        self._state = draft.state or {"asked": wanted, "began": _now().isoformat(), "bases": [], "answered": False}
        with draft.transaction():
            self._connection.execute(_TABLES)
            draft.state = self._state
        self._create_catalog(catalog)
        if base is not None:
            self._take_over(base)
        self.unfinished: dict[Term, int] = {
            (language, term): start for language, term, start in self._fetchall("FROM draft.unfinished")
        }
        found = _searches(self._connection, "draft.fetched")
        self.searched = {term: anything for term, anything in found.items() if term not in self.unfinished}

    @property
    def answered(self) -> bool:
        """Was anything answered?"""
        return bool(self._state["answered"])

    @property
    def began(self) -> str:
        """When the first of these answers was asked for, ISO 8601."""
        return f"{self._state['began']}+00:00"

    def need(self, items: Iterable[int]) -> None:
        """Says which items are needed as if a search had found them."""
        rows = pa.table({"item": pa.array(sorted(items), pa.uint32())})
        with self._draft.transaction():
            self._connection.execute("DELETE FROM draft.topic_items")
            self._draft.insert("topic_items", rows)

    def wanted(self) -> list[str]:
        """The QIDs that are needed by what is there, and that were never asked for."""
        self._connection.execute(statement("follow_redirects"))
        needed = {row for name in ("fill_wanted", "origin_sources") for row in self._fetchall(statement(name))}
        missing = self._fetchall(f"SELECT unnest(hits) FROM draft.fetched WHERE language = '{BY_NUMBER}'")  # noqa: S608
        return [f"Q{item}" for (item,) in sorted(needed - set(missing))]

    def keep_search(self, term: Term, qids: Sequence[str], following: int | None) -> None:
        """Stores a page of what the service found for a term, in its order; the next one starts at `following`."""
        with self._answer():
            before = self._taken("fetched", "hits", term)
            self._taken("unfinished", "start", term)
            hits = [*(before[0] if before else []), *map(number, qids)]
            self._add_fetched(*term, hits)
            if following is not None:
                self._connection.execute("INSERT INTO draft.unfinished VALUES (?, ?, ?)", [*term, following])
        if following is None:
            self.searched[term] = bool(hits)
            self.unfinished.pop(term, None)
        else:
            self.unfinished[term] = following

    def keep_entities(self, entities: Mapping[str, Entity | None]) -> None:
        """Stores the entities by the QID that was asked for; None: there is no such item."""
        rows = Rows(self.languages)
        for qid, entity in entities.items():
            if entity is not None:
                if qid != entity["id"]:
                    rows.add_redirect(number(qid), number(entity["id"]))
                rows.add({key: value for key, value in entity.items() if key != "redirects"})
        missing = [number(qid) for qid, entity in entities.items() if entity is None]
        with self._answer():
            self._draft.add(rows.tables())
            if missing:
                self._add_fetched(BY_NUMBER, " ".join(f"Q{item}" for item in missing), missing)

    def pairs(self, query: str) -> list[tuple[int, int]] | None:
        """What an endpoint answered to a query; None where it was not asked, or not to the end."""
        rows = self._fetchall("SELECT above, item FROM draft.pairs WHERE query = ? ORDER BY ALL", [query])
        return [row for row in rows if row != (0, 0)] if rows else None

    def keep_pairs(self, query: str, pairs: Iterable[tuple[int, int]]) -> None:
        """Stores all that an endpoint answered to a query."""
        above, items = zip((0, 0), *pairs, strict=True)  # the first says that it was asked
        columns = {"above": pa.array(above, pa.uint32()), "item": pa.array(items, pa.uint32())}
        with self._answer():
            self._draft.insert("pairs", pa.table({"query": [query] * len(above), **columns}))

    def digest(self) -> str:
        """A hash of the answers, in whatever order and how often they came."""
        return str(self._fetchall(statement("fill_digest"))[0][0])

    def write(self, out: Path, provenance: Mapping[str, Any]) -> Snapshot:
        """Writes the snapshot `out` of the answers. Raises what `assemble` raises."""
        return assemble(out, answers_folder(out), self._draft, self.languages, provenance)

    def _check(self, wanted: Mapping[str, Any]) -> None:
        """Raises `SnapshotError` unless the answers are those that would be got now."""
        there = (self._draft.state or {"asked": wanted})["asked"]
        for what, value in wanted.items():
            if there[what] != value:
                told = f"holds answers with other {what}: {there[what]}, not {value}"
                raise SnapshotError(told, where=self._draft.file, remedy="Delete its folder, or ask the same again.")

    def _create_catalog(self, catalog: Catalog) -> None:
        """Creates the tables that follow from the catalogue, and the views on all."""
        kinds = [kind for topic in catalog.topics.values() for kind in topic.kinds.values()]
        roots = {number(qid) for kind in kinds for qid in (*kind.roots, *kind.types)}
        self._connection.from_arrow(pa.table({"item": pa.array(sorted(roots), pa.uint32())})).create("roots")
        create_states(self._connection, catalog)
        self._connection.execute(statement("fill_found"))

    def _take_over(self, base: Snapshot) -> None:
        if base.identity in self._state["bases"]:
            return
        tables = PLAIN if self.languages <= base.languages else ("fetched",)
        self._connection.execute("ATTACH $file AS base (READ_ONLY)", {"file": str(base.path)})
        create_keys(self._connection, base, "base", base.languages)
        with self._draft.transaction():
            for name in tables:
                # A snapshot keeps a name's key apart, and only where it is not the normal form.
                keyed = "(SELECT names.*, coalesce(key, normalised) AS key FROM base.names LEFT JOIN keys"
                rows = f"{keyed} USING (item, language, name))" if name == "names" else f"base.{name}"
                columns = ", ".join(PLAIN[name].names)
                self._connection.execute(f"INSERT INTO draft.{name} SELECT {columns} FROM {rows}")  # noqa: S608  ours
            self._note(bases=[*self._state["bases"], base.identity])
        self._connection.execute("DETACH base")

    @contextmanager
    def _answer(self) -> Iterator[None]:
        """A transaction that stores an answer."""
        with self._draft.transaction():
            yield
            if not self.answered:
                self._note(answered=True)

    def _note(self, **state: Any) -> None:
        self._state = {**self._state, **state}
        self._draft.state = self._state

    def _taken(self, table: str, column: str, term: Term) -> list[Any]:
        """What the row of a term had in a column; the row is deleted."""
        query = f"DELETE FROM draft.{table} WHERE language = ? AND term = ? RETURNING {column}"  # noqa: S608  our names
        return [value for (value,) in self._fetchall(query, list(term))]

    def _add_fetched(self, language: str, term: str, hits: Sequence[int]) -> None:
        row = {"language": language, "term": term, "asked_at": _now(), "hits": list(hits)}
        self._draft.insert("fetched", pa.Table.from_pylist([row], PLAIN["fetched"]))

    def _fetchall(self, query: str, params: list[Any] | None = None) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, params).fetchall()


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None, microsecond=0)


def _searches(connection: duckdb.DuckDBPyConnection, table: str) -> dict[Term, bool]:
    query = f"SELECT language, term, len(hits) > 0 FROM {table} WHERE language <> '{BY_NUMBER}'"  # noqa: S608  our names
    return {(language, term): anything for language, term, anything in connection.execute(query).fetchall()}
