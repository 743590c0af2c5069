"""`polyculture compare`: two models, languages, conditions, countries or wordings, or one and the rest, paired."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from polyculture.cache.errors import ExperimentError
from polyculture.cache.manifest import require_run
from polyculture.cache.store import open_store
from polyculture.cli.comparison import decisions_of, end_by, tell_decisions, verdicts_of, write_comparison
from polyculture.cli.options import ExperimentFile, Format, OfSelection, OutputFile, OutputFormat, Runs, StoreSelection
from polyculture.cli.two_runs import compared_runs
from polyculture.experiment.workspace import open_workspace, warn_of_changes
from polyculture.metrics import KEPT
from polyculture.metrics.comparison.blocks import Blocks
from polyculture.metrics.comparison.compare import METRICS, compare_all
from polyculture.metrics.comparison.conditions import points_of, read_conditions
from polyculture.metrics.comparison.equivalence import read_margins
from polyculture.metrics.comparison.lines import Terms
from polyculture.running.layout import store_layout
from polyculture.running.sides import Asked, choose_sides


class FactName(StrEnum):
    """The facts that models are grouped by: `cache.model_facts.GROUPS`."""

    ORIGIN = "origin"
    OPEN = "open"
    SIZE = "size"


class MetricName(StrEnum):
    """The metrics that can be compared."""

    GRANULARITY = "granularity"
    DIVERSITY = "diversity"
    SPECIFICITY = "specificity"
    SPECIFICITY_GAIN = "specificity_gain"
    CONSENSUS = "consensus"
    HILL_1 = "hill_1"
    HILL_2 = "hill_2"
    COVERAGE = "coverage"
    RAREFIED = "rarefied"
    DOMINANCE = "dominance"


def compare(
    experiment: ExperimentFile,
    a: Annotated[
        str | None,
        typer.Argument(
            help="A model, language, condition, country or wording of the run, or with --group a group of models."
        ),
    ] = None,
    b: Annotated[str | None, typer.Argument(help="Another one of the same sort.")] = None,
    rest: Annotated[
        bool,
        typer.Option("--rest", help="One model, language, country or wording against all others of the run together."),
    ] = False,
    group: Annotated[
        FactName | None,
        typer.Option("--group", help="Compare groups of models, by a fact of [model_facts]; each with all others."),
    ] = None,
    native: Annotated[
        bool, typer.Option("--native", help="Each country in its own language against the other languages.")
    ] = False,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="A line per model, language, topic, condition, country or wording; may be repeated."),
    ] = None,
    metric: Annotated[
        list[MetricName] | None,
        typer.Option("--metric", help="Only this metric; may be repeated. Without it: the first five."),
    ] = None,
    equivalent: Annotated[
        list[str] | None,
        typer.Option(
            "--equivalent",
            metavar="MARGIN",
            help="Which differences count for none: .05 of all shares, diversity=5 of one metric; may be repeated.",
        ),
    ] = None,
    blocks: Annotated[
        Blocks, typer.Option("--blocks", help="The sampling unit that is taken as independent; see above.")
    ] = Blocks.PROMPTS,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline",
            metavar="EXPERIMENT|FOLDER",
            help="Compare with another run: its experiment file, or its folder. a is this run, b the baseline.",
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="Exit with code 7 where it holds: 'specificity lower', 'diversity lower by more than 5'; repeatable.",
        ),
    ] = None,
    fail_if_undecided: Annotated[
        bool,
        typer.Option("--fail-if-undecided", help="With --fail-if: exit code 8 where one is undecided or withheld."),
    ] = False,
    selection: OfSelection = StoreSelection.ALL,
    runs: Runs = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Compare two models, languages, conditions, countries or wordings, or one with the rest, paired on the prompt.

    Mean difference, 95 % interval, p, and q: p adjusted (Benjamini and Hochberg) over all lines shown. Specificity and
    its gain have a line per condition, as in the tables: an average over conditions would say nothing.

    Models, languages and wordings are fixed, prompts are sampled: a block is a topic x condition x country with all its
    models, languages and wordings, and each block counts once. So the interval speaks of other prompts like these, in
    these wordings. Where the question is about topics like these, countries like these, or other wordings and names:
    --blocks topics, --blocks countries, --blocks wordings. With fewer than 18 blocks (three, where they are wordings)
    there is no interval and no p. Where countries are compared a block is a topic x condition: they need topics.

    JA --rest compares with the mean of all others, each counted once. --group origin (open, size) compares groups of
    models as [model_facts] of the experiment file describes them: two that are named, or each with all others.

    --equivalent .05 says of each line "same within ±0.05" where two one-sided tests reject a difference as large as
    that, which is where the 95 % interval lies within the margin; "different" where q is below 0.05; else "undecided".

    Between languages, `lowest` and `highest` say how far the difference could go, were all unlinked mentions linked.

    The numbers count linked items, once per response, and are means over cells.

    --baseline compares this run with another one: models of one name, the two where each run has one, or A of this run
    with B of the baseline. Cells whose prompts differ are left out and counted.

    --fail-if METRIC lower|higher|different [by more than X] is for pipelines, and may be repeated: lower means that a
    is below b. It holds where q is below 0.05 on that side in any line of the metric; a line says what each came to.
    Without --metric only the metrics of the conditions are compared: all their tests are one family.
    Exit codes: 0 none holds, 7 one holds, 8 one is not decided (with --fail-if-undecided), 2 a mistake.
    """
    if fail_if_undecided and not fail_if:
        raise ExperimentError("--fail-if-undecided has no condition", remedy="Name one with --fail-if.")
    named = tuple(map(str, metric or ()))
    conditions = read_conditions(fail_if or (), named or tuple(map(str, MetricName)))
    workspace = open_workspace(experiment, runs)
    require_run(workspace.run)
    warn_of_changes(workspace)
    # The native comparison needs a line per country.
    columns = by or (["country"] if native else [])
    metrics = named or tuple(dict.fromkeys(condition.metric for condition in conditions)) or METRICS
    terms = Terms(blocks, read_margins(equivalent or (), metrics), metrics)
    asked = Asked(a, b, native, rest, group.value if group else None)
    withheld: Mapping[str, str] = {}
    if baseline is not None:
        found_runs = compared_runs(workspace, baseline, runs, asked, selection)
        sides, withheld = [found_runs.sides], found_runs.withheld
        with found_runs.connection as connection:
            compared = compare_all(
                connection, sides, columns, metrics, terms.blocks, terms.margins, points_of(conditions)
            )
    else:
        with open_store(workspace.run, store_layout(), KEPT, selection) as store:
            sides = choose_sides(store, workspace, asked)
            compared = compare_all(store, sides, columns, metrics, terms.blocks, terms.margins, points_of(conditions))
    rows = [row for _, row in compared]
    decisions = decisions_of(conditions, rows, withheld)
    write_comparison(compared, sides, terms, format, output, verdicts_of(decisions, rows) if conditions else None)
    if conditions:
        tell_decisions(decisions, conditions, rows)
        end_by(decisions, fail_if_undecided)
