"""The replicas of one model, and the works that they share."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from polyculture.cache.errors import PolycultureError
from polyculture.cache.locks import BEAT, LEASE
from polyculture.cache.log import get_logger
from polyculture.cluster.replica import JobOrder, OrderResult, Replica
from polyculture.running.outcome import RunOutcome

_log = get_logger(__name__)

LOST_AT_MOST = 3  # times that a job's worker may be lost before the job itself is taken for the reason
LOOK_EVERY = 0.2  # seconds
_SHOWN = 300  # characters of a reason, the last ones: Ray's say first where they come from
LOST_UNBEGUN = 3  # times as many workers as a model has at once: if so many in a row end before they begin, none will
PLACE_WITHIN = 60.0  # seconds without any replica after which a line says what is waited for; then twice as many, ...
LONGEST_SILENCE = 1800.0  # seconds between two such lines
CLOSED_WITHIN = 30.0  # seconds that a replica may take to free its model before it is ended all the same


class ClusterError(PolycultureError):
    """A replica's error that ends the run, with its exit code on one machine."""

    def __init__(self, result: OrderResult) -> None:
        super().__init__(str(result.fault))
        self.exit_code = result.exit_code


@dataclass(frozen=True, slots=True)
class Need:
    """A replica's share of the cluster, and the maximum number of replicas; None: as many as fit."""

    gpus: float
    replicas: int | None


class ReplicaPool:
    """Hands orders to replicas until all are done. An order whose replica is lost goes to another one.

    A replica is an actor of Ray's: it stays where its model is loaded. It gets its next order when it is done with the
    last: a faster replica does more.
    """

    def __init__(self, ray: Any, orders: Sequence[JobOrder], need: Need, lines: Any) -> None:
        self._ray, self._need, self._lines = ray, need, lines
        self.outcome = RunOutcome()
        self._waiting = deque(orders)
        self._later: list[tuple[float, JobOrder]] = []  # held by a worker that was lost: not before this moment
        self._lost: Counter[JobOrder] = Counter()
        self._freed: dict[JobOrder, float] = {}  # when the lease of the worker that was lost has surely ended
        self._coming: dict[Any, Any] = {}  # future of `ready` -> replica
        self._working: dict[Any, tuple[Any, JobOrder]] = {}  # future of the result -> replica and what it works on
        self._idle: list[Any] = []
        self._stopped: set[str] = set()  # stages
        self._without_since: float | None = None  # since when no replica has had a place; None: one has
        self._said = self._silence = 0.0  # when a line said so last, and the seconds until the next one
        self._unbegun = 0  # workers in a row that ended before they began
        self._most = min(len(orders), need.replicas or self._fitting())

    def step(self) -> bool:
        """Waits a moment for news and acts on them. Says whether there is more to come."""
        self._bring_back()
        self._hand_out()
        self._say_what_is_waited_for()
        futures = [*self._coming, *self._working]
        if futures:
            done, _ = self._ray.wait(futures, num_returns=1, timeout=LOOK_EVERY)
            for future in done:
                self._arrived(future) if future in self._coming else self._finished(future)
        elif self._later:
            time.sleep(LOOK_EVERY)
        if self._waiting or self._working or self._later:
            return True
        self.dismiss()
        return False

    def dismiss(self) -> None:
        """Ends all replicas; a second call has no effect."""
        self._let_go(self._idle)
        for replica in [*self._coming.values(), *(replica for replica, _ in self._working.values())]:
            self._ray.kill(replica)
        self._idle, self._coming, self._working = [], {}, {}

    def _let_go(self, replicas: Sequence[Any]) -> None:
        """Ends idle replicas; first closes their connection or model."""
        closing = [replica.close.remote() for replica in replicas]
        if closing:
            self._ray.wait(closing, num_returns=len(closing), timeout=CLOSED_WITHIN)
        for replica in replicas:
            self._ray.kill(replica)

    def _fitting(self) -> int:
        """As many as the cluster's GPUs serve; without GPUs one a CPU, where the work is done on them."""
        resources = self._ray.cluster_resources()
        fitting = resources.get("GPU", 0) / self._need.gpus if self._need.gpus else resources.get("CPU", 1)
        return max(int(fitting), 1)

    def _say_what_is_waited_for(self) -> None:
        """Lines as long as no worker has a place: after a minute, two more, four more, ... and each half hour."""
        now = time.monotonic()
        if self._working or self._idle or not (self._coming and self._waiting):
            self._without_since = None
        elif self._without_since is None:
            self._without_since, self._said, self._silence = now, now, PLACE_WITHIN
        elif now - self._said >= self._silence:
            self._said, self._silence = now, min(2 * self._silence, LONGEST_SILENCE)
            first = self._waiting[0]
            _log.warning(f"{first.stage} {first.job}: {self._waits(now - self._without_since)}")

    def _waits(self, seconds: float) -> str:
        free, whole = self._ray.available_resources(), self._ray.cluster_resources()
        there = ", ".join(f"{whole.get(kind, 0):g} {kind}s ({free.get(kind, 0):g} free)" for kind in ("CPU", "GPU"))
        place = f"1 CPU and {self._need.gpus:g} GPUs on one machine"
        if whole.get("CPU", 0) < 1 or whole.get("GPU", 0) < self._need.gpus:
            why = "Add a machine that has it, or give --gpus and --replicas that fit."
        elif free.get("CPU", 0) < 1 or free.get("GPU", 0) < self._need.gpus:
            why = "Others use the rest, such as other models of this run: it waits until they are done."
        else:
            why = "Has each machine of the cluster the same RAY_AUTH_MODE as this one, and memory for the model?"
        return f"no worker has had a place for {seconds:.0f} s; it needs {place}, and the cluster has {there}. {why}"

    def _bring_back(self) -> None:
        now = time.monotonic()
        self._waiting.extend(order for moment, order in self._later if moment <= now)
        self._later = [(moment, order) for moment, order in self._later if moment > now]

    def _hand_out(self) -> None:
        while self._waiting and self._idle:
            replica, order = self._idle.pop(), self._waiting.popleft()
            self._working[replica.work.remote(order)] = (replica, order)
        while len(self._waiting) > len(self._coming) and len(self._coming) + len(self._working) < self._most:
            self._hire()
        if self._idle and not self._later:  # their places are free for another model
            self._let_go(self._idle)
            self._idle = []

    def _hire(self) -> None:
        actor = self._ray.remote(num_cpus=1, num_gpus=self._need.gpus, max_restarts=0, scheduling_strategy="SPREAD")
        replica = actor(Replica).remote(self._lines)
        self._coming[replica.ready.remote()] = replica

    def _arrived(self, future: Any) -> None:
        replica = self._coming.pop(future)
        try:
            self._ray.get(future)
        except self._ray.exceptions.RayError as fault:  # lost before it began: another one is hired
            self._unbegun += 1
            reason = " ".join(str(fault).split())[-_SHOWN:]
            _log.warning(f"a worker ended before it began ({type(fault).__name__}: {reason})")
            if self._unbegun >= LOST_UNBEGUN * self._most:
                self._give_up(reason)
            return
        self._unbegun = 0
        self._idle.append(replica)

    def _give_up(self, reason: str) -> None:
        """No worker begins: what waits has failed, and workers that began go on with what they have."""
        waiting = [*self._waiting, *(order for _, order in self._later)]
        what = f"{len(waiting)} jobs were not begun: {self._unbegun} workers ended before they began: {reason}"
        self.outcome += RunOutcome(failed=(f"{waiting[0].stage} {waiting[0].job}: {what}",) if waiting else ())
        self._waiting, self._later = deque(), []

    def _finished(self, future: Any) -> None:
        replica, order = self._working.pop(future)
        try:
            result: OrderResult = self._ray.get(future)
        except self._ray.exceptions.RayTaskError:
            raise
        except self._ray.exceptions.RayError as fault:
            self._lose(order, type(fault).__name__)
            return
        self._idle.append(replica)
        self._note(order, result)

    def _lose(self, order: JobOrder, reason: str) -> None:
        self._lost[order] += 1
        self._freed[order] = time.monotonic() + LEASE + 3 * BEAT
        what = f"{order.stage} {order.job}: its worker was lost ({reason})"
        if order.stage in self._stopped:
            return
        if self._lost[order] < LOST_AT_MOST:
            _log.warning(f"{what}; another one takes the job")
            self._waiting.append(order)
        else:
            self.outcome += RunOutcome(failed=(f"{what} {LOST_AT_MOST} times",))

    def _stop(self, stage: str) -> None:
        """A stage stopped itself at a replica: no other job of it is handed out. Those at work end for themselves."""
        self._stopped.add(stage)
        self._waiting = deque(order for order in self._waiting if order.stage != stage)
        self._later = [(moment, order) for moment, order in self._later if order.stage != stage]

    def _note(self, order: JobOrder, result: OrderResult) -> None:
        if result.fault is not None:
            raise ClusterError(result)
        outcome = result.outcome
        if outcome.stopped:
            if order.stage in self._stopped:  # another replica has said why
                outcome = replace(outcome, stopped=())
            self._stop(order.stage)
        if outcome.held and time.monotonic() < self._freed.get(order, 0.0):
            # By whoever was lost: its lease ends soon.
            self._later.append((time.monotonic() + BEAT, order))
            outcome = outcome.without_held()
        self.outcome += outcome
