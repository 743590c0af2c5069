"""The report's section on whether what the probe reads out helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    from polyculture.reports.numbers import FormattedEstimate

_FOLDER = Path(__file__).parent
_SHARES, _GAINS = _FOLDER / "relevance.sql", _FOLDER / "relevance_gains.sql"
_NOT_ASKED, _TEXTS = _FOLDER / "relevance_not_asked.sql", _FOLDER / "section.toml"
_GROUP = ("dataset", "model", "answer_method", "reader", "prompt", "question_type")
_SHOWN_GROUPS = 24  # a page holds no more; the tables have all

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ConditionLine:
    """A condition, over the questions that all conditions have."""

    name: str
    accuracy: FormattedEstimate
    biased: FormattedEstimate
    others: FormattedEstimate
    refusal: str
    out_of_choice: str
    concepts: str
    gives_away: str
    own: str  # questions that the condition has
    failed: str


@dataclass(frozen=True, slots=True)
class GainLine:
    """A gain in accuracy."""

    name: str
    gain: FormattedEstimate
    p: str
    q: str


@dataclass(frozen=True, slots=True)
class MissingLine:
    """Why questions are not asked under a condition."""

    name: str
    reason: str
    not_asked: str


@dataclass(frozen=True, slots=True)
class RelevanceGroup:
    """What one model answered to the questions of one type, by one reader."""

    title: str
    questions: str  # that all conditions have, and how many ids these are
    lines: tuple[ConditionLine, ...]
    gains: tuple[GainLine, ...]
    missing: tuple[MissingLine, ...]


@dataclass(frozen=True, slots=True)
class RelevanceSection:
    """The context of the section."""

    groups: tuple[RelevanceGroup, ...]
    more: int  # groups that stand in the tables alone


def _build(data: ReportData) -> RelevanceSection | None:
    shares = data.reading.lines(_SHARES)
    if not shares:
        return None
    gains = _by_key(data.reading.lines(_GAINS), _GROUP)
    of_questions = ("dataset", "model", "question_type")
    missing = _by_key(data.reading.lines(_NOT_ASKED), of_questions)
    by_key = [(key, list(some)) for key, some in groupby(shares, key=lambda row: _key(row, _GROUP))]  # sorted
    groups = [
        _group(key, rows, gains.get(key, []), missing.get(_key(rows[0], of_questions), []), data)
        for key, rows in by_key[:_SHOWN_GROUPS]
    ]
    return RelevanceSection(tuple(groups), max(0, len(by_key) - _SHOWN_GROUPS))


def _key(row: Row, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def _by_key(rows: Sequence[Row], names: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(_key(row, names), []).append(row)
    return found


def _group(
    key: tuple[Any, ...], rows: Sequence[Row], gains: Sequence[Row], missing: Sequence[Row], data: ReportData
) -> RelevanceGroup:
    from polyculture.instruments.culture_mcq.section import study_title
    from polyculture.reports.numbers import count

    asked, questions = count(rows[0]["asked"]), count(rows[0]["questions"])
    return RelevanceGroup(
        study_title(key, data),
        f"{asked} questions, of {questions} ids",
        tuple(_line(row) for row in rows),
        tuple(_gain(row) for row in gains),
        tuple(MissingLine(_name(row["condition"]), row["reason"], count(row["not_asked"])) for row in missing),
    )


def _name(condition: str) -> str:
    from polyculture.reports.texts import section_texts

    return str(section_texts(_TEXTS).words["conditions"].get(condition, condition))


def _line(row: Row) -> ConditionLine:
    from polyculture.reports.numbers import count, decimal

    return ConditionLine(
        _name(row["condition"]),
        _estimate(row, "accuracy"),
        _estimate(row, "biased"),
        _estimate(row, "others"),
        decimal(row["refusal"], "share"),
        decimal(row["out_of_choice"], "share"),
        f"{row['mean_concepts']:.1f}",
        decimal(row["gives_away"], "share"),
        count(row["own_asked"]),
        count(row["failed"]),
    )


def _estimate(row: Row, name: str) -> FormattedEstimate:
    from polyculture.reports.numbers import estimate

    return estimate("share", row[name], row[f"{name}_low"], row[f"{name}_high"])


def _gain(row: Row) -> GainLine:
    from polyculture.reports.numbers import estimate, known, p_value

    return GainLine(
        f"{_name(row['condition'])} − {_name(row['over'])}",
        estimate("difference", row["gain"], row["low"], row["high"]),
        p_value(known(row["p"])) or "–",
        p_value(known(row["q"]), "q") or "–",
    )


SECTIONS = (
    Section(
        "relevance",
        _build,
        _FOLDER / "section.html.jinja",
        _TEXTS,
        tables=(ReportTable(_SHARES), ReportTable(_GAINS), ReportTable(_NOT_ASKED)),
        stands_alone=True,
    ),
)
