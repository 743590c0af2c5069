"""Whether some options of a question are attended to more than others, in right answers and in wrong ones.

The numbers are z scores of attention over the options of a question.

`paper`: the two-sample t-test with one variance (Student), over options. It takes the z scores of a question for
independent, though they add up to 0.

`sound`: the paired t-test. A question gives the difference between the mean of its first options and the mean of its
second ones. A unit, a question that is asked of many targets, is one witness: the mean of its differences.

CultureScope (D.2) tests targets of one level or region: the wrong options of their own group against those of another,
as low against high where the target's level is low (Table 10), or South Asia against Europe (Table 11). Here that is
done of each level and region. What its row of European targets against Europe compares is not told.

All are two-sided. False discovery rates (Benjamini and Hochberg 1995) over all tests of one kind, measure, model, set,
method, reader and prompt; those of single levels and regions are families of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import groupby, product
from typing import Any, NamedTuple

import duckdb
import numpy as np
from scipy import stats

from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.instruments.probe.attention.layout import LAYOUT
from polyculture.instruments.probe.attention.rows import ATTENTION_TESTS, AttentionTestRow
from polyculture.instruments.questions.model import BIASED
from polyculture.metrics.inference.family import adjusted
from polyculture.metrics.measured import measured

RIGHT = "right"
PAPER, SOUND = "paper", "sound"
INDEPENDENT, PAIRED = "t, independent", "t, paired over units"
FEWEST = 2  # numbers on a side that a t-test needs
_ALIKE = "few numbers, or all are alike"
_DEPENDENT = "the z scores of a question add up to 0"


class AttentionStudy(NamedTuple):
    """What is tested together."""

    measure: str
    method: str
    model: str
    dataset: str
    language: str
    reader: str
    prompt: str
    type: str


class Weighed(NamedTuple):
    """An option of a question with the attention that it gets."""

    answers: str  # 'right' | 'wrong'
    unit: str
    question_id: str
    role: str
    chosen: bool
    z: float
    group: str = ""  # the level or region of the culture whose answer it is, by the type of the question
    target: str = ""  # that of the culture that is asked about


@dataclass(frozen=True, slots=True)
class _Contrast:
    """Some options against others, in right answers and in wrong ones, or in these alone."""

    name: str
    first: Callable[[Weighed], bool]
    second: Callable[[Weighed], bool]
    answers: tuple[str, ...] = ("right", "wrong")


_CONTRASTS = (
    _Contrast("chosen against the rest", lambda one: one.chosen, lambda one: not one.chosen),
    # In right answers the right option is the chosen one.
    _Contrast("right against wrong options", lambda one: one.role == RIGHT, lambda one: one.role != RIGHT, ("wrong",)),
    _Contrast("biased against others", lambda one: one.role == BIASED, lambda one: one.role not in (RIGHT, BIASED)),
)


@dataclass(frozen=True, slots=True)
class Compared:
    """A test without what it is of."""

    answers: str
    comparison: str
    kind: str
    test: str
    first: float
    second: float
    first_size: int
    second_size: int | None
    low: float | None = None
    high: float | None = None
    statistic: float | None = None
    p: float | None = None
    note: str | None = None
    target: str = ""


def measure_attention(run: RunFolder) -> None:
    """Writes the tests of a run. Raises `StoreError` where there is no run."""
    measured(run, compose(CORE, LAYOUT), ATTENTION_TESTS, lambda store: attention_rows(weighed_rows(store)))


def weighed_rows(store: duckdb.DuckDBPyConnection) -> Iterator[tuple[AttentionStudy, list[Weighed]]]:
    """What is tested together, with a row per option of a question that was answered with an option."""
    columns = (*AttentionStudy._fields, "answers", "unit", "question_id", "option_role", "chosen", "z", "option_group")
    query = (
        f"SELECT {', '.join(columns)}, "  # noqa: S608, our own names
        "coalesce(CASE type WHEN 'region' THEN target_region ELSE target_level END, '') AS target_group "
        "FROM option_attention WHERE z IS NOT NULL AND answers IS NOT NULL ORDER BY ALL"
    )
    size = len(AttentionStudy._fields)
    for study, rows in groupby(store.execute(query).fetchall(), key=lambda row: row[:size]):
        yield AttentionStudy(*study), [Weighed(*row[size:]) for row in rows]


def attention_rows(studies: Iterable[tuple[AttentionStudy, Sequence[Weighed]]]) -> Iterator[AttentionTestRow]:
    """Every test of every study, with its false discovery rate."""
    families: dict[Any, list[tuple[AttentionStudy, Compared]]] = defaultdict(list)
    for study, rows in studies:
        for found in comparisons(rows):
            families[(*study._replace(type=""), found.kind, bool(found.target))].append((study, found))
    for some in families.values():
        for (study, found), q in zip(some, adjusted([found.p for _, found in some]), strict=True):
            yield AttentionTestRow(**study._asdict(), **asdict(found), q=q)


def comparisons(rows: Sequence[Weighed]) -> Iterator[Compared]:
    """The tests of one study. What no question has both sides of is compared with nothing."""
    for contrast in _CONTRASTS:
        for answers in contrast.answers:
            yield from _compared([row for row in rows if row.answers == answers], answers, contrast)
    wrong = [row for row in rows if row.role != RIGHT]
    own = {row.target for row in wrong if row.group == row.target} - {""}
    for target, answers in product(sorted(own), ("right", "wrong")):
        some = [row for row in wrong if (row.target, row.answers) == (target, answers)]
        for other in sorted({row.group for row in some} - {target}):
            contrast = _Contrast(f"{target} against {other}", partial(_is_of, target), partial(_is_of, other))
            yield from (replace(one, target=target) for one in _compared(some, answers, contrast))


def _is_of(group: str, one: Weighed) -> bool:
    return one.group == group


def _compared(rows: Sequence[Weighed], answers: str, contrast: _Contrast) -> Iterator[Compared]:
    first, second = ([row for row in rows if side(row)] for side in (contrast.first, contrast.second))
    if first and second:
        yield _independent(answers, contrast.name, first, second)
    if pairs := _pairs(first, second):
        yield _paired(answers, contrast.name, pairs)


def _independent(answers: str, name: str, first: Sequence[Weighed], second: Sequence[Weighed]) -> Compared:
    one, other = (np.array([row.z for row in side]) for side in (first, second))
    t = p = None
    if min(len(one), len(other)) >= FEWEST and not _alike(np.concatenate([one - one.mean(), other - other.mean()])):
        found = stats.ttest_ind(one, other)
        t, p = float(found.statistic), float(found.pvalue)
    return Compared(
        answers, name, PAPER, INDEPENDENT, float(one.mean()), float(other.mean()), len(one), len(other), statistic=t,
        p=p, note=_ALIKE if p is None else _DEPENDENT,
    )  # fmt: skip


def _paired(answers: str, name: str, pairs: Mapping[str, tuple[float, float]]) -> Compared:
    both = np.array(list(pairs.values()))
    apart = both[:, 0] - both[:, 1]
    first, second = (float(mean) for mean in both.mean(axis=0))
    made = Compared(answers, name, SOUND, PAIRED, first, second, len(pairs), None, note=_ALIKE)
    if len(pairs) < FEWEST or _alike(apart - apart.mean()):
        return made
    found = stats.ttest_1samp(apart, 0.0)
    limits = found.confidence_interval(0.95)
    return Compared(
        answers, name, SOUND, PAIRED, first, second, len(pairs), None, float(limits.low), float(limits.high),
        float(found.statistic), float(found.pvalue),
    )  # fmt: skip


def _pairs(first: Sequence[Weighed], second: Sequence[Weighed]) -> dict[str, tuple[float, float]]:
    """For each unit the mean of both sides, over its questions that have both."""
    sides = [_by_question(side) for side in (first, second)]
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for question in sorted(sides[0].keys() & sides[1].keys()):
        one, other = (float(np.mean(side[question])) for side in sides)
        found[question[0]].append((one, other))
    return {
        unit: (float(np.mean([one for one, _ in some])), float(np.mean([other for _, other in some])))
        for unit, some in found.items()
    }


def _by_question(rows: Sequence[Weighed]) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        found[row.unit, row.question_id].append(row.z)
    return found


def _alike(deviations: Any) -> bool:
    return bool(np.abs(deviations).max() <= 1e-12)  # rounding
