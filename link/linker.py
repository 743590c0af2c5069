"""Entity linking: links mentions to Wikidata items set-wise, by joins, and keeps the evidence.

    tables = Linker(catalog, open_snapshot(path)).link(queries)
    tables["links"]

A query is what the extractor says of a mention: its surface, dictionary form and English name within a language, topic
and kind. Its candidates are the items with one of these names (`sql/found.sql`). Candidates that reach the kind's
classes are ranked by how well the name matches, distance to the class and sitelinks (`sql/ranked.sql`). A query does
not hold the prompt's country, so linking cannot use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.cache.errors import SnapshotError
from polyculture.cache.files import scratch_folder
from polyculture.cache.identity import content_id
from polyculture.cache.store.linked import CANDIDATES, ENTITIES, ENTITY_COUNTRIES, LINKS
from polyculture.link.forms import PARENTHESIS, Forms
from polyculture.link.index.current_keys import create_keys
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.keys import KEYS, key_version
from polyculture.link.normalise import NORMALISATION
from polyculture.link.ontology import open_members, scopes_of
from polyculture.link.origins import find_origins, origin_rules
from polyculture.link.queries import ENGLISH, create_queries, label_chain
from polyculture.link.statements import statement

ALGORITHM = 20  # raise when the same input may give other links
MEMORY = "1.5GB"  # DuckDB's memory limit while it links; the rest goes to disk
# So few queries, looked up in a file of fewer bytes, keep one thread busy for a tenth of a second: to share them with
# others takes more CPU time than it saves by the clock.
FEW, SMALL = 100, 256 << 20
TABLES = ("candidates", "entities", "entity_countries", "links")


@dataclass(frozen=True, slots=True)
class Linker:
    """Links mentions with a catalogue, a snapshot of Wikidata and the `forms` of a mention that are looked up."""

    catalog: Catalog
    source: Snapshot
    forms: Forms = "all"

    def link(self, queries: pa.Table) -> dict[str, pa.Table]:
        """The tables `TABLES` for `queries`, a table with the columns language, topic, kind and surface, and perhaps
        name, english and query (see `numbered`).

        The order of the rows does not depend on the order of the queries. Raises what `opened` raises.
        """
        with self.opened(queries) as connection:
            return {name: read_table(connection, name) for name in TABLES}

    @contextmanager
    def opened(self, queries: pa.Table) -> Iterator[duckdb.DuckDBPyConnection]:
        """The snapshot, with the queries linked: what `read_table` reads.

        Raises `SnapshotError` where the snapshot has no names for one of the languages, or is damaged.
        """
        self._check_languages(_distinct(queries, "language"))
        with self._database(len(queries)) as connection, self.source.opened(connection):
            connection.execute("SET preserve_insertion_order = false")  # the output tables are sorted at the end
            scopes = open_members(connection, self.catalog, _distinct(queries, "topic"), self.source.scopes)
            connection.execute("SET VARIABLE paper = $paper", {"paper": self.forms == "paper"})
            connection.execute("SET VARIABLE parenthesis = $pattern", {"pattern": PARENTHESIS})
            create_queries(connection, queries, self.catalog, scopes)
            names = connection.execute("SELECT DISTINCT name_language FROM chain").fetchall()
            name_languages = frozenset(language for (language,) in names)
            create_keys(connection, self.source, "wikidata", name_languages, self.catalog.key_rules)
            connection.execute(statement("found"))
            connection.execute(statement("ranked"))
            find_origins(connection, self.catalog)
            yield connection

    @contextmanager
    def _database(self, queries: int) -> Iterator[duckdb.DuckDBPyConnection]:
        """An empty database: of one thread, or of all with a bound of its memory."""
        if queries <= FEW and self.source.path.stat().st_size < SMALL:
            with connect() as connection:
                connection.execute("SET threads = 1")
                yield connection
        else:
            with scratch_folder("link") as folder, connect(memory=MEMORY, spill=folder) as connection:
                yield connection

    def _check_languages(self, codes: list[str]) -> None:
        for language in map(self.catalog.language, codes):
            if self.source.languages.isdisjoint(language.label_languages):
                what = f"the snapshot has no names in any language that {language.name} falls back on"
                remedy = "Make one anew with this catalogue: polyculture wikidata build or pull, or [link] fill = true."
                raise SnapshotError(what, where=self.source.provenance.get("snapshot"), remedy=remedy)


def linker_id(
    source: Snapshot, catalog: Catalog, languages: Iterable[str], topics: Iterable[str], forms: Forms = "all"
) -> str:
    """A hash of what decides the item of a query in these languages and topics: snapshot, classes, forms, algorithm.

    Languages that are added to the catalogue leave it as it is.
    """
    kinds = {"/".join(key): scope.rules for key, scope in scopes_of(catalog, sorted(set(topics))).items()}
    chains = {code: catalog.language(code).label_languages for code in sorted({*languages, ENGLISH})}
    keys = {name: key_version(name) for chain in chains.values() for name in chain}
    versions = (ALGORITHM, NORMALISATION, KEYS, keys, catalog.key_rules)
    return content_id(*versions, source.identity, forms, kinds, chains, origin_rules(catalog))


def lacking(source: Snapshot, catalog: Catalog, languages: Iterable[str], topics: Iterable[str]) -> Iterator[str]:
    """Yields what the snapshot does not hold for such queries, and what it costs, a sentence each."""
    asked = [catalog.language(code) for code in sorted(set(languages))]
    if unnamed := [language.name for language in asked if language.label_languages[0] not in source.languages]:
        yield f"{', '.join(unnamed)}: no names in it, so only names in other languages match; such numbers say little"
    for language in asked:
        names = {name for name, _ in label_chain(language)}
        if source.changed_keys & names or language.names_in in catalog.key_rules:
            yield f"{language.name}: keys by other rules than those of today; they are made anew each time"
    for topic in sorted(set(topics)):
        if source.scopes and any(scope.rules not in source.scopes for scope in scopes_of(catalog, [topic]).values()):
            yield f"{topic}: not what belongs to its kinds by their rules of today; that is searched each time"


def _distinct(queries: pa.Table, column: str) -> list[str]:
    return sorted(str(value) for value in queries.column(column).unique().to_pylist())


def read_table(connection: duckdb.DuckDBPyConnection, name: str, query: str | None = None) -> pa.Table:
    """One of `TABLES`, by the statement `query` where that has another name."""
    tables = {table.name: table for table in (CANDIDATES, ENTITIES, ENTITY_COUNTRIES, LINKS)}
    found: pa.Table = connection.sql(rows_of(name, query)).to_arrow_table()
    return found.select(tables[name].schema.names).cast(tables[name].schema)


def rows_of(name: str, query: str | None = None) -> str:
    """The statement that `read_table` reads; it may have further columns."""
    if name == "entity_countries":  # `find_origins` made the table
        return "FROM entity_countries ORDER BY ALL"
    return statement(query or name)
