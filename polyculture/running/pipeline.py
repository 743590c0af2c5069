"""Calls the stages in order. Each is a function from tables to a table; nothing is computed here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import pyarrow as pa

from polyculture.cache.errors import Mistakes
from polyculture.cache.log import get_logger
from polyculture.cache.store.manifest import Manifest, require_run
from polyculture.cache.store.parquet import read_rows
from polyculture.cache.store.run_folder import Job
from polyculture.cache.store.schema import EXTRACTIONS, MENTIONS, RESPONSES, WANTED_RESPONSES
from polyculture.cache.store.shards import recover_lost, remove_rows_about_lost
from polyculture.cache.store.store import asked_store
from polyculture.cache.work.worker import left
from polyculture.experiment.changes import refuse_costly
from polyculture.experiment.file import check_prompted
from polyculture.experiment.workspace import Workspace
from polyculture.metrics.text_doubts import ASKED, text_doubts
from polyculture.running.extraction import ExtractionStage
from polyculture.running.linking import LinkingStage, fill_with, plan_linking
from polyculture.running.models import LoadedModels
from polyculture.running.steps import StepRunner
from polyculture.running.taken_answers import taken_lines

_log = get_logger(__name__)

# The extracted responses that none of the given extractors has processed.
UNREAD = """
SELECT DISTINCT response_id FROM extractions AS e WHERE NOT EXISTS (
    FROM stored_extractions AS s WHERE s.response_id = e.response_id AND s.status <> 'unusable'
        AND list_contains($extractors, s.extractor_id))
"""
# By model: how many texts the last run has. Failures are lost to nobody.
ANSWERED = "SELECT model, count(*) FROM responses WHERE status = 'ok' GROUP BY model"

VERSIONS = """
SELECT model, string_agg(DISTINCT model_version, ' | ' ORDER BY model_version)
FROM responses WHERE model_version IS NOT NULL GROUP BY model ORDER BY model
"""


@dataclass(kw_only=True)
class Pipeline(StepRunner):
    """The stages of an experiment, and their outcome in this command."""

    manifest: Manifest
    extraction: ExtractionStage
    linking: LinkingStage

    @classmethod
    def prepare(cls, workspace: Workspace, *, accept_changes: bool = False) -> Self:
        """Checks the experiment against the run on disk, and makes it the run's present one. Raises as `check`."""
        remove_rows_about_lost(workspace.run, RESPONSES, (MENTIONS, EXTRACTIONS))
        for tables in ((RESPONSES,), (MENTIONS, EXTRACTIONS)):
            recover_lost(workspace.run, tables)
        pipeline = cls.check(workspace, accept_changes=accept_changes)
        workspace.write(pipeline.manifest)
        return pipeline

    @classmethod
    def check(cls, workspace: Workspace, *, accept_changes: bool = False, contact_needed: bool = True) -> Self:
        """Checks the experiment against the run on disk; says what has changed, and writes nothing.

        Raises `ExperimentError` where files that it names cannot be read, or where it says nothing to make prompts of;
        `ChangedExperimentError` where answers would have to be made again and that was not accepted. A plan needs no
        contact for the live service.
        """
        extraction, mistakes = ExtractionStage(workspace), Mistakes()
        with mistakes:
            check_prompted(workspace.experiment, workspace.file)
        with mistakes:
            extraction.require_choice()
        for read in (lambda: workspace.prompts, lambda: extraction.instruction):
            with mistakes:
                read()
        with mistakes:
            linking = plan_linking(workspace, contact_needed=contact_needed)
        mistakes.tell()
        manifest = requested_manifest(workspace, extraction, linking)
        check_changes(workspace, manifest, accept_changes=accept_changes)
        return cls(workspace=workspace, manifest=manifest, extraction=extraction, linking=linking)

    @classmethod
    def join(cls, workspace: Workspace, loaded: LoadedModels) -> Self:
        """A part of a run that another process has prepared: it works on jobs, and writes only their shards."""
        manifest, linking = require_run(workspace.run), plan_linking(workspace)
        workspace = workspace.joining(manifest)
        extraction = ExtractionStage(workspace)
        return cls(workspace=workspace, manifest=manifest, extraction=extraction, linking=linking, loaded=loaded)

    def generate(self, jobs: Sequence[Job]) -> None:
        """Samples the missing responses of these jobs, and records the models' versions."""
        self.sample(jobs)
        self.manifest = add_model_versions(self.workspace, self.manifest)

    def sample(self, jobs: Sequence[Job]) -> None:
        """Samples the missing responses of these jobs; imported texts are never generated."""
        if self.workspace.experiment.imported:
            texts = sum(map(self.workspace.texts_of, jobs))
            _log.info(f"generate: {texts} texts are imported, and none is generated")
            return
        self.run_step(self.workspace.sampling_step(jobs))
        for line in taken_lines(self.workspace.run, jobs):
            _log.info(f"generate: {line}")

    def extract(self, jobs: Sequence[Job]) -> None:
        """Extracts the mentions of these jobs' responses that have none yet."""
        run = self.workspace.run
        free = [job for job in jobs if job not in self.held]  # the process that samples them extracts them, too
        sampling = self.workspace.sampling_step(free)
        self.recover(sampling, sampling.works())
        extraction = self.extraction.step(free, read_rows(run.table(WANTED_RESPONSES.name), WANTED_RESPONSES))
        self.recover(extraction, extraction.works())
        self.run_step(extraction)

    def go_on_with(self, view: str) -> None:
        """Ends the run where stages stopped themselves and a view has no row of use to go on with."""
        if not self.stopped:
            return
        with asked_store(self.workspace.run, f"FROM {view}", manifest=self.manifest) as store:
            found = store.table(view).filter("status = 'ok'").limit(1).fetchall()
        if not found:
            self.finish()

    def link(self) -> None:
        """Links all distinct surfaces of the run; before, fills the snapshot with their names where [link] says so."""
        if self.workspace.experiment.link.fill:
            self._fill()
        self.work("link", 0, lambda _progress: self.linking.link(self.manifest))

    def _fill(self) -> None:
        """Fills the snapshot, and records in the manifest what it holds now."""
        from polyculture.link.stage import current_names

        fill_with(self.workspace, current_names(self.workspace.run, self.manifest), self.linking.source.path)
        self.linking = plan_linking(self.workspace)
        self.manifest = self.manifest.model_copy(update=self.linking.provenance)
        self.workspace.write(self.manifest)

    def finish(self, view: str = "failures") -> None:
        """Says what makes the texts doubtful; raises for missing work as `StepRunner.finish`."""
        with asked_store(self.workspace.run, ASKED, manifest=self.manifest) as store:
            for line in text_doubts(store, self.manifest):
                _log.warning(line)
        super().finish(view)


def requested_manifest(workspace: Workspace, extraction: ExtractionStage, linking: LinkingStage) -> Manifest:
    """The manifest of what an experiment asks now, whether it was run or not."""
    return workspace.manifest().model_copy(update={**extraction.provenance, **linking.provenance})


def check_changes(workspace: Workspace, manifest: Manifest, *, accept_changes: bool) -> None:
    """Says what has changed since the last run. Raises `ChangedExperimentError` for what costs, unless accepted."""
    changes = workspace.changes(manifest)
    if changes and not accept_changes:
        refuse_costly(changes, costly_rows(workspace, manifest), workspace.file)
    for change in changes:
        _log.warning(f"{change}: the rows of {change.stage} and of later stages are stale and are made again")


def add_model_versions(workspace: Workspace, manifest: Manifest) -> Manifest:
    """The manifest with the version that each engine reports; it keeps several versions of one model."""
    with asked_store(workspace.run, VERSIONS, manifest=manifest) as store:
        versions = dict(store.sql(VERSIONS).fetchall())
    if versions == manifest.model_versions:
        return manifest
    complete = manifest.model_copy(update={"model_versions": versions})
    workspace.write(complete)
    return complete


def costly_rows(workspace: Workspace, now: Manifest) -> dict[str, int]:
    """By stage, the number of the last run's rows that a model would have to make again under `now`.

    Rows on disk from an earlier run with these settings are reused.
    """
    before = workspace.before
    if before is None:
        return {}
    wanted = WANTED_RESPONSES.name
    with asked_store(workspace.run, " ".join((f"FROM {wanted}", ANSWERED, UNREAD)), manifest=before) as store:
        was = _requests(store.table(wanted).to_arrow_table())
        answered = dict(store.sql(ANSWERED).fetchall())
        unread = len(store.sql(UNREAD, params={"extractors": list(now.extractor_ids.values())}))
    is_now = _requests(workspace.wanted(now))
    otherwise = {model for model, prompt in is_now.keys() & was.keys() if is_now[model, prompt] != was[model, prompt]}
    stale = [model for model in answered if workspace.reworded or model in otherwise]
    responses = sum(min(answered[model], _unasked(workspace, before, model)) for model in stale)
    by_model = ":" in workspace.experiment.extract.with_  # the new extractor decides whether it costs anything
    return {"generate": responses, "extract": unread if by_model else 0}


def _requests(wanted: pa.Table) -> dict[tuple[str, str], str]:
    """The request that each model is sent for each prompt."""
    return {(row["model"], row["prompt_id"]): row["request_id"] for row in wanted.to_pylist()}


def _unasked(workspace: Workspace, before: Manifest, model: str) -> int:
    """The number of samples of a model's last jobs without a stored answer under the present settings."""
    sampling = replace(workspace.sampling, n=min(workspace.sampling.n, before.n))
    step = workspace.sampling_step([job for job in workspace.jobs if job.model == model], sampling)
    return sum(left(workspace.run, step, work) for work in step.works())
