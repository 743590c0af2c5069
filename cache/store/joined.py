"""Several runs as one: the rows of all of them in one folder, a file for each table, which opens as an export does.

    join_runs([JoinedRun(store, manifest, {"openai:a": "openai:a (mine)"}, "1")], folder)

Two runs may have answered the same request, so each run's mark is put before the ids of its rows. Rows that do not
depend on a model, as those of prompts and items, are written once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from polyculture.cache.database import memory_database
from polyculture.cache.store.layout import Table
from polyculture.cache.store.linked import ENTITIES, ENTITY_COUNTRIES, KNOWN_COUNTRIES, LINKS, SNAPSHOT_ITEMS
from polyculture.cache.store.manifest import CurrentId, Manifest, write_manifest
from polyculture.cache.store.parquet import write_batches, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import EXTRACTIONS, MENTIONS, PROMPTS, RESPONSES, WANTED_RESPONSES
from polyculture.cache.store.store import Store


@dataclass(frozen=True)
class JoinedTables:
    """The tables of which runs are joined."""

    # Their rows are of a model. A table without the column `model` has rows of those of the table before it.
    of_models: Sequence[Table[Any]]
    # Of the others: the columns of which no two rows have the same values. Runs that are joined agree in all else.
    keys: Mapping[Table[Any], Sequence[str]]


OF_TEXTS = JoinedTables(
    (WANTED_RESPONSES, RESPONSES, EXTRACTIONS, MENTIONS),
    {
        PROMPTS: ("prompt_id",),
        LINKS: ("query",),
        ENTITIES: ("qid",),
        ENTITY_COUNTRIES: ("qid", "country", "country_qid", "property"),
        KNOWN_COUNTRIES: ("country",),
        SNAPSHOT_ITEMS: ("topic", "language", "country"),
    },
)
_IDS = ("request_id", "response_id", "extraction_id", "answer_id", "reading_id")
_BATCH = 100_000  # rows that are in memory at once


@dataclass(frozen=True, slots=True)
class JoinedRun:
    """A run that is joined with others: which of its models are, and the name that each of them gets."""

    store: Store
    manifest: Manifest
    names: Mapping[str, str]
    mark: str  # what is put before the ids of its rows

    def own_id(self, id: str) -> str:
        """The id that a row of the joined tables has in the run itself."""
        return id.removeprefix(f"{self.mark} ")


def join_runs(runs: Sequence[JoinedRun], folder: Path, tables: JoinedTables = OF_TEXTS) -> RunFolder:
    """Writes the current rows of the runs' models to a folder, and a manifest.

    The manifest is that of the first run, with all models: the caller makes sure that all runs are of one study.
    Raises `StoreError` where the folder cannot be written or the disk is full.
    """
    run = RunFolder(folder)
    for table, before in zip(tables.of_models, (None, *tables.of_models), strict=False):
        batches = chain.from_iterable(_rows_of_models(one, table, before) for one in runs)
        write_batches((batch.cast(table.schema) for batch in batches), run.table(table.name), table.schema)
    with memory_database() as connection:
        for table, keys in tables.keys.items():
            rows = [source.store.table(table.name).to_arrow_table().cast(table.schema) for source in runs]
            connection.register("every_row", pa.concat_tables(rows))
            once = f"SELECT DISTINCT ON ({', '.join(keys)}) * FROM every_row ORDER BY {', '.join(keys)}"  # noqa: S608
            write_parquet(connection.sql(once).to_arrow_table().cast(table.schema), run.table(table.name))
    write_manifest(_manifest(runs), run.manifest)
    return run


def _rows_of_models(run: JoinedRun, table: Table[Any], before: Table[Any] | None) -> pa.RecordBatchReader:
    changed = [f"$mark || {name} AS {name}" for name in _IDS if name in table.columns]
    values: dict[str, Any] = {"mark": f"{run.mark} ", "own": list(run.names)}
    chosen = "model IN $own"
    if "model" in table.columns:
        changed.append("map($own, $names)[model] AS model")
        values["names"] = list(run.names.values())
    elif before is not None and before.key is not None:
        chosen = f"{before.key} IN (SELECT {before.key} FROM {before.name} WHERE {chosen})"  # noqa: S608
    columns = ", ".join(f'"{name}"' for name in table.columns)
    query = f"SELECT {columns} FROM (SELECT * REPLACE ({', '.join(changed)}) FROM {table.name} WHERE {chosen})"  # noqa: S608
    found: pa.RecordBatchReader = run.store.sql(query, params=values).to_arrow_reader(_BATCH)
    return found


def _manifest(runs: Sequence[JoinedRun]) -> Manifest:
    first = runs[0].manifest

    def renamed(field: str) -> dict[str, Any]:
        return {
            name: getattr(source.manifest, field)[model]
            for source in runs
            for model, name in source.names.items()
            if model in getattr(source.manifest, field)
        }

    asked: dict[str, dict[object, CurrentId]] = {}
    for source in runs:
        for name, ids in source.manifest.asked.items():
            known = asked.setdefault(name, {})
            known |= {(one.key, one.id): one for one in ids if one.settings or (one.key, one.id) not in known}
    of_models = ("languages_of", "model_versions", "appended", "model_facts", "prices")
    return first.model_copy(
        update={
            **{field: renamed(field) for field in of_models},
            "models": [name for source in runs for name in source.names.values()],
            "asked": {name: list(ids.values()) for name, ids in asked.items()},
            "setups": {},
            "former_setups": {},
            "notes": list(dict.fromkeys(chain.from_iterable(source.manifest.notes for source in runs))),
            "imported": list(dict.fromkeys(chain.from_iterable(source.manifest.imported for source in runs))),
        }
    )
