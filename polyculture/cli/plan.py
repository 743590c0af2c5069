"""`polyculture plan`: the requests and cost of an experiment, before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from polyculture.cli.options import ExperimentFile, Runs

if TYPE_CHECKING:
    from polyculture.running.estimate import StageEstimate

SHOWN_PROMPTS = 3
WORK = ("stage", "model", "jobs", "prompts", "responses", "left")
PRICE = ("stage", "model", "prompt tokens", "counted by", "answer tokens", "cost", "cost at most", "hours")


def plan(
    experiment: ExperimentFile,
    runs: Runs = None,
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="Ask each model for a minute first, to tell the hours. The answers are kept."),
    ] = False,
) -> None:
    """Check an experiment file, and print what it would ask.

    Prompts, jobs, samples, tokens, money and hours, of what is left; without --calibrate nothing is spent.
    """
    from polyculture.cli.tables import print_table
    from polyculture.experiment.workspace import open_workspace
    from polyculture.running.batching import waiting_line
    from polyculture.running.calibration import calibrate as measure_rates
    from polyculture.running.estimate import estimates
    from polyculture.running.extraction import ExtractionStage
    from polyculture.running.linking import check_topics, plan_linking, tell_languages_without_names
    from polyculture.running.pipeline import Pipeline

    workspace = open_workspace(experiment, runs)
    linking = plan_linking(workspace)
    check_topics(workspace, linking.source)
    extraction = ExtractionStage(workspace)
    if calibrate:
        Pipeline.prepare(workspace)
        measure_rates(workspace)
    found = list(estimates(workspace))
    tell_languages_without_names(workspace, linking.source)
    title = f"{workspace.experiment.name}: {len(workspace.prompts)} prompts, {workspace.sampling.n} samples each"
    print_table(WORK, [(e.stage, e.model, e.jobs, e.prompts, e.responses, e.left) for e in found], title=title)
    print_table(PRICE, [_price(e) for e in found], title="What is left costs")
    examples = [(p.language, p.topic, p.condition, p.country, p.text) for p in workspace.prompts[:SHOWN_PROMPTS]]
    print_table(("language", "topic", "condition", "country", "prompt"), examples, title="For example")
    stages = [("extract", extraction.summary), ("link", linking.summary), ("folder", str(workspace.run.root))]
    waits, played = waiting_line(workspace.run), workspace.experiment.played_line
    rows = [*stages, *([("batches", waits)] if waits else []), *([("note", played)] if played else [])]
    print_table(("stage", "with"), rows)


def _price(e: StageEstimate) -> tuple[object, ...]:
    money = (None if e.cost is None else f"{e.cost:.2f}", None if e.most is None else f"{e.most:.2f}")
    hours = None if e.hours is None else f"{e.hours:.2f}"
    return (e.stage, e.model, e.prompt_tokens, e.counted_by, e.answer_tokens, *money, hours)
