"""An import on its way into a run, so that a kill at any moment leaves the run as it was before or as it is after.

The texts of a file are written into a run of their own, in the folder `importing` of the run that takes them. Once all
are there it is sealed, and moved in: what it replaces is taken out, its parts are added, and last its tables are put in
the place of the run's. The next import removes what is not sealed, and finishes what is.

A part of an import that cannot be read counts as one that is gone: importing its file again makes it again. The import
of another file leaves it, and its record, as they are.

What is left of other imports is numbered anew, as a prompt's samples count from 0 without a gap. What an extractor was
paid for stays, as the row of a request that nobody makes: it counts in no number, is in the bill, and answers for an
equal text of a later import (`extract/sharing.py`).
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.files import replacing, store_faults
from polyculture.cache.store.damage import unreadable_parts
from polyculture.cache.store.inventory import LostPart, forget_part, record_table
from polyculture.cache.store.layout import Table
from polyculture.cache.store.parquet import read_rows
from polyculture.cache.store.run_folder import RunFolder, incoming_folder, sealed_import
from polyculture.cache.store.schema import (
    EXTRACTIONS,
    IMPORT_FAILURES,
    IMPORTED_FILES,
    IMPORTED_PROMPTS,
    MENTIONS,
    PROMPTS,
    PUBLISHED_ITEMS,
    RESPONSES,
)
from polyculture.cache.store.shards import JobShards, committed_parts, part_files

# Extractions are written before their responses; the row of the file says last that all is there.
_SHARDED: tuple[tuple[Table[Any], ...], ...] = ((MENTIONS, EXTRACTIONS), (RESPONSES,))
_WHOLE: tuple[Table[Any], ...] = (PROMPTS, IMPORTED_PROMPTS, IMPORT_FAILURES, PUBLISHED_ITEMS, IMPORTED_FILES)
_NUMBERED = ("response_id", "model", "prompt_id", "language", "topic", "sample", "origin")
_REMOVED = ""  # the request of extractions whose response is gone


@dataclass(frozen=True, slots=True)
class Seal:
    """What moving an import in needs to know."""

    file: str  # its name
    kept: list[str] | None  # the imports that stay, where it replaces one; None: all of them
    replaced: Sequence[str] = ()  # the names of the files whose texts it replaces


def new_incoming(run: RunFolder) -> RunFolder:
    """An empty run for the texts of a file on their way into `run`."""
    with store_faults(run.root):
        shutil.rmtree(incoming_folder(run), ignore_errors=True)
        incoming = RunFolder(incoming_folder(run) / "run")
        incoming.root.mkdir(parents=True)
    return incoming


def seal_incoming(run: RunFolder, seal: Seal) -> None:
    """Says that all of an import is written: from here on it is finished, whoever is killed."""
    with replacing(sealed_import(run)) as temporary:
        temporary.write_bytes(orjson.dumps(asdict(seal)))


def finish_incoming(run: RunFolder) -> None:
    """Moves a sealed import into its run, and removes one that is not sealed: nothing of it is in the run.

    Raises `JobHeldError` where another process extracts from the run's texts at this moment.
    """
    folder = incoming_folder(run)
    if not folder.exists():
        return
    with store_faults(run.root):
        if sealed_import(run).exists():
            _move_in(run, RunFolder(folder / "run"), Seal(**orjson.loads(sealed_import(run).read_bytes())))
        sealed_import(run).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


def _move_in(run: RunFolder, incoming: RunFolder, seal: Seal) -> None:
    """Each step may be repeated: it looks at what is there already."""
    removed = incoming_folder(run) / "removed"
    if seal.kept is not None and not removed.exists():
        for lost in unreadable(run).values():
            if lost.source in seal.replaced:
                _remove(run, lost)
        _keep_imports(run, seal.kept)
        removed.touch()
    for tables in _SHARDED:
        for job in incoming.jobs(tables[-1].name):
            with JobShards(run, job, tables, source=seal.file, allow_lost=True) as shards:
                for part in part_files(incoming.shards(tables[-1].name, job)):
                    found = {table.name: incoming.shards(table.name, job) / part.name for table in tables}
                    if not shards.has_part_of(part):
                        shards.append_part({table.name: read_rows(found[table.name], table) for table in tables})
    for table in _WHOLE:
        if incoming.table(table.name).exists():
            incoming.table(table.name).replace(run.table(table.name))
            record_table(run, table.name)


def unreadable(run: RunFolder) -> dict[Path, LostPart]:
    """The parts, of all tables that an import writes, whose rows cannot be read, by the part that commits them.

    All parts are read whole.
    """
    return {
        run.root / tables[-1].name / part.place / part.path.name: part
        for tables in _SHARDED
        for table in tables
        for part in unreadable_parts(run, table)
    }


def _remove(run: RunFolder, part: LostPart) -> None:
    """Removes what is left of a part that cannot be read, and its record."""
    tables = next(tables for tables in _SHARDED if part.table in {table.name for table in tables})
    for table in tables:
        (run.root / table.name / part.place / part.path.name).unlink(missing_ok=True)
    forget_part(run, tables[-1], part)


def _keep_imports(run: RunFolder, import_ids: Collection[str]) -> None:
    """Takes the texts of all imports but these out of a run, with what was extracted from them."""
    left_alone = unreadable(run)
    rows = [
        row
        for part in committed_parts(run, RESPONSES)
        if part not in left_alone
        for row in read_rows(part, RESPONSES, _NUMBERED).to_pylist()
    ]
    samples, next_sample = dict[str, int](), Counter[tuple[Any, ...]]()
    for row in sorted(rows, key=lambda row: row["sample"]):
        if str(row["origin"]).partition(":")[0] in import_ids:
            place = (row["model"], row["prompt_id"], row["language"], row["topic"])
            samples[row["response_id"]] = next_sample[place]
            next_sample[place] += 1
    for tables in _SHARDED:
        for job in run.jobs(tables[-1].name):
            # What a killed run left in a journal would come back later.
            with JobShards(run, job, tables, allow_lost=True) as shards:
                for part in part_files(run.shards(tables[-1].name, job)):
                    if part in left_alone:
                        continue
                    stored = {table: read_rows(run.shards(table.name, job) / part.name, table) for table in tables}
                    left = {table.name: found for table, rows in stored.items()
                            if (found := _left(table, rows, samples)) is not None}  # fmt: skip
                    if left:
                        shards.replace_part(part.name, left)


def _left(table: Table[Any], rows: pa.Table, samples: Mapping[str, int]) -> pa.Table | None:
    """The rows of responses that have a number, under that number, and what was paid for others; None: all as it is."""
    ids, before = rows["response_id"].to_pylist(), rows["sample"].to_pylist()
    after = [samples.get(str(one)) for one in ids]
    if after == before:
        return None
    kept = _with(rows, "sample", after).filter(pc.is_valid(pa.array(after, pa.int64())))
    if table is not EXTRACTIONS:
        return kept
    paid = rows.filter(pc.and_(pc.invert(pc.is_in(rows["response_id"], pa.array(samples, pa.string()))),
                               pc.is_valid(rows["purchase"])))  # fmt: skip
    # The same text may come back under its id: the old key would say that it is done.
    keys = [f"{key}-{uuid4().hex[:8]}" for key in paid["extraction_id"].to_pylist()]
    paid = _with(_with(paid, "extraction_id", keys), "request_id", [_REMOVED] * len(keys))
    return pa.concat_tables([kept, paid])


def _with(rows: pa.Table, name: str, values: Sequence[Any]) -> pa.Table:
    place = rows.schema.get_field_index(name)
    return rows.set_column(place, rows.schema.field(place), pa.array(values, rows.schema.field(place).type))
