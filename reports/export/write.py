"""Writes an export: a folder of Parquet files with a data card and metadata; whole, or not at all."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from polyculture.cache.errors import StoreError
from polyculture.cache.files import (
    MARKER,
    arriving_folder,
    claim_folder,
    exchange,
    store_faults,
)
from polyculture.cache.identity import file_sha256
from polyculture.cache.store.layout import Layout
from polyculture.cache.store.manifest import Manifest, require_run, write_manifest
from polyculture.cache.store.parquet import write_batches
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import Store, open_store
from polyculture.metrics import KEPT
from polyculture.reports.export.asked import RunContents, what_was_asked
from polyculture.reports.export.card import data_card
from polyculture.reports.export.croissant import croissant, file_name
from polyculture.reports.export.every_eval_ever import ModelRecord, RecordFacts, records
from polyculture.reports.export.redaction import redaction_of
from polyculture.reports.export.tables import ExportedTable, choose_tables, rows_of

CARD, METADATA = "README.md", "croissant.json"


@dataclass(frozen=True)
class WrittenExport:
    """What was written."""

    path: Path
    tables: tuple[ExportedTable, ...]  # those that were left out, too
    records: tuple[str, ...] = ()  # the files of Every Eval Ever


def write_export(
    run: RunFolder,
    layout: Layout,
    to: Path,
    licence: str | None = None,
    citation_of: Callable[[str], str] = lambda _: "",
    *,
    every_eval_ever: RecordFacts | None = None,
) -> WrittenExport:
    """Writes the tables of a run that have rows, its manifest, a data card and metadata to the folder `to`.

    `citation_of` gives what to cite for a data set by its name; "" where nobody knows. With `every_eval_ever`, the
    folder also has a record of each model's numbers in that common form.

    An export that stands there is replaced; raises `StoreError` for anything else there, where there is no run, and
    where the place cannot be written. Nothing is written into the run.
    """
    manifest = require_run(run)
    target = to.absolute()
    if target.is_relative_to(run.root.resolve()):
        raise StoreError("is inside the run itself", where=to, remedy="Export to another place.")
    _check_folder(target)
    with store_faults(to), open_store(run, layout, KEPT, manifest=manifest) as store:
        tables = choose_tables(store, {table.name for table in layout.tables})
        about = what_was_asked(store, citation_of)
        made, redaction = int(run.manifest.stat().st_mtime), redaction_of(manifest, run.root)
        found = (
            list(records(store, manifest, redaction, made, licence, every_eval_ever, _stated_study(run)))
            if every_eval_ever
            else []
        )
        _write_folder(store, run, manifest, about, tables, target, licence, found)
    return WrittenExport(to, tuple(tables), tuple(one.path for one in found))


def _stated_study(run: RunFolder) -> str | None:
    """The name of the study that the run's experiment file states."""
    try:
        stated = tomllib.loads(run.experiment.read_text(encoding="utf-8-sig")).get("study")
    except (OSError, ValueError):  # a run of Python code alone has no file
        return None
    return str(stated["name"]) if isinstance(stated, dict) and "name" in stated else None


def _write_folder(
    store: Store,
    run: RunFolder,
    manifest: Manifest,
    about: RunContents,
    tables: list[ExportedTable],
    target: Path,
    licence: str | None,
    found: Sequence[ModelRecord],
) -> None:
    redaction = redaction_of(manifest, run.root)
    kept = [table for table in tables if table.left_out is None]
    with _replacing_folder(target) as folder:
        hashes = {}
        for table in kept:
            file = folder / file_name(table.name)
            rows = rows_of(store, table, redaction)
            write_batches(rows, file, rows.schema)
            hashes[table.name] = file_sha256(file)
        for record in found:
            (folder / record.path).parent.mkdir(parents=True, exist_ok=True)
            (folder / record.path).write_text(record.text, encoding="utf-8")
        files = {record.path: file_sha256(folder / record.path) for record in found}
        public = Manifest.model_validate(redaction.plain(manifest.model_dump(mode="json")))
        write_manifest(public, RunFolder(folder).manifest)
        asked = datetime.fromtimestamp(run.manifest.stat().st_mtime, UTC).date()  # not today: each export is the same
        metadata = croissant(public.experiment, about, manifest.polyculture, kept, hashes, licence, asked, files)
        text = json.dumps(metadata, ensure_ascii=False, indent=1)
        (folder / METADATA).write_text(f"{text}\n", encoding="utf-8")
        (folder / CARD).write_text(data_card(manifest, about, tables, redaction, licence), encoding="utf-8")


def _check_folder(target: Path) -> None:
    """Raises `StoreError` for what is no export, and for an export with files that no export wrote."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise _not_ours(target)
    if not target.is_dir() or not any(target.iterdir()):
        return
    if not (target / MARKER).is_file():
        raise _not_ours(target)
    own = {CARD, METADATA, MARKER, RunFolder(target).manifest.name}
    with suppress(OSError, ValueError, KeyError, TypeError):  # its metadata name the other files
        said = json.loads((target / METADATA).read_text(encoding="utf-8"))
        own |= {file["contentUrl"] for file in said["distribution"]}
    own |= {parent.as_posix() for file in own for parent in Path(file).parents}
    there = (path.relative_to(target).as_posix() for path in target.rglob("*"))
    if others := sorted(path for path in there if path not in own):
        remedy = "Move it elsewhere, or export to another place; nothing was touched."
        raise StoreError(f"is an export, and {others[0]} in it is none of its files", where=target, remedy=remedy)


def _not_ours(target: Path) -> StoreError:
    remedy = "Move it away, or choose another place; nothing in it was touched."
    return StoreError("is there, and is no export", where=target, remedy=remedy)


@contextmanager
def _replacing_folder(target: Path) -> Iterator[Path]:
    """A new folder beside `target`, which takes its place in one step if the block succeeds.

    Nothing but what this call and killed ones made, and the earlier export, is removed.
    """
    with arriving_folder(target) as folder:
        yield folder
        for file in filter(Path.is_file, folder.rglob("*")):
            with file.open("rb+") as written:
                os.fsync(written.fileno())
        if target.exists():
            _check_folder(target)
            exchange(target, folder)  # `folder` is the earlier export now
            claim_folder(folder)  # an empty folder has no marker yet
        else:
            folder.rename(target)
