"""`polyculture compare`: models, languages, conditions, countries, wordings, runs or snapshots against each other."""

from __future__ import annotations

from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from polyculture.cache.errors import ExperimentError
from polyculture.cache.manifest import require_run
from polyculture.cli.comparison import tell_decisions, write_comparison
from polyculture.cli.options import ExperimentFile, Format, OfSelection, OutputFile, OutputFormat, Runs, StoreSelection
from polyculture.experiment.opening import open_workspace
from polyculture.experiment.workspace import warn_of_changes
from polyculture.metrics.comparison.gate import decide
from polyculture.running.comparing import Question, compared


class FactName(StrEnum):
    """The facts that models are grouped by: `cache.model_facts.GROUPS`."""

    ORIGIN = "origin"
    OPEN = "open"
    SIZE = "size"


class TargetName(StrEnum):
    """What a difference is told of: other samples of these prompts, or other prompts like these."""

    THESE = "these"
    OTHERS = "others"


def compare(
    experiment: ExperimentFile,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Models, languages, conditions, countries or wordings of the run, or groups: each pair."),
    ] = None,
    rest: Annotated[bool, typer.Option("--rest", help="Each one that is named against all others together.")] = False,
    group: Annotated[
        FactName | None,
        typer.Option("--group", help="Compare groups of models, by a fact of [model_facts]; each with all others."),
    ] = None,
    native: Annotated[
        bool, typer.Option("--native", help="Each country in its own languages against the other languages.")
    ] = False,
    baseline: Annotated[
        list[Path] | None,
        typer.Option(
            "--baseline",
            metavar="EXPERIMENT|FOLDER",
            help="Compare this run (a) with another one (b): its experiment file, or its folder; may be repeated.",
        ),
    ] = None,
    snapshot: Annotated[
        list[str] | None,
        typer.Option(
            "--snapshot", help="Compare the run's links with those of `link --snapshot`: a file, its name or identity."
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="A row per model, language, topic, condition, country or wording; may be repeated."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            help="Only this metric; may be repeated: granularity, diversity, specificity, specificity_gain, consensus; "
            "hill_1, hill_2, coverage and dominance, which are left out without it; or one of an instrument.",
        ),
    ] = None,
    target: Annotated[
        list[TargetName] | None,
        typer.Option("--target", help="these: other samples of these prompts; others: other prompts like these."),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="Exit with code 7 where it holds: 'specificity[explicit] lower by more than .02'; repeatable.",
        ),
    ] = None,
    allow_untestable: Annotated[
        bool, typer.Option("--allow-untestable", help="With --fail-if: pass also where a condition cannot be tested.")
    ] = False,
    claims: Annotated[
        Path | None,
        typer.Option(
            "--claims",
            metavar="FILE|PAPER",
            help="Test the claims of this file, or of a paper, instead: docs/claims.md.",
        ),
    ] = None,
    selection: OfSelection = StoreSelection.ALL,
    runs: Runs = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Compare models, languages, conditions, countries, wordings, runs or snapshots: each pair of those named.

    Both sides are means over the cells that both have. A difference is told of one of two targets. these: other samples
    of these prompts, by a jackknife over responses. others: other prompts like these, by how it varies over the topics
    and countries of the run; that takes three of both, or six of one. Without --target both are shown.

    Each pair has a table. A row has `a`, `b`, the `difference` with its 95 % interval or the reason for none, and `q`:
    p adjusted (Benjamini and Hochberg) over the rows of its target. Counts are compared at the fewest responses of both
    sides. `stays` says whether it holds without refusals, and without texts in another language than the prompt's;
    `judged` is the interval after correction for what people called wrong; `without largest` what is left without the
    topic that adds most; `turns at` the share of unlinked mentions that could turn it.

    What instruments measured of the same sides (CBS, sentiment, QA, questions) stands in a table of its own, paired
    over what both were asked. --by, --metric, --target and --fail-if are of them, too.

    JSON, CSV and Parquet have all columns of the view `differences`, such as `units`, `topics`, `left_out`, and a row
    for each selection of texts.

    --baseline compares this run with another one: models of one name, the two where each run has one, or the first
    named model with the second of the baseline. Cells whose prompts differ are left out and counted.

    --fail-if METRIC lower|higher|different [by more than X] is for pipelines: lower means that a is below b. It is
    asked of each row of its metric, METRIC[CONDITION] of prompts of this condition. It holds where q is below 0.05 on
    that side; q is over all tests of the command. Its target is `these` unless --target says otherwise.
    Exit codes: 0 all were tested and none holds, 7 one holds, 3 one cannot be tested, 2 a mistake.

    --claims FILE tests stated hypotheses: each holds, fails, or is undecided, and p is adjusted over the claims of the
    file (Holm). A claim about several comparisons shows the one that it turns on. The exit code is 0, whatever they
    come to. Instead of a file: camel, camellia, culturescope, kobbq or makieval, for the findings of that paper.
    """
    if claims is not None:
        if any((names, rest, group, native, baseline, snapshot, by, metric, target, fail_if, allow_untestable)):
            raise ExperimentError("--claims has its own comparisons", remedy="Leave names and other options out.")
        from polyculture.cli.claims import print_claims  # which reads pandas

        print_claims(open_workspace(experiment, runs), claims, selection, format, output)
        return
    if allow_untestable and not fail_if:
        raise ExperimentError("--allow-untestable has no condition", remedy="Name one with --fail-if.")
    if fail_if and metric:
        raise ExperimentError("--fail-if names its metrics", remedy="Leave --metric out.")
    if fail_if and len(target or ()) > 1:
        raise ExperimentError("--fail-if has one target", remedy="Write --target these, or --target others.")
    workspace = open_workspace(experiment, runs)
    require_run(workspace.run)
    warn_of_changes(workspace)
    question = Question(
        tuple(names or ()),
        native,
        rest,
        group.value if group else None,
        tuple(by or ()),
        tuple(metric or ()),
        tuple(map(str, target or ())),
        tuple(baseline or ()),
        tuple(snapshot or ()),
        selection,
        tuple(fail_if or ()),
    )
    with ExitStack() as stack:
        found = compared(stack, workspace, question, runs=runs)
    decisions = decide(found.conditions, found.rows)
    write_comparison(found, decisions, format, output)
    if found.conditions:
        tell_decisions(found.conditions, decisions, allow_untestable)
