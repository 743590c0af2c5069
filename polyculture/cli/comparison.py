"""The command `compare`: reads the sides and prints the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import ExperimentError, did_you_mean
from polyculture.cache.model_facts import ModelFacts
from polyculture.cli.options import Format
from polyculture.cli.tables import print_table, write_rows
from polyculture.console import say
from polyculture.experiment.workspace import Workspace
from polyculture.metrics.comparison.blocks import BETWEEN_COUNTRIES, Blocks
from polyculture.metrics.comparison.compare import (
    METRICS,
    NATIVE,
    NO_MARGINS,
    PER_CONDITION,
    ComparisonRow,
    Sides,
    lay_out_native,
    sides_of,
)
from polyculture.metrics.comparison.effect import FEW_BLOCKS, FEWEST_BLOCKS, NO_SPREAD
from polyculture.metrics.comparison.equivalence import remarks as remarks_on_results
from polyculture.metrics.comparison.equivalence import result
from polyculture.metrics.comparison.groups import against_rest, group_sides
from polyculture.metrics.intervals.wordings import FEWEST_WORDINGS

if TYPE_CHECKING:
    import duckdb


BETWEEN_LANGUAGES = ("language", "native")  # which the index covers unequally
OF_TWO = "consensus"  # a number of two languages
Compared = Sequence[tuple[Sides, ComparisonRow]]


@dataclass(frozen=True, slots=True)
class Asked:
    """The sides that a command line asks for."""

    a: str | None = None
    b: str | None = None
    native: bool = False
    rest: bool = False
    group: str | None = None  # of `cache.model_facts.GROUPS`


@dataclass(frozen=True, slots=True)
class Terms:
    """What decides how a comparison is read: the blocks, the margins of equivalence per metric, and the metrics."""

    blocks: Blocks = Blocks.PROMPTS
    margins: Mapping[str, float] = field(default_factory=lambda: NO_MARGINS)
    metrics: Sequence[str] = METRICS


def choose_sides(store: duckdb.DuckDBPyConnection, workspace: Workspace, asked: Asked) -> list[Sides]:
    """The sides that a command line names. Raises a `UserError` for none, for only one, or for one not in the run."""
    a, b = asked.a, asked.b
    _check(asked)
    if asked.native:
        return [_native(store, workspace)]
    if asked.group is not None:
        return group_sides(_groups(workspace, asked.group), asked.group, a, b, asked.rest)
    if asked.rest and a is not None:
        return [against_rest(store, a)]
    if a is None or b is None:
        remedy = (
            "Name two models, languages, conditions, countries or wordings of the run; or one with --rest; or --native."
        )
        raise ExperimentError("two sides are needed for a comparison", remedy=remedy)
    return [sides_of(store, a, b)]


def _check(asked: Asked) -> None:
    """Raises `ExperimentError` for options that say different things."""
    sides = [side for side in (asked.a, asked.b) if side is not None]
    if asked.native and (sides or asked.rest or asked.group):
        raise ExperimentError("two sides are needed for a comparison", remedy="Write --native alone, or without it.")
    if asked.rest and len(sides) != 1:
        raise ExperimentError(
            "--rest is what one side is compared with", remedy="Name one, as in: compare exp.toml ja --rest"
        )
    if asked.group and len(sides) == 1 and not asked.rest:
        raise ExperimentError(
            "two sides are needed for a comparison", remedy="Name two groups, one with --rest, or none."
        )


def _native(store: duckdb.DuckDBPyConnection, workspace: Workspace) -> Sides:
    languages = [workspace.catalog.language(code) for code in workspace.experiment.languages]
    native_countries = [(language.code, code) for language in languages for code in language.native_countries]
    lay_out_native(store, native_countries)
    foreign = sorted(set(workspace.experiment.countries) - {country for _, country in native_countries})
    if foreign:
        say(f"left out, since no language of the run is native there: {', '.join(foreign)}")
    return NATIVE


def _groups(workspace: Workspace, fact: str) -> dict[str, str]:
    """The group of each model that has one, by what the experiment file says now; the others are named in a line."""
    experiment = workspace.experiment
    told = {model: ModelFacts(**facts) for model, facts in experiment.facts_of_models.items()}
    groups = {model: facts.group(fact) for model, facts in told.items()}
    missing = [model for model in experiment.models if groups.get(model) is None]
    if missing:
        key = "parameters" if fact == "size" else fact
        near = did_you_mean(missing[0], set(experiment.model_facts) - set(experiment.models))
        remedy = near if near.startswith("Did") else f'Add {key} = ... to [model_facts."{missing[0]}"].'
        say(f"left out, since {workspace.file} does not say {fact} of them: {', '.join(missing)}. {remedy}")
    return {model: group for model, group in groups.items() if group is not None}


def write_comparison(
    compared: Compared,
    sides: Sequence[Sides],
    terms: Terms,
    format: Format,
    output: Path | None,
    verdicts: Sequence[str] | None = None,
) -> None:
    """Prints the rows with remarks on their interpretation, or writes them as `format`.

    `verdicts`: what the conditions of `--fail-if` come to, a text for each row.
    """
    lines = [_line(row, each, terms, several=len(sides) > 1) for each, row in compared]
    if verdicts is not None:
        lines = [{**line, "fail_if": verdict} for line, verdict in zip(lines, verdicts, strict=True)]
    if format is not Format.TABLE or output is not None:
        write_lines(lines, format, output)
    elif lines:
        print_table(list(lines[0]), [list(line.values()) for line in lines], title=_title(sides))
    for remark in _remarks(sides, [row for _, row in compared], terms):
        say(remark)


def _title(sides: Sequence[Sides]) -> str:
    titles = [f"a: {_named(each.a, each.of_a)}   b: {_named(each.b, each.of_b)}" for each in sides]
    return "\n".join(titles)


def _named(side: str, values: Sequence[str]) -> str:
    """A side with its values, where it is not one value."""
    return side if not values or tuple(values) == (side,) else f"{side} ({', '.join(values)})"


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


def _remarks(sides: Sequence[Sides], rows: Sequence[ComparisonRow], terms: Terms) -> list[str]:
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


def write_lines(lines: Sequence[dict[str, Any]], format: Format, output: Path | None) -> None:
    """Writes the lines of a comparison as `format`."""
    import duckdb
    import pyarrow as pa

    floats = (
        "a",
        "b",
        "difference",
        "low",
        "high",
        "p",
        "q",
        "p_beyond",
        "q_beyond",
        "lowest",
        "highest",
        "p_holm",
        "bound",
    )
    types: dict[str, pa.DataType] = dict.fromkeys(floats, pa.float64())
    types |= dict.fromkeys(("pairs", "blocks", "missing", "comparisons", "tested"), pa.int64())
    types |= {"keeps_sign": pa.bool_()}
    names = list(lines[0]) if lines else ["metric", *types]
    schema = pa.schema([pa.field(name, types.get(name, pa.string())) for name in names])
    with duckdb.connect() as connection:
        write_rows(connection.from_arrow(pa.Table.from_pylist(list(lines), schema)), format, output)
