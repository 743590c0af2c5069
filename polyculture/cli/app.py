"""The command line: one function per command, each in its own file in this folder."""

from __future__ import annotations

from typing import Annotated

import typer

from polyculture import __version__
from polyculture.cli.command_group import CommandGroup

app = typer.Typer(
    cls=CommandGroup,
    help="What does a language model know and say about the world's cultures, in every language?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: it starts in a fraction of the time
    epilog="Begin with: polyculture demo. Then: polyculture init, polyculture plan exp.toml, polyculture run exp.toml",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"polyculture {__version__}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What does a language model know and say about the world's cultures, in every language?"""
