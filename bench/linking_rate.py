"""How fast a million distinct mentions in 13 languages are linked, and in how much memory.

    python -m bench.linking_rate [--mentions 1000000] [--index FILE] [--sample 200]

The mentions are made from the names of the snapshot, which is built from ../shared/data/wikidata/slice.json.gz unless
one is given. The peer, on a sample of the same mentions in the same run: rapidfuzz, the matcher, as it is mostly used
(the best of a topic's names for one mention at a time). Rates are by CPU: other work beside does not count.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from rapidfuzz import fuzz, process

from bench.results import keep
from bench.timing import Seconds
from polyculture.cache.catalog import read_catalog
from polyculture.link.dumps.build import build_index
from polyculture.link.index.lexicon import lexicon
from polyculture.link.index.snapshot import open_snapshot
from polyculture.link.linker import Linker
from polyculture.link.normalise import normalise
from polyculture.link.queries import numbered

SLICE = Path(__file__).parents[1].parent / "shared" / "data" / "wikidata" / "slice.json.gz"
MENTIONS = (Path(__file__).with_suffix(".sql")).read_text(encoding="utf-8")
SAMPLE = 200  # of the mentions, for rapidfuzz
SMALLEST = ("--mentions", "200", "--index", "{snapshot}", "--sample", "10")


def mentions(index: Path, count: int) -> pa.Table:
    """`count` distinct mentions with language, topic and kind."""
    catalog = read_catalog()
    own = [(code, language.label_languages[0]) for code, language in catalog.languages.items()]
    topics = catalog.topics.values()
    kinds = [(topic.code, name) for topic in topics for name, kind in topic.kinds.items() if kind.counted]
    with duckdb.connect() as connection, open_snapshot(index).opened(connection):
        columns = {"language": [code for code, _ in own], "name_language": [name for _, name in own]}
        connection.from_arrow(pa.table(columns)).create("catalogue")
        columns = {"topic": [topic for topic, _ in kinds], "kind": [kind for _, kind in kinds]}
        connection.from_arrow(pa.table({**columns, "place": list(range(len(kinds)))})).create("kinds")
        connection.execute(MENTIONS, {"count": count})
        table: pa.Table = connection.table("mentions").to_arrow_table()
        return table


def link_in_bulk(index: Path, table: pa.Table, answer: Any) -> None:
    """Links everything at once; sends seconds, CPU seconds, peak memory and statuses."""
    linker = Linker(read_catalog(), open_snapshot(index))
    started = Seconds.now()
    links = linker.link(table)["links"]
    took = Seconds.now() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    answer.send((took, peak, Counter(links.column("status").to_pylist())))


def rapidfuzz_rate(index: Path, sample: list[dict[str, str]]) -> float:
    """Mentions a second of CPU by `process.extractOne` over the topic's names in the mention's language."""
    catalog, snapshot = read_catalog(), open_snapshot(index)
    names: dict[tuple[str, str], list[str]] = {}
    for row in sample:
        key = row["topic"], row["language"]
        if key not in names:
            names[key] = normalise(lexicon(snapshot, catalog, *key).column("surface").to_pylist(), "plain")
    started = time.process_time()
    for row in sample:
        (surface,) = normalise([row["surface"]], "plain")
        process.extractOne(surface, names[row["topic"], row["language"]], scorer=fuzz.ratio, score_cutoff=90)
    return len(sample) / (time.process_time() - started)


def main() -> None:
    """Prints seconds, memory, statuses, and the ratio to the peer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mentions", type=int, default=1_000_000)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--sample", type=int, default=SAMPLE, help="mentions for the peer")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = arguments.index or Path(folder) / "slice.duckdb"
        if not index.exists():
            build_index(SLICE, index, read_catalog().label_languages)
        table = numbered(mentions(index, arguments.mentions))  # as a run's mentions are
        rate = 0.0
        for share in (10, 1):
            part = table.slice(0, table.num_rows // share)
            receiver, sender = multiprocessing.Pipe()
            worker = multiprocessing.get_context("spawn").Process(target=link_in_bulk, args=(index, part, sender))
            worker.start()
            took, peak, statuses = receiver.recv()
            worker.join()
            rate = part.num_rows / took.cpu
            print(f"{part.num_rows:,} mentions in {took}, peak {peak >> 20} MiB: {rate:,.0f} a second of CPU")
            numbers = {"CPU": f"{took.cpu:.1f} s", "memory": f"{peak / 2**30:.1f} GiB"}
            keep("speed", "Linking", f"{part.num_rows:,}", numbers)
            print(f"  {dict(statuses)}")
        rows = random.Random(1).sample(range(table.num_rows), min(arguments.sample, table.num_rows))
        sample = table.take(rows).to_pylist()
        peer = rapidfuzz_rate(index, sample)
        keep("speed", "Linking", "rapidfuzz one mention at a time", {"times as fast as it": f"{rate / peer:,.0f}"})
        print(f"rapidfuzz: {peer:,.0f} mentions a second of CPU; ratio {rate / peer:,.0f}")


if __name__ == "__main__":
    main()
