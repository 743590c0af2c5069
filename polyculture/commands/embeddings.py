"""`polyculture embeddings`: how far apart a model holds the entities of two cultures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyculture.options import ExperimentFile, Runs

LAYERS = ("first", "middle", "last")


def embeddings(
    experiment: ExperimentFile,
    data: Annotated[str, typer.Option(help="camellia, camel, camel2, own, or a rules file.")] = "camellia",
    folder: Annotated[Path | None, typer.Option(help="Where the data set lies, if it was not fetched.")] = None,
    english: Annotated[bool, typer.Option("--english", help="The publisher's English translation.")] = False,
    model: Annotated[str | None, typer.Option(help="Only this model of the experiment.")] = None,
    language: Annotated[list[str] | None, typer.Option(help="Only these languages.")] = None,
    culture: Annotated[list[str] | None, typer.Option(help="Only these native cultures.")] = None,
    type: Annotated[list[str] | None, typer.Option(help="Only these types of entities.")] = None,
    layer: Annotated[
        list[str] | None, typer.Option(help="first, middle, last, or a number. Default: these three.")
    ] = None,
    contexts: Annotated[int, typer.Option(min=1, help="In how many neutral contexts an entity stands.")] = 3,
    entities: Annotated[int | None, typer.Option(min=1, help="At most so many of each culture and type.")] = None,
    plots: Annotated[Path | None, typer.Option(help="Write the maps as SVG files into this folder.")] = None,
    runs: Runs = None,
) -> None:
    """Measure how far apart a model holds native and Western entities: Davies-Bouldin index, and a map by t-SNE.

    Hidden states of an entity's tokens in neutral contexts, averaged. What is represented already stays.
    """
    from metrics.datasets.selection import Selection
    from metrics.likelihood.measure import NEUTRAL
    from metrics.likelihood.selection import scoring_jobs
    from polyculture.data_sets import open_data_set, tell_left_out
    from polyculture.embeddings import print_separations, represent, write_maps
    from polyculture.likelihood import Likelihoods
    from polyculture.workspace import choose_models, open_workspace

    workspace = open_workspace(experiment, runs)
    dataset = open_data_set(data, folder, english=english)
    tell_left_out(dataset, data)
    wanted = tuple(language or ()), tuple(culture or ()), tuple(type or ())
    selection = Selection(*wanted, (NEUTRAL,), "causal", contexts, entities)
    jobs = [job for name in choose_models(workspace, model) for job in scoring_jobs(dataset, name, selection)]
    likelihoods = Likelihoods(workspace)
    likelihoods.prepare()
    represent(likelihoods, jobs, tuple(layer or LAYERS))
    print_separations(workspace)
    if plots is not None:
        write_maps(workspace, plots)
    likelihoods.finish()
