"""Entity linking: links surfaces to Wikidata items set-wise, by joins, and keeps the evidence.

    tables = Linker(catalog, IndexSource(open_snapshot(path))).link(queries)
    tables["links"]

A query is a surface within a language, topic and kind. Its candidates are the items with that name. Candidates that
reach the kind's classes survive; survivors are ranked by match kind, distance to the class and sitelinks. A query does
not hold the prompt's country, so linking cannot use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import MappingProxyType

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.cache.errors import SnapshotError
from polyculture.cache.files import scratch_folder
from polyculture.cache.schema import CANDIDATES, ENTITIES, ENTITY_COUNTRIES, LINKS, KnownCountry
from polyculture.link.attribution import check_creators
from polyculture.link.calibration import create_confidences
from polyculture.link.fuzzy import match_fuzzily
from polyculture.link.index.source import IndexSource
from polyculture.link.kind_words import create_kind_words
from polyculture.link.name_forms import load_loose_names
from polyculture.link.ontology import Ontology
from polyculture.link.origins import find_origins
from polyculture.link.queries import create_keys, create_lookups
from polyculture.link.rules import DEFAULT_RULES, LinkRules
from polyculture.link.statements import statement
from polyculture.link.variants import create_forms, find_variants
from polyculture.link.within import match_known, match_unknown

MEMORY = "1GB"  # DuckDB's memory limit while it links; the rest goes to disk
AT_A_TIME = 2  # output tables created in parallel: their last steps use one core
_TABLES = {table.name: table for table in (CANDIDATES, ENTITIES, ENTITY_COUNTRIES, LINKS)}
TABLES = tuple(_TABLES)


@dataclass(frozen=True, slots=True)
class Linker:
    """Links surfaces with a catalogue, a source of Wikidata and the thresholds of `rules`."""

    catalog: Catalog
    source: IndexSource
    rules: LinkRules = DEFAULT_RULES

    def link(self, queries: pa.Table) -> dict[str, pa.Table]:
        """The tables `TABLES` for `queries`, a table with the columns language, topic, kind and surface.

        The order of the rows does not depend on the order of the queries. Raises `SnapshotError` where the source has
        no names for one of the languages, and what the source raises.
        """
        self._check_languages(_distinct(queries, "language"))
        topics = _distinct(queries, "topic")
        with (
            scratch_folder("link") as folder,
            connect(memory=MEMORY, spill=folder) as connection,
            self.source.opened(connection),
        ):
            connection.execute("SET preserve_insertion_order = false")  # the output tables are sorted at the end
            ontology = Ontology(connection, self.catalog, topics, self.source.scopes)
            connection.execute(statement("loose"))
            self._create_queries(connection, queries, ontology)
            self._find_exact(connection, ontology)
            self._find_variants(connection)
            ontology.reach(connection.table("found")).create("reached")
            return self._choose(connection)

    def _create_queries(self, connection: duckdb.DuckDBPyConnection, queries: pa.Table, ontology: Ontology) -> None:
        """Creates the query tables. While Python normalises the surfaces DuckDB numbers the queries."""
        create_lookups(connection, queries, self.catalog, ontology.scopes)
        with connection.cursor() as cursor, ThreadPoolExecutor(1) as beside:
            normalising = beside.submit(create_keys, cursor, self.catalog)
            connection.execute(statement("queries"))
            normalising.result()

    def _find_exact(self, connection: duckdb.DuckDBPyConnection, ontology: Ontology) -> None:
        """Creates `found` (exact matches) and `unmatched` (queries without an exact match in the topic)."""
        ontology.expand_classes()
        ontology.find_members()
        connection.execute(statement("topic_items"))
        connection.execute(statement("found"))
        if "normalised" not in self.rules.forms:
            connection.execute(statement("drop_normalised"))
        connection.execute(statement("unmatched"))

    def _find_variants(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Adds candidates of unmatched queries to `found`, by the forms of the rules, one after the other."""
        rules, forms = self.rules, self.rules.forms
        if not forms or not len(connection.table("unmatched")):
            return
        create_forms(connection, self.catalog, inflected="inflection" in forms, within="within" in forms)
        load_loose_names(connection, self.source)
        find_variants(connection, spelled="spelling" in forms, inflected="inflection" in forms)
        if "within" in forms:
            connection.execute(statement("unmatched"))
            match_known(connection)
        if "fuzzy" in forms and rules.fuzzy_threshold is not None and self.source.complete:
            match_fuzzily(connection, rules.fuzzy_threshold, rules.fuzzy_plain, rules.fuzzy_strict)
        elif "fuzzy" in forms and rules.fuzzy_threshold is not None:
            connection.execute(statement("slips"))
        if "within" in forms:
            match_unknown(connection, self.catalog)
            check_creators(connection, self.catalog)

    def _check_languages(self, codes: list[str]) -> None:
        for language in map(self.catalog.language, codes):
            if self.source.languages.isdisjoint(language.label_languages):
                what = f"the snapshot has no names in any language that {language.name} falls back on"
                remedy = "Build it again: polyculture wikidata build keeps the languages of the catalogue."
                raise SnapshotError(what, where=self.source.provenance.get("snapshot"), remedy=remedy)

    def _choose(self, connection: duckdb.DuckDBPyConnection) -> dict[str, pa.Table]:
        lead = {"clear_lead": self.rules.clear_lead}
        connection.execute(statement("match_names"))
        connection.execute(statement("query_group_codes"))
        create_kind_words(connection, self.catalog)
        connection.execute(statement("ranked_candidates"), lead)
        connection.execute(statement("linked"))
        find_origins(connection, self.catalog)
        create_confidences(connection)
        params: Mapping[str, dict[str, float]] = {"candidates": lead}
        with ThreadPoolExecutor(AT_A_TIME) as beside:
            tables = beside.map(lambda name: _table(connection, name, params.get(name)), TABLES)
            return dict(zip(TABLES, tables, strict=True))


def languages_without_names(source: IndexSource, catalog: Catalog, languages: Iterable[str]) -> list[str]:
    """The languages in which the source has no names: there only names of other languages, mostly English, match."""
    own = {code: catalog.language(code).label_languages[0] for code in languages}
    return sorted(code for code, first in own.items() if first not in source.languages)


def known_countries(catalog: Catalog, uncovered: Mapping[str, list[str]] = MappingProxyType({})) -> list[KnownCountry]:
    """The countries of the catalogue with their regions, in the order of maps; those without a region come last.

    `uncovered`: see `origins.uncovered_topics`.
    """
    region_of, first_of = catalog.region_of, _first_languages(catalog)
    order = [code for code in region_of if code in catalog.countries]
    order += sorted(catalog.countries.keys() - region_of.keys())
    rows = []
    for place, country in enumerate(map(catalog.country, order)):
        region = region_of.get(country.code)
        rows.append(
            KnownCountry(
                country.code,
                country.name,
                country.qid,
                region.code if region else None,
                region.name if region else None,
                region.part_of if region else None,
                place,
                first_of.get(country.code, []),
                uncovered.get(country.code, []),
            )
        )
    return rows


def _first_languages(catalog: Catalog) -> dict[str, list[str]]:
    """The languages of each country that is the first of any."""
    found: dict[str, list[str]] = {}
    for code, language in catalog.languages.items():
        found.setdefault(language.first_country, []).append(code)
    return found


def _distinct(queries: pa.Table, column: str) -> list[str]:
    return sorted(str(value) for value in queries.column(column).unique().to_pylist())


def _table(connection: duckdb.DuckDBPyConnection, name: str, params: dict[str, float] | None) -> pa.Table:
    schema = _TABLES[name].schema
    with connection.cursor() as cursor:
        query = (
            f"FROM {name} ORDER BY ALL" if name == ENTITY_COUNTRIES.name else statement(name)
        )  # made by `find_origins`
        found: pa.Table = cursor.sql(query, params=params).to_arrow_table()
        return found.select(schema.names).cast(schema)
