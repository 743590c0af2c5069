"""What an experiment extracts with: the gazetteer, or a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Event
from typing import TYPE_CHECKING, Any

from polyculture.cache.catalog import Topic
from polyculture.cache.outcome import Outcome, Progress
from polyculture.cache.run_folder import Job
from polyculture.experiment.file import GAZETTEER
from polyculture.experiment.snapshots import STARTER, find_snapshot
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines.base import ModelSpec
from polyculture.running.batching import BATCHES, asked_in_batches, batches_at_once, check_nothing_waits, open_batches
from polyculture.running.budget import open_budget
from polyculture.running.loading import load_model

if TYPE_CHECKING:
    from polyculture.extract.base import Extractor
    from polyculture.generate.engines.base import Engine
    from polyculture.link.index.snapshot import Snapshot

ExtractJob = Callable[[Job, Progress], Outcome]


@dataclass(frozen=True)
class Extraction:
    """The extractor that an experiment names. Nothing heavy is opened before a job has something to extract."""

    workspace: Workspace

    @property
    def name(self) -> str:
        return self.workspace.experiment.extract.with_

    @property
    def by_model(self) -> bool:
        return self.name != GAZETTEER

    @property
    def spec(self) -> ModelSpec:
        """The model that extracts."""
        return self.workspace.experiment.model_spec(self.name)

    @property
    def batches_at_once(self) -> int:
        """How many jobs wait for their batches at the same time; 1 where nothing is asked in batches."""
        return batches_at_once(self.spec) if self.by_model and asked_in_batches(self.spec) else 1

    @cached_property
    def stop(self) -> Event:
        """Calls the waiting for batches off."""
        return Event()

    @cached_property
    def snapshot(self) -> Snapshot:
        """Whose names the gazetteer looks for: those of the linker's snapshot; of the starter where it has none."""
        section = self.workspace.experiment.link
        name = section.snapshot if section.source == "index" else STARTER
        return find_snapshot(name, self.workspace.file.parent)

    def extractor_id(self, topic: Topic) -> str:
        from polyculture.extract.gazetteer import gazetteer_extractor_id
        from polyculture.extract.llm import llm_extractor_id

        if self.by_model:
            return llm_extractor_id(self.name, topic)
        return gazetteer_extractor_id(topic, self.snapshot.identity)

    @property
    def provenance(self) -> dict[str, Any]:
        """This stage's part of the manifest."""
        settings = {"with": self.name} | ({} if self.by_model else {"snapshot": self.snapshot.identity})
        topics = [self.workspace.catalog.topic(code) for code in self.workspace.experiment.topics]
        return {"extractor": settings, "extractor_ids": {topic.code: self.extractor_id(topic) for topic in topics}}

    @property
    def summary(self) -> str:
        return self.name if self.by_model else f"{GAZETTEER}, the names in {self.snapshot.path.name}"

    @contextmanager
    def opened(self) -> Iterator[ExtractJob]:
        """A function that extracts one job; what it opens is closed when the block ends."""
        from polyculture.extract.stage import extract_job

        with ExitStack() as stack:
            extractor_of = self._model(stack) if self.by_model else self._gazetteer()

            def extract(job: Job, progress: Progress) -> Outcome:
                topic = self.workspace.catalog.topic(job.topic)
                return extract_job(self.workspace.run, job, topic, extractor_of(job), progress)

            yield extract

    def _model(self, stack: ExitStack) -> Callable[[Job], Extractor]:
        from polyculture.extract.llm import LlmExtractor

        @lru_cache(maxsize=1)
        def engine() -> Engine:
            return stack.enter_context(load_model(self.spec))

        def engine_for(job: Job) -> Engine:
            if not asked_in_batches(self.spec):
                check_nothing_waits(self.workspace.run, "extract", job)
                return engine()
            folder = self.workspace.run.shards(BATCHES["extract"], job)
            return stack.enter_context(open_batches(self.spec, folder, self.stop))

        budget = stack.enter_context(open_budget(self.workspace))

        def extractor(job: Job) -> Extractor:
            paid = budget.engine(engine_for(job), self.name, "extract", job)
            return LlmExtractor(paid, self.name, self.workspace.catalog.topic(job.topic))

        return extractor

    def _gazetteer(self) -> Callable[[Job], Extractor]:
        from polyculture.extract.gazetteer import Gazetteer
        from polyculture.link.index.lexicon import lexicon

        @lru_cache(maxsize=1)
        def extractor(topic: str, language: str) -> Extractor:
            names = lexicon(self.snapshot, self.workspace.catalog, topic, language)
            return Gazetteer(names, self.workspace.catalog.topic(topic), language, self.snapshot.identity)

        return lambda job: extractor(job.topic, job.language)
