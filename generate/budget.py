"""Books the money of one stage's work on one job, and keeps `max_cost`: a wrapper around an engine per paid capability.

Money is reserved before each request is sent, and booked when its bill is known: its upper bound, or the largest bill
of the model if that was more, as of hidden reasoning. A failure that may be billed is booked at its upper bound, and
whoever reaches the limit by such failures is told so. Under a limit, one request of a model is in flight until a first
bill is known.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import orjson

from polyculture.cache.errors import BudgetError, EngineError
from polyculture.cache.log import get_logger
from polyculture.cache.store.ledger import Ledger
from polyculture.cache.store.model_facts import BATCH, DIRECT, Price
from polyculture.cache.work.faults import kind_of_error
from polyculture.cache.work.worker import cancelling
from polyculture.generate.engines.base import SCORE_TOKENS, Completion, Request, Scored, ScoreRequest
from polyculture.generate.engines.capabilities import SAMPLING, SCORING, Capability, E, Sampling, Scoring
from polyculture.generate.engines.metering import Settle, Usage
from polyculture.generate.engines.models import Wrapper

_log = get_logger(__name__)

_PER_TURN = 8  # upper bound of the chat template's tokens per turn


_HTTP_STATUS = re.compile(r"HTTP [0-9]{3}\b")
_GO_ON = "Raise max_cost and run the same command again: it goes on where it was"
WAIT = 1.0  # seconds between two checks whether others have released a reservation


@dataclass(frozen=True, slots=True)
class CostBound:
    """The upper bound of an answer's tokens, and what they cost."""

    prompt_tokens: int
    completion_tokens: int
    price: Price

    def cost(self, purchase: str) -> float:
        return self.price.cost(self.prompt_tokens, self.completion_tokens, purchase)


@dataclass(slots=True)
class Bills:
    """What one process knows of the bills of one model, over all jobs."""

    largest: float | None = None  # of one answer; None until there is a bill
    answers: int = 0
    failures: Counter[str] = field(default_factory=Counter)  # attempts that failed, by kind of fault
    booked: float = 0.0  # for failures that may be billed
    last: str = ""  # why the last of them failed

    def fail(self, why: str, booked: float) -> None:
        """An attempt failed, and so much was booked for it."""
        status = _HTTP_STATUS.match(why)
        self.failures[status[0] if status else kind_of_error(why).name] += 1
        self.booked += booked
        self.last = why

    @property
    def fault(self) -> str:
        """What failed, how often, and what was booked for it; empty where nothing was."""
        if not self.booked:
            return ""
        count = self.failures.total()
        kinds = ", ".join(f"{number} x {name}" for name, number in self.failures.most_common())
        what = "no request was answered" if not self.answers else f"{self.answers} requests were answered"
        return (
            f"{what}, and {count} failed ({kinds}; the last one: {self.last}). {self.booked:.4f} is booked for the "
            "failures, since the service may bill them"
        )


class JobBudget:
    """Money for requests, by `admit` where an engine asks before each attempt, else by `take`.

    A text without token counts, or with impossible ones, has an unknown cost: it is booked at its bound. Under a limit,
    nothing is reserved from then on, and `check` raises `BudgetError`.

    `count` returns the cost of the rows on disk. It is called once, before the first request, when the job is locked.
    Before it waits, it logs for what.
    """

    def __init__(
        self,
        ledger: Ledger,
        account: str,
        count: Callable[[], float],
        *,
        batch: bool,
        bills: Bills | None = None,
        model: str = "",
    ) -> None:
        """`bills` are those of the model, for all jobs of this process."""
        self.batch, self.purchase = batch, BATCH if batch else DIRECT
        self._ledger, self._account, self._count = ledger, account, count
        self._bills, self._model = bills or Bills(), model
        self.limited = math.isfinite(ledger.limit)
        self._opened = False
        self._in_flight = 0
        self._doubt: str | None = None
        self._refused: CostBound | None = None  # of an attempt that the limit leaves no money for
        self._told = self._looking = False  # that others hold money; whether they still do
        self._waiting: deque[asyncio.Future[None]] = deque()

    def open(self) -> None:
        """Opens the account, once."""
        if not self._opened:
            self._ledger.begin(self._account, self._count(), batch=self.batch)
            self._opened = True

    async def admit(self, bound: CostBound) -> Settle | None:
        """Reserves the money for an attempt; waits for what answers in flight, here and in other processes, may give
        back. None: there is none."""
        while self._doubt is None:
            if (settle := self.take(bound)) is not None:
                self._wake(1)
                return settle
            if self._in_flight or self._looking:
                place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._waiting.append(place)
                await place
                continue
            if not self._may_come(bound):
                self._refused = bound
                break
            self._looking = True
            try:
                await asyncio.sleep(WAIT)
            finally:
                self._looking = False
        self._wake(len(self._waiting))
        return None

    @property
    def stopped(self) -> bool:
        """Whether no further attempt is admitted."""
        return self._doubt is not None or self._refused is not None

    def take(self, bound: CostBound) -> Settle | None:
        """The money for one answer; None where its turn has not come, or it cannot be paid now."""
        is_first = self.limited and not self.batch and self._bills.largest is None
        if self._doubt is not None or (is_first and self._in_flight):
            return None
        reserved, number = self._reserve(bound), None
        if reserved > 0:  # else nothing is booked, unless the server names a cost
            number = self._ledger.reserve(self._account, reserved)
            if number is None:
                return None
        self._in_flight += 1
        return partial(self._settle, bound, number)

    def _settle(self, bound: CostBound, number: int | None, bill: Usage, fault: str | None = None) -> None:
        """Books a request by its bill, or by its bound where that is unknown; `fault`: why no text came of it.

        A bill that the server names in money is booked as it is, whatever the file's prices make of the tokens.
        """
        cost, answered = bound.cost(self.purchase), fault is None
        unknown = bill.unknown and cost > 0
        if not unknown:
            prompt = bound.prompt_tokens if bill.prompt is None else bill.prompt
            cost = bound.price.cost(prompt, bill.completion or 0, self.purchase) if bill.cost is None else bill.cost
            self._bills.largest = max(cost, self._bills.largest or 0.0)
        if fault is not None:
            self._bills.fail(fault, cost if unknown else 0.0)
        self._bills.answers += answered
        if self.limited and cost > 0 and (bill.nonsense or (answered and unknown)):
            self._doubt = self._doubt or bill.nonsense or "the server does not say how many tokens an answer took"
        if number is None and cost > 0:
            number = self._ledger.reserve(self._account, 0.0)
        if number is not None:
            self._ledger.book(number, cost, in_row=not unknown)
        self._in_flight = max(0, self._in_flight - 1)  # none is left where it ends after `give_back`
        self._wake(1 if self._in_flight else len(self._waiting))

    def give_back(self) -> None:
        """Nobody waits for what is in flight: it is charged; in batches it goes on."""
        if not self.batch:
            self._ledger.leave(self._account)
            self._in_flight = 0

    def check(self) -> None:
        """Raises `BudgetError` where the spending is unknown, or the limit is reached."""
        if self._doubt is not None:
            raise BudgetError(
                f"stopped: max_cost = {self._ledger.limit:g} cannot be kept: {self._doubt} (`usage`); what came is "
                "kept. Let the server count, or run without max_cost"
            )
        if self._refused is not None:
            raise self._reached(self._refused)

    def wait_for(self, bound: CostBound) -> None:
        """Waits until other processes release reservations, so that an answer can be paid.

        Raises `BudgetError` where there is no other reservation: the limit is reached.
        """
        while not self._ledger.has_room(self._reserve(bound)):
            if not self._may_come(bound):
                raise self._reached(bound)
            time.sleep(WAIT)

    def _may_come(self, bound: CostBound) -> bool:
        """Whether there is money for an answer, or others may release some; then a line says so, once."""
        others = self._ledger.in_flight_elsewhere(self._account)
        if others and not self._told:
            holders = ", ".join(f"{name} {amount:.4f}" for name, amount in sorted(others.items()))
            _log.info(f"{self._account}: waits for what others have reserved of max_cost: {holders}")
            self._told = True
        return bool(others) or self._ledger.has_room(self._reserve(bound))

    def _reserve(self, bound: CostBound) -> float:
        """What a request is expected to cost at most."""
        return max(bound.cost(self.purchase), self._bills.largest or 0.0)

    def _reached(self, bound: CostBound) -> BudgetError:
        spent = self._ledger.spent()
        what = f"stopped by max_cost = {self._ledger.limit:g}: {spent:.4f} is spent, and the next answer may cost "
        what += f"{self._reserve(bound):.4f}"
        if not self._bills.fault:
            return BudgetError(f"{what}. {_GO_ON}")
        what = f"{what}. {self._model}: {self._bills.fault}"
        if self._bills.answers and 2 * self._bills.booked < spent:
            return BudgetError(f"{what}. {_GO_ON}")
        remedy = "Find out first why the requests fail: raising max_cost alone only pays for more failures."
        return BudgetError(f"{what}. {remedy} Then raise it and run the same command again: it goes on where it was")

    def _wake(self, count: int) -> None:
        while self._waiting and count > 0:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                count -= 1


# How an engine's options raise the most tokens of an answer: of its prompt, and of what is written.
TokenBounds = Callable[[int, int], tuple[int, int]]


def as_asked(prompt_tokens: int, completion_tokens: int) -> tuple[int, int]:
    """The bound of an engine without such options."""
    return prompt_tokens, completion_tokens


async def _no_more() -> None:
    """The meter of a request whose money is reserved for one attempt: no further one is paid for."""


class BudgetedSampling(Wrapper):
    """The samples of `engine`, within the budget even if every answer has its maximum length.

    `sample` raises `BudgetError` after all answers in flight, so that each of them can be kept.
    """

    def __init__(self, engine: Sampling, price: Price, job_budget: JobBudget, bound: TokenBounds = as_asked) -> None:
        self._engine, self._price, self._bound, self._job_budget = engine, price, bound, job_budget
        self._reserved_for: dict[tuple[str, int], Settle] = {}  # of requests that an engine without a meter has
        self._left: Request | None = None  # taken from the caller, not yet asked of such an engine

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields the engine's own samples, up to the limit."""
        self._job_budget.open()
        metered = getattr(self._engine, "metered", False)
        source = iter(requests) if metered else (replace(r, seeds=(seed,)) for r in requests for seed in r.seeds)
        try:
            while True:
                asked = self._with_meter(source) if metered else self._reserved(source)
                with cancelling(self._engine.sample(asked)) as answers:
                    for answer in answers:
                        if answer.asked:
                            self._settle(answer)
                            yield answer
                self._job_budget.check()
                if self._left is None:
                    return
                self._job_budget.wait_for(self._cost_bound(self._left))
        finally:
            self._job_budget.give_back()

    def _with_meter(self, source: Iterator[Request]) -> Iterator[Request]:
        """Requests of an engine that asks before each attempt, until one cannot be paid."""
        while not self._job_budget.stopped and (request := next(source, None)):
            yield replace(request, meter=partial(self._job_budget.admit, self._cost_bound(request)))

    def _reserved(self, source: Iterator[Request]) -> Iterator[Request]:
        """Requests of one answer each, whose money is reserved here, until one cannot be paid."""
        while request := self._left or next(source, None):
            self._left = request
            settle = self._job_budget.take(self._cost_bound(request))
            if settle is None:
                return
            self._left = None
            self._reserved_for[request.request_id, request.seeds[0]] = settle
            yield replace(request, meter=_no_more)

    def _settle(self, answer: Completion) -> None:
        settle = self._reserved_for.pop((answer.request_id, answer.seed), None)
        if settle is None:  # its engine has settled it
            return
        failed = answer.text is None and answer.completion_tokens is None
        bill = Usage(answer.prompt_tokens, answer.completion_tokens, cost=answer.named_cost)
        if failed and bill.unknown:
            told = answer.bill_unknown
            may_be_billed = kind_of_error(answer.error).billable if told is None else told
            bill = bill if may_be_billed else Usage.nothing()
        settle(bill, None if answer.text is not None else answer.error or "no answer")

    def _cost_bound(self, request: Request) -> CostBound:
        return CostBound(*self._bound(most_prompt_tokens(request), request.decoding.max_tokens), self._price)


class BudgetedScoring(Wrapper):
    """The scores of `engine`, which asks a request's meter, within the budget.

    Each text costs its prompt tokens and one completion token. `score` raises `BudgetError` after all scores in flight.
    """

    def __init__(self, engine: Scoring, price: Price, job_budget: JobBudget, bound: TokenBounds = as_asked) -> None:
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
            most = self._bound(len(request.prefix.encode()) + longest + _PER_TURN, SCORE_TOKENS)
            yield replace(request, meter=partial(self._job_budget.admit, CostBound(*most, self._price)))


# A wrapper per paid capability.
_WRAPPERS: Mapping[Capability[Any], Callable[[Any, Price, JobBudget, TokenBounds], Any]] = {
    SAMPLING: BudgetedSampling,
    SCORING: BudgetedScoring,
}


def budgeted(engine: E, needs: Capability[E], price: Price, job_budget: JobBudget, bound: TokenBounds = as_asked) -> E:
    """`engine` within the budget. Under a limit, raises `EngineError` for a capability whose cost is not counted."""
    counted = needs in _WRAPPERS and (needs is not SCORING or getattr(engine, "metered", False))
    if not counted and job_budget.limited:
        raise _not_counted(needs)
    booked: E = _WRAPPERS[needs](engine, price, job_budget, bound) if counted else engine
    return booked


def _not_counted(needs: Capability[Any]) -> EngineError:
    remedy = "Remove max_cost, or use a model that costs nothing."
    return EngineError(f"the cost of {needs.name!r} is not counted, so max_cost cannot be kept", remedy=remedy)


def most_prompt_tokens(request: Request) -> int:
    """An upper bound of a request's tokens: no tokenizer makes more than one per byte."""
    schema = orjson.dumps(dict(request.decoding.schema)) if request.decoding.schema else b""
    return len(schema) + sum(len(turn.content.encode()) + _PER_TURN for turn in request.messages)
