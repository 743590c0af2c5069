"""Wraps engines so that `max_cost` is kept; one wrapper per paid capability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import orjson

from polyculture.cache.errors import EngineError
from polyculture.cache.model_facts import Price
from polyculture.cache.worker import cancelling
from polyculture.generate.engines.base import Completion, Request, Scored, ScoreRequest
from polyculture.generate.engines.capabilities import SAMPLING, SCORING, Capability, E, Sampling, Scoring
from polyculture.generate.engines.metering import Bill
from polyculture.generate.engines.models import Wrapper
from polyculture.generate.job_budget import CostBound, Flight, JobBudget, RequestMeter

A = TypeVar("A")
_PER_TURN = 8  # upper bound of the chat template's tokens per turn
_WRITTEN = 1  # tokens that a server writes behind a text that it scores


class Bound(Protocol):
    """How an engine's options raise the most tokens of an answer: of its prompt, and of what is written."""

    def __call__(self, prompt_tokens: int, completion_tokens: int) -> tuple[int, int]: ...


def as_asked(prompt_tokens: int, completion_tokens: int) -> tuple[int, int]:
    """The bound of an engine without such options."""
    return prompt_tokens, completion_tokens


class BudgetedSampling(Wrapper):
    """The samples of `engine`, within the budget even if every answer has its maximum length.

    `sample` raises `BudgetError` after all answers in flight, so that each of them can be kept.
    """

    def __init__(self, engine: Sampling, price: Price, job_budget: JobBudget, bound: Bound = as_asked) -> None:
        self._engine, self._price, self._bound, self._job_budget = engine, price, bound, job_budget
        self._flights: dict[tuple[str, int], Flight] = {}  # of requests that an engine without a meter has
        self._left: list[Request] = []  # taken from the caller, not yet asked of such an engine

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields the engine's own samples, up to the limit."""
        self._job_budget.open()
        source = iter(requests)
        take = self._with_meter if getattr(self._engine, "metered", False) else self._affordable
        try:
            while True:
                with cancelling(self._engine.sample(take(source))) as answers:
                    for answer in answers:
                        if answer.asked:
                            self._settle(answer)
                            yield answer
                self._job_budget.check()
                if not self._left:
                    return
                self._job_budget.wait_for(self._cost_bound(self._left[-1]))
        finally:
            self._job_budget.give_back()

    def _with_meter(self, source: Iterator[Request]) -> Iterator[Request]:
        """Requests of an engine that asks before each attempt, until one cannot be paid."""
        while not self._job_budget.stopped and (request := next(source, None)):
            yield replace(request, meter=RequestMeter(self._job_budget, self._cost_bound(request)))

    def _affordable(self, source: Iterator[Request]) -> Iterator[Request]:
        """Requests whose money is reserved here, in pieces, until one cannot be paid."""
        while request := self._left.pop() if self._left else next(source, None):
            taken = self._take(request, self._cost_bound(request))
            if taken < len(request.seeds):
                self._left.append(replace(request, seeds=request.seeds[taken:]))
            if taken:
                yield replace(request, seeds=request.seeds[:taken])
            if taken < len(request.seeds):
                return

    def _take(self, request: Request, cost_bound: CostBound) -> int:
        """How many of a request's answers can be paid now, from the first."""
        for place, seed in enumerate(request.seeds):
            flight = self._job_budget.take(cost_bound)
            if flight is None:
                return place
            self._flights[request.request_id, seed] = flight
        return len(request.seeds)

    def _settle(self, answer: Completion) -> None:
        flight = self._flights.pop((answer.request_id, answer.seed), None)
        if flight is None:  # its engine has settled it
            return
        failed = answer.text is None and answer.completion_tokens is None
        bill = Bill(answer.prompt_tokens, answer.completion_tokens)
        bill = Bill.nothing() if failed and not answer.bill_unknown else bill
        flight.settle(bill, answered=answer.text is not None, purchase=answer.purchase)

    def _cost_bound(self, request: Request) -> CostBound:
        return CostBound(*self._bound(most_prompt_tokens(request), request.decoding.max_tokens), self._price)


class BudgetedScoring(Wrapper):
    """The scores of `engine`, which asks a request's meter, within the budget.

    Each text costs its prompt tokens and one completion token. Raises `EngineError` where the engine asks no meter.
    `score` raises `BudgetError` after all scores in flight.
    """

    def __init__(self, engine: Scoring, price: Price, job_budget: JobBudget, bound: Bound = as_asked) -> None:
        if not getattr(engine, "metered", False):
            raise _not_counted(SCORING)
        self._engine, self._price, self._bound, self._job_budget = engine, price, bound, job_budget

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields a row per request and continuation, as the engine does."""
        self._job_budget.open()
        try:
            with cancelling(self._engine.score(self._with_meter(iter(requests)))) as scores:
                yield from (scored for scored in scores if scored.asked)
            self._job_budget.check()
        finally:
            self._job_budget.give_back()

    def _with_meter(self, source: Iterator[ScoreRequest]) -> Iterator[ScoreRequest]:
        while not self._job_budget.stopped and (request := next(source, None)):
            longest = max((len(end.encode()) for end in request.continuations), default=0)
            # No tokenizer makes more than one token per byte.
            most = self._bound(len(request.prefix.encode()) + longest + _PER_TURN, _WRITTEN)
            yield replace(request, meter=RequestMeter(self._job_budget, CostBound(*most, self._price)))


# A wrapper per paid capability. Under a limit, no other capability is used.
_WRAPPERS: Mapping[Capability[Any], Callable[[Any, Price, JobBudget, Bound], Any]] = {
    SAMPLING: BudgetedSampling,
    SCORING: BudgetedScoring,
}


def budgeted(engine: E, needs: Capability[E], price: Price, job_budget: JobBudget, bound: Bound = as_asked) -> E:
    """`engine` within the budget. Raises `EngineError` for a capability whose cost is not counted."""
    if needs not in _WRAPPERS:
        raise _not_counted(needs)
    limited: E = _WRAPPERS[needs](engine, price, job_budget, bound)
    return limited


def _not_counted(needs: Capability[Any]) -> EngineError:
    remedy = "Remove max_cost, or use a model that costs nothing."
    return EngineError(f"the cost of {needs.name!r} is not counted, so max_cost cannot be kept", remedy=remedy)


def most_prompt_tokens(request: Request) -> int:
    """An upper bound of a request's tokens: no tokenizer makes more than one per byte."""
    schema = orjson.dumps(dict(request.decoding.schema)) if request.decoding.schema else b""
    return len(schema) + sum(len(turn.content.encode()) + _PER_TURN for turn in request.messages)
