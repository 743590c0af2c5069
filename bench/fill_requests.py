"""How many queries and requests a fill takes for our hard cases, what `plan` promises, and how many links are right.

    python -m bench.fill_requests [--data FOLDER] [--cases N]

Both services are local ones over the slice among the real data: a SPARQL engine, pyoxigraph, and an Action API. All of
Wikidata has more items of a name.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from bench.linking_sets import hard_cases
from bench.results import keep
from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cli.tables import print_table
from polyculture.link.api.client import ApiSettings
from polyculture.link.api.fill import assumed_names, expected_numbers, fill_snapshot, names_to_ask
from polyculture.link.api.names import NamedMention
from polyculture.link.api.sparql import SparqlSettings
from polyculture.link.audit.audit import judge, score
from polyculture.link.audit.gold import GoldMention
from tests.sparql_server import SparqlServer

DATA = Path(__file__).parents[2] / "shared" / "data"
SMALLEST = ("--data", "{data}", "--cases", "10")
CONTACT, PER_MINUTE = "bench@example.org", 600_000
COLUMNS = ("cases", "planned unseen", "planned", "queries", "requests", "right", "of links right")


def main() -> None:
    """Prints the table, and keeps it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real data")
    parser.add_argument("--cases", type=int, help="only so many of them (default: all)")
    given = parser.parse_args()
    catalog, rows = read_catalog(), []
    with SparqlServer(list(_entities(given.data / "wikidata" / "slice.json.gz"))) as server:
        for right in (1.0, None):
            gold = hard_cases(catalog, "slice", right)
            for search in (False, True):
                name = f"{gold.name}{', with search' if search else ''}"
                numbers = measured(server, catalog, gold.gold[: given.cases], search=search)
                keep("linking", "Filled with hard cases, by right names", name, numbers)
                rows.append((name, *numbers.values()))
    print_table(("right names", *COLUMNS), rows, title="Hard cases, filled from local services")


def measured(server: SparqlServer, catalog: Catalog, gold: list[GoldMention], *, search: bool) -> dict[str, str]:
    """What a fill with the names of a gold set asked, and how it links them."""
    endpoint = SparqlSettings(CONTACT, server.url, PER_MINUTE)
    service = ApiSettings(CONTACT, server.items.url, PER_MINUTE)
    named = [NamedMention(one.language, one.mention, one.name, one.english) for one in gold]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "filled.duckdb"
        unseen, planned = (
            expected_numbers(asked, search=search)
            for asked in (assumed_names(len(set(named))), names_to_ask(catalog, named, out))
        )
        report = fill_snapshot(catalog, named, out, endpoint, service, search=search)
        verdicts = score(judge(gold, catalog, report.snapshot)).verdicts
    plain = [one.right for one in verdicts if one.status == "linked"]
    share = f"{100 * sum(plain) / len(plain):.1f}" if plain else "–"
    values = (len(gold), f"{sum(unseen)}", f"{sum(planned)}", report.queries, report.requests, sum(plain), share)
    return dict(zip(COLUMNS, map(str, values), strict=True))


def _entities(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file) as lines:
        for line in lines:
            if line.startswith(b"{"):
                yield orjson.loads(line.rstrip(b",\r\n"))


if __name__ == "__main__":
    main()
