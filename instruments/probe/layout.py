"""The tables of probes, which of their rows count, and the views on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.store.layout import Layer, Layout, Measure, Requests, Table, Wanted, compose
from polyculture.cache.store.schema.asked import Requested
from polyculture.instruments.cbs.layout import CBS
from polyculture.metrics import METRICS_LAYOUT

_OWN = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class ProbedQuestion:
    """A question about a culture as it is probed at present: openly."""

    question_key: str  # hash of set, culture, language, id and text
    dataset: str
    language: str  # that the question is asked in
    culture: str
    question_id: str  # the unit of its set: the same question about another culture has the same
    topic: str | None
    question: str  # as it is asked
    region: str | None = None  # of the culture
    level: str | None = None  # of resources, of the culture
    neighbours: list[str] | None = None  # the other cultures of its region; of one without a region, those without one


@dataclass(frozen=True, slots=True)
class HumanAnswerRow:
    """What people answered to a question, as its source tells it."""

    question_key: str  # of the question in `probe_questions`
    dataset: str
    place: int  # in the source, from 1
    answer: str  # in one of its spellings
    votes: int  # how many people gave it; 1 where the set does not say


@dataclass(frozen=True, slots=True)
class WantedProbe(Requested):
    """A question as a model is probed with it now, under one arm."""

    question_key: str  # as in `probe_questions`
    arm: str  # what stands in the placeholder's place: see `arms`
    asked_id: str  # hash of the rules of the arm and the language: under others it does not count


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """A question that a model was probed with, under one arm; or the reason why it could not be."""

    probe_id: str  # hash of request and question
    request_id: str  # hash of all that decides it: model, setup, arm, question, texts, rules, decoding
    question_key: str  # of the question in `probe_questions`
    model: str
    language: str  # that the question is asked in
    topic: str  # of the job: data set and culture
    status: str  # 'ok' | 'failed'
    error: str | None
    retryable: bool | None
    answer: str | None  # what the model answered, to `vector_of` where that is another question
    words: list[str] | None  # content words of the answer, whose states are summed
    word_rule: str | None  # how they were told apart
    tokens: int | None  # whose states are summed
    last_token: bool | None  # no content word was found: the states are those of the answer's last token
    layers: int | None  # that the model has
    model_version: str | None  # what the engine says it ran
    vector_of: str | None = None  # the question_key of the question that lent its vector; None: the question itself
    protocol: str = "paper"  # 'paper' | 'released': a layer was replaced alone, or with the two below


@dataclass(frozen=True, slots=True)
class ProbeReadingRow:
    """What a model wrote behind the placeholder, at one layer."""

    probe_id: str  # of the probe in `probes`
    layer: int  # whose state was in the place of the placeholder's, from 1; 0 of the arm 'text'
    text: str
    tokens: int  # that the model wrote
    finish_reason: str  # 'line' | 'stop' | 'length'


@dataclass(frozen=True, slots=True)
class ItemRow:
    """A part of such a text, or a part that is no item, with the reason."""

    probe_id: str  # of the probe in `probes`
    layer: int
    place: int  # in the text, from 0
    item: str  # as the model wrote it
    item_key: str  # folded: NFKC, case, spaces
    rejected: str | None  # why it is no item
    echo: str | None  # 'prompt' | 'culture' | 'question' | 'answer': what it repeats, the first of these


@dataclass(frozen=True, slots=True)
class SimilarityRow:
    """The cosine similarity of an item with the question, with culture and topic, and with other cultures' names.

    It is that of the last answers.
    """

    dataset: str
    language: str
    culture: str
    question_id: str
    item_key: str
    encoder: str  # the sentence encoder that compared them
    similarity: float
    topic_similarity: float
    neighbour_similarity: float | None  # the highest with another culture of the region; NULL: there is none


@dataclass(frozen=True, slots=True)
class ItemLink:
    """The Wikidata item that an item of layers means, or the reason why there is none."""

    language: str  # that the questions are asked in
    question_topic: str  # of the questions, as their table has it
    item_key: str
    item: str  # as models write it most often; what was looked up
    topic: str  # as which it was linked: of several, the first under which it is found, else the first
    kind: str
    status: str  # 'linked' | 'ambiguous' | 'no candidate' | 'no path'
    qid: str | None  # set when linked or ambiguous
    match: str | None  # how alike the item's name is: 'exact' | 'normalised' | 'key'


PROBE_QUESTIONS = Table("probe_questions", ProbedQuestion, same=("dataset",))
PROBE_HUMAN_ANSWERS = Table("probe_human_answers", HumanAnswerRow, same=("dataset",))
PROBE_READINGS = Table("probe_readings", ProbeReadingRow, commit="probes")
PROBE_ITEMS = Table("probe_items", ItemRow, commit="probes")
WANTED_PROBES = Table(
    "wanted_probes",
    WantedProbe,
    requests=Requests("patch", "probe"),
    same=("question_key", "model", "arm"),
)
PROBES = Table(
    "probes",
    ProbeRow,
    key="probe_id",
    unit="probes",
    wanted=Wanted("probed_questions", ("question_key", "model", "language"), True, WANTED_PROBES),
)
PROBE_SIMILARITIES = Table("probe_similarities", SimilarityRow)
PROBE_LINKS = Table("probe_links", ItemLink)
MEASURE = Measure("probe", (PROBE_QUESTIONS, WANTED_PROBES, PROBES, PROBE_ITEMS, PROBE_SIMILARITIES))
PROBE = Layout(
    (
        PROBE_QUESTIONS,
        PROBE_HUMAN_ANSWERS,
        PROBE_READINGS,
        PROBE_ITEMS,
        WANTED_PROBES,
        PROBES,
        PROBE_SIMILARITIES,
        PROBE_LINKS,
    ),
    Layer((PROBE_QUESTIONS, PROBE_SIMILARITIES, PROBE_LINKS, _OWN / "wanted.sql", _OWN / "counted.sql")),
    Layer((_OWN / "views.sql",)),
    (MEASURE,),
)
# What is generated and scored stands beside: views over texts and Cultural Bias Scores, too.
LAYOUT = compose(METRICS_LAYOUT, CBS, PROBE, Layout(views=Layer((_OWN / "together.sql",))))
