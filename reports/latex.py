"""Prints a table of the report for a paper: LaTeX, each number with its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from polyculture.cache.store.sql_file import OVER_ALL, Header, limits
from polyculture.cache.text.sanitize import replace_control_chars
from polyculture.reports.names import Names
from polyculture.reports.numbers import Row, count, decimal, difference, known, probability
from polyculture.reports.texts import texts

LONGEST = 60  # letters of a cell: a word of ten thousand is wider than TeX can count
_COMPARED = "family"  # a table with this column is of paired differences


def latex_table(header: Header, frame: pd.DataFrame, names: Names, headings: Mapping[str, str] | None = None) -> str:
    """The printed columns of a table as a `longtable` with the rules of booktabs.

    A number and its 95 % interval share a column; empty columns are left out. Data are printed as text: no command, no
    paragraph, no sign that changes the direction of the line, and at most `LONGEST` letters. `headings` are names of
    columns beside the shared ones.
    """
    rows = [{str(key): known(value) for key, value in row.items()} for row in frame.to_dict("records")]
    measured = limits(list(frame.columns))
    counts = frame.attrs.get("counts", frame.select_dtypes("integer").columns)
    words = {
        column: [_word(header.name, column, row, measured.get(column), names, column in counts) for row in rows]
        for column in header.printed
    }
    shown = pd.DataFrame(words)
    if header.side_by_side:
        shown = _side_by_side(shown, *header.side_by_side)
    shown = shown.loc[:, [any(shown[column]) for column in shown]]
    called = {**texts().headings, **(headings or {})}
    return longtable(
        shown.rename(columns=lambda column: called.get(column, _heading(column))),
        "".join("r" if all(map(_is_number, shown[column])) else "l" for column in shown),
        header.title + (r"; 95\,\% intervals in brackets" if _has_intervals(rows) else ""),
        header.name,
    )


def longtable(frame: pd.DataFrame, columns: str, caption: str, name: str) -> str:
    """A frame of texts as a `longtable` with the rules of booktabs; `columns` are LaTeX's, 'llr'.

    Cells and heads are escaped; the caption is LaTeX, as it is.
    """
    styled = frame.style.hide(axis="index").format(signs, escape="latex").format_index(escape="latex", axis=1)
    latex: str = styled.to_latex(
        hrules=True, environment="longtable", column_format=columns, caption=caption, label=f"tab:{name}"
    )
    return latex


def _word(name: str, column: str, row: Row, limits: tuple[str, str] | None, names: Names, is_count: bool) -> str:
    """The text of a cell; empty where the value is missing."""
    value = row.get(column)
    if value is None:
        return "all" if column in OVER_ALL else ""
    if _COMPARED in row and column in ("a", "b"):
        return _text("model" if row[_COMPARED] == "models" else column, value, names)
    if isinstance(value, str):
        return _text(column, value, names)
    if limits:
        write = difference if _COMPARED in row else decimal
        low, high = (row.get(limit) for limit in limits)
        return _with_interval(value, low, high, row.get("no_interval"), _kind(name, column, row), write)
    if column in ("p", "q"):
        return probability(value)
    return count(value) if is_count else decimal(value, column)


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


def _side_by_side(shown: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A table of models: a line per model and language, a column per metric, in the order in which they come."""
    lines = shown[["model", "language"]].drop_duplicates().set_index(["model", "language"]).index
    table = shown.pivot(index=["model", "language"], columns=metric, values="estimate").reindex(lines)
    return table[shown[metric].drop_duplicates().tolist()].fillna("").reset_index()


def _has_intervals(rows: Sequence[Row]) -> bool:
    return any(row[name] is not None for row in rows for name in row if name == "low" or name.endswith("_low"))


def _heading(column: str) -> str:
    return column[:1].upper() + column[1:].replace("_", " ")


def _is_number(word: str) -> bool:
    return word == "" or word[0] in "0123456789+<\u2212"


def end_of(name: str) -> str:
    """A model's name; of a long one the end, which tells the files of a folder apart."""
    return name if len(name) <= LONGEST else f"...{name[3 - LONGEST :]}"


def signs(word: object) -> str:
    """An escaped word, with the signs that LaTeX's usual fonts have under other names."""
    latex = str(word).replace("\u2212", "$-$").replace("< ", "$<$ ").replace("|", r"\textbar{}")
    return latex.replace("\ufffd", "?") or "--"
