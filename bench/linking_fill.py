"""How many requests a fill takes for a name, and whether its snapshot links the names as one of everything does.

    python -m bench.linking_fill [--snapshot FILE] [--data FOLDER] [--names 1500]

The service is a server on this machine that speaks the API's protocol, folds no more than Wikidata's search surely
does, and serves the items of a snapshot: of the slice, unless one is given. The peer is that snapshot. Names are drawn
from it, of items of the topics, in 13 languages; a mention has its dictionary form, or its English name, too.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from bench.linking_accuracy import DATA, opened
from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.link.api.client import ApiSettings
from polyculture.link.api.fill import fill_snapshot
from polyculture.link.api.names import Named
from polyculture.link.index.lexicon import lexicon
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.linker import Linker
from tests.link_world import statement
from tests.wikidata_server import WikidataServer, as_wikidata

SMALLEST = ("--snapshot", "{snapshot}", "--names", "20")


def main() -> None:
    """Prints requests and seconds, with the English names and without, and how many links are the same."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--snapshot", type=Path, help="a snapshot; of the slice, built where not given")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real data")
    parser.add_argument("--names", type=int, default=1500)
    given, catalog = parser.parse_args(), read_catalog()
    with opened(given.snapshot, given.data, catalog) as whole, tempfile.TemporaryDirectory() as folder:
        mentions = random.Random(1).sample(drawn := list(_mentions(whole, catalog)), min(given.names, len(drawn)))
        queries = pa.Table.from_pylist([query for query, _ in mentions])
        expected = Linker(catalog, whole).link(queries)["links"].to_pylist()
        with WikidataServer(list(_entities(whole)), folding=as_wikidata) as server:
            settings = ApiSettings("bench@example.org", server.url, requests_per_minute=1e9)
            for how in ("dictionary form", "dictionary form and English name"):
                names = {
                    Named(query["language"], query["surface"], None, english if "English" in how else None)
                    for query, english in mentions
                }
                began, out = time.monotonic(), Path(folder) / f"{how}.duckdb"
                report = fill_snapshot(catalog, sorted(names, key=repr), out, settings)
                seconds, each = time.monotonic() - began, report.requests / len(names)
                print(f"{how}: {report.requests:,} requests for {len(names):,} names, {each:.2f} each, {seconds:.0f} s")
                found = Linker(catalog, report.snapshot).link(queries)["links"].to_pylist()
                pairs = [(one["qid"], other["qid"]) for one, other in zip(expected, found, strict=True) if one["qid"]]
                same = sum(one == other for one, other in pairs)
                print(f"  {same:,} of {len(pairs):,} links are the same as with the whole snapshot")


def _mentions(snapshot: Snapshot, catalog: Catalog) -> Iterator[tuple[dict[str, str], str | None]]:
    """Queries for the names of topics' items, with the item's English label."""
    with duckdb.connect(str(snapshot.path), read_only=True) as connection:
        query = "SELECT item, any_value(name) FROM names WHERE language = 'en' AND kind = 'label' GROUP BY item"
        english = {f"Q{item}": name for item, name in connection.execute(query).fetchall()}
    for topic in catalog.topics:
        for language in catalog.languages:
            names = lexicon(snapshot, catalog, topic, language, own_only=True)
            for row in names.to_pylist():
                asked = {"language": language, "topic": topic, "kind": row["kind"], "surface": row["surface"]}
                yield asked, english.get(row["qid"])


def _entities(snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    """The items of a snapshot, as the service gives them."""
    items: dict[int, dict[str, Any]] = {}
    with duckdb.connect(str(snapshot.path), read_only=True) as connection:
        for item, sitelinks in connection.execute("SELECT item, sitelinks FROM items").fetchall():
            pages = {f"s{number}wiki": {} for number in range(sitelinks)}
            texts = {name: {} for name in ("labels", "aliases", "descriptions", "claims")}
            items[item] = {"type": "item", "id": f"Q{item}", "sitelinks": pages, **texts}
        for item, code, name, kind in connection.execute("SELECT item, language, name, kind FROM names").fetchall():
            value = {"language": code, "value": name}
            if kind == "label":
                items[item]["labels"][code] = value
            else:
                items[item]["aliases"].setdefault(code, []).append(value)
        for item, code, target in connection.execute("SELECT item, property, target FROM claims").fetchall():
            items[item]["claims"].setdefault(code, []).append(statement(f"Q{target}"))
    yield from items.values()


if __name__ == "__main__":
    main()
