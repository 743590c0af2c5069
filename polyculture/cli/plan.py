"""`polyculture plan`: the requests and cost of an experiment, before anything is spent."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polyculture.cache.catalog.everyday import written_names
from polyculture.cache.catalog.facts import language_facts
from polyculture.cache.catalog.written import WrittenNames
from polyculture.cache.errors import ExperimentError, PolycultureError
from polyculture.cache.toml_files import read_toml
from polyculture.cli.options import AcceptChanges, ExperimentFile, RetryCommand, RetryOption, Runs
from polyculture.cli.options import retry_failed as retry_failed_of
from polyculture.cli.run import next_command
from polyculture.cli.tables import machine_output, print_table
from polyculture.console import say
from polyculture.experiment.prompts import prompt_lines
from polyculture.experiment.workspace import Workspace
from polyculture.generate.detection import detector_line, relative_of, tells
from polyculture.generate.engines import find_kind, read_options
from polyculture.link.origins import snapshot_items
from polyculture.metrics.declared import is_count
from polyculture.reports.limits import limit_line
from polyculture.reports.snapshot_items import FEWEST, item_lines, too_few
from polyculture.running.batching import waiting_line
from polyculture.running.calibration import calibrate as measure_rates
from polyculture.running.call_list import (
    calls_in_file,
    calls_of_run,
    check_able,
    check_asks,
    check_calls,
    open_shares,
    texts_in_file,
)
from polyculture.running.calls import known_calls
from polyculture.running.estimate import (
    StageEstimate,
    asked_later,
    cap_line,
    estimates,
    unknown_prices,
    unsupported,
)
from polyculture.running.linking import (
    check_topics,
    request_rows,
    tell_lacking,
    tell_uncovered_countries,
)
from polyculture.running.models import unready_models
from polyculture.running.opening import open_workspace
from polyculture.running.run_status import run_status

if TYPE_CHECKING:
    from polyculture.cache.store.manifest import Manifest
    from polyculture.link.index.snapshot import Snapshot
    from polyculture.running.calls import Call
    from polyculture.running.linking import LinkingStage

SHOWN_PROMPTS = 3
SHOWN_COUNTRIES = 10
WORK = ("stage", "model", "jobs", "prompts", "responses", "left")
FINDS = ("metric", "compared", "prompts", "wordings", "samples", "same_prompts", "new_prompts")
UNSUPPORTED = ("left out", "model", "because it", "remedy")
LIMITS = "docs/reading-a-report.md"
PRICE = ("stage", "model", "tokens in", "out", "at most", "cost", "hours")  # fits 80 columns

COMMAND = RetryCommand


def plan(
    experiment: ExperimentFile,
    runs: Runs = None,
    accept_changes: AcceptChanges = False,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate", help="Let each model work for a minute first, to measure hours. The answers are kept."
        ),
    ] = False,
    retry_failed: RetryOption = None,
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Also print the items of the snapshot, the differences that can be found, and prompts, as tables.",
        ),
    ] = False,
    state_study: Annotated[
        bool,
        typer.Option(
            "--state-study",
            help="Write all that decides the numbers into [study] of the file: later runs must match it.",
        ),
    ] = False,
    jobs: Annotated[
        bool, typer.Option("--jobs", help="Print one command per job that has something left, for a job array.")
    ] = False,
) -> None:
    """Check an experiment file, and print what it would ask and what that costs.

    The first table counts the prompts and responses, and how many of them are left. The second table has the tokens,
    the money and the hours of what is left. Without --calibrate, nothing is spent. A change that makes paid answers
    stale is refused as `run` refuses it; with --accept-changes you see the plan for after the change. What a model
    cannot do for the instruments of the file is in a table of its own. With --retry-failed, the plan also counts what
    that option of `run` would ask again.

    Below the tables, lines summarise the snapshot, the smallest differences that the experiment would find, and a
    prompt. --details prints a table for each: the items of the snapshot by topic, language and country; for two models
    and for two languages, the smallest difference that would be found at p < .05 in 8 of 10 such experiments, for both
    targets of `compare`; and more prompts. These differences follow from how numbers varied in the experiment's own
    run or, before there is one, in a small run of another model.

    With --state-study, the file states a study of its own: `plan` and `run` then refuse an experiment that differs from
    it. A study that is stated already gets its next version if a part differs.

    With --jobs, nothing is checked: a command per job (model, language, topic) is printed. Run them anywhere and in any
    order, many at once over one file system, then `polyculture run` once for the rest.
    """

    workspace = open_workspace(experiment, runs)
    if jobs:
        _print_jobs(workspace, runs)
        return
    retry = retry_failed_of(retry_failed)
    texts = next(iter(texts_in_file(workspace)), None)
    if state_study:
        if texts is None:
            remedy = "A study is what is asked for: languages, topics and models."
            raise ExperimentError("asks for no texts", where=workspace.file, remedy=remedy)
        study = texts.state_study()
        say(f"{workspace.file}: [study] is {study.name}, version {study.version}, with {len(study.parts)} parts")
        workspace = open_workspace(experiment, runs)
        texts = next(iter(texts_in_file(workspace)), None)
    if texts is not None:
        texts.check_able()
    calls, unknown = known_calls(calls_of_run(workspace))
    compared = check_calls(calls, accept_changes=accept_changes)
    if not unknown:
        check_asks(workspace, calls)
    linking = None if texts is None else texts.linking
    if linking is not None:
        check_topics(workspace, linking.source)
    if calibrate:
        _measure(workspace, calls)  # and says what changes
    else:
        for one in compared:
            one.tell()
    manifest = workspace.present if texts is None else texts.proposal(texts.known).manifest(workspace.before)
    costs = list(estimates(workspace, calls, retry))
    if workspace.experiment.imported and workspace.jobs:
        print_table(("imported", "rows", "texts", "not taken", "sha256", "at"), _imported(workspace))
    _print_costs(workspace, costs, _title(workspace))
    _print_unsupported(calls)
    if linking is not None:
        _print_texts(workspace, manifest, linking, details=details)
    rows = [("batches", waiting_line(workspace.run)), ("note", workspace.experiment.played_line)]
    stages = [] if texts is None else [*texts.summaries, *request_rows(workspace, manifest)]
    if told := [*stages, *((label, line) for label, line in rows if line)]:
        print_table(("stage", "with"), told)
    refusals = [*unready_models(workspace.experiment).values(), *(() if texts is None else texts.refusals())]
    for line in (
        *_warnings(workspace, costs),
        *unknown_prices(workspace.experiment),
        *(f"run will refuse: {fault}" for fault in refusals),
        limit_line(manifest, LIMITS),
    ):
        if line:
            say(line)
    _check_known(workspace, unknown)
    check_able(calls_in_file(workspace))
    status = run_status(workspace)
    before = workspace.before
    is_linked = linking is None or (before is not None and before.linker_id == linking.linker_id)
    is_asked = not status.surfaces_left and not any(one.count.is_open for one in status.jobs)
    over = status.reported and is_linked and is_asked
    after = next_command(workspace) if over else f"polyculture run {shlex.quote(str(experiment))}"
    remedies = dict.fromkeys(one.remedy for fault in refusals for one in (fault, *fault.others) if one.remedy)
    say(f"Next: {' '.join(remedies)} Then: {after}" if remedies and not over else f"Next: {after}")


def _check_known(workspace: Workspace, unknown: Sequence[tuple[Call, PolycultureError]]) -> None:
    """Names what cannot be planned; raises the faults of the file's own instruments, which `run` refuses, too."""
    refused = list[PolycultureError]()
    for call, fault in unknown:
        say(f"{call.title} is not in this plan: {fault}")
        if (call.whole or call).command in workspace.experiment.instruments:
            refused.append(fault)
    if refused:
        raise refused[0]


def _title(workspace: Workspace) -> str:
    """How many texts are asked for, and where they come from."""
    experiment = workspace.experiment
    if not workspace.jobs:
        return f"{experiment.name}: no texts, instruments alone"
    if experiment.imported:
        return f"{experiment.name}: {sum(workspace.imports.texts.values())} imported texts, nothing to generate"
    return f"{experiment.name}: {len(workspace.prompts)} prompts, {workspace.sampling.n} samples each"


def _print_texts(workspace: Workspace, manifest: Manifest, linking: LinkingStage, *, details: bool) -> None:
    """What the texts' prompts and their snapshot are, and what an experiment of so many texts finds."""
    tell_lacking(workspace, linking.source)
    tell_uncovered_countries(workspace, linking.source)
    _print_widened(workspace)
    _print_items(workspace, linking.source, details=details)
    _print_detectable(workspace, manifest, details=details)
    for code in workspace.experiment.languages:
        language, decided = workspace.catalog.language(code), language_facts(code).decided
        if not tells(language.detector, decided) or relative_of(language.detector):
            say(f"{language.name}: {detector_line(language.detector, decided)}")
    if not workspace.experiment.imported:
        _print_examples(workspace, details=details)


def _measure(workspace: Workspace, calls: Sequence[Call]) -> None:
    """Measures how fast models work on what calls ask, whose answers count from now on."""
    for call in calls:
        if call.known.steps:
            call.make_valid(call.known, accept_changes=True)  # what is refused was refused before
    measure_rates(workspace, calls)


def _warnings(workspace: Workspace, costs: Sequence[StageEstimate]) -> Iterator[str]:
    """What the engines warn of, for each model of the file."""
    for model in dict.fromkeys((*workspace.experiment.models, *(e.model for e in costs if ":" in e.model))):
        spec = workspace.experiment.model_spec(model)
        kind = find_kind(spec)
        if warning := kind.warning(spec, read_options(kind.options, spec)):
            yield warning


def _print_jobs(workspace: Workspace, runs: Path | None) -> None:
    """The command of each job that has something left to do. The number of a job stays the same."""
    numbers, total = open_shares(workspace)
    beside = ["--runs", str(runs)] if runs else []
    machine_output()
    for number in numbers:
        typer.echo(shlex.join(["polyculture", "run", str(workspace.file), *beside, "--job", f"{number}/{total}"]))


def _print_widened(workspace: Workspace) -> None:
    """What the file names as a country and is a part of one: all prompts, items and numbers are of the whole.

    Likewise the languages that stand for one of a region; and the countries of implicit prompts that the file does not
    list.
    """
    written, catalog, experiment = read_toml(workspace.file), workspace.catalog, workspace.experiment
    for part in written.get("countries", ()):
        if code := written_names()["parts"].get(part.casefold()):
            whole = catalog.country(code).name
            say(f"countries: {part} is a part of {code}, and the whole is asked about: {whole}")
    names = WrittenNames(catalog)
    for variant in written.get("languages", ()):
        if variant not in catalog.languages and re.search("[-_]", variant) and (known := names.language(variant)):
            say(f"languages: {variant} is asked as {known}: {catalog.language(known).name}")
    if experiment.imported or experiment.prompts.file:
        return
    implied = {p.language: p.country for p in workspace.prompts if p.condition.startswith("implicit")}
    more = {language: country for language, country in implied.items() if country not in experiment.countries}
    if more:
        asked = ", ".join(f"{country} in {language}" for language, country in more.items())
        say(
            f"implicit prompts name persons of countries that `countries` does not list: {asked}. "
            'implicit_countries = "all" asks about those of the list instead'
        )


def _print_items(workspace: Workspace, source: Snapshot, *, details: bool) -> None:
    """How many items of each topic the snapshot has: in all, with names in each language, and from each asked country.

    A language in which few items have a name finds few of what its texts name; the specificity of a country of which
    there are few items says more about the snapshot than about a model.
    """

    experiment, catalog = workspace.experiment, workspace.catalog
    if source.filled:  # which has the items of what was named, or will have
        return
    topics, countries = experiment.topics, experiment.countries
    held = snapshot_items(source, catalog, topics, experiment.languages)
    names = (lambda code: catalog.language(code).name), str
    lines = item_lines(held, topics, experiment.languages, countries[:SHOWN_COUNTRIES], *names)
    if details:
        print_table(("items", *topics), [(line.label, *line.counts) for line in lines], "Items in the snapshot")
        if more := countries[SHOWN_COUNTRIES:]:
            say(f"items in the snapshot: {len(more)} more countries are asked about")
    else:
        all_items = ", ".join(
            f"{count} of {topic}" for topic, count in zip(topics, next(iter(lines)).counts, strict=True)
        )
        say(f"items in the snapshot: {all_items}; --details counts them by language and country")
    if few := too_few(held, topics, countries):
        said = "; ".join(f"{topic} {', '.join(code for code, _ in some)}" for topic, some in few.items())
        say(f"too few items (under {FEWEST}) for a meaningful culture specificity: {said}")


def _print_costs(workspace: Workspace, costs: Sequence[StageEstimate], title: str) -> None:
    print_table(WORK, [(e.stage, e.model, e.jobs, e.prompts, e.responses, e.left) for e in costs], title=title)
    print_table(PRICE, [_price(e) for e in costs], title="What is left: tokens, money, hours")
    for counted_by in dict.fromkeys(e.counted_by for e in costs):
        models = dict.fromkeys(e.model for e in costs if e.counted_by == counted_by)
        say(f"tokens of {', '.join(models)}: {counted_by}")
    for line in dict.fromkeys(line for e in costs for line in e.assumed):
        say(line)
    for line in dict.fromkeys(filter(None, (e.named.line for e in costs if e.named))):
        say(f"cost: {line}. The plan counts what the server names")
    if costs and (capped := cap_line(workspace, costs)):
        say(capped)
    unpriced = dict.fromkeys(e.model for e in costs if e.left and e.cost is None and not e.free)
    if unpriced:
        say(f'cost: write [prices."{next(iter(unpriced))}"] with input = and output =, per million tokens')
    if any(e.left and e.hours is None and e.prompt_tokens for e in costs):
        say("hours: with --calibrate each model is asked for a minute; the answers are kept")


def _imported(workspace: Workspace) -> list[tuple[object, ...]]:
    files = workspace.imports.files
    return [(one.file, one.rows, one.texts, one.failed, one.import_id, one.imported_at) for one in files]


def _print_unsupported(calls: Sequence[Call]) -> None:
    """What is asked later; and the instruments, and parts of a paper, that models cannot do, where there are any."""

    for line in asked_later(calls):
        say(line)
    rows = [
        (f"{one.command} {', '.join(one.parts)}".rstrip(), one.model, one.reason, one.remedy)
        for one in unsupported(calls)
    ]
    if rows:
        print_table(UNSUPPORTED, rows, title="What models cannot do is not asked")


def _print_examples(workspace: Workspace, *, details: bool) -> None:
    if details:
        design, shown = workspace.design, workspace.prompts[:SHOWN_PROMPTS]
        wordings = f"{len(design.wordings)} wording{'s' if len(design.wordings) > 1 else ''}"
        names = f"{design.names} name{'s' if design.names != 1 else ''}"
        rows = [(p.language, p.topic, p.wording, p.condition, p.country, p.text) for p in shown]
        title = f"For example, of {wordings} and {names} in each"
        print_table(("language", "topic", "wording", "condition", "country", "prompt"), rows, title=title)
    else:
        for prompt in sorted(workspace.prompts, key=lambda one: one.country is None)[:1]:  # one with a country first
            where = ", ".join(filter(None, (prompt.language, prompt.topic, prompt.condition, prompt.country)))
            say(f"for example ({where}): {prompt.text}")
    for line in prompt_lines(workspace.experiment, workspace.catalog, workspace.file):
        say(line)


def _print_detectable(workspace: Workspace, manifest: Manifest, *, details: bool) -> None:
    from polyculture.running.detection import detectable  # SciPy, which nothing else of a plan needs

    found = detectable(workspace, manifest)
    if found.differences and details:
        rows = [
            (r.metric, r.compared, r.prompts, r.wordings, r.samples, *_rounded(r.metric, r.same_prompts, r.new_prompts))
            for r in found.differences
        ]
        print_table(FINDS, rows, title="The smallest difference found at p < .05, in 8 of 10 such experiments")
    elif found.differences:
        for compared, group in groupby(sorted(found.differences, key=attrgetter("compared")), attrgetter("compared")):
            values = {r.metric: _rounded(r.metric, r.same_prompts, r.new_prompts) for r in group}
            for target, place in (("the same prompts", 0), ("new prompts", 1)):
                if told := ", ".join(f"{name} {value[place]}" for name, value in values.items() if value[place]):
                    say(f"smallest difference between {compared} that it would find on {target}: {told}")
        say("these differences are estimates: --details says from what")
    for line in (*(found.basis if details else ()), *found.untestable):
        say(line)


def _rounded(metric: str, *values: float | None) -> list[str | None]:
    digits = 2 if is_count(metric) else 4
    return [None if value is None else f"{value:.{digits}f}" for value in values]


def _price(e: StageEstimate) -> tuple[object, ...]:
    money = "free" if e.free else None if e.cost is None else f"{e.cost:.2f}"
    if e.cost is not None and e.most is not None:
        money = f"{e.cost:.2f} to {e.most:.2f}"
    hours = None if e.hours is None else f"{e.hours:.2f}"
    return (e.stage, e.model, f"{e.prompt_tokens:,}", f"{e.answer_tokens:,}", f"{e.most_tokens:,}", money, hours)
