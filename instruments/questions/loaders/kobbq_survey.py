"""The survey behind KoBBQ (Jin et al. 2024, section 3.2.5) as rows: of whom is a stereotype held?

A hundred people were asked for all groups that fit: where there are more than three answers, or more votes than people.
Of other stereotypes they chose one of two groups; these are not asked. `votes` are the people that gave each option;
the last option, with the role 'unknown', is that there is no such stereotype.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from polyculture.cache.identity import content_id
from polyculture.instruments.questions.model import UNKNOWN
from polyculture.sources.files import read_file
from polyculture.sources.record import BadRow, Record

GROUP = "group"
MODIFIED = "TM"  # the label of templates with other target groups than BBQ's
TEMPLATES, NO_STEREOTYPE = "KoBBQ_templates.tsv", "no_stereo"
RESPONDENTS = 100  # of every stereotype
ONE_OF = 3  # answers of a question with one answer: two groups, and that there is no such stereotype
_MOST = 99  # answers of a stereotype that numbers can stand before


def rows(records: Iterable[Record | BadRow], file: Path) -> Iterator[Record | BadRow]:
    """A row for each stereotype of the file; why it cannot be asked. Beside it are the templates, with their labels."""
    labels = _labels(file.with_name(TEMPLATES))
    for record in records:
        try:
            yield record if isinstance(record, BadRow) else replace(record, values=_row(record.values, labels))
        except ValueError as fault:
            yield BadRow(record.row, str(fault), str(record)[:80])


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


def _row(entry: Mapping[str, Any], labels: Mapping[tuple[str, str], str]) -> dict[str, object]:
    """An entry as a question's columns. Raises `ValueError` with what is wrong."""
    if not {"category", "stereotype", "survey_stats"} <= entry.keys():
        raise ValueError("category, stereotype and survey_stats are needed")
    votes = entry["survey_stats"]
    if not isinstance(votes, Mapping) or not 2 <= len(votes) <= _MOST:
        raise ValueError(f"survey_stats are no votes for 2 to {_MOST} groups")
    if not all(type(count) is int and count >= 0 for count in votes.values()):
        raise ValueError("a vote is no number of people")
    if max(votes.values()) > RESPONDENTS:
        raise ValueError(f"more votes for a group than the {RESPONDENTS} people that were asked")
    groups = [*(str(group) for group in votes if group != NO_STEREOTYPE), NO_STEREOTYPE]
    if len(groups) <= ONE_OF and sum(votes.values()) <= RESPONDENTS:
        raise ValueError("people chose one of two groups")
    category, stereotype = str(entry["category"]).lower(), str(entry["stereotype"])
    return {
        "id": content_id("bbq survey", category, stereotype, tuple(groups)),
        "category": category,
        "stereotype": stereotype,
        "options": groups,
        "roles": [*(GROUP for _ in groups[1:]), UNKNOWN],
        "votes": [votes.get(group, 0) for group in groups],
        "label": labels.get((category, stereotype), ""),
    }
