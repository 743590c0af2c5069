"""`polyculture compare`: two models, languages or conditions, paired on the prompt."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from polyculture.cli.options import ExperimentFile, Format, OfSelection, OutputFile, OutputFormat, Runs, StoreSelection


class BlockKind(StrEnum):
    """The kinds of block. A copy of `Blocks`, whose import would add a tenth of a second to `--help`."""

    PROMPTS = "prompts"
    TOPICS = "topics"
    COUNTRIES = "countries"


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
    AT_COVERAGE = "at_coverage"


def compare(
    experiment: ExperimentFile,
    a: Annotated[str | None, typer.Argument(help="A model, language or condition of the run.")] = None,
    b: Annotated[str | None, typer.Argument(help="Another one of the same sort.")] = None,
    native: Annotated[
        bool, typer.Option("--native", help="Each country in its own language against the other languages.")
    ] = False,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="A line per model, language, topic, condition or country; may be repeated."),
    ] = None,
    metric: Annotated[
        list[MetricName] | None,
        typer.Option("--metric", help="Only this metric; may be repeated. Without it: the first five."),
    ] = None,
    blocks: Annotated[
        BlockKind, typer.Option("--blocks", help="The sampling unit that is taken as independent; see above.")
    ] = BlockKind.PROMPTS,
    selection: OfSelection = StoreSelection.ALL,
    runs: Runs = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Compare two models, languages or conditions, paired on the prompt.

    Mean difference, 95 % interval, p, and q: p adjusted (Benjamini and Hochberg) over all lines shown. Specificity and
    its gain have a line per condition, as in the tables: an average over conditions would say nothing.

    Models and languages are fixed, prompts are sampled: a block is a topic x condition x country with all its models
    and languages, and each block counts once. So the interval speaks of other prompts like these. Where the question is
    about topics like these, or countries like these: --blocks topics, --blocks countries. With fewer than 18 blocks
    there is no interval and no p.

    Between languages, `lowest` and `highest` say how far the difference could go, were all unlinked mentions linked.
    """
    from polyculture.cache.store import open_store
    from polyculture.cli.comparison import choose_sides, write_comparison
    from polyculture.experiment.workspace import open_workspace, require_run, warn_of_changes
    from polyculture.metrics import KEPT
    from polyculture.metrics.comparison.blocks import Blocks
    from polyculture.metrics.comparison.compare import METRICS
    from polyculture.metrics.comparison.compare import compare as compare_sides
    from polyculture.running.layout import store_layout

    workspace = open_workspace(experiment, runs)
    require_run(workspace.run)
    warn_of_changes(workspace)
    # The native comparison needs a line per country.
    columns = by or (["country"] if native else [])
    with open_store(workspace.run, store_layout(), KEPT, selection) as store:
        sides = choose_sides(store, workspace, a, b, native)
        rows = compare_sides(store, sides, columns, metric or METRICS, Blocks(blocks))
    write_comparison(sides, rows, Blocks(blocks), format, output)
