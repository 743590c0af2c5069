"""Several runs as one: the tables of all of them in one folder, a file each, which opens as an export does.

    join_runs([Source(store, manifest, {"openai:a": "openai:a (mine)"}, "1")], folder)

Rows of two runs may answer the same request: in the ids of a run's rows stands its mark. What every row of a table says
of the world, as a prompt or an item, stands once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from polyculture.cache.database import memory_database
from polyculture.cache.store.layout import Table
from polyculture.cache.store.manifest import Manifest, write_manifest
from polyculture.cache.store.parquet import write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import (
    ENTITIES,
    ENTITY_COUNTRIES,
    EXTRACTIONS,
    KNOWN_COUNTRIES,
    LINKS,
    MENTIONS,
    PROMPTS,
    RESPONSES,
    SNAPSHOT_ITEMS,
    WANTED_RESPONSES,
)
from polyculture.cache.store.store import Store

_OF_MODELS = (WANTED_RESPONSES, RESPONSES, EXTRACTIONS, MENTIONS)
# Of the others: the columns of which no two rows have the same values. Runs that are joined agree in all else.
_KEYS: Mapping[Table[Any], Sequence[str]] = {
    PROMPTS: ("prompt_id",),
    LINKS: ("query",),
    ENTITIES: ("qid",),
    ENTITY_COUNTRIES: ("qid", "country", "country_qid", "property"),
    KNOWN_COUNTRIES: ("country",),
    SNAPSHOT_ITEMS: ("topic", "language", "country"),
}
_IDS = ("request_id", "response_id", "extraction_id")
_BATCH = 100_000  # rows that are in memory at once


@dataclass(frozen=True, slots=True)
class Source:
    """A run that is joined: its models, each with the name that it gets, and what marks its ids."""

    store: Store
    manifest: Manifest
    names: Mapping[str, str]
    mark: str

    def own_id(self, id: str) -> str:
        """An id of the joined rows as the run itself has it."""
        return id.removeprefix(f"{self.mark} ")


def join_runs(sources: Sequence[Source], folder: Path) -> RunFolder:
    """Writes the rows of the sources' models to a folder; those that count, as the views have them.

    What was asked and measured is taken from the first source: that all agree in it is the caller's affair.
    """
    run = RunFolder(folder)
    for table in _OF_MODELS:
        with pq.ParquetWriter(run.table(table.name), table.schema, compression="zstd") as writer:
            for source in sources:
                for batch in _rows_of_models(source, table):
                    writer.write_table(pa.Table.from_batches([batch]).cast(table.schema))
    with memory_database() as connection:
        for table, keys in _KEYS.items():
            rows = [source.store.table(table.name).to_arrow_table().cast(table.schema) for source in sources]
            connection.register("every_row", pa.concat_tables(rows))
            once = f"SELECT DISTINCT ON ({', '.join(keys)}) * FROM every_row ORDER BY {', '.join(keys)}"  # noqa: S608
            write_parquet(connection.sql(once).to_arrow_table().cast(table.schema), run.table(table.name))
    write_manifest(_manifest(sources), run.manifest)
    return run


def _rows_of_models(source: Source, table: Table[Any]) -> pa.RecordBatchReader:
    marked = [f"$mark || {name} AS {name}" for name in _IDS if name in table.columns]
    renamed = ", ".join([*marked, "map($own, $names)[model] AS model"])
    columns = ", ".join(f'"{name}"' for name in table.columns)
    query = f"SELECT {columns} FROM (SELECT * REPLACE ({renamed}) FROM {table.name} WHERE model IN $own)"  # noqa: S608
    own, names = list(source.names), list(source.names.values())
    values = {"mark": f"{source.mark} ", "own": own, "names": names}
    found: pa.RecordBatchReader = source.store.sql(query, params=values).to_arrow_reader(_BATCH)
    return found


def _manifest(sources: Sequence[Source]) -> Manifest:
    first = sources[0].manifest

    def renamed(field: str) -> dict[str, Any]:
        return {
            name: getattr(source.manifest, field)[model]
            for source in sources
            for model, name in source.names.items()
            if model in getattr(source.manifest, field)
        }

    of_models = ("languages_of", "model_versions", "appended", "model_facts", "prices")
    return first.model_copy(
        update={
            **{field: renamed(field) for field in of_models},
            "models": [name for source in sources for name in source.names.values()],
            "n": max(source.manifest.n for source in sources),
            "setups": {},
            "former_setups": {},
            "notes": list(dict.fromkeys(chain.from_iterable(source.manifest.notes for source in sources))),
            "imported": list(dict.fromkeys(chain.from_iterable(source.manifest.imported for source in sources))),
        }
    )
