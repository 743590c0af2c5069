"""What stood before a question, what a model chose then, and the numbers of a run."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.cache.layout import Table


@dataclass(frozen=True, slots=True)
class RelevanceContextRow:
    """What stands before a question to a model under a condition, or why it is not asked under it."""

    model: str
    dataset: str  # of the questions
    language: str
    question_type: str
    question_id: str
    source_id: str  # BLEnD's id of the question, the same for all targets: the unit of sampling
    target: str
    condition: str  # 'alone' | 'culture' | 'probe' | 'source' | 'other-culture' | 'no-answer'
    draw: int  # from 1
    seed: int | None  # of the draw; NULL where nothing is drawn
    shown_id: str | None  # hash of what is shown; NULL where the question is not asked
    named: str | None  # the culture that is named; NULL: none
    names_target: bool  # the question itself names its culture
    concepts: list[str]  # as they are shown, in order
    repeating: list[str]  # of these, those that repeat the right answer
    echoing: list[str]  # of these, those that repeat the inspection prompt, the culture's name or the question
    origin: str | None  # where the concepts come from: the probe with its data set and filter, or a file with its hash
    from_culture: str | None  # the culture that the concepts are about
    from_question: str | None  # the id of the question that they are about; NULL: several, or not told
    reason: str | None  # why the question is not asked under the condition


@dataclass(frozen=True, slots=True)
class RelevanceAnswerRow:
    """What a model said to a question with something before it. Conditions that show the same share the answer."""

    answer_id: str  # hash of prompt_id, model, setup, question and what is shown
    prompt_id: str  # hash of wordings, method and decoding
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
    question_text: str
    prompt: str  # the name of the wording
    shown_id: str  # hash of what is shown
    shown: str | None  # the lines before the question; NULL: none
    choices: list[str]  # the options as they were shown
    right: int  # index of the right option
    biased: int  # index of the biased option
    raw: str | None  # the model's answer, as it came; None for likelihoods
    scores: list[float] | None  # of likelihoods: log-probability of each option, summed over its tokens
    tokens: list[float] | None  # of likelihoods: the tokens of each option
    unconditional: list[float] | None  # of likelihoods: log-probability of each option after the prompt's last line
    reader: str  # 'words' for texts; 'sum' | 'mean' | 'corrected' for likelihoods
    reading: str | None  # '1' to '4' | 'out-of-choice' | 'refusal'; None where there is no answer
    ground: str | None  # why it is read so, as in `culture_mcq_answers`
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
class RelevanceReadingRow:
    """What another reader made of a stored answer. Columns as in `RelevanceAnswerRow`."""

    reading_id: str  # hash of answer_id, reader and its rules
    answer_id: str
    reader: str
    reading: str
    ground: str | None
    role: str | None
    reader_id: str | None  # hash of the rules by which it was read
    status: str = "ok"  # always: an answer that names no option is read, too


@dataclass(frozen=True, slots=True)
class RelevanceIntervalRow:
    """A share of the answers under a condition, over the questions that all conditions have, with its interval."""

    answer_method: str
    model: str
    dataset: str
    language: str
    reader: str
    prompt: str  # the name of the wording
    question_type: str
    condition: str
    metric: str  # 'accuracy' | 'biased' | 'others' | 'refusal' | 'out_of_choice'
    estimate: float
    low: float | None  # 95 % interval over questions of BLEnD
    high: float | None
    lacking: str | None  # why there is no interval
    questions: int  # of BLEnD, each asked of up to as many targets as there are


@dataclass(frozen=True, slots=True)
class RelevanceGainRow:
    """The accuracy under one condition less that under another, paired within questions that all conditions have."""

    answer_method: str
    model: str
    dataset: str
    language: str
    reader: str
    prompt: str  # the name of the wording
    question_type: str
    condition: str
    over: str  # the condition that it is compared with
    accuracy: float  # under `condition`
    over_accuracy: float  # under `over`
    gain: float  # accuracy - over_accuracy
    low: float | None  # 95 % interval of the gain, over questions of BLEnD
    high: float | None
    lacking: str | None  # why there is no interval
    p: float | None  # two-sided: signs flipped within questions of BLEnD; None where no question differs
    q: float | None  # false discovery rate over all gains of this model, data set, method, reader and wording
    questions: int  # of BLEnD
    asked: int  # questions with their targets


RELEVANCE_CONTEXTS = Table("relevance_contexts", RelevanceContextRow)
RELEVANCE_ANSWERS = Table("relevance_answers", RelevanceAnswerRow, key="answer_id", account="relevance", unit="answers")
RELEVANCE_READINGS = Table("relevance_readings", RelevanceReadingRow, key="reading_id", unit="readings")
RELEVANCE_INTERVALS = Table("relevance_intervals", RelevanceIntervalRow)
RELEVANCE_GAINS = Table("relevance_gains", RelevanceGainRow)
