"""The numbers of what layers hold and their differences, from a run's store into `numbers` and `differences`.

`condition` is the arm, `method` the filter. In `numbers`:

- `flattening`, `flattening_share`: F of an ordered pair of cultures, `country` and `toward`, and its share.
- `similarity`, `similarity_sd`: of the items of an arm with their questions, before any filter (CultureScope, 7).

In `differences`:

- dimension `chance`: F of a pair, and its mean with cultures permuted within questions, whose p it has.
- `condition`: the probe and a control, on the questions that were asked of both: F, its share and the similarity.
- `level`: the mean F of cultures of the fewest resources, and of the others. `region`: of pairs within one and across.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import groupby, permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polyculture.cache.store.layout import Measure, compose
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.schema.measured import EVERY, WITHOUT, Difference, Number
from polyculture.cache.store.store import Store
from polyculture.instruments.cultures.cultures import read_cultures
from polyculture.instruments.differences import ComparedFacets, difference_rows
from polyculture.instruments.probe.arms import PATCHED, TEXT
from polyculture.instruments.probe.encoder import encode, identity_of
from polyculture.instruments.probe.flattening import (
    FEWEST,
    JudgedFlattening,
    Pairs,
    compared,
    groups_of_pairs,
    judge,
)
from polyculture.instruments.probe.halves import TestedNumber
from polyculture.instruments.probe.layout import MEASURE, PROBE, PROBE_SIMILARITIES, SimilarityRow
from polyculture.instruments.probe.occurrences import Occurrence, Occurrences
from polyculture.instruments.questions.layout import EMPTY
from polyculture.metrics.inference.family import NEW_PROMPTS, in_families
from polyculture.metrics.inference.paired import PairedDifference
from polyculture.metrics.inference.ratios import Ratio, estimate, paired
from polyculture.metrics.measured import renew, renew_table

NO_ITEM = "the filter keeps no item of this arm"
ONE_TEXT = "one text a question, and not one a layer: compare shares"
BY_PERMUTATION = "tested by permutations"
UNIT = "question"
_ITEMS = Path(__file__).with_name("similarities.sql").read_text(encoding="utf-8")
_COUNTS = """
SELECT model, dataset, language, filter, arm, question_id, culture, item_key, count(*) FROM probe_kept
GROUP BY ALL ORDER BY ALL
"""
_ASKED = "SELECT DISTINCT model, dataset, language, arm, question_id, culture FROM probes WHERE status = 'ok'"
_GROUPS = "SELECT DISTINCT dataset, culture, level, region FROM probe_questions"
_LIKENESS = """
SELECT
    model, dataset, language, arm, question_id, sum(similarity ORDER BY similarity), count(*)::DOUBLE,
    any_value(sd) FROM (
        SELECT *, stddev_samp(similarity ORDER BY similarity) OVER (PARTITION BY model, dataset, language, arm) AS sd
        FROM probe_judged WHERE filter = 'none' AND kept AND similarity IS NOT NULL
    )
GROUP BY ALL ORDER BY ALL
"""


class Unit(NamedTuple):
    """What F is computed of; items of different languages never coincide as strings."""

    model: str
    dataset: str
    language: str
    filter: str = WITHOUT

    @property
    def shared(self) -> dict[str, Any]:
        """The columns of its numbers and differences."""
        return {"model": self.model, "dataset": self.dataset, "language": self.language, "method": self.filter}


@dataclass(frozen=True, slots=True)
class Resampling:
    """How F is computed and its uncertainty told."""

    resamples: int
    seed: int


@dataclass(frozen=True)
class ProbedItems:
    """What a unit's items are, by arm, and which questions about which cultures were asked under it."""

    unit: Unit
    items: Mapping[str, Sequence[Occurrence]]
    asked: Mapping[str, Set[tuple[str, str]]]
    groups: Mapping[str, tuple[str | None, str | None]]  # of a culture, its level of resources and its region


def measure_similarities(run: RunFolder, encoders: Mapping[str, str]) -> None:
    """Writes the similarity of each item with its question, by the encoder of its language; no row without one."""
    identities = {language: (name, identity_of(name)) for language, name in encoders.items()}
    rows = partial(_similarities, encoders=encoders)
    renew_table(run, compose(CORE, PROBE), PROBE_SIMILARITIES, rows, {"encoders": identities})


def measure_probe(run: RunFolder, resamples: int, seed: int) -> None:
    """Writes the numbers and differences of a run's probes, where they are to be renewed. Raises as `renew`."""
    how = Resampling(resamples, seed)
    renew(run, compose(CORE, PROBE), [MEASURE], partial(_measured, how), asdict(how))


def _measured(how: Resampling, store: Store, _: Measure, inputs: str) -> tuple[list[Number], list[Difference]]:
    probed, likeness = list(probed_units(store)), store.execute(_LIKENESS).fetchall()
    numbers: list[Number] = []
    rows: list[Difference] = []
    for one in [*(each for unit in probed for each in flattening_rows(unit, how, inputs)),
                *similarity_rows(likeness, inputs)]:  # fmt: skip
        (numbers if isinstance(one, Number) else rows).append(one)  # type: ignore[arg-type]
    return numbers, in_families(rows, lambda row: row.dimension)


def probed_units(store: Store) -> Iterator[ProbedItems]:
    """The units of a store that have items."""
    asked: dict[Any, dict[str, set[tuple[str, str]]]] = defaultdict(lambda: defaultdict(set))
    for *where, arm, question, culture in store.execute(_ASKED).fetchall():
        asked[tuple(where)][arm].add((question, culture))
    groups: dict[str, dict[str, tuple[str | None, str | None]]] = defaultdict(dict)
    for dataset, culture, level, region in store.execute(_GROUPS).fetchall():
        groups[dataset][culture] = level, region
    for where, lines in groupby(store.execute(_COUNTS).fetchall(), key=lambda line: line[:4]):
        unit = Unit(*where)
        items = {arm: [line[5:] for line in some] for arm, some in groupby(lines, key=lambda line: line[4])}
        yield ProbedItems(unit, items, asked[unit[:3]], groups[unit.dataset])


def flattening_rows(probed: ProbedItems, how: Resampling, inputs: str) -> Iterator[Number | Difference]:
    """F of each arm; the probe beside each control, and its pairs beside one another."""
    for arm, rows in probed.items.items():
        yield from _pairs(probed.unit, arm, rows, how, inputs)
    if len(_cultures(probed.items.get(PATCHED, ()))) >= FEWEST:
        yield from _groups(probed, how, inputs)
        for arm in sorted(set(probed.asked) - {PATCHED}):
            yield from _beside(probed, arm, how, inputs)


def _cultures(rows: Sequence[Occurrence]) -> list[str]:
    return sorted({row[1] for row in rows})


def _occurrences(rows: Sequence[Occurrence]) -> tuple[Occurrences, int]:
    """The counted items, and how many questions they are of."""
    questions = sorted({row[0] for row in rows})
    return Occurrences.of_rows(rows, questions, _cultures(rows)), len(questions)


def _pairs(
    unit: Unit, arm: str, rows: Sequence[Occurrence], how: Resampling, inputs: str
) -> Iterator[Number | Difference]:
    """F and its share of every pair of cultures. A language with fewer than three has none."""
    cultures = _cultures(rows)
    if len(cultures) < FEWEST:
        return
    data, questions = _occurrences(rows)
    judged, volumes = judge(data, how.resamples, how.seed), data.counted().sum(0)
    for (t, one), (s, other) in permutations(enumerate(cultures), 2):
        facets = {"toward": other}
        row = replace(
            EMPTY, measure=MEASURE.name, level="model, dataset, language, country, condition, method, toward",
            **unit.shared, country=one, condition=arm, wording=WITHOUT, reader=WITHOUT, facets=facets,
            unit=UNIT, units=questions, n=int(volumes[t]),
            sizes={"cultures": len(cultures)}, cells=1, method_of_interval="halves of the questions", inputs=inputs,
        )  # fmt: skip
        for metric, values, limits in (
            ("flattening", judged.found.score, judged.score_interval),
            ("flattening_share", judged.found.share, judged.share_interval),
        ):
            value = _known(values[t, s])
            why = None if value is not None else "nothing is particular to the culture"
            yield replace(
                row, metric=metric, estimate=value, no_estimate=why, low=_known(limits.low[t, s]),
                high=_known(limits.high[t, s]), no_interval=limits.lacking[t, s],
            )  # fmt: skip
        yield _chance(unit, arm, judged, (t, s), {**facets, "country": one}, questions, inputs)


def _chance(
    unit: Unit,
    arm: str,
    judged: JudgedFlattening,
    pair: tuple[int, int],
    at: Mapping[str, str],
    questions: int,
    inputs: str,
) -> Difference:
    found = PairedDifference(float(judged.found.score[pair]), float(judged.by_chance[pair]), p=_known(judged.p[pair]))
    shared = {**unit.shared, "condition": arm, "country": at["country"]}
    facets = {name: value for name, value in at.items() if name != "country"}
    sides = ComparedFacets(MEASURE.name, "flattening", "chance", "observed", "chance", shared, facets)
    row, *_ = difference_rows(sides, found, unit=UNIT, units=questions, inputs=inputs)
    return replace(row, reason=BY_PERMUTATION)


def _groups(probed: ProbedItems, how: Resampling, inputs: str) -> Iterator[Difference]:
    """F of cultures of few resources toward any other less that of the others; of pairs within regions less across."""
    rows = probed.items[PATCHED]
    cultures = _cultures(rows)
    levels, regions = ([probed.groups.get(one, (None, None))[part] for one in cultures] for part in range(2))
    few = read_cultures().levels[-1]
    pairs = ~np.eye(len(cultures), dtype=bool)
    known = [np.array([[a is not None and b is not None for b in some] for a in some]) for some in (levels, regions)]
    low = np.array([[level == few] * len(cultures) for level in levels])
    near = np.array([[one == other for other in regions] for one in regions])
    told: dict[str, tuple[Pairs, Pairs]] = {
        "level": (pairs & known[0] & low, pairs & known[0] & ~low),
        "region": (pairs & known[1] & near, pairs & known[1] & ~near),
    }
    told = {name: sides for name, sides in told.items() if all(some.any() for some in sides)}
    if not told:
        return
    data, questions = _occurrences(rows)
    names = {"level": (few, f"all but {few}"), "region": ("same region", "other regions")}
    for name, (one, other, limits) in groups_of_pairs(data, told, questions, how.resamples, how.seed).items():
        shared = {**probed.unit.shared, "condition": PATCHED}
        sides = ComparedFacets(MEASURE.name, "flattening", name, *names[name], shared)
        yield from difference_rows(sides, _paired(one, other, limits), unit=UNIT, units=questions, inputs=inputs)


def _beside(probed: ProbedItems, arm: str, how: Resampling, inputs: str) -> Iterator[Difference]:
    """The probe and a control on the questions that were asked of both."""
    both = probed.asked[arm] & probed.asked[PATCHED]
    own, probe = ([row for row in probed.items.get(one, ()) if row[:2] in both] for one in (arm, PATCHED))
    questions = sorted({question for question, _ in both})
    of_own, of_probe = set(_cultures(own)), set(_cultures(probe))
    cultures, empty = sorted(of_own | of_probe), sorted(of_own ^ of_probe)
    why = (
        NO_ITEM if not own
        else f"no item of {', '.join(empty)} in one of the two: scores of different sets are not compared" if empty
        else f"fewer than {FEWEST} cultures were asked of both" if len(cultures) < FEWEST
        else None
    )  # fmt: skip
    shared = {**probed.unit.shared, "condition": EVERY}
    sides = {
        metric: ComparedFacets(MEASURE.name, metric, "condition", PATCHED, arm, shared)
        for metric in ("flattening", "flattening_share")
    }
    if why:
        for one in sides.values():
            yield from _untold(one, why, len(questions), inputs)
        return
    counted = [Occurrences.of_rows(rows, questions, cultures) for rows in (probe, own)]
    found = dict(zip(sides, compared(counted[0], counted[1], len(questions), how.resamples, how.seed), strict=True))
    if arm == TEXT:  # F grows with the volume
        yield from _untold(sides.pop("flattening"), ONE_TEXT, len(questions), inputs)
    for metric, one in sides.items():
        if math.isnan(found[metric][2].value):
            yield from _untold(one, "nothing is particular to any culture", len(questions), inputs)
        else:
            yield from difference_rows(one, _paired(*found[metric]), unit=UNIT, units=len(questions), inputs=inputs)


def similarity_rows(rows: Sequence[tuple[Any, ...]], inputs: str) -> Iterator[Number | Difference]:
    """The mean similarity of each arm's items, with intervals over questions, and the probe's less each control's."""
    for where, some in groupby(rows, key=lambda row: row[:3]):
        unit, arms = Unit(*where), {arm: list(own) for arm, own in groupby(some, key=lambda row: row[3])}
        questions = sorted({row[4] for own in arms.values() for row in own})
        sums = {arm: _ratio(own, questions) for arm, own in arms.items()}
        for arm, own in arms.items():
            row = replace(
                EMPTY, measure=MEASURE.name, level="model, dataset, language, condition", **unit.shared, condition=arm,
                wording=WITHOUT, reader=WITHOUT, unit=UNIT, units=len(own), n=int(sums[arm].denominators.sum()),
                cells=1, inputs=inputs,
            )  # fmt: skip
            if (found := estimate(sums[arm])) is not None:
                low, high = found.limits(-1.0, 1.0)
                yield replace(row, metric="similarity", estimate=found.value, low=low, high=high,
                              no_interval=found.withheld(), method_of_interval="jackknife over questions")  # fmt: skip
            yield replace(row, metric="similarity_sd", estimate=own[0][-1], no_interval="a spread",
                          no_estimate="one item" if own[0][-1] is None else None)  # fmt: skip
            if arm != PATCHED and PATCHED in sums and (both := paired(sums[PATCHED], sums[arm])) is not None:
                sides = ComparedFacets(
                    MEASURE.name, "similarity", "condition", PATCHED, arm, {**unit.shared, "condition": EVERY}
                )
                units = int((sums[PATCHED].units & sums[arm].units).sum())
                yield from difference_rows(sides, both, unit=UNIT, units=units, inputs=inputs)


def _ratio(rows: Sequence[tuple[Any, ...]], questions: Sequence[str]) -> Ratio:
    at = {name: number for number, name in enumerate(questions)}
    sums, counts = np.zeros((1, len(questions), 1)), np.zeros((1, len(questions), 1))
    for *_, question, total, items, _sd in rows:
        sums[0, at[question], 0], counts[0, at[question], 0] = total, items
    return Ratio(sums, counts, -1.0, 1.0)


def _paired(one: float, other: float, limits: TestedNumber) -> PairedDifference:
    return PairedDifference(one, other, limits.low, limits.high, limits.p, limits.freedom, limits.lacking)


def _untold(sides: ComparedFacets, why: str, questions: int, inputs: str) -> Iterator[Difference]:
    """The row of a comparison without numbers."""
    nothing = PairedDifference(0.0, 0.0, lacking=why)
    for row in difference_rows(sides, nothing, unit=UNIT, units=questions, inputs=inputs):
        if row.target == NEW_PROMPTS:
            yield replace(row, a_estimate=None, b_estimate=None, difference=None)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _similarities(store: Store, encoders: Mapping[str, str]) -> Iterator[SimilarityRow]:
    found = store.execute(_ITEMS).fetchall() if encoders else []
    for language, rows in groupby(found, key=lambda row: row[0]):
        if encoder := encoders.get(language):
            yield from _of_language(list(rows), encoder)


def _of_language(rows: Sequence[tuple[Any, ...]], encoder: str) -> Iterator[SimilarityRow]:
    texts = sorted({text for *_, item, question, about, names in rows for text in (item, question, about, *names)})
    place = {text: number for number, text in enumerate(texts)}
    vectors = encode(encoder, texts)
    for language, dataset, culture, question_id, item, question, about, names in rows:
        own = vectors[place[item]]
        like, topic, *near = (float(own @ vectors[place[text]]) for text in (question, about, *names))
        nearest = max(near, default=None)
        yield SimilarityRow(dataset, language, culture, question_id, item, encoder, like, topic, nearest)
