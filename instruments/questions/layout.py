"""The tables of question sets, which of their rows count, and the views on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from polyculture.cache.store.layout import Layer, Layout, Measure, Requests, Table, Wanted
from polyculture.cache.store.schema.asked import Answered, Requested
from polyculture.cache.store.schema.measured import EVERY, WITHOUT, Number
from polyculture.instruments.declared import boards

if TYPE_CHECKING:
    from polyculture.generate.engines.options import Use

ATTENTION: Final = "attention"  # the method that reads how much is attended to each option: no reader reads it
SCORED: Final = "scored"  # the method of items of which another harness gave the scores alone


@dataclass(frozen=True, slots=True)
class AskMethod:
    """A way to ask questions, and what follows from it for whoever asks, compares or shows the answers."""

    use: Use = "answer"  # of the model
    is_sampled: bool = False  # whether other samples would have been other answers
    is_choice: bool = False  # whether a kind of questions can be asked by others, so that tables name it
    column: str = ""  # of a page, with all numbers of the method, which are called by their reader; '': as they are


ASK_METHODS: Mapping[str, AskMethod] = {
    "generated": AskMethod(is_sampled=True),
    "letter": AskMethod("score", is_choice=True),
    "text": AskMethod("score", is_choice=True),
    "sentence": AskMethod("score"),
    "gap": AskMethod("score"),
    ATTENTION: AskMethod("attend", is_choice=True),
    SCORED: AskMethod(is_sampled=True, column="score"),  # whether it is sampled is not kept with a score
}


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question of a set as its files are at present."""

    question_id: str  # hash of set, language, name, texts, options, roles, right, answers
    set: str
    language: str
    kind: str  # 'choice' | 'pair' | 'gap' | 'open'
    name: str  # the publisher's id
    unit: str  # of sampling
    context: str
    text: str
    options: list[str]
    roles: list[str]
    right: list[int]  # indexes of right options
    answers: list[str]  # that an open question accepts
    weights: list[float]  # of each of these: how many people gave it; of a survey of each option
    facets: dict[str, str]
    numbers: list[str]  # the families of numbers of its set: see `model.QuestionSet`


@dataclass(frozen=True, slots=True)
class WantedAnswer(Requested):
    """A request about a question as a model is asked it under a setup; its samples below `n` count."""

    question_id: str  # as in `questions`
    prompt: str  # as in `answers`
    n: int  # samples that are asked
    use: str  # 'answer' of texts, 'score' of likelihoods, 'attend' of attention
    asked_id: str  # hash of the prompt's wording and of how it is asked; of imported answers of the file
    temperature: float | None = None  # None of likelihoods, attention and imported answers
    max_tokens: int | None = None  # of an answer; the same


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow(Answered):
    """What a model said to a question under one prompt, with the options in one order; or the error.

    The topic of its job is set and category. What writes nothing has no `raw`.
    """

    question_id: str  # as in `questions`
    method: str  # 'generated': what it wrote; 'scored'; 'letter', 'text', 'sentence', 'gap': likelihoods; 'attention'
    prompt: str  # name of the prompt
    order: list[int]  # index of the option at each place, as shown
    labels: list[str]  # the label at each place; empty where none was shown
    shown: list[str]  # the text at each place, with the prompt's wording of 'unknown'
    sample: int  # 0 ...: of several answers to one request
    scores: list[float] | None = None  # at each place: sum of the tokens' log-probabilities; or the attention's weight
    tokens: list[float] | None = None  # number of tokens at each place


@dataclass(frozen=True, slots=True)
class ReadingRow:
    """What a reader makes of an answer. Reading is a step of its own, and free: it asks no model."""

    reading_id: str  # hash of answer, reader and its rules
    answer_id: str
    reader: str  # 'ours' | 'publisher' of texts; 'sum', ... of likelihoods; 'exact', ... of open ones; a metric
    reader_id: str  # hash of the reader's rules and of the set
    picked: int | None  # the option's own index, whatever the order; None: no option
    ground: str  # why it is read so: 'letter', 'option', 'several', 'refusal', 'empty', ...
    matched: float | None  # of open questions: how far it matches, 0 to 1
    also: list[int] | None = None  # other options that it picks, of a question that asks for all that fit
    status: str = "ok"


QUESTIONS = Table("questions", QuestionRow, same=("set", "language"))
WANTED_ANSWERS = Table(
    "wanted_answers",
    WantedAnswer,
    requests=Requests("", "questions"),
    same=("request_id", "question_id", "prompt"),
)
ANSWERS = Table(
    "answers",
    AnswerRow,
    key="answer_id",
    stage="ask",
    unit="answers",
    wanted=Wanted("requested_answers", ("question_id", "prompt"), of=WANTED_ANSWERS),
)
READINGS = Table("answer_readings", ReadingRow, key="reading_id", unit="readings")


_OWN = Path(__file__).parent


MEASURE = Measure("questions", (QUESTIONS, WANTED_ANSWERS, ANSWERS, READINGS))
ATTENDED = Measure("attention", MEASURE.tables)
# A row of `numbers` of question sets with nothing in it yet.
EMPTY = Number(
    measure=MEASURE.name, metric="", level="", model="", dataset="", language="", country=EVERY, topic=EVERY,
    condition=WITHOUT, wording=EVERY, method="", reader="", no_wide="the first interval is of other questions",
    unit="unit", units=0, n=0, cells=0, inputs="",
)  # fmt: skip
LAYOUT = Layout(
    (QUESTIONS, WANTED_ANSWERS, ANSWERS, READINGS),
    Layer((QUESTIONS, _OWN / "wanted.sql", _OWN / "readings.sql")),
    Layer(
        (_OWN / "views.sql", _OWN / "board_views.sql", _OWN / "score_views.sql", _OWN / "attention" / "views.sql"),
        boards("question"),
    ),
    (MEASURE, ATTENDED),
)
