"""Where a run asks models: in this process. A cluster is another place of the same form (`cluster/run.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from polyculture.cache.store.run_folder import Job
from polyculture.instruments.contract import Study
from polyculture.running.instrument_calls import InstrumentCall
from polyculture.running.pipeline import Pipeline
from polyculture.running.studies import Share, ask_all


class Executor(Protocol):
    """A place where a run's questions to models are asked."""

    def work(
        self, pipeline: Pipeline, jobs: Sequence[Job], calls: Sequence[InstrumentCall], share: Share
    ) -> list[Study]:
        """Samples and extracts the jobs, and asks a share of each instrument's work.

        Returns what follows from the instruments' answers. Missing work, jobs that others hold and stages that stopped
        are recorded in `pipeline`. Raises the fault that ends the run, with its exit code.
        """


class ThisProcess:
    """The executor of a run without a cluster: one stage after the other, as many requests at once as engines allow."""

    def work(
        self, pipeline: Pipeline, jobs: Sequence[Job], calls: Sequence[InstrumentCall], share: Share
    ) -> list[Study]:
        """As an executor does. Raises `SystematicFaultError` where stages stopped and left nothing to go on with."""
        pipeline.generate(jobs)
        pipeline.go_on_with("responses")
        pipeline.extract(jobs)
        pipeline.go_on_with("extractions")
        return ask_all(pipeline, calls, share, accept_changes=True)
