"""Processes read a run while others write it, export it and are killed: none sees a part of what was written."""

from __future__ import annotations

import random
import time
from pathlib import Path

import duckdb

from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import CORE, EXTRACTIONS, MENTIONS
from polyculture.cache.store.shards import JobShards
from polyculture.cache.store.store import open_store
from polyculture.cache.store.store_file import write_store_file
from tests.cache.store.test_shards import JOB, extraction
from tests.quick_start import begin
from tests.store_builder import StoreBuilder

PARTS, ROWS = 12, 25  # rows of a part
COUNTED = "SELECT count(*), count(DISTINCT extraction_id) FROM stored_extractions"
OF_MENTIONS = "SELECT count(*) FROM stored_mentions"


def write_parts(run: RunFolder, pause: float) -> None:
    for part in range(PARTS):
        job = Job(JOB.model, JOB.language, f"topic {part % 3}")
        with JobShards(run, job, [MENTIONS, EXTRACTIONS]) as shards:
            for number in range(ROWS):
                shards.append(extraction(part * ROWS + number))
        time.sleep(pause)


def read_counts(run: RunFolder, sandbox: Path | None, out: Path) -> None:
    """Notes what stores that are opened one after the other hold, until all is there."""
    with out.open("w", encoding="utf-8") as file:
        counted = 0
        while counted < PARTS * ROWS:
            with open_store(run, CORE, sandbox=sandbox) as store:
                [(counted, distinct)] = store.sql(COUNTED).fetchall()
                [(again, _)] = store.sql(COUNTED).fetchall()
                [(mentions,)] = store.sql(OF_MENTIONS).fetchall()
            print(counted, distinct, again, mentions, file=file, flush=True)


def export_often(run: RunFolder, out: Path) -> None:
    while True:
        with open_store(run, CORE) as store:
            write_store_file(run, store)
        with out.open("a", encoding="utf-8") as file:
            file.write("written\n")


def test_readers_of_a_run_that_is_written_see_whole_parts_alone(tmp_path: Path) -> None:
    run = StoreBuilder(tmp_path / "run").write()
    notes = [tmp_path / f"reader {number}" for number in range(3)]
    readers = [
        begin(read_counts, run, tmp_path / "spill" if number else None, note) for number, note in enumerate(notes)
    ]
    writer = begin(write_parts, run, 0.05)
    for process in (writer, *readers):
        process.join(120)
        assert process.exitcode == 0
    for note in notes:
        seen = [tuple(map(int, line.split())) for line in note.read_text(encoding="utf-8").splitlines()]
        assert seen == sorted(seen)
        for counted, distinct, again, mentions in seen:
            assert counted % ROWS == 0
            assert counted == distinct == again  # a store that is open does not change
            assert mentions % (2 * ROWS) == 0
        assert seen[-1][0] == PARTS * ROWS


def test_a_killed_export_leaves_the_former_file_or_the_new_one(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run")
    builder.answer(builder.ask("en"), ["ramen"])
    run, note, chance = builder.write(), tmp_path / "note", random.Random(5)
    for _ in range(4):
        note.write_text("", encoding="utf-8")
        exporter = begin(export_often, run, note)
        while not note.stat().st_size and exporter.exitcode is None:
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.3))
        exporter.kill()
        exporter.join()
        with duckdb.connect(run.store, read_only=True) as file:
            assert file.sql("SELECT count(*) FROM responses").fetchall() == [(1,)]
        with open_store(run) as store:
            assert store.sql("SELECT count(*) FROM responses").fetchall() == [(1,)]
    for left in tmp_path.glob("run/.store.duckdb.*"):
        left.unlink()
    with open_store(run) as store:
        write_store_file(run, store)
    assert [path.name for path in run.root.glob("*store*")] == ["store.duckdb"]
