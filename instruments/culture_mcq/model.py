"""A question with four options, each the usual answer of a culture; and what of the files is left out, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from polyculture.instruments.datasets.model import LeftOut, SourceLocation

OPTIONS = 4


class QuestionType(StrEnum):
    """Where the wrong options are from."""

    RESOURCE = "resource"  # a culture of each resource level; the biased one is of the highest
    REGION = "region"  # one of the target's own region, which is the biased one, and two of two other regions


@dataclass(frozen=True, slots=True)
class Option:
    """What most annotators of a culture answered."""

    text: str
    country: str
    group: str  # the level or the region of the country, by the type of the question


@dataclass(frozen=True, slots=True)
class McqQuestion:
    """A question about a target culture, with its options in the order in which they are shown."""

    question_type: QuestionType
    source_id: str  # BLEnD's id of the question, which is the same for all cultures: the unit of sampling
    target: str
    target_level: str
    target_region: str
    text: str
    options: tuple[Option, ...]
    right: int  # index of the target's own answer
    biased: int  # index of the option of the highest level, or of the target's region, other than the target's
    place: SourceLocation | None = None  # of a released question
    tied: int = 1  # answers of the target with as many votes as the right one, itself included
    also_given: tuple[int, ...] | None = None  # wrong options that the target's annotators gave, too; None: unknown

    @property
    def key(self) -> tuple[str, str, str]:
        """What there is one question of."""
        return self.question_type, self.source_id, self.target


@dataclass(frozen=True)
class McqSet:
    """Questions of one origin."""

    name: str  # in the store: 'culturescope', 'blend', 'blend-strict'
    questions: tuple[McqQuestion, ...]
    left_out: tuple[LeftOut, ...] = ()  # row by row
    counts: tuple[tuple[str, int], ...] = ()  # reasons why questions were not made, with how many
    unasked: tuple[McqQuestion, ...] = ()  # published rows that no model can answer, as an option is empty
