"""The tables of the Cultural Bias Score, which of their rows count, and the views on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.store.layout import Layer, Layout, Measure, Requests, Table, Wanted, compose
from polyculture.cache.store.schema.asked import Requested
from polyculture.instruments.datasets.layout import DATASETS
from polyculture.instruments.declared import boards

CORPUS = "ngram:"  # how the names of a corpus' models begin


@dataclass(frozen=True, slots=True)
class WantedScore(Requested):
    """A context of a data set as a model is asked it under a setup."""

    topic: str  # as in `scores`
    context_id: str  # as in `dataset_contexts`
    entities: int  # how many were asked in it; of several commands the most


@dataclass(frozen=True, slots=True)
class Score:
    """The log-probability of one entity in the gap of one context, or the error."""

    score_id: str  # hash of request, topic and entity
    request_id: str  # hash of what was sent but the entity: model, setup, the text on both sides of the gap
    entity_id: str  # as in `dataset_entities`
    model: str
    language: str  # of the context: a code of the data set's
    topic: str  # of the job: data set, native culture and type of entities
    status: str  # 'ok' | 'failed'
    error: str | None  # why it failed, one line
    retryable: bool | None  # of a failure: worth asking again
    log_probability: float | None  # natural logarithm, the sum over the entity's tokens
    tokens: int | None  # tokens of the entity
    token_log_probabilities: list[float] | None  # of each of them
    token_boundary: str | None  # between context and entity: 'clean' | 'moved space' | 'merged' | 'resplit'
    prompt_tokens: int | None  # that a server counted for it; None where the model ran in this process
    completion_tokens: int | None
    purchase: str | None  # 'direct': a server was asked; None where the model ran in this process, or another run asked
    model_version: str | None  # what the engine says it ran
    note: str | None = None  # what of the answer was dropped on arrival: impossible counts
    masked: bool | None = None  # by a masked model, which reads both sides of the gap
    named_cost: float | None = None  # what the server said that the score costs; None where it named no money


@dataclass(frozen=True, slots=True)
class CulturalLink:
    """The Wikidata item that an entity of a data set means, or the reason why there is none."""

    language: str  # of the data set, and one of the catalogue's
    entity_type: str  # as the data set has it
    entity: str
    topic: str  # as which it was linked
    kind: str
    status: str  # 'linked' | 'ambiguous' | 'no candidate' | 'no path'
    qid: str | None  # set when linked or ambiguous
    match: str | None  # how alike the item's name is: 'exact' | 'normalised' | 'key'


WANTED_SCORES = Table(
    "wanted_scores",
    WantedScore,
    requests=Requests("score", brought=f"starts_with(w.model, '{CORPUS}')"),
    same=("request_id", "topic", "context_id"),
)
SCORES = Table(
    "scores",
    Score,
    key="score_id",
    stage="score",
    unit="scores",
    wanted=Wanted("wanted_pairs", ("model", "topic", "entity_id"), facts=True, of=WANTED_SCORES),
)
CULTURAL_LINKS = Table("cultural_links", CulturalLink)


_OWN = Path(__file__).parent
MEASURE = Measure("cbs", (SCORES,))
CBS = compose(
    DATASETS,
    Layout(
        (WANTED_SCORES, SCORES, CULTURAL_LINKS),
        Layer((_OWN / "wanted.sql",)),
        Layer((CULTURAL_LINKS, _OWN / "views.sql", _OWN / "entity_tokens.sql"), boards("cbs")),
        (MEASURE,),
    ),
)
LAYOUT = CBS
