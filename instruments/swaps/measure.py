"""The rates of a run's answers about swapped entities with their intervals, into `swap_intervals.parquet`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
from numpy.typing import NDArray

from polyculture.cache.layout import compose
from polyculture.cache.manifest import read_manifest
from polyculture.cache.numbers import inputs_of, write_differences
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.schema.measured import Difference
from polyculture.cache.sql_file import read_sql
from polyculture.cache.store import open_store
from polyculture.instruments.differences import with_verdicts
from polyculture.instruments.swaps.layout import MEASURES, SWAPS
from polyculture.instruments.swaps.rates import (
    EVERY,
    METRICS,
    SIDES,
    WITHOUT_INTERVAL,
    Columns,
    Part,
    Whole,
    chosen,
    metrics_of,
    sides_of,
    within,
)
from polyculture.instruments.swaps.ratio import Ratio, compared, rate, spread_of
from polyculture.instruments.swaps.rows import SWAP_INTERVALS, SwapInterval
from polyculture.instruments.swaps.swap_differences import Answers, answer_differences
from polyculture.instruments.swaps.ways import Way, differences
from polyculture.metrics.measured import measured

QUERIES = Path(__file__).parent / "queries"
BECAME = ("asked", "answered", "readable", "right")


class _Rated(NamedTuple):
    """A rate or a difference with its interval; the deviation is over draws."""

    estimate: float
    low: float | None
    high: float | None
    p: float | None
    deviation: float | None
    draws: int
    answers: int


def measure_swaps(run: RunFolder) -> list[SwapInterval]:
    """Writes and returns the rates of every type, over types, and over languages; each side's and their difference.

    Differences of models and of languages go to `differences`. Raises `StoreError` where there is no run or the folder
    cannot be written.
    """
    rows = measured(run, compose(CORE, SWAPS), SWAP_INTERVALS, _rows)
    manifest = read_manifest(run.manifest)
    with open_store(run, compose(CORE, SWAPS)) as store:
        for measure in MEASURES:
            inputs = inputs_of(run, manifest, measure) if manifest else ""
            write_differences(run, measure.name, with_verdicts(_differences(store, measure.name, inputs)))
    return rows


def health_lines(rows: Sequence[SwapInterval], task: str, models: Sequence[str]) -> Iterator[str]:
    """What became of the texts of a task, a line per model and setting: of the rows that the tables show."""
    shown = (row for row in rows if row.task == task and row.model in models and not row.pooled)
    parts = [row for row in shown if row.entity_type and row.side != SIDES[-1]]
    first = next(iter(METRICS[task]))
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for row in parts:
        if row.metric == first:
            sizes = {name: getattr(row, name) or 0 for name in BECAME}
            counts.setdefault((row.model, row.dataset, row.setting), Counter()).update(sizes)
    for (model, dataset, setting), found in counts.items():
        told = ", ".join(f"{found[name]} {name}" for name in BECAME)
        yield f"{task}: {model}, {dataset}, {setting}: {told}"


def apart_lines(run: RunFolder, task: str, models: Sequence[str]) -> Iterator[str]:
    """Why answers of a task are not added up over languages or types: a line for each such row that there is not."""
    with open_store(run, compose(CORE, SWAPS)) as store:
        found = [(whole, part, _ways_of(ways, part)) for whole, ways in _wholes(_ways(store)) for part in _levels(ways)]
    reasons: dict[tuple[str, str, str, str], None] = {}
    for whole, part, ways in found:
        if whole.task == task and whole.model in models and (apart := differences(ways)):
            reasons[whole.model, whole.dataset, _told(part), "; ".join(apart)] = None
    for model, dataset, over, reason in reasons:
        yield f"{task}: {model}, {dataset}: no rows over {over}, which were not asked alike ({reason})"


def _told(part: Part) -> str:
    return "all languages" if part == EVERY else f"all types in {part.language}, {part.culture}"


def _rows(store: duckdb.DuckDBPyConnection) -> Iterator[SwapInterval]:
    for whole, ways in _wholes(_ways(store)):
        answers = _read(store, whole)
        for part in dict.fromkeys(Part(way.language, way.culture, way.entity_type) for way in ways):
            yield from _part_rows(whole, part, chosen(answers, within(answers, part)))
        for part in _levels(ways):
            if not differences(_ways_of(ways, part)):
                once = ~answers["again"].astype(bool) if part == EVERY else within(answers, part)
                yield from _part_rows(whole, part, chosen(answers, once))


def _differences(store: duckdb.DuckDBPyConnection, task: str, inputs: str) -> Iterator[Difference]:
    """Of a task's answers about one data set in the same settings: those of all models stand in memory at once."""
    groups: dict[Whole, list[tuple[Whole, list[Way]]]] = {}
    for whole, ways in _wholes([way for way in _ways(store) if way.task == task]):
        groups.setdefault(whole._replace(model=""), []).append((whole, ways))
    for group in groups.values():
        yield from answer_differences([Answers(whole, ways, _read(store, whole)) for whole, ways in group], inputs)


def _ways(store: duckdb.DuckDBPyConnection) -> list[Way]:
    return [Way(*row) for row in store.execute(read_sql(QUERIES, "ways")).fetchall()]


def _wholes(ways: Sequence[Way]) -> Iterator[tuple[Whole, list[Way]]]:
    """What is read together: each setting; of sentiment all of them, too, where there are several."""
    found: dict[Whole, list[Way]] = {}
    for way in ways:
        whole = Whole(way.task, way.answer_method, way.model, way.dataset, (way.setting,))
        found.setdefault(whole, []).append(way)
    yield from found.items()
    sentiment = [whole for whole in found if whole.task == "sentiment"]
    for _, group in groupby(sentiment, key=lambda whole: whole._replace(settings=())):
        several = list(group)
        if len(several) > 1:
            together = sorted((way for whole in several for way in found[whole]), key=_place)
            yield several[0]._replace(settings=tuple(whole.settings[0] for whole in several)), together


def _place(way: Way) -> tuple[str, str, str]:
    return way.language, way.culture, way.entity_type


def _levels(ways: Sequence[Way]) -> list[Part]:
    """Over the types of each language and culture, and over all."""
    return [*dict.fromkeys(Part(way.language, way.culture, "") for way in ways), EVERY]


def _ways_of(ways: Sequence[Way], part: Part) -> list[Way]:
    """Those behind a row over types, or over all languages."""
    return [way for way in ways if part in (EVERY, Part(way.language, way.culture, ""))]


def _read(store: duckdb.DuckDBPyConnection, whole: Whole) -> dict[str, NDArray[Any]]:
    wanted = {**whole._asdict(), "settings": list(whole.settings)}
    found = store.execute(read_sql(QUERIES, "answers"), wanted).fetchnumpy()
    return {name: np.asarray(np.ma.getdata(column)) for name, column in found.items()}


def _part_rows(whole: Whole, part: Part, answers: Columns) -> Iterator[SwapInterval]:
    """A row per metric and side that was asked, with an estimate where an answer counts."""
    counts, wording = _counts(answers), "\n".join(sorted(set(answers["wording"]) - {""})) or None
    for name, (metric, counted) in metrics_of(whole.task).items():
        read = chosen(answers, answers[counted].astype(bool))
        native = read["native"].astype(bool)
        sizes = _sizes(read, native, np.atleast_2d(metric(read)[1]).max(axis=0) > 0)
        rated = _rated(sides_of(read, metric))
        for side, became in counts.items():
            yield _row(whole, part, name, side, rated.get(side), {**sizes, **became, "wording": wording})


def _counts(answers: Columns) -> dict[str, dict[str, int]]:
    """What became of the texts of each side that was asked about, and of both."""
    native, times = answers["native"].astype(bool), answers["times"]
    found: dict[str, dict[str, int]] = {}
    for side, here in zip(SIDES, (native, ~native, np.ones(len(native), bool)), strict=True):
        readable = answers["ok"].astype(bool) & here
        became = {
            "asked": int(times[here].sum()),
            "answered": int(times[answers["answered"].astype(bool) & here].sum()),
            "readable": int(times[readable].sum()),
            "right": int(times[readable & (answers["matched"] > 0)].sum()),
        }
        if became["asked"]:
            found[side] = {**became, "failed": became["asked"] - became["readable"]}
    return found if len(found) == len(SIDES) else {side: each for side, each in found.items() if side != SIDES[-1]}


def _sizes(read: Columns, native: NDArray[np.bool_], counted: NDArray[np.bool_]) -> dict[str, int]:
    """How many contexts and entities the counted answers are about."""
    return {
        "contexts": len(np.unique(read["context"][counted])),
        "native_entities": len(np.unique(read["entity"][counted & native])),
        "western_entities": len(np.unique(read["entity"][counted & ~native])),
    }


def _rated(sides: Mapping[str, Ratio]) -> dict[str, _Rated]:
    """Each side, and their difference where both have an answer."""
    rated = {}
    for side, found in sides.items():
        low, high = rate(found).limits(0.0, 1.0)
        rated[side] = _Rated(found.value, low, high, None, found.deviation, len(found.draws), found.size)
    if len(sides) == 2:
        one, other = sides["native"], sides["western"]
        apart = compared([(one, 1.0)], [(other, 1.0)])
        drawn, size = min(len(one.draws), len(other.draws)), one.size + other.size
        rated[SIDES[-1]] = _Rated(apart.value, apart.low, apart.high, apart.p, spread_of(one, other), drawn, size)
    return rated


def _row(
    whole: Whole, part: Part, metric: str, side: str, found: _Rated | None, sizes: Mapping[str, Any]
) -> SwapInterval:
    held = found if metric not in WITHOUT_INTERVAL else None
    return SwapInterval(
        metric=metric,
        side=side,
        **whole.columns,
        language=part.language or None,
        culture=part.culture or None,
        entity_type=part.entity_type or None,
        estimate=found.estimate if found else None,
        low=held.low if held else None,
        high=held.high if held else None,
        p=held.p if held else None,
        deviation=found.deviation if found else None,
        draws=found.draws if found else 0,
        answers=found.answers if found else 0,
        **sizes,
    )
