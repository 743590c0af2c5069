"""The stages of `polyculture embeddings` in order: represent, measure, draw. They are called here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.console import say
from polyculture.loading import load_model

if TYPE_CHECKING:
    from polyculture.likelihood import Likelihoods
    from polyculture.metrics.likelihood.stage import ScoringJob
    from polyculture.workspace import Workspace

TABLE = Path(__file__).parent / "data" / "separations_table.sql"


def represent(likelihoods: Likelihoods, jobs: Sequence[ScoringJob], layers: tuple[str, ...]) -> None:
    """Represents what is missing; a model is loaded once, and only if it has something to do."""
    from polyculture.metrics.embeddings.stage import represent_job, settled

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
    from polyculture.metrics.embeddings.measure import measure_separation
    from polyculture.tables import print_query

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
