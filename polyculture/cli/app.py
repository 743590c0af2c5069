"""The command line. A command is imported and built when it is called, since commands must start fast.

A command is a module of this folder: the group `app` in it, or the function of its name (`COMMAND` is its class, where
it has one of its own). Those of instruments follow, each built from its options.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from polyculture import __version__
from polyculture.instruments import INSTRUMENTS

# In the order of the list of commands: the line there, which begins the command's own help, and an example for the end
# of that. Groups have their examples inside.
OWN: Mapping[str, tuple[str, str]] = {
    "demo": ("Run the whole pipeline on a small bundled model.", "polyculture demo --folder demo"),
    "init": ("Write a commented experiment file.", "polyculture init exp.toml"),
    "plan": ("Check an experiment file, and print what it would ask.", "polyculture plan exp.toml --calibrate"),
    "run": (
        "Do all that is left: generate, extract, link, measure, report.",
        "polyculture run exp.toml --job 3/16; polyculture run exp.toml --ray",
    ),
    "generate": ("Sample the missing responses.", "polyculture generate exp.toml --language ja"),
    "measure": (
        "Compute the four metrics and their intervals from the store.",
        "polyculture measure exp.toml; polyculture measure exp.toml --selection right_language",
    ),
    "compare": (
        "Compare models, languages, conditions, countries, wordings, runs or snapshots: each pair of those named.",
        "polyculture compare exp.toml openai:gpt-4o openai:gpt-4o-mini --by language; "
        "polyculture compare exp.toml explicit neutral --selection right_language",
    ),
    "claims": (
        "Test stated hypotheses on a run: each holds, fails, or is undecided.",
        "polyculture claims exp.toml --claims mine.toml --format csv",
    ),
    "fine-tune": (
        "Fine-tune a sentiment classifier or a tagger of names, once per seed.",
        "polyculture fine-tune sentiment hard.tsv --base aubmindlab/bert-base-arabertv02 -o models/hard --rows 30000",
    ),
    "report": (
        "Write report.html from what is in the store.",
        "polyculture report exp.toml --format latex --figures figures",
    ),
    "view": (
        "Serve pages on this machine to browse the store: search, read responses, compare runs, query in SQL.",
        "polyculture view exp.toml --port 8765",
    ),
    "import": (
        "Take texts that somebody else generated, to extract, link, measure and report them without a model.",
        "polyculture import answers.jsonl --as exp.toml --text answer --language lang --topic =food",
    ),
    "jobs": (
        "Print one command per job (model, language, topic), for a job array.",
        "polyculture jobs exp.toml --left | parallel --jobs 4",
    ),
    "status": (
        "Print what is done, running, failed and left, per stage and job.",
        "polyculture status exp.toml --live",
    ),
    "sql": ("Query the store in SQL, read-only.", 'polyculture sql exp.toml "select * from granularity" --format csv'),
    "texts": (
        "Show which share of the texts is of each region, of several (mixed) or of none (neutral).",
        "polyculture texts exp.toml; polyculture texts exp.toml --format csv -o texts.csv",
    ),
    "export": (
        "Write all tables of a run that have rows to one portable folder or file, with a data card.",
        "polyculture export exp.toml --to food-in-13-languages; polyculture export exp.toml --to run.duckdb",
    ),
    "leaderboard": (
        "Rank an experiment's models by task and language, as far as paired differences tell them apart.",
        "polyculture leaderboard exp.toml --language ja",
    ),
    "table": (
        "Show a table of a run, or write it as a file with all columns.",
        "polyculture table headline exp.toml; polyculture table bias exp.toml language=ja --format csv -o bias.csv",
    ),
    "prompts": ("Print what will be asked: `polyculture prompts EXPERIMENT`.", ""),
    "extract": ("Find the mentions: `polyculture extract EXPERIMENT`.", ""),
    "link": ("Link the mentions to Wikidata entities: `polyculture link EXPERIMENT`.", ""),
    "audit": (
        "Let people judge a sample of mentions and links: export a sheet, import or remove it, show the results.",
        "",
    ),
    "wikidata": ("Build, pull, fill or inspect a local snapshot of Wikidata.", ""),
    "mine": (
        "Count the n-grams in the slots of patterns: `polyculture mine --patterns FILE --corpus FILE...`.",
        "",
    ),
    "data": (
        "Data sets: list and fetch them; check and show contexts and entities for `cbs`, `sentiment`, `qa` and `ner`.",
        "",
    ),
}
_MODULES = {"import": "import_texts"}  # where a command's name is none of a module
_LINES = {name: line for name, (line, _) in OWN.items()}
_LINES |= {command: line for entry in INSTRUMENTS for command, line in entry.commands.items()}
_PLAIN: Mapping[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,  # plain help: it starts in a fraction of the time
}


class CommandGroup(TyperGroup):
    """The commands of this folder, then those of the instruments. For the list of them nothing is imported."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(_LINES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in _LINES:
            return None
        if ctx.resilient_parsing or ctx.meta.get(_LISTING):
            return _listed(cmd_name)
        return _own(cmd_name) if cmd_name in OWN else _of_instrument(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        ctx.meta[_LISTING] = True
        super().format_commands(ctx, formatter)


_LISTING = f"{__name__}.listing"


def _own(name: str) -> Any:
    place = _MODULES.get(name, name.replace("-", "_"))
    module = import_module(f"polyculture.cli.{place}")
    app = typer.Typer(**_PLAIN)
    if hasattr(module, "app"):
        app.add_typer(module.app, name=name)
        return get_group(app).commands[name]
    function = getattr(module, "import_" if name == "import" else place)
    app.command(name, cls=getattr(module, "COMMAND", None), epilog=OWN[name][1])(function)
    return get_command(app)


def _of_instrument(name: str) -> Any:
    from polyculture.cli.instrument_command import instrument_command, many_values

    entry = next(entry for entry in INSTRUMENTS if name in entry.commands)
    command = entry.load().commands[name]
    app = typer.Typer(**_PLAIN)
    app.command(name, cls=many_values(command), epilog=command.example)(instrument_command(name, command))
    return get_command(app)


def _listed(name: str) -> Any:
    app = typer.Typer(add_completion=False)

    @app.command(name, help=_LINES[name])
    def line() -> None:
        """Stands in the list of commands."""

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
