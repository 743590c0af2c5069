"""How a stage reports its progress and its result to the front door."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many items of a stage are done, and how many failed with a recorded reason."""

    done: int
    failed: int
    reused: int = 0  # of those done: already in the store
    odd_usage: int = 0  # answers of this command whose tokens do not add up, as their notes say

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.done + other.done,
            self.failed + other.failed,
            self.reused + other.reused,
            self.odd_usage + other.odd_usage,
        )


# Called with the outcome so far, at most a few times a second.
Progress = Callable[[Outcome], None]


def silent(_outcome: Outcome) -> None:
    """A progress that shows nothing."""


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
