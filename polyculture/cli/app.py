"""The command line. A command is imported and built when it is called, since commands must start fast.

A command is a module of this folder: the group `app` in it, or the function of its name (`COMMAND` is its class, where
it has one of its own). Those of instruments are built from their options.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from polyculture import __version__
from polyculture.cli.options import STAGE, StageGroup, as_stage
from polyculture.instruments import INSTRUMENTS

# The list of commands, by panel: the line there, which begins the command's own help, and an example for the end of
# that. Groups have their examples inside, instruments theirs in their declarations.
PANELS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Begin": {
        "demo": ("Compare two small models, from prompts to the report.", "polyculture demo --folder demo"),
        "init": ("Write an experiment file for a model that is here.", "polyculture init exp.toml"),
        "plan": (
            "Check an experiment file, and print what it would ask.",
            "polyculture plan exp.toml --calibrate; polyculture plan exp.toml --jobs | parallel --jobs 4",
        ),
        "run": (
            "Do all that is left, or one stage or job of it; resumes.",
            "polyculture run exp.toml --job 3/16; polyculture run exp.toml --only generate --language ja",
        ),
        "status": ("Print what is done, running, failed and left.", "polyculture status exp.toml --jobs"),
    },
    "Texts": {
        "import": (
            "Take texts that somebody else generated.",
            "polyculture import answers.jsonl text=answer language=lang topic==food --as exp.toml",
        ),
        "extract": ("Measure an extractor.", ""),
        "link": ("Show why names are linked; measure it; try a snapshot.", ""),
        "audit": (
            "Show what people judged of a sample of mentions and links.",
            "polyculture audit exp.toml --adjudicator cem",
        ),
        "prompts": ("Print what will be asked; let people review it.", ""),
    },
    "Numbers": {
        "compare": (
            "Compare models, languages, ..., or test stated claims.",
            "polyculture compare exp.toml openai:gpt-6-sol openai:gpt-6-luna --by language; "
            "polyculture compare exp.toml --claims mine.toml",
        ),
        "leaderboard": (
            "Rank the models of several runs and exports of one study.",
            "polyculture leaderboard runs/mine export-of-another -o leaderboard.html",
        ),
        "table": (
            "Show a table of a run, or write it with all columns.",
            "polyculture table headline exp.toml; polyculture table leaderboard exp.toml metric=specificity; "
            "polyculture table bias exp.toml language=ja --format csv -o bias.csv",
        ),
        "sql": (
            "Query the store in SQL, read-only.",
            'polyculture sql exp.toml "select * from granularity" --format csv',
        ),
        "report": (
            "Write report.html from what is in the store.",
            "polyculture report exp.toml --format latex --figures figures",
        ),
        "view": ("Serve pages on this machine to browse the store.", "polyculture view exp.toml --port 8765"),
        "export": (
            "Write a run to one portable folder or file.",
            "polyculture export exp.toml --to food-in-13-languages --licence CC-BY-4.0",
        ),
    },
    "Instruments": {},
    "Data": {
        "wikidata": ("Build, pull or inspect a snapshot of Wikidata.", ""),
        "data": ("List, fetch and check data sets.", ""),
        "pack": ("Begin a culture pack; list what it lacks.", ""),
    },
}
_OWN = {name: texts for panel in PANELS.values() for name, texts in panel.items()}
_MODULES = {"import": "import_texts"}  # where a command's name is none of a module
# Groups of instruments: the line of each in the list of commands, and the commands of this folder in it. Where an
# instrument has the group's name, an experiment file in place of a command is for it.
_GROUPS: Mapping[str, tuple[str, Mapping[str, tuple[str, str]]]] = {
    "corpus": (
        "The same scores of a text corpus; mine one for entities.",
        {"mine": ("Count the n-grams in the slots of patterns, and judge them.", "")},
    ),
    "swap": ("Answers about texts with their entities swapped.", {}),
    "probe": ("What layers, embeddings and vocabularies hold.", {}),
}
_PLAIN: Mapping[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,  # plain help: it starts in a fraction of the time
}


class CommandGroup(TyperGroup):
    """All commands. For the list of them nothing is imported."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return [name for panel in _panels().values() for name in panel]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.list_commands(ctx):
            return None
        if cmd_name in _GROUPS:
            return InstrumentGroup(
                name=cmd_name, help=_GROUPS[cmd_name][0], no_args_is_help=True, rich_markup_mode=None
            )
        return _own(cmd_name, _OWN[cmd_name][1]) if cmd_name in _OWN else _of_instrument(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        for panel, lines in _panels().items():
            with formatter.section(panel):
                formatter.write_dl(list(lines.items()))


class InstrumentGroup(StageGroup):
    """Commands of instruments in a group of their own, and those of this folder beside them."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return [name for name in _members(self.name or "") if name != self.name]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name == STAGE and self.name in _members(self.name or ""):
            return as_stage(_of_instrument(self.name or ""))
        if cmd_name not in self.list_commands(ctx):
            return None
        own = _GROUPS[self.name or ""][1]
        return _own(cmd_name, own[cmd_name][1]) if cmd_name in own else _of_instrument(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([one for one in _members(self.name or "").items() if one[0] != self.name])


def _panels() -> Mapping[str, Mapping[str, str]]:
    """The line of each command, by panel."""
    panels = {panel: {name: line for name, (line, _) in own.items()} for panel, own in PANELS.items()}
    for entry in INSTRUMENTS:
        group = {entry.group: _GROUPS[entry.group][0]} if entry.group else entry.lines
        panels["Instruments"] |= group
    return panels


def _members(group: str) -> Mapping[str, str]:
    """The line of each command of a group, the one of the group's name included."""
    of_instruments = {name: line for one in INSTRUMENTS if one.group == group for name, line in one.lines.items()}
    return of_instruments | {name: line for name, (line, _) in _GROUPS[group][1].items()}


def _own(name: str, example: str) -> Any:
    place = _MODULES.get(name, name.replace("-", "_"))
    module = import_module(f"polyculture.cli.{place}")
    app = typer.Typer(**_PLAIN)
    if hasattr(module, "app"):
        app.add_typer(module.app, name=name)
        return get_group(app).commands[name]
    function = getattr(module, "import_" if name == "import" else place)
    app.command(name, cls=getattr(module, "COMMAND", None), epilog=example)(function)
    return get_command(app)


def _of_instrument(name: str) -> Any:
    from polyculture.cli.instrument_command import instrument_command
    from polyculture.cli.option_flags import command_class

    entry = next(entry for entry in INSTRUMENTS if name in entry.lines)
    command = entry.commands[name]
    app = typer.Typer(**_PLAIN)
    app.command(name, cls=command_class(command), epilog=command.example)(instrument_command(name, command))
    return get_command(app)


app = typer.Typer(
    cls=CommandGroup,
    help="What does a language model know and say about the world's cultures, in every language?",
    no_args_is_help=True,
    epilog="Begin with: polyculture demo. Then: polyculture init, polyculture plan exp.toml, polyculture run exp.toml",
    **_PLAIN,
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
