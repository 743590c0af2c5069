"""What tells whether the data of a run have changed, and where its measures keep what they computed of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from polyculture.cache.identity import content_id, file_sha256
from polyculture.cache.store.layout import Measure, Table
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.parquet import SUFFIX, read_rows
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.shards import committed_parts


def inputs_of(run: RunFolder, manifest: Manifest, measure: Measure) -> str:
    """The hash of the data that a measure's numbers rest on: what the run asks, and the files of its tables.

    Parts of sharded tables are known by name and size: none is ever written to in place. The time of writing is not
    used, so that the numbers of a copied run are still those of its data.
    """
    own = measure.settings and measure.settings(run, manifest)
    return content_id(own, _declared(run, manifest, measure), *data_of(run, measure.tables, measure.topics))


def _declared(run: RunFolder, manifest: Manifest, measure: Measure) -> list[object]:
    """What decides which answers of its tables count: the ids that they are asked under, and of each model that has
    answered its setup, and whether the experiment still has it.

    Other instruments have setups of their own for the same models: they hide no number of these.
    """
    found: list[object] = []
    for table in measure.tables:
        of = table.wanted.of if table.wanted is not None else None
        if of is None or of.requests is None:
            continue
        asked = of.requests
        ids = [one for one in manifest.asked.get(asked.instrument, []) if one.measure in ("", measure.name)]
        models = {job.model for job in run.jobs(table.name) if job.topic.startswith(measure.topics)}
        named = [f"{use} {model}" for use, model in _uses(run, of, asked.use, models) if model in models]
        found += [sorted(models.intersection(manifest.models)), {name: manifest.setups.get(name) for name in named}]
        found += [sorted((*one.key, one.id) for one in ids)]
    return found


def _uses(run: RunFolder, of: Table[Any], use: str, models: Collection[str]) -> set[tuple[str, str]]:
    """The uses of models that answer requests: one for all, or what the rows of the requests say."""
    path = run.table(of.name)
    if use or not path.exists():
        return {(use, model) for model in models}
    rows = read_rows(path, of, ("use", "model"))
    return {(str(row["use"]), str(row["model"])) for row in rows.group_by(["use", "model"]).aggregate([]).to_pylist()}


def data_of(
    run: RunFolder, tables: Sequence[Table[Any]], topics: str = ""
) -> tuple[dict[str, str], list[tuple[str, int]]]:
    """What tells whether tables have changed: the hashes of whole files, the names and sizes of parts.

    `topics` as in `Measure`.
    """
    whole = {
        table.name: file_sha256(run.table(table.name))
        for table in tables
        if not table.sharded and run.table(table.name).exists()
    }
    parts = [
        (str(part.relative_to(run.root)), part.stat().st_size)
        for table in tables
        if table.sharded
        for part in committed_parts(run, table)
        if part.parent.name.startswith(f"topic={topics}")
    ]
    return whole, parts


def measure_file(run: RunFolder, table: Table[Any], measure: str) -> Path:
    """The file of what a measure computed: its numbers, or its differences."""
    return run.root / table.name / f"{measure}{SUFFIX}"


def measure_files(run: RunFolder, table: Table[Any]) -> list[Path]:
    """The files of all measures."""
    return sorted((run.root / table.name).glob(f"*{SUFFIX}"))
