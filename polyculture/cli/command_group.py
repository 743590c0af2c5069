"""The group of all commands: a command is imported and built when it is called, since commands must start fast."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from polyculture.instruments import INSTRUMENTS

# Command -> its example, for the end of its help; in the order of the list. Groups of commands have theirs inside.
OWN: Mapping[str, str] = {
    "demo": "polyculture demo --folder demo",
    "init": "polyculture init exp.toml",
    "plan": "polyculture plan exp.toml --calibrate",
    "run": "polyculture run exp.toml --job 3/16; polyculture run exp.toml --ray",
    "generate": "polyculture generate exp.toml --language ja",
    "measure": "polyculture measure exp.toml; polyculture measure exp.toml --selection right_language",
    "compare": (
        "polyculture compare exp.toml openai:gpt-4o openai:gpt-4o-mini --by language; "
        "polyculture compare exp.toml explicit neutral --selection right_language"
    ),
    "claims": "polyculture claims exp.toml --claims mine.toml --format csv",
    "fine-tune": (
        "polyculture fine-tune sentiment hard.tsv --base aubmindlab/bert-base-arabertv02 -o models/hard --rows 30000"
    ),
    "report": "polyculture report exp.toml --format latex --figures figures",
    "view": "polyculture view exp.toml --port 8765",
    "import": "polyculture import answers.jsonl --as exp.toml --text answer --language lang --topic =food",
    "jobs": "polyculture jobs exp.toml --left | parallel --jobs 4",
    "status": "polyculture status exp.toml --live",
    "sql": 'polyculture sql exp.toml "select * from granularity" --format csv',
    "texts": "polyculture texts exp.toml; polyculture texts exp.toml --format csv -o texts.csv",
    "export": "polyculture export exp.toml --to food-in-13-languages; polyculture export exp.toml --to run.duckdb",
    "leaderboard": "polyculture leaderboard exp.toml --language ja",
    "table": (
        "polyculture table headline exp.toml; polyculture table bias exp.toml language=ja --format csv -o bias.csv"
    ),
    "prompts": "",
    "extract": "",
    "link": "",
    "audit": "",
    "wikidata": "",
    "mine": "",
    "data": "",
}
_MODULES = {"import": "import_texts"}  # where a command's name is none of a module
_LINES = {command: line for entry in INSTRUMENTS for command, line in entry.commands.items()}


class CommandGroup(TyperGroup):
    """The commands of this folder, then those of the instruments."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return [*OWN, *_LINES]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command. In the overview an instrument's command has only its line: nothing is imported."""
        if cmd_name in OWN:  # an instrument never takes the name of a command
            return _own(cmd_name)
        if cmd_name not in _LINES:
            return None
        if ctx.resilient_parsing or ctx.meta.get(_LISTING):
            return _listed(cmd_name)
        return _of_instrument(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        ctx.meta[_LISTING] = True
        super().format_commands(ctx, formatter)


_LISTING = f"{__name__}.listing"


def _own(name: str) -> Any:
    """A command of this folder: the group `app` of its module, or else the function of its name."""
    place = _MODULES.get(name, name.replace("-", "_"))
    module = import_module(f"polyculture.cli.{place}")
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    if hasattr(module, "app"):
        app.add_typer(module.app, name=name)
        return get_group(app).commands[name]
    function = getattr(module, "import_" if name == "import" else place)
    app.command(name, cls=getattr(module, "COMMAND", None), epilog=OWN[name])(function)
    return get_command(app)


def _listed(name: str) -> Any:
    app = typer.Typer(add_completion=False)

    @app.command(name, help=_LINES[name])
    def line() -> None:
        """Stands in the list of commands."""

    return get_command(app)


def _of_instrument(name: str) -> Any:
    from polyculture.cli.instrument_command import instrument_command, many_values

    entry = next(entry for entry in INSTRUMENTS if name in entry.commands)
    command = entry.load().commands[name]
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name, cls=many_values(command), epilog=command.example)(instrument_command(name, command))
    return get_command(app)
