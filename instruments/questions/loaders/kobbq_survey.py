"""The survey behind KoBBQ (Jin et al. 2024, section 3.2.5) as questions: of whom is a stereotype held?

A hundred people were asked of every stereotype, some for one of two groups, some for all that fit: where there are more
than three answers, or more votes than people. `weights` of a question are the people that gave each option; the last
option, with the role 'unknown', is that there is no such stereotype. Selections: 'one' (the default) and 'several'.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from polyculture.cache.errors import DataSetError, UserError
from polyculture.cache.identity import content_id
from polyculture.imports.files import read_file
from polyculture.imports.record import Record
from polyculture.instruments.datasets.model import LeftOut, SourceLocation
from polyculture.instruments.datasets.opened import place_of
from polyculture.instruments.questions.loaders.culture import chosen
from polyculture.instruments.questions.model import UNKNOWN, Prompt, Question, QuestionSet
from polyculture.instruments.questions.rules.files import row_place

NAME, GROUP = "kobbq-survey", "group"
ONE, SEVERAL = "one", "several"
LANGUAGE = "ko"
FILE, TEMPLATES, NO_STEREOTYPE = "KoBBQ_survey_result.json", "KoBBQ_templates.tsv", "no_stereo"
RESPONDENTS = 100  # of every stereotype
ONE_OF = 3  # answers of a question with one answer: two groups, and that there is no such stereotype
_MOST = 99  # answers of a stereotype that numbers can stand before


def kobbq_survey(folder: Path | None, selection: str | None = None) -> QuestionSet:
    """The stereotypes of one form. Raises `DataSetError` where the file cannot be read or holds none of it."""
    form = chosen(selection, (ONE, SEVERAL))
    name = NAME if form == ONE else f"{NAME}-{form}"
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
            question = _question(name, here, entry.values if isinstance(entry, Record) else {}, labels)
        except ValueError as fault:
            remarks.append(LeftOut(here, f"left out: {fault}", str(entry)[:80]))
            continue
        if found.setdefault(question.unit, question) is not question:
            remarks.append(LeftOut(here, "left out: the same stereotype stands before it", question.text))
    questions = tuple(one for one in found.values() if one.facets["form"] == form)
    if not questions:
        remedy = "It is KoBBQ's own file: fetch it with `polyculture data fetch kobbq`."
        raise DataSetError(f"holds no stereotype of the form {form!r}", where=file, remedy=remedy)
    return QuestionSet(
        name, "Of whom a stereotype is held", "choice", place, questions, _prompts(form), ("survey",),
        tuple(remarks), read_as=(SEVERAL,) if form == SEVERAL else (),
    )  # fmt: skip


def _labels(file: Path) -> Mapping[tuple[str, str], str]:
    """The label of the templates with a stereotype, by its category; of several labels, or without the file, none."""
    if not file.is_file():
        return {}
    found: dict[tuple[str, str], set[str]] = {}
    for row in read_file(file):
        if isinstance(row, Record):
            key = str(row.values.get("Category")).lower(), str(row.values.get("Stereotype"))
            found.setdefault(key, set()).add(str(row.values.get("Label_annotation") or ""))
    return {key: labels.pop() for key, labels in found.items() if len(labels) == 1}


def _question(
    name: str, place: SourceLocation, entry: Mapping[str, Any], labels: Mapping[tuple[str, str], str]
) -> Question:
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
    several = len(groups) > ONE_OF or sum(votes.values()) > RESPONDENTS
    category, stereotype = str(entry["category"]).lower(), str(entry["stereotype"])
    unit = content_id("bbq survey", category, stereotype, groups, several)
    return Question(
        name=unit,
        set=name,
        language=LANGUAGE,
        kind="choice",
        unit=unit,
        text=stereotype,
        options=groups,
        roles=(*(GROUP for _ in groups[1:]), UNKNOWN),
        right=(),
        place=place,
        weights=tuple(float(votes.get(group, 0)) for group in groups),
        facets={"category": category, "form": SEVERAL if several else ONE}
        | ({"label": label} if (label := labels.get((category, stereotype))) else {}),
    )


def _prompts(form: str) -> tuple[Prompt, ...]:
    """Our wordings: answers stand under letters, or under numbers where several may be chosen."""
    told = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["wordings"]
    labels = tuple(ascii_uppercase[:ONE_OF]) if form == ONE else tuple(str(number) for number in range(1, _MOST + 1))
    option = "{label}: {option}" if form == ONE else "{label}. {option}"
    return tuple(
        Prompt(
            one["name"], LANGUAGE, f"{one[form].strip()}\n\n{{options}}\n{one['answer']}", labels, option,
            one["answer"], one["none"],
        )
        for one in told
    )  # fmt: skip
