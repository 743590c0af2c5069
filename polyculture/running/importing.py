"""Imports a file of texts into an experiment: its file, its catalogue, its run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import UserError
from polyculture.cache.log import get_logger
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.text.quantity import quantity
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.work.outcome import Outcome
from polyculture.experiment.file import read_experiment
from polyculture.experiment.imported import catalog_of, name_of, read_imported, write_lists
from polyculture.experiment.run_place import run_place
from polyculture.experiment.sections import PUBLISHED
from polyculture.imports.mapping import FIELDS, ITEM_FIELDS, find_mapping
from polyculture.imports.shapes import LOOKED_AT, find_source
from polyculture.imports.taking import ImportOutcome, take_file
from polyculture.progress import watch
from polyculture.running.opening import open_workspace
from polyculture.sources.record import BadRow, Record

_log = get_logger(__name__)

_SHOWN_REASONS = 5


@dataclass(frozen=True, kw_only=True)
class ImportRequest:
    """What the command line says of an import."""

    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    parts: str | None = None
    inputs: Path | None = None
    alike: Mapping[str, str] = field(default_factory=dict)
    cut: Sequence[str] = ()  # what texts begin with that no model wrote: words, 'prompt', or 'nothing'
    catalog: Sequence[Path] = ()
    replace_it: bool = False  # whether a file that is there already is taken anew
    skip_rows: bool = False
    links: str = PUBLISHED  # of items that a file came with: 'published', or 'ours'


def import_file(path: Path, experiment: Path, runs: Path | None, wanted: ImportRequest) -> ImportOutcome:
    """Imports a file, and says what was taken from where, and what was not. Raises `UserError` where nothing was."""
    for one in (path, *([wanted.inputs] if wanted.inputs else [])):
        if not one.is_file() and not (one is path and one.is_dir()):
            remedy = "Name a file of texts. Of the hub: hf download NAME --repo-type dataset --local-dir FOLDER."
            raise UserError("there is no such file", where=one, remedy=remedy)
    source = find_source(path, wanted.format, wanted.inputs, wanted.columns)
    rows = list(islice(source.rows(), LOOKED_AT))
    records = [row for row in rows if isinstance(row, Record)]
    if not records:
        bad = next((row for row in rows if isinstance(row, BadRow)), None)
        why = f": row {bad.row}: {bad.reason}" if bad else ""
        raise UserError(f"read as {source.format}, it has no text{why}", where=path, remedy="See docs/importing.md.")
    told = {name: path for name, path in wanted.columns.items() if not (name == "text" and source.shape.finds_texts)}
    packs = catalog_of(experiment, wanted.catalog)
    catalog = read_catalog(*packs)
    alike = {label: catalog.topic(topic).code for label, topic in wanted.alike.items()}
    columns = replace(find_mapping(records, source, told, wanted.parts), alike=alike, cut=wanted.cut)
    name = read_experiment(experiment).name if experiment.exists() else name_of(experiment)
    run = run_place(name, experiment, runs)
    before = _lists(run) if (run.root / "imported_files.parquet").exists() else {}
    with watch("import", 0) as progress:
        taken = take_file(run, source, columns, catalog, progress, again=_again(wanted.replace_it, path),
                          skip_rows=wanted.skip_rows)  # fmt: skip
        progress(Outcome(taken.file.texts, taken.file.failed))
    if taken.columns is not None:
        decoded = f", decoded from {' and '.join(source.encodings)}" if source.encodings else ""
        _log.info(f"{path.name}, read as {source.format}{decoded}: {taken.columns.line}")
        for note in taken.columns.notes:
            _log.info(f"  {note}")
        if taken.columns.items and (assumed := [one for one in ITEM_FIELDS if one in taken.columns.guessed]):
            _log.warning(f"  columns of items are assumed by their usual names: {', '.join(assumed)}")
    _write_experiment(experiment, run, packs, before, items=columns.items, links=wanted.links)
    workspace = open_workspace(experiment, runs)
    workspace.write(workspace.manifest())
    _tell(taken, experiment)
    return taken


def _again(replace: bool, path: Path) -> Callable[[str], bool]:
    """Whether to take a file that is there already anew: as the command says, else as a person at the terminal says."""

    def ask(there: str) -> bool:
        if replace or not sys.stdin.isatty():
            return replace
        return input(f"{path.name} {there}. Replace that? [y/N] ").strip().casefold() in ("y", "yes")

    return ask


def field_columns(words: Sequence[str], known: Sequence[str] = (*FIELDS, *ITEM_FIELDS)) -> dict[str, str]:
    """`text=answer`, `language==ja` as columns of fields. Raises `UserError` where one names no field or no column."""
    columns: dict[str, str] = {}
    for word in words:
        name, equals, column = word.partition("=")
        if not equals:
            remedy = "A command takes one file, or a folder: polyculture import FILE --as EXPERIMENT."
            raise UserError(f"{word!r} is no FIELD=COLUMN", remedy=remedy)
        if name not in known or not column:
            remedy = did_you_mean(name, known) or f"Fields are: {', '.join(known)}."
            raise UserError(f"{name!r} is no field with the name of a column", remedy=remedy)
        columns[name] = column
    return columns


def _write_experiment(
    file: Path, run: RunFolder, packs: Sequence[Path], before: Mapping[str, Sequence[str]], *, items: bool, links: str
) -> None:
    there, found = file.exists(), _lists(run)
    gone = {key: [value for value in values if value not in found[key]] for key, values in before.items()}
    sources = {"extractor": PUBLISHED, "links": PUBLISHED if links == PUBLISHED else "snapshot"}
    added = write_lists(file, found, packs, gone, **(sources if items else {}))
    if not there:
        _log.info(f"Wrote {file}")
    elif added:
        _log.info(f"{file}: added {', '.join(added)}")


def _lists(run: RunFolder) -> dict[str, list[str]]:
    """What the imported texts of a run are of."""
    imported = read_imported(run, unfinished=True)
    return {
        "models": sorted({model for model, _, _ in imported.texts}),
        "languages": sorted({language for _, language, _ in imported.texts}),
        "topics": sorted({topic for _, _, topic in imported.texts}),
        "countries": sorted({prompt.country for prompt in imported.prompts if prompt.country}),
    }


def _tell(taken: ImportOutcome, experiment: Path) -> None:
    file = taken.file
    if taken.columns is None:
        _log.info(f"{file.file} was imported on {file.imported_at}, and has not changed: nothing to do")
        return
    for part in taken.mended:
        _log.warning(f"{part.path} {part.what}. These rows are made again from {file.file}")
    replaced = f", in place of {taken.replaced}" if taken.replaced else ""
    left = f"{quantity(file.failed, 'row or item', 'rows or items')} not taken"
    rows, texts = quantity(file.rows, "row"), quantity(file.texts, "text")
    _log.info(f"{file.file}: {rows}: {texts} taken{replaced}, {left}")
    if taken.empty or taken.broken:
        _log.info(f"  of these texts, empty: {taken.empty}; failed answers (as in `generate`): {taken.broken}")
    for reason, count in taken.reasons.most_common(_SHOWN_REASONS):
        _log.warning(f"  not taken: {count}: {reason}")
    if taken.reasons:
        _log.info(f'All of them: polyculture sql {experiment} "FROM import_failures"')
    if taken.unread_seeds:
        _log.warning(
            f"not kept, as it is no whole number: the seed of {taken.unread_seeds} of the texts; their notes show it"
        )
    if taken.cut:
        _log.warning(f"cut where a next turn begins: {taken.cut} of the texts; their notes show at what")
    if taken.columns is not None and taken.columns.items and {"mode_of_transport", "vehicle_type"} & taken.types:
        _log.warning(
            "Its granularity of transportation is not settled: the study does not say which of mode_of_transport and "
            "vehicle_type is specific. Here vehicle_type is (docs/importing.md)"
        )
    _log.info(f"Go on without a model: polyculture run {experiment}")
