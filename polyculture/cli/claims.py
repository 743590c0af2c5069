"""`polyculture claims`: stated hypotheses about a run, each with its test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyculture.cache.manifest import require_run
from polyculture.cache.store import open_store
from polyculture.cli.comparison import write_lines
from polyculture.cli.options import ExperimentFile, Format, OfSelection, OutputFile, OutputFormat, Runs, StoreSelection
from polyculture.cli.tables import print_table
from polyculture.console import say
from polyculture.experiment.workspace import open_workspace, warn_of_changes
from polyculture.metrics import KEPT
from polyculture.metrics.claims.claim import MAKIEVAL, read_claims
from polyculture.metrics.claims.parts import Store
from polyculture.metrics.claims.verdict import judge
from polyculture.running.layout import store_layout

if TYPE_CHECKING:
    from polyculture.metrics.claims.verdict import Verdict


def claims(
    experiment: ExperimentFile,
    claims: Annotated[
        Path | None,
        typer.Option(
            "--claims", help="A file of claims (TOML). Default: findings of the MAKIEval study, in our words."
        ),
    ] = None,
    selection: OfSelection = StoreSelection.ALL,
    runs: Runs = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Test stated hypotheses on a run: each holds, fails, or is undecided.

    A claim names a metric, a contrast, what is expected of the difference, and a bound. It holds where the 95 %
    interval lies wholly where the claim says, and fails where it lies wholly elsewhere; p is adjusted over the claims
    of the file (Holm). 'The same' is shown by an interval within the bound, never by a difference that is not
    significant. Blocks are prompts, as in compare: with fewer than 18 of them a claim is undecided.

    Of a claim about several comparisons ("of every country") the line shows the one that it turns on. The exit code is
    0, whatever the claims come to. docs/claims.md says how to write your own file.
    """
    stated = read_claims(claims or MAKIEVAL)
    workspace = open_workspace(experiment, runs)
    require_run(workspace.run)
    warn_of_changes(workspace)
    languages = [workspace.catalog.language(code) for code in workspace.experiment.languages]
    native_pairs = [(language.code, country) for language in languages for country in language.native_countries]
    with open_store(workspace.run, store_layout(), KEPT, selection) as store:
        verdicts = judge(Store(store, native_pairs), stated)
    if format is not Format.TABLE or output is not None:
        write_lines([_line(verdict) for verdict in verdicts], format, output)
        return
    shown = [_shown(verdict) for verdict in verdicts]
    print_table(list(shown[0]), [list(line.values()) for line in shown])
    for verdict in verdicts:
        why = f" Undecided: {verdict.why.rstrip('.')}." if verdict.why else ""
        say(f"{verdict.claim.name}: {verdict.claim.says}{why}")
    tested = sum(verdict.p is not None for verdict in verdicts)
    say(f"p: by Holm over the {tested} claims with a p; intervals are of 95 %, of the comparison that is shown")


def _line(verdict: Verdict) -> dict[str, Any]:
    claim, part = verdict.claim, verdict.part
    effect = part.effect if part else None
    return {
        "claim": claim.name,
        "says": claim.says,
        "result": str(verdict.result),
        "metric": claim.metric,
        "condition": claim.condition,
        "expect": claim.expect,
        "bound": claim.bound,
        "side": part and part.a,
        "against": part and part.b,
        "a": effect and effect.a,
        "b": effect and effect.b,
        "difference": effect and effect.difference,
        "low": effect and effect.low,
        "high": effect and effect.high,
        "p": verdict.p,
        "p_holm": verdict.adjusted,
        "comparisons": verdict.parts,
        "tested": verdict.tested,
        "pairs": effect.pairs if effect else 0,
        "blocks": effect.blocks if effect else 0,
        "why": verdict.why or None,
    }


def _shown(verdict: Verdict) -> dict[str, Any]:
    """The columns that a terminal has room for."""
    line = _line(verdict)
    both = f"{line['side']} / {line['against']}" if verdict.part else None
    columns = ("difference", "low", "high", "p_holm", "blocks", "tested", "comparisons")
    expected = f"{line['expect']} {line['bound']:g}" if line["bound"] else line["expect"]
    return {"claim": line["claim"], "result": line["result"], "turns on": both, "expect": expected} | {
        name: line[name] for name in columns
    }
