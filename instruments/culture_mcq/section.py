"""The report's section on cultural knowledge by multiple choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    from polyculture.reports.figures.figure import Key, Panel
    from polyculture.reports.numbers import FormattedEstimate

_FOLDER = Path(__file__).parent
_SHARES, _TESTS = _FOLDER / "culture_mcq.sql", _FOLDER / "culture_mcq_tests.sql"
_GROUP = ("dataset", "model", "answer_method", "reader", "prompt", "question_type")
_DATASETS = {
    "culturescope": "the study's sheets",
    "blend": "built from BLEnD",
    "blend-strict": "built from BLEnD, strict",
}
_READERS = {
    "words": "its answers",
    "sum": "likelihood of the option",
    "mean": "likelihood of the option, per token",
    "corrected": "likelihood of the option, corrected for the option alone",
}
_GIVEN = {
    "yes": "a wrong option also given",
    "no": "no wrong option also given",
}
_HOUSE = "house"  # our own wording, which goes without saying
_SHOWN_GROUPS = 24  # a page holds no more; the table has all

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ShareLine:
    """A part of the questions."""

    name: str
    accuracy: FormattedEstimate
    biased: FormattedEstimate
    others: FormattedEstimate
    refusal: str
    out_of_choice: str
    answers: str
    failed: str


@dataclass(frozen=True, slots=True)
class TestLine:
    """A test of a hypothesis."""

    hypothesis: str
    comparison: str
    sound: bool
    first: str
    second: str
    test: str
    p: str
    q: str


@dataclass(frozen=True, slots=True)
class ShareGroup:
    """What one model answered to the questions of one type, by one reader."""

    title: str
    lines: tuple[ShareLine, ...]
    tests: tuple[TestLine, ...]
    levels: Panel | None  # the lines of levels as a figure


@dataclass(frozen=True, slots=True)
class CulturalKnowledge:
    """The context of the section."""

    groups: tuple[ShareGroup, ...]
    more: int  # groups that stand in the table alone
    keys: tuple[Key, ...]  # of the figures


def _build(data: ReportData) -> CulturalKnowledge | None:
    from polyculture.instruments.culture_mcq.level_figure import level_keys

    shares = data.reading.lines(_SHARES)
    if not shares:
        return None
    tests: dict[tuple[Any, ...], list[Row]] = {}
    for row in data.reading.lines(_TESTS):
        tests.setdefault(_key(row), []).append(row)
    groups = [
        _group(key, list(some), tests.get(key, []), data) for key, some in groupby(shares, key=_key)
    ]  # sorted by the query
    return CulturalKnowledge(tuple(groups[:_SHOWN_GROUPS]), max(0, len(groups) - _SHOWN_GROUPS), level_keys())


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _GROUP)


def study_title(key: Sequence[Any], data: ReportData) -> str:
    """The name of what is counted together: by data set, model, method, reader, wording and type of questions."""
    from polyculture.reports.names import short

    dataset, model, _, reader, prompt, kind = key
    way = _READERS.get(reader, reader) + ("" if prompt == _HOUSE else f", wording {short(prompt)}")
    return f"{data.names.model(model)}, {_DATASETS.get(dataset, dataset)}, {kind} questions: {way}"


def _group(key: tuple[Any, ...], rows: Sequence[Row], tests: Sequence[Row], data: ReportData) -> ShareGroup:
    from polyculture.instruments.culture_mcq.level_figure import level_panel

    title = study_title(key, data)
    shown = [row for row in rows if row["part"] != "target" and row["name"] != "not known"]
    levels = level_panel(title, rows)
    return ShareGroup(title, tuple(_line(row) for row in shown), tuple(_test(row) for row in tests), levels)


def _line(row: Row) -> ShareLine:
    from polyculture.reports.names import short
    from polyculture.reports.numbers import count, share

    names = {"overall": "all questions", "also given": _GIVEN.get(row["name"], "")}
    answered = row["answered"]
    return ShareLine(
        names.get(row["part"]) or f"targets of level {short(str(row['name']))}",
        _estimate(row, "accuracy"),
        _estimate(row, "biased"),
        _estimate(row, "others"),
        share(row["n_refused"], answered) or "–",
        share(row["n_out"], answered) or "–",
        count(answered),
        count(row["failed"]),
    )


def _estimate(row: Row, name: str) -> FormattedEstimate:
    from polyculture.reports.numbers import estimate, lacking

    if row[name] is None:
        return lacking("unread_answers")
    return estimate("share", row[name], row[f"{name}_low"], row[f"{name}_high"])


def _test(row: Row) -> TestLine:
    from polyculture.reports.numbers import count, decimal, known, p_value

    second = decimal(row["second"], "share")
    size = known(row["second_size"])
    return TestLine(
        row["hypothesis"],
        row["comparison"],
        row["kind"] == "sound",
        f"{decimal(row['first'], 'share')} of {count(row['first_size'])}",
        second if size is None else f"{second} of {count(size)}",
        row["test"],
        p_value(known(row["p"])) or "–",
        p_value(known(row["q"]), "q") or "–",
    )


SECTIONS = (
    Section(
        "culture-mcq",
        _build,
        _FOLDER / "section.html.jinja",
        _FOLDER / "section.toml",
        tables=(ReportTable(_SHARES), ReportTable(_TESTS)),
        stands_alone=True,
    ),
)
