"""What work took, for the benchmarks of the store."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Seconds:
    """What some work took: by the clock, and of all cores together (which a busy machine does not change as much)."""

    wall: float
    cpu: float

    @classmethod
    def now(cls) -> Seconds:
        return cls(time.perf_counter(), time.process_time())

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(self.wall + other.wall, self.cpu + other.cpu)

    def __sub__(self, other: Seconds) -> Seconds:
        return Seconds(self.wall - other.wall, self.cpu - other.cpu)

    def __str__(self) -> str:
        return f"{self.wall:.2f} s ({self.cpu:.2f} s of CPU)"


@dataclass
class TimedView:
    """A view that was read: how long it took, its rows, and themselves where pandas has them, too."""

    took: Seconds
    rows: int
    frame: pd.DataFrame | None = None
