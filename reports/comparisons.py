"""Differences of models, languages, conditions and native languages, as `measure` wrote them (`metrics.measure`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from polyculture.metrics.comparison.table import explained
from polyculture.metrics.declared import COMPARED
from polyculture.metrics.inference.family import HIGHER, LOWER, SAME_PROMPTS
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import (
    FormattedEstimate,
    Row,
    count,
    difference,
    known,
    more_decimals,
    probability,
    share,
)
from polyculture.reports.section import ReportData
from polyculture.reports.sections import COMPARISONS
from polyculture.reports.table_section import Column, PageTable, TextCell, about_of, plain_table
from polyculture.reports.texts import texts

MODELS, LANGUAGES, CONDITIONS = "model", "language", "condition"
_TOLD = (HIGHER, LOWER)
_REVERSED = "share of the unlinked mentions that would reverse the difference if they were linked against it"
_HEADS = {
    "native by model": "Model",
    "native by country": "Country",
    MODELS: "Models",
    LANGUAGES: "Languages",
    CONDITIONS: "Prompts",
}


def build(data: ReportData) -> tuple[tuple[str, PageTable], ...] | None:
    """The tables, each with what it is of; one without a number is left out. None where nothing could be compared."""
    rows = told_rows(data.frame(COMPARISONS))
    families = {family: [row for row in rows if row["family"] == family] for family in texts().comparisons}
    found = {family: own for family, own in families.items() if any(row["cells"] for row in own)}
    return tuple((texts().comparisons[family].says, _table(family, own, data)) for family, own in found.items()) or None


def told_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of `sql/comparisons.sql`; None where nothing is known."""
    return [{str(key): known(value) for key, value in row.items()} for row in frame.to_dict("records")]


def is_told(row: Row) -> bool:
    """Whether a sentence may be written from a row: its verdict is the same under every selection of the texts."""
    return row["verdict"] in _TOLD and bool(row["robust_in_all"])


def _table(family: str, rows: Sequence[Row], data: ReportData) -> PageTable:
    manifest, names = data.manifest, data.names
    conditions = ordered(["", *manifest.conditions], [row["condition"] or "" for row in rows])
    asked = [*map(names.model, manifest.models), *map(names.country, manifest.countries)]
    labels = ordered(asked, list(dict.fromkeys(label(row, names) for row in rows)))

    def place(row: Row) -> tuple[int, int, int]:
        return COMPARED.index(row["metric"]), conditions.index(row["condition"] or ""), labels.index(label(row, names))

    def metric(row: Row) -> TextCell:
        under = names.condition(row["condition"]) if row["condition"] else ""
        return TextCell(texts().metrics[row["metric"]].name, under)

    columns = (
        Column("Metric", metric, is_number=False),
        Column("Difference", _difference),
        Column("About", lambda row: "" if row["low"] is None else texts().targets[row["target"]], is_number=False),
        Column("New prompts", _of_new, is_number=False),
        Column("q", lambda row: "" if row["q"] is None else probability(row["q"])),
        Column("Robust in", lambda row: row["robust_in"] if row["verdict"] in _TOLD else "", is_number=False),
        Column("Same sign in", holds, is_size=True),
        Column("Cells", lambda row: count(row["cells"]), is_size=True),
        Column("Reversed at", lambda row: "" if row["low"] is None else tipping(row), _REVERSED, is_size=True),
    )
    return plain_table(
        sorted(rows, key=place), columns, title=texts().comparisons[family].title, line_head=_HEADS[family],
        label=lambda row: label(row, names), told=is_told, about=_about, style="compared",
    )  # fmt: skip


def _about(row: Row) -> dict[str, str]:
    """The languages of a row: of two that are compared, both."""
    sides = [row["a"], row["b"]] if row["family"] == "language" else []
    return {"language": " ".join(sides)} if sides else about_of(row)


def side(row: Row, code: str, names: Names) -> str:
    """The name of a side."""
    if code == "the rest":
        return "the others"
    return str(getattr(names, row["family"])(code))


def label(row: Row, names: Names) -> str:
    """'Qwen minus smollm2', 'Japan'."""
    if row["country"]:
        return names.country(row["country"])
    if row["model"]:
        return names.model(row["model"])
    return f"{side(row, row['a'], names)} minus {side(row, row['b'], names)}"


def _difference(row: Row) -> FormattedEstimate:
    """The difference with its interval; or the reason why it, or its interval, is missing."""
    metric, value, limits = row["metric"], row["difference"], (row["low"], row["high"])
    more = more_decimals(metric, value, *limits) if row["verdict"] in _TOLD else 0
    shown = None if value is None else difference(value, metric, more)
    if None in limits:
        return FormattedEstimate(shown, None, explained(row["reason"]))
    return FormattedEstimate(shown, " to ".join(difference(limit, metric, more) for limit in limits), None)


def _of_new(row: Row) -> TextCell:
    """What new prompts like these show of a difference of the same prompts: the verdict, and the interval or reason."""
    said = texts().new_prompts
    if row["target"] != SAME_PROMPTS or row["low"] is None:
        return TextCell("", "")
    if row["new_low"] is None:
        return TextCell(said["unseen"], explained(row["lacking"]) if row["lacking"] else "")
    limits = " to ".join(difference(limit, row["metric"]) for limit in (row["new_low"], row["new_high"]))
    return TextCell(said["shown" if row["new_verdict"] in _TOLD else "not_shown"], limits)


def holds(row: Row) -> str:
    """'5 of 6 topics, 11 of 12 countries': where the difference has the same sign."""
    parts = [(row[f"{what}_same_sign"], row[what], what) for what in ("topics", "countries")]
    return ", ".join(f"{same} of {all_of} {what}" for same, all_of, what in parts if all_of > 1)


def tipping(row: Row) -> str:
    """The share of what is not linked that turns the difference; empty where none does."""
    return "" if row["tipping"] is None else share(row["tipping"], 1) or ""
