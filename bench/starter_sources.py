"""The claims of the development slice that are not Wikidata's own, so that a starter made from it leaves them out.

    python -m bench.starter_sources slice.duckdb --data ../../shared/data -o /tmp/without.csv
    polyculture wikidata starter slice.duckdb --without /tmp/without.csv -o link/index/starter --replace

The slice's makers put foods and drinks of Open Food Facts that had no class under food (Q2095) or drink (Q40050), by
that taxonomy's tree, and took most countries of origin of dishes from FmLAMA's table. Left out are the classes of items
that have no other, and the origins of FmLAMA's dishes that no other source (CUBE) states.
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
from pathlib import Path

import duckdb

FILLED_IN = (2095, 40050)  # food, drink

SMALLEST = ("{snapshot}", "--data", "{data}", "-o", "{folder}/without.csv")


def only_filled_in(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """The claims of items whose only classes are food or drink."""
    return connection.execute(
        "SELECT DISTINCT 'Q' || item, property FROM claims WHERE property IN ('P31', 'P279') AND item IN ("
        "SELECT item FROM claims WHERE property IN ('P31', 'P279') GROUP BY item"
        " HAVING bool_and(list_contains($filled, target)))",
        {"filled": list(FILLED_IN)},
    ).fetchall()


def origins(connection: duckdb.DuckDBPyConnection, data: Path) -> list[tuple[str, str]]:
    """The origins of FmLAMA's dishes, but for those that CUBE states, too."""
    listed, stated = _of_fmlama(data), _of_cube(data)
    known = connection.execute(
        "SELECT 'Q' || item, list('Q' || target) FROM claims WHERE property = 'P495' GROUP BY item"
    ).fetchall()
    return [(item, "P495") for item, targets in known if item in listed and not set(targets) <= stated.get(item, set())]


def _of_fmlama(data: Path) -> set[str]:
    files = sorted((data / "wikidata" / "fmlama").glob("*.jsonl"))
    lines = (json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines())
    return {str(line["url"]).rpartition("/")[2] for line in lines}


def _of_cube(data: Path) -> dict[str, set[str]]:
    rows = json.loads((data / "wikidata" / "cube" / "CUBE_1K.json").read_text(encoding="utf-8"))
    return {row["id"]: set(ast.literal_eval(row["P495"])) for row in rows if str(row["P495"])[:1] == "["}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshot", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    with duckdb.connect(str(options.snapshot), read_only=True) as connection:
        parts = {
            "without another class": only_filled_in(connection),
            "origins": origins(connection, options.data),
        }
    with options.output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("item", "property"))
        writer.writerows(sorted(row for rows in parts.values() for row in rows))
    for name, rows in parts.items():
        print(f"{name}: {len(rows)} claims left out")


if __name__ == "__main__":
    main()
