"""The texts of an experiment as a call of two steps, and an experiment that fits the run on disk."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from polyculture.cache.errors import Mistakes
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.schema import EXTRACTIONS, MENTIONS, RESPONSES
from polyculture.cache.store.shards import recover_lost, remove_rows_about_lost
from polyculture.cache.store.store import open_store
from polyculture.cache.work.worker import Step
from polyculture.experiment.checks import check_prompted
from polyculture.experiment.workspace import Workspace
from polyculture.instruments.contract import Study, Validity
from polyculture.metrics.text_doubts import text_doubts
from polyculture.running.calls import Call, Tell
from polyculture.running.extraction import ExtractionStage
from polyculture.running.linking import LINK, LinkingStage, fill_with, plan_linking
from polyculture.running.validity import Proposal, amend_manifest, make_valid, refuse_redone

VERSIONS = """
SELECT model, string_agg(DISTINCT model_version, ' | ' ORDER BY model_version)
FROM responses WHERE model_version IS NOT NULL GROUP BY model ORDER BY model
"""


@dataclass(frozen=True)
class TextsCall(Call):
    """The texts of an experiment: two steps, of which one samples responses and the other extracts their mentions."""

    workspace: Workspace
    linking: Mapping[str, Any] = field(default_factory=dict)  # of the manifest, where it is renewed
    command: str = "texts"
    tell_settled = True

    @property
    def title(self) -> str:
        return self.command

    def stage(self, step: Step[Any, Any]) -> str:
        return step.name

    @cached_property
    def extraction(self) -> ExtractionStage:
        """What extracts the mentions: the gazetteer, or a model."""
        return ExtractionStage(self.workspace)

    def study(self, tell: Tell | None = None) -> Study:
        """As of each call; imported texts are never generated."""
        workspace, jobs = self.workspace, self.workspace.jobs
        sampling, extraction = workspace.sampling_step(jobs), self.extraction.step(jobs, workspace.wanted_now)
        reader = self.extraction.reader_id
        validity = Validity(
            workspace.setups,
            self.extraction.extractor_ids,
            lambda: workspace.text_tables(workspace.present),
            readers={} if reader is None else {extraction.name: reader},
        )
        if not workspace.experiment.imported:
            return Study((sampling, extraction), validity)
        if tell is not None:
            texts = sum(map(workspace.texts_of, jobs))
            tell(logging.INFO, f"{sampling.name}: {texts} texts are imported, and no text is generated")
        return Study((extraction,), validity)

    def proposal(self, study: Study) -> Proposal:
        """The experiment as its file is now, whichever of its jobs are asked."""

        def manifest(before: Manifest | None) -> Manifest:
            found = {"extractor": self.extraction.settings, **self.linking}
            found |= {"extractor_ids": dict(validity.ids), "reader_id": next(iter(validity.readers.values()), None)}
            return self.workspace.manifest(before).model_copy(update=found)

        validity = study.validity
        return Proposal(self.workspace, manifest, validity, study.steps, lambda _: True)


@dataclass(frozen=True)
class PreparedRun:
    """An experiment that fits the run on disk, and how its mentions are linked."""

    workspace: Workspace
    manifest: Manifest
    texts: TextsCall | None = None
    linking: LinkingStage | None = None  # None without texts: there are no mentions

    @property
    def summaries(self) -> list[tuple[str, str]]:
        """What extracts and links the texts, by stage; empty without texts."""
        if self.texts is None or self.linking is None:
            return []
        reading = self.texts.known.steps[-1].name
        return [(reading, self.texts.extraction.summary), (LINK, self.linking.summary)]

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
    proposal, texts, linking = _proposed(workspace)
    return PreparedRun(workspace, make_valid(proposal, accept_changes=accept_changes), texts, linking)


def check(workspace: Workspace, *, accept_changes: bool = False, contact_needed: bool = True) -> PreparedRun:
    """Checks the experiment against the run on disk; says what has changed, and writes nothing.

    Raises `ExperimentError` where files that it names cannot be read, or where prompts lack countries;
    `ChangedExperimentError` where answers would have to be made again and that was not accepted. A plan needs no
    contact for the live service.
    """
    proposal, texts, linking = _proposed(workspace, contact_needed=contact_needed)
    compared = proposal.compared(workspace.before)
    if not accept_changes:
        refuse_redone([compared])
    compared.tell()
    return PreparedRun(workspace, compared.now, texts, linking)


def _proposed(
    workspace: Workspace, *, contact_needed: bool = True
) -> tuple[Proposal, TextsCall | None, LinkingStage | None]:
    """What makes an experiment the run's present one, its texts, and what links their mentions. Raises as `check`."""
    if not workspace.jobs:  # without texts nothing is extracted or linked
        return Proposal(workspace, workspace.manifest, Validity(), (), lambda _: True), None, None
    texts, mistakes = TextsCall(workspace), Mistakes()
    with mistakes:
        check_prompted(workspace.experiment, workspace.file)
    with mistakes:
        texts.extraction.require_choice()
    for read in (lambda: workspace.prompts, lambda: texts.extraction.instruction):
        with mistakes:
            read()
    with mistakes:
        linking = plan_linking(workspace, contact_needed=contact_needed)
    mistakes.tell()
    texts = replace(texts, linking=linking.provenance)
    return texts.proposal(texts.known), texts, linking
