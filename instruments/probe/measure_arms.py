"""The scores of an arm beside those of the probe itself: their difference, and whether pairs keep their ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import duckdb
import numpy as np

from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.store import open_store
from polyculture.instruments.probe.arms import PATCHED
from polyculture.instruments.probe.flattening import (
    FEWEST,
    Counts,
    Numbers,
    Occurrences,
    Row,
    flattening,
)
from polyculture.instruments.probe.halves import (
    FEW,
    FEWEST_QUESTIONS,
    MISSED,
    student,
    to_level,
    whole_halves,
    why_withheld,
)
from polyculture.instruments.probe.layout import PROBE
from polyculture.instruments.probe.rows import PROBE_ARMS, ArmRow
from polyculture.metrics.measured import measured

_COUNTS = """
SELECT model, dataset, language, filter, arm, question_id, culture, item_key, count(*) FROM probe_kept
GROUP BY ALL ORDER BY ALL
"""
_ASKED = "SELECT DISTINCT model, dataset, language, arm, question_id, culture FROM probes WHERE status = 'ok'"
_LIMITED = ("difference", "share_difference", "spearman")
_MOST = np.array([np.inf, 1.0, 1.0])
Unit = tuple[str, ...]  # model, data set, language, filter
Asked = Set[tuple[str, str]]  # question, culture


@dataclass(frozen=True, slots=True)
class Beside:
    """F and its share, as means over the ordered pairs, of the probe and of an arm; and how alike the pairs' ranks are.

    nan where there is no such number: a share without anything particular, ranks where all pairs have one score.
    """

    score: float
    patched_score: float
    share: float
    patched_share: float
    spearman: float

    @property
    def numbers(self) -> Numbers:
        """The two differences, probe less arm, and the rank correlation."""
        return np.array([self.patched_score - self.score, self.patched_share - self.share, self.spearman])


def measure_arms(run: RunFolder, minimum: int, resamples: int, seed: int) -> list[ArmRow]:
    """Writes and returns a row per arm beside the probe, for each model, data set, language and filter."""

    def rows(store: duckdb.DuckDBPyConnection) -> Iterator[ArmRow]:
        asked: dict[Unit, dict[str, set[tuple[str, str]]]] = defaultdict(lambda: defaultdict(set))
        for *where, arm, question, culture in store.execute(_ASKED).fetchall():
            asked[tuple(where)][arm].add((question, culture))
        for unit, lines in groupby(store.execute(_COUNTS).fetchall(), key=lambda line: line[:4]):
            by_arm = {arm: [line[5:] for line in some] for arm, some in groupby(lines, key=lambda line: line[4])}
            yield from _of_unit(unit, by_arm, asked[unit[:3]], minimum, resamples, seed)

    return measured(run, compose(CORE, PROBE), PROBE_ARMS, rows)


def measured_arms(run: RunFolder) -> frozenset[str]:
    """The arms that were run, the probe itself among them."""
    with open_store(run, compose(CORE, PROBE)) as store:
        return frozenset(arm for (arm,) in store.execute("SELECT DISTINCT arm FROM probes").fetchall())


def beside(probe: Counts, arm: Counts, minimum: int) -> Beside:
    """The scores of g of the probe and of an arm, both [items, cultures], of the same cultures."""
    one, other = flattening(probe, minimum), flattening(arm, minimum)
    pairs = ~np.eye(len(one.score), dtype=bool)
    return Beside(
        float(other.score[pairs].mean()), float(one.score[pairs].mean()),
        _mean(other.share[pairs]), _mean(one.share[pairs]), _spearman(one.score[pairs], other.score[pairs]),
    )  # fmt: skip


def _of_unit(
    unit: Unit, by_arm: Mapping[str, list[Row]], asked: Mapping[str, Asked], minimum: int, resamples: int, seed: int
) -> Iterator[ArmRow]:
    """The rows of arms that were asked. An arm is compared on the questions that were asked of it and of the probe."""
    if len({row[1] for row in by_arm.get(PATCHED, ())}) < FEWEST:
        return
    told: dict[str, Any] = dict(zip(("model", "dataset", "language", "filter"), unit, strict=True))
    for arm in sorted(set(asked) - {PATCHED}):
        both = asked[arm] & asked[PATCHED]
        own, probe = ([row for row in by_arm.get(one, ()) if row[:2] in both] for one in (arm, PATCHED))
        questions = sorted({question for question, _ in both})
        of_own, of_probe = ({row[1] for row in rows} for rows in (own, probe))
        cultures, empty = sorted(of_own | of_probe), sorted(of_own ^ of_probe)
        common = {
            **told, "arm": arm, "minimum": minimum, "questions": len(questions), "cultures": ", ".join(cultures),
        }  # fmt: skip
        if not own:
            yield ArmRow(**common, not_compared="the filter keeps no item of this arm")
        elif empty:
            why = f"no item of {', '.join(empty)} in one of the two: scores of different sets are not compared"
            yield ArmRow(**common, not_compared=why)
        elif len(cultures) < FEWEST:
            yield ArmRow(**common, not_compared=f"fewer than {FEWEST} cultures were asked of both")
        else:
            one, other = (Occurrences.of_rows(rows, questions, cultures) for rows in (probe, own))
            yield ArmRow(**common, **numbers_beside(one, other, len(questions), minimum, resamples, seed))


def numbers_beside(
    probe: Occurrences, arm: Occurrences, questions: int, minimum: int, resamples: int, seed: int
) -> dict[str, Any]:
    """The numbers of an `ArmRow`: scores of the probe and of an arm, their differences, and intervals."""
    found = beside(probe.counted(), arm.counted(), minimum)
    limits, why = _limits(found, probe, arm, questions, minimum, resamples, seed)
    difference, share, spearman = found.numbers
    numbers = {
        "score": found.score, "patched_score": found.patched_score, "share": found.share,
        "patched_share": found.patched_share, "difference": difference, "share_difference": share, "spearman": spearman,
        **limits,
    }  # fmt: skip
    known = {name: None if np.isnan(value) else float(value) for name, value in numbers.items()}
    return {**known, "no_interval": why}


def _limits(
    found: Beside, probe: Occurrences, arm: Occurrences, questions: int, minimum: int, resamples: int, seed: int
) -> tuple[dict[str, float], str | None]:
    """The limits of the three numbers, or the reason why they have none."""
    if questions < FEWEST_QUESTIONS:
        return {}, FEW
    needed = max(2, resamples)
    counts = whole_halves([probe, arm], questions, needed, np.random.default_rng(seed))
    if len(counts) < needed:
        return {}, MISSED
    drawn = [beside(one, other, minimum) for one, other in counts]
    of_halves = _brought_to(found, drawn)
    limits_of_all = student(found.numbers, of_halves, questions)
    low, high = (np.clip(ends, -_MOST, _MOST) for ends in limits_of_all)
    limits = {f"{name}_low": one for name, one in zip(_LIMITED, low, strict=True)}
    limits |= {f"{name}_high": one for name, one in zip(_LIMITED, high, strict=True)}
    reasons = dict.fromkeys(filter(None, why_withheld(found.numbers, of_halves, limits_of_all)))
    return limits, "; ".join(reasons) or None


def _brought_to(found: Beside, drawn: Sequence[Beside]) -> Numbers:
    """The numbers of halves, [halves, 3], with the scores of each side brought to their level of all questions."""
    own, other = (
        to_level(np.array([getattr(found, side)]), np.array([getattr(one, side) for one in drawn]))
        for side in ("patched_score", "score")
    )
    return np.array([[one.patched_score * own - one.score * other, *one.numbers[1:]] for one in drawn])


def _mean(values: Numbers) -> float:
    return float(np.nanmean(values)) if not np.isnan(values).all() else float("nan")


def _spearman(one: Numbers, other: Numbers) -> float:
    from scipy.stats import rankdata

    first, second = np.asarray(rankdata(one), np.float64), np.asarray(rankdata(other), np.float64)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    correlations: Numbers = np.asarray(np.corrcoef(np.stack([first, second])))
    return float(correlations[0, 1])
