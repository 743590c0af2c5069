"""What each row of the tables of exceptions reads: how many recorded cases are read otherwise without it.

python -m bench.exceptions [TABLE ...]

A case is what a reader was handed (a text, a body, a word, a file) while the tests below ran, or one of the cases of
`../shared/data`, where that is. Each is read with all rows, and then without each row in turn. A row that reads no case
is to be deleted, unless a real system documents what it reads: then a case of that documentation belongs to the tests.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bench.results import keep
from polyculture.cache.catalog import read_catalog
from polyculture.extract import answer

SMALLEST = ("generate/engines/endings.toml", "--tests", "tests/generate/test_answer.py")
ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared/data/cases"
TESTS = (
    "tests/generate/test_answer.py",
    "tests/generate/test_reasoning.py",
    "tests/generate/test_server_bodies.py",
    "tests/generate/test_tools.py",
    "tests/generate/test_special_marks.py",
    "tests/generate/test_error_body.py",
    "tests/generate/test_vllm_opening.py",
    "tests/extract",
    "tests/imports",
    "tests/hostile/test_fault_table.py",
)
# The tables of exceptions, and where their rows are: a list of tables, or "" where each table of the file is a row.
ANSWERS = ("ending", "text", "body", "reasoning", "turn", "list of mentions")
TABLES: Mapping[str, Sequence[str]] = {
    "generate/engines/endings.toml": ("systems",),
    "generate/engines/usage.toml": ("systems",),
    "generate/engines/bodies.toml": ("systems",),
    "generate/engines/reasoning.toml": ("tags", "leads", "pairs", "turns"),
    "generate/engines/vllm/faults.toml": ("fault",),
    "extract/fields.toml": ("names",),
    "extract/spellings.toml": ("spellings",),
    "cache/work/faults.toml": ("kinds",),
    "sources/faults.toml": ("faults",),
    "imports/shapes.toml": ("",),
}
# Who reads a table; all others are the answers' readers.
READ_BY: Mapping[str, Sequence[str]] = {
    "generate/engines/vllm/faults.toml": ("start of vLLM",),
    "extract/fields.toml": ("list of mentions",),
    "extract/spellings.toml": ("list of mentions",),
    "cache/work/faults.toml": ("fault", "failure"),
    "sources/faults.toml": ("client's error", "file"),
    "imports/shapes.toml": ("file",),
}
READERS = {
    "ending": "generate.engines.endings:ending_of",
    "text": "generate.engines.answer:read_text",
    "body": "generate.engines.answer:read_answer",
    "reasoning": "generate.engines.reasoning:split_reasoning",
    "turn": "generate.engines.turns:end_turn",
    "error": "generate.engines.error_body:read_error",
    "fault": "cache.work.faults:kind_of",
    "failure": "cache.work.faults:kind_of_error",
    "client's error": "sources.faults:is_fault",
    "start of vLLM": "generate.engines.vllm.client:why_it_did_not_open",
    "list of mentions": "extract.answer:read_answer",
    "file": "imports.shapes:find_source",
}
LONGEST = 200_000  # characters of a case: longer ones test how long a reader takes


def rows_of(table: Mapping[str, Any], key: str) -> Mapping[str, Mapping[str, Any]]:
    """The rows of a table of exceptions by their names."""
    rows = (
        [(name, row) for name, row in table.items() if isinstance(row, dict)] if not key else enumerate(table[key], 1)
    )
    return {f"{key} {number}".strip() if key else str(number): row for number, row in rows}


def read_table(name: str) -> Mapping[str, Any]:
    """A table of exceptions, by its path in the repository."""
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


@dataclass
class Cases:
    """What the readers were handed, each case once."""

    origin: str = "tests"
    found: dict[tuple[str, str], tuple[tuple[Any, ...], Mapping[str, Any], str]] = field(default_factory=dict)
    files: Path = Path()

    def add(self, reader: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Keeps a case; of a file a copy with what stands beside it."""
        if reader == "file":
            args = self._copied(args)
        written = repr((args, kwargs))
        if len(written) <= LONGEST:
            self.found.setdefault((reader, written), (args, kwargs, self.origin))

    def _copied(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        path = Path(args[0])
        folder = self.files / str(len(list(self.files.iterdir())))
        if path.is_dir():
            shutil.copytree(path, folder / path.name)
        elif path.is_file() and path.stat().st_size < LONGEST:
            folder.mkdir()
            for one in [path, *path.parent.glob("results*.json")]:
                shutil.copy(one, folder / one.name)
        return (folder / path.name, *args[1:])


@contextmanager
def recorded(cases: Cases) -> Iterator[None]:
    """While it lasts, each call of a reader is a case, whichever module calls it."""
    replaced: list[tuple[Any, str, Any]] = []
    for reader, place in READERS.items():
        module, _, name = place.partition(":")
        original = getattr(import_module(f"polyculture.{module}"), name)
        wrapper = _recording(cases, reader, original)
        for loaded in list(sys.modules.values()):
            if (
                getattr(loaded, "__name__", "").startswith(("polyculture", "tests"))
                and vars(loaded).get(name) is original
            ):
                replaced.append((loaded, name, original))
                setattr(loaded, name, wrapper)
    try:
        yield
    finally:
        for loaded, name, original in replaced:
            setattr(loaded, name, original)


def _recording(cases: Cases, reader: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        cases.add(reader, args, kwargs)
        return original(*args, **kwargs)

    return call


def read_shared() -> None:
    """Reads the shared cases that these readers have a part in: files to import, and answers of an extractor."""
    for path in sorted((SHARED / "imports").glob("*")):
        _outcome("file", (path, None, None), {})
    food = read_catalog().topic("food").kinds
    lines = (SHARED / "answers/extractor.jsonl").read_text(encoding="utf-8").splitlines()
    for case in map(json.loads, lines):
        with suppress(answer.UnusableAnswerError):
            answer.read_answer(case["answer"], food, case.get("ending", "whole"))


def _outcome(reader: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """What a reader makes of a case, as words that can be compared."""
    module, _, name = READERS[reader].partition(":")
    try:
        found = getattr(import_module(f"polyculture.{module}"), name)(*args, **kwargs)
        return repr([*found.rows()] if reader == "file" else found)
    except Exception as fault:  # noqa: BLE001  # what a reader raises is what it makes of a case, too
        return f"{type(fault).__name__}: {fault}"


@contextmanager
def without(name: str, key: str, number: int) -> Iterator[None]:
    """While it lasts, a table is read without one of its rows, counted from 1."""
    text, loads = (ROOT / name).read_text(encoding="utf-8"), tomllib.loads

    def fewer(read: str, **options: Any) -> dict[str, Any]:
        table = loads(read, **options)
        if read == text:
            if key:
                del table[key][number - 1]
            else:
                del table[[one for one, row in table.items() if isinstance(row, dict)][number - 1]]
        return table

    tomllib.loads = fewer
    try:
        _forget()
        yield
    finally:
        tomllib.loads = loads
        _forget()


def _forget() -> None:
    """Clears what the readers keep of their tables."""
    rooms = ("generate.engines", "extract", "sources", "imports", "cache.work")
    for loaded in list(sys.modules.values()):
        if getattr(loaded, "__name__", "").startswith(tuple(f"polyculture.{room}" for room in rooms)):
            for value in vars(loaded).values():
                if hasattr(value, "cache_clear") and not isinstance(value, type):
                    value.cache_clear()


def record(tests: Sequence[str], folder: Path) -> Cases:
    """The cases of the tests, and the shared ones where they are."""
    cases = Cases(files=folder)
    for place in READERS.values():
        import_module(f"polyculture.{place.partition(':')[0]}")
    import_module("polyculture.api")
    with recorded(cases):
        pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", *tests])
        cases.origin = "shared"
        if SHARED.is_dir():
            read_shared()
    return cases


def outcomes(cases: Cases, readers: Sequence[str]) -> Mapping[tuple[str, str], str]:
    """What these readers make of their cases."""
    return {case: _outcome(case[0], *found[:2]) for case, found in cases.found.items() if case[0] in readers}


def main() -> None:
    """Prints and keeps a line per row: how many cases change without it, of the tests and of the shared ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", default=list(TABLES), metavar="TABLE")
    parser.add_argument("--tests", nargs="*", default=TESTS, help="whose cases are read")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        cases = record(given.tests, Path(folder))
        print("table  row  cases  of them change, of the tests  shared  system")
        for name in given.tables:
            readers = READ_BY.get(name, ANSWERS)
            whole = outcomes(cases, readers)
            for key in TABLES[name]:
                for number, (row, value) in enumerate(rows_of(read_table(name), key).items(), 1):
                    with without(name, key, number):
                        fewer = outcomes(cases, readers)
                    origins = [cases.found[case][2] for case in whole if whole[case] != fewer[case]]
                    changed = {"cases": len(whole), **{one: origins.count(one) for one in ("tests", "shared")}}
                    print(name, row, *changed.values(), value["system"], sep="  ", flush=True)
                    keep("exceptions", name, row, {"system": value["system"], **changed})


if __name__ == "__main__":
    main()
