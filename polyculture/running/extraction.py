"""The extraction stage of an experiment: the gazetteer, or a model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from polyculture.cache.catalog import Topic
from polyculture.cache.run_folder import Job
from polyculture.experiment.file import GAZETTEER
from polyculture.experiment.snapshots import STARTER, find_snapshot
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines import SAMPLING, ModelSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.cache.manifest import Manifest
    from polyculture.extract.base import Extractor
    from polyculture.extract.reading_step import ReadingStep
    from polyculture.extract.step import ExtractionStep, OpenExtractor
    from polyculture.generate.engines.models import Models
    from polyculture.link.index.snapshot import Snapshot


@dataclass(frozen=True)
class ExtractionStage:
    """The extractor that an experiment names. It is opened when a job first has something to extract."""

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

    @cached_property
    def snapshot(self) -> Snapshot:
        """The snapshot that supplies the gazetteer's names: the linker's, else the starter."""
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
    def reader_id(self) -> str | None:
        """The reader of the model's answers; None for the first reader, or without a model."""
        from polyculture.extract.reading import present_reader

        return present_reader() if self.by_model else None

    @property
    def provenance(self) -> dict[str, Any]:
        """This stage's part of the manifest."""
        settings = {"with": self.name} | ({} if self.by_model else {"snapshot": self.snapshot.identity})
        reader = self.reader_id
        topics = [self.workspace.catalog.topic(code) for code in self.workspace.experiment.topics]
        return {
            "extractor": settings,
            "extractor_ids": {topic.code: self.extractor_id(topic) for topic in topics},
            "reader_id": reader,
        }

    @property
    def summary(self) -> str:
        return self.name if self.by_model else f"{GAZETTEER}, the names in {self.snapshot.path.name}"

    def steps(self, jobs: Sequence[Job], manifest: Manifest) -> tuple[ReadingStep, ExtractionStep]:
        """The steps that read stored answers again and extract the responses of jobs that count under `manifest`.

        In this order: a readable stored answer needs no new query.
        """
        from polyculture.extract.reading_step import ReadingStep
        from polyculture.extract.step import ExtractionStep, ExtractorChoice

        workspace = self.workspace
        ids = {
            topic.code: self.extractor_id(topic) for topic in map(workspace.catalog.topic, workspace.experiment.topics)
        }
        sizes = [(job, len(workspace.prompts_of(job)) * workspace.sampling.n) for job in jobs]
        choice = ExtractorChoice(self.name if self.by_model else None, ids, self._open(), self.reader_id)
        extraction = ExtractionStep(workspace.run, sizes, manifest, workspace.catalog, choice)
        return ReadingStep(workspace.run, extraction, workspace.catalog, choice), extraction

    def _open(self) -> OpenExtractor:
        return self._model if self.by_model else self._gazetteer()

    def _model(self, job: Job, models: Models) -> Extractor:
        from polyculture.extract.llm import LlmExtractor
        from polyculture.extract.step import EXTRACTOR

        return LlmExtractor(models.open(SAMPLING, EXTRACTOR), self.name, self.workspace.catalog.topic(job.topic))

    def _gazetteer(self) -> OpenExtractor:
        from polyculture.extract.gazetteer import Gazetteer
        from polyculture.link.index.lexicon import lexicon

        @lru_cache(maxsize=1)
        def extractor(topic: str, language: str) -> Extractor:
            names = lexicon(self.snapshot, self.workspace.catalog, topic, language)
            return Gazetteer(names, self.workspace.catalog.topic(topic), language, self.snapshot.identity)

        return lambda job, _models: extractor(job.topic, job.language)
