"""The tables of representations, which of their rows count, and the views on them.

A model's representations of a data set's entities at its layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.layout import Layer, Layout, Table, Wanted, compose
from polyculture.instruments.datasets.layout import DATASETS


@dataclass(frozen=True, slots=True)
class WantedRepresentation:
    """Contexts in whose gaps entities of a comparison stand, as a model reads them now."""

    request_id: str  # as in `representations`
    comparison: str  # hash of all contexts that entities are compared in
    model: str
    setup_id: str  # its vectors count while this is the model's setup
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
class Separation:
    """The separation of native and Western entities of a type at a layer, or its mean over types."""

    model: str
    dataset: str
    language: str
    culture: str
    entity_type: str | None  # None: the mean over types, in which genders of a type count as one
    layer: int  # 0 is what the first layer reads
    contexts: int  # in which entities stood; a vector is the mean over those that its entity fits
    estimate: float | None  # the Davies-Bouldin index; the lower, the further apart
    by_chance: float | None  # the mean index with the cultures of the entities permuted
    p: float | None  # share of permutations with as low an index
    native_entities: int
    western_entities: int
    corrected: float | None = None  # the index of very many such entities; `estimate` is lower by chance
    corrected_low: float | None = None  # 95 % interval of `corrected`, over other entities; None: see `lacking`
    corrected_high: float | None = None  # as `corrected_low`
    gender: str | None = None  # 'female' | 'male', of types whose entities or contexts have one
    form: str | None = None  # 'causal' | 'masked': of the contexts
    setting: str | None = None  # of the contexts
    comparison: str | None = None  # hash of the contexts
    layer_name: str | None = None  # how the layer was asked for: 'first', 'middle', 'last'; None: by number
    contexts_fewest: int | None = None  # of the entity that fits the fewest
    contexts_most: int | None = None  # of the entity that fits the most
    failed: int | None = None  # entities without a vector at a layer that was asked for in these contexts
    types: int | None = None  # of a mean: how many types
    lacking: str | None = None  # why there is no interval: 'few entities', 'not apart' (from one place); or no index


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
    gender: str | None = None  # 'female' | 'male', of types whose entities or contexts have one
    form: str | None = None  # 'causal' | 'masked': of the contexts
    setting: str | None = None  # of the contexts


WANTED_REPRESENTATIONS = Table("wanted_representations", WantedRepresentation)
REPRESENTATIONS = Table(
    "representations",
    Representation,
    key="representation_id",
    unit="vectors",
    wanted=Wanted("wanted_entities", ("model", "language", "topic", "entity_id"), facts=True),
)
SEPARATIONS = Table("separations", Separation)
ENTITY_POSITIONS = Table("entity_positions", EntityPosition)


_OWN = Path(__file__).parent
LAYOUT = compose(
    DATASETS,
    Layout(
        (WANTED_REPRESENTATIONS, REPRESENTATIONS, SEPARATIONS, ENTITY_POSITIONS),
        Layer((_OWN / "wanted.sql",)),
        Layer((_OWN / "views.sql",)),
    ),
)
