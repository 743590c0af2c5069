"""The step that scores, and its jobs: contexts and entities in, log-probabilities in the store out.

A job is a model, a language, and one type of one native culture of a data set. Its unit of work is one entity in one
text, so that a run over a few entities can be extended to all. A request is the model, its setup and the text on both
sides of the gap: contexts of one text share its scores. What else is known of context and entity stands in the tables
of the data set.

`scoring_jobs` makes the jobs of a selection, `asked_tables` the tables that say what is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import pyarrow as pa

from polyculture.cache.identity import content_id
from polyculture.cache.log import Tell
from polyculture.cache.store.layout import Table
from polyculture.cache.store.parquet import present_rows, read_rows
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.work.worker import Done, Load, StoredRows, Work
from polyculture.generate.engines import SCORING, Scored, ScoreRequest
from polyculture.generate.engines.base import SCORE_TOKENS
from polyculture.generate.engines.models import Models
from polyculture.generate.request import request_id
from polyculture.instruments.cbs.camel_draws import CamelDraws
from polyculture.instruments.cbs.context_prompts import ContextEntities, PrefixOptions, with_prefixes
from polyculture.instruments.cbs.layout import SCORES, WANTED_SCORES, Score, WantedScore
from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext
from polyculture.instruments.datasets.present import present_tables
from polyculture.instruments.datasets.selection import (
    ContextGroup,
    DataSelection,
    chosen_contexts,
    first_entities,
    untold,
    without_the_form,
)
from polyculture.instruments.model_job import ModelJob
from polyculture.instruments.row_step import AnswerStep, score_columns


@dataclass(frozen=True)
class ScoringJob(ModelJob["ScoredPair"]):
    """One job: contexts, and the entities that compete for the gap of each."""

    job: Job
    asked: Sequence[tuple[MaskedContext, Sequence[CulturalEntity]]]
    setup: Mapping[str, Any] = field(default_factory=dict)  # of the model, for scores

    @property
    def size(self) -> int:
        return sum(len(entities) for _, entities in self._texts)

    @property
    def prompt_count(self) -> int:
        """How many texts have a gap that entities compete for."""
        return len(self._texts)

    def asks(self) -> Iterator[ScoredPair]:
        """Every entity in every text, text by text."""
        for context, entities in self._texts:
            request = self.request_id(context)
            for entity in entities:
                yield ScoredPair(request, self.job, context, entity)

    def loads(self) -> Iterator[Load]:
        """What all of it takes: a context is read once for each of its entities."""
        for context, entities in self._texts:
            surfaces = " ".join(entity.surface for entity in entities)
            yield Load(context.sides, SCORE_TOKENS, len(entities), surfaces, chat=False)

    def wanted(self) -> Iterator[WantedScore]:
        """A row for each context, with the number of entities that are asked in it."""
        job = self.job
        for context, entities in self.asked:
            context_id, request = context.context_id, self.request_id(context)
            yield WantedScore(request, job.model, self.setup_id, job.topic, context_id, len(entities))

    def request_id(self, context: MaskedContext) -> str:
        """The identity of a context as the model is sent it."""
        return request_id("score", self.job.model, self.setup, [context.prefix, context.suffix])

    @cached_property
    def _texts(self) -> list[tuple[MaskedContext, Sequence[CulturalEntity]]]:
        """Each text once, by the first context that has it, with the entities of all of them."""
        alike: dict[str, list[tuple[MaskedContext, Sequence[CulturalEntity]]]] = {}
        for context, entities in self.asked:
            alike.setdefault(context.text, []).append((context, entities))
        return [(same[0][0], same[0][1] if len(same) == 1 else _united(same)) for same in alike.values()]


def _united(asked: Sequence[tuple[MaskedContext, Sequence[CulturalEntity]]]) -> list[CulturalEntity]:
    return list({entity.entity_id: entity for _, entities in asked for entity in entities}.values())


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """An entity in the gap of a text, and the request that it is scored by."""

    request_id: str
    job: Job
    context: MaskedContext  # one of those that have the text
    entity: CulturalEntity

    @property
    def entity_id(self) -> str:
        return self.entity.entity_id

    @property
    def score_id(self) -> str:
        """With the job: contexts of two cultures may have one text, and each job keeps its own rows."""
        return content_id(self.request_id, self.job.topic, self.entity_id)

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.score_id,)


class ScoringStep(AnswerStep[ScoredPair, ScoringJob]):
    """Scores entities in contexts by the models of their jobs. A failure is a row with its reason."""

    name = "score"
    use = "score"
    tables = (SCORES,)

    def ask(
        self, work: Work[ScoredPair], items: Iterator[ScoredPair], models: Models, kept: StoredRows
    ) -> Iterator[Done]:
        """A row per pair, as the scores come."""
        waiting: dict[str, list[ScoredPair]] = {}
        for scored in models.open(SCORING).score(_requests(items, waiting)):
            yield Done((self.score_row(waiting[scored.request_id][scored.index], scored),))

    def score_row(self, pair: ScoredPair, scored: Scored) -> Score:
        """The row of `scores` that a scored continuation becomes."""
        values = [token.log_probability for token in scored.tokens]
        row: Score = self.row(
            pair.job, pair, **score_columns([scored]), log_probability=scored.total, tokens=len(values) or None,
            token_log_probabilities=values or None, token_boundary=scored.boundary,
            masked=None if scored.error else scored.masked,
        )  # fmt: skip
        return row

    def loads(self, work: Work[ScoredPair], items: Iterable[ScoredPair]) -> Iterator[Load]:
        """A score takes the context and the entity as input. A model in this process writes nothing for it."""
        return (Load(one.context.sides, SCORE_TOKENS, 1, one.entity.surface, chat=False) for one in items)


def _requests(items: Iterator[ScoredPair], waiting: dict[str, list[ScoredPair]]) -> Iterator[ScoreRequest]:
    """A request per run of pairs of one text, numbered: what failed before comes last, and its text then once more."""
    for number, (_, group) in enumerate(groupby(items, key=lambda pair: pair.request_id)):
        pairs = list(group)
        waiting[str(number)] = pairs
        context, surfaces = pairs[0].context, tuple(pair.entity.surface for pair in pairs)
        yield ScoreRequest(str(number), context.prefix, surfaces, context.suffix)


PLAIN = PrefixOptions()


def scoring_jobs(
    dataset: DataSet,
    model: str,
    selection: DataSelection,
    prefixes: PrefixOptions = PLAIN,
    setup: Mapping[str, Any] | None = None,
    drawing: CamelDraws | None = None,
    *,
    tell: Tell = untold,
) -> list[ScoringJob]:
    """A job per language, native culture and type. Raises `DataSetError` where there is nothing to ask.

    With `drawing` only the entities that it takes are asked. A context that no entity of one of its cultures fits is
    out, never a score of 0: `tell` gets a line about them.
    """

    def asked(context: MaskedContext) -> list[CulturalEntity]:
        fitting = dataset.fitting(context)
        return (
            drawing.taken(context, fitting) if drawing else first_entities(fitting, selection.entities, context.chooser)
        )

    chosen = chosen_contexts(dataset, selection, tell)
    if others := without_the_form(dataset, selection):
        what = f"no {selection.form} context is {' or '.join(others)}"
        tell(f"{dataset.name}: {what}: there are some of another form alone")
    return [
        _job(dataset, model, setup or {}, unit, [(c, asked(c)) for c in contexts], prefixes)
        for unit, contexts in chosen
    ]


def prefixed_contexts(dataset: DataSet, jobs: Sequence[ScoringJob], prefixes: PrefixOptions) -> list[MaskedContext]:
    """The contexts of the jobs with each kind of prefix, for all entities."""
    plain = {context.context_id: context for job in jobs for context, _ in job.asked if context.context_prefix is None}
    return [
        context for one in plain.values() for context, _ in with_prefixes(dataset, one, dataset.fitting(one), prefixes)
    ]


def asked_tables(
    run: RunFolder, dataset: DataSet, jobs: Sequence[ScoringJob], prefixes: PrefixOptions = PLAIN
) -> dict[Table[Any], pa.Table]:
    """The tables to write before the jobs are asked: the data set as it is now, and which requests are wanted.

    None where they say so already. What was wanted before is still, e.g. after a command that asks fewer contexts; a
    context that was asked with more entities is still asked with these.
    """
    before = _entities_before(run)
    rows = (row for job in jobs for row in job.wanted())
    most = {replace(row, entities=max(row.entities, before.get(_key(row), 0))) for row in rows}
    return {
        **present_tables(run, dataset, prefixed_contexts(dataset, jobs, prefixes)),
        **present_rows(run, WANTED_SCORES, sorted(most, key=astuple)),
    }


def _key(row: WantedScore) -> tuple[str, ...]:
    return row.request_id, row.topic, row.context_id


def _entities_before(run: RunFolder) -> dict[tuple[str, ...], int]:
    """How many entities a run's contexts were asked with: who was killed in the midst of many has begun them all."""
    path = run.table(WANTED_SCORES.name)
    if not path.exists():
        return {}
    rows = read_rows(path, WANTED_SCORES)
    return dict(
        zip(
            zip(*(rows[name].to_pylist() for name in WANTED_SCORES.same), strict=True),
            rows["entities"].to_pylist(),
            strict=True,
        )
    )


def _job(
    dataset: DataSet,
    model: str,
    setup: Mapping[str, Any],
    unit: ContextGroup,
    plain: Sequence[ContextEntities],
    prefixes: PrefixOptions,
) -> ScoringJob:
    language, culture, kind = unit
    asked = [
        *plain,
        *(more for context, entities in plain for more in with_prefixes(dataset, context, entities, prefixes)),
    ]
    return ScoringJob(Job(model, language, f"{dataset.name}-{culture}-{kind}".lower()), asked, setup)
