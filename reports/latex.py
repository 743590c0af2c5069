"""Prints a table of the report for a paper: LaTeX, each number with its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from polyculture.cache.control_chars import replace_control_chars
from polyculture.reports.names import Names
from polyculture.reports.numbers import count, decimal, difference, known, probability
from polyculture.reports.texts import PrintedTable, texts

LONGEST = 60  # letters of a cell: a word of ten thousand is wider than TeX can count
_MEASURED = ("estimate", "difference")
_ALL = ("language", "culture", "entity_type")  # None in these means: over all of them
_COMPARED = "family"  # a table with this column is of paired differences

Row = dict[str, Any]


def latex_table(
    name: str, frame: pd.DataFrame, names: Names, printed: PrintedTable, headings: Mapping[str, str] | None = None
) -> str:
    """The rows of a table as a `longtable` with the rules of booktabs.

    A number and its 95 % interval share a column; empty columns are left out. Data are printed as text: no command, no
    paragraph, no sign that changes the direction of the line, and at most `LONGEST` letters. `headings` are names of
    columns beside the shared ones.
    """
    rows = [{str(key): known(value) for key, value in row.items()} for row in frame.to_dict("records")]
    shown = pd.DataFrame(
        {column: [_word(name, column, row, printed, names) for row in rows] for column in printed.columns}
    )
    if printed.side_by_side:
        shown = _side_by_side(shown, printed.side_by_side)
    shown = shown.loc[:, [any(shown[column]) for column in shown]]
    called = {**texts().headings, **(headings or {})}
    styled = shown.rename(columns=lambda column: called.get(column, _heading(column)))
    return (
        styled.style.hide(axis="index")
        .format(signs, escape="latex")
        .format_index(escape="latex", axis=1)
        .to_latex(
            hrules=True,
            environment="longtable",
            column_format="".join("r" if all(map(_is_number, shown[column])) else "l" for column in shown),
            caption=printed.title + (r"; 95\,\% intervals in brackets" if _has_intervals(rows) else ""),
            label=f"tab:{name}",
        )
    )


def _word(name: str, column: str, row: Row, printed: PrintedTable, names: Names) -> str:
    """The text of a cell; empty where the value is missing."""
    value = row.get(column)
    if column == "rank":
        return "\u2013".join(dict.fromkeys((count(row["rank_low"]), count(row["rank_high"]))))
    if value is None:
        return "all" if column in _ALL else ""
    if _COMPARED in row and column in ("a", "b"):
        return _text("model" if row[_COMPARED] == "models" else column, value, names)
    if column in (*_MEASURED, *printed.intervals) or f"{column}_low" in row:
        write = difference if _COMPARED in row else decimal
        return _with_interval(value, *_limits(column, row), row.get("no_interval"), _kind(name, column, row), write)
    if isinstance(value, str):
        return _text(column, value, names)
    if column in ("p", "q"):
        return probability(value)
    return decimal(value, column) if column in printed.fractions else count(value)


def _limits(column: str, row: Row) -> tuple[float | None, float | None]:
    names = [f"{column}_low", f"{column}_high"]
    low, high = names if names[0] in row else ["low", "high"]
    return row.get(low), row.get(high)


def _kind(name: str, column: str, row: Row) -> str:
    """The metric as which a number is formatted: it decides digits and sign."""
    if _COMPARED in row:
        return str(row["metric"])
    metric = str(row.get("metric", name))
    if column == "difference" or row.get("goal") == "zero" or metric.endswith("_difference"):
        return "difference"
    return "diversity" if column == "entities" else metric


def _with_interval(
    value: float,
    low: float | None,
    high: float | None,
    without: str | None,
    kind: str,
    write: Callable[[float, str], str] = decimal,
) -> str:
    number = write(value, kind)
    if low is None or high is None:
        return f"{number} [{without}]" if without else number
    return f"{number} [{write(low, kind)}, {write(high, kind)}]"


def _text(column: str, value: str, names: Names) -> str:
    say = {
        "model": names.model, "language": names.language, "other_language": names.language, "topic": names.topic,
        "country": names.country, "condition": names.condition, "metric": _metric,
    }  # fmt: skip
    word = " ".join(replace_control_chars(say[column](value) if column in say else value).split())
    return word if len(word) <= LONGEST else f"{word[:LONGEST]}\u2026"


def _metric(name: str) -> str:
    return texts().metrics[name].name if name in texts().metrics else name.replace("_", " ")


def _side_by_side(shown: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """A table of models: a line per model and language, a column per metric."""
    lines = shown[["model", "language"]].drop_duplicates().set_index(["model", "language"]).index
    table = shown.pivot(index=["model", "language"], columns="metric", values="estimate").reindex(lines)
    named = [_metric(metric) for metric in metrics]
    return table[[name for name in named if name in table]].fillna("").reset_index()


def _has_intervals(rows: list[Row]) -> bool:
    return any(row[name] is not None for row in rows for name in row if name == "low" or name.endswith("_low"))


def _heading(column: str) -> str:
    return column[:1].upper() + column[1:].replace("_", " ")


def _is_number(word: str) -> bool:
    return word == "" or word[0] in "0123456789+<\u2212"


def signs(word: object) -> str:
    """An escaped word, with the signs that LaTeX's usual fonts have under other names."""
    return str(word).replace("\u2212", "$-$").replace("< ", "$<$ ").replace("\ufffd", "?") or "--"
