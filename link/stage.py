"""The stage `link`: from a run's mentions to its links.

All distinct queries of the run's current mentions are linked together. `known_countries`, `snapshot_items`,
`candidates`, `entities` and `entity_countries` are written first and `links` last, each with the same digest of its
inputs: if the digests differ, the stage runs again. So links that were made when fewer countries were known are made
anew as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.cache.identity import content_id
from polyculture.cache.store.linked import (
    ENTITY_COUNTRIES,
    KNOWN_COUNTRIES,
    LINKS,
    SNAPSHOT_ITEMS,
    SNAPSHOT_LINKS,
    KnownCountry,
)
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.parquet import objects_to_table, read_metadata, read_rows, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.cache.work.outcome import Outcome
from polyculture.link.api.names import NamedMention
from polyculture.link.forms import Forms
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.linker import TABLES, Linker, linker_id
from polyculture.link.origins import snapshot_items, uncovered_topics
from polyculture.link.published import PublishedLinker
from polyculture.link.statements import statement

DIGEST = "link_digest"


def link_run(
    run: RunFolder,
    manifest: Manifest,
    catalog: Catalog,
    source: Snapshot,
    forms: Forms = "all",
    published: PublishedLinker | None = None,
) -> Outcome:
    """Links the queries of the run's current mentions, unless they are linked already.

    The outcome counts distinct queries, all of them done: a query without an entity is a row with the reason. Links
    that are `published` are taken, and nothing is linked here. Hallucinated mentions and kinds that are never counted
    are excluded. Raises `StoreError` where the run's folder cannot be written, and `SnapshotError` where the snapshot
    is damaged.
    """
    surfaces = distinct_surfaces(run, manifest)
    countries = objects_to_table(KNOWN_COUNTRIES, known_countries(catalog))
    of_run = _distinct(surfaces, "language"), _distinct(surfaces, "topic")
    identity = published.identity if published else linker_id(source, catalog, *of_run, forms)
    # A query's number is a hash of all that it asks.
    asked = manifest.topics, manifest.languages
    digest = content_id(identity, surfaces["query"].to_pylist(), countries.to_pydict(), *asked)
    names = (KNOWN_COUNTRIES.name, SNAPSHOT_ITEMS.name, *TABLES)
    if all(read_metadata(run.table(name)).get(DIGEST) == digest for name in names):
        return Outcome(surfaces.num_rows, 0, surfaces.num_rows)
    found = published.link(surfaces) if published else Linker(catalog, source, forms).link(surfaces)
    uncovered = uncovered_topics(source, catalog, manifest.topics)
    countries = objects_to_table(KNOWN_COUNTRIES, known_countries(catalog, uncovered))
    held = objects_to_table(SNAPSHOT_ITEMS, snapshot_items(source, catalog, *asked))
    tables = {**found, KNOWN_COUNTRIES.name: countries, SNAPSHOT_ITEMS.name: held}
    for name in names:
        write_parquet(tables[name], run.table(name), {DIGEST: digest})
    return Outcome(surfaces.num_rows, 0)


def link_beside(
    run: RunFolder,
    manifest: Manifest,
    catalog: Catalog,
    source: Snapshot,
    forms: Forms = "all",
) -> Outcome:
    """Links the same with another snapshot, into the table `snapshot_links`, beside the links of the run.

    Rows of the same snapshot are replaced, whatever was asked of it before; others stay: also those of the same file
    before it grew, or of another of its name. Raises as `link_run`.
    """
    surfaces = distinct_surfaces(run, manifest)
    path = run.table(SNAPSHOT_LINKS.name)
    kept = read_rows(path, SNAPSHOT_LINKS) if path.exists() else SNAPSHOT_LINKS.schema.empty_table()
    found = Linker(catalog, source, forms).link(surfaces)
    with connect() as connection, source.opened(connection):
        for table in (LINKS.name, ENTITY_COUNTRIES.name):
            connection.register(table, found[table])
        name = "starter" if source.bundled else source.path.name
        params = {"snapshot": name, "identity": source.identity, "date": source.date}
        rows: pa.Table = connection.sql(statement("snapshot_links"), params=params).to_arrow_table()
    others = kept.filter(pc.field("identity") != source.identity)
    write_parquet(pa.concat_tables([others, rows.cast(SNAPSHOT_LINKS.schema)]), path)
    return Outcome(surfaces.num_rows, 0)


def distinct_surfaces(run: RunFolder, manifest: Manifest) -> pa.Table:
    """The distinct queries to link, in a fixed order: see `numbered`.

    The prompt's country and condition are no columns here, so that no link can depend on them.
    """
    with open_store(run, manifest=manifest) as store:
        surfaces: pa.Table = store.sql(statement("surfaces")).to_arrow_table()
        return surfaces


def current_names(run: RunFolder, manifest: Manifest) -> list[NamedMention]:
    """The names under which the run's current mentions are looked up, in a fixed order."""
    with open_store(run, manifest=manifest) as store:
        return [NamedMention(*row) for row in store.execute(statement("fill_names")).fetchall()]


def current_items(run: RunFolder, manifest: Manifest) -> list[str]:
    """The QIDs that the run's current queries are linked to, in a fixed order."""
    with open_store(run, manifest=manifest) as store:
        rows = store.execute("SELECT DISTINCT qid FROM links WHERE qid IS NOT NULL ORDER BY qid").fetchall()
    return [qid for (qid,) in rows]


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


def _distinct(surfaces: pa.Table, column: str) -> list[str]:
    return [str(value) for value in surfaces.column(column).unique().to_pylist()]
