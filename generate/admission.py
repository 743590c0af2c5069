"""Engines that are asked only what the rule of their stage admits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, cast

from polyculture.cache.work.stop_rule import StopRule, whole
from polyculture.generate.engines.base import Completion, Request, Scored, ScoreRequest
from polyculture.generate.engines.capabilities import SAMPLING, SCORING, Capability, E
from polyculture.generate.engines.models import Wrapper


def admitted(engine: E, needs: Capability[E], rule: StopRule) -> E:
    """`engine`, asked for texts and scores as `rule` admits them; of other capabilities it is returned unchanged."""
    return cast("E", _AdmittedEngine(engine, rule)) if needs in (SAMPLING, SCORING) else engine


class _AdmittedEngine(Wrapper):
    """Asks its engine once for each round of a rule."""

    def __init__(self, engine: Any, rule: StopRule) -> None:
        self._engine, self._rule = engine, rule

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields the engine's own samples."""
        for some in self._rule.rounds(requests, one_of_each):
            yield from self._engine.sample(some)

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields the engine's own scores; all continuations of a request are asked together."""
        for some in self._rule.rounds(requests, whole):
            yield from self._engine.score(some)


def one_of_each(requests: Iterator[Request], most: int) -> tuple[list[Request], list[Request]]:
    """At most `most` answers, one of every request before a second of any, since a prompt may be at fault itself; and
    what is left of these requests."""
    taken = list(islice(requests, most))
    turns = sorted((turn, at) for at, request in enumerate(taken) for turn in range(len(request.seeds)))
    sizes = Counter(at for _, at in turns[:most])
    split = [(request, sizes[at]) for at, request in enumerate(taken)]
    now = [replace(request, seeds=request.seeds[:size]) for request, size in split]
    return now, [replace(one, seeds=one.seeds[size:]) for one, size in split if size < len(one.seeds)]
