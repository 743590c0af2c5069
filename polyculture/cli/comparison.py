"""The command `compare`: reads the sides and prints the result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import ExperimentError
from polyculture.cli.options import Format
from polyculture.cli.tables import print_table, write_rows
from polyculture.console import say
from polyculture.experiment.workspace import Workspace
from polyculture.metrics.comparison.blocks import Blocks
from polyculture.metrics.comparison.compare import NATIVE, ComparisonRow, Sides, lay_out_native, sides_of
from polyculture.metrics.comparison.effect import FEW_BLOCKS, FEWEST_BLOCKS, NO_SPREAD

if TYPE_CHECKING:
    import duckdb


BETWEEN_LANGUAGES = ("language", "native")  # which the index covers unequally


def choose_sides(
    store: duckdb.DuckDBPyConnection, workspace: Workspace, a: str | None, b: str | None, native: bool
) -> Sides:
    """The sides that a command line names. Raises a `UserError` for none, for only one, or for one not in the run."""
    if native and a is None:
        languages = [workspace.catalog.language(code) for code in workspace.experiment.languages]
        native_countries = [(language.code, code) for language in languages for code in language.native_countries]
        lay_out_native(store, native_countries)
        foreign = sorted(set(workspace.experiment.countries) - {country for _, country in native_countries})
        if foreign:
            say(f"left out, since no language of the run is native there: {', '.join(foreign)}")
        return NATIVE
    if native or a is None or b is None:
        remedy = "Name two models, two languages or two conditions of the run, or write --native alone."
        raise ExperimentError("two sides are needed for a comparison", remedy=remedy)
    return sides_of(store, a, b)


def write_comparison(
    sides: Sides, rows: Sequence[ComparisonRow], blocks: Blocks, format: Format, output: Path | None
) -> None:
    """Prints the rows with remarks on their interpretation, or writes them as `format`."""
    lines = [_line(row, sides) for row in rows]
    if format is not Format.TABLE or output is not None:
        _write(lines, format, output)
    elif lines:
        print_table(list(lines[0]), [list(line.values()) for line in lines], title=f"a: {sides.a}   b: {sides.b}")
    for remark in _remarks(sides, rows, blocks):
        say(remark)


def _line(row: ComparisonRow, sides: Sides) -> dict[str, Any]:
    effect = row.effect
    return {
        "metric": row.metric,
        **row.group,
        "a": effect and effect.a,
        "b": effect and effect.b,
        "difference": effect and effect.difference,
        "low": effect and effect.low,
        "high": effect and effect.high,
        "p": effect and effect.p,
        "q": row.q,
        "pairs": effect.pairs if effect else 0,
        "blocks": effect.blocks if effect else 0,
        "missing": row.missing,
        "no_interval": effect and effect.no_interval,
        **(_bounds(row) if sides.dimension in BETWEEN_LANGUAGES else {}),
    }


def _bounds(row: ComparisonRow) -> dict[str, Any]:
    lowest, highest = row.bounds or (None, None)
    return {"lowest": lowest, "highest": highest, "keeps_sign": row.keeps_sign}


def _remarks(sides: Sides, rows: Sequence[ComparisonRow], blocks: Blocks) -> list[str]:
    if not rows:
        native = "; consensus is of two languages, and in no native comparison" if sides.dimension == "native" else ""
        return [f"nothing to compare: no prompt was asked of both {sides.a} and {sides.b}{native}"]
    remarks = [blocks.sampled]
    reasons = [row.effect.no_interval for row in rows if row.effect]
    if few := reasons.count(FEW_BLOCKS):
        what = f"{few} of {len(rows)} lines rest on fewer than {FEWEST_BLOCKS} blocks"
        remarks.append(f"{what}: too few for an interval and p ({FEW_BLOCKS})")
    if alike := reasons.count(NO_SPREAD):
        what = f"in {alike} of {len(rows)} lines all blocks have the same difference"
        remarks.append(f"{what}: no interval ({NO_SPREAD})")
    if missing := sum(row.missing for row in rows):
        remarks.append(f"{missing} pairs are left out: one of their numbers is missing")
    if told := [row.keeps_sign for row in rows if row.keeps_sign is not None]:
        what = f"{sum(told)} of {len(told)} differences keep their sign"
        remarks.append(f"{what}, whatever the unlinked mentions are (lowest, highest)")
    return remarks


def _write(lines: Sequence[dict[str, Any]], format: Format, output: Path | None) -> None:
    import duckdb
    import pyarrow as pa

    floats = ("a", "b", "difference", "low", "high", "p", "q", "lowest", "highest")
    types: dict[str, pa.DataType] = dict.fromkeys(floats, pa.float64())
    types |= dict.fromkeys(("pairs", "blocks", "missing"), pa.int64())
    types |= {"keeps_sign": pa.bool_()}
    names = list(lines[0]) if lines else ["metric", *types]
    schema = pa.schema([pa.field(name, types.get(name, pa.string())) for name in names])
    with duckdb.connect() as connection:
        write_rows(connection.from_arrow(pa.Table.from_pylist(list(lines), schema)), format, output)
