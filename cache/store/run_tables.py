"""What the tables of a store hold: the Parquet files of a run, and what its manifest says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from polyculture.cache.errors import StoreError
from polyculture.cache.store.data_identity import inputs_of, measure_files
from polyculture.cache.store.inventory import check_parts, require_table
from polyculture.cache.store.layout import Layout, Table
from polyculture.cache.store.ledger import FOLDER as LEDGER
from polyculture.cache.store.ledger import charges
from polyculture.cache.store.manifest import Manifest, setup_id
from polyculture.cache.store.model_facts import ModelFacts
from polyculture.cache.store.parquet import check_columns, read_rows
from polyculture.cache.store.portable import NO_INPUTS, is_portable, portable_rows
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.shards import committed_parts
from polyculture.cache.store.views import create_table

# By run and table: the files that this process has checked last, as they were then.
_checked: dict[tuple[Path | None, str, bool], list[tuple[str, int, int, int]]] = {}


@dataclass(frozen=True)
class RunTables:
    """What the tables of a store hold: a run's files, and what its manifest says."""

    run: RunFolder | None
    manifest: Manifest | None
    layout: Layout
    given: Mapping[str, pa.Table]  # by table, in the place of the run's rows
    read_only: bool

    def put(self, connection: duckdb.DuckDBPyConnection, table: Table[Any]) -> None:
        """Creates the view of a table over its files; without any, or with given rows, the table itself.

        Raises `StoreError` for a file of another version, for a row that is there twice, and for a part that is gone.
        """
        given = self.given.get(table.name)
        files = self._files_of(self.run, table) if self.run is not None and given is None else []
        if not files:
            connection.execute(create_table(table))
            if given is not None:
                connection.from_arrow(given).insert_into(f"stored_{table.name}")
            return
        rows = _read_parquet(map(self._address, files))
        if self._is_portable:
            query = portable_rows(connection, rows, files[0], table)
        else:
            self._check(connection, rows, files, table)
            query = f"FROM {rows}"
        connection.execute(f"CREATE VIEW stored_{table.name} AS {query}")

    def _check(
        self, connection: duckdb.DuckDBPyConnection, rows: str, files: Sequence[Path], table: Table[Any]
    ) -> None:
        """Checks the columns and the keys of a table's files, once for the files as they are: a command opens some
        twenty stores, and reading all keys takes longer than most queries. Raises `StoreError`."""
        place, stamps = (
            (None if self.run is None else self.run.root, table.name, self.read_only),
            list(map(_stamp, files)),
        )
        if _checked.get(place) == stamps:
            return
        for path in {path.parent: path for path in files}.values():  # one of each job: a footer takes a millisecond
            check_columns(path, table)
        _check_unique(connection, rows, table, files)
        _checked[place] = stamps

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        """The rows of a table of `run.sql`."""
        if self.run is None or self.manifest is None:
            return []
        if self._is_portable and name in ("run_measures", "run_charges"):
            return [(one.name, NO_INPUTS) for one in self.layout.measures if name == "run_measures"]
        if name == "run_measures":
            return [(one.name, inputs_of(self.run, self.manifest, one)) for one in self.layout.measures]
        if name == "run_charges":
            return _charged(self.run, self.layout)
        return self._of_manifest.get(name, [])

    @cached_property
    def _is_portable(self) -> bool:
        return self.run is not None and is_portable(self.run, self.layout)

    def _files_of(self, run: RunFolder, table: Table[Any]) -> list[Path]:
        """The files that hold a table's rows now. Raises `StoreError` for a part that is gone."""
        if self._is_portable:
            return [path for path in [run.table(table.name)] if path.exists()]
        if table.sharded:
            check_parts(run, table)
            return committed_parts(run, table)
        if table.by_measure:
            return measure_files(run, table)
        require_table(run, table.name)
        return [path for path in [run.table(table.name)] if path.exists()]

    @cached_property
    def _of_manifest(self) -> dict[str, list[tuple[Any, ...]]]:
        return {} if self.manifest is None else _manifest_rows(self.manifest)

    def _address(self, path: Path) -> str:
        """A file's name for DuckDB's own file system, or for the read-only one."""
        if not self.read_only or self.run is None:
            return str(path.resolve())
        from polyculture.cache.store.readonly_files import run_address

        # A part that is itself a link keeps its name: it is refused, and the error names it.
        return run_address(self.run.root.resolve() / path.relative_to(self.run.root))


def _read_parquet(addresses: Iterable[str]) -> str:
    """The call that reads Parquet files. As text: DuckDB's relations open the files again for each of their steps."""
    paths = ", ".join("'{}'".format(address.replace("'", "''")) for address in addresses)
    return f"read_parquet([{paths}], hive_partitioning = false)"


def _stamp(path: Path) -> tuple[str, int, int, int]:
    """What identifies a file and its present content. Of a broken link it is the name: reading it raises the error."""
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0, 0
    return str(path), found.st_ino, found.st_size, found.st_mtime_ns


def _check_unique(connection: duckdb.DuckDBPyConnection, rows: str, table: Table[Any], files: Sequence[Path]) -> None:
    """Raises `StoreError` where a row is there twice, as in a copied folder: every number would count it twice."""
    if table.key is None or len(files) < 2:
        return
    [(twice,)] = connection.execute(f"SELECT count(*) - count(DISTINCT {table.key}) FROM {rows}").fetchall()  # noqa: S608
    if not twice:
        return
    seen: dict[str, Path] = {}
    for file in files:
        for key in map(str, read_rows(file, table, [table.key])[table.key].to_pylist()):
            if key in seen:
                what = f"{twice} rows of {table.name} stand twice: one of them is in {seen[key]}, too"
                remedy = "Move the copy out of the run's folder; Polyculture writes a row once."
                raise StoreError(what, where=file, remedy=remedy)
            seen[key] = file


def _charged(run: RunFolder, layout: Layout) -> list[tuple[Any, ...]]:
    """The rows of `run_charges`. The ledger knows an account by its name alone."""
    named = charges(run.root / LEDGER)
    accounts = {
        f"{table.stage} {job}": (table.stage, job.model, job.language, job.topic)
        for table in layout.tables
        if table.stage and named
        for job in run.jobs(table.name)
    }
    # A job without a row has no folder. No stage, language or topic has a space in its name.
    return [
        (*(accounts.get(name) or (name.split(" ", 1)[0], *name.split(" ", 1)[-1].rsplit(" ", 2))), *charged)
        for name, charged in sorted(named.items())
    ]


def _manifest_rows(manifest: Manifest) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of the tables of `run.sql` that the manifest holds."""
    return {
        "run_extractors": [
            (extractor, manifest.reader_id, manifest.extractor.get("sample"))
            for extractor in manifest.extractor_ids.values()  # one a topic
        ],
        "run_models": [(model,) for model in manifest.models],
        "run_asked": [
            (name, one.what, one.prompt, one.reads, one.id, json.dumps(one.settings, ensure_ascii=False))
            for name, asked in manifest.asked.items()
            for one in asked
        ],
        "run_setups": [
            (*key.split(" ", 1), setup_id(setup), json.dumps(setup, ensure_ascii=False))
            for key, setup in manifest.setups.items()
        ],
        "former_setups": [
            (key, json.dumps(setup, ensure_ascii=False)) for key, setup in manifest.former_setups.items()
        ],
        "run_prices": [
            (model, *map(price.get, ("input", "output", "batch_discount"))) for model, price in manifest.prices.items()
        ],
        "run_model_facts": [ModelFacts(**facts).row(model) for model, facts in manifest.model_facts.items()],
        "run_countries": [(country,) for country in manifest.countries],
    }
