"""The jobs that a selection of contexts and entities makes for the stage that scores."""

from __future__ import annotations

from collections.abc import Sequence

from cache.run_folder import Job
from metrics.datasets.model import DataSet, MaskedContext
from metrics.datasets.selection import Selection, Unit, check_cultures, chosen_contexts, first_entities
from metrics.likelihood.helping import Helping, helped
from metrics.likelihood.stage import ScoringJob

PLAIN = Helping()


def scoring_jobs(dataset: DataSet, model: str, selection: Selection, helping: Helping = PLAIN) -> list[ScoringJob]:
    """A job per language, native culture and type. Raises `DataSetError` where nothing is there to ask.

    A culture without any entity for a context is told, never scored as 0.
    """
    chosen = chosen_contexts(dataset, selection)
    return [_job(dataset, model, unit, contexts, selection, helping) for unit, contexts in chosen]


def _job(
    dataset: DataSet,
    model: str,
    unit: Unit,
    contexts: Sequence[MaskedContext],
    selection: Selection,
    helping: Helping,
) -> ScoringJob:
    language, culture, kind = unit
    asked = [
        (context, first_entities(dataset.fitting(context), selection.entities, context.chooser)) for context in contexts
    ]
    for context, entities in asked:
        check_cultures(dataset, context, entities)
    asked += [more for context, entities in asked for more in helped(dataset, context, entities, helping)]
    return ScoringJob(dataset, Job(model, language, f"{dataset.name}-{culture}-{kind}".lower()), asked)
