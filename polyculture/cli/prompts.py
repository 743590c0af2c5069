"""`polyculture prompts`: what will be asked, in full; and the review of prompts by speakers of their languages."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from polyculture.cache.text.sanitize import escape_control_chars
from polyculture.cli import prompt_review
from polyculture.cli.options import STAGE, ExperimentFile, Format, OutputFile, OutputFormat, Runs, StageGroup
from polyculture.cli.tables import print_table, write_values
from polyculture.console import say
from polyculture.experiment.sections import PUBLISHED
from polyculture.experiment.sent import PromptFilter, SentPrompt, sent_prompts
from polyculture.experiment.workspace import Workspace
from polyculture.extract.base import ResponseText
from polyculture.extract.llm import TEMPERATURES, read_request
from polyculture.running.opening import open_workspace
from polyculture.running.texts import TextsCall

RESPONSE = "(the text of the response)"

app = typer.Typer(
    cls=StageGroup,
    no_args_is_help=True,
    help="Print what will be asked: `polyculture prompts EXPERIMENT`. Or let people review it: `prompts review`.",
    epilog="polyculture prompts exp.toml --language ja --topic food; polyculture prompts exp.toml --extractor",
)
app.add_typer(prompt_review.app, name="review")


@app.command(
    STAGE,
    hidden=True,
    epilog="polyculture prompts exp.toml --language ja --condition explicit; "
    "polyculture prompts exp.toml --format csv -o prompts.csv",
)
def prompts(
    experiment: ExperimentFile,
    runs: Runs = None,
    model: Annotated[list[str] | None, typer.Option(help="Only as this model is asked; may be repeated.")] = None,
    language: Annotated[list[str] | None, typer.Option(help="Only this language; may be repeated.")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="Only this topic; may be repeated.")] = None,
    condition: Annotated[list[str] | None, typer.Option(help="Only this condition; may be repeated.")] = None,
    wording: Annotated[list[str] | None, typer.Option(help="Only this wording; may be repeated.")] = None,
    country: Annotated[list[str] | None, typer.Option(help="Only this country; may be repeated.")] = None,
    extractor: Annotated[
        bool, typer.Option("--extractor", help="Instead: the extractor's messages and its JSON schema, by topic.")
    ] = False,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Print every prompt as it is sent, with the names drawn, and how many there are. Nothing is asked or loaded.

    Where models are sent different texts (a system prompt, a sentence behind the prompt), each text names its models.
    """
    workspace = open_workspace(experiment, runs)
    asked = (model, language, topic, condition, wording, country)
    wanted = PromptFilter(*(tuple(values or ()) for values in asked))
    if extractor:
        print_extractor(workspace, wanted, format, output)
    else:
        print_prompts(workspace, wanted, format, output)


def print_prompts(workspace: Workspace, wanted: PromptFilter, format: Format, output: Path | None) -> None:
    """Each prompt as it is sent; as a table by language, topic and wording, with counts behind them."""
    sent = list(sent_prompts(workspace, wanted))
    if format is not Format.TABLE or output is not None:
        columns = [field.name for field in fields(SentPrompt)]
        rows = [[", ".join(one.models), *(getattr(one, name) for name in columns[1:])] for one in sent]
        write_values(columns, rows, format, output)
        return
    _print_lines(_prompt_lines(sent))
    _print_counts(sent)
    different, models = len({one.prompt_id for one in sent}), {model for one in sent for model in one.models}
    if workspace.experiment.imported:
        answered = {(model, one.prompt_id) for one in sent for model in one.models}
        texts = sum(one.n for one in workspace.imports.wanted if (one.model, one.prompt_id) in answered)
        say(f"{different:,} prompts, to which the imported files have {texts:,} texts of {len(models)} models")
        return
    samples = workspace.sampling.n
    total = different * samples * len(models)
    say(f"{different:,} prompts x {samples} samples x {len(models)} models = {total:,} responses")


def print_extractor(workspace: Workspace, wanted: PromptFilter, format: Format, output: Path | None) -> None:
    """What the extractor's model receives with each text, by topic; one line where there is no model."""
    model = workspace.experiment.extract.with_
    if not workspace.experiment.extract.by_model:
        told = {PUBLISHED: "The mentions are those that the imported texts came with: no model is asked"}
        say(
            told.get(model, "The extractor is the gazetteer: it looks for names of the snapshot, and no model is asked")
        )
        return
    wanted.check(workspace)
    stage, shown = TextsCall(workspace).extraction, ResponseText("", "", RESPONSE)
    requests = [
        (code, read_request(workspace.catalog.topic(code), shown, stage.instruction, stage.max_tokens))
        for code in workspace.experiment.topics
        if wanted.takes("topic", code)
    ]
    if format is not Format.TABLE or output is not None:
        rows = [
            (model, topic, json.dumps([asdict(turn) for turn in request.messages], ensure_ascii=False),
             json.dumps(request.decoding.schema), request.decoding.max_tokens, list(TEMPERATURES))
            for topic, request in requests
        ]  # fmt: skip
        write_values(("model", "topic", "messages", "schema", "max_tokens", "temperatures"), rows, format, output)
        return
    for topic, request in requests:
        decoding = request.decoding
        tries = ", then ".join(f"{temperature:g}" for temperature in TEMPERATURES)
        lines = [f"== {topic}: what {model} is sent with each text =="]
        lines += [f"[{turn.role}]\n{turn.content}" for turn in request.messages]
        lines += ["[schema]", json.dumps(decoding.schema, indent=2, ensure_ascii=False)]
        more = f"max_tokens {decoding.max_tokens}, twice as many after an answer that they cut"
        lines += [f"[decoding]\n{more}; temperature {tries} after an unusable answer", ""]
        _print_lines(lines)


def _prompt_lines(sent: Sequence[SentPrompt]) -> Iterator[str]:
    """The prompts under a heading per language, topic and wording, and what is sent besides, where it changes."""
    alike = len({(one.models, one.system) for one in sent}) == 1
    if sent and alike and sent[0].system is not None:
        yield f"[system]\n{sent[0].system}\n"
    for key, group in groupby(sent, lambda one: (one.language, one.topic, one.wording)):
        yield f"== {'  '.join(filter(None, key))} =="
        rows = list(group)
        receivers = list(dict.fromkeys((one.models, one.system) for one in rows))
        rows.sort(key=lambda one: receivers.index((one.models, one.system)))
        places = [" ".join(filter(None, (one.condition, one.country, one.name))) for one in rows]
        width = max(map(len, places))
        before: object = None
        for place, one in zip(places, rows, strict=True):
            if not alike and before != (one.models, one.system):
                before = one.models, one.system
                yield f"[to {', '.join(one.models)}]"
                yield from () if one.system is None else (f"[system] {one.system}",)
            first, *others = one.text.split("\n")
            yield f"{place:<{width}}  {first}"
            yield from (f"{'':<{width}}  {line}" for line in others)
        yield ""


def _print_counts(sent: Sequence[SentPrompt]) -> None:
    """How many prompts there are, by language, wording and condition."""
    prompts = {one.prompt_id: one for one in sent}.values()
    conditions = list(dict.fromkeys(one.condition for one in prompts))
    of_place = Counter((one.language, one.wording, one.condition) for one in prompts)
    of_all = Counter(one.condition for one in prompts)
    rows = []
    for language, wording in dict.fromkeys((one.language, one.wording) for one in prompts):
        counts = [of_place[language, wording, condition] for condition in conditions]
        rows.append((language, wording, *counts, sum(counts)))
    rows.append(("all", "", *(of_all[condition] for condition in conditions), len(prompts)))
    print_table(("language", "wording", *conditions, "prompts"), rows, title="How many there are")


def _print_lines(lines: Iterable[str]) -> None:
    sys.stdout.writelines(f"{escape_control_chars(line)}\n" for line in lines)
