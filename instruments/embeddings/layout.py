"""The tables of representations, which of their rows count, and the views on them.

A model's representations of a data set's entities at its layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.store.layout import Layer, Layout, Measure, Requests, Table, Wanted, compose
from polyculture.cache.store.schema.asked import Requested
from polyculture.instruments.datasets.layout import DATASETS


@dataclass(frozen=True, slots=True)
class WantedRepresentation(Requested):
    """Contexts in whose gaps entities of a comparison stand, as a model reads them now."""

    comparison: str  # hash of all contexts that entities are compared in
    topic: str  # as in `representations`
    dataset: str
    language: str
    culture: str  # the native culture of the comparison
    entity_type: str
    form: str  # 'causal' | 'masked': of the contexts
    setting: str  # of the contexts: 'neutral', 'grounded, neutral'
    gender: str | None  # 'female' | 'male': what those contexts ask for; NULL where they ask for none
    context_ids: list[str]  # the contexts of the request, as in `dataset_contexts`


@dataclass(frozen=True, slots=True)
class Representation:
    """What a model holds of an entity at one layer, or the reason why that is not known."""

    representation_id: str  # hash of request, topic, entity and the layer that was asked for
    request_id: str  # hash of what is read but the entity: model, setup, the contexts that the entity fits
    entity_id: str  # as in `dataset_entities`
    model: str
    language: str
    topic: str  # of the job: data set, native culture and type of entities
    asked_layer: str  # 'first', 'middle', 'last', or a number
    status: str  # 'ok' | 'failed'
    error: str | None  # why it failed, one line
    retryable: bool | None  # of a failure: never, as the model would say the same
    layer: int | None  # 0 is what the first layer reads, 1 what it gives, ...
    vector: list[float] | None  # the mean of the hidden states of the entity's tokens, over the contexts
    model_version: str | None  # what the engine says it ran


@dataclass(frozen=True, slots=True)
class EntityPosition:
    """Where an entity stands on the map of its type at the last layer that was asked for."""

    model: str
    dataset: str
    language: str
    culture: str
    entity_type: str
    layer: int  # the last that was asked for
    contexts: int  # in which entities stood
    entity_id: str
    entity: str
    native: bool
    x: float  # t-SNE: what is near was near; distances between groups say nothing
    y: float  # the same
    inputs: str  # as in `numbers`
    gender: str | None = None  # 'female' | 'male', of types whose entities or contexts have one
    form: str | None = None  # 'causal' | 'masked': of the contexts
    setting: str | None = None  # of the contexts


WANTED_REPRESENTATIONS = Table(
    "wanted_representations",
    WantedRepresentation,
    requests=Requests("represent"),
    same=("request_id", "comparison", "topic"),
)
REPRESENTATIONS = Table(
    "representations",
    Representation,
    key="representation_id",
    unit="vectors",
    wanted=Wanted("wanted_entities", ("model", "language", "topic", "entity_id"), True, WANTED_REPRESENTATIONS),
)
ENTITY_POSITIONS = Table("entity_positions", EntityPosition, by_measure=True)
MEASURE = Measure("embeddings", (WANTED_REPRESENTATIONS, REPRESENTATIONS))
_OWN = Path(__file__).parent
LAYOUT = compose(
    DATASETS,
    Layout(
        (WANTED_REPRESENTATIONS, REPRESENTATIONS, ENTITY_POSITIONS),
        Layer((_OWN / "wanted.sql",)),
        Layer((_OWN / "views.sql",)),
        (MEASURE,),
    ),
)
