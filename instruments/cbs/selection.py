"""The scoring jobs of a selection of contexts and entities, and the tables that say what is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import Any

import pyarrow as pa

from polyculture.cache.layout import Table
from polyculture.cache.manifest import setup_id
from polyculture.cache.parquet import present_rows, read_rows
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.instruments.cbs.camel_draws import CamelDraws
from polyculture.instruments.cbs.context_prompts import ContextEntities, PrefixOptions, with_prefixes
from polyculture.instruments.cbs.empty_context import NOTHING, with_empty
from polyculture.instruments.cbs.rows import WANTED_SCORES, WantedScore
from polyculture.instruments.cbs.step import ScoringJob
from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext
from polyculture.instruments.datasets.present import present_tables
from polyculture.instruments.datasets.selection import (
    ContextGroup,
    Selection,
    Tell,
    chosen_contexts,
    first_entities,
    untold,
)

PLAIN = PrefixOptions()
_KEY = ("request_id", "topic", "context_id")  # of what is wanted


def scoring_jobs(
    dataset: DataSet,
    model: str,
    selection: Selection,
    prefixes: PrefixOptions = PLAIN,
    setup: Mapping[str, Any] | None = None,
    drawing: CamelDraws | None = None,
    *,
    empty: bool = False,
    tell: Tell = untold,
) -> list[ScoringJob]:
    """A job per language, native culture and type. Raises `DataSetError` where there is nothing to ask.

    With `drawing` only the entities that it takes are asked; with `empty` each of them also where nothing precedes it.
    A context that no entity of one of its cultures fits is out, never a score of 0: `tell` gets a line about them.
    """

    def asked(context: MaskedContext) -> list[CulturalEntity]:
        fitting = dataset.fitting(context)
        return (
            drawing.taken(context, fitting) if drawing else first_entities(fitting, selection.entities, context.chooser)
        )

    chosen = chosen_contexts(dataset, selection, tell)
    return [
        _job(dataset, model, setup or {}, unit, [(c, asked(c)) for c in contexts], prefixes, empty)
        for unit, contexts in chosen
    ]


def prefixed_contexts(dataset: DataSet, jobs: Sequence[ScoringJob], prefixes: PrefixOptions) -> list[MaskedContext]:
    """The contexts of the jobs with each kind of prefix, for all entities; and the empty ones."""
    empty = {c.context_id: c for job in jobs for c, _ in job.asked if c.context_prefix == NOTHING}
    plain = {context.context_id: context for job in jobs for context, _ in job.asked if context.context_prefix is None}
    return [
        *empty.values(),
        *(
            context
            for one in plain.values()
            for context, _ in with_prefixes(dataset, one, dataset.fitting(one), prefixes)
        ),
    ]


def asked_tables(
    run: RunFolder, dataset: DataSet, jobs: Sequence[ScoringJob], prefixes: PrefixOptions = PLAIN
) -> dict[Table[Any], pa.Table]:
    """The tables to write before the jobs are asked: the data set as it is now, and which requests are wanted.

    None where they say so already. What was wanted before is still, e.g. after a command that asks fewer contexts.
    """
    before = _entities_before(run)
    wanted = sorted({row for job in jobs for row in _wanted(job, before)}, key=astuple)
    return {
        **present_tables(run, dataset, prefixed_contexts(dataset, jobs, prefixes)),
        **present_rows(run, WANTED_SCORES, wanted, _KEY),
    }


def _wanted(asked: ScoringJob, before: Mapping[tuple[str, ...], int]) -> Iterator[WantedScore]:
    setup, job = setup_id(asked.setup), asked.job
    for context, entities in asked.asked:
        key = asked.request_id(context), job.topic, context.context_id
        size = max(len(entities), before.get(key, 0))
        yield WantedScore(key[0], job.model, setup, job.topic, context.context_id, size)


def _entities_before(run: RunFolder) -> dict[tuple[str, ...], int]:
    """How many entities a run's contexts were asked with: who was killed in the midst of many has begun them all."""
    path = run.table(WANTED_SCORES.name)
    if not path.exists():
        return {}
    rows = read_rows(path, WANTED_SCORES)
    return dict(
        zip(zip(*(rows[name].to_pylist() for name in _KEY), strict=True), rows["entities"].to_pylist(), strict=True)
    )


def _job(
    dataset: DataSet,
    model: str,
    setup: Mapping[str, Any],
    unit: ContextGroup,
    plain: Sequence[ContextEntities],
    prefixes: PrefixOptions,
    empty: bool,
) -> ScoringJob:
    language, culture, kind = unit
    asked = [
        *(with_empty(dataset, plain) if empty else ()),
        *plain,
        *(more for context, entities in plain for more in with_prefixes(dataset, context, entities, prefixes)),
    ]
    return ScoringJob(Job(model, language, f"{dataset.name}-{culture}-{kind}".lower()), asked, setup)
