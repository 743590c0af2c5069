"""What a topic's classes let in, against any path over the same claims: items of a snapshot that count as books.

    python -m bench.linking_paths --snapshot FILE

Any path: instance-of, subclass-of and part-of upward in any order, to one of the roots of books' titles. Ours: the
rules of `link/ontology.py`, with and without the topic's stops.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import duckdb

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cli.tables import print_table
from polyculture.link.index.snapshot import open_snapshot
from polyculture.link.index.source import IndexSource
from polyculture.link.ontology import Ontology

SMALLEST = ("--snapshot", "{snapshot}")
ANY_PATH = """
    WITH RECURSIVE reached(item) AS (
        SELECT unnest($roots)::UINTEGER
        UNION
        SELECT claim.item FROM reached JOIN wikidata.claims AS claim ON claim.target = reached.item
        WHERE claim.property IN ('P31', 'P279', 'P361')
    )
    SELECT count(*) FROM reached SEMI JOIN wikidata.items USING (item)
"""


def main() -> None:
    """Prints how many items each rule accepts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--snapshot", type=Path, required=True, help="an index, e.g. of the slice")
    source, catalog = IndexSource(open_snapshot(parser.parse_args().snapshot)), read_catalog()
    title = catalog.topic("book").kinds["title"]
    with duckdb.connect() as connection, source.opened(connection):
        roots = {"roots": [int(qid[1:]) for qid in title.roots]}
        (every,) = connection.execute("SELECT count(*) FROM wikidata.items").fetchone() or (0,)
        (anyhow,) = connection.execute(ANY_PATH, roots).fetchone() or (0,)
    loose = title.model_copy(update={"stops": (), "members": "any"})
    rows = [("any path", anyhow), ("instance-of once, then subclass-of", _accepted(source, _with(catalog, loose)))]
    rows.append(("the same with stops, instances only", _accepted(source, catalog)))
    print_table(("rule", "accepted"), rows, title=f"Book titles among {every:,} items")


def _with(catalog: Catalog, title: object) -> Catalog:
    book = catalog.topic("book")
    changed = book.model_copy(update={"kinds": {**book.kinds, "title": title}})
    return catalog.model_copy(update={"topics": {**catalog.topics, "book": changed}})


def _accepted(source: IndexSource, catalog: Catalog) -> int:
    with duckdb.connect() as connection, source.opened(connection):
        ontology = Ontology(connection, catalog, ["book"])
        ontology.expand_classes()
        members = ontology.reach(connection.table("wikidata.items"))
        params = {"scope": ontology.scopes["book", "title"]}
        members.create("accepted")
        (count,) = connection.execute("SELECT count(*) FROM accepted WHERE scope = $scope", params).fetchone() or (0,)
    return int(count)


if __name__ == "__main__":
    main()
