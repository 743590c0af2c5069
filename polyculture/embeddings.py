"""The stages of `polyculture embeddings` in order: represent, measure, draw. They are called here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.console import say

if TYPE_CHECKING:
    from metrics.likelihood.stage import ScoringJob
    from polyculture.likelihood import Likelihoods
    from polyculture.workspace import Workspace

TABLE = Path(__file__).parent / "data" / "separations_table.sql"


def represent(likelihoods: Likelihoods, jobs: Sequence[ScoringJob], layers: tuple[str, ...]) -> None:
    """Represents what is missing; a model is loaded once, and only if it has something to do."""
    from generate.engines import open_engine
    from metrics.embeddings.stage import is_represented, represent_job

    run = likelihoods.workspace.run
    for model, group in groupby(jobs, key=lambda job: job.job.model):
        left = [job for job in group if not likelihoods.is_done(partial(is_represented, run, job, layers), job)]
        if not left:
            continue
        spec = likelihoods.workspace.experiment.model_spec(model)
        with open_engine(spec) as engine:
            for job in left:
                size = len(job.asked[0][1])
                work = partial(represent_job, run, job, spec, engine, layers)
                likelihoods.work(f"represent {job.job}", size, work)


def print_separations(workspace: Workspace) -> None:
    """Computes the separations, and prints them."""
    from cache.store import open_store
    from metrics import views
    from metrics.embeddings.measure import measure_separation
    from polyculture.tables import print_table

    measure_separation(workspace.run)
    with open_store(workspace.run, views()) as store:
        found = store.sql(TABLE.read_text(encoding="utf-8"))
        print_table(found.columns, found.fetchall(), title="Davies-Bouldin index: the lower, the further apart")


def write_maps(workspace: Workspace, folder: Path) -> None:
    """Writes an SVG file per map into a folder."""
    from cache.files import replacing, store_faults
    from reports.figures.entity_map import standalone_maps

    with store_faults(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, svg in standalone_maps(workspace.run):
        with replacing(folder / f"{name}.svg") as temporary:
            temporary.write_text(svg, encoding="utf-8")
        say(f"Wrote {folder / name}.svg")
