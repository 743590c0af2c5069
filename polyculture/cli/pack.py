"""`polyculture pack`: languages and topics of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperCommand

from polyculture.cache.catalog import Catalog, Language, read_catalog
from polyculture.cache.catalog.pack import REVIEWS
from polyculture.cache.catalog.read import own_files
from polyculture.cli.options import engine_options, many_values
from polyculture.cli.pack_new import write_files
from polyculture.cli.pack_show import data_lines, shown_prompts, translation_request, worded_topics
from polyculture.console import say
from polyculture.experiment.snapshots import find_snapshot
from polyculture.generate.engines import SAMPLING, ModelSpec

if TYPE_CHECKING:
    from polyculture.cli.pack_gaps import Gap
    from polyculture.cli.pack_show import ShownPrompt

app = typer.Typer(
    no_args_is_help=True,
    help="Begin a language or a topic of your own; print what it asks, what data say of it and what it lacks.",
    epilog="polyculture pack new ca --topic festival; polyculture pack check ca.toml festival.toml",
)


@app.command(cls=many_values(TyperCommand, "--topic"), epilog="polyculture pack new ca --topic festival")
def new(
    language: Annotated[str, typer.Argument(metavar="LANGUAGE", help="Its BCP-47 code.")],
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="Where the files are written. Default: here.", show_default=False)
    ] = Path(),
    topic: Annotated[list[str] | None, typer.Option(help="A topic of your own, by a new code.")] = None,
) -> None:
    """Write a file with the sentences that a speaker must write, each below its English, and with what data say."""
    for file in write_files(folder, language, topic or ()):
        say(f'Wrote {file}. Write what is "" in it; then: polyculture pack check {file}')


@app.command(epilog="polyculture pack check ca.toml --with openai:gpt-6-luna")
def check(
    packs: Annotated[
        list[Path], typer.Argument(metavar="PACK...", help="A file or folder, or several to use together.")
    ],
    topic: Annotated[
        str | None, typer.Option(help="The topic whose prompts are printed. Default: the first one.")
    ] = None,
    snapshot: Annotated[str, typer.Option(help="The snapshot that links: a file, or starter.")] = "starter",
    model: Annotated[
        str | None, typer.Option("--with", help="Have a model translate the prompts back into English: engine:name.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="An option of the model's engine; may be repeated.")
    ] = None,
) -> None:
    """Print what its prompts ask, what data say of its languages, and what it lacks.

    The exit code is 1 while a plan would refuse it.
    """
    from polyculture.cli.pack_gaps import find_gaps, in_groups, refused_topics

    gaps = find_gaps(packs)
    if not [gap for gap in gaps if gap.needed]:
        catalog, index = read_catalog(*packs), find_snapshot(snapshot, Path.cwd())
        gaps = [*refused_topics(packs, catalog, index), *gaps]

        for language in _languages(packs, catalog):
            topics = worded_topics(catalog, language)
            named = topic or next(iter([*_topics(packs), *(one.code for one in topics)]))
            shown = shown_prompts(catalog, language, catalog.topic(named))
            typer.echo(f"{language.name}, {named}:")
            _print_prompts(shown, _translated(shown, language, model, option or ()) if model else [])
            for line in data_lines(catalog, language, index, snapshot):
                typer.echo(f"- {line}")
            typer.echo(f"- {_judged(packs, language.code)}")
    needed = [gap for gap in gaps if gap.needed]
    _print(in_groups(needed))
    further = [gap for gap in gaps if not gap.needed]
    if further:
        typer.echo("An experiment can be planned without these:")
        _print(in_groups(further))
    where = ", ".join(map(str, packs))
    if needed:
        say(f"{where}: a plan refuses it, for {len(needed)} reason{'s' if needed[1:] else ''}")
        raise typer.Exit(1)
    say(f"{where}: a plan accepts it. Whether its sentences are right, only a reader can say")


def _languages(packs: Sequence[Path], catalog: Catalog) -> list[Language]:
    """The languages that packs bring; else those that their topics have a sentence in."""
    own = [file.stem for pack in packs for file in own_files(pack, "languages")]
    of_topics = [code for topic in _topics(packs) for code in catalog.topic(topic).sentences]
    return [catalog.language(code) for code in dict.fromkeys(own or of_topics)]


def _topics(packs: Sequence[Path]) -> list[str]:
    return [file.stem for pack in packs for file in own_files(pack, "topics")]


def _judged(packs: Sequence[Path], language: str) -> str:
    sheets = [file for pack in packs for file in sorted((pack / REVIEWS).glob(f"*.{language}.csv"))]
    if not sheets:
        return "review: no speaker has judged these sentences (polyculture prompts review)"
    return f"review: judged by {', '.join(file.name.split('.')[0] for file in sheets)}"


def _print_prompts(shown: Sequence[ShownPrompt], english: Sequence[str]) -> None:
    for number, one in enumerate(shown):
        typer.echo(f"  {one.about}")
        for line in one.text.splitlines():
            typer.echo(f"    {line}")
        for line in english[number].splitlines() if english else ():
            typer.echo(f"    = {line}")


def _translated(shown: Sequence[ShownPrompt], language: Language, model: str, options: Sequence[str]) -> list[str]:
    """What a model says that the prompts ask, in English."""
    from polyculture.running.estimate import requests_estimate
    from polyculture.running.models import load_model

    spec = ModelSpec(model, engine_options(options))
    requests = [translation_request(str(number), one.text, language) for number, one in enumerate(shown)]
    say(requests_estimate("translation back", spec, requests).line)
    with load_model(spec, SAMPLING) as engine:
        answers = {one.request_id: one.text or f"no translation: {one.error}" for one in engine.sample(requests)}
    return [answers[request.request_id] for request in requests]


def _print(gaps: Iterable[Gap]) -> None:
    for gap in gaps:
        typer.echo(str(gap))
