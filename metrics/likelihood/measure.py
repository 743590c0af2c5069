"""The Cultural Bias Scores of a run with their intervals, from its store into `bias_intervals.parquet`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np

from cache.parquet import objects_to_table, write_parquet
from cache.run_folder import RunFolder
from cache.schema import BiasInterval
from cache.store import open_store
from metrics import views
from metrics.intervals.estimate import Estimate, Sum
from metrics.likelihood.bias import Comparison, compare
from metrics.likelihood.protocol import sampled_bias
from metrics.likelihood.uncertainty import Panel, bias, difference

RULES = ("sum", "mean")
GROUNDED, NEUTRAL = "grounded", "neutral"
QUERIES = Path(__file__).parent / "queries"


class Unit(NamedTuple):
    """The entities of one type that were compared, in all settings."""

    model: str
    dataset: str
    language: str
    culture: str
    entity_type: str
    form: str


@dataclass(frozen=True, slots=True)
class Tally:
    """What a score rests on: its panel, and the comparison in each context."""

    panel: Panel
    comparisons: Sequence[Comparison]
    estimate: Estimate


def measure_bias(run: RunFolder) -> list[BiasInterval]:
    """Writes and returns the scores of every type, over types, and over languages, under both rules.

    Raises `StoreError` where there is no run or the folder cannot be written.
    """
    with open_store(run, views()) as store:
        rows = list(_rows(store))
    write_parquet(objects_to_table("bias_intervals", rows), run.table("bias_intervals"))
    return rows


def _rows(store: duckdb.DuckDBPyConnection) -> Iterator[BiasInterval]:
    means: dict[tuple[Any, ...], list[Tally]] = {}
    for unit in [Unit(*row) for row in store.execute(_query("units")).fetchall()]:
        likelihoods = store.execute(_query("likelihoods"), unit._asdict()).fetchnumpy()
        for rule in RULES:
            tallies = dict(_tallies(panels(likelihoods, rule)))
            for setting, tally in tallies.items():
                yield _score_row(rule, unit, setting, [tally])
                for level in _levels(unit):
                    means.setdefault((rule, level, setting), []).append(tally)
            yield from _difference_row(rule, unit, tallies)
    for (rule, level, setting), found in means.items():
        yield _score_row(rule, level, setting, found)


def _levels(unit: Unit) -> tuple[Unit, Unit]:
    """Over all types of a language and culture, and over all of a data set; '' stands for all."""
    over_types = unit._replace(entity_type="")
    return over_types, over_types._replace(language="", culture="")


def panels(likelihoods: Mapping[str, Any], rule: str) -> dict[str, Panel]:
    """A panel per setting from columns of scores; entities stand in the same order in all of them."""
    values = np.asarray(likelihoods["log_probability"], np.float64)
    if rule == "mean":
        values = values / np.asarray(likelihoods["tokens"], np.float64)
    native = np.asarray(likelihoods["native"], bool)
    settings = np.asarray(likelihoods["setting"]).astype(str)
    _, entity = np.unique(np.asarray(likelihoods["entity_id"]).astype(str), return_inverse=True)
    is_native = np.zeros(entity.max(initial=-1) + 1, bool)
    is_native[entity[native]] = True
    found = {}
    for setting in sorted(set(settings)):
        here = settings == setting
        _, context = np.unique(np.asarray(likelihoods["context_id"])[here].astype(str), return_inverse=True)
        grid = np.full((context.max() + 1, len(is_native)), np.nan)
        grid[context, entity[here]] = values[here]
        found[setting] = Panel(grid[:, is_native], grid[:, ~is_native])
    return found


def _tallies(found: Mapping[str, Panel]) -> Iterator[tuple[str, Tally]]:
    for setting, panel in found.items():
        rows = (compare(native, western) for native, western in zip(panel.native, panel.western, strict=True))
        comparisons = [row for row in rows if row is not None]
        estimate = bias(panel)
        if estimate is not None:
            yield setting, Tally(panel, comparisons, estimate)


def _score_row(rule: str, unit: Unit, setting: str, tallies: Sequence[Tally]) -> BiasInterval:
    total = Sum()  # types rest on other contexts and other entities: they are independent
    for tally in tallies:
        total.add(tally.estimate, len(tally.comparisons))
    estimate = total.mean()
    low, high = estimate.limits(0.0, 1.0)
    comparisons = [comparison for tally in tallies for comparison in tally.comparisons]
    pairs = sum(comparison.pairs for comparison in comparisons)
    sampled = sampled_bias([tally.panel for tally in tallies])
    return BiasInterval(
        metric="cbs",
        **_of(rule, unit),
        setting=setting,
        other_setting=None,
        estimate=estimate.value,
        low=low,
        high=high,
        p=None,
        contexts=len(comparisons),
        native_entities=sum(_present(tally.panel.native) for tally in tallies),
        western_entities=sum(_present(tally.panel.western) for tally in tallies),
        pairs=pairs,
        ties=sum(comparison.ties * comparison.pairs for comparison in comparisons) / pairs,
        sampled_mean=sampled.mean if sampled else None,
        sampled_deviation=sampled.deviation if sampled else None,
    )


def _difference_row(rule: str, unit: Unit, tallies: Mapping[str, Tally]) -> Iterator[BiasInterval]:
    """Grounded less neutral, where both were asked."""
    if not {GROUNDED, NEUTRAL} <= tallies.keys():
        return
    one, other = tallies[GROUNDED], tallies[NEUTRAL]
    found = difference(one.panel, other.panel)
    if found is None:
        return
    low, high = found.estimate.limits(-1.0, 1.0)
    comparisons = [*one.comparisons, *other.comparisons]
    pairs = sum(comparison.pairs for comparison in comparisons)
    yield BiasInterval(
        metric="cbs_difference",
        **_of(rule, unit),
        setting=GROUNDED,
        other_setting=NEUTRAL,
        estimate=found.estimate.value,
        low=low,
        high=high,
        p=found.p,
        contexts=len(comparisons),
        native_entities=_present(one.panel.native),
        western_entities=_present(one.panel.western),
        pairs=pairs,
        ties=sum(comparison.ties * comparison.pairs for comparison in comparisons) / pairs,
        sampled_mean=None,
        sampled_deviation=None,
    )


def _of(rule: str, unit: Unit) -> dict[str, Any]:
    return {"rule": rule, **{name: value or None for name, value in unit._asdict().items()}}


def _present(side: np.ndarray[Any, np.dtype[np.float64]]) -> int:
    return int((~np.isnan(side)).any(axis=0).sum())


def _query(name: str) -> str:
    return (QUERIES / f"{name}.sql").read_text(encoding="utf-8")
