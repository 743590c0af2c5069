"""`polyculture texts`: which regions, or cultures, the texts of an experiment are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from polyculture.cache.errors import StoreError
from polyculture.cache.manifest import require_run
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.cli.options import (
    ExperimentFile,
    Format,
    OfSelection,
    OutputFile,
    OutputFormat,
    Runs,
    StoreSelection,
)
from polyculture.cli.tables import print_table, write_values
from polyculture.console import say
from polyculture.experiment.workspace import open_workspace, warn_of_changes
from polyculture.metrics import KEPT_OF_TEXTS
from polyculture.metrics.text_regions import RegionShare, TextCounts, region_shares
from polyculture.running.layout import store_layout

_OWN = tuple(field.name for field in fields(RegionShare) if field.name != "counts")
_COUNTS = tuple(field.name for field in fields(TextCounts))
FEW_LABELS = 8  # of so many, those that no text has are shown, too
_PLACE = ("model", "language", "condition", "topic")


def texts(
    experiment: ExperimentFile,
    selection: OfSelection = StoreSelection.ALL,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
    runs: Runs = None,
) -> None:
    """Show which share of the texts is of each region, of several (mixed) or of none (neutral).

    A text is of the region that its linked items come from, by Wikidata. Regions are those of the catalogue: with
    regions of your own, such as Arab and Western countries, they are cultures. Refusals and empty texts are counted
    beside.
    """
    workspace = open_workspace(experiment, runs)
    require_run(workspace.run)
    warn_of_changes(workspace)
    with open_store(workspace.run, store_layout(), KEPT_OF_TEXTS, selection) as store:
        shares = region_shares(store)
    show_shares(workspace.run, shares, format, output)


def show_shares(run: RunFolder, shares: Sequence[RegionShare], format: Format, output: Path | None) -> None:
    """Prints or writes the shares. Raises `StoreError` where there are none."""
    if not shares:
        remedy = "Run: polyculture run EXPERIMENT"
        raise StoreError("holds no links, by which texts are told apart", where=run.root, remedy=remedy)
    if format is not Format.TABLE or output is not None:
        rows = [[getattr(one, name) for name in _OWN] + _counts(one) for one in shares]
        write_values((*_OWN, *_COUNTS), rows, format, output)
        return
    named = {one.label for one in shares if one.texts}
    if len({one.label for one in shares}) <= FEW_LABELS:
        named = {one.label for one in shares}
    shown = [one for one in shares if one.label in named]
    columns = (*_PLACE, "label", "share", "of these prompts", "of other wordings", "texts")
    print_table(columns, map(_line, shown), title="Texts by the region of what they name (95 % intervals)")
    whole = list(dict.fromkeys((*_place(one), *_counts(one)) for one in shares))
    print_table((*_PLACE, *_COUNTS), whole, title="What became of the texts")
    if absent := {one.label for one in shares} - named:
        say(f"no text has one of {len(absent)} other labels")
    if any(one.counts.unplaced for one in shares):
        say("unplaced: of the neutral texts, those in which nothing was named, linked, or has a country")


def _line(one: RegionShare) -> tuple[Any, ...]:
    texts = f"{one.texts} of {one.counts.labelled}"
    own = _interval(one.low, one.high, one.no_interval)
    return *_place(one), one.label, one.share, own, _interval(one.wide_low, one.wide_high,
                                                              one.no_wide), texts  # fmt: skip


def _place(one: RegionShare) -> tuple[str, ...]:
    return one.model, one.language, one.condition, one.topic or "all"


def _counts(one: RegionShare) -> list[int]:
    return [getattr(one.counts, name) for name in _COUNTS]


def _interval(low: float | None, high: float | None, why_not: str | None) -> str:
    return f"none: {why_not}" if low is None or high is None else f"{low:.2f} to {high:.2f}"
