"""Single jobs of the steps, done in this process with an engine at hand: for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.catalog import Catalog, Topic, read_catalog
from polyculture.cache.errors import StoreError
from polyculture.cache.store.manifest import Manifest, read_manifest, write_manifest
from polyculture.cache.store.parquet import read_rows, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import WANTED_RESPONSES, Prompt
from polyculture.cache.work.outcome import Outcome, Progress, silent
from polyculture.cache.work.worker import Step, do_works, left, work_state
from polyculture.extract.base import Extractor
from polyculture.extract.step import ExtractionStep
from polyculture.extract.text_step import ExtractorChoice
from polyculture.generate.engines import Capability, Engine, ModelSpec, open_engine
from polyculture.generate.engines.capabilities import E_co
from polyculture.generate.engines.models import MODEL
from polyculture.generate.sampling import SamplingSettings
from polyculture.generate.step import SamplingStep
from polyculture.instruments.cbs.step import ScoringJob, ScoringStep, asked_tables
from polyculture.instruments.datasets.layout import DATASET_CONTEXTS, DATASET_ENTITIES
from polyculture.instruments.datasets.model import DataSet


@dataclass
class OneModel:
    """A model for every role: an engine at hand, or one that is opened when it is asked for."""

    model: ModelSpec
    engine: Engine | None = None
    stack: ExitStack = field(default_factory=ExitStack)

    def open(self, needs: Capability[E_co], role: str = MODEL) -> E_co:
        """The engine."""
        return cast("E_co", self.engine) or self.stack.enter_context(open_engine(self.model, needs))

    def spec(self, role: str = MODEL) -> ModelSpec:
        """The model with its options."""
        return self.model


@contextmanager
def one_model(spec: ModelSpec, engine: Engine | None = None) -> Iterator[OneModel]:
    """`OneModel`, freed with the block."""
    models = OneModel(spec, engine)
    with models.stack:
        yield models


def do_step(
    run: RunFolder, step: Step[Any, Any], spec: ModelSpec, engine: Engine | None = None, progress: Progress = silent
) -> Outcome:
    """The one job of a step."""
    with one_model(spec, engine) as models:
        return do_works(run, step, list(step.works()), models, progress)


def generate_job(
    run: RunFolder,
    job: Job,
    prompts: Sequence[Prompt],
    spec: ModelSpec,
    sampling: SamplingSettings,
    progress: Progress = silent,
    engine: Engine | None = None,
    *,
    catalog: Catalog,
) -> Outcome:
    """Samples what is missing of a job."""
    return do_step(run, SamplingStep([job], prompts, sampling, catalog), spec, engine, progress)


def missing_samples(run: RunFolder, job: Job, prompts: Sequence[Prompt], sampling: SamplingSettings) -> int:
    """How many samples of a job a model would be asked for."""
    step = SamplingStep([job], prompts, sampling, read_catalog())
    return sum(left(run, step, work) for work in step.works())


def extract_job(run: RunFolder, job: Job, topic: Topic, extractor: Extractor, progress: Progress = silent) -> Outcome:
    """Extracts what is missing of a job."""
    return do_step(run, extraction_step(run, job, topic, extractor), ModelSpec("none:none"), progress=progress)


def extraction_step(run: RunFolder, job: Job, topic: Topic, extractor: Extractor) -> ExtractionStep:
    """The step that extracts a job's current responses with an extractor at hand."""
    if not run.table("wanted_responses").exists():
        raise StoreError("holds no run", where=run.root, remedy="Generate responses first.")
    model = getattr(extractor, "_model", None)
    choice = ExtractorChoice(model, {topic.code: extractor.extractor_id}, lambda _job, _models: extractor)
    wanted = read_rows(run.table("wanted_responses"), WANTED_RESPONSES)
    return ExtractionStep(run, [(job, 0)], wanted, read_catalog(), choice)


def score_job(run: RunFolder, scoring: ScoringJob, spec: ModelSpec, engine: Engine | None = None) -> Outcome:
    """Scores what is missing of a job, which is wanted from now on."""
    want(run, scoring)
    return do_step(run, ScoringStep([scoring]), spec, engine)


def want(run: RunFolder, scoring: ScoringJob) -> None:
    """Makes a job's contexts the run's wanted ones, and its setup the present one, as a command does before it asks.

    A data set of which the run knows nothing has what the job asks.
    """
    manifest = read_manifest(run.manifest) or Manifest(experiment="x", polyculture="0", models=[scoring.job.model])
    setups = {**manifest.setups, f"score {scoring.job.model}": dict(scoring.setup)}
    write_manifest(manifest.model_copy(update={"setups": setups}), run.manifest)
    contexts = [context for context, _ in scoring.asked]
    entities = {entity: None for _, every in scoring.asked for entity in every}
    dataset = DataSet(contexts[0].dataset, "Western", run.root, tuple(entities), tuple(contexts))
    tables = asked_tables(run, dataset, [scoring])
    for table, key in ((DATASET_CONTEXTS, "context_id"), (DATASET_ENTITIES, "entity_id")):
        path = run.table(table.name)
        if table in tables and path.exists():
            known = read_rows(path, table)
            new = tables[table].filter(~pc.field(key).isin(known[key].combine_chunks()))
            tables[table] = pa.concat_tables([known, new])
    for table, found in tables.items():
        write_parquet(found, run.table(table.name))


def settled(run: RunFolder, scorings: ScoringJob | Iterable[ScoringJob]) -> bool:
    """Whether nothing is left to score."""
    step = ScoringStep([scorings] if isinstance(scorings, ScoringJob) else list(scorings))
    return not any(work_state(run, step, work).missing for work in step.works())
