"""The answers of the live service, in a DuckDB file beside the snapshot until they are part of it.

Each answer is a transaction of its own: a process that is killed loses those on their way, and no other. The tables are
those of a snapshot as they are before they are sorted, with all that the snapshot holds so far.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import SnapshotError
from polyculture.link.api.answers import Entity
from polyculture.link.api.names import Term
from polyculture.link.entity import number
from polyculture.link.entity_json import PLAIN, Rows
from polyculture.link.index.parts import part_files
from polyculture.link.index.snapshot import VERSION, Snapshot, assemble
from polyculture.link.origins import create_states
from polyculture.link.statements import statement

BY_NUMBER = ""  # in `fetched` in place of a language: items that were asked for by number, and do not exist


def read_searches(snapshot: Snapshot) -> dict[Term, bool]:
    """The names that the service was asked for while the snapshot was filled, and whether it found anything."""
    with duckdb.connect(str(snapshot.path), read_only=True) as connection:
        return _searches(connection, "fetched")


class Kept:
    """The answers in `file`, on top of what the snapshot `base` holds.

    `searched` says for each term that was searched whether anything was found; `unfinished` where its next page starts.
    Where `base` lacks one of the `languages`, its items are asked for anew, and only its searches are taken over.
    A file without answers is removed in the end. Raises `SnapshotError` where the answers are of another `endpoint`, in
    other languages or of another version.
    """

    def __init__(
        self, file: Path, base: Snapshot | None, endpoint: str, languages: Iterable[str], catalog: Catalog
    ) -> None:
        self.languages = frozenset(languages)
        self._file, self._endpoint = file, endpoint
        self._connection = duckdb.connect(str(file))
        try:
            with self._transaction():
                self._create_tables(catalog)
        except BaseException:
            self._connection.close()  # nobody else can: the object is not made
            raise
        ((self._answered,),) = self._fetchall("SELECT answered FROM asked")
        if base is not None:
            self._take_over(base)
        rows = self._connection.table("unfinished").fetchall()
        self.unfinished: dict[Term, int] = {(language, term): start for language, term, start in rows}
        found = _searches(self._connection, "wikidata.fetched")
        self.searched = {term: anything for term, anything in found.items() if term not in self.unfinished}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
        if not self._answered:
            self._file.unlink()

    def need(self, items: Iterable[int]) -> None:
        """Says which items are needed as if a search had found them."""
        rows = pa.table({"item": pa.array(sorted(items), pa.uint32())})
        with self._transaction():
            self._connection.execute("DELETE FROM topic_items")
            self._insert("topic_items", rows)

    def wanted(self) -> list[str]:
        """The QIDs that are needed by what is there, and that were never asked for."""
        self._connection.execute(statement("follow_redirects"))
        needed = {row for name in ("fill_wanted", "origin_sources") for row in self._fetchall(statement(name))}
        missing = self._fetchall(f"SELECT unnest(hits) FROM wikidata.fetched WHERE language = '{BY_NUMBER}'")  # noqa: S608
        return [f"Q{item}" for (item,) in sorted(needed - set(missing))]

    def keep_search(self, term: Term, qids: Sequence[str], following: int | None) -> None:
        """Stores a page of what the service found for a term, in its order; the next one starts at `following`."""
        with self._transaction():
            before = self._taken("wikidata.fetched", "hits", term)
            self._taken("unfinished", "start", term)
            hits = [*(before[0] if before else []), *map(number, qids)]
            self._add_fetched(*term, hits)
            self._note_answer()
            if following is not None:
                self._connection.execute("INSERT INTO unfinished VALUES (?, ?, ?)", [*term, following])
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
        with self._transaction():
            self._note_answer()
            for name, table in rows.tables().items():
                self._insert(f"wikidata.{name}", table)
            if missing:
                self._add_fetched(BY_NUMBER, " ".join(f"Q{item}" for item in missing), missing)

    def digest(self) -> str:
        """A hash of the answers, in whatever order and how often they came."""
        return str(self._fetchall(statement("fill_digest"))[0][0])

    def write(self, out: Path, provenance: Mapping[str, Any]) -> Snapshot:
        """Writes the snapshot `out` of the answers. Raises what `assemble` raises."""
        with tempfile.TemporaryDirectory(dir=self._file.parent, prefix="rows-") as folder:
            for name, schema in PLAIN.items():
                rows = self._connection.table(f"wikidata.{name}").select(*schema.names)
                rows.write_parquet(str(Path(folder, f"{name}-00000.parquet")))
            files = partial(part_files, Path(folder))
            return assemble(out, self._file.parent, files, self.languages, provenance)

    def _create_tables(self, catalog: Catalog) -> None:
        """Creates the tables that are not there yet, and those that follow from the catalogue."""
        there = {table for (table,) in self._fetchall("SELECT table_name FROM duckdb_tables()")}
        if "asked" in there:
            self._check_asked()
        else:
            self._connection.execute(
                "CREATE TABLE asked AS SELECT $endpoint AS endpoint, $languages::VARCHAR[] AS languages,"
                " $version AS version, false AS answered",
                {"endpoint": self._endpoint, "languages": sorted(self.languages), "version": VERSION},
            )
            self._connection.execute("CREATE SCHEMA wikidata; CREATE TABLE bases (identity VARCHAR)")
            self._connection.execute("CREATE TABLE unfinished (language VARCHAR, term VARCHAR, start BIGINT)")
            self._connection.execute("CREATE TABLE topic_items (item UINTEGER)")
            for name, schema in PLAIN.items():
                self._connection.from_arrow(schema.empty_table()).create(f"wikidata.{name}")
        for name in ("roots", "states"):
            self._connection.execute(f"DROP TABLE IF EXISTS {name}")
        kinds = [kind for topic in catalog.topics.values() for kind in topic.kinds.values()]
        roots = {number(qid) for kind in kinds for qid in (*kind.roots, *kind.types)}
        self._connection.from_arrow(pa.table({"item": pa.array(sorted(roots), pa.uint32())})).create("roots")
        create_states(self._connection, catalog)
        self._connection.execute(statement("fill_found"))

    def _check_asked(self) -> None:
        """Raises `SnapshotError` unless the answers are those that this fill would get."""
        ((endpoint, languages, version),) = self._fetchall("SELECT endpoint, languages, version FROM asked")
        if endpoint != self._endpoint:
            what = f"holds answers of {endpoint}, not of {self._endpoint}"
            remedy = "Delete the folder, or name the same endpoint."
        elif frozenset(languages) != self.languages:
            what = f"holds answers with names in other languages: {', '.join(languages)}"
            remedy = "Delete the folder, or fill with the same languages."
        elif version != VERSION:
            what = f"holds answers of version {version}; this Polyculture keeps version {VERSION}"
            remedy = "Delete the folder."
        else:
            return
        raise SnapshotError(what, where=self._file.parent, remedy=remedy)

    def _take_over(self, base: Snapshot) -> None:
        if (base.identity,) in self._fetchall("FROM bases"):
            return
        tables = PLAIN if self.languages <= base.languages else ("fetched",)
        self._connection.execute("ATTACH $file AS base (READ_ONLY)", {"file": str(base.path)})
        with self._transaction():
            for name in tables:
                # A snapshot keeps a name's key apart, and only where it is not the normal form.
                keyed = "(SELECT names.*, coalesce(key, normalised) AS key FROM base.names LEFT JOIN base.keys"
                rows = f"{keyed} USING (item, language, name))" if name == "names" else f"base.{name}"
                columns = ", ".join(PLAIN[name].names)
                self._connection.execute(f"INSERT INTO wikidata.{name} SELECT {columns} FROM {rows}")  # noqa: S608  ours
            self._connection.execute("INSERT INTO bases VALUES ($identity)", {"identity": base.identity})
        self._connection.execute("DETACH base")

    def _note_answer(self) -> None:
        if not self._answered:
            self._connection.execute("UPDATE asked SET answered = true")
            self._answered = True

    def _taken(self, table: str, column: str, term: Term) -> list[Any]:
        """What the row of a term had in a column; the row is deleted."""
        query = f"DELETE FROM {table} WHERE language = ? AND term = ? RETURNING {column}"  # noqa: S608  our names
        return [value for (value,) in self._fetchall(query, list(term))]

    def _add_fetched(self, language: str, term: str, hits: Sequence[int]) -> None:
        now = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
        row = {"language": language, "term": term, "asked_at": now, "hits": list(hits)}
        self._insert("wikidata.fetched", pa.Table.from_pylist([row], PLAIN["fetched"]))

    def _insert(self, name: str, rows: pa.Table) -> None:
        if rows.num_rows:
            self._connection.from_arrow(rows).insert_into(name)

    def _fetchall(self, query: str, params: list[Any] | None = None) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, params).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.begin()
        try:
            yield
        except BaseException:
            self._connection.rollback()
            raise
        self._connection.commit()


def _searches(connection: duckdb.DuckDBPyConnection, table: str) -> dict[Term, bool]:
    query = f"SELECT language, term, len(hits) > 0 FROM {table} WHERE language <> '{BY_NUMBER}'"  # noqa: S608  our names
    return {(language, term): anything for language, term, anything in connection.execute(query).fetchall()}
