"""Which options of a question are attended to more than others: the numbers of attention and their differences.

Attention is a z score over the options of a question. `condition` says of which answers: 'right' or 'wrong'.

- `contribution` in `numbers` is the mean z of the options of one group, in questions about targets of another: a cell
  of CultureScope's Figures 4 and 8. Its text is of all options, its caption of the chosen ones: here are both.
- `differences` compare options within a question, with intervals over units: the biased option and the other wrong
  ones; and of targets of one level or region the wrong options of their own group and of another, as Tables 10 and 11
  do. A question that is asked of many targets is one witness.
- `contribution_p` is the study's own test of the latter (D.2): Student's t-test over options. It takes the z scores of
  a question for independent, though they add up to 0.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from polyculture.cache.store.layout import Measure, compose
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.schema.measured import Difference, Number
from polyculture.cache.store.store import Store
from polyculture.instruments.differences import ComparedFacets, difference_rows
from polyculture.instruments.questions.asking import GENERATED
from polyculture.instruments.questions.layout import ATTENDED, EMPTY, LAYOUT
from polyculture.instruments.questions.model import BIASED
from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.family import in_families
from polyculture.metrics.inference.limits import FEW
from polyculture.metrics.inference.paired import paired_means
from polyculture.metrics.inference.ratios import Ratio, estimate
from polyculture.metrics.measured import renew

METRIC = "contribution"
RIGHT = "right"
FEWEST = 2  # numbers on a side that a t-test needs
_QUESTION = ("unit", "question_id")
_LEVEL = "model, dataset, language, condition, wording, reader"
_ROWS = """
SELECT model, dataset, language, reader, prompt, type, answers, unit, question_id, option_role, chosen, z,
    option_group, target_group, of_options
FROM option_attention
WHERE z IS NOT NULL AND answers IS NOT NULL
ORDER BY ALL
"""


class AttentionStudy(NamedTuple):
    """What is tested together."""

    model: str
    dataset: str
    language: str
    reader: str
    prompt: str
    type: str

    @property
    def place(self) -> dict[str, Any]:
        """The columns of its numbers and differences."""
        names = {"wording" if name == "prompt" else name: one for name, one in self._asdict().items() if name != "type"}
        return {**names, "method": GENERATED, "country": "*", "topic": "*"}

    def facets(self, target: str = "", **more: str) -> dict[str, str]:
        """The facets of a number; `target` is the level or the region of the targets, by the type of the questions."""
        said = {"type": self.type, "region" if self.type == "region" else "level": target, **more}
        return {name: value for name, value in sorted(said.items()) if value}


class WeighedOption(NamedTuple):
    """An option of a question with the attention that it gets."""

    answers: str  # 'right' | 'wrong'
    unit: str
    question_id: str
    role: str
    chosen: bool
    z: float
    group: str = ""  # the level or region of the culture whose answer it is, by the type of the question
    target: str = ""  # that of the culture that is asked about
    of_options: int = 4  # that the question has


Studies = Sequence[tuple[AttentionStudy, Sequence[WeighedOption]]]


@dataclass(frozen=True, slots=True)
class OptionContrast:
    """Some options against others, in right answers or in wrong ones; of targets of one group, or of all."""

    a: str
    b: str
    answers: str
    first: Sequence[WeighedOption]
    second: Sequence[WeighedOption]
    target: str = ""


def measure_attention(run: RunFolder) -> None:
    """Writes the numbers and differences of a run, where they are to be renewed. Raises as `renew`."""
    renew(run, compose(CORE, LAYOUT), [ATTENDED], _measured)


def _measured(store: Store, _: Measure, inputs: str) -> tuple[list[Number], Iterable[Difference]]:
    studies = list(weighed_rows(store))
    numbers = [*cell_numbers(studies, inputs), *paper_tests(studies, inputs)]
    return numbers, attention_differences(studies, inputs)


def weighed_rows(store: Store) -> Iterator[tuple[AttentionStudy, list[WeighedOption]]]:
    """What is tested together, with a row per option of a question that was answered with an option."""
    size = len(AttentionStudy._fields)
    for study, rows in groupby(store.execute(_ROWS).fetchall(), key=lambda row: row[:size]):
        yield AttentionStudy(*study), [WeighedOption(*row[size:]) for row in rows]


def cell_numbers(studies: Studies, inputs: str) -> Iterator[Number]:
    """The mean z of the options of each group, by the group of the target: all options, and the chosen ones."""
    for study, rows in studies:
        cells: dict[tuple[str, ...], list[WeighedOption]] = defaultdict(list)
        for row in rows:
            for options in ("all", "chosen") if row.chosen else ("all",):
                cells[row.answers, options, row.target, row.group].append(row)
        # The z scores of k options lie within the square root of k - 1.
        most = math.sqrt(max(1, max(row.of_options for row in rows) - 1))
        for (answers, options, target, group), some in sorted(cells.items()):
            by_unit = _grouped(some, "unit")
            sums, sizes = (np.array([[[of(one)] for one in by_unit.values()]], np.float64) for of in (sum, len))
            if (found := estimate(Ratio(sums, sizes, -most, most))) is not None:
                low, high = found.limits(-most, most)
                yield replace(
                    _empty(study, answers, inputs), metric=METRIC,
                    facets=study.facets(target, other=group, options=options), estimate=found.value, low=low, high=high,
                    no_interval=found.withheld(), units=len(by_unit), n=len(some), cells=1,
                    method_of_interval="jackknife over units",
                )  # fmt: skip


def paper_tests(studies: Studies, inputs: str) -> Iterator[Number]:
    """The study's test of each contrast of the targets of one group."""
    for study, rows in studies:
        for one in contrasts(rows):
            if one.target and one.first and one.second:
                p, sizes = student_p(one), {"first": len(one.first), "second": len(one.second)}
                yield replace(
                    _empty(study, one.answers, inputs), metric=f"{METRIC}_p", estimate=p, sizes=sizes,
                    facets=study.facets(one.target, other=one.b, test="paper"),
                    no_estimate=FEW if p is None else None, no_interval="a test", n=sum(sizes.values()),
                )  # fmt: skip


def attention_differences(studies: Studies, inputs: str) -> list[Difference]:
    """Every contrast with its interval over units; q is over those of a study, single targets apart."""
    rows = [
        row
        for study, weighed in studies
        for one in contrasts(weighed)
        if (pairs := paired_units(one))[0].size
        for row in difference_rows(
            ComparedFacets(ATTENDED.name, METRIC, "option", one.a, one.b, {**study.place, "condition": one.answers},
                  study.facets(one.target)),
            paired_means(*pairs), unit="unit", units=len(pairs[0]), inputs=inputs,
        )
    ]  # fmt: skip
    place = ("model", "dataset", "language", "reader", "wording")
    return in_families(
        rows, lambda row: (*(getattr(row, name) for name in place), bool({"level", "region"} & row.facets.keys()))
    )


def contrasts(rows: Sequence[WeighedOption]) -> Iterator[OptionContrast]:
    """What is compared of one study."""
    wrong = [row for row in rows if row.role != RIGHT]
    own = {row.target for row in wrong if row.group == row.target} - {""}
    for answers in ("right", "wrong"):
        some = [row for row in wrong if row.answers == answers]
        biased, others = ([row for row in some if (row.role == BIASED) == side] for side in (True, False))
        yield OptionContrast("biased", "others", answers, biased, others)
        for target in sorted(own):
            about = [row for row in some if row.target == target]
            for other in sorted({row.group for row in about} - {target}):
                first, second = ([row for row in about if row.group == group] for group in (target, other))
                yield OptionContrast(target, other, answers, first, second, target)


def student_p(one: OptionContrast) -> float | None:
    """The p of Student's two-sample t-test over options; None of few numbers, or where all are alike."""
    first, second = (np.array([row.z for row in side]) for side in (one.first, one.second))
    if min(len(first), len(second)) < FEWEST or _alike(np.concatenate([first - first.mean(), second - second.mean()])):
        return None
    return float(stats.ttest_ind(first, second).pvalue)


def paired_units(one: OptionContrast) -> tuple[Floats, Floats]:
    """The mean of both sides of each unit, over its questions that have both."""
    sides = [_grouped(side, *_QUESTION) for side in (one.first, one.second)]
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for question in sorted(sides[0].keys() & sides[1].keys()):
        first, second = (float(np.mean(side[question])) for side in sides)
        found[question[0]].append((first, second))
    means = np.array([np.mean(some, axis=0) for some in found.values()]).reshape(-1, 2)
    return means[:, 0], means[:, 1]


def _empty(study: AttentionStudy, answers: str, inputs: str) -> Number:
    return replace(EMPTY, measure=ATTENDED.name, level=_LEVEL, condition=answers, inputs=inputs, **study.place)


def _grouped(rows: Iterable[WeighedOption], *names: str) -> dict[tuple[str, ...], list[float]]:
    """The z scores by some of the columns."""
    found: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for row in rows:
        found[tuple(getattr(row, name) for name in names)].append(row.z)
    return found


def _alike(deviations: Any) -> bool:
    return bool(np.abs(deviations).max() <= 1e-12)  # rounding
