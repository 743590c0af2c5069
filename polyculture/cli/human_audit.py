"""The command `audit`: exports and imports sheets, and prints the results."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, fields
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import StoreError
from polyculture.cache.files import replacing
from polyculture.cache.parquet import objects_to_table, read_rows, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import JUDGEMENTS, Judgement
from polyculture.cache.store import open_store
from polyculture.cli.options import Format
from polyculture.cli.tables import print_table, write_rows
from polyculture.collect.mining.kappa import cohens_kappa
from polyculture.console import say
from polyculture.metrics import KEPT
from polyculture.metrics.audit.corrected import FEWEST, Corrected, corrected_metrics
from polyculture.metrics.audit.scores import Share, audit_scores
from polyculture.metrics.audit.sheet import COLUMNS, read_judgements, sample
from polyculture.reports.escaping import defuse
from polyculture.running.layout import store_layout

if TYPE_CHECKING:
    import duckdb

KAPPA_COLUMNS = ("judges", "judged", "rows", "agree", "kappa", "low", "high")


def export_sheet(run: RunFolder, output: Path, per: int, seed: int) -> None:
    """Writes the sheet. Raises `StoreError` where the file exists: it may hold judgements."""
    if output.exists():
        raise StoreError("is there already", where=output, remedy="Name another file: this one may hold judgements.")
    with open_store(run, store_layout()) as store:
        sampled = sample(store, per, seed)
    if not sampled.rows:
        raise StoreError(
            "holds no response to judge whose mentions were extracted and looked up",
            where=run.root,
            remedy="Run: polyculture run EXPERIMENT",
        )
    with replacing(output) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([defuse(row[name]) for name in COLUMNS] for row in sampled.rows)
    mentions = len(sampled.rows) - sampled.responses
    say(f"{output}: {mentions} mentions of {sampled.responses} responses; docs/audit.md explains the columns")


def import_sheets(run: RunFolder, sheets: Sequence[Path]) -> None:
    """Writes the sheets' judgements into the run, beside those of other judges."""
    names = [sheet.stem for sheet in sheets]
    if len(set(names)) < len(names):
        raise StoreError("two sheets have the same name", remedy="Name each sheet after its judge.")
    with open_store(run, store_layout()) as store:
        found = [one for sheet in sheets for one in read_judgements(store, sheet)]
    kept = [one for one in _kept(run) if one.judge not in names]
    write_parquet(objects_to_table(JUDGEMENTS, [*kept, *found]), run.table(JUDGEMENTS.name))
    for name in names:
        say(f"{name}: {sum(one.judge == name for one in found)} rows judged")


def show_audit(run: RunFolder, format: Format, output: Path | None) -> None:
    """Prints the results of the judgements. Raises `StoreError` where there are none."""
    judgements = _kept(run)
    if not judgements:
        remedy = "Export a sheet and import it: polyculture audit export EXPERIMENT -o JUDGE.csv"
        raise StoreError("holds no judgements", where=run.root, remedy=remedy)
    with open_store(run, store_layout(), KEPT) as store:
        shares, corrected = audit_scores(store), corrected_metrics(store)
        relinked = store.execute("SELECT count(*) FROM audited_mentions WHERE relinked").fetchall()[0][0]
        if format is not Format.TABLE or output is not None:
            _write(store, shares, format, output)
            return
    print_table(("", "language", "topic", "right", "of", "share", "low", "high"), [_share_line(one) for one in shares])
    if agreement := _agreement(judgements):
        print_table(KAPPA_COLUMNS, agreement, title="How far two judges agree (Cohen's kappa, 95 % interval)")
    if corrected:
        title = f"The metrics corrected for these errors (of languages with {FEWEST} judged responses or more)"
        columns = tuple(field.name for field in fields(Corrected) if field.name != "refuted")
        print_table(columns, [tuple(getattr(one, name) for name in columns) for one in corrected], title=title)
    if relinked:
        say(f"{relinked} judged mentions have another link now: the judgements of their links do not count")
    for one in corrected:
        if one.refuted:
            place = f"the {one.metric} of {one.model} in {one.language}"
            say(f"{place} is not corrected: with the errors of its language it would leave its range")
    if any(one.reported_low is None for one in corrected):
        say("numbers without an interval were not measured since the data changed: run `polyculture measure`")


def _share_line(one: Share) -> tuple[Any, ...]:
    return (one.what, one.language or "all", one.topic or "all", one.hits, one.of, one.value, one.low, one.high)


def _agreement(judgements: Sequence[Judgement]) -> list[tuple[Any, ...]]:
    """A line per pair of judges and per question that both answered."""
    said: dict[str, dict[tuple[str, int | None, str], str]] = {}
    for one in judgements:
        for what, word in (("mention", one.mention), ("link", one.link)):
            if word is not None:
                said.setdefault(one.judge, {})[one.extraction_id, one.ordinal, what] = word
    lines = []
    for a, b in combinations(sorted(said), 2):
        for what in ("mention", "link"):
            pairs = [(said[a][key], said[b][key]) for key in said[a] if key[2] == what and key in said[b]]
            kappa = cohens_kappa(pairs)
            lines.append((f"{a}, {b}", what, kappa.n, kappa.observed, kappa.kappa, kappa.low, kappa.high))
    return lines


def _kept(run: RunFolder) -> list[Judgement]:
    path = run.table(JUDGEMENTS.name)
    if not path.exists():
        return []
    return [Judgement(**row) for row in read_rows(path, JUDGEMENTS).to_pylist()]


def _write(store: duckdb.DuckDBPyConnection, shares: Sequence[Share], format: Format, output: Path | None) -> None:
    import pyarrow as pa

    write_rows(store.from_arrow(pa.Table.from_pylist([asdict(one) for one in shares])), format, output)
