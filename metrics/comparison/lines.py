"""A comparison as people read it: a line per number, and remarks on what the lines rest on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from polyculture.metrics.comparison.blocks import BETWEEN_COUNTRIES, Blocks
from polyculture.metrics.comparison.compare import METRICS, NATIVE, NO_MARGINS, ComparisonRow, Sides
from polyculture.metrics.comparison.effect import FEW_BLOCKS, FEWEST_BLOCKS, NO_SPREAD
from polyculture.metrics.comparison.equivalence import remarks as remarks_on_results
from polyculture.metrics.comparison.equivalence import result
from polyculture.metrics.intervals.estimate import METHODS, PER_CONDITION
from polyculture.metrics.intervals.wordings import FEWEST_WORDINGS

BETWEEN_LANGUAGES = ("language", "native")  # which the index covers unequally
OF_TWO = "consensus"  # a number of two languages
Compared = Sequence[tuple[Sides, ComparisonRow]]


@dataclass(frozen=True, slots=True)
class Terms:
    """What decides how a comparison is read: the blocks, the margins of equivalence per metric, and the metrics."""

    blocks: Blocks = Blocks.PROMPTS
    margins: Mapping[str, float] = field(default_factory=lambda: NO_MARGINS)
    metrics: Sequence[str] = METRICS


def unit_of(metric: str) -> str:
    """The unit of a metric: 'share' (from 0 to 1, of a gain from -1), or 'items', a count."""
    _, _, highest = METHODS[metric]
    return "items" if math.isinf(highest) else "share"


def lines_of(compared: Compared, sides: Sequence[Sides], terms: Terms) -> list[dict[str, Any]]:
    """A line per row: the metric and its group, both sides, the difference with its 95 % interval, p and q."""
    return [_line(row, each, terms, several=len(sides) > 1) for each, row in compared]


def as_table(lines: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The lines as an Arrow table, with the same types whatever is missing."""
    floats = (
        *("a", "b", "difference", "low", "high", "p", "q", "p_beyond", "q_beyond", "lowest", "highest"),
        *("p_holm", "bound"),
    )
    types: dict[str, pa.DataType] = dict.fromkeys(floats, pa.float64())
    types |= dict.fromkeys(("pairs", "blocks", "missing", "comparisons", "tested"), pa.int64())
    types |= {"keeps_sign": pa.bool_()}
    names = list(lines[0]) if lines else ["metric", *types]
    schema = pa.schema([pa.field(name, types.get(name, pa.string())) for name in names])
    return pa.Table.from_pylist([dict(line) for line in lines], schema)


def _line(row: ComparisonRow, sides: Sides, terms: Terms, several: bool) -> dict[str, Any]:
    effect = row.effect
    return {
        **({"side": sides.a, "against": sides.b} if several else {}),
        "metric": row.metric,
        **row.group,
        "a": effect and effect.a,
        "b": effect and effect.b,
        "difference": effect and effect.difference,
        "low": effect and effect.low,
        "high": effect and effect.high,
        "p": effect and effect.p,
        "q": row.q,
        **(_equivalence(row) if terms.margins else {}),
        "pairs": effect.pairs if effect else 0,
        "blocks": effect.blocks if effect else 0,
        "missing": row.missing,
        "no_interval": effect and effect.no_interval,
        **(_bounds(row) if sides.dimension in BETWEEN_LANGUAGES else {}),
    }


def _equivalence(row: ComparisonRow) -> dict[str, Any]:
    return {"p_beyond": row.effect and row.effect.p_beyond, "q_beyond": row.q_beyond, "result": result(row)}


def _bounds(row: ComparisonRow) -> dict[str, Any]:
    lowest, highest = row.bounds or (None, None)
    return {"lowest": lowest, "highest": highest, "keeps_sign": row.keeps_sign}


def remarks_of(sides: Sequence[Sides], rows: Sequence[ComparisonRow], terms: Terms) -> list[str]:
    """What a reader of the lines must know: the sampled units, missing intervals, pairs that were left out."""
    if not rows:
        return [nothing(sides[0], terms.metrics)]
    between_countries = sides[0].dimension == "country"
    remarks = [BETWEEN_COUNTRIES if between_countries and terms.blocks is Blocks.PROMPTS else terms.blocks.sampled]
    reasons = [row.effect.no_interval for row in rows if row.effect]
    if few := reasons.count(FEW_BLOCKS):
        fewest = FEWEST_WORDINGS if terms.blocks is Blocks.WORDINGS else FEWEST_BLOCKS
        what = f"{few} of {len(rows)} lines rest on fewer than {fewest} blocks"
        remarks.append(f"{what}: too few for an interval and p ({FEW_BLOCKS})")
        if between_countries and terms.blocks is not Blocks.WORDINGS:
            remarks.append(_MORE_BLOCKS)
    if alike := reasons.count(NO_SPREAD):
        what = f"in {alike} of {len(rows)} lines all blocks have the same difference"
        remarks.append(f"{what}: no interval ({NO_SPREAD})")
    if missing := sum(row.missing for row in rows):
        remarks.append(f"{missing} pairs are left out: one of their numbers is missing")
    if told := [row.keeps_sign for row in rows if row.keeps_sign is not None]:
        what = f"{sum(told)} of {len(told)} differences keep their sign"
        remarks.append(f"{what}, whatever the unlinked mentions are (lowest, highest)")
    if all(row.metric != OF_TWO for row in rows):
        remarks += _no_consensus(sides[0], terms.metrics)
    return [*remarks, *remarks_on_results(rows, terms.margins)]


_MORE_BLOCKS = (
    f"to compare countries, add topics or conditions: {FEWEST_BLOCKS} blocks are six topics under explicit, "
    f'implicit_male and implicit_female with implicit_countries = "all"; {" and ".join(PER_CONDITION)}, a line per '
    f"condition, need {FEWEST_BLOCKS} topics"
)


def nothing(sides: Sides, metrics: Sequence[str]) -> str:
    """Why a comparison of these metrics has no line."""
    reasons = _no_consensus(sides, metrics)
    if reasons and set(metrics) == {OF_TWO}:
        return f"nothing to compare: {reasons[0]}"
    return "; ".join([f"nothing to compare: no prompt was asked of both {sides.a} and {sides.b}", *reasons])


def _no_consensus(sides: Sides, metrics: Sequence[str]) -> list[str]:
    """Why languages have no line of consensus, where it is one of the metrics."""
    if OF_TWO not in metrics or sides.dimension not in BETWEEN_LANGUAGES:
        return []
    if sides.dimension == NATIVE.dimension:
        return [f"{OF_TWO} is of two languages, and in no native comparison"]
    what = f"{OF_TWO} is of two languages, and cannot be compared between {sides.a} and {sides.b} alone"
    return [f"{what}: it takes that of each with a third language, and there is none"]
