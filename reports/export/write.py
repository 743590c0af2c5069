"""Writes an export: a folder of Parquet files, or one DuckDB file; whole, or not at all."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from polyculture.cache.database import connect, memory_limit
from polyculture.cache.errors import StoreError
from polyculture.cache.files import (
    ABANDONED,
    MARKER,
    claim_folder,
    remove_folder,
    replacing,
    scratch_folder,
    store_faults,
    sweep,
)
from polyculture.cache.identity import file_sha256
from polyculture.cache.layout import Layout
from polyculture.cache.manifest import Manifest, read_manifest
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.metrics import KEPT
from polyculture.reports.export.card import data_card
from polyculture.reports.export.croissant import croissant, file_name
from polyculture.reports.export.redaction import redaction_of
from polyculture.reports.export.tables import ExportedTable, choose_tables, rows_of

CARD, METADATA, DATABASE = "README.md", "croissant.json", ".duckdb"
ABOUT = "about_this_export"  # the table of a DuckDB file that has the card, and says whose file it is


@dataclass(frozen=True)
class Exported:
    """What was written."""

    path: Path
    tables: tuple[ExportedTable, ...]  # those that were left out, too


def write_export(run: RunFolder, layout: Layout, to: Path, licence: str | None = None) -> Exported:
    """Writes the tables of a run that have rows, a data card and metadata to `to`: a folder, or a file `*.duckdb`.

    An export that stands there is replaced; raises `StoreError` for anything else there, where there is no run, and
    where the place cannot be written. Nothing is written into the run.
    """
    manifest = read_manifest(run.manifest)
    if manifest is None:
        raise StoreError("holds no run", where=run.root, remedy="Run `polyculture run` on an experiment file first.")
    target = to.absolute()
    if target.is_relative_to(run.root.resolve()):
        raise StoreError("is inside the run itself", where=to, remedy="Export to another place.")
    single = target.suffix == DATABASE
    (_check_file if single else _check_folder)(target)
    with store_faults(to), scratch_folder("export") as folder:
        at = folder / "store.duckdb"
        with open_store(run, layout, KEPT, at=at, memory=memory_limit()) as store:
            tables = choose_tables(store, {table.name for table in layout.tables})
            (_write_file if single else _write_folder)(store, run, manifest, tables, target, licence)
    return Exported(to, tuple(tables))


def _write_folder(
    store: duckdb.DuckDBPyConnection,
    run: RunFolder,
    manifest: Manifest,
    tables: list[ExportedTable],
    target: Path,
    licence: str | None,
) -> None:
    redaction = redaction_of(manifest, run.root)
    kept = [table for table in tables if table.left_out is None]
    with _replacing_folder(target) as folder:
        hashes = {}
        for table in kept:
            file = folder / file_name(table.name)
            rows = rows_of(store, table, redaction)
            with pq.ParquetWriter(file, rows.schema, compression="zstd") as writer:
                for batch in rows:
                    writer.write_batch(batch)
            hashes[table.name] = file_sha256(file)
        name = redaction.plain(manifest.experiment)
        metadata = croissant(name, manifest.polyculture, kept, hashes, licence)
        text = json.dumps(metadata, ensure_ascii=False, indent=1)
        (folder / METADATA).write_text(f"{text}\n", encoding="utf-8")
        (folder / CARD).write_text(data_card(manifest, tables, redaction, licence), encoding="utf-8")


def _write_file(
    store: duckdb.DuckDBPyConnection,
    run: RunFolder,
    manifest: Manifest,
    tables: list[ExportedTable],
    target: Path,
    licence: str | None,
) -> None:
    redaction = redaction_of(manifest, run.root)
    sweep(target.parent)
    with replacing(target) as temporary, connect(temporary) as database:
        for table in tables:
            if table.left_out is None:
                database.from_arrow(rows_of(store, table, redaction)).create(table.name)
        database.execute(f"CREATE TABLE {ABOUT} (name VARCHAR, text VARCHAR)")
        card = data_card(manifest, tables, redaction, licence)
        database.execute(f"INSERT INTO {ABOUT} VALUES ($name, $card)", {"name": CARD, "card": card})  # noqa: S608
        said = [
            (table.name, column.name, column.type, column.meaning)
            for table in tables
            if table.left_out is None
            for column in table.columns
        ]
        database.execute('CREATE TABLE dictionary (view VARCHAR, "column" VARCHAR, type VARCHAR, meaning VARCHAR)')
        database.executemany("INSERT INTO dictionary VALUES (?, ?, ?, ?)", said)
        database.execute("CHECKPOINT")


def _check_file(target: Path) -> None:
    """Raises `StoreError` for a file that is no export: a user's own database is never replaced."""
    if not target.exists() and not target.is_symlink():
        return
    with suppress(duckdb.Error), connect(target, read_only=True) as database:
        if database.sql(f"SELECT count(*) FROM {ABOUT}").fetchall():  # noqa: S608
            return
    raise _not_ours(target)


def _check_folder(target: Path) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise _not_ours(target)
    if target.is_dir() and any(target.iterdir()) and not (target / MARKER).is_file():
        raise _not_ours(target)


def _not_ours(target: Path) -> StoreError:
    remedy = "Move it away, or choose another place; nothing in it was touched."
    return StoreError("is there, and is no export", where=target, remedy=remedy)


@contextmanager
def _replacing_folder(target: Path) -> Iterator[Path]:
    """A new folder beside `target`, which takes its place if the block succeeds; killed before, it has another name."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _sweep_folders(target)
    folder = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    claim_folder(folder)
    try:
        yield folder
        for file in folder.iterdir():
            with file.open("rb+") as written:
                os.fsync(written.fileno())
        if target.exists():
            _check_folder(target)
            before = folder.with_suffix(".old.tmp")
            target.rename(before)
            folder.rename(target)
            claim_folder(before)  # an empty folder has no marker yet
            remove_folder(before)
        else:
            folder.rename(target)
    finally:
        if folder.exists():
            remove_folder(folder)


def _sweep_folders(target: Path) -> None:
    """Removes folders that killed exports to the same place left behind."""
    for folder in target.parent.glob(f".{target.name}.*.tmp"):
        with suppress(OSError, StoreError):  # another process removes it, too
            if folder.is_dir() and time.time() - folder.stat().st_mtime > ABANDONED:
                remove_folder(folder)
