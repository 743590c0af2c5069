"""Mutation testing of one room: small changes of its code, of which each should make a test fail.

    make mutants ROOM=metrics/inference SAMPLE=200

mutmut (mutmut.readthedocs.io) makes the changes and runs the tests on each. `mutants.toml` names the rooms and their
tests. All is done in a copy in `build/mutants/`. A second call goes on there: only functions that changed since are
tried again, and a larger sample holds the smaller one. Printed is a row per module, and the share of the changes that a
test noticed, with Wilson's 95 % interval. The file `survivors.diff` has each change that no test noticed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench.results import keep
from polyculture.cache.proportions import wilson_interval

ROOT = Path(__file__).parents[1]
ROOMS = Path(__file__).with_suffix(".toml")
KILLED, SURVIVED = "killed", "survived"
# What the exit code of a change's tests says; mutmut's own codes. Any other, of a crash for example, is never "killed".
_VERDICTS = {0: SURVIVED, 1: KILLED, 3: KILLED, 5: "not reached", 33: "not reached"}
_TIMED_OUT = (-24, 24, 36, 152, 255)
NOTICED, NOT_TRIED = (KILLED, "timed out"), "not tried"
COLUMNS = ("module", "mutants", *NOTICED, SURVIVED, "not reached", "crashed", NOT_TRIED)


@dataclass(frozen=True)
class MutatedRoom:
    """A room, the files of it that are changed, and the tests that should notice."""

    name: str
    code: tuple[str, ...]  # within the room; empty: all
    tests: tuple[str, ...]

    @property
    def patterns(self) -> list[str]:
        """The files that are changed, as mutmut names them."""
        return [f"polyculture/{self.name}/{file}" for file in self.code or ("*",)]

    @property
    def folder(self) -> Path:
        return ROOT / "build" / "mutants" / self.name.replace("/", "-")


def read_rooms() -> dict[str, MutatedRoom]:
    """The rooms that can be tried, by name."""
    rooms: Mapping[str, Any] = tomllib.loads(ROOMS.read_text("utf-8"))
    return {name: MutatedRoom(name, tuple(of.get("code", ())), tuple(of["tests"])) for name, of in rooms.items()}


def copy_tree(to: Path) -> None:
    """Copies the tracked files with their present contents, and the target of a link in its place.

    Files that did not change keep their times, so that mutmut knows them.
    """
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, to / name
        for file in [source, *source.rglob("*")] if source.is_dir() else [source]:
            if file.is_file() and "__pycache__" not in file.parts:
                place = target / file.relative_to(source) if source.is_dir() else target
                if not place.exists() or place.read_bytes() != file.read_bytes():
                    place.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, place)


def configuration(room: MutatedRoom, entries: Iterable[str]) -> str:
    """The text of `setup.cfg` for mutmut. `entries` are the files and folders beside the code that tests may read."""
    lists = {
        "source_paths": ["polyculture"],
        "only_mutate": room.patterns,
        "also_copy": sorted(entries),
        "track_dependencies": ["false"],  # each call of each function would be traced
        "pytest_add_cli_args_test_selection": room.tests,
        # Warnings are errors in the suite, and mutmut's own forks warn.
        "pytest_add_cli_args": ["-p", "no:cacheprovider", "-W", "ignore"],
    }
    lines = [f"{name}=\n" + "".join(f"    {value}\n" for value in values) for name, values in lists.items()]
    return "[mutmut]\n" + "".join(lines)


def chosen(folder: Path, size: int) -> list[str]:
    """The names of `size` changes, drawn by hash from all that can be made; makes them."""
    program = (
        "from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants, setup_source_paths\n"
        "from mutmut.mutation.trampoline import set_mutant_under_test\n"
        "set_mutant_under_test('mutant_generation'); copy_src_dir(); copy_also_copy_files(); setup_source_paths()\n"
        "create_mutants(2)\n"
    )
    (folder / "mutants").mkdir(exist_ok=True)
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)
    names = (name for _, name, _ in verdicts(folder))
    return sorted(names, key=lambda name: sha256(name.encode()).digest())[:size]


def verdict(code: int | None) -> str:
    """What the exit code of the tests on a change says."""
    if code in _TIMED_OUT:
        return "timed out"
    return NOT_TRIED if code is None else _VERDICTS.get(code, "crashed")


def verdicts(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yields (module, mutant, verdict) of all changes in a copy."""
    for file in sorted((folder / "mutants").rglob("*.py.meta")):
        module = file.relative_to(folder / "mutants").with_suffix("").as_posix()
        for mutant, code in json.loads(file.read_text("utf-8"))["exit_code_by_key"].items():
            yield module, mutant, verdict(code)


def rows_of(found: Iterable[tuple[str, str, str]]) -> list[list[Any]]:
    """A row per module, as `COLUMNS` names them, then one of all."""
    by_module: dict[str, Counter[str]] = {}
    for module, _, said in found:
        by_module.setdefault(module, Counter())[said] += 1
    by_module["all"] = sum(by_module.values(), Counter())
    rows = []
    for module, counts in by_module.items():
        rows.append([module, counts.total(), *(counts[name] for name in COLUMNS[2:])])
    return rows


def share_noticed(counts: Mapping[str, int]) -> str:
    """The share of the changes that were tried which a test noticed."""
    noticed, tried = sum(counts[name] for name in NOTICED), sum(counts.values()) - counts.get(NOT_TRIED, 0)
    low, high = wilson_interval(noticed, tried) or (0.0, 1.0)
    return f"{noticed} of {tried} noticed: {100 * noticed / tried:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def write_survivors(folder: Path, mutants: Iterable[str]) -> Path:
    """Writes each change that no test noticed, as mutmut shows it."""
    file = folder / "survivors.diff"
    program = (
        "import sys\nfrom mutmut.mutation.diff_apply import get_diff_for_mutant\n"
        "for name in sys.stdin.read().split():\n    print('#', name)\n    print(get_diff_for_mutant(name))\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=folder, input="\n".join(mutants), check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    file.write_text(done.stdout, "utf-8")
    return file


def main() -> None:
    """Tries the changes of a room, and prints what became of them."""
    rooms = read_rooms()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("room", choices=rooms)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--sample", type=int, default=0, help="so many changes, drawn by hash; 0: all")
    parser.add_argument("--report", action="store_true", help="print what an earlier call found, and try nothing")
    arguments = parser.parse_args()
    room = rooms[arguments.room]
    if not arguments.report:
        copy_tree(room.folder)
        own = {"polyculture", "build", "mutants", "setup.cfg", ".git", "survivors.diff"}
        entries = {path.name for path in room.folder.iterdir()} - own
        (room.folder / "setup.cfg").write_text(configuration(room, entries), "utf-8")
        names = chosen(room.folder, arguments.sample) if arguments.sample else []
        path = os.pathsep.join(filter(None, (str(room.folder), os.environ.get("PYTHONPATH"))))
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(arguments.processes), *names]
        done = subprocess.run(command, cwd=room.folder, check=False, env={**os.environ, "PYTHONPATH": path})
        if done.returncode:
            raise SystemExit(f"{room.name}: mutmut ended with {done.returncode}; the lines above say what failed")
    found = list(verdicts(room.folder))
    counts = Counter(said for _, _, said in found)
    if not counts.total() - counts[NOT_TRIED]:
        raise SystemExit(f"{room.name}: nothing was tried. Leave --report out.")
    for row in [COLUMNS, *rows_of(found)]:
        print("\t".join(map(str, row)))
    print(share_noticed(counts))
    known = {"changes": counts.total(), "not tried": counts[NOT_TRIED], "not reached": counts["not reached"]}
    keep("mutants", "Changes of code that tests notice, mutmut", room.name, {**known, "noticed": share_noticed(counts)})
    file = write_survivors(room.folder, [mutant for _, mutant, said in found if said == SURVIVED])
    print(f"the changes that no test noticed: {file.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
