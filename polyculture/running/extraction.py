"""The extraction stage of an experiment: the gazetteer, or a model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

from polyculture.cache.catalog import Topic
from polyculture.cache.errors import ExperimentError, PolycultureError
from polyculture.cache.store.manifest import EXTRACT_KEYS, CurrentId
from polyculture.cache.store.run_folder import Job
from polyculture.experiment.sections import GAZETTEER, PUBLISHED
from polyculture.experiment.setups import EXTRACT
from polyculture.experiment.snapshots import STARTER, find_snapshot
from polyculture.experiment.workspace import Workspace
from polyculture.extract.boundaries import UNSEGMENTED
from polyculture.generate.engines import SAMPLING, ModelSpec
from polyculture.generate.wording import country_names_in_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from polyculture.extract.base import Extractor
    from polyculture.extract.gold import GoldText
    from polyculture.extract.gold_step import GoldStep
    from polyculture.extract.step import ExtractionStep
    from polyculture.extract.text_step import ExtractorChoice, ExtractorLoads, OpenExtractor
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
        return self.workspace.experiment.extract.by_model

    def require_choice(self) -> None:
        """Raises `ExperimentError` where a preset's experiment leaves the extractor to the default.

        Presets are designs of whole studies, which extract with a model; whoever takes the gazetteer instead writes so.
        """
        experiment = self.workspace.experiment
        if experiment.preset is None or "with_" in experiment.extract.model_fields_set:
            return
        raise ExperimentError(
            f"preset {experiment.preset!r} extracts with a model, and extract.with names none",
            where=self.workspace.file,
            remedy='Add [extract] with = "openai:MODEL", or accept the limits of the names in a snapshot: '
            f'with = "{GAZETTEER}".',
        )

    def require_names(self) -> None:
        """Raises `ExperimentError` where the gazetteer has no names in a language: it would find nothing there, and a
        diversity of 0 would look like one that was measured. Or where it cannot tell words from one another."""
        if self.name != GAZETTEER:
            return
        languages = [self.workspace.catalog.language(code) for code in self.workspace.experiment.languages]
        joined = [one.name for one in languages if UNSEGMENTED.intersection(one.scripts)]
        if joined:
            raise ExperimentError(
                f"extract.with: {', '.join(joined)}: by a model only. Nothing separates its words, and the gazetteer "
                "has no rules for them: it would find names inside other words",
                where=self.workspace.file,
                remedy='Extract with a model: [extract] with = "openai:MODEL". Or leave the language out.',
            )
        try:
            known = self.snapshot.languages
        except PolycultureError:  # whoever links says what is wrong with it
            return
        lacking = [language.name for language in languages if language.label_languages[0] not in known]
        if lacking:
            raise ExperimentError(
                f"extract.with: the gazetteer finds nothing in {', '.join(lacking)}: {self.snapshot.path.name} has no "
                "names in it",
                where=self.workspace.file,
                remedy='Extract with a model: [extract] with = "openai:MODEL". Or name a snapshot with such names: '
                "polyculture wikidata pull.",
            )

    @property
    def spec(self) -> ModelSpec:
        """The model that extracts."""
        return self.workspace.experiment.model_spec(self.name)

    @cached_property
    def snapshot(self) -> Snapshot:
        """The snapshot that supplies the gazetteer's names: the linker's, else the starter."""
        section = self.workspace.experiment.link
        name = STARTER if section.fill else section.snapshot
        return find_snapshot(name, self.workspace.file.parent)

    @property
    def max_tokens(self) -> int:
        """The tokens of the model's first answer about a text, at most."""
        return self.workspace.experiment.extract.max_tokens

    @cached_property
    def instruction(self) -> str | None:
        """The experiment's own instruction to the model; None: ours. Raises `ExperimentError` of an unreadable one."""
        from polyculture.extract.llm import read_prompt

        file = self.workspace.experiment.extract.prompt
        return read_prompt(self.workspace.file.parent / file) if file else None

    def extractor_id(self, topic: Topic) -> str:
        from polyculture.extract.gazetteer import gazetteer_extractor_id
        from polyculture.extract.llm import llm_extractor_id
        from polyculture.extract.published import published_extractor_id

        if self.by_model:
            setup = self.workspace.present.setups[f"{EXTRACT}{self.name}"]
            return llm_extractor_id(self.name, topic, setup, self.instruction, self.max_tokens)
        if self.name == PUBLISHED:
            return published_extractor_id()
        return gazetteer_extractor_id(topic, self.snapshot.identity, self.country_names, self.workspace.catalog.endings)

    @cached_property
    def country_names(self) -> dict[str, tuple[str, ...]]:
        """The names of countries in the experiment's languages, which the gazetteer takes for no mention."""
        return country_names_in_texts(self.workspace.catalog, sorted(self.workspace.experiment.languages))

    @property
    def reader_id(self) -> str | None:
        """The reader of the model's answers; None without a model."""
        from polyculture.extract.reading import present_reader

        return present_reader(self.workspace.catalog.endings) if self.by_model else None

    @property
    def extractor_ids(self) -> dict[str, str]:
        """By topic, the extractor whose mentions are current."""
        topics = map(self.workspace.catalog.topic, self.workspace.experiment.topics)
        return {topic.code: self.extractor_id(topic) for topic in topics}

    @property
    def ids(self) -> list[CurrentId]:
        """The extractor of each topic, with what of the experiment decides it but for the model's setup, and the reader
        of its answers."""
        section = self.workspace.experiment.extract
        said = section.model_dump(include={"sample", "prompt", "max_tokens"}, exclude_defaults=True, mode="json")
        said = {"with": self.name} | said | ({"snapshot": self.snapshot.identity} if self.name == GAZETTEER else {})
        settings = {f"{EXTRACT_KEYS}{key}": value for key, value in said.items()}
        topics = map(self.workspace.catalog.topic, self.workspace.experiment.topics)
        extractors = [
            CurrentId(what=topic.code, id=self.extractor_id(topic), settings=settings | self._hashes(topic))
            for topic in topics
        ]
        reader = self.reader_id
        return extractors if reader is None else [*extractors, CurrentId(what="extract", id=reader, reads=True)]

    def _hashes(self, topic: Topic) -> dict[str, str]:
        """Hashes of what else decides the extractions of a topic."""
        from polyculture.extract.gazetteer import gazetteer_extractor_id
        from polyculture.extract.llm import prompt_hash

        if self.by_model:
            return {"prompt": prompt_hash(topic, self.instruction)}
        if self.name == GAZETTEER:
            return {"rules": gazetteer_extractor_id(topic, "", self.country_names, self.workspace.catalog.endings)}
        return {}

    @property
    def summary(self) -> str:
        if self.name == GAZETTEER:
            return f"{GAZETTEER}, the names in {self.snapshot.path.name}"
        section, told = self.workspace.experiment.extract, [self.name]
        told += [f"with the prompt of {section.prompt}"] if section.prompt else []
        told += [f"the first {section.sample} texts of each prompt, the others are not asked"] if section.sample else []
        return ", ".join(told)

    def step(self, jobs: Sequence[Job], wanted: pa.Table) -> ExtractionStep:
        """The step that extracts the responses of jobs that are `wanted`."""
        from polyculture.extract.step import ExtractionStep

        workspace = self.workspace
        sizes = [(job, workspace.extracted_of(job)) for job in jobs]
        return ExtractionStep(workspace.run, sizes, self._sampled(wanted), workspace.catalog, self._choice())

    def gold_step(self, gold: Sequence[GoldText]) -> GoldStep:
        """The step in which the model extracts gold texts, sorted by language and topic, as it extracts responses."""
        from polyculture.extract.gold_step import GoldStep

        return GoldStep(self.workspace.run, gold, self.workspace.catalog, self._choice(), self.name)

    def _choice(self) -> ExtractorChoice:
        from polyculture.extract.text_step import ExtractorChoice

        named, loads = (self.name, self._loads) if self.by_model else (None, None)
        return ExtractorChoice(named, self.extractor_ids, self._open(), self.reader_id, loads)

    @cached_property
    def _loads(self) -> ExtractorLoads:
        """What `plan` knows of what the model will read and write."""
        from polyculture.extract.llm import prompt_head
        from polyculture.extract.text_step import ExtractorLoads

        workspace = self.workspace
        topics = [workspace.catalog.topic(code) for code in workspace.experiment.topics]
        return ExtractorLoads(
            {topic.code: " ".join(turn.content for turn in prompt_head(topic, self.instruction)) for topic in topics},
            self.max_tokens,
            workspace.sampling.max_tokens,
            Counter((prompt.language, prompt.topic) for prompt in workspace.prompts),
            partial(workspace.sampling_step(()).taken_over, workspace.run),
            are_stored=workspace.experiment.imported,
        )

    def _sampled(self, wanted: pa.Table) -> pa.Table:
        """Of each request the samples that are read, in `wanted_responses`."""
        import pyarrow.compute as pc

        limit, place = self.workspace.experiment.extract.sample, wanted.schema.get_field_index("n")
        if limit is None:
            return wanted
        return wanted.set_column(place, wanted.schema.field(place), pc.min_element_wise(wanted["n"], limit))

    def _open(self) -> OpenExtractor:
        if self.name == PUBLISHED:
            from polyculture.extract.published import PublishedExtractor

            return lambda _job, _models: PublishedExtractor()
        return self._model if self.by_model else self._gazetteer()

    def _model(self, job: Job, models: Models) -> Extractor:
        from polyculture.extract.llm import LlmExtractor
        from polyculture.extract.text_step import EXTRACTOR

        engine, catalog = models.open(SAMPLING, EXTRACTOR), self.workspace.catalog
        topic = catalog.topic(job.topic)
        identity = self.extractor_id(topic)
        return LlmExtractor(engine, self.name, topic, identity, self.instruction, catalog.endings, self.max_tokens)

    def _gazetteer(self) -> OpenExtractor:
        from polyculture.extract.gazetteer import Gazetteer
        from polyculture.link.index.lexicon import lexicons

        catalog, languages = self.workspace.catalog, self.workspace.experiment.languages
        names_of = lru_cache(maxsize=1)(partial(lexicons, self.snapshot, catalog, languages=languages))

        @lru_cache(maxsize=1)
        def extractor(topic: str, language: str) -> Extractor:
            names = names_of(topic)[language]
            return Gazetteer(
                names, catalog.topic(topic), language, self.snapshot.identity, self.country_names, catalog.endings
            )

        return lambda job, _models: extractor(job.topic, job.language)
