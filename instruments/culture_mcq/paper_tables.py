"""`polyculture culture-mcq --table`: the study's tables in their shapes, with its figures beside where we have them.

Of the sheets alone: `questions` (Table 4), `options` (Table 5), `published` (each figure that is kept
here as a row).
Of a run: `shares`, `tests` and `attention`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from polyculture.instruments.contract import Asked, Listing
from polyculture.instruments.culture_mcq.check import CheckRow, check_sheets, written

if TYPE_CHECKING:
    from polyculture.instruments.culture_mcq.model import McqSet
    from polyculture.instruments.cultures.cultures import Cultures

TableName = Literal["questions", "options", "published", "shares", "tests", "attention"]
OF_SHEETS = ("questions", "options", "published")  # which need no experiment
PAPER = "CultureScope"
_OWN = Path(__file__).parent
_RUN_FILES = {
    "shares": "culture_mcq.sql",
    "tests": "culture_mcq_tests.sql",
    "attention": "culture_mcq_attention.sql",
}
_COUNTS = ("questions", "resource questions by level")
_MEAN, _SD = "options per country: mean", "options per country: sd"
_CHECK = (0.43, 5050, 0.39, 1425, 0.0035)  # shares and sizes of the study's own test of H1, and the p that it prints
_SHARES = ("accuracy", "biased", "others", "refusal", "out_of_choice")


def sheet_table(name: str, found: McqSet, cultures: Cultures) -> Listing:
    """A table of the sheets alone."""
    rows = list(check_sheets(found, cultures))
    if name == "questions":
        counts = [row for row in rows if row.part in _COUNTS]
        values = [(row.part, row.group, row.found, row.published, row.agrees, row.note) for row in counts]
        return Listing(("questions", "of", "count", "paper", "equal", "note"), values)
    if name == "options":
        return Listing(("options", "countries", "mean ± SD", "paper", "equal"), list(_option_lines(rows)))
    columns = ("paper", "table", "cell", "value", "found", "agrees", "note")
    return Listing(columns, list(_published_cells(rows)))


def _option_lines(rows: Sequence[CheckRow]) -> Iterator[tuple[Any, ...]]:
    """How often a country gives an option: mean ± SD over countries, as the study prints them."""
    deviations = {row.group: row for row in rows if row.part == _SD}
    for mean in (row for row in rows if row.part == _MEAN):
        sd = deviations[mean.group]
        equal = None if mean.agrees is None else bool(mean.agrees and sd.agrees)
        found, paper = _plus_minus(mean.found, sd.found), _plus_minus(mean.published, sd.published)
        yield mean.group, mean.note.partition(" ")[0], found, paper, equal


def _plus_minus(mean: float | None, sd: float | None) -> str | None:
    return None if mean is None else f"{written(mean)} ± {written(sd)}"


def _published_cells(rows: Sequence[CheckRow]) -> Iterator[tuple[Any, ...]]:
    from polyculture.instruments.culture_mcq.significance import two_proportions

    for row in rows:
        if row.published is not None:
            table = "4" if row.part in _COUNTS else "5"
            cell = f"{row.part}: {row.group}"
            yield PAPER, table, cell, written(row.published), written(row.found), row.agrees, row.note
    first, first_size, second, second_size, printed = _CHECK
    _, p = two_proportions(first, first_size, second, second_size)
    written_p = "" if p is None else f"{p:.4f}"
    cell = f"p of H1: {first} of {first_size:,} > {second} of {second_size:,}"
    yield PAPER, None, cell, f"{printed}", written_p, written_p == f"{printed}", "its table is not known here"


def run_table(asked: Asked, name: str, models: Sequence[str]) -> Listing:
    """A table of what the run holds of these models."""
    from polyculture.cache.core import CORE
    from polyculture.cache.layout import compose
    from polyculture.cache.store import open_store
    from polyculture.instruments.culture_mcq.layout import CULTURE_MCQ

    file = _OWN / _RUN_FILES[name]
    with open_store(asked.run, compose(CORE, CULTURE_MCQ)) as store:
        cursor = store.execute(file.read_text(encoding="utf-8"))
        columns = tuple(column[0] for column in cursor.description or ())
        rows = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    rows = [row for row in rows if row["model"] in models]
    if name == "attention" and not rows:
        asked.say("table attention: none was read of answers of these models: run with --attention weight")
    if name != "shares":
        return Listing(columns, [tuple(row.values()) for row in rows])
    names = ("model", "dataset", "answer_method", "reader", "prompt", "question_type", "part", "name", "answered")
    return Listing((*names, *_SHARES), [
        (*(row[one] for one in names), *(_with_interval(row, one) for one in _SHARES)) for row in rows
    ])  # fmt: skip


def _with_interval(row: dict[str, Any], share: str) -> str | None:
    """'.430 (.401 to .459)', or the share alone where there is no interval."""
    value, low, high = row[share], row[f"{share}_low"], row[f"{share}_high"]
    if value is None:
        return None
    return f"{value:.3f}" if low is None else f"{value:.3f} ({low:.3f} to {high:.3f})"
