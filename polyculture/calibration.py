"""How fast a model answers, by a minute of its real work: what it answers is kept, and not asked again."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from pydantic import BaseModel

from cache.files import replacing
from cache.run_folder import Job, RunFolder
from generate.engines import Capabilities, Completion, Engine, Request
from generate.engines.base import Scored, ScoreRequest
from polyculture.batching import asked_in_batches
from polyculture.budget import open_budget
from polyculture.console import say
from polyculture.experiment import PAID_ENGINES
from polyculture.workspace import Workspace

SECONDS = 60.0  # over all models
_JOBS = 3  # of a model: languages differ in how long their texts are
_PIECE = 8  # samples that are taken together: what is on its way when the time is over is waited for
_FILE = "calibration.json"


class _Rates(BaseModel):
    """Answers a second, by model."""

    rates: dict[str, float] = {}


def read_rates(run: RunFolder) -> dict[str, float]:
    """Answers a second of the models that have been calibrated."""
    file = run.root / _FILE
    return _Rates.model_validate_json(file.read_bytes()).rates if file.exists() else {}


def calibrate(workspace: Workspace, seconds: float = SECONDS) -> None:
    """Lets every model answer for its share of the time, and keeps its rate. The workspace's run is prepared.

    Models that are asked in batches have no rate: their answers come within a day.
    """
    models = [m for m in workspace.experiment.models if not asked_in_batches(workspace.experiment.model_spec(m))]
    rates = read_rates(workspace.run)
    for model in models:
        if rate := _rate(workspace, model, seconds / len(models)):
            rates[model] = rate
    with replacing(workspace.run.root / _FILE) as temporary:
        temporary.write_text(_Rates(rates=rates).model_dump_json(indent=2), encoding="utf-8")


def _rate(workspace: Workspace, model: str, seconds: float) -> float | None:
    from generate.engines import open_engine
    from generate.stage import generate_job, missing_samples

    sampling, spec = workspace.sampling, workspace.experiment.model_spec(model)
    jobs = [job for job in workspace.jobs if job.model == model]
    open_jobs = [j for j in jobs if missing_samples(workspace.run, j, workspace.prompts_of(j), sampling)]
    if not open_jobs:
        return None
    chosen = _spread(open_jobs)
    say(f"calibrate {model}: {seconds:.0f} s; what it answers is kept")
    answers = spent = 0.0
    with open_budget(workspace) as budget, open_engine(spec) as engine:
        for job in chosen:
            paid = budget.engine(engine, model, "generate", job)
            timed = TimedEngine(paid, seconds / len(chosen), finish=spec.engine in PAID_ENGINES)
            prompts = workspace.prompts_of(job)
            generate_job(workspace.run, job, prompts, spec, sampling, engine=timed, catalog=workspace.catalog)
            answers, spent = answers + timed.answers, spent + timed.seconds
    return answers / spent if answers and spent else None


def _spread(jobs: Sequence[Job]) -> list[Job]:
    """The first of them, one of the middle, the last."""
    return list(dict.fromkeys(jobs[i * (len(jobs) - 1) // (_JOBS - 1)] for i in range(_JOBS)))


class TimedEngine:
    """`engine`, given nothing more to do after `limit` seconds; `answers` and `seconds` say what it did in them.

    What is on its way then is waited for if `finish`, since it is paid for; otherwise it is left.
    """

    def __init__(self, engine: Engine, limit: float, *, finish: bool) -> None:
        self.answers, self.seconds = 0, 0.0
        self._engine, self._limit, self._finish = engine, limit, finish

    @property
    def capabilities(self) -> Capabilities:
        return self._engine.capabilities

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """As the engine's own, for a while."""
        started = time.monotonic()
        for answer in self._engine.sample(self._until(started + self._limit, requests)):
            passed = time.monotonic() - started
            if passed <= self._limit or self.answers == 0:
                self.answers, self.seconds = self.answers + 1, passed
            yield answer
            if passed > self._limit and not self._finish:
                return

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """As the engine's own."""
        return self._engine.score(requests)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def _until(self, end: float, requests: Iterable[Request]) -> Iterator[Request]:
        for request in requests:
            for first in range(0, len(request.seeds), _PIECE):
                if time.monotonic() >= end:
                    return
                yield replace(request, seeds=request.seeds[first : first + _PIECE])
