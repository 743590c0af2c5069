"""The survey behind KoBBQ (Jin et al. 2024, section 3.2.5) as questions: of whom is a stereotype held?

A hundred people were asked for all groups that fit: where there are more than three answers, or more votes than people.
Of other stereotypes they chose one of two groups; these are not asked. `weights` of a question are the people that gave
each option; the last option, with the role 'unknown', is that there is no such stereotype.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polyculture.cache.errors import DataSetError, UserError
from polyculture.cache.identity import content_id
from polyculture.imports.files import read_file
from polyculture.imports.record import Record
from polyculture.instruments.datasets.model import LeftOut, SourceLocation
from polyculture.instruments.datasets.opened import place_of
from polyculture.instruments.questions.model import UNKNOWN, Prompt, Question, QuestionSet
from polyculture.instruments.questions.reading.readers import SEVERAL
from polyculture.instruments.questions.rules.files import row_place

NAME, GROUP = "kobbq-survey", "group"
LANGUAGE = "ko"
MODIFIED = "TM"  # the label of templates with other target groups than BBQ's
FILE, TEMPLATES, NO_STEREOTYPE = "KoBBQ_survey_result.json", "KoBBQ_templates.tsv", "no_stereo"
RESPONDENTS = 100  # of every stereotype
ONE_OF = 3  # answers of a question with one answer: two groups, and that there is no such stereotype
_MOST = 99  # answers of a stereotype that numbers can stand before


def kobbq_survey(folder: Path | None, selection: str | None = None) -> QuestionSet:
    """The stereotypes. Raises `DataSetError` where the file cannot be read or holds none, and of any selection."""
    if selection is not None:
        raise DataSetError(f"there is no selection {selection!r} of {NAME}", remedy="It is asked as a whole.")
    place = place_of(folder, "kobbq")
    file = next((one for one in (place / "data" / FILE, place / FILE) if one.is_file()), place / "data" / FILE)
    labels = _labels(file.with_name(TEMPLATES))
    found: dict[str, Question] = {}
    remarks: list[LeftOut] = []
    try:
        entries = list(read_file(file))
    except (OSError, UserError) as fault:
        raise DataSetError(f"cannot be read: {fault}", where=file, remedy="Name the folder of KoBBQ.") from fault
    for entry in entries:
        here = row_place(file.name, entry.row)
        try:
            question = _question(here, entry.values if isinstance(entry, Record) else {}, labels)
        except ValueError as fault:
            remarks.append(LeftOut(here, f"left out: {fault}", str(entry)[:80]))
            continue
        if found.setdefault(question.unit, question) is not question:
            remarks.append(LeftOut(here, "left out: the same stereotype stands before it", question.text))
    if not found:
        remedy = "It is KoBBQ's own file: fetch it with `polyculture data fetch kobbq`."
        raise DataSetError("holds no stereotype that was asked about all groups", where=file, remedy=remedy)
    return QuestionSet(
        NAME, "Of whom a stereotype is held", "choice", place, tuple(found.values()), _prompts(), ("survey",),
        tuple(remarks), read_as=(SEVERAL,),
    )  # fmt: skip


def _labels(file: Path) -> Mapping[tuple[str, str], str]:
    """The label of the templates with a stereotype, by its category; of several, `MODIFIED` or none."""
    if not file.is_file():
        return {}
    found: dict[tuple[str, str], set[str]] = {}
    for row in read_file(file):
        if isinstance(row, Record):
            key = str(row.values.get("Category")).lower(), str(row.values.get("Stereotype"))
            found.setdefault(key, set()).add(str(row.values.get("Label_annotation") or ""))
    return {
        key: MODIFIED if MODIFIED in labels else labels.pop()
        for key, labels in found.items()
        if MODIFIED in labels or len(labels) == 1
    }


def _question(place: SourceLocation, entry: Mapping[str, Any], labels: Mapping[tuple[str, str], str]) -> Question:
    """An entry as a question. Raises `ValueError` with what is wrong."""
    if not {"category", "stereotype", "survey_stats"} <= entry.keys():
        raise ValueError("category, stereotype and survey_stats are needed")
    votes = entry["survey_stats"]
    if not isinstance(votes, Mapping) or not 2 <= len(votes) <= _MOST:
        raise ValueError(f"survey_stats are no votes for 2 to {_MOST} groups")
    if not all(type(count) is int and count >= 0 for count in votes.values()):
        raise ValueError("a vote is no number of people")
    if max(votes.values()) > RESPONDENTS:
        raise ValueError(f"more votes for a group than the {RESPONDENTS} people that were asked")
    groups = (*(str(group) for group in votes if group != NO_STEREOTYPE), NO_STEREOTYPE)
    if len(groups) <= ONE_OF and sum(votes.values()) <= RESPONDENTS:
        raise ValueError("people chose one of two groups")
    category, stereotype = str(entry["category"]).lower(), str(entry["stereotype"])
    unit = content_id("bbq survey", category, stereotype, groups)
    return Question(
        name=unit,
        set=NAME,
        language=LANGUAGE,
        kind="choice",
        unit=unit,
        text=stereotype,
        options=groups,
        roles=(*(GROUP for _ in groups[1:]), UNKNOWN),
        right=(),
        place=place,
        weights=tuple(float(votes.get(group, 0)) for group in groups),
        facets={"category": category} | ({"label": label} if (label := labels.get((category, stereotype))) else {}),
    )


def _prompts() -> tuple[Prompt, ...]:
    """Our wordings: answers stand under numbers."""
    told = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["wordings"]
    labels = tuple(str(number) for number in range(1, _MOST + 1))
    return tuple(
        Prompt(
            one["name"], LANGUAGE, f"{one['question'].strip()}\n\n{{options}}\n{one['answer']}", labels,
            "{label}. {option}", one["none"],
        )
        for one in told
    )  # fmt: skip
