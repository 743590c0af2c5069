"""`polyculture extract audit`: the accuracy of an extractor."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.catalog.pack import GOLD as OF_PACK
from polyculture.cache.errors import ExperimentError, StoreError
from polyculture.cli.options import Format, OutputFile, OutputFormat
from polyculture.cli.tables import print_table, write_records
from polyculture.console import say
from polyculture.experiment.checks import check_extractor
from polyculture.experiment.sections import GAZETTEER
from polyculture.experiment.snapshots import find_snapshot
from polyculture.extract.base import ResponseText
from polyculture.extract.gazetteer import Gazetteer
from polyculture.extract.gold import GOLD, GoldText, read_gold
from polyculture.extract.llm import LlmExtractor, read_prompt, read_request
from polyculture.generate.engines import SAMPLING, ModelSpec
from polyculture.link.index.lexicon import lexicon
from polyculture.progress import watch
from polyculture.running.estimate import StageEstimate, requests_estimate
from polyculture.running.models import load_model

if TYPE_CHECKING:
    from polyculture.extract.audit import ExtractionAudit, ExtractionAuditRow
    from polyculture.extract.base import Extractor


SHOWN = ("all", "language", "topic", "trap", "kind")
COLUMNS = ("by", "value", "matching", "texts", "failed", "gold", "found", "precision", "recall", "F1", "hallucinated")

app = typer.Typer(
    no_args_is_help=True,
    help="Measure an extractor. To find the mentions of a run: `polyculture run EXPERIMENT --only extract`.",
    epilog="polyculture extract audit --with gazetteer",
)


@app.command(epilog="polyculture extract audit --with llamacpp:FILE.gguf --option context=4096 --language ja")
def audit(
    extractor: Annotated[str, typer.Option("--with", help="gazetteer, or a model: engine:name.")] = "gazetteer",
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
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Measure an extractor on the gold set.

    Precision, recall and F1 with 95 % intervals, by language, topic, trap and kind.
    """
    from polyculture.extract.audit import audit

    spec = ModelSpec(extractor, _read_options(option or ()))
    check_extractor(spec)
    known = read_catalog(*catalog or ())
    instruction = read_prompt(prompt) if prompt else None
    gold_texts = read_gold(known, _gold_folders(known), tuple(language or ()))
    if extractor != GAZETTEER:
        say(_estimate(spec, known, gold_texts, instruction).line)
    with ExitStack() as stack:
        opened = _gazetteer(known, snapshot) if extractor == GAZETTEER else _model(known, spec, instruction, stack)
        progress = stack.enter_context(watch(f"audit {extractor}", len(gold_texts)))
        result = audit(opened, gold_texts, known, progress)
    _write(result, format, output)
    for text_id, reason in result.failures.items():
        say(f"failed: {text_id}: {reason}")


def _estimate(spec: ModelSpec, catalog: Catalog, texts: Sequence[GoldText], instruction: str | None) -> StageEstimate:
    """What the model is about to be asked: each text once."""
    requests = [
        read_request(catalog.topic(one.topic), ResponseText(one.text_id, one.language, one.text), instruction)
        for one in texts
    ]
    return requests_estimate("extract audit", spec, requests)


def _gold_folders(catalog: Catalog) -> list[Path]:
    """The gold texts of the packs; ours where none is named. Raises `StoreError` where the packs have none."""
    folders = [pack.folder / OF_PACK for pack in catalog.packs if (pack.folder / OF_PACK).is_dir()]
    if catalog.packs and not folders:
        remedy = f"Write {OF_PACK}/LANGUAGE.jsonl, as docs/extending.md shows, or leave --catalog out."
        raise StoreError(f"has no {OF_PACK}/", where=catalog.packs[0].folder, remedy=remedy)
    return folders or [GOLD]


def _gazetteer(catalog: Catalog, snapshot: str) -> Callable[[str, str], Extractor]:
    index = find_snapshot(snapshot, Path.cwd())

    def extractor(language: str, topic: str) -> Extractor:
        names = lexicon(index, catalog, topic, language)
        return Gazetteer(names, catalog.topic(topic), language, index.identity, catalog.endings)

    return extractor


def _model(
    catalog: Catalog, spec: ModelSpec, instruction: str | None, stack: ExitStack
) -> Callable[[str, str], Extractor]:
    engine = stack.enter_context(load_model(spec, SAMPLING))

    @lru_cache
    def extractor(topic: str) -> Extractor:
        return LlmExtractor(engine, spec.model, catalog.topic(topic), instruction=instruction, endings=catalog.endings)

    return lambda _language, topic: extractor(topic)


def _read_options(options: Sequence[str]) -> dict[str, Any]:
    """Parses `context=4096` as a TOML value; anything else is a string."""
    read: dict[str, Any] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise ExperimentError(f"--option {option!r} is not KEY=VALUE", remedy="Write, for example, context=4096.")
        try:
            read[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            read[name] = value
    return read


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
