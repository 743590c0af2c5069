"""The report's section on attention to options: heat maps of target and group, and the tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.reports.section import ReportData, ReportTable, Section
from polyculture.reports.table_section import Column, counted, page_table

if TYPE_CHECKING:
    from polyculture.reports.figures.figure import Panel
    from polyculture.reports.figures.heat import Heat
    from polyculture.reports.names import Names
    from polyculture.reports.numbers import FormattedEstimate
    from polyculture.reports.table_section import PageTable

_FOLDER = Path(__file__).parent
_MAPS, _TESTS = _FOLDER / "attention_map.sql", _FOLDER / "attention_tests.sql"
_TEXTS = _FOLDER / "section.toml"
_GROUP = ("dataset", "model", "method", "reader", "prompt", "type")
_COLUMNS = {"resource": "resource level", "region": "region"}  # of `culture-mcq`; of other sets the role of an option
_SHOWN_GROUPS = 8  # each of four heat maps: a page holds no more; the table has all

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AttentionGroup:
    """What one model attends to in the questions of one type, by one reader of its answers."""

    title: str
    column: str  # what the columns are of
    maps: tuple[tuple[Panel, ...], ...]  # right answers, then wrong ones: all options, then the chosen ones
    tests: PageTable | None


@dataclass(frozen=True, slots=True)
class Attention:
    """The context of the section."""

    groups: tuple[AttentionGroup, ...]
    more: int  # groups that stand in the table alone


def _build(data: ReportData) -> Attention | None:
    lines = data.reading.lines(_MAPS)
    if not lines:
        return None
    tests: dict[tuple[Any, ...], list[Row]] = {}
    for row in data.reading.lines(_TESTS):
        tests.setdefault(_key(row), []).append(row)
    by_key = [(key, list(some)) for key, some in groupby(lines, key=_key)]  # sorted by the query
    shown = [_group(key, some, tests.get(key, []), data) for key, some in by_key[:_SHOWN_GROUPS]]
    return Attention(tuple(shown), max(0, len(by_key) - _SHOWN_GROUPS))


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _GROUP)


def _group(key: tuple[Any, ...], rows: Sequence[Row], tests: Sequence[Row], data: ReportData) -> AttentionGroup:
    from polyculture.reports.names import short
    from polyculture.reports.texts import section_texts

    words = section_texts(_TEXTS).words
    kind = f", {short(key[5])} questions" if key[5] else ""
    reader = f"{words['readers'].get(key[3], key[3])}, prompt {short(key[4])}"
    title = f"{data.names.model(key[1])}, {short(key[0])}{kind}: {reader}"
    column = _COLUMNS.get(key[5], "group")
    return AttentionGroup(title, column, tuple(_maps(title, rows)), _tests(data, title, tests))


def _maps(title: str, rows: Sequence[Row]) -> list[tuple[Panel, ...]]:
    """A row of heat maps for right answers, and one for wrong ones, all on one scale."""
    from polyculture.reports.figures.figure import Panel
    from polyculture.reports.texts import section_texts

    words = section_texts(_TEXTS).words
    groups = _groups(rows)
    end = max(0.1, *(abs(row["mean_z"]) for row in rows))
    found = []
    for answers in ("right", "wrong"):
        panels = []
        for options in ("all", "chosen"):
            some = [row for row in rows if (row["answers"], row["options"]) == (answers, options)]
            if some:
                name = words["panels"][f"{answers}_{options}"]
                panels.append(Panel(name, _heat(f"{words['map']}. {name}. {title}", some, groups, end)))
        if panels:
            found.append(tuple(panels))
    return found


def _groups(rows: Sequence[Row]) -> list[str]:
    """The groups of options, the study's levels in their order."""
    from polyculture.instruments.cultures.cultures import read_cultures
    from polyculture.reports.names import ordered

    return ordered(read_cultures().levels, {row[name] for row in rows for name in ("option_group", "target_group")})


def _heat(caption: str, rows: Sequence[Row], groups: Sequence[str], end: float) -> Heat:
    import pandas as pd

    from polyculture.reports.figures.heat import Heat, plain_heads
    from polyculture.reports.names import short

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


def _tests(data: ReportData, title: str, rows: Sequence[Row]) -> PageTable | None:
    if not rows:
        return None
    caption = "Differences within questions, and the study's t-test over options"
    return page_table(
        data, rows, _TEST_COLUMNS, title=f"Tests: {title}", caption=caption, by=(),
        label=_test_label, line_head="Answers: comparison",
    )  # fmt: skip


def _test_label(row: Row, _: Names) -> str:
    targets = f", {row['target']} targets" if row["target"] else ""
    return f"{row['answers']}: {row['a']} less {row['b']}{targets}"


def _side(name: str) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        from polyculture.reports.numbers import difference

        return difference(row[name], "z")

    return cell


def _interval(row: Row) -> str:
    from polyculture.reports.numbers import difference, known

    ends = [known(row[name]) for name in ("low", "high")]
    return "" if None in ends else " to ".join(difference(end, "z") for end in ends)


def _apart(row: Row) -> FormattedEstimate:
    from polyculture.reports.numbers import FormattedEstimate, difference

    interval = _interval(row)
    return FormattedEstimate(difference(row["difference"], "z"), interval or None, None if interval else row["lacking"])


def _p(name: str, letter: str) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        from polyculture.reports.numbers import known, p_value

        return p_value(known(row[name]), letter) or "–"

    return cell


_TEST_COLUMNS = (
    Column("First", _side("first")),
    Column("Second", _side("second")),
    Column("Difference", _apart),
    Column("Units", counted("units")),
    Column("q", _p("q", "q")),
    Column("p, as the study", _p("study_p", "p")),
)
SECTION = Section(
    "attention",
    _build,
    _FOLDER / "section.html.jinja",
    _TEXTS,
    tables=(ReportTable(_MAPS), ReportTable(_TESTS)),
)
