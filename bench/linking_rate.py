"""How fast a million distinct mentions in 13 languages are linked, and in how much memory; and a hundred.

    python -m bench.linking_rate [--mentions 1000000] [--times 1] [--index FILE] [--sample 200]
    python -m bench.linking_rate --mentions 100 --sample 20     # what a few mentions cost

The mentions are made from the names of the snapshot, which is built from ../shared/data/wikidata/slice.json.gz unless
one is given; `--times 10` links each of them ten times, with a number behind from the second time on. The peer, on a
sample of the same mentions in the same run: rapidfuzz, the matcher, as it is mostly used (the best of a topic's names
for one mention at a time). Rates are by CPU: other work beside does not count. Up to 1,000 mentions are linked six
times in one process, the first time with all that is loaded for it; then `polyculture link show` is timed, from its
start to its end, beside a process that looks with DuckDB alone (without PYTHONDONTWRITEBYTECODE: users have bytecode).
"""

from __future__ import annotations

import argparse
import cProfile
import multiprocessing
import pstats
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from rapidfuzz import fuzz, process

from bench.results import keep
from polyculture.cache.catalog import read_catalog
from polyculture.link.dumps.build import build_index
from polyculture.link.index.lexicon import lexicon
from polyculture.link.index.snapshot import open_snapshot
from polyculture.link.linker import Linker
from polyculture.link.normalise import normalise
from polyculture.link.queries import numbered

SLICE = Path(__file__).parents[1].parent / "shared" / "data" / "wikidata" / "slice.json.gz"
MENTIONS = (Path(__file__).with_suffix(".sql")).read_text(encoding="utf-8")
FEW = 1_000  # up to so many mentions are linked several times
SAMPLE = 200  # of the mentions, for rapidfuzz
SMALLEST = ("--mentions", "200", "--index", "{snapshot}", "--sample", "10", "--again", "1")
TWO_LOOKS = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1], read_only=True)
for name in ("miso soup", "kimono"):
    query = "SELECT item FROM names WHERE language IN ('en', 'mul') AND normalised = $name"
    connection.execute(query, {"name": name}).fetchall()
"""
# The functions that linking spends its time in, and what they do.
STEPS = {
    "create_queries": "texts normalised, keys made",
    "_table": "tables created",
}


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


def repeated(table: pa.Table, times: int) -> pa.Table:
    """The mentions as they are, and again with 2, 3, ... up to `times` behind them."""
    place, surface = table.schema.get_field_index("surface"), table.column("surface")
    numbered = [pc.binary_join_element_wise(surface, str(number), " ") for number in range(2, times + 1)]
    return pa.concat_tables([table, *(table.set_column(place, "surface", column) for column in numbered)])


def link_in_bulk(index: Path, table: pa.Table, again: int, answer: Any) -> None:
    """Links everything at once; sends seconds, CPU seconds, peak memory, shares by step, and statuses."""
    linker, profile = Linker(read_catalog(), open_snapshot(index)), cProfile.Profile()
    before, cpu = time.perf_counter(), time.process_time()
    links = profile.runcall(linker.link, table)["links"]
    seconds, cpu = time.perf_counter() - before, time.process_time() - cpu
    statuses = Counter(links.column("status").to_pylist()), Counter(links.column("match").to_pylist())
    more = [_timed(linker, table) for _ in range(again)]
    answer.send((seconds, cpu, _peak(), _shares(profile, seconds), statuses, more))


def _timed(linker: Linker, table: pa.Table) -> tuple[float, float]:
    """Seconds by the clock and of CPU."""
    before, cpu = time.perf_counter(), time.process_time()
    linker.link(table)
    return time.perf_counter() - before, time.process_time() - cpu


def _median(taken: list[tuple[float, float]]) -> str:
    clock, cpu = (sorted(column)[len(taken) // 2] for column in zip(*taken, strict=True))
    return f"{clock:.2f} s ({cpu:.2f} s of CPU), the medians of {len(taken)}"


def _cpu(taken: list[tuple[float, float]]) -> float:
    """The median of the seconds of CPU."""
    return sorted(cpu for _, cpu in taken)[len(taken) // 2]


def show_seconds(index: Path, times: int) -> dict[str, list[tuple[float, float]]]:
    """Seconds by the clock and of CPU of whole processes, in turns, several times: `polyculture link show` of a name
    that is linked and of one that is not, and DuckDB alone, which opens the same file and looks twice.
    """
    show = [sys.executable, "-m", "polyculture", "link", "show"]
    options = ["--language", "en", "--topic", "food", "--snapshot", str(index)]
    commands = {
        "link show, linked": [*show, "miso soups", *options],
        "link show, no candidate": [*show, "kimonos", *options],
        "bare DuckDB": [sys.executable, "-c", TWO_LOOKS, str(index)],
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(times):
        for name, command in commands.items():
            before, cpu = time.perf_counter(), _cpu_of_children()
            subprocess.run(command, check=True, capture_output=True)
            taken[name].append((time.perf_counter() - before, _cpu_of_children() - cpu))
    return taken


def _cpu_of_children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _shares(profile: cProfile.Profile, seconds: float) -> dict[str, float]:
    """The share of the time that each step took."""
    calls = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    shares = {STEPS[name]: spent / seconds for (_, _, name), (*_, spent, _) in calls.items() if name in STEPS}
    return {**shares, "names looked up, candidates ranked": 1 - sum(shares.values())}


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


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
    parser = argparse.ArgumentParser()
    parser.add_argument("--mentions", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--sample", type=int, default=SAMPLE, help="mentions for the peer")
    parser.add_argument("--again", type=int, default=5, help=f"how often up to {FEW:,} mentions are linked again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = arguments.index or Path(folder) / "slice.duckdb"
        if not index.exists():
            build_index(SLICE, index, read_catalog().label_languages)
        table = numbered(repeated(mentions(index, arguments.mentions), arguments.times))  # as a run's mentions are
        again = arguments.again if table.num_rows <= FEW else 0
        rate = 0.0
        for share in (10, 1):
            part = table.slice(0, table.num_rows // share)
            receiver, sender = multiprocessing.Pipe()
            worker = multiprocessing.get_context("spawn").Process(
                target=link_in_bulk, args=(index, part, again, sender)
            )
            worker.start()
            seconds, cpu, peak, shares, (statuses, matches), more = receiver.recv()
            worker.join()
            rate = part.num_rows / cpu
            spent = f"{seconds:.2f} s ({cpu:.2f} s of CPU), peak {peak >> 20} MiB"
            print(f"{part.num_rows:,} mentions in {spent}: {rate:,.0f} a second of CPU")
            keep("speed", "Linking", f"{part.num_rows:,}", {"CPU": f"{cpu:.1f} s", "memory": f"{peak / 2**30:.1f} GiB"})
            print(f"  {dict(statuses)} {dict(matches)}")
            print("  " + ", ".join(f"{step} {share:.0%}" for step, share in shares.items()))
            if more:
                print(f"  again: {_median(more)}")
        if again:
            shown = show_seconds(index, again)
            bare = _cpu(shown["bare DuckDB"])
            for name, taken in shown.items():
                ratio = f"{_cpu(taken) / bare:.1f}"
                print(f"{name}: {_median(taken)}; {ratio} times bare DuckDB")
                keep("speed", "Linking", name, {"CPU": f"{_cpu(taken):.2f} s", "times bare DuckDB; goal 3": ratio})
        rows = random.Random(1).sample(range(table.num_rows), min(arguments.sample, table.num_rows))
        sample = table.take(rows).to_pylist()
        peer = rapidfuzz_rate(index, sample)
        keep("speed", "Linking", "rapidfuzz one mention at a time", {"times as fast as it": f"{rate / peer:,.0f}"})
        print(f"rapidfuzz: {peer:,.0f} mentions a second of CPU; ratio {rate / peer:,.0f}")


if __name__ == "__main__":
    main()
