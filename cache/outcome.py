"""How a stage reports its progress and its result to the front door."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """How much work of a stage is done, and how much of it failed with a reason on record."""

    done: int
    failed: int
    reused: int = 0  # of those done: found in the store, not made anew

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(self.done + other.done, self.failed + other.failed, self.reused + other.reused)


# Called with the outcome so far, now and then; never more often than a few times a second.
Progress = Callable[[Outcome], None]


def silent(_outcome: Outcome) -> None:
    """A progress that nobody watches."""


def throttled(progress: Progress, every: float = 0.25) -> Progress:
    """`progress`, called at once and then at most once in `every` seconds; outcomes in between are dropped."""
    last = -math.inf

    def report(outcome: Outcome) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= every:
            last = now
            progress(outcome)

    return report
