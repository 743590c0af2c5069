"""Links surfaces to Wikidata items: all at once, by joins, with the evidence.

    tables = link(asks, catalog, IndexSource(open_snapshot(path)))
    tables["links"]

An ask is a surface within a language, topic and kind. Its candidates are the items with that name; those that reach
the kind's classes survive; survivors are ranked by the kind of match, the distance to the class, and sitelinks. The
country that a prompt names is no part of an ask, and nothing here could use it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.cache.errors import SnapshotError
from polyculture.cache.outcome import Progress, silent
from polyculture.cache.schema import CANDIDATES, ENTITIES, ENTITY_COUNTRIES, LINKS
from polyculture.link.calibration import lay_out_confidences
from polyculture.link.entity_json import number
from polyculture.link.fuzzy import match_fuzzily
from polyculture.link.ontology import Ontology
from polyculture.link.queries import lay_out_keys, lay_out_lookups
from polyculture.link.query_expansion import lay_out_searches
from polyculture.link.rules import DEFAULT_RULES, Rules
from polyculture.link.source import Source
from polyculture.link.statements import statement
from polyculture.link.variants import find_variants, lay_out_forms, lay_out_names

MEMORY = "1GB"  # what DuckDB may hold while it links; the rest goes to disk
# So many asks are never all found as they stand: what the others need is made ready while surfaces are folded.
MANY = 100_000
AT_A_TIME = 2  # tables that are made: their last steps are one core's work
_TABLES = {table.name: table for table in (CANDIDATES, ENTITIES, ENTITY_COUNTRIES, LINKS)}
TABLES = tuple(_TABLES)


@dataclass(frozen=True, slots=True)
class Linker:
    """What surfaces are linked with."""

    catalog: Catalog
    source: Source
    rules: Rules = DEFAULT_RULES

    def link(self, asks: pa.Table, progress: Progress = silent) -> dict[str, pa.Table]:
        """The tables `TABLES` for `asks`, a table with the columns language, topic, kind and surface.

        Rows are in a fixed order, whatever the order of the asks. Raises `SnapshotError` where the source has no names
        at all for one of the languages, and what the source raises.
        """
        self._check_languages(_distinct(asks, "language"))
        topics = _distinct(asks, "topic")
        with (
            tempfile.TemporaryDirectory(prefix="polyculture-") as folder,
            connect(memory=MEMORY, spill=Path(folder)) as connection,
            self.source.opened(connection),
        ):
            connection.execute("SET preserve_insertion_order = false")  # all tables that leave are sorted at the end
            ontology = Ontology(connection, self.catalog, topics)
            connection.execute(statement("loose"))
            ahead = not self.source.searched and asks.num_rows >= MANY
            self._lay_out_asks(connection, asks, ontology, ahead)
            self._look_up(connection, ontology, progress, ahead)
            self._look_further(connection, ontology, progress, ahead)
            ontology.reach(connection.table("found")).create("reached")
            return self._choose(connection)

    def _lay_out_asks(
        self, connection: duckdb.DuckDBPyConnection, asks: pa.Table, ontology: Ontology, ahead: bool
    ) -> None:
        """Lays out the asks; `ahead`, also the names of the topics' items, while Python folds the surfaces."""
        lay_out_lookups(connection, asks, self.catalog, ontology.scopes)
        if ahead:
            ontology.climb()  # before: its many short statements would each wait for Python
        with connection.cursor() as cursor, ThreadPoolExecutor(1) as beside:
            folding = beside.submit(lay_out_keys, cursor, self.catalog)
            connection.execute(statement("asks"))
            if ahead:
                _lay_out_names(connection, ontology)
            folding.result()

    def _look_up(
        self, connection: duckdb.DuckDBPyConnection, ontology: Ontology, progress: Progress, ahead: bool
    ) -> None:
        """Makes `found`, the items that bear an ask's name, and `unmatched`, the asks with none in their topic."""
        self.source.find(connection, progress)
        if not ahead:
            ontology.climb()
        connection.execute(statement("found"))
        self._keep_heard(connection)
        if not ahead:
            _keep_members(connection, ontology, "found")
        connection.execute(statement("unmatched"))

    def _look_further(
        self, connection: duckdb.DuckDBPyConnection, ontology: Ontology, progress: Progress, ahead: bool
    ) -> None:
        """Adds to `found` what an ask without a candidate in its topic may mean: other spellings and forms, fuzzily."""
        if not len(connection.table("unmatched")):
            return
        lay_out_forms(connection, self.catalog)
        if self.source.searched:
            lay_out_searches(connection, self.catalog)
            self._look_up(connection, ontology, progress, ahead)  # among what is found now may be the name as it stands
        if not ahead:
            _lay_out_names(connection, ontology)
        find_variants(connection)
        self._keep_heard(connection)
        rules = self.rules
        if rules.fuzzy_threshold is not None and self.source.complete:
            match_fuzzily(connection, rules.fuzzy_threshold, rules.fuzzy_plain, rules.fuzzy_strict)

    def _keep_heard(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Leaves of `found` what the source found for the ask itself."""
        if self.source.searched:
            connection.execute(statement("unheard"))

    def _check_languages(self, codes: list[str]) -> None:
        for language in map(self.catalog.language, codes):
            if self.source.languages.isdisjoint(language.label_languages):
                what = f"the snapshot has no names in any language that {language.name} falls back on"
                remedy = "Build it again: polyculture wikidata build keeps the languages of the catalogue."
                raise SnapshotError(what, where=self.source.provenance.get("snapshot"), remedy=remedy)

    def _choose(self, connection: duckdb.DuckDBPyConnection) -> dict[str, pa.Table]:
        lead = {"clear_lead": self.rules.clear_lead}
        connection.execute(statement("match_names"))
        connection.execute(statement("heading_codes"))
        connection.execute(statement("judged"), lead)
        connection.execute(statement("linked"))
        creators = connection.sql(statement("creators")).fetchall()
        self.source.fetch(connection, [item for (item,) in creators])
        lay_out_countries(connection, self.catalog)
        lay_out_confidences(connection)
        params: Mapping[str, dict[str, float]] = {"candidates": lead}
        with ThreadPoolExecutor(AT_A_TIME) as beside:
            tables = beside.map(lambda name: _table(connection, name, params.get(name)), TABLES)
            return dict(zip(TABLES, tables, strict=True))


def languages_without_names(source: Source, catalog: Catalog, languages: Iterable[str]) -> list[str]:
    """The languages whose own names the source does not have: only names of other languages, mostly English, match."""
    own = {code: catalog.language(code).label_languages[0] for code in languages}
    return sorted(code for code, first in own.items() if first not in source.languages)


def _lay_out_names(connection: duckdb.DuckDBPyConnection, ontology: Ontology) -> None:
    """Lays out which items belong to the topics' kinds, and their names."""
    _keep_members(connection, ontology, "wikidata.items")
    lay_out_names(connection)


def _keep_members(connection: duckdb.DuckDBPyConnection, ontology: Ontology, items: str) -> None:
    connection.execute("DROP TABLE IF EXISTS members")
    ontology.members(connection.table(items)).create("members")


def lay_out_countries(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Creates the table `iso`: a row is an item that stands for one of the catalogue's countries."""
    countries = catalog.countries.values()
    pairs = [(number(qid), country.code) for country in countries for qid in (country.qid, *country.includes)]
    items = pa.array([item for item, _ in pairs], pa.uint32())
    codes = pa.array([code for _, code in pairs], pa.string())
    connection.from_arrow(pa.table({"item": items, "country": codes})).create("iso")


def _distinct(asks: pa.Table, column: str) -> list[str]:
    return sorted(str(value) for value in asks.column(column).unique().to_pylist())


def _table(connection: duckdb.DuckDBPyConnection, name: str, params: dict[str, float] | None) -> pa.Table:
    schema = _TABLES[name].schema
    with connection.cursor() as cursor:
        found: pa.Table = cursor.sql(statement(name), params=params).to_arrow_table()
        return found.select(schema.names).cast(schema)
