"""CAMeL's own protocol: entities sampled a few times, and the spread of the score over the samples.

Naous et al. (2024, section 4.1) draw 50 entities of each culture, five times, and report mean and standard deviation.
All pairs are the better number where all were scored; this one is for comparison with published tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metrics.likelihood.bias import compare
from metrics.likelihood.uncertainty import Panel

RUNS = 5
SAMPLE = 50  # entities of each culture


@dataclass(frozen=True, slots=True)
class Sampled:
    """The mean score over contexts in each run."""

    runs: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.runs))

    @property
    def deviation(self) -> float | None:
        """The standard deviation over runs (n - 1); None with one run."""
        return float(np.std(self.runs, ddof=1)) if len(self.runs) > 1 else None


def sampled_bias(panels: Sequence[Panel], seed: int = 1, runs: int = RUNS, sample: int = SAMPLE) -> Sampled | None:
    """The score averaged over the contexts of `panels` (one per type), with `sample` entities of each culture a run.

    A culture with fewer entities gives all it has. None where no context has entities of both sides.
    """
    random = np.random.default_rng(seed)
    found = [mean for _ in range(runs) if (mean := _one_run(panels, sample, random)) is not None]
    return Sampled(tuple(found)) if found else None


def _one_run(panels: Sequence[Panel], sample: int, random: np.random.Generator) -> float | None:
    scores = []
    for panel in panels:
        native = panel.native[:, _drawn(panel.native.shape[1], sample, random)]
        western = panel.western[:, _drawn(panel.western.shape[1], sample, random)]
        compared = (compare(own, other) for own, other in zip(native, western, strict=True))
        scores += [comparison.score for comparison in compared if comparison is not None]
    return float(np.mean(scores)) if scores else None


def _drawn(size: int, sample: int, random: np.random.Generator) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return random.choice(size, min(size, sample), replace=False)
