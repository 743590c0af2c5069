"""What it costs to see why one name is linked, and how a run stands: whole commands, from their start to their end.

    python -m bench.one_link [--index FILE] [--run EXPERIMENT] [--times 9]

The peer, in turns with each command in the same run: a process that opens the same snapshot with DuckDB alone and looks
a name up twice. Seconds are of CPU, of the system too: medians. The index is the starter unless one is given.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.results import keep
from polyculture.experiment.snapshots import STARTER, find_snapshot

SMALLEST = ("--index", "{snapshot}", "--times", "1")
NAMES = (  # language, topic, name: some in the snapshot, some not, one that several things bear
    ("en", "food", "ramen"),
    ("en", "food", "no such thing"),
    ("ja", "food", "ラーメン"),
    ("zh-tw", "food", "拉麵"),
    ("th", "clothing", "กิโมโน"),
    ("ar", "food", "كسكس"),
    ("en", "book", "Emma"),
)
# Containers often forbid Python to keep what it compiles. A user's second command finds it compiled.
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
PEER = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1], read_only=True)
for _ in range(2):
    connection.execute("SELECT item FROM names WHERE normalised = ?", [sys.argv[2]]).fetchall()
"""


def seconds(command: Sequence[str]) -> float:
    """The CPU seconds of a whole process. Raises `CalledProcessError` where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=COMPILED)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Prints a line per command: its seconds, the peer's, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", default=STARTER)
    parser.add_argument("--run", help="an experiment file, for status and sql")
    parser.add_argument("--times", type=int, default=9)
    arguments = parser.parse_args()
    snapshot = find_snapshot(arguments.index, Path.cwd()).path  # built, where it is the starter
    of_index = ["--snapshot", arguments.index]
    commands = {
        f"link show {name}": [*("link", "show", name, "--language", language, "--topic", topic), *of_index]
        for language, topic, name in NAMES
    }
    if arguments.run:
        commands |= {"status": ["status", arguments.run], "sql": ["sql", arguments.run, "SELECT 1"]}
    for label, words in commands.items():
        polyculture = [sys.executable, "-m", "polyculture", *words]
        peer = [sys.executable, "-c", PEER, str(snapshot), "ramen"]
        took, compared = zip(*((seconds(polyculture), seconds(peer)) for _ in range(arguments.times)), strict=True)
        one, other = statistics.median(took), statistics.median(compared)
        print(f"{label}: {one:.2f} s of CPU, DuckDB alone {other:.2f} s; ratio {one / other:.2f}", flush=True)
        keep("speed", "One link", label, {"CPU": f"{one:.2f} s", "times DuckDB alone": f"{one / other:.2f}"})


if __name__ == "__main__":
    main()
