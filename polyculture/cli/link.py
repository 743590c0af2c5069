"""`polyculture link`: a run's mentions with another snapshot; why names are linked, and how well."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyculture.cache.catalog import read_catalog
from polyculture.cli.link_show import show
from polyculture.cli.options import (
    STAGE,
    ExperimentFile,
    Format,
    OutputFile,
    OutputFormat,
    Packs,
    Runs,
    SnapshotName,
    StageGroup,
    rows_format,
)
from polyculture.cli.tables import print_table, write_records, write_values
from polyculture.console import say
from polyculture.experiment.snapshots import find_snapshot
from polyculture.link.audit.gold import NIL, at_most_right, contradictions, read_gold_mentions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.link.audit.audit import LinkAudit, LinkAuditRow, LinkScore
    from polyculture.link.audit.gold import GoldMention

SHOWN_WRONG = 20
# On a terminal; a file has all shares, each with its interval and of how many it is.
COLUMNS = ("by", "value", "n", "accuracy", "clear", "precision", "NIL recall")
WRONG_COLUMNS = ("line", "mention", "language", "expected", "got", "match", "why")


def audit(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Mentions and their items, tab-separated.")],
    snapshot: SnapshotName = "starter",
    catalog: Packs = None,
    by: Annotated[list[str] | None, typer.Option(help="Score by this column of GOLD too; may be repeated.")] = None,
    wrong: Annotated[Path | None, typer.Option(help="Write all wrong answers, with the reasons, to this file.")] = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Measure linking on gold mentions: a table of mention, language, topic and expected QID or NIL.

    Accuracy, accuracy without ambiguous links, precision and NIL recall, in per cent with 95 % intervals, by language,
    topic, how many items bear the name, kind of match and status; then the wrong answers. --output has all shares.
    Where lines give one mention different items, each is scored by its own; they are counted, and scored apart.
    """
    for file in (output, wrong):
        rows_format(format, file)  # before the links are made
    from polyculture.link.audit.audit import audit_links

    known = read_catalog(*catalog or ())
    mentions = read_gold_mentions(gold, known, by or ())
    _tell_contradictions(mentions)
    index = find_snapshot(snapshot, Path.cwd())
    result = audit_links(mentions, known, index, by or ())
    _write_rows(result, format, output)
    _write_wrong(result, wrong, format, shown=format is Format.TABLE and output is None)


def _tell_contradictions(mentions: Sequence[GoldMention]) -> None:
    """Says how many lines give a mention another item than other lines, with the first as an example."""
    found = contradictions(mentions)
    if not found:
        return
    first = found[0][0]
    other = next(one for one in found[0] if set(one.expected) != set(first.expected))
    here, there = (f"{'|'.join(one.expected) or NIL} in line {one.line}" for one in (first, other))
    lines = sum(map(len, found))
    say(
        f"{lines} of {len(mentions)} lines give a mention different items, for example {first.mention!r}"
        f" ({first.language}, {first.topic}): {here}, {there}. Each line is scored by its own item, so at most"
        f" {at_most_right(found)} of the {lines} can be right; the rows 'gold' show them apart."
    )


def _write_rows(result: LinkAudit, format: Format, output: Path | None) -> None:
    if format is not Format.TABLE or output is not None:
        write_records([row.flat() for row in result.rows], format, output)
        return
    title = f"{result.all.mentions} mentions, {result.all.outside} of them of items that the snapshot does not hold"
    print_table(COLUMNS, [_shown(row) for row in result.rows], title=title)


def _write_wrong(result: LinkAudit, file: Path | None, format: Format, *, shown: bool) -> None:
    from polyculture.link.audit.audit import WRONG

    rows = [one.row() for one in result.wrong]
    if file is not None:
        write_values(WRONG, rows, format, file)
        say(f"Wrote {file}: {len(rows)} wrong answers")
    elif rows and shown:
        title = f"Wrong: {min(len(rows), SHOWN_WRONG)} of {len(rows)}; --wrong FILE writes them all"
        shown_rows = [dict(zip(WRONG, row, strict=True)) for row in rows[:SHOWN_WRONG]]
        print_table(WRONG_COLUMNS, [[row[name] for name in WRONG_COLUMNS] for row in shown_rows], title=title)


def _shown(row: LinkAuditRow) -> tuple[Any, ...]:
    shares = _with_interval(row.linkable), _share(row.clear), _with_interval(row.links), _share(row.nil)
    return (row.by, row.value, row.mentions, *shares)


def _share(one: LinkScore) -> str | None:
    return None if one.right is None else f"{100 * one.right:.1f}"


def _with_interval(one: LinkScore) -> str | None:
    """`96.2 [95, 97]`, in per cent."""
    if one.right is None or one.interval is None:
        return None
    return f"{100 * one.right:.1f} [{100 * one.interval[0]:.0f}, {100 * one.interval[1]:.0f}]"


app = typer.Typer(
    cls=StageGroup,
    no_args_is_help=True,
    help="Link a run with another snapshot, too: `polyculture link EXPERIMENT --snapshot FILE`. Or `show` why a name "
    "is linked, or `audit` how well names are. A run's own links: `polyculture run EXPERIMENT --only link`.",
    epilog="polyculture link exp.toml --snapshot wikidata-2026-12.duckdb",
)


@app.command(STAGE, hidden=True)
def link(
    experiment: ExperimentFile,
    snapshot: Annotated[
        str, typer.Option(help="The snapshot; its links are stored next to those of the run, in `snapshot_links`.")
    ],
    runs: Runs = None,
) -> None:
    """Link every distinct surface of the run with another snapshot, or record why there is no entity.

    With fill = true under [link], a snapshot that does not exist yet is filled from the live services first.
    """
    from polyculture.running.linking import link_with
    from polyculture.running.opening import open_workspace

    link_with(open_workspace(experiment, runs), snapshot)


app.command(epilog='polyculture link show "กิโมโน" --language th --topic clothing')(show)
app.command(epilog="polyculture link audit gold.tsv --snapshot wikidata-2026-09.duckdb --wrong wrong.csv")(audit)
