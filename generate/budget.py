"""Wraps engines so that `max_cost` is never exceeded; one wrapper per paid capability."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from polyculture.cache.errors import BudgetError, EngineError
from polyculture.cache.ledger import Ledger
from polyculture.cache.prices import BATCH, DIRECT, Price
from polyculture.generate.engines.base import Completion, Request, Scored, ScoreRequest
from polyculture.generate.engines.capabilities import SAMPLING, SCORING, Capability, E, Sampling, Scoring
from polyculture.generate.engines.wrapper import Wrapper

AT_ONCE = 32  # samples per reservation: one ledger access per sample would be slow
WAIT = 1.0  # seconds between two checks whether others have released a reservation
_PER_TURN = 8  # upper bound of the chat template's tokens per turn


class Purse:
    """The money of one stage's work on one job: reserved in the ledger in advance, booked as answers arrive.

    An answer without token counts has an unknown cost: from then on nothing can be reserved, and `check` raises
    `BudgetError`.

    `count` returns the cost of the rows on disk. It is called once, before the first request, when the job is locked.
    `tell` receives a line before each wait.
    """

    def __init__(
        self, ledger: Ledger, account: str, count: Callable[[], float], tell: Callable[[str], None], *, batch: bool
    ) -> None:
        self.batch = batch
        self._ledger, self._account, self._count, self._tell = ledger, account, count, tell
        self._opened = False
        self._free = self._spent = self._outstanding = 0.0
        self._uncounted = False

    def open(self) -> None:
        """Opens the account, once."""
        if not self._opened:
            self._free = self._ledger.begin(self._account, self._count(), batch=self.batch)
            self._opened = True

    def take(self, price: float, wanted: int) -> int:
        """The number of `wanted` samples that may be requested now; each costs at most `price`."""
        if price <= 0:
            return wanted
        if self._uncounted:
            return 0
        lacking = wanted * price - self._free
        if lacking > 0:
            least = max(0.0, price - self._free)
            self._free += self._ledger.reserve(self._account, self._spent, least, lacking)
            self._spent = 0.0
        taken = min(wanted, max(0, int(self._free / price + 1e-6)))
        self._free -= taken * price
        self._outstanding += taken * price
        return taken

    def settle(self, reserved: float, spent: float, *, counted: bool) -> None:
        """Books an answer that cost `spent` of its `reserved` money; `counted` says whether its tokens are known."""
        self._uncounted |= reserved > 0 and not counted
        self._free += reserved - spent
        self._outstanding -= reserved
        self._spent += spent

    def give_back(self) -> None:
        """Books the spending, and releases the rest of the reservation."""
        kept = max(0.0, self._outstanding) if self.batch else 0.0
        self._ledger.settle(self._account, self._spent, kept)
        self._free = self._spent = 0.0

    def check(self) -> None:
        """Raises `BudgetError` where the spending is unknown."""
        if self._uncounted:
            raise BudgetError(
                f"stopped: max_cost = {self._ledger.limit:g} cannot be kept: the server does not say how many "
                "tokens an answer took (`usage`); what came is kept. Let the server count, or run without max_cost"
            )

    def wait_for(self, price: float) -> None:
        """Waits until other processes release reservations, so that a sample can be paid.

        Raises `BudgetError` where there is no other reservation: the limit is reached.
        """
        told = False
        while not self._take_one(price):
            others = self._ledger.reserved_by_others(self._account)
            if not others and not self._take_one(price):
                raise BudgetError(
                    f"stopped before max_cost = {self._ledger.limit:g} is passed: {self._ledger.spent():.4f} is spent, "
                    f"and the next answer may cost {price:.4f}. Raise max_cost and run the same command again: it goes "
                    "on where it was"
                )
            if others and not told:
                holders = ", ".join(f"{name} {amount:.4f}" for name, amount in sorted(others.items()))
                self._tell(f"{self._account}: waits for what others have reserved of max_cost: {holders}")
                told = True
            time.sleep(WAIT)

    def _take_one(self, price: float) -> bool:
        self._free += self._ledger.reserve(self._account, 0.0, price, price)
        return self._free >= price


@dataclass
class _Piece:
    """Continuations of a request that are scored together, and the upper bound of each one's cost."""

    request: ScoreRequest
    first: int
    price: float
    waiting: int = 0  # scores still in flight


class BudgetedScoring(Wrapper):
    """The scores of `engine`, within the budget. Each text costs its prompt tokens and one completion token.

    `score` raises `BudgetError` after all scores in flight.
    """

    def __init__(self, engine: Scoring, price: Price, purse: Purse) -> None:
        self._engine, self._price, self._purse = engine, price, purse
        self._pieces: dict[str, _Piece] = {}  # in flight, by the engine's name for them
        self._asked = 0
        self._left: list[_Piece] = []  # taken from the caller, not yet asked

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields a row per request and continuation, as the engine does."""
        self._purse.open()
        source = iter(requests)
        try:
            while True:
                for scored in self._engine.score(self._affordable(source)):
                    yield self._settle(scored)
                self._purse.check()
                if not self._left:
                    return
                self._purse.give_back()
                self._purse.wait_for(self._left[-1].price)
        finally:
            self._purse.give_back()

    def _affordable(self, source: Iterator[ScoreRequest]) -> Iterator[ScoreRequest]:
        """Requests, in pieces, until one cannot be paid."""
        while piece := self._left.pop() if self._left else self._whole(next(source, None)):
            ends = piece.request.continuations
            wanted = len(ends) if piece.price <= 0 else min(AT_ONCE, len(ends))
            taken = self._purse.take(piece.price, wanted)
            if taken < len(ends):
                rest = replace(piece.request, continuations=ends[taken:])
                self._left.append(_Piece(rest, piece.first + taken, piece.price))
            if taken == 0:
                return
            self._asked += 1
            name = str(self._asked)
            self._pieces[name] = replace(piece, waiting=taken)
            yield replace(piece.request, request_id=name, continuations=ends[:taken])

    def _whole(self, request: ScoreRequest | None) -> _Piece | None:
        if request is None:
            return None
        longest = max((len(end.encode()) for end in request.continuations), default=0)
        most = len(request.prefix.encode()) + longest + _PER_TURN  # no tokenizer makes more than one token per byte
        return _Piece(request, 0, self._price.cost(most, 1))

    def _settle(self, scored: Scored) -> Scored:
        piece = self._pieces[scored.request_id]
        spent = self._price.cost(scored.prompt_tokens or 0, scored.completion_tokens or 0)
        self._purse.settle(piece.price, spent, counted=scored.prompt_tokens is not None or not scored.tokens)
        piece.waiting -= 1
        if not piece.waiting:
            del self._pieces[scored.request_id]
        return replace(scored, request_id=piece.request.request_id, index=piece.first + scored.index)


class BudgetedSampling(Wrapper):
    """The samples of `engine`, within the budget even if every answer has its maximum length.

    `sample` raises `BudgetError` after all answers in flight, so that each of them can be kept.
    """

    def __init__(self, engine: Sampling, price: Price, purse: Purse) -> None:
        self._engine, self._price, self._purse = engine, price, purse
        self._reserved: dict[tuple[str, int], float] = {}  # of the requests in flight
        self._left: list[Request] = []  # taken from the caller, not yet asked

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields the engine's own samples, up to the limit."""
        self._purse.open()
        source = iter(requests)
        try:
            while True:
                for answer in self._engine.sample(self._affordable(source)):
                    self._settle(answer)
                    yield answer
                self._purse.check()
                if not self._left:
                    return
                self._purse.give_back()
                self._purse.wait_for(self._at_worst(self._left[-1]))
        finally:
            self._purse.give_back()

    def _affordable(self, source: Iterator[Request]) -> Iterator[Request]:
        """Requests, in pieces, until one cannot be paid."""
        while request := self._left.pop() if self._left else next(source, None):
            price = self._at_worst(request)
            wanted = len(request.seeds) if price <= 0 else min(AT_ONCE, len(request.seeds))
            taken = self._purse.take(price, wanted)
            if taken < len(request.seeds):
                self._left.append(replace(request, seeds=request.seeds[taken:]))
            if taken == 0:
                return
            self._reserved.update({(request.request_id, seed): price for seed in request.seeds[:taken]})
            yield replace(request, seeds=request.seeds[:taken])

    def _settle(self, answer: Completion) -> None:
        spent = self._price.cost(answer.prompt_tokens or 0, answer.completion_tokens or 0, answer.purchase)
        reserved = self._reserved.pop((answer.request_id, answer.seed), 0.0)
        self._purse.settle(reserved, spent, counted=answer.completion_tokens is not None or answer.text is None)

    def _at_worst(self, request: Request) -> float:
        purchase = BATCH if self._purse.batch else DIRECT
        return self._price.cost(most_prompt_tokens(request), request.decoding.max_tokens, purchase)


# A wrapper per paid capability. Under a limit, no other capability is used.
_WRAPPERS: Mapping[Capability[Any], Callable[[Any, Price, Purse], Any]] = {
    SAMPLING: BudgetedSampling,
    SCORING: BudgetedScoring,
}


def budgeted(engine: E, needs: Capability[E], price: Price, purse: Purse) -> E:
    """`engine` within the budget. Raises `EngineError` for a capability whose cost is not counted."""
    if needs not in _WRAPPERS:
        remedy = "Remove max_cost, or use a model that costs nothing."
        raise EngineError(f"the cost of {needs.name!r} is not counted, so max_cost cannot be kept", remedy=remedy)
    limited: E = _WRAPPERS[needs](engine, price, purse)
    return limited


def most_prompt_tokens(request: Request) -> int:
    """An upper bound of a request's tokens: no tokenizer makes more than one per byte."""
    schema = orjson.dumps(dict(request.decoding.schema)) if request.decoding.schema else b""
    return len(schema) + sum(len(turn.content.encode()) + _PER_TURN for turn in request.messages)
