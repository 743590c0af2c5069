"""Which entities are put into which contexts, and the jobs that they make.

The papers' protocol: 50 texts of each culture for each context, three times over in Camellia, five times in CAMeL.
Draw d takes the entities with the least hash of seed, d, context and entity, so that it is the same on every machine,
and a larger one holds the smaller. Where a side has fewer than 50 and sides are equal, as in both papers, it takes them
again, in the same order, until there are 50 texts: a text is asked about once, and counts as often as it is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

import pyarrow as pa

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.cache.parquet import objects_to_table, read_rows
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.instruments.datasets.load import QA
from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext
from polyculture.instruments.datasets.selection import ContextGroup, Selection, Tell, chosen_contexts, untold
from polyculture.instruments.datasets.sentiments import gold_label
from polyculture.instruments.swaps.rows import SWAP_REPEATS, SwapRepeat

FORM = "masked"  # of the contexts that are asked about: whole texts
Drawn = tuple[CulturalEntity, Mapping[int, int]]  # an entity, and how often each draw takes it


@dataclass(frozen=True, slots=True)
class DrawOptions:
    """How entities are drawn for each context."""

    entities: int = 50  # of each culture; one with fewer gives all it has
    draws: int = 3
    seed: int = 1
    equal_sides: bool = False  # one with fewer gives them again, until there are as many texts


@dataclass(frozen=True)
class SwapJob:
    """The part of a data set that one job queries: contexts, and the entities inserted into each."""

    job: Job
    task: str
    seed: int  # of draw 0; draw d has this plus d
    asked: Sequence[tuple[MaskedContext, Sequence[Drawn]]]
    setup_id: str | None = None  # under which the model is asked; None where nobody keeps setups apart

    @property
    def size(self) -> int:
        return sum(len(draws) for _, drawn in self.asked for _, draws in drawn)


def swap_jobs(
    dataset: DataSet,
    task: str,
    model: str,
    selection: Selection,
    draws: DrawOptions,
    setup_id: str | None = None,
    *,
    tell: Tell = untold,
) -> list[SwapJob]:
    """A job per language, native culture and type. Raises `DataSetError` where nothing is there to ask.

    A context that no entity of one of its cultures fits is out: `tell` gets a line about them.
    """
    chosen = chosen_contexts(_fit(dataset, task), _with_setting(selection, task), tell)
    jobs = [_job(dataset, task, model, unit, contexts, draws) for unit, contexts in chosen]
    return [replace(job, setup_id=setup_id) for job in jobs]


def _fit(dataset: DataSet, task: str) -> DataSet:
    """The data set without the contexts that the task has no right answer for."""
    if task != "sentiment":
        return dataset
    told = tuple(context for context in dataset.contexts if gold_label(context) is not None)
    if not told:
        what = "no context has a sentiment: positive, negative or neutral"
        raise DataSetError(what, where=dataset.folder, remedy="Add the column sentiment: see docs/swaps.md.")
    return replace(dataset, contexts=told)


def _with_setting(selection: Selection, task: str) -> Selection:
    whole = replace(selection, form=FORM)
    return replace(whole, settings=(QA,)) if task == "qa" and not selection.settings else whole


def _job(
    dataset: DataSet, task: str, model: str, unit: ContextGroup, contexts: Sequence[MaskedContext], draws: DrawOptions
) -> SwapJob:
    language, culture, kind = unit
    asked = []
    for context in contexts:
        fitting = dataset.fitting(context)
        asked.append((context, _drawn(context, fitting, draws)))
    topic = f"{task}-{dataset.name}-{culture}-{kind}".lower()
    return SwapJob(Job(model, language, topic), task, draws.seed, asked)


def _drawn(context: MaskedContext, entities: Sequence[CulturalEntity], draws: DrawOptions) -> list[Drawn]:
    """The entities of all draws, each with the draws that contain it."""
    cultures = sorted({entity.culture for entity in entities})
    found: dict[str, dict[int, int]] = {}
    chosen_by, language = context.source_context_id or context.context_id, context.chooser
    for draw in range(draws.draws):
        for culture in cultures:
            own = [entity for entity in entities if entity.culture == culture]
            least = sorted(own, key=lambda e: content_id(draws.seed, draw, chosen_by, e.rank(language)))
            rounds, more = divmod(draws.entities, len(least))
            for number, entity in enumerate(least[: draws.entities]):
                times = rounds + (number < more) if draws.equal_sides and rounds else 1
                found.setdefault(entity.entity_id, {})[draw] = times
    return [(entity, found[entity.entity_id]) for entity in entities if entity.entity_id in found]


def repeats_table(run: RunFolder, jobs: Sequence[SwapJob]) -> pa.Table | None:
    """`swap_repeats` as these jobs draw: their contexts' rows are replaced. None where it says so already."""
    path = run.table(SWAP_REPEATS.name)
    before = [SwapRepeat(**row) for row in read_rows(path, SWAP_REPEATS).to_pylist()] if path.exists() else []
    asked = {(job.task, context.context_id) for job in jobs for context, _ in job.asked}
    now = {row for row in before if (row.task, row.context_id) not in asked} | {*_repeats(jobs)}
    return None if now == set(before) else objects_to_table(SWAP_REPEATS, sorted(now, key=astuple))


def _repeats(jobs: Sequence[SwapJob]) -> Iterator[SwapRepeat]:
    for job in jobs:
        for context, drawn in job.asked:
            for entity, draws in drawn:
                for draw, times in draws.items():
                    if times > 1:
                        yield SwapRepeat(job.task, context.context_id, entity.entity_id, draw, times)
