"""The survey behind KoBBQ: who the people hold a stereotype to be true of.

Of every stereotype 100 people were asked, some for one group (the votes add up to 100), some for all that fit. A share
is that of these people. The criterion: a target has at least twice an equal share, a group that is none at most half of
one. An equal share is one over the number of answers, "no stereotype" among them. In KoBBQ's templates 128 groups do
not meet it (docs/bbq.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyculture.cache.errors import DataSetError
from polyculture.instruments.bbq.model import Place, Remark

FILE, NO_STEREOTYPE = "KoBBQ_survey_result.json", "no_stereo"
RESPONDENTS = 100  # of every stereotype
TARGET, OTHER = 2.0, 0.5  # times an equal share: at least, at most


@dataclass(frozen=True, slots=True)
class Survey:
    """The votes on a stereotype."""

    category: str
    stereotype: str
    votes: Mapping[str, int]

    @property
    def shares(self) -> Mapping[str, float]:
        """The people that chose a group, as a share of those asked."""
        return {group: count / RESPONDENTS for group, count in self.votes.items()}

    @property
    def equal_share(self) -> float:
        return 1 / len(self.votes)

    def share_of(self, groups: Sequence[str]) -> float | None:
        """The mean share of several groups; None where there is none or one of them was not offered.

        The survey may offer several groups as one answer ("middle-aged, old"): it counts for each of them.
        """
        offered = {name: answer for answer in self.votes for name in (answer, *split(answer))}
        if not groups or any(group not in offered for group in groups):
            return None
        answers = {offered[group] for group in groups}
        return sum(self.shares[answer] for answer in answers) / len(answers)


@dataclass(frozen=True, slots=True)
class Violation:
    """A group that does not meet the criterion."""

    category: str
    stereotype: str
    group: str
    role: str  # 'target' | 'other'
    share: float
    equal_share: float


def read_survey(folder: Path) -> tuple[list[Survey], list[Remark]]:
    """The stereotypes of the survey's file, and the entries that cannot be used or stand there twice.

    Raises `DataSetError` where the file cannot be read.
    """
    file = folder / FILE
    try:
        entries = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as fault:
        raise DataSetError(
            f"cannot be read: {fault}", where=file, remedy="It is a JSON list: see docs/bbq.md."
        ) from fault
    if not isinstance(entries, list):
        raise DataSetError("is no JSON list", where=file, remedy="See docs/bbq.md.")
    found: list[Survey] = []
    remarks: list[Remark] = []
    for number, entry in enumerate(entries, start=1):
        place = Place(file.name, number)
        try:
            survey = _survey(entry)
        except (KeyError, TypeError, ValueError) as fault:
            remarks.append(Remark(place, f"left out: {fault}", str(entry)[:80]))
            continue
        if survey in found:
            remarks.append(Remark(place, "left out: the same entry stands before it", survey.stereotype))
            continue
        found.append(survey)
    return found, remarks


def _survey(entry: Any) -> Survey:
    if not isinstance(entry, Mapping) or not {"category", "stereotype", "survey_stats"} <= entry.keys():
        raise ValueError("category, stereotype and survey_stats are needed")
    votes = entry["survey_stats"]
    if not isinstance(votes, Mapping) or len(votes) < 2:
        raise ValueError("survey_stats are no votes for two groups or more")
    if not all(type(count) is int and count >= 0 for count in votes.values()):
        raise ValueError("a vote is no number of people")
    if max(votes.values()) > RESPONDENTS:
        raise ValueError(f"more votes for a group than the {RESPONDENTS} people that were asked")
    return Survey(str(entry["category"]), str(entry["stereotype"]), {str(name): int(n) for name, n in votes.items()})


def split(text: str) -> tuple[str, ...]:
    """The groups of a cell as KoBBQ writes them, apart by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def violations(survey: Survey, targets: Sequence[str], others: Sequence[str]) -> Iterator[Violation]:
    """The groups of a template that the people's votes do not put where the template has them."""
    for role, groups in (("target", targets), ("other", others)):
        for group in groups:
            share = survey.share_of([group])
            if share is not None and _violates(role, share / survey.equal_share):
                yield Violation(survey.category, survey.stereotype, group, role, share, survey.equal_share)


def _violates(role: str, times: float) -> bool:
    return times < TARGET - 1e-9 if role == "target" else times > OTHER + 1e-9
