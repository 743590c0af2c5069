"""`polyculture compare --claims`: stated hypotheses about a run, each with its test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.cache.manifest import require_run
from polyculture.cache.store import open_store
from polyculture.cli.options import Format, StoreSelection
from polyculture.cli.tables import print_table, write_values
from polyculture.console import say
from polyculture.experiment.workspace import warn_of_changes
from polyculture.metrics import KEPT
from polyculture.metrics.claims.claim import read_claims
from polyculture.metrics.claims.parts import ClaimedRun
from polyculture.metrics.claims.verdict import judge
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.limits import disqualified
from polyculture.running.layout import store_layout

if TYPE_CHECKING:
    from polyculture.experiment.workspace import Workspace
    from polyculture.metrics.claims.verdict import Verdict


def print_claims(
    workspace: Workspace, file: Path, selection: StoreSelection, format: Format, output: Path | None
) -> None:
    """Tests the claims of a file on a run, and prints or writes a line for each."""
    stated = read_claims(file)
    manifest = require_run(workspace.run)
    warn_of_changes(workspace)
    with open_store(workspace.run, store_layout(), KEPT, selection) as store:
        run = ComparedRun(store, manifest.deterministic)
        native = workspace.catalog.native_pairs(workspace.experiment.languages)
        verdicts = judge(ClaimedRun(run, native, disqualified(manifest)), stated)
    if format is not Format.TABLE or output is not None:
        lines = [_line(verdict) for verdict in verdicts]
        write_values(list(lines[0]), [list(line.values()) for line in lines], format, output)
        return
    shown = [_shown(verdict) for verdict in verdicts]
    print_table(list(shown[0]), [list(line.values()) for line in shown])
    for verdict in verdicts:
        why = f" Undecided: {verdict.why.rstrip('.')}." if verdict.why else ""
        stays = f" Not so in: {', '.join(verdict.not_in)}." if verdict.not_in else ""
        said = (
            f"{verdict.claim.says.rstrip('.')} ({verdict.claim.source})."
            if verdict.claim.source
            else verdict.claim.says
        )
        say(f"{verdict.claim.name}: {said}{why}{stays}")
    tested = sum(verdict.p is not None for verdict in verdicts)
    say(f"p: by Holm over the {tested} claims with a p; intervals are of 95 %, of the comparison that is shown")


def _line(verdict: Verdict) -> dict[str, Any]:
    claim, told = verdict.claim, verdict.row.difference if verdict.row else None
    return {
        "claim": claim.name,
        "says": claim.says,
        "source": claim.source,
        "result": str(verdict.result),
        "metric": claim.metric,
        "condition": claim.condition,
        "target": claim.target,
        "expect": claim.expect,
        "bound": claim.bound,
        "a": told and told.a,
        "b": told and told.b,
        "a_estimate": told and told.a_estimate,
        "b_estimate": told and told.b_estimate,
        "difference": told and told.difference,
        "low": told and told.low,
        "high": told and told.high,
        "p": verdict.p,
        "p_holm": verdict.adjusted,
        "comparisons": verdict.parts,
        "tested": verdict.tested,
        "unit": told and told.unit,
        "units": told.units if told else 0,
        "cells": told.cells if told else 0,
        "not_in": ", ".join(verdict.not_in) or None,
        "why": verdict.why or None,
    }


def _shown(verdict: Verdict) -> dict[str, Any]:
    """The columns that a terminal has room for."""
    line = _line(verdict)
    both = f"{line['a']} / {line['b']}" if verdict.row else None
    columns = ("target", "difference", "low", "high", "p_holm", "units", "tested", "comparisons")
    expected = f"{line['expect']} {line['bound']:g}" if line["bound"] else line["expect"]
    return {"claim": line["claim"], "result": line["result"], "turns on": both, "expect": expected} | {
        name: line[name] for name in columns
    }
