"""What a model chose among the four options of a question, and how that was read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyculture.cache.identity import content_id
from polyculture.cache.layout import Table
from polyculture.instruments.choices.present import present_rows
from polyculture.instruments.culture_mcq.model import McqQuestion

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.run_folder import RunFolder

RIGHT, BIASED, OTHER = "right", "biased", "other"  # what an option is
OUT_OF_CHOICE, REFUSAL = "out-of-choice", "refusal"  # readings that name no option; '1' to '4' name one
LANGUAGE = "en"  # of questions and options: the options of other cultures are in English alone


@dataclass(frozen=True, slots=True)
class McqQuestionRow:
    """A question of a data set, with its options in the order in which they are shown."""

    question_id: str  # hash of data set, type, target, texts, and what each option is
    dataset: str  # 'culturescope' the study's sheets, 'blend' or 'blend-strict' built from BLEnD
    language: str  # of the texts: 'en'
    question_type: str  # 'resource' | 'region': where the wrong options are from
    source_id: str  # BLEnD's id of the question, the same for all targets: the unit of sampling
    target: str  # the culture that is asked about
    target_level: str  # its resource level
    target_region: str
    question_text: str
    choices: list[str]  # the options
    choice_countries: list[str]  # whose answer each option is
    choice_groups: list[str]  # the level or the region of each of these, by the type
    right: int  # index of the right option
    biased: int  # index of the option of the highest level, or of the target's region, other than the target's
    tied: int  # answers of the target with as many votes as the right one, itself included
    also_given: list[str] | None  # wrong options that the target's annotators gave as well; NULL where not known


@dataclass(frozen=True, slots=True)
class McqAnswerRow:
    """What a model said to a question, with the options as they were shown."""

    answer_id: str  # hash of prompt_id, model, setup and question
    prompt_id: str  # hash of all that decides the answer but model and question: wording, method, decoding
    setup_id: str | None  # hash of which model it is, exactly
    answer_method: str  # 'generated' | 'text': the likelihood of the option's text
    model: str
    dataset: str
    language: str
    question_type: str
    question_id: str
    source_id: str
    target: str
    target_level: str
    target_region: str
    prompt: str  # the name of the wording
    choices: list[str]  # the options as they were shown
    right: int  # index of the right option
    biased: int  # index of the biased option
    raw: str | None  # the model's answer, as it came; None for likelihoods
    scores: list[float] | None  # of likelihoods: log-probability of each option, summed over its tokens
    tokens: list[float] | None  # of likelihoods: the tokens of each option
    unconditional: list[float] | None  # of likelihoods: log-probability of each option after the prompt's last line
    reader: str  # 'words' for texts; 'sum' | 'mean' | 'corrected' for likelihoods
    reading: str | None  # '1' to '4' | 'out-of-choice' | 'refusal'; None where there is no answer
    ground: str | None  # why it is read so: see `reading.Ground`
    role: str | None  # of the chosen option: 'right' | 'biased' | 'other'; None where none was chosen
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
class McqReadingRow:
    """What another reader made of a stored answer. Columns as in `McqAnswerRow`, which holds the first reader's."""

    reading_id: str  # hash of answer_id, reader and its rules
    answer_id: str
    reader: str
    reading: str
    ground: str | None
    role: str | None
    reader_id: str | None  # hash of the rules by which it was read
    status: str = "ok"  # always: an answer that names no option is read, too


@dataclass(frozen=True, slots=True)
class McqIntervalRow:
    """A share of the answers of a part of the questions, with its 95 % interval over questions."""

    answer_method: str
    model: str
    dataset: str
    language: str
    reader: str
    prompt: str  # the name of the wording
    question_type: str
    part: str  # 'overall' | 'level' | 'target' | 'also given'
    name: str | None  # which level or target, or what of also given: 'yes', 'no', 'not known'; None overall
    metric: str  # 'accuracy' | 'biased' | 'others' | 'refusal' | 'out_of_choice'
    estimate: float
    low: float | None
    high: float | None
    lacking: str | None  # why there is no interval
    questions: int  # of BLEnD, each asked of up to as many targets as there are


@dataclass(frozen=True, slots=True)
class McqTestRow:
    """A one-sided test of a hypothesis of the study, as the study does it, or a sound one beside."""

    answer_method: str
    model: str
    dataset: str
    language: str
    reader: str
    prompt: str  # the name of the wording
    question_type: str
    kind: str  # 'paper' | 'sound'
    hypothesis: str  # 'H1' accuracy, 'H2' biased against others, 'H3' biased
    test: str  # how: 'z, pooled', 'jackknife over questions', 'exact binomial'
    comparison: str  # as 'all > low'
    first: float  # share of the first group
    second: float  # share of the second, or what chance would give
    first_size: int  # answers of the first group
    second_size: int | None  # answers of the second; None where it is no group
    statistic: float | None  # z or t; None of the binomial test, and where nothing varies
    p: float | None  # one-sided; None where nothing varies
    q: float | None  # false discovery rate over all tests of this kind, model, data set, method, reader and wording
    note: str | None  # why there is no p, or what is wrong with the test


MCQ_QUESTIONS = Table("culture_mcq_questions", McqQuestionRow)
MCQ_ANSWERS = Table("culture_mcq_answers", McqAnswerRow, key="answer_id", account="culture-mcq", unit="answers")
MCQ_READINGS = Table("culture_mcq_readings", McqReadingRow, key="reading_id", unit="readings")
MCQ_INTERVALS = Table("culture_mcq_intervals", McqIntervalRow)
MCQ_TESTS = Table("culture_mcq_tests", McqTestRow)


def role_of(reading: str | None, right: int, biased: int) -> str | None:
    """What the option is that a reading names; None where it names none."""
    if reading is None or not reading.isdecimal():
        return None
    chosen = int(reading) - 1
    return RIGHT if chosen == right else BIASED if chosen == biased else OTHER


def question_id(dataset: str, question: McqQuestion) -> str:
    """A hash of all that makes a question and the meaning of its options."""
    options = [(one.text, one.country, one.group) for one in question.options]
    return content_id(
        "culture mcq question", dataset, *question.key, question.target_level, question.target_region, question.text,
        options, question.right, question.biased,
    )  # fmt: skip


def present_questions(run: RunFolder, dataset: str, questions: Iterable[McqQuestion]) -> dict[Table[Any], pa.Table]:
    """The table to write so that these are the run's questions of `dataset`; none where they are already.

    Other data sets of the run stay.
    """
    return present_rows(run, MCQ_QUESTIONS, (_row(dataset, question) for question in questions), dataset)


def _row(dataset: str, question: McqQuestion) -> McqQuestionRow:
    options, also = question.options, question.also_given
    return McqQuestionRow(
        question_id=question_id(dataset, question),
        dataset=dataset,
        language=LANGUAGE,
        question_type=question.question_type,
        source_id=question.source_id,
        target=question.target,
        target_level=question.target_level,
        target_region=question.target_region,
        question_text=question.text,
        choices=[one.text for one in options],
        choice_countries=[one.country for one in options],
        choice_groups=[one.group for one in options],
        right=question.right,
        biased=question.biased,
        tied=question.tied,
        also_given=None if also is None else [options[place].text for place in also],
    )
