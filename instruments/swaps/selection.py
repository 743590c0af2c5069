"""Which entities are put into which contexts.

The papers' protocol: 50 texts of each culture for each context, three times over in Camellia, five times in CAMeL.
Draw d takes the entities with the least hash of seed, d, context and entity, so that it is the same on every machine,
and a larger one holds the smaller. Where a side has fewer than 50 and sides are equal, as in both papers, it takes them
again, in the same order, until there are 50 texts: a text is asked about once, and counts as often as it is taken.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import nsmallest
from typing import NamedTuple

import orjson

from polyculture.cache.errors import DataSetError
from polyculture.cache.log import Tell
from polyculture.instruments.datasets.load import QA
from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext, gold_label
from polyculture.instruments.datasets.selection import DataSelection, chosen_contexts, untold

FORM = "masked"  # of the contexts that are asked about: whole texts
DrawnEntity = tuple[CulturalEntity, Mapping[int, int]]  # an entity, and how often each draw takes it


@dataclass(frozen=True, slots=True)
class DrawOptions:
    """How entities are drawn for each context."""

    entities: int = 50  # of each culture; one with fewer gives all it has
    draws: int = 3
    seed: int = 1
    equal_sides: bool = False  # one with fewer gives them again, until there are as many texts


@dataclass(frozen=True, slots=True)
class SwapTexts:
    """The texts of a type of one native culture in a language: contexts, and the entities inserted into each."""

    language: str
    entity_type: str
    topic: str  # of their jobs: task, data set, culture and type
    drawn: Sequence[tuple[MaskedContext, Sequence[DrawnEntity]]]


def swap_texts(
    dataset: DataSet, task: str, selection: DataSelection, draws: DrawOptions, *, tell: Tell = untold
) -> list[SwapTexts]:
    """The texts per language, native culture and type. Raises `DataSetError` where nothing is there to ask.

    A context that no entity of one of its cultures fits is out: `tell` gets a line about them.
    """
    chosen = chosen_contexts(_fit(dataset, task), _with_setting(selection, task), tell)
    return [
        SwapTexts(
            language,
            kind,
            f"{task}-{dataset.name}-{culture}-{kind}".lower(),
            list(_drawn_into(dataset, contexts, draws)),
        )
        for (language, culture, kind), contexts in chosen
    ]


def _fit(dataset: DataSet, task: str) -> DataSet:
    """The data set without the contexts that the task has no right answer for."""
    if task != "sentiment":
        return dataset
    told = tuple(context for context in dataset.contexts if gold_label(context) is not None)
    if not told:
        what = "no context has a sentiment: positive, negative or neutral"
        raise DataSetError(what, where=dataset.folder, remedy="Add the column sentiment: see docs/datasets.md.")
    return replace(dataset, every_context=told)


def _with_setting(selection: DataSelection, task: str) -> DataSelection:
    whole = replace(selection, form=FORM)
    return replace(whole, settings=(QA,)) if task == "qa" and not selection.settings else whole


def _drawn_into(
    dataset: DataSet, contexts: Sequence[MaskedContext], draws: DrawOptions
) -> Iterator[tuple[MaskedContext, Sequence[DrawnEntity]]]:
    """Contexts, each with the entities of all draws."""
    sides: dict[tuple[str | None, ...], list[_DrawnCulture]] = {}  # hundreds of contexts ask for the same
    for context in contexts:
        kind = context.gender, context.source_language
        if kind not in sides:
            sides[kind] = _sides(dataset.fitting(context), context.chooser)
        yield context, _drawn(context, dataset.fitting(context), sides[kind], draws)


class _DrawnCulture(NamedTuple):
    """The entities of one culture: their positions among all that fit, and what they are drawn by."""

    positions: tuple[int, ...]
    ranks: tuple[bytes, ...]  # the end of what is hashed


def _sides(entities: Sequence[CulturalEntity], language: str) -> list[_DrawnCulture]:
    cultures: dict[str, list[int]] = {}
    for position, entity in enumerate(entities):
        cultures.setdefault(entity.culture, []).append(position)
    return [
        _DrawnCulture(tuple(own), tuple(orjson.dumps(entities[one].rank(language)) + b"]" for one in own))
        for own in cultures.values()
    ]


def _drawn(
    context: MaskedContext, entities: Sequence[CulturalEntity], sides: Sequence[_DrawnCulture], draws: DrawOptions
) -> list[DrawnEntity]:
    """The entities of all draws, each with the draws that contain it."""
    found: dict[int, dict[int, int]] = {}
    chosen_by = context.source_context_id or context.context_id
    for draw in range(draws.draws):
        for side in sides:
            least: Sequence[int] = range(len(side.ranks))
            if len(least) > draws.entities or draws.equal_sides:  # else all are taken, in whatever order
                least = _least(draws.entities, draws.seed, draw, chosen_by, side.ranks)
            rounds, more = divmod(draws.entities, len(side.ranks))
            for number, own in enumerate(least):
                times = rounds + (number < more) if draws.equal_sides and rounds else 1
                found.setdefault(side.positions[own], {})[draw] = times
    return [(entities[position], found[position]) for position in sorted(found)]


@lru_cache(maxsize=2**16)  # millions of hashes: a plan draws twice, and tasks share their contexts
def _least(size: int, seed: int, draw: int, chosen_by: str, ranks: tuple[bytes, ...]) -> list[int]:
    """The numbers of the ranks with the least hashes, that first."""
    # `content_id(seed, draw, chosen_by, rank)`, of which the same beginning is hashed once: a quarter of the time.
    start = hashlib.blake2b(orjson.dumps([seed, draw, chosen_by])[:-1] + b",", digest_size=12)
    hashes = []
    for rank in ranks:
        one = start.copy()
        one.update(rank)
        hashes.append(one.digest())
    return nsmallest(size, range(len(ranks)), key=hashes.__getitem__)
