"""Entity linking: links mentions to Wikidata items set-wise, by joins, and keeps the evidence.

    tables = Linker(catalog, open_snapshot(path)).link(queries)
    tables["links"]

A query is what the extractor says of a mention: its surface, dictionary form and English name within a language, topic
and kind. Its candidates are the items with one of these names (`sql/found.sql`). Candidates that reach the kind's
classes are ranked by how well the name matches, distance to the class and sitelinks (`sql/ranked.sql`). A query does
not hold the prompt's country, so linking cannot use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.cache.errors import SnapshotError
from polyculture.cache.files import scratch_folder
from polyculture.cache.identity import content_id
from polyculture.cache.schema import CANDIDATES, ENTITIES, ENTITY_COUNTRIES, LINKS, KnownCountry
from polyculture.link.forms import Forms
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.keys import keys_version
from polyculture.link.normalise import NORMALISATION
from polyculture.link.ontology import open_members, scopes_of
from polyculture.link.origins import find_origins, origin_rules
from polyculture.link.queries import create_queries
from polyculture.link.statements import statement

ALGORITHM = 16  # raise when the same input may give other links
MEMORY = "1GB"  # DuckDB's memory limit while it links; the rest goes to disk
_TABLES = {table.name: table for table in (CANDIDATES, ENTITIES, ENTITY_COUNTRIES, LINKS)}
TABLES = tuple(_TABLES)


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
        with (
            scratch_folder("link") as folder,
            connect(memory=MEMORY, spill=folder) as connection,
            self.source.opened(connection),
        ):
            connection.execute("SET preserve_insertion_order = false")  # the output tables are sorted at the end
            scopes = open_members(connection, self.catalog, _distinct(queries, "topic"), self.source.scopes)
            connection.execute("SET VARIABLE paper = $paper", {"paper": self.forms == "paper"})
            create_queries(connection, queries, self.catalog, scopes)
            connection.execute(statement("found"))
            connection.execute(statement("ranked"))
            find_origins(connection, self.catalog)
            yield connection

    def _check_languages(self, codes: list[str]) -> None:
        for language in map(self.catalog.language, codes):
            if self.source.languages.isdisjoint(language.label_languages):
                what = f"the snapshot has no names in any language that {language.name} falls back on"
                remedy = "Build it again: polyculture wikidata build keeps the languages of the catalogue."
                raise SnapshotError(what, where=self.source.provenance.get("snapshot"), remedy=remedy)


def linker_id(source: Snapshot, catalog: Catalog, topics: Iterable[str], forms: Forms = "all") -> str:
    """A hash of what decides the item of a query: snapshot, classes, languages, forms, algorithm."""
    kinds = {"/".join(key): scope.rules for key, scope in scopes_of(catalog, sorted(set(topics))).items()}
    chains = {code: language.label_languages for code, language in catalog.languages.items()}
    versions = (ALGORITHM, NORMALISATION, keys_version())
    return content_id(*versions, source.identity, forms, kinds, chains, origin_rules(catalog))


def languages_without_names(source: Snapshot, catalog: Catalog, languages: Iterable[str]) -> list[str]:
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


def read_table(connection: duckdb.DuckDBPyConnection, name: str, query: str | None = None) -> pa.Table:
    """One of `TABLES`, by the statement `query` where that has another name."""
    schema = _TABLES[name].schema
    # `find_origins` made the table of countries.
    query = f"FROM {name} ORDER BY ALL" if name == ENTITY_COUNTRIES.name else statement(query or name)
    found: pa.Table = connection.sql(query).to_arrow_table()
    return found.select(schema.names).cast(schema)
