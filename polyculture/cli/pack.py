"""`polyculture pack`: a language with its countries, topics and texts as one versioned folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperCommand

from polyculture.cli.options import UsageError, many_values
from polyculture.console import say

app = typer.Typer(
    no_args_is_help=True,
    help="Begin a culture pack (a language, its countries, topics and wordings); list what it lacks.",
    epilog="polyculture pack new sw mine --countries KE TZ --topic festival; polyculture pack check mine",
)


@app.command(
    cls=many_values(TyperCommand, "--countries", "--topic"),
    epilog="polyculture pack new sw mine --countries KE TZ --topic festival",
)
def new(
    language: Annotated[str, typer.Argument(metavar="LANGUAGE", help="Its BCP-47 code.")],
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="Where it is written. Default: the language's code.")
    ] = None,
    countries: Annotated[
        list[str] | None,
        typer.Option(help="Whose language it is, by ISO 3166; the first one's people are in implicit prompts."),
    ] = None,
    topic: Annotated[list[str] | None, typer.Option(help="A topic of your own, by a new code.")] = None,
) -> None:
    """Write what CLDR knows of a language and its countries, and list what a speaker must write."""
    from polyculture.cli.pack_gaps import find_gaps, in_groups
    from polyculture.cli.pack_new import known_language, write_pack

    if not countries:
        raise UsageError("give the countries whose language it is: --countries KE TZ")
    place = folder or Path(language)
    write_pack(place, language, countries, topic or ())
    needed = [gap for gap in find_gaps([place]) if gap.needed]
    _print(in_groups(needed))
    if not known_language(language).name:
        say(f"CLDR has no language {language!r}: unless it is yours, correct the code and begin anew.")
    say(f"Wrote {place}: {len(needed)} places are left to write. See which: polyculture pack check {place}")


@app.command(epilog="polyculture pack check mine")
def check(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="The pack, or several to use together.")],
) -> None:
    """List every gap with its file, key and remedy; exit code 1 while one hinders an experiment."""
    from polyculture.cli.pack_gaps import find_gaps, in_groups

    gaps = find_gaps(folders)
    needed = [gap for gap in gaps if gap.needed]
    _print(in_groups(needed))
    further = [gap for gap in gaps if not gap.needed]
    if further:
        typer.echo("An experiment runs without these:")
        _print(in_groups(further))
    where = ", ".join(map(str, folders))
    say(f"{where}: {len(needed)} gaps hinder an experiment" if needed else f"{where}: nothing hinders an experiment")
    if needed:
        raise typer.Exit(1)


def _print(gaps: Iterable[object]) -> None:
    for gap in gaps:
        typer.echo(str(gap))
