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
Contexts = Annotated[int | None, typer.Option(min=1, help="At most so many of each type and setting.")]
Entities = Annotated[int | None, typer.Option(min=1, help="At most so many of each culture and type.")]


def require_experiment(experiment: Path | None) -> Path:
    """The experiment file; a mistake of usage where none is named."""
    if experiment is None:
        raise typer.BadParameter("name an experiment file, or try --demo")
    return experiment


def demo_experiment(source: Path, folder: Path) -> Path:
    """A demo's experiment file, copied from among its data into `folder`."""
    import shutil

    from cache.files import store_faults

    file = folder / source.name
    with store_faults(file):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, file)
    return file
