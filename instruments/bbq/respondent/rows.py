"""What is stored of a model as a respondent: the survey's questions, its answers, and the numbers of both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyculture.cache.layout import Table
from polyculture.instruments.choices.present import present_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.run_folder import RunFolder
    from polyculture.instruments.bbq.respondent.questions import SurveyQuestion


@dataclass(frozen=True, slots=True)
class SurveyQuestionRow:
    """A stereotype of the survey with the people's votes."""

    survey_id: str  # hash of category, stereotype and groups
    category: str
    stereotype: str
    several: bool  # whether all groups that fit were asked for; else one of two
    groups: list[str]  # the answers; 'no_stereo', that there is no such stereotype, is the last
    votes: list[int]  # people of a hundred that gave each of them


@dataclass(frozen=True, slots=True)
class SurveyAnswerRow:
    """What a model said to a question of the survey under one wording, with the answers in one order."""

    answer_id: str  # hash of prompt_id, model, setup, question and order
    prompt_id: str  # hash of all that decides the answer but model and question: wording, decoding
    setup_id: str | None  # hash of which model it is, exactly
    model: str
    language: str  # of the wording; stereotypes and groups are in Korean
    category: str
    survey_id: str
    stereotype: str
    several: bool
    prompt: str  # the name of the wording
    permutation: str  # the survey's answers in the order in which they stood, from 0: '2 0 1'
    choices: list[str]  # as they were shown
    raw: str | None  # the model's answer, as it came
    finish_reason: str | None  # 'length': it was cut off
    reader: str  # 'paper'
    reading: str | None  # the places of what was chosen, from 1, as '2 5'; 'out-of-choice' | 'refusal'
    ground: str | None  # why it is read so
    places: list[int] | None  # what was chosen, as places among the survey's answers, from 0; None where nothing was
    status: str  # 'ok' | 'failed'
    error: str | None  # why it failed, one line
    retryable: bool | None  # of a failure: worth asking again
    prompt_tokens: int | None
    completion_tokens: int | None
    model_version: str | None  # what the engine says it ran
    purchase: str | None  # 'direct' | 'batch'
    note: str | None  # what of the answer was mended or dropped on arrival, as in `responses`
    reader_id: str | None  # hash of the rules by which it was read


@dataclass(frozen=True, slots=True)
class SurveyReadingRow:
    """What newer rules made of a stored answer. Columns as in `SurveyAnswerRow`."""

    reading_id: str  # hash of answer_id, reader and its rules
    answer_id: str
    reader: str
    reading: str
    ground: str | None
    places: list[int] | None
    reader_id: str | None  # hash of the rules by which it was read
    status: str = "ok"  # always: an answer that names no group is read, too


@dataclass(frozen=True, slots=True)
class SurveyNumberRow:
    """A number that holds a model's shares against the people's, with its 95 % interval over stereotypes."""

    model: str
    language: str
    part: str  # 'overall' | 'category'
    name: str | None  # which category; None overall
    metric: str  # 'correlation' | 'distance' | 'no_stereotype'
    estimate: float | None  # None where a correlation has nothing that varies
    low: float | None
    high: float | None
    lacking: str | None  # why there is no number, or no interval
    stereotypes: int  # that have it


SURVEY_QUESTIONS = Table("bbq_survey_questions", SurveyQuestionRow)
SURVEY_ANSWERS = Table("bbq_survey_answers", SurveyAnswerRow, key="answer_id", account="bbq-survey", unit="answers")
SURVEY_READINGS = Table("bbq_survey_readings", SurveyReadingRow, key="reading_id", unit="readings")
SURVEY_NUMBERS = Table("bbq_survey_numbers", SurveyNumberRow)


def present_questions(run: RunFolder, questions: Iterable[SurveyQuestion]) -> dict[Table[Any], pa.Table]:
    """The table to write so that these are the survey's questions of the run; none where they are already."""
    rows = (
        SurveyQuestionRow(one.survey_id, one.category, one.stereotype, one.several, list(one.groups), list(one.votes))
        for one in questions
    )
    return present_rows(run, SURVEY_QUESTIONS, rows)


def places_of(reading: str | None, permutation: Iterable[int]) -> list[int] | None:
    """What a reading names, as places among the survey's answers; None where it names nothing."""
    shown = (reading or "").split()
    if not shown or not all(place.isdecimal() for place in shown):
        return None
    order = list(permutation)
    return sorted(order[int(place) - 1] for place in shown)
