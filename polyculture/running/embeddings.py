"""The stages of `polyculture embeddings` in order: represent, measure, draw. They are called here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import polyculture.instruments.embeddings
from polyculture.console import say
from polyculture.running.loading import load_model

if TYPE_CHECKING:
    from polyculture.experiment.workspace import Workspace
    from polyculture.instruments.cbs.stage import ScoringJob
    from polyculture.running.cbs import Likelihoods

TABLE = Path(polyculture.instruments.embeddings.__file__).with_name("table.sql")


def represent(likelihoods: Likelihoods, jobs: Sequence[ScoringJob], layers: tuple[str, ...]) -> None:
    """Represents what is missing; a model is loaded once, and only if it has something to do."""
    from polyculture.instruments.embeddings.stage import represent_job, settled

    run = likelihoods.workspace.run

    def is_done(job: ScoringJob) -> bool:
        return likelihoods.is_done(f"represent {job.job}", job.job, partial(settled, run, job, layers))

    for model, group in groupby(jobs, key=lambda job: job.job.model):
        left = [job for job in group if not is_done(job)]
        if not left:
            continue
        spec = likelihoods.workspace.experiment.model_spec(model)
        with load_model(spec) as engine:
            for job in left:
                size = len(job.asked[0][1])
                work = partial(represent_job, run, job, spec, engine, layers)
                likelihoods.do(f"represent {job.job}", job.job, size, work)


def print_separations(workspace: Workspace) -> None:
    """Computes the separations, and prints them."""
    from polyculture.cli.tables import print_query
    from polyculture.instruments.embeddings.measure import measure_separation

    measure_separation(workspace.run)
    print_query(workspace.run, TABLE, "Davies-Bouldin index: the lower, the further apart")


def write_maps(workspace: Workspace, folder: Path) -> None:
    """Writes an SVG file per map into a folder."""
    from polyculture.cache.files import replacing, store_faults
    from polyculture.reports.figures.entity_map import standalone_maps

    with store_faults(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, svg in standalone_maps(workspace.run):
        with replacing(folder / f"{name}.svg") as temporary:
            temporary.write_text(svg, encoding="utf-8")
        say(f"Wrote {folder / name}.svg")
