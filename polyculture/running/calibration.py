"""Measures the rates of models in a minute of real work. The answers are kept.

A rate is of one stage and model, in what the stage counts as `left`: samples, texts that are read, scores, answers. It
is not in tokens: how long a token takes hangs on whether it is read or written, and on what is read together.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic import BaseModel

from polyculture.cache.files import replacing
from polyculture.cache.log import get_logger
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.work.worker import Step, Work, do_works, left, works_by_model
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines import SAMPLING, Completion, Request, Sampling
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.capabilities import Capability, E_co
from polyculture.generate.engines.models import MODEL, Models, Wrapper
from polyculture.running.batching import in_batches
from polyculture.running.calls import Call
from polyculture.running.models import LoadedModels, WorkModels

_log = get_logger(__name__)

SECONDS = 60.0  # of a model's work, without loading
_JOBS = 3  # of a stage and model: languages differ in how long their texts are
_FILE = "calibration.json"


class _Rates(BaseModel):
    """What is settled a second, by stage and model."""

    settled: dict[str, dict[str, float]] = {}


def read_rates(run: RunFolder) -> dict[tuple[str, str], float]:
    """What is settled a second in the stages, and by the models, that have been calibrated."""
    file = run.root / _FILE
    found = _Rates.model_validate_json(file.read_bytes()).settled if file.exists() else {}
    return {(stage, model): rate for stage, rates in found.items() for model, rate in rates.items()}


def calibrate(workspace: Workspace, calls: Iterable[Call], seconds: float = SECONDS) -> None:
    """Lets every model work for `seconds` on what calls ask it, and keeps its rates. The calls are valid already.

    A model's time is shared equally by its stages. A stage that asks it in batches has no rate: answers arrive within a
    day.
    """
    of_models: dict[str, list[tuple[str, Step[Any, Models], list[Work[Any]]]]] = {}
    for name, step in ((call.stage(step), step) for call in calls for step in call.known.steps):
        for model, works in works_by_model(step).items():
            batched = in_batches(step, workspace.experiment.model_spec(model))
            if not batched and _asks(workspace, step, works):
                of_models.setdefault(model, []).append((name, step, works))
    rates = _Rates()
    for (name, model), rate in read_rates(workspace.run).items():
        rates.settled.setdefault(name, {})[model] = rate
    for model, parts in of_models.items():
        with LoadedModels(workspace) as loaded:
            for name, step, works in parts:
                _log.info(f"calibrate {name}, {model}: {seconds / len(parts):.0f} s; the answers are kept")
                measured = _rate(loaded, step, works, seconds / len(parts))
                if measured:
                    rates.settled.setdefault(name, {})[model] = measured
    with replacing(workspace.run.root / _FILE) as temporary:
        temporary.write_text(rates.model_dump_json(indent=2), encoding="utf-8")


def _asks(workspace: Workspace, step: Step[Any, Models], works: Iterable[Work[Any]]) -> bool:
    """Whether a model is to read or write anything for some works: to open a tokenizer takes no time."""
    return any(True for work in works for _ in step.remaining(workspace.run, work).loads)


def _rate(loaded: LoadedModels, step: Step[Any, Models], works: Sequence[Work[Any]], seconds: float) -> float | None:
    run = loaded.workspace.run
    chosen = _spread([work for work in works if left(run, step, work)])
    settled, spent = 0, 0.0
    for work in chosen:
        models = _TimedModels(WorkModels(loaded, step, work), seconds / len(chosen))
        outcome = do_works(run, step, [work], models, going_on=models.going_on)
        settled, spent = settled + outcome.done - outcome.reused, spent + models.spent
    return settled / spent if settled else None


def _spread(works: Sequence[Work[Any]]) -> list[Work[Any]]:
    """The first of them, one of the middle, the last."""
    places = dict.fromkeys(i * (len(works) - 1) // (_JOBS - 1) for i in range(_JOBS))
    return [works[place] for place in places] if works else []


class _TimedModels:
    """The models of a work, which get no more requests `limit` seconds after the first of them was loaded.

    What is in flight then is waited for: the first answers to come are short, and their rate alone would be too high.
    """

    def __init__(self, models: WorkModels, limit: float) -> None:
        self._models, self._limit = models, limit
        self._started: float | None = None

    def open(self, needs: Capability[E_co], role: str = MODEL) -> E_co:
        """The model of a role; from the first on time runs."""
        engine = self._models.open(needs, role)
        self._started = self._started or time.monotonic()
        return cast("E_co", _TimedSampling(cast("Sampling", engine), self)) if needs is SAMPLING else engine

    def spec(self, role: str = MODEL) -> ModelSpec:
        """The model of a role with its options."""
        return self._models.spec(role)

    def going_on(self) -> bool:
        """Whether there is time for another request."""
        return self._started is None or time.monotonic() <= self._started + self._limit

    @property
    def spent(self) -> float:
        """The seconds until now."""
        return 0.0 if self._started is None else time.monotonic() - self._started


class _TimedSampling(Wrapper):
    """`engine`, asked as long as there is time: a prompt's samples one by one, so that few are in flight at the end."""

    def __init__(self, engine: Sampling, models: _TimedModels) -> None:
        self._engine, self._models = engine, models

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """As the engine's own, for a while."""
        return self._engine.sample(self._in_time(requests))

    def _in_time(self, requests: Iterable[Request]) -> Iterator[Request]:
        for request in requests:
            for seed in request.seeds:
                if not self._models.going_on():
                    return
                yield replace(request, seeds=(seed,))
