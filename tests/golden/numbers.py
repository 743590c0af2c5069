"""The numbers of a run as `read.sql` reads them, and of its report; and how they stand in `golden/*.tsv`."""

from __future__ import annotations

import csv
import html
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.metrics import KEPT
from polyculture.running.layout import store_layout
from tests.golden.experiment import NAME
from tests.golden.papers import PAPERS, SCOPE, read_papers

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
INTERVALS, REPORT = "intervals", "report"
THERE = "there"  # a row without values
EXACT = 1e-12  # estimates may differ by this much, or by this share of themselves where they are above 1
CLOSE = 1e-9  # intervals: their last digits hang on the order of sums in libraries
# How far numbers may be apart that torch computed in this process. With one thread and without AVX they were apart by
# 1.2e-4 (z scores of weights that are nearly alike, which enlarge the last digits of float32), 9e-8 and 4e-8. Findings
# on CultureScope print such numbers with three decimals; whether the last is rounded up depends on the processor.
WEIGHTS = {
    "attention ": 1e-3,
    "probe similarity": 1e-6,
    "probe culturescope": 1e-6,
    "embeddings ": 1e-6,
    "findings culturescope": 1.001e-3,
}

# Of a row: what it is of, and its values by name.
Rows = dict[str, dict[str, str]]


def read_numbers(runs: Path) -> dict[str, Rows]:
    """All numbers of the three runs by file: a row is named 'measure metric k=v k=v'; its values are text."""
    files: dict[str, Rows] = {INTERVALS: {}, **read_papers(runs)}
    run = RunFolder(runs / NAME)
    for measure, name, row in _read(run, "read.sql"):
        _put(files, measure, name, row)
    for experiment in (PAPERS, SCOPE):
        for _, name, row in _read(RunFolder(runs / experiment), "read_papers.sql"):
            _put(files, experiment, name, row)
    files[REPORT] = numbers_of_page(run.report.read_text(encoding="utf-8"))
    folder = f"{runs.parent.resolve()}/"  # models in it have whole paths
    return {file: {name.replace(folder, ""): values for name, values in rows.items()} for file, rows in files.items()}


def _read(run: RunFolder, file: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The rows of all statements of a file of SQL: the measure, what a row is named, and its values."""
    statements = re.sub(r"^--.*$", "", (HERE / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    with open_store(run, store_layout(), KEPT) as store:
        for statement in filter(str.strip, statements.split(";")):
            found = store.sql(statement)
            for values in found.fetchall():
                row = dict(zip(found.columns, values, strict=True))
                yield row["measure"], _name(row), row


def _put(files: dict[str, Rows], file: str, name: str, row: Mapping[str, Any]) -> None:
    """A number in its file, and its interval in that of intervals."""
    _add(files.setdefault(file, {}), name, {k: _text(row[k]) for k in ("estimate", "n", "units")})
    if row["low"] is not None or row["high"] is not None:
        _add(files[INTERVALS], name, {k: _text(row[k]) for k in ("low", "high")})


def _name(row: Mapping[str, Any]) -> str:
    facets = sorted((name, value) for name, value in row["facets"].items() if value is not None)
    return " ".join([row["measure"], row["metric"], *(f"{name}={value}" for name, value in facets)])


def _add(rows: Rows, name: str, values: dict[str, str]) -> None:
    assert name not in rows, f"read.sql names two rows alike: {name}"
    rows[name] = values


def _text(value: Any) -> str:
    return "" if value is None else repr(float(value)) if isinstance(value, float) else str(value)


def numbers_of_page(page: str) -> Rows:
    """The numbers that stand in a report's text, without what is drawn and what is code: a set, rows without values."""
    text = re.sub(r"<(script|style|svg|code|pre|head)\b.*?</\1>", " ", page, flags=re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]*>", " ", text))
    return {f"report {number}": {} for number in re.findall(r"(?<![\w.\-/])[−-]?\d*\.\d+(?![\w.\-/])", text)}


def differences(golden: Rows, now: Rows, tolerance: float) -> dict[str, tuple[str, str]]:
    """Rows that differ: what they were and what they are, '' where there is none."""
    return {
        name: (_line(golden.get(name)), _line(now.get(name)))
        for name in sorted({*golden, *now})
        if not _same(golden.get(name), now.get(name), _of_weights(name) or tolerance)
    }


def _of_weights(name: str) -> float | None:
    """How far the numbers of a row may be apart that torch computed; None of other rows."""
    loaded = "transformers:" in name
    return next((apart for measure, apart in WEIGHTS.items() if loaded and name.startswith(measure)), None)


def _line(row: Mapping[str, str] | None) -> str:
    return "" if row is None else " ".join(f"{name}={value}" for name, value in row.items()) or THERE


def _same(one: Mapping[str, str] | None, other: Mapping[str, str] | None, tolerance: float) -> bool:
    if one is None or other is None:
        return False
    return all(_alike(one[name], other[name], tolerance) for name in one)


def _alike(one: str, other: str, tolerance: float) -> bool:
    if one == other or not one or not other or one.isdecimal():
        return one == other
    return math.isclose(float(one), float(other), rel_tol=tolerance, abs_tol=tolerance)


@dataclass(frozen=True)
class Change:
    """A line of `changed.tsv`: a difference that is meant, why, and by which commit. '' in old or new: no such row."""

    file: str
    row: str
    old: str
    new: str
    reason: str
    commit: str


def read_changes() -> list[Change]:
    with (GOLDEN / "changed.tsv").open(encoding="utf-8", newline="") as file:
        return [Change(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def changed(golden: Rows, change: Change) -> Rows:
    """The golden rows with a change in them; a change of what does not stand there is an error."""
    assert change.reason, f"changed.tsv gives no reason: {change.row}"
    assert change.commit, f"changed.tsv names no commit: {change.row}"
    assert _line(golden.get(change.row)) == change.old != change.new, f"changed.tsv: not so in golden/: {change.row}"
    rest = {row: values for row, values in golden.items() if row != change.row}
    values = dict(one.split("=") for one in change.new.split() if one != THERE)
    return {**rest, change.row: values} if change.new else rest


def read_golden(name: str) -> Rows:
    with (GOLDEN / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row.pop("row"): row for row in rows}


def write_golden(name: str, rows: Rows) -> None:
    columns = list(next(iter(rows.values())))
    lines = [["row", *columns], *([row, *values.values()] for row, values in sorted(rows.items()))]
    text = "".join("\t".join(line) + "\n" for line in lines)
    (GOLDEN / f"{name}.tsv").write_text(text, encoding="utf-8")


def golden_files() -> list[str]:
    return sorted(file.stem for file in GOLDEN.glob("*.tsv") if file.stem != "changed")
