"""Asks a service for a few answers before it asks for many: what all of them would meet, the few show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice, takewhile
from typing import Any, TypeVar

from polyculture.cache.work.stop_rule import StopRule
from polyculture.generate.engines.base import Completion, Request, Scored, ScoreRequest
from polyculture.generate.engines.capabilities import SAMPLING, SCORING, Capability, E, Sampling, Scoring
from polyculture.generate.engines.models import Wrapper

R = TypeVar("R")
_Wrappers = Mapping[Capability[Any], Callable[[Any, StopRule], Any]]
# Takes the requests of so many answers, and what is left of these requests.
_First = Callable[[Iterator[R], int], tuple[list[R], list[R]]]


class FirstSamples(Wrapper):
    """The samples of `engine`: a few at first, until one of them is of use; none once the stage has stopped."""

    def __init__(self, engine: Sampling, rule: StopRule) -> None:
        self._engine, self._rule = engine, rule

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields the engine's own samples."""
        for some in _stages(self._rule, iter(requests), _first_samples):
            yield from self._engine.sample(some)


class FirstScores(Wrapper):
    """The same of scores."""

    def __init__(self, engine: Scoring, rule: StopRule) -> None:
        self._engine, self._rule = engine, rule

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields the engine's own scores."""
        for some in _stages(self._rule, iter(requests), lambda source, most: (list(islice(source, most)), [])):
            yield from self._engine.score(some)


class UntilStopped(Wrapper):
    """The samples of an engine that takes all requests before it answers: none once the stage has stopped."""

    def __init__(self, engine: Sampling, rule: StopRule) -> None:
        self._engine, self._rule = engine, rule

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields the engine's own samples."""
        return self._engine.sample(_until_stopped(requests, self._rule))


def watched(engine: E, needs: Capability[E], rule: StopRule, *, paid: bool) -> E:
    """`engine`, which is asked no more once its stage has stopped; a paid service is asked for a few answers first.

    In batches (`rule.drains`) there are no first answers. What is free is returned unchanged.
    """
    first: _Wrappers = {SAMPLING: FirstSamples, SCORING: FirstScores} if paid else {}
    wrappers: _Wrappers = {SAMPLING: UntilStopped} if rule.drains else first
    wrapper = wrappers.get(needs)
    found: E = engine if wrapper is None else wrapper(engine, rule)
    return found


def _stages(rule: StopRule, source: Iterator[R], first: _First[R]) -> Iterator[Iterator[R]]:
    """The requests, a few at a time while no answer is of use; then all others."""
    later: list[R] = []
    while rule.limits.answers and not rule.answered and rule.stopped is None:
        now, later = first(chain(later, source), rule.limits.answers)
        if not now:
            return
        yield iter(now)
    yield _until_stopped(chain(later, source), rule)


def _until_stopped(requests: Iterable[R], rule: StopRule) -> Iterator[R]:
    return takewhile(lambda _: rule.stopped is None, requests)


def _first_samples(source: Iterator[Request], most: int) -> tuple[list[Request], list[Request]]:
    """At most `most` answers, one of every request before a second of any: a prompt may be at fault itself."""
    taken = list(islice(source, most))
    turns = sorted((turn, at) for at, request in enumerate(taken) for turn in range(len(request.seeds)))
    sizes = Counter(at for _, at in turns[:most])
    split = [(request, sizes[at]) for at, request in enumerate(taken)]
    now = [replace(request, seeds=request.seeds[:size]) for request, size in split]
    return now, [replace(one, seeds=one.seeds[size:]) for one, size in split if size < len(one.seeds)]
