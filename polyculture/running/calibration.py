"""Measures a model's rate in a minute of real work. The answers are kept."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pydantic import BaseModel

from polyculture.cache.files import replacing
from polyculture.cache.log import get_logger
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.work.worker import Work, do_works, left
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines import SAMPLING, Completion, Request, Sampling
from polyculture.generate.engines.models import OneModel, Wrapper
from polyculture.generate.step import Sample
from polyculture.running.batching import asked_in_batches
from polyculture.running.models import LoadedModels, WorkModels

_log = get_logger(__name__)

SECONDS = 60.0  # of work, without loading
_JOBS = 3  # of a model: languages differ in how long their texts are
_FILE = "calibration.json"


class _Rates(BaseModel):
    """Answers a second, by model."""

    rates: dict[str, float] = {}


def read_rates(run: RunFolder) -> dict[str, float]:
    """Answers a second of the models that have been calibrated."""
    file = run.root / _FILE
    return _Rates.model_validate_json(file.read_bytes()).rates if file.exists() else {}


def calibrate(workspace: Workspace, seconds: float = SECONDS) -> None:
    """Lets every model answer for `seconds`, and keeps its rate. The workspace's run is prepared.

    Models in batch mode have no rate: their answers arrive within a day.
    """
    models = [m for m in workspace.experiment.models if not asked_in_batches(workspace.experiment.model_spec(m))]
    rates = read_rates(workspace.run)
    for model in models:
        if rate := _rate(workspace, model, seconds):
            rates[model] = rate
    with replacing(workspace.run.root / _FILE) as temporary:
        temporary.write_text(_Rates(rates=rates).model_dump_json(indent=2), encoding="utf-8")


def _rate(workspace: Workspace, model: str, seconds: float) -> float | None:
    spec = workspace.experiment.model_spec(model)
    step = workspace.sampling_step([job for job in workspace.jobs if job.model == model])
    works = [work for work in step.works() if left(workspace.run, step, work)]
    if not works:
        return None
    chosen, measured = _spread(works), list[TimedEngine]()
    _log.info(f"calibrate {model}: {seconds:.0f} s; the answers are kept")
    with LoadedModels(workspace) as loaded:
        loaded.engine(spec, SAMPLING)  # to load it takes its own time
        for work in chosen:
            measured.append(TimedEngine(WorkModels(loaded, step, work).open(SAMPLING), seconds / len(chosen)))
            do_works(workspace.run, step, [work], OneModel(measured[-1], spec))
    answers, spent = sum(timed.answers for timed in measured), sum(timed.seconds for timed in measured)
    return answers / spent if answers else None


def _spread(works: Sequence[Work[Sample]]) -> list[Work[Sample]]:
    """The first of them, one of the middle, the last."""
    places = dict.fromkeys(i * (len(works) - 1) // (_JOBS - 1) for i in range(_JOBS))
    return [works[place] for place in places]


class TimedEngine(Wrapper):
    """`engine`, which gets no more requests after `limit` seconds; `answers` and `seconds` count what it did.

    What is in flight then is waited for: the first texts to finish are short, and their rate alone would be too high.
    """

    def __init__(self, engine: Sampling, limit: float) -> None:
        self._engine, self._limit = engine, limit
        self.answers, self.seconds = 0, 0.0

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """As the engine's own, for a while."""
        started = time.monotonic()
        for answer in self._engine.sample(self._until(started + self._limit, requests)):
            self.answers, self.seconds = self.answers + 1, time.monotonic() - started
            yield answer

    @staticmethod
    def _until(end: float, requests: Iterable[Request]) -> Iterator[Request]:
        """A request per sample, so that few are in flight at the end."""
        for request in requests:
            for seed in request.seeds:
                if time.monotonic() > end:
                    return
                yield replace(request, seeds=(seed,))
