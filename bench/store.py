"""The store at a million responses: how fast the views of six metrics read it, in how much memory.

    python -m bench.store [--responses 1000000]
    python -m bench.store --responses 6000000 --folder /tmp/full     # written once, then used as it is

A run of the study's shape: 7 models, 13 languages, 6 topics, neutral and 19 countries. It is measured, with all
intervals and differences, since the views of metrics show these numbers. Then the views are read whole on one
connection, as the report reads them. The peer is pandas: the same aggregations of the same Parquet files in the same
run, with equal results. Each runs in a process of its own, so that its peak of memory is its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil

from bench.results import keep
from polyculture.cache.store.schema import EXTRACTIONS, MENTIONS, RESPONSES

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.store_in_pandas import CELL, read_pandas
from bench.timing import Seconds, TimedView
from polyculture.cache.catalog import read_catalog
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.shards import JobShards
from polyculture.cache.store.store import open_store
from polyculture.generate.design import read_preset
from polyculture.metrics import KEPT
from polyculture.metrics.measure import measure
from polyculture.running.layout import store_layout
from tests.large_run import LargeRun

COUNTRIES = tuple(sorted(read_preset("full").countries))
LANGUAGES = tuple(sorted(read_catalog().languages))
TOPICS = tuple(sorted(read_catalog().topics))
MODELS = tuple(f"openai:{name}" for name in ("one", "two", "three", "four", "five", "six", "seven"))
SMALLEST = ("--responses", "400", "--smallest")
# What pandas computes, too: a view and its columns.
COMPARED = {
    "granularity": ("granularity", "responses", "incidences"),
    "diversity": ("diversity", "linked", "incidences"),
    "diversity_companions": ("coverage", "hill_1", "hill_2", "rarefied"),
    "specificity": ("specificity", "incidences", "associated"),
    "consensus": ("consensus",),
    "health": (
        "answered",
        "empty",
        "cut",
        "wrong_language",
        "extracted",
        "mentions",
        "linked",
        "no_candidate",
        "no_path",
    ),
}
MEASURING, KEEPING = "measured, with intervals", "opened, what all rest on"


def main() -> None:
    """Prints seconds, peaks of memory and the ratio to pandas."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--responses", type=int, default=1_000_000, help="about how many (default: 1,000,000)")
    parser.add_argument("--folder", type=Path, help="where the run is written, or used as it is (default: a new one)")
    parser.add_argument("--smallest", action="store_true", help="two models, languages and countries, one topic")
    asked = parser.parse_args()
    size = shape(asked.responses, asked.smallest)
    with tempfile.TemporaryDirectory() as temporary:
        root = asked.folder or Path(temporary) / "run"
        if not root.exists():
            write_tables(size, root)
        ours, peak = in_own_process(read_views, root)
        for view, found in ours.items():
            print(f"{view:24} {found.rows:>10,} rows  {found.took}")
        print(f"all: {total(ours, ours)}, peak {peak:,} MiB", flush=True)
        theirs, peer_peak = in_own_process(read_pandas, root)
    for view, columns in COMPARED.items():
        check_equal(columns, ours[view].frame, theirs[view].frame)
    mine, peers = total(ours, (MEASURING, KEEPING, *COMPARED)), total(theirs, theirs)
    for name, took in (("six metrics", mine), ("pandas, the same six", peers)):
        numbers = {
            "by the clock": f"{took.wall:.1f} s",
            "CPU": f"{took.cpu:.1f} s",
            "to pandas": f"{peers.wall / took.wall:.1f} times",
        }
        keep("speed", "The store", f"{name}, {asked.responses:,} responses", numbers)
    print(f"{', '.join(COMPARED)}: {mine}; pandas {peers}, peak {peer_peak:,} MiB; all equal;", end=" ")
    print(f"ratio {peers.wall / mine.wall:.1f} ({peers.cpu / mine.cpu:.1f} of CPU)")


def shape(responses: int, smallest: bool = False) -> LargeRun:
    """A run of the study's shape, or the smallest that has all its comparisons, of about so many responses."""
    axes = (
        (MODELS[:2], LANGUAGES[:2], TOPICS[:1], COUNTRIES[:2]) if smallest else (MODELS, LANGUAGES, TOPICS, COUNTRIES)
    )
    prompts = len(axes[0]) * len(axes[1]) * len(axes[2]) * (1 + len(axes[3]))
    return LargeRun(*axes, n=max(1, round(responses / prompts)), mentions=10 / 3, items=2000)


def total(found: Mapping[str, TimedView], names: Iterable[str]) -> Seconds:
    """What all of these took."""
    return sum((found[name].took for name in names), Seconds(0, 0))


def write_tables(size: LargeRun, root: Path) -> None:
    """The responses and their mentions as finished Arrow tables, as the gazetteer writes them."""
    run = RunFolder(root)
    size.write_whole(run)
    for job in size.jobs:
        tables = size.tables_of(job)
        for group in ([RESPONSES], [MENTIONS, EXTRACTIONS]):
            with JobShards(run, job, group) as shards:
                shards.append_part({table.name: tables[table.name] for table in group})


def read_views(root: Path) -> dict[str, TimedView]:
    """Every column and row of the views, from a cold connection; the first entries are what they all rest on."""
    run = RunFolder(root)
    started = Seconds.now()
    numbers = measure(run)
    found = {MEASURING: TimedView(Seconds.now() - started, numbers.done + numbers.reused)}
    started = Seconds.now()
    with open_store(run, store_layout(), KEPT) as store:
        found[KEEPING] = TimedView(Seconds.now() - started, len(KEPT))
        for view in COMPARED:
            started = Seconds.now()
            frame = store.sql(f"SELECT * FROM {view}").df()
            found[view] = TimedView(Seconds.now() - started, len(frame), frame)
    return found


def check_equal(columns: Sequence[str], ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    """Raises where the two disagree on a row or a number."""
    keys = [name for name in (*CELL, "other_language") if name in ours and name in theirs]
    mine, peers = (
        rows.assign(country=rows["country"].astype(object).where(rows["country"].notna(), ""))
        .set_index(keys)
        .sort_index()
        for rows in (ours, theirs)
    )
    assert mine.index.equals(peers.index), columns
    for column in columns:
        values = (rows[column].astype(float).to_numpy() for rows in (mine, peers))
        np.testing.assert_allclose(*values, rtol=1e-9, err_msg=column)


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
