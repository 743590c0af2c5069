"""Attention to options in the report: heat maps of target and group, and the tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from polyculture.instruments.cultures.cultures import read_cultures
from polyculture.reports.figures.figure import Panel
from polyculture.reports.figures.heat import Heat, plain_heads
from polyculture.reports.names import Names, ordered, short
from polyculture.reports.numbers import FormattedEstimate, Row, difference, known, p_value
from polyculture.reports.section import ReportData
from polyculture.reports.table_section import Column, PageTable, counted, page_table
from polyculture.reports.texts import section_texts

_FOLDER = Path(__file__).parent
MAPS, TESTS = _FOLDER / "attention_map.sql", _FOLDER / "attention_tests.sql"
WORDS = section_texts(_FOLDER / "section.toml").words
_GROUP = ("dataset", "model", "reader", "prompt", "type")
_COLUMNS = {"resource": "resource level", "region": "region"}  # of `culture-mcq`; of other sets the role of an option
_SHOWN_GROUPS = 8  # each of four heat maps: a page holds no more; the table has all


@dataclass(frozen=True, slots=True)
class AttentionGroup:
    """What one model attends to in the questions of one type, by one reader of its answers."""

    title: str
    column: str  # what the columns are of
    maps: tuple[tuple[Panel, ...], ...]  # right answers, then wrong ones: all options, then the chosen ones
    tests: PageTable | None


@dataclass(frozen=True, slots=True)
class AttentionMaps:
    """The context of the section."""

    groups: tuple[AttentionGroup, ...]
    more: int  # groups that stand in the table alone


def attention_groups(data: ReportData) -> AttentionMaps | None:
    """What is drawn; None where no attention was read."""
    lines = data.reading.lines(MAPS)
    if not lines:
        return None
    tests: dict[tuple[Any, ...], list[Row]] = {}
    for row in data.reading.lines(TESTS):
        tests.setdefault(_key(row), []).append(row)
    by_key = [(key, list(some)) for key, some in groupby(lines, key=_key)]  # sorted by the query
    shown = [_group(key, some, tests.get(key, []), data) for key, some in by_key[:_SHOWN_GROUPS]]
    return AttentionMaps(tuple(shown), max(0, len(by_key) - _SHOWN_GROUPS))


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _GROUP)


def _group(key: tuple[Any, ...], rows: Sequence[Row], tests: Sequence[Row], data: ReportData) -> AttentionGroup:
    kind = f", {short(key[4])} questions" if key[4] else ""
    reader = f"{WORDS['readers'].get(key[2], key[2])}, prompt {short(key[3])}"
    title = f"{data.names.model(key[1])}, {short(key[0])}{kind}: {reader}"
    table = page_table(
        data, tests, _TEST_COLUMNS, title=f"Tests: {title}",
        caption="Differences within questions, and the study's t-test over options", by=(),
        label=_test_label, line_head="Answers: comparison",
    )  # fmt: skip
    return AttentionGroup(title, _COLUMNS.get(key[4], "group"), tuple(_maps(title, rows)), table if tests else None)


def _maps(title: str, rows: Sequence[Row]) -> Iterator[tuple[Panel, ...]]:
    """A row of heat maps for right answers, and one for wrong ones, all on one scale."""
    # The study's levels are in their order.
    groups = ordered(read_cultures().levels, {row[name] for row in rows for name in ("option_group", "target_group")})
    end = max(0.1, *(abs(row["mean_z"]) for row in rows))
    for answers in ("right", "wrong"):
        panels = []
        for options in ("all", "chosen"):
            if some := [row for row in rows if (row["answers"], row["options"]) == (answers, options)]:
                name = WORDS["panels"][f"{answers}_{options}"]
                panels.append(Panel(name, _heat(f"{WORDS['map']}. {name}. {title}", some, groups, end)))
        if panels:
            yield tuple(panels)


def _heat(caption: str, rows: Sequence[Row], groups: Sequence[str], end: float) -> Heat:
    cells = [
        {
            "row": short(row["target_group"]),
            "column": short(row["option_group"]),
            "value": row["mean_z"],
            "framed": row["target_group"] == row["option_group"],
            "note": _interval(row) or f"n {row['n_options']}",
        }
        for row in rows
    ]
    targets = {row["target_group"] for row in rows}
    lines, columns = (plain_heads([short(one) for one in groups if one in some]) for some in (targets, groups))
    return Heat(caption, pd.DataFrame(cells), lines, columns, (-end, end), signed=True)


def _test_label(row: Row, _: Names) -> str:
    targets = f", {row['target']} targets" if row["target"] else ""
    return f"{row['answers']}: {row['a']} less {row['b']}{targets}"


def _interval(row: Row) -> str:
    ends = [known(row[name]) for name in ("low", "high")]
    return "" if None in ends else " to ".join(difference(end, "z") for end in ends)


def _apart(row: Row) -> FormattedEstimate:
    interval = _interval(row)
    return FormattedEstimate(difference(row["difference"], "z"), interval or None, None if interval else row["lacking"])


_TEST_COLUMNS = (
    Column("First", lambda row: difference(row["first"], "z")),
    Column("Second", lambda row: difference(row["second"], "z")),
    Column("Difference", _apart),
    Column("Units", counted("units")),
    Column("q", lambda row: p_value(known(row["q"]), "q") or "–"),
    Column("p, as the study", lambda row: p_value(known(row["study_p"])) or "–"),
)
