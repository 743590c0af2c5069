"""Writes the development slice without the claims that are not Wikidata's own, to make the starter of.

    python -m bench.starter_sources ../../shared/data -o /tmp/slice.json
    polyculture wikidata build /tmp/slice.json -o /tmp/slice.duckdb
    polyculture wikidata starter /tmp/slice.duckdb -o link/index/starter --replace

The slice's makers put foods and drinks of Open Food Facts that had no class under food (Q2095) or drink (Q40050), by
that taxonomy's tree, and took most countries of origin of dishes from FmLAMA's table. Left out are the classes of
items that have no other, the origins of FmLAMA's dishes that no other source (CUBE) states, and empty sitelinks.
"""

from __future__ import annotations

import argparse
import ast
import gzip
from pathlib import Path
from typing import Any

import orjson

from polyculture.cache.catalog import read_catalog

CLASSES = ("P31", "P279")
NUMBER = 900_000_000  # beyond all items
FILLED_IN = {"Q2095", "Q40050"}  # food, drink

SMALLEST = ("{data}", "-o", "{folder}/own.json")


def targets(entity: dict[str, Any], *codes: str) -> set[str]:
    """The items that the entity's statements of these properties name."""
    statements = [statement for code in codes for statement in (entity["claims"] or {}).get(code, ())]
    return {statement["mainsnak"]["datavalue"]["value"]["id"] for statement in statements}


def _of_fmlama(data: Path) -> set[str]:
    files = sorted((data / "wikidata" / "fmlama").glob("*.jsonl"))
    return {orjson.loads(line)["url"].rpartition("/")[2] for file in files for line in file.read_bytes().splitlines()}


def _of_cube(data: Path) -> dict[str, set[str]]:
    rows = orjson.loads((data / "wikidata" / "cube" / "CUBE_1K.json").read_bytes())
    return {row["id"]: set(ast.literal_eval(row["P495"])) for row in rows if str(row["P495"])[:1] == "["}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of real data")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    listed, stated = _of_fmlama(options.data), _of_cube(options.data)
    kinds = [kind for topic in read_catalog().topics.values() for kind in topic.kinds.values()]
    roots = {root for kind in kinds for root in kind.roots}
    classless = origins = 0
    with gzip.open(options.data / "wikidata" / "slice.json.gz") as slice, options.output.open("wb") as own:
        for line in slice:
            if not line.startswith(b"{"):
                continue
            entity = orjson.loads(line.rstrip().removesuffix(b","))
            if not entity["sitelinks"]:
                del entity["sitelinks"]  # most sources of the slice have none: an empty table says nothing
            classes = targets(entity, *CLASSES)
            if classes and classes <= FILLED_IN:
                classless += 1
                # It stays, for its names: what bears the name of a dish may be no dish. A root bears them as another.
                if entity["id"] in roots:
                    entity["id"] = f"Q{NUMBER + int(entity['id'][1:])}"
                entity["claims"] = {code: said for code, said in entity["claims"].items() if code not in CLASSES}
            named = targets(entity, "P495")
            if named and entity["id"] in listed and not named <= stated.get(entity["id"], set()):
                origins += 1
                del entity["claims"]["P495"]
            own.write(orjson.dumps(entity, option=orjson.OPT_APPEND_NEWLINE))
    print(f"left out: the classes of {classless} items, the origins of {origins}")


if __name__ == "__main__":
    main()
