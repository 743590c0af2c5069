"""Asks a service for a few answers before it asks for many: what all of them would meet, the few show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice, takewhile
from typing import Any, Generic, TypeVar

from polyculture.cache.stop_rule import StopRule
from polyculture.generate.engines.base import Completion, Request, Scored, ScoreRequest
from polyculture.generate.engines.capabilities import SAMPLING, SCORING, Capability, E, Sampling, Scoring
from polyculture.generate.engines.models import Wrapper

R = TypeVar("R")
_Wrappers = Mapping[Capability[Any], Callable[[Any, StopRule], Any]]


@dataclass(frozen=True)
class _Pieces(Generic[R]):
    """How requests of a kind are counted and split."""

    size: Callable[[R], int]
    split: Callable[[R, int], tuple[R, R]]  # the first answers of a request, and the others

    def first(self, source: Iterator[R], most: int) -> tuple[list[R], list[R]]:
        """At most `most` answers, spread over as many requests, and what is left of these requests."""
        taken = list(islice(source, most))
        sizes = _spread([self.size(request) for request in taken], most)
        now, later = [], []
        for request, size in zip(taken, sizes, strict=True):
            if size == self.size(request):
                now.append(request)
            else:
                head, rest = self.split(request, size)
                now.append(head)
                later.append(rest)
        return now, later


class FirstSamples(Wrapper):
    """The samples of `engine`: a few at first, until one of them is of use; none once the stage has stopped."""

    def __init__(self, engine: Sampling, rule: StopRule) -> None:
        self._engine, self._rule = engine, rule

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields the engine's own samples."""
        for some in _stages(self._rule, iter(requests), _SAMPLES):
            yield from self._engine.sample(some)


class FirstScores(Wrapper):
    """The same of scores."""

    def __init__(self, engine: Scoring, rule: StopRule) -> None:
        self._engine, self._rule = engine, rule

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields the engine's own scores."""
        before: dict[str, int] = {}  # continuations of a request that were asked in earlier pieces
        for some in _stages(self._rule, iter(requests), _SCORES):
            asked: dict[str, int] = {}
            for scored in self._engine.score(_counting(some, asked)):
                yield replace(scored, index=scored.index + before.get(scored.request_id, 0))
            for name, size in asked.items():
                before[name] = before.get(name, 0) + size


def watched(engine: E, needs: Capability[E], rule: StopRule, *, paid: bool) -> E:
    """`engine`, which is asked no more once its stage has stopped; a paid service is asked for a few answers first.

    In batches (`rule.drains`) there are no first answers. What is free is returned unchanged.
    """
    wrappers: _Wrappers = {SAMPLING: UntilStopped} if rule.drains else _WRAPPERS if paid else {}
    wrapper = wrappers.get(needs)
    found: E = engine if wrapper is None else wrapper(engine, rule)
    return found


def until_stopped(requests: Iterable[R], rule: StopRule) -> Iterator[R]:
    """The requests, until the stage has stopped."""
    return takewhile(lambda _: rule.stopped is None, requests)


class UntilStopped(Wrapper):
    """The samples of an engine that takes all requests before it answers: none once the stage has stopped."""

    def __init__(self, engine: Sampling, rule: StopRule) -> None:
        self._engine, self._rule = engine, rule

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields the engine's own samples."""
        return self._engine.sample(until_stopped(requests, self._rule))


def _stages(rule: StopRule, source: Iterator[R], pieces: _Pieces[R]) -> Iterator[Iterator[R]]:
    """The requests, a few at a time while no answer is of use; then all others."""
    later: list[R] = []
    while rule.limits.answers and not rule.answered and rule.stopped is None:
        now, rest = pieces.first(chain(later, source), rule.limits.answers)
        if not now:
            return
        later = rest
        yield iter(now)
    yield until_stopped(chain(later, source), rule)


def _spread(sizes: list[int], most: int) -> list[int]:
    """How many of each, `most` together: one of every request before a second of any."""
    taken = [0] * len(sizes)
    while most > 0 and taken != sizes:
        for place, size in enumerate(sizes):
            if most > 0 and taken[place] < size:
                taken[place] += 1
                most -= 1
    return taken


def _split_samples(request: Request, first: int) -> tuple[Request, Request]:
    return replace(request, seeds=request.seeds[:first]), replace(request, seeds=request.seeds[first:])


def _split_scores(request: ScoreRequest, first: int) -> tuple[ScoreRequest, ScoreRequest]:
    ends = request.continuations
    return replace(request, continuations=ends[:first]), replace(request, continuations=ends[first:])


def _counting(requests: Iterator[ScoreRequest], asked: dict[str, int]) -> Iterator[ScoreRequest]:
    for request in requests:
        asked[request.request_id] = len(request.continuations)
        yield request


_SAMPLES: _Pieces[Request] = _Pieces(lambda request: len(request.seeds), _split_samples)
_SCORES: _Pieces[ScoreRequest] = _Pieces(lambda request: len(request.continuations), _split_scores)
_WRAPPERS: _Wrappers = {SAMPLING: FirstSamples, SCORING: FirstScores}
