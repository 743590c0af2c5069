"""The page of exceptions: each special case of a reader, who writes so, and how many recorded cases need it."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "bench/results/exceptions.csv"
FOLDERS = ("generate/engines", "cache/work", "sources", "imports", "extract")
HEAD = """# Exceptions

Services, models and tools write answers, errors and files in forms of their own. A general walk finds a text, its
ending and its counts in most of them. What it cannot know is a row of a table, with the system that writes so and where
that is documented. A package that is named with its version was read for the row, and so was a file of a repository
that is named with its commit. Pages are named from memory: not all of them were opened. `make docs` writes this page
from those tables.

*Cases* says how many of the cases of the tests, and of the shared ones, are read otherwise without the row. The tests'
cases were written for these rows, so the number says which rows repeat others, and not how often a system writes so.
`python -m bench.exceptions` prints it:

    table  row  cases  of them change, of the tests  shared  system
    generate/engines/endings.toml  systems 22  2542  1  0  Ollama
    ...

An answer that a server sends in a form which no row and no walk reads is a failure, stored as it came in the column
`body` of `responses`, `extractions`, `answers` or `swap_responses`: a later version reads it there without asking
again. A file of an unknown shape is refused, with the path of each string that looks like a text.
"""


def page() -> str:
    parts, measured = [HEAD], _measured()
    for name, rows in tables():
        parts.append(f"## `{name}`\n")
        parts.append("| row | system | documented in | cases: tests | shared |\n| --- | --- | --- | --- | --- |")
        for row, value in rows.items():
            counts = measured.get((name, row, value["system"]), ("not measured", ""))
            parts.append(f"| {row} | {_cell(value['system'])} | {_cell(value['source'])} | {' | '.join(counts)} |")
        parts.append("")
    return "\n".join(parts)


def tables() -> Iterator[tuple[str, Mapping[str, Mapping[str, Any]]]]:
    """The tables whose rows name a system, with their rows by name."""
    for file in sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.toml")):
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        rows = {}
        for key, value in table.items():
            several = isinstance(value, list)
            named = [(f"{key} {number}", row) for number, row in enumerate(value, 1)] if several else [(key, value)]
            rows |= {row: one for row, one in named if isinstance(one, dict) and "system" in one}
        if rows:
            yield file.relative_to(ROOT).as_posix(), rows


def _measured() -> Mapping[tuple[str, str, str], tuple[str, str]]:
    """The cases that need a row, by its table, its name and its system, of the tests and of the shared ones."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    if MEASURED.exists():
        with MEASURED.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                found.setdefault((line["table"], line["row"]), {})[line["column"]] = line["value"]
    return {(*key, one["system"]): (one["tests"], one["shared"]) for key, one in found.items()}


def _cell(words: str) -> str:
    """Words of a cell, as they are: those that Markdown would read as its own stand in backticks."""
    plain = words.replace("|", "\\|")
    return f"`{plain}`" if set("<>*_") & set(words) and "`" not in words else plain.replace("<", "&lt;")
