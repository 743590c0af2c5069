"""`polyculture embeddings`: how far apart a model holds the entities of two cultures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyculture.cli.data_options import Cultures, Data, English, Entities, Folder, Languages, Model, Types
from polyculture.cli.options import ExperimentFile, Runs

LAYERS = ("first", "middle", "last")


def embeddings(
    experiment: ExperimentFile,
    data: Data = "camellia",
    folder: Folder = None,
    english: English = False,
    model: Model = None,
    language: Languages = None,
    culture: Cultures = None,
    type: Types = None,
    layer: Annotated[
        list[str] | None, typer.Option(help="first, middle, last, or a number. Default: these three.")
    ] = None,
    contexts: Annotated[int, typer.Option(min=1, help="In how many neutral contexts an entity stands.")] = 3,
    entities: Entities = None,
    plots: Annotated[Path | None, typer.Option(help="Write the maps as SVG files into this folder.")] = None,
    runs: Runs = None,
) -> None:
    """Measure how far apart a model holds native and Western entities: Davies-Bouldin index, and a map by t-SNE.

    Hidden states of an entity's tokens in neutral contexts, averaged. What is represented already stays.
    """
    from polyculture.cache.manifest import setup_id
    from polyculture.cli.data_sets import open_data_set, tell_left_out
    from polyculture.experiment.workspace import choose_models, open_workspace
    from polyculture.instruments.cbs.measure import NEUTRAL
    from polyculture.instruments.cbs.selection import scoring_jobs
    from polyculture.instruments.datasets.selection import Selection
    from polyculture.running.cbs import Likelihoods
    from polyculture.running.embeddings import print_separations, represent, write_maps
    from polyculture.running.validity import make_present, setups_of

    workspace = open_workspace(experiment, runs)
    dataset = open_data_set(data, folder, english=english)
    tell_left_out(dataset, data)
    wanted = tuple(language or ()), tuple(culture or ()), tuple(type or ())
    selection = Selection(*wanted, (NEUTRAL,), "causal", contexts, entities)
    setups = setups_of(workspace, choose_models(workspace, model), "represent")
    jobs = [
        job
        for name, setup in setups.items()
        for job in scoring_jobs(dataset, name, selection, setup_id=setup_id(setup))
    ]
    make_present(workspace, "represent", setups, dataset)
    likelihoods = Likelihoods(workspace=workspace)
    represent(likelihoods, jobs, tuple(layer or LAYERS))
    print_separations(workspace)
    if plots is not None:
        write_maps(workspace, plots)
    likelihoods.finish("the view representations")
