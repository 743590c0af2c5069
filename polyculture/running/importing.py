"""Imports a file of texts into an experiment: its file, its catalogue, its run."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import UserError, did_you_mean
from polyculture.cache.outcome import Outcome
from polyculture.cache.run_folder import RunFolder
from polyculture.console import say, watch
from polyculture.experiment.file import PUBLISHED, read_experiment
from polyculture.experiment.imported import read_imported
from polyculture.experiment.imported_file import add_topics, catalog_of, name_of, write_lists
from polyculture.experiment.workspace import RUNS, open_workspace
from polyculture.imports.hub import download, named_on_hub
from polyculture.imports.mapping import FIELDS, ITEM_FIELDS, find_mapping
from polyculture.imports.readers import find_reader
from polyculture.imports.record import BadRow, Reader, Record, merged
from polyculture.imports.taking import Taken, take_file

_SHOWN_REASONS = 5
_LOOKED_AT = 200  # rows whose columns are known before the first is taken


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the command line says of an import."""

    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    parts: str | None = None
    inputs: Path | None = None
    alike: Mapping[str, str] = field(default_factory=dict)
    add: bool = False
    links: str = "published"  # of items that a file came with: 'published', or 'ours'


def import_file(path: Path, experiment: Path, runs: Path | None, wanted: Wanted) -> Taken:
    """Imports a file, and says what was taken from where, and what was not. Raises `UserError` where nothing was."""
    hub = named_on_hub(path)
    if hub is not None:
        say(f"Downloads the data set {hub}, where it is not there yet")
        path = download(hub)
    if not path.is_file() and not path.is_dir():
        raise UserError("there is no such file", where=path, remedy="Name a file of texts.")
    reader = find_reader(path, wanted.format)
    catalog_folder = catalog_of(experiment)
    looked_at = islice((row for row in reader.read(path, wanted.inputs) if isinstance(row, Record)), _LOOKED_AT)
    first = merged(looked_at)
    if first is None:
        bad = next((row for row in reader.read(path, wanted.inputs) if isinstance(row, BadRow)), None)
        why = f": row {bad.row}: {bad.reason}" if bad else ""
        raise UserError(f"has no row that {reader.name} can read{why}", where=path, remedy="Say its --format.")
    columns = find_mapping(first, wanted.columns, reader.columns, wanted.parts, path, items=reader.items)
    say(f"{path.name}, read as {reader.name}: {columns.line}")
    if reader.items and columns.guessed:
        say(f"Nobody named the columns of {', '.join(columns.guessed)}: they are assumed by their usual names")
    if wanted.alike:
        catalog_folder = add_topics(experiment, wanted.alike)
    catalog = read_catalog(catalog_folder)
    name = read_experiment(experiment).name if experiment.exists() else name_of(experiment)
    run = RunFolder((runs or experiment.resolve().parent / RUNS) / name)
    with watch("import", 0) as progress:
        taken = take_file(run, path, reader, columns, catalog, progress, inputs=wanted.inputs, add=wanted.add)
        progress(Outcome(taken.file.texts, taken.file.failed))
    _write_experiment(experiment, run, catalog_folder, reader, wanted)
    workspace = open_workspace(experiment, runs)
    workspace.write(workspace.manifest())
    _tell(taken, experiment)
    return taken


def read_mapping_file(file: Path) -> dict[str, str]:
    """The columns in the table `[import]` of a TOML file, or at its top. Raises `UserError` where it is none."""
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise UserError(f"cannot be read: {fault}", where=file, remedy="Write fields and columns as TOML.") from fault
    table = data.get("import", data)
    for key, value in table.items():
        if key not in (*FIELDS, *ITEM_FIELDS) or not isinstance(value, str):
            remedy = did_you_mean(key, (*FIELDS, *ITEM_FIELDS)) or f"Fields are: {', '.join(FIELDS)}."
            raise UserError(f"{key!r} is no field with the name of a column", where=file, remedy=remedy)
    return dict(table)


def _write_experiment(file: Path, run: RunFolder, catalog: Path | None, reader: Reader, wanted: Wanted) -> None:
    imported = read_imported(run)
    jobs = list(imported.texts)
    found = {
        "models": sorted({model for model, _, _ in jobs}),
        "languages": sorted({language for _, language, _ in jobs}),
        "topics": sorted({topic for _, _, topic in jobs}),
        "countries": sorted({prompt.country for prompt in imported.prompts if prompt.country}),
    }
    there = file.exists()
    sources = {"extractor": PUBLISHED, "links": PUBLISHED if wanted.links == "published" else "index"}
    added = write_lists(file, found, catalog, **(sources if reader.items else {}))
    if not there:
        say(f"Wrote {file}")
    elif added:
        say(f"{file}: added {', '.join(added)}")


def _tell(taken: Taken, experiment: Path) -> None:
    file = taken.file
    if taken.before:
        say(f"{file.file} was imported on {file.imported_at}, and has not changed: nothing to do")
        return
    known = f", {file.known} were there before" if file.known else ""
    say(f"{file.file}: {file.rows} rows: {file.texts} texts taken{known}, {file.failed} rows not taken")
    for reason, count in taken.reasons.most_common(_SHOWN_REASONS):
        say(f"  not taken: {count} rows: {reason}")
    if taken.reasons:
        say(f'All of them: polyculture sql {experiment} "FROM import_failures"')
    if taken.versions and file.known:
        say(f"Of both versions, these {file.known} count once. Of two files: rename one, and import both anew (--as)")
    if taken.unread_seeds:
        say(f"{taken.unread_seeds} texts have a seed that is no whole number: it is not kept; their notes show it")
    if taken.gone:
        say(f"{taken.gone} texts of the earlier file are no longer in this one; they stay in the run")
    say(f"Go on without a model: polyculture run {experiment}")
