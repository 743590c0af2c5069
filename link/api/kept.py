"""The answers of the live services, on disk beside the snapshot until they are part of it.

Each answer is a transaction of its own: a process that is killed loses those on their way, and no other. They stand in
the tables of a draft (`link/index/draft.py`), with all that the snapshot holds so far.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.cache.errors import JobHeldError, SnapshotError
from polyculture.link.api.client import EntityJson
from polyculture.link.api.names import NameInLanguage
from polyculture.link.entity_json import EntityRows
from polyculture.link.index.assemble import assemble
from polyculture.link.index.current_keys import create_keys
from polyculture.link.index.draft import Draft, answers_folder, draft_file, kept_draft
from polyculture.link.index.snapshot import Snapshot, rows_version
from polyculture.link.index.tables import PLAIN
from polyculture.link.ontology import create_members, scopes_of
from polyculture.link.origins import create_states
from polyculture.link.qid import number
from polyculture.link.statements import statement

# What a service was asked: who bears a name, what its search finds, items by number, which do not exist, and items that
# are linked elsewhere, which may have been merged since.
LookupWay = Literal["name", "search", "number", "linked"]
# bearers: a row is an item that bears a name, with a class, or a whole, that stands above it, if any.
_TABLES = """
    CREATE TABLE IF NOT EXISTS draft.bearers (item UINTEGER, property VARCHAR, target UINTEGER);
    CREATE TABLE IF NOT EXISTS draft.topic_items (item UINTEGER);
    CREATE TABLE IF NOT EXISTS draft.pairs (query VARCHAR, above UINTEGER, item UINTEGER)
"""


class AskedNames:
    """The names that were asked for: by SPARQL, with whether any item bears them, and by the service's search."""

    def __init__(self, rows: Iterable[tuple[str, str, str, bool]] = ()) -> None:
        self.names: dict[NameInLanguage, bool] = {}
        self.searches: set[NameInLanguage] = set()
        for way, language, term, found in rows:
            if way == "name":
                self.names[language, term] = found
            else:
                self.searches.add((language, term))


class Bearer(NamedTuple):
    """An item that bears a name, and what stands above it by a property; None: nothing does."""

    term: NameInLanguage
    item: int
    property: str | None
    target: int | None


def read_asked(snapshot: Snapshot) -> AskedNames:
    """What the services were asked while the snapshot was filled."""
    with connect(snapshot.path, read_only=True) as connection:
        return AskedNames(connection.execute(_ASKED.format("fetched")).fetchall())


class UnfinishedFill(NamedTuple):
    """What a fill that was interrupted has kept."""

    asked: AskedNames  # what the services were asked, by former fills of the snapshot, too
    items: int  # that it holds


def read_unfinished(out: Path) -> UnfinishedFill | None:
    """The answers that a fill of `out` has kept, which was killed or stopped; None where there is none.

    Raises `JobHeldError` where another process fills it now.
    """
    file = draft_file(answers_folder(out))
    if not file.exists():
        return None
    try:
        with connect(file, read_only=True) as connection:
            tables = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
            if not {"fetched", "items"} <= tables:  # it was killed before it had asked anything
                return None
            rows = connection.execute(_ASKED.format("fetched")).fetchall()
            [[items]] = connection.execute("SELECT count(DISTINCT item) FROM items").fetchall()
    except duckdb.IOException as fault:
        raise JobHeldError(f"{file.parent}: another process is making this snapshot") from fault
    return UnfinishedFill(AskedNames(rows), items)


@contextmanager
def kept_answers(
    out: Path, asked: Mapping[str, Any], languages: Collection[str], catalog: Catalog, base: Snapshot | None = None
) -> Iterator[KeptAnswers]:
    """What was answered so far for the snapshot `out`. `asked` says what is asked of whom.

    Raises `SnapshotError` where the answers are to something else, in other languages or of another version.
    """
    with kept_draft(answers_folder(out), lambda state: bool(state["answered"])) as draft:
        yield KeptAnswers(draft, {**asked, "version": rows_version(languages)}, languages, catalog, base)


class KeptAnswers:
    """The answers in `draft`, on top of what the snapshot `base` holds.

    Where `base` lacks one of the `languages`, its items are asked for anew, and only what says which these are is taken
    over.
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
        self._catalog, self._settled = catalog, False
        self._connection.execute("CREATE TABLE belonging (item UINTEGER)")
        self._connection.execute(statement("fill_found"))
        create_states(self._connection, catalog)
        if base is not None:
            self._take_over(base)
        with draft.transaction():
            for table in ("names", "claims"):  # of items that a snapshot does not hold whole: `write` makes them
                self._connection.execute(f"DELETE FROM draft.{table} WHERE item NOT IN (SELECT item FROM draft.items)")  # noqa: S608
        self.asked = AskedNames(self._fetchall(_ASKED.format("draft.fetched")))

    @property
    def answered(self) -> bool:
        """Was anything answered?"""
        return bool(self._state["answered"])

    @property
    def began(self) -> str:
        """When the first of these answers was asked for, ISO 8601."""
        return f"{self._state['began']}+00:00"

    def need(self, items: Iterable[int]) -> None:
        """Says which items are needed, as an endpoint says what a topic has."""
        rows = pa.table({"item": pa.array(sorted(items), pa.uint32())})
        with self._draft.transaction():
            self._connection.execute("DELETE FROM draft.topic_items")
            self._draft.insert("topic_items", rows)
        self._connection.execute("CREATE OR REPLACE TABLE belonging AS FROM draft.topic_items")
        self._settled = True

    def wanted(self) -> list[str]:
        """The QIDs that are needed by what is there, and that were never asked for.

        First come the classes that say which items belong to a topic; then these; then what their countries rest on.
        """
        self._connection.execute(statement("follow_redirects"))
        missing = {*self._fetchall("SELECT unnest(hits) FROM draft.fetched WHERE way = 'number'")}
        needed = {*self._fetchall(statement("fill_classes"))} - missing
        if not needed and not self._settled:
            self._find_belonging()
            needed = {*self._fetchall("FROM linked ANTI JOIN draft.items USING (item)")} - missing
            self._settled = not needed
        if not needed:
            needed = {row for name in ("fill_states", "origin_sources") for row in self._fetchall(statement(name))}
        return [f"Q{item}" for (item,) in sorted(needed - missing)]

    def keep_names(self, terms: Sequence[NameInLanguage], bearers: Iterable[Bearer]) -> None:
        """Stores which items an endpoint says to bear these names."""
        rows = list(bearers)
        hits: dict[NameInLanguage, set[int]] = {term: set() for term in terms}
        for row in rows:
            hits[row.term].add(row.item)
        above = sorted({row[1:] for row in rows}, key=str)
        columns = [pa.array(column, field) for column, field in zip(zip(*above, strict=True), _BEARERS, strict=False)]
        with self._answer():
            self._add_fetched("name", {term: sorted(items) for term, items in hits.items()})
            if above:
                self._draft.insert("bearers", pa.table(columns, names=["item", "property", "target"]))
        self.asked.names |= {term: bool(items) for term, items in hits.items()}

    def keep_search(self, term: NameInLanguage, qids: Sequence[str]) -> None:
        """Stores what the service's search found for a term, in its order."""
        with self._answer():
            self._add_fetched("search", {term: list(map(number, qids))})
        self.asked.searches.add(term)

    def keep_entities(self, entities: Mapping[str, EntityJson | None]) -> None:
        """Stores the entities by the QID that was asked for; None: there is no such item."""
        rows = EntityRows(self.languages)
        for qid, entity in entities.items():
            if entity is not None:
                if qid != entity["id"]:
                    rows.add_redirect(number(qid), number(entity["id"]))
                rows.add({key: value for key, value in entity.items() if key != "redirects"})
        missing = [number(qid) for qid, entity in entities.items() if entity is None]
        with self._answer():
            self._draft.add(rows.tables())
            if missing:
                self._add_fetched("number", {("", " ".join(f"Q{item}" for item in missing)): missing})

    def unchecked(self, qids: Iterable[str]) -> list[str]:
        """Those of some items of which nobody knows yet whether they have been merged into others."""
        known = "SELECT item FROM draft.items UNION ALL SELECT item FROM draft.redirects"
        asked = "SELECT unnest(hits) FROM draft.fetched WHERE way IN ('number', 'linked')"
        there = {f"Q{item}" for (item,) in self._fetchall(f"{known} UNION ALL {asked}")}
        return sorted(set(qids) - there)

    def keep_checked(self, entities: Mapping[str, EntityJson | None]) -> None:
        """Stores which of the items that were asked for have been merged, and nothing else about them."""
        rows = EntityRows(self.languages)
        for qid, entity in entities.items():
            if entity is not None and qid != entity["id"]:
                rows.add_redirect(number(qid), number(entity["id"]))
        with self._answer():
            self._draft.add(rows.tables())
            self._add_fetched("linked", {("", " ".join(entities)): list(map(number, entities))})

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
        named = EntityRows(self.languages)
        for item, rows in groupby(self._fetchall(statement("fill_named")), key=itemgetter(0)):
            named.add(_entity(item, [(language, name) for _, language, name in rows]))
        with self._draft.transaction():
            self._draft.insert("names", named.tables()["names"])
            partial = "SELECT * FROM wikidata.claims WHERE item NOT IN (SELECT item FROM draft.items)"
            self._connection.execute(f"INSERT INTO draft.claims {partial}")
        return assemble(out, answers_folder(out), self._draft, self.languages, provenance)

    def _check(self, wanted: Mapping[str, Any]) -> None:
        """Raises `SnapshotError` unless the answers are those that would be got now."""
        there = (self._draft.state or {"asked": wanted})["asked"]
        for what, value in wanted.items():
            if there[what] != value:
                told = f"holds answers with other {what}: {there[what]}, not {value}"
                raise SnapshotError(told, where=self._draft.file, remedy="Delete its folder, or ask the same again.")

    def _find_belonging(self) -> None:
        """Finds which items belong to a topic, by the rules of the linker, over all that is known so far."""
        scopes = sorted(set(scopes_of(self._catalog, self._catalog.topics).values()))
        create_members(self._connection, scopes, {scope.rules: place for place, scope in enumerate(scopes)})
        self._connection.execute(
            "CREATE OR REPLACE TABLE belonging AS SELECT DISTINCT item FROM members WHERE scope >= 0"
        )
        self._connection.execute("DROP TABLE members; DROP TABLE pages")

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
            self._connection.execute(statement("fill_taken_over"))
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

    def _add_fetched(self, way: LookupWay, hits: Mapping[NameInLanguage, Sequence[int]]) -> None:
        now = _now()
        rows = [
            {"way": way, "language": language, "term": term, "asked_at": now, "hits": list(items)}
            for (language, term), items in hits.items()
        ]
        self._draft.insert("fetched", pa.Table.from_pylist(rows, PLAIN["fetched"]))

    def _fetchall(self, query: str, params: list[Any] | None = None) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, params).fetchall()


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None, microsecond=0)


def _entity(item: int, names: Iterable[tuple[str, str]]) -> EntityJson:
    """An item as the API would send it, of which nothing but these names (language, name) is known."""
    aliases: dict[str, list[dict[str, str]]] = {}
    for language, name in names:
        aliases.setdefault(language, []).append({"language": language, "value": name})
    return {"type": "item", "id": f"Q{item}", "aliases": aliases}


_ASKED = "SELECT way, language, term, len(hits) > 0 FROM {} WHERE way IN ('name', 'search')"
_BEARERS = (pa.uint32(), pa.string(), pa.uint32())
