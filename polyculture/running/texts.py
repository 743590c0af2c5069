"""The texts of an experiment as a call of two steps, and an experiment that fits the run on disk."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

from polyculture.cache.errors import Mistakes
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.schema import EXTRACTIONS, MENTIONS, RESPONSES
from polyculture.cache.store.shards import recover_lost, remove_rows_about_lost
from polyculture.cache.store.store import open_store
from polyculture.cache.work.worker import Step
from polyculture.experiment.checks import check_prompted
from polyculture.experiment.workspace import Workspace
from polyculture.instruments.contract import Study
from polyculture.metrics.text_doubts import text_doubts
from polyculture.running.calls import Call, Tell
from polyculture.running.extraction import ExtractionStage
from polyculture.running.linking import LinkingStage, fill_with, plan_linking
from polyculture.running.validity import amend_manifest, check_texts

VERSIONS = """
SELECT model, string_agg(DISTINCT model_version, ' | ' ORDER BY model_version)
FROM responses WHERE model_version IS NOT NULL GROUP BY model ORDER BY model
"""


@dataclass(frozen=True)
class TextsCall(Call):
    """The texts of an experiment: two steps, of which one samples responses and the other extracts their mentions."""

    workspace: Workspace
    command: str = "texts"
    tell_settled = True

    @property
    def title(self) -> str:
        return self.command

    def stage(self, step: Step[Any, Any]) -> str:
        return step.name

    def study(self, tell: Tell | None = None) -> Study:
        """As of each call; imported texts are never generated."""
        workspace, jobs = self.workspace, self.workspace.jobs
        extraction = ExtractionStage(workspace).step(jobs, workspace.wanted_now)
        if not workspace.experiment.imported:
            return Study(steps=(workspace.sampling_step(jobs), extraction))
        if tell is not None:
            texts = sum(map(workspace.texts_of, jobs))
            tell(logging.INFO, f"generate: {texts} texts are imported, and none is generated")
        return Study(steps=(extraction,))

    def make_valid(self, study: Study) -> None:
        """Nothing: `prepare` has made the whole experiment the run's present one."""


@dataclass(frozen=True)
class PreparedRun:
    """An experiment that fits the run on disk, and how its mentions are linked."""

    workspace: Workspace
    manifest: Manifest
    linking: LinkingStage | None  # None without texts: there are no mentions

    def filled(self) -> PreparedRun:
        """Fills the snapshot with the names of the run where [link] says so, and records what it holds then."""
        from polyculture.link.stage import current_names

        workspace = self.workspace
        if self.linking is None or not workspace.experiment.link.fill:
            return self
        fill_with(workspace, current_names(workspace.run, self.manifest), self.linking.source.path)
        linking = plan_linking(workspace)
        return replace(self, manifest=amend_manifest(workspace, linking.provenance), linking=linking)

    def with_versions(self) -> PreparedRun:
        """Records the version that each engine reported with its answers; it keeps several versions of one model."""
        with open_store(self.workspace.run, manifest=self.manifest) as store:
            versions = dict(store.sql(VERSIONS).fetchall())
        if versions == self.manifest.model_versions:
            return self
        return replace(self, manifest=amend_manifest(self.workspace, {"model_versions": versions}))

    def doubts(self) -> list[str]:
        """What makes the texts of the run doubtful, a line each."""
        with open_store(self.workspace.run, manifest=self.manifest) as store:
            return list(text_doubts(store, self.manifest))


def prepare(workspace: Workspace, *, accept_changes: bool = False) -> PreparedRun:
    """Checks the experiment against the run on disk, and makes it the run's present one. Raises as `check`."""
    remove_rows_about_lost(workspace.run, RESPONSES, (MENTIONS, EXTRACTIONS))
    for tables in ((RESPONSES,), (MENTIONS, EXTRACTIONS)):
        recover_lost(workspace.run, tables)
    prepared = check(workspace, accept_changes=accept_changes)
    workspace.write(prepared.manifest)
    return prepared


def check(workspace: Workspace, *, accept_changes: bool = False, contact_needed: bool = True) -> PreparedRun:
    """Checks the experiment against the run on disk; says what has changed, and writes nothing.

    Raises `ExperimentError` where files that it names cannot be read, or where prompts lack countries;
    `ChangedExperimentError` where answers would have to be made again and that was not accepted. A plan needs no
    contact for the live service.
    """
    if not workspace.jobs:  # without texts nothing is extracted or linked
        return PreparedRun(workspace, workspace.manifest(), None)
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
    manifest = workspace.manifest().model_copy(update={**extraction.provenance, **linking.provenance})
    check_texts(workspace, manifest, accept_changes=accept_changes)
    return PreparedRun(workspace, manifest, linking)
