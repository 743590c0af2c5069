"""A comparison as people read it: a line for each row, whether it is the same in each selection of texts, and remarks.

Also why there is no interval, in words, and what would give one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from polyculture.cache.store.parquet import objects_to_table
from polyculture.cache.store.schema import DIFFERENCES
from polyculture.cache.store.schema.measured import EVERY, WITHOUT, Difference
from polyculture.metrics import MEASURE
from polyculture.metrics.audit.corrected import turned
from polyculture.metrics.comparison.baseline import LINKED_TWICE, SAME_ANSWERS
from polyculture.metrics.comparison.compare import FEW_SHARED, NO_CELL, NOTHING, UNEQUAL, ComparisonRow
from polyculture.metrics.comparison.gate import BLIND, CANNOT_FAIL, NOT_COVERED, SHOWN_FOR_SAME
from polyculture.metrics.comparison.stored import NEW_ALONE
from polyculture.metrics.declared import is_count, is_overlap
from polyculture.metrics.inference.family import HIGHER, LOWER, NO_SAMPLING, UNTESTABLE
from polyculture.metrics.inference.prompts import (
    FEW_COUNTRIES,
    FEW_TOPICS,
    FEWEST,
    INCOMPLETE,
    NO_SPREAD,
)
from polyculture.metrics.limits import BY_CONSTRUCTION
from polyculture.metrics.means import FEW_A_PROMPT, FEW_RESPONSES, FEWEST_RESPONSES, ONE_A_PROMPT, SAME_TEXTS
from polyculture.metrics.responses import ALL, FEWEST_OF_COUNT

NEEDS = f"{FEWEST} topics and {FEWEST} countries, or {FEWEST} of one where the other is one"
_ANSWERS = "{} answers or more to each prompt: a larger [sampling] n, and none that failed or was withheld"
_OF_BOTH = "the same prompts of both, answered, and with a linked mention"
_REASONS = {
    NO_SAMPLING: (
        "the difference of these prompts is exact: nothing was sampled",
        "the exact difference decides; of new prompts: --target new_prompts",
    ),
    ONE_A_PROMPT: ("one response a prompt does not tell how responses vary", _ANSWERS.format(2)),
    FEW_A_PROMPT: (
        f"a count of fewer than {FEWEST_OF_COUNT} responses a prompt does not tell how it varies",
        _ANSWERS.format(FEWEST_OF_COUNT),
    ),
    FEW_SHARED: (
        "fewer than half of the cells have a number on both sides",
        _OF_BOTH,
    ),
    NOTHING: ("no side names a thing that is linked", "look at health: texts, mentions and links"),
    FEW_RESPONSES: (f"fewer than {FEWEST_RESPONSES} responses a side", "a larger [sampling] n"),
    SAME_TEXTS: (
        "a side holds several models that wrote the same texts, more than chance explains",
        "no model under two names",
    ),
    UNEQUAL: ("the number grows with the responses, and the sides have unequal ones", "compare diversity"),
    FEW_TOPICS: ("too few topics", NEEDS),
    FEW_COUNTRIES: ("too few countries", NEEDS),
    INCOMPLETE: ("some topics lack numbers of some countries", "--by the topics or countries that have all"),
    NO_SPREAD: ("the difference is the same everywhere", "more topics, countries or responses"),
    NO_CELL: ("no prompt has a number on both sides", _OF_BOTH),
    "few contexts": ("too few contexts", "more contexts"),  # these four are of instruments
    "few units": ("too few questions", "more questions"),
    "fewer than half of the answers are read": (
        "fewer than half of the answers of a side are read",
        "look at the answers: polyculture table question_answers EXPERIMENT outcome=unread",
    ),
    "all agree": ("nothing varies: both sides are the same everywhere", "more texts or questions"),
    NEW_ALONE: ("this measure compares new prompts alone", "--target new_prompts"),
    LINKED_TWICE: (
        "the same texts, linked twice, are no sample: the difference is exact",
        "look at the links that changed",
    ),
    SAME_ANSWERS: (
        "both sides are the same answers, which one run took over from the other",
        'name the build that answers: deployment = "BUILD" in the options of the candidate\'s model',
    ),
    NOT_COVERED: (
        "the candidate was not asked, or has no number of, more than a twentieth of the baseline's cells",
        "ask it the same languages, topics, countries and conditions",
    ),
    BLIND: (
        "the interval is too wide: it leaves open a change by half of the second side's number",
        "a larger [sampling] n; for new prompts, more topics and countries",
    ),
    CANNOT_FAIL: (
        "the margin is as large as the baseline's number leaves room for, so that no candidate could fail",
        "a smaller margin",
    ),
    SHOWN_FOR_SAME: (
        "the same prompts show it, and these topics and countries are too few or too different for new prompts",
        "--target same_prompts; or more topics and countries",
    ),
    BY_CONSTRUCTION: (
        "the gazetteer's lists decide it, not how texts speak of a thing",
        'a model as extractor: [extract] with = "..."',
    ),
}
_REVERSED = {
    True: "the share of unlinked mentions that would reverse the difference",
    False: "the smallest share of questions, or of their clusters, without which there is no such difference",
}
FACETS = ("dataset", "model", "language", "topic", "condition", "country", "wording", "method", "reader")


def as_table(rows: Sequence[ComparisonRow]) -> pa.Table:
    """The rows with the columns of the view `differences`."""
    return objects_to_table(DIFFERENCES, [row.difference for row in rows]).drop(["inputs"])


def lines_of(rows: Sequence[ComparisonRow]) -> list[dict[str, Any]]:
    """A line for each row of all texts; columns that say nothing in any line are left out.

    The sides, and what a row rests on (`units`, `topics`, `left_out`), are in the view `differences` alone: a line must
    fit a page.
    """
    parts: dict[Any, list[Difference]] = defaultdict(list)
    for row in rows:
        if row.difference.selection != ALL:
            parts[_key(row.difference)].append(row.difference)
    whole = [row.difference for row in rows if row.difference.selection == ALL]
    lines = [_line(told, parts[_key(told)]) for told in whole]
    optional = ("measure", *FACETS, "of", "robust", "corrected", "without top topic", "reversed at")
    empty = {name for name in optional if all(line[name] is None for line in lines)}
    return [{name: value for name, value in line.items() if name not in empty} for line in lines]


def _key(told: Difference) -> Any:
    names = ("measure", "metric", "dimension", "a", "b", "target", *FACETS)
    return (*(getattr(told, name) for name in names), *sorted(told.facets.items()))


def _line(told: Difference, parts: Sequence[Difference]) -> dict[str, Any]:
    facets = {name: getattr(told, name) for name in FACETS}
    return {
        "measure": None if told.measure == MEASURE.name else told.measure,
        "metric": told.metric,
        **{name: None if value in (EVERY, WITHOUT) else value for name, value in facets.items()},
        "of": " ".join(f"{name}={value}" for name, value in sorted(told.facets.items()) if value != EVERY) or None,
        "target": told.target,
        "a": told.a_estimate,
        "b": told.b_estimate,
        "difference": _difference(told),
        "q": told.q,
        "robust": _robust(told, parts),
        "corrected": _interval(told, told.corrected_low, told.corrected_high),
        "without top topic": None if told.without_largest is None else _signed(told, told.without_largest),
        "reversed at": None if told.tipping is None else f"{100 * told.tipping:.0f} %",
    }


def _difference(told: Difference) -> str:
    """With its 95 % interval, or the reason for none, as other tables have them."""
    parts = (None if told.difference is None else _signed(told, told.difference), _interval(told, told.low, told.high))
    return " ".join(filter(None, (*parts, f"({told.reason})" if told.reason else None)))


def _signed(told: Difference, value: float) -> str:
    digits = 2 if is_count(told.metric) else 3
    return f"{round(value, digits) + 0.0:+.{digits}f}"  # no -0


def _interval(told: Difference, low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"[{_signed(told, low)}, {_signed(told, high)}]"


def _robust(told: Difference, parts: Sequence[Difference]) -> str | None:
    """Under which selections of texts the verdict is the same; for a row without one, under which it would have one."""
    if told.verdict in (HIGHER, LOWER):
        without = [part.selection for part in parts if part.verdict != told.verdict]
        return f"not in: {', '.join(without)}" if without else ("yes" if parts else None)
    others = [f"{part.verdict} in: {part.selection}" for part in parts if part.verdict in (HIGHER, LOWER)]
    return ", ".join(others) or None


def remarks_of(rows: Sequence[ComparisonRow]) -> list[str]:
    """What a reader of the lines must know: why some have no interval, and how many could be tested."""
    whole = [row for row in rows if row.difference.selection == ALL]
    if not whole:
        return ["nothing to compare: no prompt was asked of both sides"]
    remarks = [
        f"{named(row.difference)}: {row.difference.verdict}, and not so once judged errors are corrected"
        for row in whole
        if turned(row)
    ]
    if any(row.difference.corrected is not None for row in whole):
        remarks.append("corrected: the interval after correction for the errors that judges found (polyculture audit)")
    reasons: dict[str, dict[str, None]] = defaultdict(dict)
    for row in whole:
        if row.difference.reason:
            reasons[row.difference.reason][f"{row.difference.metric} ({row.difference.target})"] = None
    for reason, metrics in reasons.items():
        remarks.append(f"no interval of {', '.join(metrics)}: {with_remedy(reason)}")
    if any(is_overlap(row.difference.metric) and row.difference.reason == NO_CELL for row in whole):
        remarks.append("consensus is of two languages: two of them are compared by that of each with a third language")
    for of_texts, words in _REVERSED.items():
        rows_of = [row for row in whole if (row.difference.measure == MEASURE.name) is of_texts]
        if any(row.difference.tipping is not None for row in rows_of):
            remarks.append(f"reversed at: {words}")
    if left := max(row.difference.left_out for row in whole):
        remarks.append(f"cells that one side alone was asked are left out, up to {left} of a row (left_out in csv)")
    missing = [max(getattr(row.difference, f"missing_{side}") for row in whole) for side in "ab"]
    if any(missing):
        sides = " and ".join(
            f"up to {most} on the {side} side" for side, most in zip(("first", "second"), missing, strict=True) if most
        )
        remarks.append(f"of what both were asked, numbers are missing: {sides} of a row (missing_a, missing_b in csv)")
    if all(row.difference.reason == LINKED_TWICE for row in whole):
        return remarks  # no test is made of what is exact
    tested = sum(row.difference.verdict != UNTESTABLE for row in whole)
    return [*remarks, f"{tested} of {len(whole)} could be tested; q is p adjusted over those of one target"]


def named(told: Difference) -> str:
    """A row in words: 'ja / en: specificity [explicit], these'."""
    facets = [value for name in FACETS if (value := getattr(told, name)) not in (EVERY, WITHOUT)]
    facets += [f"{name}={value}" for name, value in sorted(told.facets.items()) if told.measure != MEASURE.name]
    of = f" [{', '.join(facets)}]" if facets else ""
    return f"{told.a} / {told.b}: {told.metric}{of}, {told.target}"


def explained(reason: str) -> str:
    """A reason in words; one that is not known here, as of an instrument, is its words."""
    return _REASONS.get(reason, (reason,))[0]


def with_remedy(reason: str) -> str:
    """'too few topics. Remedy: 3 topics and ...'; of a reason that is not known no remedy is."""
    return ". Remedy: ".join(_REASONS.get(reason, (reason,)))
