"""The rows of `differences` of answers about swapped entities.

- model: two models on the texts that both were asked about: the rate of each side, and the gap of the sides.
- language: a language and English, on the texts that stand in both.
- native: the rates of native less those of Western texts, however answers are read. Of the papers' counts of wrong
  labels, too: the signed mean over draws, and beside it what their size is on average where there is no effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.store.schema.measured import EVERY, Difference
from polyculture.instruments.datasets.english import ENGLISH
from polyculture.instruments.differences import ComparedFacets, SharedCell, difference_rows
from polyculture.instruments.swaps import rates
from polyculture.instruments.swaps.rates import (
    SIDES,
    WITHOUT_INTERVAL,
    AnswerColumns,
    AnswerGroup,
    AskedType,
    RateOfAnswers,
    SwapScope,
    asked_alike,
    chosen,
    sides_of,
)
from polyculture.instruments.swaps.ratios import DrawRatio, chance_of_size, compared, ratio
from polyculture.metrics.inference.paired import PairedDifference

UNIT = "context x entity"
NOT_ALIKE, UNEQUAL = "asked differently", "unequal texts"  # why there is no interval
COUNTED = {  # the papers' counts, and the rates that they are of
    "false_negatives": "false_negative_rate",
    "missed_positives": "missed_positive_rate",
    "false_positives": "false_positive_rate",
}


class ModelAnswers(NamedTuple):
    """The answers of a model, and the types that it was asked about."""

    whole: AnswerGroup
    types: Sequence[AskedType]
    columns: AnswerColumns


class _AnswerPair(NamedTuple):
    """Two sides' answers about the same texts, in the same order; and the texts that only one was asked about."""

    whole: AnswerGroup  # what both share
    dimension: str
    a: str
    b: str
    one: AnswerColumns
    other: AnswerColumns
    left_out: tuple[AnswerColumns, AnswerColumns]
    types: Sequence[AskedType]  # of both
    inputs: str


def answer_differences(answers: Sequence[ModelAnswers], inputs: str) -> Iterator[Difference]:
    """The differences of models that were asked about one data set in the same settings, still without q."""
    for one, other in combinations(sorted(answers, key=lambda each: each.whole.model), 2):
        types = [*one.types, *other.types]
        whole = one.whole._replace(model=EVERY)
        pair = _paired(whole, "model", (one.whole.model, other.whole.model), one.columns, other.columns, types, inputs)
        yield from _rows(pair, [*dict.fromkeys(_parts(one.types)), *_over(one.types), rates.EVERY])
    for each in answers:
        yield from _of_languages(each, inputs)
        parts = [*dict.fromkeys(_parts(each.types)), *_over(each.types)]
        for part in (*parts, rates.EVERY):
            yield from _of_sides(each, part, inputs)
        for part in parts if each.whole.task == "sentiment" else ():
            yield from _counts(each, part, inputs)


def _of_languages(answers: ModelAnswers, inputs: str) -> Iterator[Difference]:
    languages = answers.columns["language"]
    english = chosen(answers.columns, languages == ENGLISH)
    for language in sorted({one.language for one in answers.types} - {ENGLISH}) if len(english["text"]) else ():
        own = chosen(answers.columns, languages == language)
        types = [one for one in answers.types if one.language in (language, ENGLISH)]
        pair = _paired(answers.whole, "language", (language, ENGLISH), own, english, types, inputs)
        parts = [*dict.fromkeys(_parts([one for one in types if one.language == language]))]
        yield from _rows(pair, [*parts, *dict.fromkeys(part._replace(entity_type="") for part in parts)])


def _parts(types: Sequence[AskedType]) -> list[SwapScope]:
    return [one.scope for one in types]


def _over(types: Sequence[AskedType]) -> list[SwapScope]:
    """Over the types of each language and culture."""
    return [*dict.fromkeys(part._replace(entity_type="") for part in _parts(types))]


def _paired(
    whole: AnswerGroup, dimension: str, names: tuple[str, str], one: AnswerColumns, other: AnswerColumns,
    types: Sequence[AskedType], inputs: str,
) -> _AnswerPair:  # fmt: skip
    key = "text" if dimension == "language" else "text_here"  # a text is known in all languages, or in one
    shared, of_one, of_other = np.intersect1d(one[key], other[key], return_indices=True)
    left_out = _without(one, key, shared), _without(other, key, shared)
    return _AnswerPair(whole, dimension, *names, chosen(one, of_one), chosen(other, of_other), left_out, types, inputs)


def _rows(pair: _AnswerPair, parts: Sequence[SwapScope]) -> Iterator[Difference]:
    cells: dict[tuple[str, str], list[tuple[SwapScope, SharedCell]]] = {}
    for part in parts:
        here = rates.once_within(pair.one, part)
        if not here.any():
            continue
        one, other = chosen(pair.one, here), chosen(pair.other, here)
        for rate in rates.rates_of(pair.whole.task):
            if not rate.is_read_otherwise:
                yield from _rate_rows(pair, part, rate, (one, other), cells)


def _rate_rows(
    pair: _AnswerPair,
    part: SwapScope,
    rate: RateOfAnswers,
    columns: tuple[AnswerColumns, AnswerColumns],
    cells: dict[tuple[str, str], list[tuple[SwapScope, SharedCell]]],
) -> Iterator[Difference]:
    """A row for each side, and for the gap of the sides, over the texts that both have an answer to."""
    name, metric, counted, reading = rate
    answered = [side[counted].astype(bool) for side in columns]
    both = answered[0] & answered[1]
    if not both.any():
        return
    types = _types_in(pair.types, _whole_part(pair, part))
    reason = _reason(types, name)
    one, other = (sides_of(chosen(side, both), metric) for side in columns)
    terms = {side: ([(one[side], 1.0)], [(other[side], 1.0)]) for side in SIDES if side in one and side in other}
    if len(terms) == 2:
        terms["difference"] = tuple([(each["native"], 1.0), (each["western"], -1.0)] for each in (one, other))  # type: ignore[assignment]
    for side, (first, second) in terms.items():
        found = compared(first, second)
        if reason:
            found = found.without_interval(reason)
        if part.entity_type:
            cell = SharedCell(part.entity_type, part.culture, found.value, float(first[0][0].size))
            cells.setdefault((name, side), []).append((part, cell))
        yield from difference_rows(
            ComparedFacets(
                pair.whole.task,
                name,
                pair.dimension,
                pair.a,
                pair.b,
                _place(pair.whole, _whole_part(pair, part)),
                {**reading, "side": side},
            ),
            found,
            unit=UNIT,
            units=len(np.unique(first[0][0].answers.contexts)),
            inputs=pair.inputs,
            parts=[cell for own, cell in cells.get((name, side), ()) if _is_part(own, part)],
            missing=(int((~answered[0] & answered[1]).sum()), int((answered[0] & ~answered[1]).sum())),
            left_out=_left_out(pair, part),
            sampled=any(one.is_sampled for one in types),
        )


def _without(columns: AnswerColumns, key: str, shared: NDArray[Any]) -> AnswerColumns:
    """The first answer about each text that is not among those that both sides have."""
    texts, first = np.unique(columns[key], return_index=True)
    return chosen(columns, first[~np.isin(texts, shared)])


def _left_out(pair: _AnswerPair, part: SwapScope) -> int:
    """The texts of a part that only one side was asked about."""
    return sum(int(rates.within(side, _whole_part(pair, part)).sum()) for side in pair.left_out)


def _whole_part(pair: _AnswerPair, part: SwapScope) -> SwapScope:
    """A part as both sides have it: in the language of each."""
    return part._replace(language="") if pair.dimension == "language" else part


def _types_in(types: Sequence[AskedType], part: SwapScope) -> list[AskedType]:
    return [one for one, own in zip(types, _parts(types), strict=True) if _is_part(own, part)]


def _reason(types: Sequence[AskedType], metric: str) -> str | None:
    """Why a difference of answers about these types has no interval."""
    return NOT_ALIKE if not asked_alike(types) else "none for macro F1" if metric in WITHOUT_INTERVAL else None


def _is_part(own: SwapScope, whole: SwapScope) -> bool:
    return all(not wanted or wanted == value for value, wanted in zip(own, whole, strict=True))


def _place(whole: AnswerGroup, part: SwapScope) -> dict[str, str]:
    """What both sides share."""
    shared = {"language": part.language, "country": part.culture, "topic": part.entity_type}
    return {
        "model": whole.model, "dataset": whole.dataset, "condition": whole.condition, "method": whole.answer_method,
        **{name: value or EVERY for name, value in shared.items()},
    }  # fmt: skip


def _of_sides(answers: ModelAnswers, part: SwapScope, inputs: str) -> Iterator[Difference]:
    """The rates of native less those of Western texts, which stand in the same contexts."""
    once = rates.once_within(answers.columns, part)
    types = _types_in(answers.types, part)
    for name, metric, counted, reading in rates.rates_of(answers.whole.task):
        own = chosen(answers.columns, once & answers.columns[counted].astype(bool))
        sides = sides_of(own, metric)
        if len(sides) == 2:
            found = compared([(sides["native"], 1.0)], [(sides["western"], 1.0)])
            if reason := _reason(types, name):
                found = found.without_interval(reason)
            yield from difference_rows(
                ComparedFacets(
                    answers.whole.task, name, "native", "native", "western", _place(answers.whole, part), reading
                ),
                found,
                unit=UNIT,
                units=len(np.unique(own["context"])),
                inputs=inputs,
                sampled=any(one.is_sampled for one in types),
            )


def _counts(answers: ModelAnswers, part: SwapScope, inputs: str) -> Iterator[Difference]:
    """The mean counts of wrong labels of both sides over draws, with what chance gives for the size of a difference."""
    own = chosen(answers.columns, rates.within(answers.columns, part) & answers.columns["ok"].astype(bool))
    for counted, metric in COUNTED.items():
        sides = sides_of(own, rates.RATES_OF_TASK["sentiment"][metric])
        if len(sides) < 2:
            continue
        one, other = sides["native"], sides["western"]
        texts = [_texts(side) for side in (one, other)]
        first, second = (_mean_count(side, of) for side, of in zip((one, other), texts, strict=True))
        found = compared([(one, 1.0)], [(other, 1.0)])
        size = float(np.mean(list(texts[0].values())))
        if texts[0] != texts[1] or len({*texts[0].values()}) > 1:
            scaled = PairedDifference(first, second, lacking=UNEQUAL)
        elif found.low is None or found.high is None:
            scaled = PairedDifference(first, second, lacking=found.lacking)
        else:
            scaled = PairedDifference(first, second, found.low * size, found.high * size, found.p, found.freedom)
        yield from difference_rows(
            ComparedFacets("sentiment", counted, "native", "native", "western", _place(answers.whole, part)),
            scaled,
            unit=UNIT,
            units=len(np.unique(one.answers.contexts)),
            inputs=inputs,
            chance=_chance(one, other, texts[0]) if texts[0] == texts[1] else None,
            sampled=any(one.is_sampled for one in answers.types),
        )


def _mean_count(side: DrawRatio, texts: dict[int, int]) -> float:
    return float(np.mean([side.draws[draw] * texts[draw] for draw in side.draws]))


def _texts(found: DrawRatio) -> dict[int, int]:
    """The texts of each draw that count, each as often as the draw takes it."""
    sizes = np.bincount(found.answers.draws, np.atleast_2d(found.answers.denominators)[0])
    return {int(draw): round(sizes[draw]) for draw in np.unique(found.answers.draws)}


def _chance(one: DrawRatio, other: DrawRatio, texts: dict[int, int]) -> float | None:
    each = [[ratio(side.answers.of(side.answers.draws == draw)) for draw in texts] for side in (one, other)]
    first, second = ([found for found in side if found is not None] for side in each)
    return chance_of_size(first, second, list(texts.values()))
