"""How many of the everyday items of 19 countries a snapshot links, by topic and country.

    python -m bench.starter_coverage                                   # the starter snapshot
    python -m bench.starter_coverage --snapshot wikidata-2026-09.duckdb --missing

`bench/everyday.toml` names ten items of each topic and country in English. Each is asked in every counted kind of its
topic; it is there where a label, an alias or a spelling leads to an item. What is linked may be another item of the
name: nobody has confirmed these links one by one.
"""

from __future__ import annotations

import argparse
import tomllib
from collections import Counter
from pathlib import Path

import pyarrow as pa

from polyculture.cache.catalog import read_catalog
from polyculture.experiment.snapshots import find_snapshot
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.linker import Linker

EVERYDAY = Path(__file__).with_name("everyday.toml")

SMALLEST = ("--snapshot", "{snapshot}")

Named = tuple[str, str, str]  # country, topic, name


def read_everyday() -> list[Named]:
    """The items of `everyday.toml`."""
    countries = tomllib.loads(EVERYDAY.read_text(encoding="utf-8"))
    return [
        (country, topic, name)
        for country, topics in countries.items()
        for topic, names in topics.items()
        for name in names
    ]


def covered(snapshot: Snapshot, wanted: list[Named]) -> set[Named]:
    """Those of `wanted` that the snapshot links, in doubt or not."""
    catalog = read_catalog()
    rows = [
        {"language": "en", "topic": topic, "kind": kind, "surface": name}
        for topic, name in sorted({(topic, name) for _, topic, name in wanted})
        for kind, rules in catalog.topic(topic).kinds.items()
        if rules.counted
    ]
    links = Linker(catalog, snapshot).link(pa.Table.from_pylist(rows))["links"].to_pylist()
    found = {(row["topic"], row["surface"]) for row in links if row["qid"]}
    return {item for item in wanted if item[1:] in found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--snapshot", default="starter", help="a snapshot's file, or starter")
    parser.add_argument("--missing", action="store_true", help="name what is missing")
    options = parser.parse_args()
    wanted = read_everyday()
    found = covered(find_snapshot(options.snapshot, Path.cwd()), wanted)
    topics = sorted({topic for _, topic, _ in wanted})
    counts = Counter((country, topic) for country, topic, _ in found)
    print("| country | " + " | ".join(topics) + " | all |\n" + "| --- " * (len(topics) + 2) + "|")
    for country in dict.fromkeys(country for country, _, _ in wanted):
        row = [counts[country, topic] for topic in topics]
        print(f"| {country} | " + " | ".join(map(str, [*row, sum(row)])) + " |")
    total = [sum(counts[country, topic] for country in {one for one, _, _ in wanted}) for topic in topics]
    print("| all | " + " | ".join(map(str, [*total, sum(total)])) + f" | of {len(wanted)}")
    if options.missing:
        for item in wanted:
            if item not in found:
                print("missing:", *item, sep="\t")


if __name__ == "__main__":
    main()
