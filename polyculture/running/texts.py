"""The texts of an experiment as a call of two steps, and what is recorded of them in the run."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import Mistakes, UserError
from polyculture.cache.store.manifest import TEXTS, require_run
from polyculture.cache.store.schema import WANTED_RESPONSES
from polyculture.cache.store.store import open_store
from polyculture.cache.work.worker import Step
from polyculture.experiment.checks import check_prompted
from polyculture.experiment.sections import StudySection
from polyculture.experiment.workspace import Workspace
from polyculture.instruments.contract import Study, Validity
from polyculture.metrics.comparison.study import Parts, study_parts
from polyculture.metrics.text_doubts import KEPT_FOR_DOUBTS, text_doubts
from polyculture.running.calls import Call, LogRemark
from polyculture.running.extraction import ExtractionStage
from polyculture.running.linking import LINK, LinkingStage, fill_with, plan_linking, require_contact
from polyculture.running.study import check_study, restated, write_study
from polyculture.running.validity import Proposal, amend_manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VERSIONS = """
SELECT model, string_agg(DISTINCT model_version, ' | ' ORDER BY model_version)
FROM responses WHERE model_version IS NOT NULL GROUP BY model ORDER BY model
"""


@dataclass(frozen=True)
class TextsCall(Call):
    """The texts of an experiment: two steps, of which one samples responses and the other extracts their mentions."""

    workspace: Workspace
    command: str = TEXTS
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

    @cached_property
    def linking(self) -> LinkingStage:
        """What links the mentions. To say so takes no contact for the live service."""
        return plan_linking(self.workspace, contact_needed=False)

    @property
    def summaries(self) -> list[tuple[str, str]]:
        """What extracts the mentions, and what links them, by stage."""
        return [(self.known.steps[-1].name, self.extraction.summary), (LINK, self.linking.summary)]

    def check_able(self) -> None:
        """Raises a `UserError` with all that is wrong with the texts' prompts, and with files that are named; then with
        what differs from the study that is stated."""
        mistakes = Mistakes()
        checks: tuple[Callable[[], object], ...] = (
            lambda: check_prompted(self.workspace.experiment, self.workspace.file),
            self.extraction.require_choice,
            lambda: self.workspace.prompts,
            lambda: self.extraction.instruction,
            lambda: self.linking,
        )
        for check in checks:
            with mistakes:
                check()
        mistakes.tell()
        if self.workspace.experiment.study is not None:
            check_study(self.workspace, self.study_parts)

    @property
    def study_parts(self) -> Parts:
        """The parts of the study that the experiment is as its file is now."""
        return study_parts(self.proposal(self.known).manifest(self.workspace.before))

    def state_study(self) -> StudySection:
        """Writes all parts of the study into the experiment file, and returns it.

        Raises `ExperimentError` for the file of the standard study, and where [study] cannot be replaced.
        """
        return write_study(self.workspace.file, restated(self.workspace, self.study_parts))

    def refusals(self) -> Iterator[UserError]:
        """What `run` will refuse: there is a plan all the same."""
        mistakes = Mistakes()
        with mistakes:
            self.extraction.require_names()
        with mistakes:
            require_contact(self.workspace)
        yield from mistakes.found

    def study(self, tell: LogRemark | None = None) -> Study:
        """As of each call; imported texts are never generated. Whoever asks will link, which may take a contact."""
        if tell is not None:
            self.extraction.require_names()
            plan_linking(self.workspace)
        workspace, jobs = self.workspace, self.workspace.jobs
        wanted = workspace.text_tables[WANTED_RESPONSES]
        sampling, extraction = workspace.sampling_step(jobs), self.extraction.step(jobs, wanted)
        validity = Validity(workspace.setups, self.extraction.ids, lambda: workspace.text_tables)
        if not workspace.experiment.imported:
            return Study((sampling, extraction), validity)
        if tell is not None:
            texts = sum(map(workspace.texts_of, jobs))
            tell(logging.INFO, f"{sampling.name}: {texts} texts are imported, and no text is generated")
        return Study((extraction,), validity)

    def proposal(self, study: Study) -> Proposal:
        """The experiment as its file is now, whichever of its jobs are asked."""
        return Proposal(self.workspace, TEXTS, study.validity, study.steps, self.linking.provenance)


def without_texts(workspace: Workspace) -> Proposal:
    """What an experiment without texts makes of the run's: they stay on disk, and none of them is current."""
    return Proposal(workspace, TEXTS, Validity(tables=lambda: workspace.text_tables), text_fields={})


def filled_linking(workspace: Workspace) -> LinkingStage:
    """What links the mentions of the run. Before, where [link] says so, it fills the snapshot with their names, and
    records what that holds then."""
    linking = plan_linking(workspace)
    if not workspace.experiment.link.fill:
        return linking
    from polyculture.link.stage import current_names

    fill_with(workspace, current_names(workspace.run, require_run(workspace.run)), linking.source.path)
    filled = plan_linking(workspace)
    amend_manifest(workspace, filled.provenance)
    return filled


def record_versions(workspace: Workspace) -> None:
    """Records the version that each engine reported with its answers; it keeps several versions of one model."""
    with open_store(workspace.run) as store:
        versions = dict(store.sql(VERSIONS).fetchall())
    if versions != require_run(workspace.run).model_versions:
        amend_manifest(workspace, {"model_versions": versions})


def doubts(workspace: Workspace) -> list[str]:
    """What makes the texts of the run doubtful, a line each."""
    with open_store(workspace.run, keep=KEPT_FOR_DOUBTS) as store:
        return list(text_doubts(store, require_run(workspace.run)))
