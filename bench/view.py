"""`polyculture view` over a large store: time to the first page, of a search, of a count in SQL; peak memory.

    python -m bench.view FOLDER [--responses 6000000]

FOLDER/store is a run of the shape of `bench/store.py`, written in bulk where it is not there. Every page is asked for
twice: cold and warm. The server is the command itself, watched from outside.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.store import shape, write_tables

SMALLEST = ("{folder}", "--responses", "400", "--smallest")
EXPERIMENT = 'name = "store"\nmodels = ["openai:one"]\nlanguages = ["en"]\ntopics = ["food"]\ncountries = ["US"]\n'
PAGES = {
    "first page": ("/", {}),
    "search of a name": ("/", {"q": "en food 7"}),
    "an item": ("/item/Q8", {}),
    "its responses": ("/responses", {"qid": "Q8", "language": "en"}),
    "count in SQL": ("/sql", {"query": "SELECT model, count(*) FROM mentions GROUP BY ALL"}),
    "a metric in SQL": ("/sql", {"query": "SELECT * FROM granularity WHERE language = 'ja' LIMIT 100"}),
}


def main() -> None:
    """Prints seconds and MiB."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--responses", type=int, default=6_000_000)
    parser.add_argument("--smallest", action="store_true", help="two models, languages and countries, one topic")
    asked = parser.parse_args()
    if not (asked.folder / "store").exists():
        done = write_tables(shape(asked.responses, asked.smallest), asked.folder / "store")
        print(f"{done.responses:,} responses, {done.mentions:,} mentions")
    with served(asked.folder) as (process, address):
        peak = 0
        for name, (path, values) in PAGES.items():
            seconds = [timed(f"{address}{path}", values, by_post=path == "/sql") for _ in range(2)]
            peak = max(peak, process.memory_info().rss)
            print(f"{name:18} {seconds[0]:6.2f} s, again {seconds[1]:6.2f} s", flush=True)
        print(f"resident after the pages: at most {peak >> 20:,} MiB")


def timed(address: str, values: dict[str, str], by_post: bool) -> float:
    """Seconds until the whole page is there."""
    started = time.perf_counter()
    answer = (
        httpx.post(address, data=values, timeout=120) if by_post else httpx.get(address, params=values, timeout=120)
    )
    assert answer.status_code == 200, answer.text
    assert 'class="fault"' not in answer.text, answer.text
    return time.perf_counter() - started


@contextmanager
def served(runs: Path) -> Iterator[tuple[psutil.Process, str]]:
    """The command over the store, and its address."""
    experiment = runs / "store.toml"
    experiment.write_text(EXPERIMENT, encoding="utf-8")
    command = [sys.executable, "-u", "-m", "polyculture", "view", str(experiment), "--runs", str(runs), "--port", "0"]
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split("/  ")[0]
        print(f"the address        {time.perf_counter() - started:6.2f} s", flush=True)
        yield psutil.Process(process.pid), address
        process.terminate()


if __name__ == "__main__":
    main()
