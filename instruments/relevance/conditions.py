"""The conditions under which a question is asked, and what their differences tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Condition = Literal["alone", "culture", "probe", "source", "other-culture", "no-answer"]
ALONE: Condition = "alone"  # the question as it stands
CULTURE: Condition = "culture"  # with its culture named
PROBE: Condition = "probe"  # with what the probe kept of this question
SOURCE: Condition = "source"  # with concepts of another source
OTHER_CULTURE: Condition = "other-culture"  # with what the probe kept about another culture
NO_ANSWER: Condition = "no-answer"  # those of `probe` that do not repeat the right answer
CONDITIONS: tuple[Condition, ...] = (ALONE, CULTURE, PROBE, SOURCE, OTHER_CULTURE, NO_ANSWER)
COMPARISONS: tuple[tuple[Condition, Condition], ...] = (
    *((one, ALONE) for one in CONDITIONS[1:]),
    (PROBE, CULTURE),  # more than the name of the culture
    (PROBE, SOURCE),
    (PROBE, OTHER_CULTURE),  # what is the culture's own, beside the help of any such words
    (PROBE, NO_ANSWER),  # what the answer itself gives away
)


@dataclass(frozen=True, slots=True)
class Context:
    """What stands before a question under a condition, or why the question cannot be asked under it."""

    condition: Condition
    draw: int = 1  # from 1; of conditions that draw nothing always 1
    seed: int | None = None  # of the draw
    culture: str | None = None  # that is named
    concepts: tuple[str, ...] = ()
    repeating: tuple[str, ...] = ()  # concepts that repeat the right answer
    echoing: tuple[str, ...] = ()  # concepts that repeat the inspection prompt, the culture's name or the question
    origin: str | None = None  # where the concepts come from
    from_culture: str | None = None  # the culture that they are about
    from_question: str | None = None  # the id of the question that they are about
    reason: str | None = None  # why the question is not asked
