"""The rates of a run's answers about swapped entities with their intervals, into `numbers` and `differences`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.store.layout import Measure, compose
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.schema.measured import CELL, WITHOUT, Difference, Number
from polyculture.cache.store.schema.measured import EVERY as ALL
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store, open_store
from polyculture.instruments.swaps.layout import MEASURES, NORMALISED, READING, SWAPS
from polyculture.instruments.swaps.rates import (
    EVERY,
    RATES_OF_TASK,
    SIDES,
    WITHOUT_INTERVAL,
    AnswerColumns,
    AnswerGroup,
    AskedType,
    SwapScope,
    asked_alike,
    chosen,
    once_within,
    rates_of,
    sides_of,
    within,
)
from polyculture.instruments.swaps.ratios import rate
from polyculture.instruments.swaps.swap_differences import ModelAnswers, answer_differences
from polyculture.metrics.inference.family import in_families
from polyculture.metrics.measured import renew

QUERIES = Path(__file__).parent / "queries"
BECAME = ("asked", "answered", "readable", "right")
POOLED = "settings"  # the facet of numbers over all settings
_METHOD = "ratio over contexts and entities, linearised, crossed; Wilson's for the effective number of answers"


def measure_swaps(run: RunFolder, task: str) -> None:
    """Writes a task's rates of both sides: of every type, over types, and over languages, where they are to be renewed.

    Differences of sides, models and languages go to `differences`. Raises as `renew`.
    """
    renew(run, compose(CORE, SWAPS), [MEASURES[task]], _measured)


def _measured(store: Store, measure: Measure, inputs: str) -> tuple[Iterator[Number], list[Difference]]:
    wholes = list(_wholes(_asked_types(store, measure.name)))
    # A family of tests has each answer in one reading.
    rows = in_families(list(_differences(store, wholes, inputs)), _is_otherwise_read)
    return _numbers(store, wholes, inputs), rows


def health_lines(rows: Sequence[Number], task: str, models: Sequence[str]) -> Iterator[str]:
    """What became of the texts of a task, a line per model and setting."""
    first = next(iter(RATES_OF_TASK[task]))
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for row in rows:
        is_first = (row.measure, row.metric, row.level) == (task, first, CELL)
        if is_first and not _is_otherwise_read(row) and row.model in models and POOLED not in row.facets:
            counts.setdefault((row.model, row.dataset, row.condition), Counter()).update(row.sizes)
    for (model, dataset, setting), found in counts.items():
        told = ", ".join(f"{found[name]} {name}" for name in BECAME)
        yield f"{task}: {model}, {dataset}, {setting}: {told}"


def _is_otherwise_read(row: Number | Difference) -> bool:
    return row.facets.get(READING, NORMALISED) != NORMALISED


def apart_lines(run: RunFolder, task: str, models: Sequence[str]) -> Iterator[str]:
    """Why answers of a task are not added up over languages: a line for each model and data set where they are not."""
    with open_store(run, compose(CORE, SWAPS)) as store:
        found = list(_wholes(_asked_types(store, task)))
    lines: dict[str, None] = {}
    for whole, types in found:
        if whole.model in models and not asked_alike(types):
            languages: dict[str, set[str]] = {}
            for one in types:
                languages.setdefault(one.settings_id, set()).add(one.language)
            told = "; ".join(sorted(" ".join(sorted(some)) for some in languages.values()))
            line = f"no rows over all languages, which were asked in other ways: {told}"
            lines[f"{task}: {whole.model}, {whole.dataset}: {line}"] = None
    yield from lines


def _numbers(store: Store, wholes: Sequence[tuple[AnswerGroup, list[AskedType]]], inputs: str) -> Iterator[Number]:
    for whole, types in wholes:
        answers = _read(store, whole)
        for part in dict.fromkeys(one.scope for one in types):
            yield from _part_numbers(whole, part, chosen(answers, within(answers, part)), inputs)
        for part in _levels(types):
            if asked_alike(_types_of(types, part)):
                yield from _part_numbers(whole, part, chosen(answers, once_within(answers, part)), inputs)


def _differences(
    store: Store, wholes: Sequence[tuple[AnswerGroup, list[AskedType]]], inputs: str
) -> Iterator[Difference]:
    """Of a task's answers about one data set in the same settings: those of all models stand in memory at once."""
    groups: dict[AnswerGroup, list[tuple[AnswerGroup, list[AskedType]]]] = {}
    for whole, types in wholes:
        groups.setdefault(whole._replace(model=""), []).append((whole, types))
    for group in groups.values():
        yield from answer_differences(
            [ModelAnswers(whole, types, _read(store, whole)) for whole, types in group], inputs
        )


def _asked_types(store: Store, task: str) -> list[AskedType]:
    return [AskedType(*row) for row in store.execute(read_sql(QUERIES, "asked_types"), {"task": task}).fetchall()]


def _wholes(types: Sequence[AskedType]) -> Iterator[tuple[AnswerGroup, list[AskedType]]]:
    """What is read together: each setting; of sentiment all of them, too, where there are several."""
    found: dict[AnswerGroup, list[AskedType]] = {}
    for one in types:
        whole = AnswerGroup(one.task, one.answer_method, one.model, one.dataset, (one.setting,))
        found.setdefault(whole, []).append(one)
    yield from found.items()
    sentiment = [whole for whole in found if whole.task == "sentiment"]
    for _, group in groupby(sentiment, key=lambda whole: whole._replace(settings=())):
        several = list(group)
        if len(several) > 1:
            together = sorted((one for whole in several for one in found[whole]), key=lambda one: one.scope)
            yield several[0]._replace(settings=tuple(whole.settings[0] for whole in several)), together


def _levels(types: Sequence[AskedType]) -> list[SwapScope]:
    """Over the types of each language and culture, and over all."""
    return [*dict.fromkeys(one.scope._replace(entity_type="") for one in types), EVERY]


def _types_of(types: Sequence[AskedType], part: SwapScope) -> list[AskedType]:
    """Those behind a row over types, or over all languages."""
    return [one for one in types if part in (EVERY, one.scope._replace(entity_type=""))]


def _read(store: Store, whole: AnswerGroup) -> dict[str, NDArray[Any]]:
    wanted = {**whole._asdict(), "settings": list(whole.settings)}
    found = store.execute(read_sql(QUERIES, "answers"), wanted).fetchnumpy()
    return {name: np.asarray(np.ma.getdata(column)) for name, column in found.items()}


def _part_numbers(whole: AnswerGroup, part: SwapScope, answers: AnswerColumns, inputs: str) -> Iterator[Number]:
    """A number per metric and side that was asked, with an estimate where an answer counts."""
    native, wordings = answers["native"].astype(bool), sorted(set(answers["wording"]) - {""})
    became = {side: _became(answers, here) for side, here in zip(SIDES, (native, ~native), strict=True) if here.any()}
    for name, metric, counted, reading in rates_of(whole.task):
        read = chosen(answers, answers[counted].astype(bool))
        rests_on = np.atleast_2d(metric(read)[1]).max(axis=0) > 0
        contexts = len(np.unique(read["context"][rests_on]))
        of_side = read["native"].astype(bool)
        entities = {
            side: len(np.unique(read["entity"][rests_on & here]))
            for side, here in zip(SIDES, (of_side, ~of_side), strict=True)
        }
        rated = sides_of(read, metric)
        for side, sizes in became.items():
            found = rated.get(side)
            low, high = rate(found).limits(0.0, 1.0) if found and name not in WITHOUT_INTERVAL else (None, None)
            yield Number(
                measure=whole.task,
                metric=name,
                level=_level(part),
                model=whole.model,
                dataset=whole.dataset,
                language=part.language or ALL,
                country=part.culture or ALL,
                topic=part.entity_type or ALL,
                condition=whole.condition,
                wording=wordings[0] if len(wordings) == 1 else ALL if wordings else WITHOUT,
                method=whole.answer_method,
                facets={**({POOLED: "all"} if len(whole.settings) > 1 else {}), **reading, "side": side},
                estimate=found.value if found else None,
                no_estimate=None if found else "no answer counts",
                low=low,
                high=high,
                no_interval=_lacking(name, contexts, entities[side]) if found and low is None else None,
                no_wide="one wording",
                unit="context",
                units=contexts,
                n=found.size if found else 0,
                sizes={**sizes, "entities": entities[side]},
                cells=1,
                method_of_interval=_METHOD if found else None,
                inputs=inputs,
            )


def _level(part: SwapScope) -> str:
    if part.entity_type:
        return CELL
    return "model, dataset, language, country, condition" if part.language else "model, dataset, condition"


def _became(answers: AnswerColumns, here: NDArray[np.bool_]) -> dict[str, int]:
    """What became of the texts of a side."""
    readable = answers["ok"].astype(bool) & here
    counted = (here, answers["answered"].astype(bool) & here, readable, readable & (answers["matched"] > 0))
    return {name: int(answers["times"][each].sum()) for name, each in zip(BECAME, counted, strict=True)}


def _lacking(metric: str, contexts: int, entities: int) -> str:
    """Why a rate has no interval."""
    if metric in WITHOUT_INTERVAL:
        return "none for macro F1"
    return "few contexts" if contexts < 2 else "few entities" if entities < 2 else "nothing varies"
