"""The stereotypes of the survey as questions, in the two forms that the people were asked in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from polyculture.cache.identity import content_id
from polyculture.instruments.bbq.survey import NO_STEREOTYPE, RESPONDENTS, Survey

ONE_OF = 3  # answers of a question with one answer: two groups, and that there is no such stereotype
Order = tuple[int, ...]  # which of a question's answers stands first, second ...


@dataclass(frozen=True, slots=True)
class SurveyQuestion:
    """A stereotype with its answers: groups, and `NO_STEREOTYPE` last."""

    category: str
    stereotype: str
    groups: tuple[str, ...]  # the answers
    votes: tuple[int, ...]  # people of a hundred that gave each of them

    @property
    def several(self) -> bool:
        """Were the people asked for all groups that fit? Their votes then add up to more than there are people."""
        return len(self.groups) > ONE_OF or sum(self.votes) > RESPONDENTS

    @property
    def survey_id(self) -> str:
        """A hash of what is asked: votes are no part of it."""
        return content_id("bbq survey", self.category, self.stereotype, self.groups, self.several)

    def orders(self, number: int) -> tuple[Order, ...]:
        """So many orders of the answers, or as many as there are: turned by even steps, so that places are shared."""
        size = len(self.groups)
        steps = dict.fromkeys(turn * size // number for turn in range(number))
        return tuple(tuple((place + step) % size for place in range(size)) for step in steps)


def survey_questions(surveys: Iterable[Survey]) -> list[SurveyQuestion]:
    """A question per stereotype."""
    return [_question(one) for one in surveys]


def _question(survey: Survey) -> SurveyQuestion:
    groups = (*(group for group in survey.votes if group != NO_STEREOTYPE), NO_STEREOTYPE)
    votes = tuple(survey.votes.get(group, 0) for group in groups)
    return SurveyQuestion(survey.category.lower(), survey.stereotype, groups, votes)


def some_stereotypes(questions: Sequence[SurveyQuestion], number: int | None, seed: int) -> list[SurveyQuestion]:
    """So many questions, drawn by the seed; of more the fewer ones are a part."""
    if number is None:
        return list(questions)
    drawn = sorted(questions, key=lambda one: content_id("bbq survey draw", seed, one.survey_id))
    chosen = set(drawn[:number])
    return [one for one in questions if one in chosen]
