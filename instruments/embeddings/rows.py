"""A model's representations of a data set's entities at its layers."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.cache.layout import Table


@dataclass(frozen=True, slots=True)
class Representation:
    """What a model holds of an entity at one layer, or the reason why that is not known."""

    representation_id: str  # hash of model, setup, contexts, entity and the layer that was asked for
    model: str
    dataset: str
    language: str
    culture: str  # the native culture of the comparison
    entity_type: str
    entity_id: str
    entity: str
    entity_culture: str
    native: bool
    contexts: int  # in whose gaps the entity stood; the vector is the mean over them
    asked_layer: str  # 'first', 'middle', 'last', or a number
    status: str  # 'ok' | 'failed'
    error: str | None  # why it failed, one line
    layer: int | None  # 0 is what the first layer reads, 1 what it gives, ...
    vector: list[float] | None  # the mean of the hidden states of the entity's tokens
    model_version: str | None  # what the engine says it ran
    setup_id: str | None = None  # hash of which model it is, exactly, and of the options that decide its states


@dataclass(frozen=True, slots=True)
class Separation:
    """The separation of native and Western entities of a type at a layer: the Davies-Bouldin index."""

    model: str
    dataset: str
    language: str
    culture: str
    entity_type: str
    layer: int  # 0 is what the first layer reads
    contexts: int  # that a vector is the mean over
    estimate: float  # the index; the lower, the further apart
    low: float | None  # None where there is too little to say
    high: float | None
    by_chance: float  # the mean index with the cultures of the entities permuted
    p: float  # share of permutations with as low an index
    native_entities: int
    western_entities: int


@dataclass(frozen=True, slots=True)
class EntityPosition:
    """Where an entity stands on the map of its type at the last layer that was asked for."""

    model: str
    dataset: str
    language: str
    culture: str
    entity_type: str
    layer: int  # the last that was asked for
    contexts: int  # that a vector is the mean over
    entity_id: str
    entity: str
    native: bool
    x: float  # t-SNE: what is near was near; distances between groups say nothing
    y: float  # the same


REPRESENTATIONS = Table("representations", Representation, key="representation_id", unit="vectors")
SEPARATIONS = Table("separations", Separation)
ENTITY_POSITIONS = Table("entity_positions", EntityPosition)
