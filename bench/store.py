"""The store at a million responses: how fast it is written, how fast the four metric views read it, in how much memory.

    python bench/store.py [--responses 1000000]

Written twice: record by record through the journal, as an engine's answers come in (batches of 64, as many as are in
flight), and as finished Arrow tables, as the gazetteer does in bulk. The peer of the views is pandas: the same four
aggregations of the same Parquet files in the same run, with equal results. Each part runs in a process of its own, so
that its peak of memory is its own.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from cache.catalog import read_catalog
from cache.run_folder import RunFolder
from cache.shards import JobShards
from cache.store import open_store
from metrics import views
from tests.large_run import LargeRun, records

IN_FLIGHT = 64
COUNTRIES = tuple(sorted(read_catalog().countries))
LANGUAGES = tuple(sorted(read_catalog().languages))[:10]
TOPICS = tuple(sorted(read_catalog().topics))[:5]
METRICS = ("granularity", "diversity", "specificity", "consensus")
CELL = ["model", "language", "topic", "condition", "country"]


@dataclass(frozen=True)
class Seconds:
    """What some work took: by the clock, and of all cores together (which a busy machine does not change as much)."""

    wall: float
    cpu: float

    @classmethod
    def now(cls) -> Seconds:
        return cls(time.perf_counter(), time.process_time())

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(self.wall + other.wall, self.cpu + other.cpu)

    def __sub__(self, other: Seconds) -> Seconds:
        return Seconds(self.wall - other.wall, self.cpu - other.cpu)

    def __str__(self) -> str:
        return f"{self.wall:.2f} s ({self.cpu:.2f} s of CPU)"


@dataclass
class Written:
    """What was written, and how long it took."""

    responses: int
    mentions: int
    took: Seconds


def main() -> None:
    """Prints seconds, peaks of memory and the ratio to pandas."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--responses", type=int, default=1_000_000, help="about how many (default: 1,000,000)")
    parser.add_argument("--bulk", action="store_true", help="write as Arrow tables only: for stores of full size")
    asked = parser.parse_args()
    size = LargeRun(
        models=("openai:one", "openai:two"),
        languages=LANGUAGES,
        topics=TOPICS,
        countries=COUNTRIES,
        n=max(1, asked.responses // (2 * len(LANGUAGES) * len(TOPICS) * (1 + len(COUNTRIES)))),
        items=2000,
    )
    with tempfile.TemporaryDirectory() as folder:
        ways = [("through the journal", write_records), ("as Arrow tables", write_tables)]
        for name, write in ways[asked.bulk :]:
            root = Path(folder) / write.__name__
            done, peak = in_own_process(write, size, root)
            print(f"written {name}: {done.responses:,} responses, {done.mentions:,} mentions in {done.took}", end=", ")
            print(f"peak {peak:,} MiB", flush=True)
        ours, peak = in_own_process(read_views, root)
        theirs, peer_peak = in_own_process(read_pandas, root)
    for metric in METRICS:
        check_equal(metric, ours[metric][1], theirs[metric][1])
        print(f"{metric:12} {len(ours[metric][1]):>7,} rows  views {ours[metric][0]}", end="  ")
        print(f"pandas {theirs[metric][0]}  equal")
    total, peer = (sum((found[metric][0] for metric in METRICS), Seconds(0, 0)) for found in (ours, theirs))
    print(f"four views   {total}, peak {peak:,} MiB; pandas {peer}, peak {peer_peak:,} MiB", end="; ")
    print(f"ratio {peer.wall / total.wall:.1f} ({peer.cpu / total.cpu:.1f} of CPU)")


def write_records(size: LargeRun, root: Path) -> Written:
    """Answers and extractions record by record, as the stages append them; making the rows is not timed."""
    run = RunFolder(root)
    size.write_whole(run)
    done = Written(0, 0, Seconds(0, 0))
    for job in size.jobs:
        tables = size.tables_of(job)
        answers = [{"responses": [row]} for row in tables["responses"].to_pylist()]
        answered = [answers[start : start + IN_FLIGHT] for start in range(0, len(answers), IN_FLIGHT)]
        extracted = list(records(tables, IN_FLIGHT))
        started = Seconds.now()
        with JobShards(run, job, ["responses"]) as shards:
            for batch in answered:
                shards.append_many(batch)
        with JobShards(run, job, ["mentions", "extractions"], key="extraction_id") as shards:
            for batch in extracted:
                shards.append_many(batch)
        done.took += Seconds.now() - started
        done.responses += len(answers)
        done.mentions += tables["mentions"].num_rows
    return done


def write_tables(size: LargeRun, root: Path) -> Written:
    """The same rows in bulk."""
    run = RunFolder(root)
    size.write_whole(run)
    done = Written(0, 0, Seconds(0, 0))
    for job in size.jobs:
        tables = size.tables_of(job)
        started = Seconds.now()
        for names in (["responses"], ["mentions", "extractions"]):
            with JobShards(run, job, names, key="extraction_id") as shards:
                shards.append_part({name: tables[name] for name in names})
        done.took += Seconds.now() - started
        done.responses += tables["responses"].num_rows
        done.mentions += tables["mentions"].num_rows
    return done


def read_views(root: Path) -> dict[str, tuple[Seconds, pd.DataFrame]]:
    """Every column and row of the four views, from a cold connection."""
    found = {}
    with open_store(RunFolder(root), views()) as store:
        for metric in METRICS:
            started = Seconds.now()
            rows = store.sql(f"SELECT * FROM {metric}").df()
            found[metric] = (Seconds.now() - started, rows)
    return found


def read_pandas(root: Path) -> dict[str, tuple[Seconds, pd.DataFrame]]:
    """The four metrics with pandas, written as one would who has read its documentation.

    It does less: no rows of other settings to leave out, no missing cells, nothing about ambiguous links.
    """
    found = {}
    for metric, compute in (
        ("granularity", pandas_granularity),
        ("diversity", pandas_diversity),
        ("specificity", pandas_specificity),
        ("consensus", pandas_consensus),
    ):
        started = Seconds.now()
        rows = compute(root)
        found[metric] = (Seconds.now() - started, rows)
    return found


def pandas_granularity(root: Path) -> pd.DataFrame:
    mentions = pandas_mentions(root, ["granularity"])
    return mentions.groupby(CELL, dropna=False, observed=True)["granularity"].mean().reset_index()


def pandas_diversity(root: Path) -> pd.DataFrame:
    linked = pandas_linked(root)
    return linked.groupby(CELL, dropna=False, observed=True)["qid"].nunique().reset_index(name="diversity")


def pandas_specificity(root: Path) -> pd.DataFrame:
    counts = pandas_linked(root).groupby([*CELL, "qid"], dropna=False, observed=True).size().reset_index(name="linked")
    targets = pd.DataFrame({"target": COUNTRIES})
    named = counts[counts["country"].notna()].assign(target=lambda rows: rows["country"])
    asked = pd.concat([named, counts[counts["country"].isna()].merge(targets, how="cross")])
    countries = pd.read_parquet(root / "entity_countries.parquet", columns=["qid", "country"])
    told = countries.rename(columns={"country": "target"}).drop_duplicates()
    asked = asked.merge(told.assign(associated=True), on=["qid", "target"], how="left")
    asked["associated"] = asked["linked"].where(asked["associated"].notna(), 0)
    sums = asked.groupby(["model", "language", "topic", "condition", "target"], observed=True)[["linked", "associated"]]
    rows = sums.sum().reset_index().rename(columns={"target": "country"})
    return rows.assign(specificity=rows["associated"] / rows["linked"])


def pandas_consensus(root: Path) -> pd.DataFrame:
    items = pandas_linked(root)[[*CELL, "qid"]].drop_duplicates()
    block = ["model", "topic", "condition", "country"]
    sizes = items.groupby(CELL, dropna=False, observed=True).size().reset_index(name="size")
    both = items.merge(items, on=[*block, "qid"], suffixes=("", "_other"))
    both = both[both["language"] < both["language_other"]]
    keys = [*block, "language", "language_other"]
    shared = both.groupby(keys, dropna=False, observed=True).size().reset_index(name="shared")
    pairs = sizes.merge(sizes, on=block, suffixes=("", "_other"))
    pairs = pairs[pairs["language"] < pairs["language_other"]].merge(shared, on=keys, how="left").fillna({"shared": 0})
    consensus = pairs["shared"] / (pairs["size"] + pairs["size_other"] - pairs["shared"])
    return pairs.assign(consensus=consensus).rename(columns={"language_other": "other_language"})


def pandas_linked(root: Path) -> pd.DataFrame:
    keys = ["language", "topic", "kind", "surface"]
    links = pd.read_parquet(root / "links.parquet", columns=[*keys, "status", "qid"])
    return pandas_mentions(root, ["kind", "surface"]).merge(links[links["status"] == "linked"], on=keys)


def pandas_mentions(root: Path, columns: list[str]) -> pd.DataFrame:
    files = sorted((root / "mentions").rglob("*.parquet"))
    wanted = [*CELL, "counted", "hallucinated", *columns]
    rows = pd.concat([pd.read_parquet(file, columns=wanted, partitioning=None) for file in files])
    return rows[rows["counted"] & ~rows["hallucinated"]]


def check_equal(metric: str, ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    """Raises where the two disagree on a row or a number."""
    keys = [name for name in (*CELL, "other_language") if name in ours and name in theirs]

    def numbers(rows: pd.DataFrame) -> dict[Any, float]:
        cells = rows[keys].astype(object).where(rows[keys].notna(), None).itertuples(index=False, name=None)
        return dict(zip(cells, rows[metric].astype(float), strict=True))

    mine, peers = numbers(ours), numbers(theirs)
    assert mine.keys() == peers.keys(), metric
    assert all(math.isclose(mine[cell], peers[cell], rel_tol=1e-9) for cell in mine), metric


def in_own_process(work: Callable[..., Any], *arguments: Any) -> tuple[Any, int]:
    """What `work` returns, and the peak of its process's resident memory in MiB."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=send_result, args=(sender, work, *arguments))
    process.start()
    sender.close()
    watched, peak = psutil.Process(process.pid), 0
    while not receiver.poll(0.02):
        if not process.is_alive():
            sys.exit(f"{work.__name__} died with exit code {process.exitcode}")
        peak = max(peak, watched.memory_info().rss)
    result = receiver.recv()
    process.join()
    return result, peak >> 20


def send_result(sender: Any, work: Callable[..., Any], *arguments: Any) -> None:
    sender.send(work(*arguments))


if __name__ == "__main__":
    main()
