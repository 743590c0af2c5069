"""How fast a million distinct mentions in 13 languages are linked, and in how much memory.

    python -m bench.linking_rate [--mentions 1000000] [--index FILE] [--sample 300]

The mentions are made from the names of the snapshot, which is built from ../shared/data/wikidata/slice.json.gz unless
one is given. The peer, in the same run: rapidfuzz, the matcher, as it is mostly used (the best of a topic's names in
the mention's language, for one mention at a time). It does less: it finds a name, among the topic's alone, and no item.
To read and fold these names is not counted for it; the linker's time has all that `Linker.link` does, up to the tables.
The peer's rate is the median of six samples of the same mentions, three before the linker's work and three after: by
what a sample holds and what else the machine does, one differs from another by a quarter. Rates are by CPU: other work
beside counts only for what it takes of the caches.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
from rapidfuzz import fuzz, process

from bench.results import keep
from bench.timing import Seconds
from polyculture.cache.catalog import read_catalog
from polyculture.cache.database import connect
from polyculture.link.dumps.build import build_index
from polyculture.link.index.lexicon import lexicon
from polyculture.link.index.snapshot import open_snapshot
from polyculture.link.linker import Linker
from polyculture.link.normalise import normalise
from polyculture.link.queries import numbered

SLICE = Path(__file__).parents[1].parent / "shared" / "data" / "wikidata" / "slice.json.gz"
MENTIONS = (Path(__file__).with_suffix(".sql")).read_text(encoding="utf-8")
SAMPLE, SAMPLES = 300, 6  # mentions for rapidfuzz
SMALLEST = ("--mentions", "200", "--index", "{snapshot}", "--sample", "10")


def mentions(index: Path, count: int) -> pa.Table:
    """`count` distinct mentions with language, topic and kind."""
    catalog = read_catalog()
    own = [(code, language.label_languages[0]) for code, language in catalog.languages.items()]
    topics = catalog.topics.values()
    kinds = [(topic.code, name) for topic in topics for name, kind in topic.kinds.items() if kind.counted]
    with connect() as connection, open_snapshot(index).opened(connection):
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


class Peer:
    """rapidfuzz, with the names of every (topic, language) of the mentions read and folded."""

    def __init__(self, index: Path, rows: list[dict[str, str]]) -> None:
        catalog, snapshot = read_catalog(), open_snapshot(index)
        self.names = {
            key: normalise(lexicon(snapshot, catalog, *key).column("surface").to_pylist(), "plain")
            for key in sorted({(row["topic"], row["language"]) for row in rows})
        }

    def rate(self, rows: list[dict[str, str]]) -> float:
        """Mentions a second of CPU by `process.extractOne`."""
        started = time.process_time()
        for row in rows:
            (surface,) = normalise([row["surface"]], "plain")
            process.extractOne(surface, self.names[row["topic"], row["language"]], scorer=fuzz.ratio, score_cutoff=90)
        return len(rows) / (time.process_time() - started)


def main() -> None:
    """Prints seconds, memory, statuses, and the ratio to the peer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mentions", type=int, default=1_000_000)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--sample", type=int, default=SAMPLE, help="mentions in each of the peer's samples")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = arguments.index or Path(folder) / "slice.duckdb"
        if not index.exists():
            build_index(SLICE, index, read_catalog().label_languages)
        table = numbered(mentions(index, arguments.mentions))  # as a run's mentions are
        count = min(arguments.sample, table.num_rows // SAMPLES)
        drawn = table.take(random.Random(1).sample(range(table.num_rows), SAMPLES * count)).to_pylist()
        samples = [drawn[start : start + count] for start in range(0, len(drawn), count)]
        peer = Peer(index, drawn)
        peers = [peer.rate(sample) for sample in samples[: SAMPLES // 2]]
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
        peers += [peer.rate(sample) for sample in samples[SAMPLES // 2 :]]
        middle = statistics.median(peers)
        ratio = f"{rate / middle:,.0f}"
        keep("speed", "Linking", "rapidfuzz one mention at a time", {"times as fast as it": ratio})
        spread = f"{min(peers):,.0f} to {max(peers):,.0f}"
        print(f"rapidfuzz: {middle:,.0f} mentions a second of CPU ({spread}); ratio {ratio}")


if __name__ == "__main__":
    main()
