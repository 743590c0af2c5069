"""The section's tables: controls beside the probe, and what is said, scored and stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from polyculture.instruments.probe.arms import CONTROLS, missing_controls
from polyculture.reports.names import ordered, short
from polyculture.reports.numbers import FormattedEstimate, Row, known
from polyculture.reports.section import ReportData
from polyculture.reports.table_section import Column, TextCell, counted, page_table

if TYPE_CHECKING:
    from polyculture.reports.table_section import PageTable

_NONE = "–"


def arms_table(data: ReportData, rows: Sequence[Row], words: Mapping[str, Mapping[str, str]]) -> PageTable | None:
    """The arms beside the probe, from `arms_beside.sql`; None where none was run."""
    arms = ordered(tuple(words["arms"]), (row["arm"] for row in rows))
    if not rows:
        return None
    return page_table(
        data,
        sorted(rows, key=lambda row: arms.index(row["arm"])),
        _ARMS,
        title="Arms beside the probe",
        caption="Controls beside the probe",
        by=("dataset", "language", "filter"),
        head=lambda row: f", {data.names.language(row['language'])}, {short(row['dataset'])}: "
        + words["filters"].get(row["filter"], "before any filter"),
        label=lambda row, _: f"{words['arms'].get(row['arm'], row['arm'])}: {words['beside'][row['metric']]}",
        line_head="Arm: number",
    )  # fmt: skip


def knowledge_table(data: ReportData, rows: Sequence[Row]) -> PageTable | None:
    """Items of Wikidata by model, language and topic, from `knowledge.sql`; None where nothing was linked."""
    if not rows:
        return None
    return page_table(
        data,
        rows,
        _KNOWLEDGE,
        title="What is said and what is stored",
        caption="Items of Wikidata by model, language and topic",
        by=(),
        label=lambda row, names: ", ".join(
            (names.model(row["model"]), names.language(row["language"]), names.topic(row["topic"]))
        ),
        line_head="Of",
    )  # fmt: skip


def controls_missing(arms: Sequence[str]) -> str:
    """What is to be said of controls that were not run beside a score; empty where all were."""
    missing = missing_controls(arms)
    if len(missing) == len(CONTROLS):
        return "No control was run beside it."
    return f"Controls not run beside it: {', '.join(missing)}." if missing else ""


def _own(name: str) -> Callable[[Row], str]:
    """The number of one side."""

    def cell(row: Row) -> str:
        value = known(row[name])
        return _NONE if value is None else f"{value:.{_DIGITS[row['metric']]}f}"

    return cell


def _difference(row: Row) -> FormattedEstimate:
    """The probe's number less the control's, with its interval, or why there is none."""

    def signed(value: float) -> str:
        return f"{value:+.{_DIGITS[row['metric']]}f}".replace("-", "−")

    value, low, high = (known(row[one]) for one in ("difference", "low", "high"))
    if value is None:
        return FormattedEstimate(None, None, row["lacking"] or _NONE)
    if low is None or high is None:
        return FormattedEstimate(signed(value), None, row["lacking"])
    return FormattedEstimate(signed(value), f"{signed(low)} to {signed(high)}", None)


def _with_examples(column: str, examples: str) -> Callable[[Row], TextCell]:
    return lambda row: TextCell(counted(column)(row), row[examples] or _NONE)


_DIGITS = {"flattening": 1, "flattening_share": 2, "similarity": 2}
_ARMS = (
    Column("The probe", _own("patched")),
    Column("The control", _own("control")),
    Column("Difference", _difference),
    Column("Questions", counted("units")),
)
_KNOWLEDGE = (
    Column("Texts", counted("texts")),
    Column("Occurrences", counted("items"), "occurrences of linked items in layers"),
    Column("Said", counted("said")),
    Column("Scored", counted("scored")),
    Column("Stored", counted("stored")),
    Column("Both", counted("both")),
    Column("Stored, never said", _with_examples("stored_never_said", "stored_examples")),
    Column("Said, not stored", _with_examples("said_not_stored", "said_examples")),
)
