"""`polyculture plan`: the requests and cost of an experiment, before anything is spent."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polyculture.cli.options import AcceptChanges, ExperimentFile, Runs
from polyculture.cli.retry_failed import RetryOption
from polyculture.cli.retry_failed import retry_failed as retry_failed_of

if TYPE_CHECKING:
    from polyculture.experiment.workspace import Workspace
    from polyculture.running.estimate import StageEstimate

SHOWN_PROMPTS = 3
WORK = ("stage", "model", "jobs", "prompts", "responses", "left")
DESIGN = ("compared", "design", "prompts", "wordings", "samples", "requests", "tokens", "cost")
FINDS = ("finds", "finds at most", "in other wordings", "floor")
LEFT_OUT = ("left out", "model", "because it", "remedy")
PRICE = ("stage", "model", "tokens in", "out", "cost", "at most", "hours")  # fits 80 columns


class PlannedMetric(StrEnum):
    """The metrics whose variances per prompt are known. A copy of `metrics.components.rows.METRICS`."""

    GRANULARITY = "granularity"
    DIVERSITY = "diversity"
    SPECIFICITY = "specificity"


def plan(
    experiment: ExperimentFile,
    runs: Runs = None,
    accept_changes: AcceptChanges = False,
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="Ask each model for a minute first, to tell the hours. The answers are kept."),
    ] = False,
    retry_failed: RetryOption = None,
    detect: Annotated[
        float | None,
        typer.Option(
            "--detect",
            metavar="DIFFERENCE",
            min=1e-6,
            help="The difference of two models or languages that is to be found: which prompts and samples find it.",
        ),
    ] = None,
    metric: Annotated[PlannedMetric, typer.Option(help="With --detect: the metric.")] = PlannedMetric.SPECIFICITY,
    power: Annotated[float, typer.Option(min=0.1, max=0.99, help="With --detect: how often it is to be found.")] = 0.8,
    other_run: Annotated[
        Path | None,
        typer.Option("--from", metavar="RUN", help="With --detect: the folder of the run whose variances are taken."),
    ] = None,
) -> None:
    """Check an experiment file, and print what it would ask.

    Prompts, jobs, samples, tokens, money and hours, of what is left; without --calibrate nothing is spent. A change
    that makes paid answers stale is refused as `run` refuses it; with --accept-changes the plan is of what comes then.
    What a model cannot do of the instruments that are asked stands in a table of its own.
    With --retry-failed, what that option of `run` would ask again is counted, too.

    With --detect .05, what finds such a difference at p < .05: by how numbers varied in this experiment's run, or
    --from another. For example: polyculture plan exp.toml --detect .05 --metric granularity --from runs/pilot
    """
    from polyculture.cli.tables import print_table
    from polyculture.console import say
    from polyculture.experiment.workspace import open_workspace
    from polyculture.reports.limits import limit_lines
    from polyculture.running.batching import waiting_line
    from polyculture.running.calibration import calibrate as measure_rates
    from polyculture.running.estimate import estimates
    from polyculture.running.linking import check_topics, plan_linking, tell_languages_without_names
    from polyculture.running.pipeline import Pipeline
    from polyculture.running.readiness import not_ready
    from polyculture.running.studies import check_questions, questions_asked
    from polyculture.running.wikidata_requests import request_rows

    if detect is not None and detect >= 1 and metric != PlannedMetric.DIVERSITY:
        raise typer.BadParameter(f"{metric} is between 0 and 1: no two sides differ by {detect:g}")
    if detect is None and other_run is not None:
        raise typer.BadParameter("--from says whose variances --detect takes: give --detect DIFFERENCE, too")
    workspace = open_workspace(experiment, runs)
    linking = plan_linking(workspace, contact_needed=calibrate)
    check_topics(workspace, linking.source)
    if not accept_changes:
        check_questions(questions_asked(workspace))
    pipeline = Pipeline.check(workspace, accept_changes=accept_changes, linking=linking)
    if calibrate:
        pipeline.begin()
        measure_rates(workspace)
    found = list(estimates(workspace, retry_failed_of(retry_failed)))
    tell_languages_without_names(workspace, linking.source)
    title = f"{workspace.experiment.name}: {len(workspace.prompts)} prompts, {workspace.sampling.n} samples each"
    if workspace.experiment.imported:
        title = (
            f"{workspace.experiment.name}: {sum(workspace.imports.texts.values())} imported texts, nothing to generate"
        )
        print_table(("imported", "rows", "texts", "not taken", "sha256", "at"), _imported(workspace))
    print_table(WORK, [(e.stage, e.model, e.jobs, e.prompts, e.responses, e.left) for e in found], title=title)
    print_table(PRICE, [_price(e) for e in found], title="What is left costs")
    for counted_by in dict.fromkeys(e.counted_by for e in found):
        models = dict.fromkeys(e.model for e in found if e.counted_by == counted_by)
        say(f"tokens of {', '.join(models)}: {counted_by}")
    for asked in questions_asked(workspace):
        for told, listing in asked.study(quiet=True).planned.items():
            planned = listing()
            print_table(planned.columns, planned.rows, title=told)
    _print_left_out(workspace)
    if not workspace.experiment.imported:
        _print_examples(workspace)
    stages = [("extract", pipeline.extraction.summary), ("link", linking.summary), ("folder", str(workspace.run.root))]
    waits, played = waiting_line(workspace.run), workspace.experiment.played_line
    stages[2:2] = request_rows(workspace)
    rows = [*stages, *([("batches", waits)] if waits else []), *([("note", played)] if played else [])]
    print_table(("stage", "with"), rows)
    for line in (*limit_lines(pipeline.manifest), *not_ready(workspace.experiment)):
        say(line)
    if workspace.experiment.link.source == "api" and workspace.experiment.link.contact is None:
        say(
            f'{experiment}: link.contact is missing, and `run` needs it: write contact = "you@example.org" under [link]'
        )
    if detect is not None:
        _print_designs(workspace, metric.value, detect, power, other_run)


def _imported(workspace: Workspace) -> list[tuple[object, ...]]:
    files = workspace.imports.files
    return [(one.file, one.rows, one.texts, one.failed, one.import_id, one.imported_at) for one in files]


def _print_left_out(workspace: Workspace) -> None:
    """The instruments, and parts of a paper, that models cannot do; nothing where they can do all."""
    from polyculture.cli.tables import print_table
    from polyculture.running.left_out import left_out

    rows = [
        (f"{one.command} {', '.join(one.parts)}".rstrip(), one.model, one.reason, one.remedy)
        for one in left_out(workspace)
    ]
    if rows:
        print_table(LEFT_OUT, rows, title="What models cannot do is not asked")


def _print_examples(workspace: Workspace) -> None:
    from polyculture.cli.tables import print_table
    from polyculture.console import say
    from polyculture.metrics.intervals.wordings import FEWEST_WORDINGS

    design, shown = workspace.experiment.prompts.design, workspace.prompts[:SHOWN_PROMPTS]
    wordings = f"{len(design.wordings)} wording{'s' if len(design.wordings) > 1 else ''}"
    names = f"{design.names} name{'s' if design.names != 1 else ''}"
    rows = [(p.language, p.topic, p.wording, p.condition, p.country, p.text) for p in shown]
    title = f"For example, of {wordings} and {names} in each"
    print_table(("language", "topic", "wording", "condition", "country", "prompt"), rows, title=title)
    if len(design.wordings) < FEWEST_WORDINGS:
        say(f"{wordings}: no interval of other wordings and names, which takes {FEWEST_WORDINGS} (wordings, [prompts])")


def _print_designs(workspace: Workspace, metric: str, wanted: float, power: float, other_run: Path | None) -> None:
    from polyculture.cli.tables import print_table
    from polyculture.console import say
    from polyculture.running.detection import design_rows, planned_condition, source_of

    source = source_of(workspace, metric, other_run)
    planned = planned_condition(workspace, source.condition)
    rows = list(design_rows(workspace, source, metric, wanted, power))
    digits = 2 if metric == PlannedMetric.DIVERSITY else 4
    work = [
        (r.compared, r.design, r.prompts, r.wordings, r.samples, r.requests, r.tokens, _money(r.cost)) for r in rows
    ]
    found = [(r.finds, r.finds_at_most, r.other_wordings, r.floor) for r in rows]
    title = f"Which designs find a difference of {wanted:g} in {metric}, with a power of {power:g}"
    rounded = [tuple(None if value is None else f"{value:.{digits}f}" for value in values) for values in found]
    print_table(DESIGN, work, title=title)
    print_table(
        (*DESIGN[:5], *FINDS),
        [(*one[:5], *two) for one, two in zip(work, rounded, strict=True)],
        title="What they find",
    )
    says = (
        f"variances: {source.name}, {source.condition} prompts",
        *([] if planned == source.condition else [f"the design is of {planned} prompts: the variances are of others"]),
        "a prompt is a topic and a country; costs are those of all models and languages, for these prompts alone",
        "no samples: no number of them is enough; at most: with endless samples of these prompts",
        "other wordings: the difference holds in others, too; floor: with endless samples, topics and countries",
        *source.notes,
    )
    for line in says:
        say(line)


def _money(cost: float | None) -> str | None:
    return None if cost is None else f"{cost:.2f}"


def _price(e: StageEstimate) -> tuple[object, ...]:
    money = (None if e.cost is None else f"{e.cost:.2f}", None if e.most is None else f"{e.most:.2f}")
    hours = None if e.hours is None else f"{e.hours:.2f}"
    return (e.stage, e.model, e.prompt_tokens, e.answer_tokens, *money, hours)
