"""`polyculture extract audit`: the accuracy of an extractor."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.catalog.pack import GOLD as OF_PACK
from polyculture.cache.errors import ExperimentError, StoreError
from polyculture.cache.store.parquet import objects_to_table, read_rows, write_parquet
from polyculture.cache.store.schema import AUDITED_TEXTS, GOLD_EXTRACTIONS, AuditedText
from polyculture.cache.store.store import open_store
from polyculture.cache.work.worker import unanswered
from polyculture.cli.options import (
    FLAG,
    Format,
    OutputFile,
    OutputFormat,
    RetryCommand,
    RetryOption,
    Runs,
    engine_options,
    retry_failed,
    rows_format,
)
from polyculture.cli.tables import print_table, write_records
from polyculture.console import say
from polyculture.experiment.checks import check_extractor
from polyculture.experiment.run_place import stored_run
from polyculture.experiment.sections import GAZETTEER
from polyculture.experiment.snapshots import find_snapshot
from polyculture.experiment.workspace import Workspace
from polyculture.extract.audit import audit_extractor
from polyculture.extract.base import MAX_TOKENS, ResponseText
from polyculture.extract.gazetteer import Gazetteer
from polyculture.extract.gold import GOLD, GoldText, read_gold
from polyculture.extract.gold_step import gold_id
from polyculture.extract.llm import LlmExtractor, read_prompt, read_request
from polyculture.generate.engines import SAMPLING, ModelSpec
from polyculture.generate.wording import country_names_in_texts
from polyculture.link.index.lexicon import lexicon
from polyculture.metrics.audit.names import error_sources
from polyculture.progress import watch
from polyculture.running.estimate import StageEstimate, requests_estimate
from polyculture.running.extraction import ExtractionStage
from polyculture.running.layout import store_layout
from polyculture.running.models import load_model
from polyculture.running.opening import open_workspace
from polyculture.running.steps import StepRunner

if TYPE_CHECKING:
    from polyculture.cache.work.faults import RetryFailed
    from polyculture.extract.audit import ExtractionAudit, ExtractionAuditRow
    from polyculture.extract.base import Extractor


SHOWN = ("all", "language", "topic", "trap", "kind")
COLUMNS = ("by", "value", "matching", "texts", "failed", "gold", "found", "precision", "recall", "F1", "hallucinated")

app = typer.Typer(
    no_args_is_help=True,
    help="Measure an extractor. To find the mentions of a run: `polyculture run EXPERIMENT --only extract`.",
    epilog="polyculture extract audit --with gazetteer",
)


@app.command(
    cls=RetryCommand, epilog="polyculture extract audit --with llamacpp:FILE.gguf --option context=4096 --language ja"
)
def audit(
    experiment: Annotated[
        Path | None,
        typer.Argument(
            metavar="[EXPERIMENT]",
            help="Measure the model that extracts there; its run keeps how many names are right.",
        ),
    ] = None,
    extractor: Annotated[
        str | None, typer.Option("--with", help="gazetteer (the default), or a model: engine:name.")
    ] = None,
    catalog: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="A culture pack whose gold/ is read instead of ours; may be repeated."),
    ] = None,
    snapshot: Annotated[str, typer.Option(help="The gazetteer's names: a snapshot's file, or starter.")] = "starter",
    language: Annotated[list[str] | None, typer.Option(help="Only this language; may be repeated.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="An option of the model's engine; may be repeated.")
    ] = None,
    prompt: Annotated[Path | None, typer.Option(help="A file with an instruction of your own to the model.")] = None,
    retry: RetryOption = None,
    runs: Runs = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Measure an extractor on the gold set.

    Precision, recall and F1 with 95 % intervals, by language, topic, trap and kind.

    With EXPERIMENT, its model reads the gold texts of its topics as it reads responses. Its run keeps how many of the
    English names are right, and the corrected metrics of `polyculture audit` and `compare` allow for the wrong ones.
    It also keeps the answers: a second audit asks only about texts that are new or changed.
    """
    format = rows_format(format, output)
    stage = _stage_of(experiment, runs, [extractor, catalog, option, prompt]) if experiment else None
    if retry is not None and stage is None:
        raise ExperimentError(f"{FLAG} needs an EXPERIMENT", remedy="Without one, no answer is kept.")
    spec = stage.spec if stage else ModelSpec(extractor or GAZETTEER, engine_options(option or ()))
    check_extractor(spec)
    known = stage.workspace.catalog if stage else read_catalog(*catalog or ())
    instruction = stage.instruction if stage else read_prompt(prompt) if prompt else None
    gold_texts = read_gold(known, _gold_folders(known, needed=stage is None), tuple(language or ()))
    if stage:
        gold_texts = [text for text in gold_texts if text.topic in stage.workspace.experiment.topics]
    with ExitStack() as stack:
        if stage:
            opened = _of_stage(stage, gold_texts, retry_failed(retry))
        elif spec.model == GAZETTEER:
            opened = _gazetteer(known, snapshot)
        else:
            say(_estimate(spec, known, gold_texts, instruction).line)
            opened = _model(known, spec, instruction, stack)
        progress = stack.enter_context(watch(f"audit {spec.model}", len(gold_texts)))
        result = audit_extractor(opened, gold_texts, known, progress)
    _write(result, format, output)
    if stage:
        _keep(stage.workspace, result)
    for text_id, reason in result.failures.items():
        say(f"failed: {text_id}: {reason}")


def _stage_of(experiment: Path, runs: Path | None, others: Sequence[object]) -> ExtractionStage:
    """The model that extracts in an experiment that has a run. Raises a `UserError` where it has no run or no model."""
    if any(others):
        remedy = "Leave --with, --catalog, --option and --prompt out, or EXPERIMENT."
        raise ExperimentError("the experiment says who extracts, and how", where=experiment, remedy=remedy)
    stored_run(experiment, runs)
    stage = ExtractionStage(open_workspace(experiment, runs))
    if not stage.by_model:
        remedy = "To measure it without a run: polyculture extract audit --with gazetteer"
        raise ExperimentError(f"{stage.name} gives no names that an audit could judge", where=experiment, remedy=remedy)
    return stage


def _of_stage(
    stage: ExtractionStage, gold: Sequence[GoldText], retry: RetryFailed | None
) -> Callable[[str, str], Extractor]:
    """The answers about the gold texts, which the run keeps. Those that it lacks are asked for first.

    Raises what ends the asking before all texts are read: a systematic fault, or another process that reads them.
    """
    workspace, step = stage.workspace, stage.gold_step(gold)
    runner = StepRunner(workspace=workspace, retry=retry)
    works = list(step.works())
    runner.recover(step, works)
    missing = {item.response_id for work in works for item in unanswered(workspace.run, step, work, retry)[1]}
    if left := [text for text in gold if gold_id(text) in missing]:
        say(_estimate(stage.spec, workspace.catalog, left, stage.instruction, stage.max_tokens).line)
    outcome = runner.run_step(step, works, tell_settled=False)
    if outcome.stopped or outcome.held:
        outcome.check(workspace)
    return step.stored


def _keep(workspace: Workspace, result: ExtractionAudit) -> None:
    """Writes which names are right into the run, in place of what an earlier audit of the same texts found."""
    path = workspace.run.table(AUDITED_TEXTS.name)
    new = {(one.text_id, one.extractor_id) for one in result.named}
    old = [AuditedText(**row) for row in read_rows(path, AUDITED_TEXTS).to_pylist()] if path.exists() else []
    kept = [one for one in old if (one.text_id, one.extractor_id) not in new]
    write_parquet(objects_to_table(AUDITED_TEXTS, [*kept, *result.named]), path)
    given, right = sum(one.english for one in result.named), sum(one.right_english for one in result.named)
    say(
        f"{workspace.run.root} keeps the audit: {right} of {given} English names are right. "
        f"See what it makes of the numbers: polyculture audit {shlex.quote(str(workspace.file))}"
    )
    with open_store(workspace.run, store_layout()) as store:
        for line in error_sources(store).sentences(str):
            say(line)


def _estimate(
    spec: ModelSpec,
    catalog: Catalog,
    texts: Sequence[GoldText],
    instruction: str | None,
    max_tokens: int = MAX_TOKENS,
) -> StageEstimate:
    """What the model is about to be asked: each text once."""
    requests = [
        read_request(
            catalog.topic(one.topic), ResponseText(one.text_id, one.language, one.text), instruction, max_tokens
        )
        for one in texts
    ]
    return requests_estimate(str(GOLD_EXTRACTIONS.stage), spec, requests)


def _gold_folders(catalog: Catalog, *, needed: bool) -> list[Path]:
    """The folders of the packs' gold texts, or Polyculture's own folder if no pack has any.

    Raises `StoreError` if the packs' texts are `needed` and they have none.
    """
    folders = [pack.folder / OF_PACK for pack in catalog.packs if (pack.folder / OF_PACK).is_dir()]
    if needed and catalog.packs and not folders:
        remedy = f"Write {OF_PACK}/LANGUAGE.jsonl, as docs/extending.md shows, or leave --catalog out."
        raise StoreError(f"has no {OF_PACK}/", where=catalog.packs[0].folder, remedy=remedy)
    return folders or [GOLD]


def _gazetteer(catalog: Catalog, snapshot: str) -> Callable[[str, str], Extractor]:
    index = find_snapshot(snapshot, Path.cwd())
    countries = country_names_in_texts(catalog, catalog.languages)

    def extractor(language: str, topic: str) -> Extractor:
        names = lexicon(index, catalog, topic, language)
        return Gazetteer(names, catalog.topic(topic), language, index.identity, countries, catalog.endings)

    return extractor


def _model(
    catalog: Catalog, spec: ModelSpec, instruction: str | None, stack: ExitStack
) -> Callable[[str, str], Extractor]:
    engine = stack.enter_context(load_model(spec, SAMPLING))

    @lru_cache
    def extractor(topic: str) -> Extractor:
        return LlmExtractor(engine, spec.model, catalog.topic(topic), instruction=instruction, endings=catalog.endings)

    return lambda _language, topic: extractor(topic)


def _write(result: ExtractionAudit, format: Format, output: Path | None) -> None:
    if format is Format.TABLE and output is None:
        rows = sorted(result.rows, key=lambda row: (SHOWN.index(row.by), row.value))
        print_table(COLUMNS, [_shown(row) for row in rows], title=f"{result.texts} texts")
        return
    write_records(list(result.as_json()["rows"]), format, output)


def _shown(row: ExtractionAuditRow) -> tuple[Any, ...]:
    scores = (
        (row.precision, row.precision_interval),
        (row.recall, row.recall_interval),
        (row.f1, row.f1_interval),
    )
    counts = (row.by, row.value, row.matching, row.texts, row.failed, row.gold, row.found)
    return (*counts, *(_with_interval(*score) for score in scores), row.hallucinated)


def _with_interval(value: float | None, interval: tuple[float, float] | None) -> str | None:
    if value is None or interval is None:
        return None
    return f"{value:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"
