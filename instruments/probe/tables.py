"""The section's tables: controls beside the probe, and what is said, scored and stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from polyculture.instruments.probe.arms import CONTROLS, PATCHED, TEXT, missing_controls
from polyculture.reports.names import ordered, short
from polyculture.reports.numbers import FormattedEstimate, known
from polyculture.reports.section import ReportData
from polyculture.reports.table_section import Column, TextCell, counted, page_table

if TYPE_CHECKING:
    from polyculture.reports.table_section import PageTable

Row = Mapping[str, Any]
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
        caption="Controls beside the probe: means over the pairs of cultures",
        by=("dataset", "language", "filter"),
        head=lambda row: f", {data.names.language(row['language'])}, {short(row['dataset'])}: "
        + words["filters"].get(row["filter"], row["filter"]),
        label=lambda row, _: words["arms"].get(row["arm"], row["arm"]),
        line_head="Arm",
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


def _two(name: str, digits: int) -> Callable[[Row], str]:
    """The number of the probe, and that of the arm."""

    def cell(row: Row) -> str:
        told = [known(row[one]) for one in (f"{PATCHED}_{name}", name)]
        return " / ".join(_NONE if one is None else f"{one:.{digits}f}" for one in told)

    return cell


def _difference(name: str, digits: int) -> Callable[[Row], FormattedEstimate]:
    """A number with its interval, or why there is none."""

    def signed(value: float) -> str:
        return f"{value:+.{digits}f}".replace("-", "−")

    def cell(row: Row) -> FormattedEstimate:
        value, low, high = (known(row[one]) for one in (name, f"{name}_low", f"{name}_high"))
        if name == "difference" and row["arm"] == TEXT:  # F grows with the volume: one text a question is no layer
            return FormattedEstimate(None, None, "compare shares")
        if value is None:
            return FormattedEstimate(None, None, row["not_compared"] or _NONE)
        if low is None or high is None:
            return FormattedEstimate(signed(value), None, row["no_interval"])
        return FormattedEstimate(signed(value), f"{signed(low)} to {signed(high)}", None)

    return cell


def _similarity(row: Row) -> str:
    """Of the probe's items and of the arm's with their questions, mean ± SD."""

    def spread(name: str) -> str:
        mean, sd = known(row[name]), known(row[f"{name}_sd"])
        return _NONE if mean is None else f"{mean:.2f}" + ("" if sd is None else f" ± {sd:.2f}")

    return f"{spread('patched_similarity')} / {spread('similarity')}"


def _with_examples(column: str, examples: str) -> Callable[[Row], TextCell]:
    return lambda row: TextCell(counted(column)(row), row[examples] or _NONE)


_ARMS = (
    Column("F, both", _two("score", 1), "the probe / the arm"),
    Column("F less the arm's", _difference("difference", 1), "F of the probe less F of the arm"),
    Column("Share, both", _two("share", 2), "the probe / the arm"),
    Column("Share less the arm's", _difference("share_difference", 2), "share of the probe less share of the arm"),
    Column("Ranks of pairs", _difference("spearman", 2), "Spearman's correlation of the pairs' F under both"),
    Column("Similarity, both", _similarity, "of items with their questions, mean ± SD: the probe / the arm"),
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
