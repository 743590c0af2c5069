"""Measures a model's rate in a minute of real work. The answers are kept."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import FrameType

from pydantic import BaseModel

from polyculture.cache.files import replacing
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.worker import Work, do_works
from polyculture.cache.worker import left as left_of
from polyculture.console import say
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines import SAMPLING, Completion, Request, Sampling, find_kind
from polyculture.generate.engines.models import OneModel, Wrapper
from polyculture.generate.step import Sample
from polyculture.running.batching import asked_in_batches
from polyculture.running.models import LoadedModels, WorkModels

SECONDS = 60.0  # of work, without loading
_JOBS = 3  # of a model: languages differ in how long their texts are
_PIECE = 8  # samples per block: when the time is over, those in flight are waited for
_FILE = "calibration.json"
_AT_ONCE = 0.001  # seconds: 0 would be never


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
    works = [work for work in step.works() if left_of(workspace.run, step, work)]
    if not works:
        return None
    chosen, measured = _spread(works), list[TimedEngine]()
    say(f"calibrate {model}: {seconds:.0f} s; the answers are kept")
    with LoadedModels(workspace) as loaded:
        loaded.engine(spec, SAMPLING)  # to load it takes its own time
        for number, work in enumerate(chosen):
            left = seconds - sum(timed.passed for timed in measured)
            if left <= 0:
                break
            paid = WorkModels(loaded, step, work).open(SAMPLING)
            timed = TimedEngine(paid, left / (len(chosen) - number), left, finish=find_kind(spec).paid)
            measured.append(timed)
            do_works(workspace.run, step, [work], OneModel(timed, spec))
    return _summed_up(model, seconds, measured)


def _summed_up(model: str, limit: float, measured: Sequence[TimedEngine]) -> float | None:
    """Answers a second over all jobs. Reports a rate that is unknown or approximate."""
    answers, spent = sum(timed.answers for timed in measured), sum(timed.seconds for timed in measured)
    if not answers or not spent:
        say(
            f"calibrate {model}: no answer was finished in {limit:.0f} s, so its hours are not known. "
            "Lower concurrency, n_parallel or max_num_seqs, so that answers finish sooner"
        )
        return None
    if any(timed.rough for timed in measured):
        say(
            f"calibrate {model}: {answers} answers in {spent:.0f} s, fewer than were in flight: the rate is approximate"
        )
    return answers / spent


def _spread(works: Sequence[Work[Sample]]) -> list[Work[Sample]]:
    """The first of them, one of the middle, the last."""
    places = dict.fromkeys(i * (len(works) - 1) // (_JOBS - 1) for i in range(_JOBS))
    return [works[place] for place in places]


class TimedEngine(Wrapper):
    """`engine`, which gets no more requests once its time is over; `answers` and `seconds` count what it did.

    Its time ends after `share` seconds if as many texts have finished by then as are in flight: the first to finish are
    short, and their rate is biased. It ends after `limit` seconds in any case. `finish` waits for the texts
    in flight, since they are paid; otherwise they are dropped.
    """

    def __init__(self, engine: Sampling, share: float, limit: float, *, finish: bool) -> None:
        self._engine = engine
        self.answers, self.seconds = 0, 0.0
        self._asked = self._answered = 0
        self._share, self._limit, self._finish = share, limit, finish
        self._started = self._ended = 0.0

    @property
    def rough(self) -> bool:
        """Whether fewer texts finished in time than were still in flight."""
        return self.answers < self._asked - self.answers

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """As the engine's own, for a while."""
        self._started = time.monotonic()
        answers = self._engine.sample(self._in_time(requests))
        try:
            while answer := self._next(answers):
                self._answered += 1
                if self.rough or not self._over:
                    self.answers, self.seconds = self._answered, self.passed
                yield answer
                if self._over and not self._finish:
                    return
        finally:
            self._ended = time.monotonic()

    def _next(self, answers: Iterator[Completion]) -> Completion | None:
        """The next answer; none at the end, or past the time limit."""
        if self._finish:
            return next(answers, None)
        with suppress(TimeIsOverError), deadline(self._limit - self.passed):
            return next(answers, None)
        return None

    @property
    def passed(self) -> float:
        """Seconds of use, until now or until exit."""
        return (self._ended or time.monotonic()) - self._started if self._started else 0.0

    @property
    def _over(self) -> bool:
        passed = self.passed
        return passed > self._limit or (passed > self._share and self._answered >= self._asked - self._answered)

    def _in_time(self, requests: Iterable[Request]) -> Iterator[Request]:
        for request in requests:
            for first in range(0, len(request.seeds), _PIECE):
                if self._over:
                    return
                piece = request.seeds[first : first + _PIECE]
                self._asked += len(piece)
                yield replace(request, seeds=piece)


class TimeIsOverError(Exception):
    """The deadline of a block has passed."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raises `TimeIsOverError` in the block once `seconds` have passed: anywhere in it, as Ctrl-C does.

    For the main thread. An alarm that somebody else has set rings after the block, if its time came meanwhile.
    """

    waiting = True

    def ring(_number: int, _frame: FrameType | None) -> None:
        if waiting:
            raise TimeIsOverError

    started, before = time.monotonic(), signal.signal(signal.SIGALRM, ring)
    other, _ = signal.setitimer(signal.ITIMER_REAL, max(seconds, _AT_ONCE))
    try:
        try:
            yield
        finally:
            waiting = False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if other:
            signal.setitimer(signal.ITIMER_REAL, max(other - (time.monotonic() - started), _AT_ONCE))
