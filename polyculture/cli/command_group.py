"""The group of all commands. Instrument commands come from the instruments' list, and are built when called."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from polyculture.instruments import INSTRUMENTS

_LINES = {command: line for entry in INSTRUMENTS for command, line in entry.commands.items()}


class CommandGroup(TyperGroup):
    """The built-in commands, then the instruments' commands."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(dict.fromkeys((*super().list_commands(ctx), *_LINES)))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command. In the overview an instrument's command has only its line: nothing is imported."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in _LINES:  # an instrument never takes the name of a command
            return own
        if ctx.resilient_parsing or ctx.meta.get(_LISTING):
            return _listed(cmd_name)
        return _made(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        ctx.meta[_LISTING] = True
        super().format_commands(ctx, formatter)


_LISTING = f"{__name__}.listing"


def _listed(name: str) -> Any:
    app = typer.Typer(add_completion=False)

    @app.command(name, help=_LINES[name])
    def line() -> None:
        """Stands in the list of commands."""

    return get_command(app)


def _made(name: str) -> Any:
    from polyculture.cli.instrument_command import instrument_command, many_values

    entry = next(entry for entry in INSTRUMENTS if name in entry.commands)
    command = entry.load().commands[name]
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name, cls=many_values(command), epilog=command.example)(instrument_command(name, command))
    return get_command(app)
