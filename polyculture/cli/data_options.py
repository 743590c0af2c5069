"""Options that commands over data sets of contexts and entities share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

OptionalExperiment = Annotated[
    Path | None, typer.Argument(metavar="EXPERIMENT", help="The experiment file; its models are asked.")
]
Data = Annotated[str, typer.Option(help="camellia, camel, camel2, own, own:NAME, or a rules file.")]
Folder = Annotated[Path | None, typer.Option(help="Where the data set lies, if it was not fetched.")]
English = Annotated[bool, typer.Option("--english", help="The publisher's English translation.")]
Model = Annotated[str | None, typer.Option(help="Only this model of the experiment.")]
Languages = Annotated[list[str] | None, typer.Option(help="Only these languages.")]
Cultures = Annotated[list[str] | None, typer.Option(help="Only these native cultures.")]
Types = Annotated[list[str] | None, typer.Option(help="Only these types of entities.")]
Settings = Annotated[list[str] | None, typer.Option(help="Only these settings. Default: all but qa.")]
_NOT_BESIDE_DEMO = {"experiment": "EXPERIMENT", "data": "--data", "folder": "--folder", "english": "--english"}
Contexts = Annotated[int | None, typer.Option(min=1, help="At most so many of each type and setting.")]
Entities = Annotated[int | None, typer.Option(min=1, help="At most so many of each culture and type.")]


def require_experiment(experiment: Path | None) -> Path:
    """The experiment file; a mistake of usage where none is named."""
    if experiment is None:
        raise typer.BadParameter("name an experiment file, or try --demo")
    return experiment


def given(context: typer.Context, option: str) -> bool:
    """Does the command line itself say this option?"""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def demo_experiment(source: Path, folder: Path, context: typer.Context) -> Path:
    """A demo's experiment file, copied from among its data into `folder`.

    A mistake of usage where the command line names another experiment or other texts beside --demo.
    """
    import shutil

    for option, spelt in _NOT_BESIDE_DEMO.items():
        if given(context, option):
            raise typer.BadParameter(f"--demo has models and texts of its own: leave out {spelt}, or --demo")

    from polyculture.cache.files import store_faults

    file = folder / source.name
    with store_faults(file):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, file)
    return file
