"""The money of one stage's work on one job: reserved before a request is sent, booked as answers arrive.

How many requests of a model are on their way depends on what is known of its server: one until the first answer comes
with its tokens, then as many as it has answered so. Where an answer costs more than was reserved for it, the server
does not keep to `max_tokens`: from then on twice the dearest answer is reserved.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock

from polyculture.cache.errors import BudgetError
from polyculture.cache.ledger import Ledger
from polyculture.cache.model_facts import BATCH, DIRECT, Price
from polyculture.generate.engines.metering import Admission, Bill

AT_ONCE = 32  # answers per reservation: one ledger access each would be slow
WAIT = 1.0  # seconds between two checks whether others have released a reservation
_POLL = 0.2  # seconds between two checks whether another process has the first count of a model
_ROUNDING = 1e-12
_BEYOND = 2  # how often the dearest answer is reserved, of a server that does not keep to `max_tokens`


@dataclass
class RampUp:
    """What this process knows of a model's server. Shared by all its jobs."""

    model: str = ""
    counted: int = 0  # answers that came with their tokens
    known: bool = False  # another process may ask, too

    @property
    def most(self) -> int:
        """The most requests that may be on their way."""
        return max(1, self.counted)


@dataclass(frozen=True, slots=True)
class CostBound:
    """The upper bound of an answer's tokens, and what they cost."""

    prompt_tokens: int
    completion_tokens: int
    price: Price

    def cost(self, purchase: str) -> float:
        return self.price.cost(self.prompt_tokens, self.completion_tokens, purchase)


class JobBudget:
    """Money for requests, by `admit` where an engine asks before each attempt, else by `take`.

    A text without token counts, or with impossible ones, has an unknown cost: its reservation is booked, from then on
    nothing can be reserved, and `check` raises `BudgetError`.

    `count` returns the cost of the rows on disk. It is called once, before the first request, when the job is locked.
    `tell` receives a line before each wait.
    """

    def __init__(
        self,
        ledger: Ledger,
        account: str,
        count: Callable[[], float],
        tell: Callable[[str], None],
        *,
        batch: bool,
        ramp_up: RampUp | None = None,
    ) -> None:
        self.batch, self.purchase = batch, BATCH if batch else DIRECT
        self.ramp_up = ramp_up or RampUp()
        self._ledger, self._account, self._count, self._tell = ledger, account, count, tell
        self._opened = False
        self._free = self._spent = self._outstanding = 0.0
        self._on_the_way = 0
        self._refused_until = 0.0  # when the ledger is worth another look
        self._doubt: str | None = None
        self._lock = RLock()
        self._waiting: deque[asyncio.Future[None]] = deque()

    def open(self) -> None:
        """Opens the account, once."""
        if not self._opened:
            self._free = self._ledger.begin(self._account, self._count(), batch=self.batch)
            self._opened = True

    def price(self, bound: CostBound) -> float:
        """What is reserved for an answer."""
        least = bound.cost(self.purchase)
        return max(least, _BEYOND * self._ledger.dearest(self.ramp_up.model)) if least > 0 else 0.0

    async def admit(self, bound: CostBound) -> Admission | None:
        """Reserves the money for an attempt; waits for its turn, and for what answers on their way may give back.

        None: there is none.
        """
        if self.price(bound) <= 0:
            return _Admission(self, 0.0, bound)
        while self._doubt is None:
            if not self._may_ask():
                await (self._woken() if self._on_the_way else asyncio.sleep(_POLL))
                continue
            price = self.price(bound)
            if self._hold(price, 1, AT_ONCE):
                self._wake(1)
                return _Admission(self, price, bound)
            if not self._on_the_way:
                break
            await self._woken()
        self._wake(len(self._waiting))
        return None

    def take(self, bound: CostBound, wanted: int) -> int:
        """The number of `wanted` answers that may be requested now, of an engine that does not ask before each."""
        price = self.price(bound)
        if price <= 0:
            return wanted
        room = wanted if self.batch else min(wanted, self.ramp_up.most - self._on_the_way)
        if self._doubt is not None or room <= 0 or not (self.batch or self._may_ask()):
            return 0
        return self._hold(price, room, room)

    def settle(self, reserved: float, bound: CostBound, bill: Bill, *, answered: bool, purchase: str = DIRECT) -> None:
        """Books an attempt by its bill, or by its reservation where that is unknown; `answered`: a text came of it."""
        if reserved <= 0:
            return
        cost = reserved
        if not bill.unknown:
            prompt = bound.prompt_tokens if bill.prompt_tokens is None else bill.prompt_tokens
            cost = bound.price.cost(prompt, bill.completion_tokens or 0, purchase)
        with self._lock:
            if bill.nonsense or (answered and bill.unknown):
                self._doubt = self._doubt or bill.nonsense or "the server does not say how many tokens an answer took"
            self._on_the_way -= 1
            self._outstanding = max(0.0, self._outstanding - reserved) if self._on_the_way else 0.0
            self._free, self._spent = self._free + reserved - cost, self._spent + cost
            if bill.sent and not bill.unknown:
                self._learn(cost, bound)
            if self._free < 0:  # others must know at once
                self._free = 0.0
                self._book()
            self._write()
        self._wake(2 if self._on_the_way else len(self._waiting))

    def give_back(self) -> None:
        """Books the spending and what is on its way, and releases the rest of the reservation."""
        with self._lock:
            if not self.batch:  # whoever breaks off pays: the server may have written the answers
                self._spent += self._outstanding
                self._outstanding, self._on_the_way = 0.0, 0
            self.release()
        if not self.batch:
            self._ledger.let_others_ask(self.ramp_up.model)

    def release(self) -> None:
        """Books the spending, and releases what is reserved and not on its way."""
        with self._lock:
            self._free = 0.0
            self._book()
            self._write()

    def check(self) -> None:
        """Raises `BudgetError` where the spending is unknown."""
        if self._doubt is not None:
            raise BudgetError(
                f"stopped: max_cost = {self._ledger.limit:g} cannot be kept: {self._doubt} (`usage`); what came is "
                "kept. Let the server count, or run without max_cost"
            )

    def wait_for(self, bound: CostBound) -> None:
        """Waits until other processes release reservations, so that an answer can be paid.

        Raises `BudgetError` where there is no other reservation: the limit is reached.
        """
        while not (self.batch or self._may_ask()):
            time.sleep(_POLL)
        told, self._refused_until = False, 0.0
        while not self._take_one(bound):
            others = self._ledger.reserved_by_others(self._account)
            if not others and not self._take_one(bound):
                raise BudgetError(
                    f"stopped before max_cost = {self._ledger.limit:g} is passed: {self._ledger.spent():.4f} is spent, "
                    f"and the next answer may cost {self.price(bound):.4f}. Raise max_cost and run the same command "
                    "again: it goes on where it was"
                )
            if others and not told:
                holders = ", ".join(f"{name} {amount:.4f}" for name, amount in sorted(others.items()))
                self._tell(f"{self._account}: waits for what others have reserved of max_cost: {holders}")
                told = True
            time.sleep(WAIT)

    def _may_ask(self) -> bool:
        """Whether one more request of the model may be on its way."""
        if self._on_the_way >= self.ramp_up.most:
            return False
        if not self.ramp_up.known:
            self.ramp_up.known = self._ledger.may_ask_first(self.ramp_up.model)
        return self.ramp_up.known

    def _hold(self, price: float, wanted: int, at_once: int) -> int:
        """How many of `wanted` answers can be paid, whose money is then held; `at_once` are reserved in one go."""
        with self._lock:
            if self._free < wanted * price - _ROUNDING and time.monotonic() >= self._refused_until:
                least, most = max(0.0, price - self._free), at_once * price - self._free
                granted = self._ledger.reserve(self._account, self._spent, least, most)
                self._free, self._spent = self._free + granted, 0.0
                if granted < most:  # what own answers give back is known here; others release nothing within moments
                    self._refused_until = time.monotonic() + WAIT
            taken = min(wanted, int(self._free / price + 1e-6))
            self._free = max(0.0, self._free - taken * price)
            self._outstanding += taken * price
            self._on_the_way += taken
            self._write()
            return taken

    def _learn(self, cost: float, bound: CostBound) -> None:
        """Notes that the server counts, and where an answer cost more than it may."""
        beyond = cost if cost > bound.cost(self.purchase) * (1 + 1e-9) else 0.0
        if not self.ramp_up.counted or beyond > self._ledger.dearest(self.ramp_up.model):
            self._ledger.counted(self.ramp_up.model, beyond)
        self.ramp_up.counted += 1
        self.ramp_up.known = True

    def _book(self) -> None:
        self._ledger.settle(self._account, self._spent, self._outstanding + self._free)
        self._spent = 0.0

    def _write(self) -> None:
        self._ledger.on_the_way(self._account, self._spent, self._outstanding)

    def _take_one(self, bound: CostBound) -> bool:
        price = self.price(bound)
        with self._lock:
            self._free += self._ledger.reserve(self._account, 0.0, max(0.0, price - self._free), price)
            self._write()
            return self._free >= price - _ROUNDING

    async def _woken(self) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        await place

    def _wake(self, count: int) -> None:
        while self._waiting and count > 0:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                count -= 1


@dataclass(frozen=True, slots=True)
class _Admission:
    job_budget: JobBudget
    reserved: float
    bound: CostBound

    def settle(self, bill: Bill, *, answered: bool) -> None:
        self.job_budget.settle(self.reserved, self.bound, bill, answered=answered)


@dataclass(frozen=True, slots=True)
class RequestMeter:
    """The meter of requests with one upper bound."""

    job_budget: JobBudget
    bound: CostBound

    async def admit(self) -> Admission | None:
        return await self.job_budget.admit(self.bound)
