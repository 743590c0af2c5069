"""Shards: whole or absent, resumable after a kill at any moment, held by one process."""

from __future__ import annotations

import os
import random
import shutil
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import polyculture.cache.store.shards
from polyculture.cache.errors import JobHeldError, StoreError
from polyculture.cache.store.parquet import objects_to_table, read_metadata, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import CORE, EXTRACTIONS, MENTIONS, PROMPTS, RESPONSES, Prompt
from polyculture.cache.store.shards import JobShards, committed_parts, unsealed
from polyculture.cache.store.store import open_store
from tests.quick_start import begin
from tests.store_builder import TABLES, StoreBuilder

JOB = Job("openai:org/model", "en", "food")


def row(table: str, **values: Any) -> dict[str, Any]:
    """A row of a table, empty but for `values`."""
    empty = {"int": 0, "bool": False, "str": "", "float": 0.0}
    blank = {f.name: None if "None" in str(f.type) else empty[str(f.type)] for f in fields(TABLES[table].row)}
    return {**blank, **values}


def response(number: int) -> dict[str, Any]:
    return {"responses": [row("responses", response_id=f"r{number}", sample=number, text="väl skrivet")]}


def extraction(number: int, mentions: int = 2) -> dict[str, Any]:
    key = f"r{number}"
    found = [row("mentions", response_id=key, extraction_id=key, ordinal=i, surface=f"s{i}") for i in range(mentions)]
    return {
        "mentions": found,
        "extractions": [row("extractions", response_id=key, extraction_id=key, mentions=mentions)],
    }


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "runs" / "x")


def stored(run: RunFolder) -> list[str]:
    with JobShards(run, JOB, [RESPONSES]) as shards:
        return sorted(shards.read("responses", ["response_id"])["response_id"].to_pylist())


def test_rows_that_no_table_shows_yet_are_known(run: RunFolder) -> None:
    with JobShards(run, JOB, [RESPONSES]) as shards:
        assert unsealed(run) == 0
        shards.append(response(1))
        assert unsealed(run) == 1
    assert unsealed(run) == 0


def test_a_part_is_written_when_it_is_full_and_when_the_job_ends(run: RunFolder) -> None:
    with JobShards(run, JOB, [RESPONSES], part_rows=10) as shards:
        for number in range(25):
            shards.append(response(number))
        assert len(committed_parts(run, RESPONSES)) == 2
    parts = committed_parts(run, RESPONSES)
    assert [pq.read_metadata(part).num_rows for part in parts] == [10, 10, 5]
    assert len(stored(run)) == 25


def test_the_folder_of_a_model_name_with_slashes_is_one_folder(run: RunFolder) -> None:
    assert run.shards("responses", JOB).parent.parent.name == "model=openai%3Aorg%2Fmodel"


def test_a_folder_of_a_table_is_read_by_pandas(run: RunFolder) -> None:
    jobs = [JOB, Job("openai:org/model", "ja", "food"), Job("mock:an/other one", "en", "traffic means")]
    for job in jobs:
        for numbers in ([1, 2], [3]):  # several parts
            with JobShards(run, job, [RESPONSES]) as shards:
                for number in numbers:
                    told = {"model": job.model, "language": job.language, "topic": job.topic}
                    shards.append({"responses": [{**response(number)["responses"][0], **told}]})
    with JobShards(run, JOB, [RESPONSES]) as shards:
        shards.reopen(["r1"])  # writes a part anew
        assert shards.read("responses", ["model"]).schema.field("model").type == pa.string()
    frame = pd.read_parquet(run.root / "responses")
    found = frame.groupby(["model", "language", "topic"], observed=True).size().to_dict()
    assert found == {(job.model, job.language, job.topic): 3 for job in jobs}


def test_a_second_process_is_told_who_holds_the_job(run: RunFolder) -> None:
    with (
        JobShards(run, JOB, [RESPONSES]),
        pytest.raises(JobHeldError, match=f"held by process {os.getpid()}"),
        JobShards(run, JOB, [RESPONSES]),
    ):
        pass


def test_a_cut_journal_line_is_no_record_and_a_sealed_one_is_not_counted_twice(run: RunFolder) -> None:
    with JobShards(run, JOB, [RESPONSES]) as shards:
        shards.append(response(1))
    journal = run.shards("responses", JOB) / "journal.jsonl"
    journal.write_bytes(orjson.dumps(response(1)) + b"\n" + orjson.dumps(response(2)) + b"\n" + b'{"responses": [{"re')
    assert stored(run) == ["r1", "r2"]
    assert not journal.exists()


def test_mentions_without_their_extraction_are_no_part_of_the_store(run: RunFolder) -> None:
    tables = [MENTIONS, EXTRACTIONS]
    with JobShards(run, JOB, tables) as shards:
        shards.append(extraction(1))
    with JobShards(run, JOB, tables) as shards:
        shards.append(extraction(2))
    (run.shards("extractions", JOB) / "part-00001.parquet").unlink()  # killed between the two renames
    assert [part.name for part in committed_parts(run, MENTIONS)] == ["part-00000.parquet"]
    with JobShards(run, JOB, tables) as shards:
        assert shards.read("mentions").num_rows == 2
    assert not (run.shards("mentions", JOB) / "part-00001.parquet").exists()


def test_failed_work_can_be_taken_out_and_tried_again(run: RunFolder) -> None:
    with JobShards(run, JOB, [RESPONSES]) as shards:
        for number in range(4):
            shards.append(response(number))
    with JobShards(run, JOB, [RESPONSES]) as shards:
        shards.retire({"r1", "r3"})
    assert stored(run) == ["r0", "r2"]


def test_a_file_is_whole_or_absent_and_carries_its_metadata(tmp_path: Path) -> None:
    file = tmp_path / "prompts.parquet"
    prompt = Prompt("p", "en", "food", "neutral", None, None, "Write.", "write")
    write_parquet(objects_to_table(PROMPTS, [prompt]), file, {"digest": "abc"})
    assert read_metadata(file) == {"digest": "abc"}
    assert pq.read_table(file).to_pylist()[0]["text"] == "Write."
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/proc/self/mounts").exists(), reason="needs a read-only folder")
def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where a folder must be")
    run = RunFolder(tmp_path / "taken" / "x")
    with pytest.raises(StoreError, match=r"written.*directory"), JobShards(run, JOB, [RESPONSES]):
        pass


def test_a_full_disk_loses_nothing_that_was_written_before(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """`/dev/full` is a real device that refuses every byte, as a full disk does."""
    with JobShards(run, JOB, [RESPONSES]) as shards:
        shards.append(response(1))
    with JobShards(run, JOB, [RESPONSES]) as shards:
        shards._journal = Path("/dev/full").open("ab", buffering=0)  # noqa: SIM115
        with pytest.raises(StoreError, match=r"space.*device"):
            shards.append(response(2))
    assert stored(run) == ["r1"]


@pytest.mark.parametrize("step", ["write_parquet", "_write_whole"])
def test_ctrl_c_between_two_steps_neither_loses_an_answer_nor_keeps_it_twice(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def interrupted(*given: Any) -> None:
        whole(*given)
        raise KeyboardInterrupt

    def work() -> None:
        with JobShards(run, JOB, [RESPONSES], part_rows=3) as shards:
            shards.append(response(1))
            shards.append(response(2))
            with monkeypatch.context() as patched:
                patched.setattr(polyculture.cache.store.shards, step, interrupted)
                shards.append(response(3))  # on disk when Ctrl-C comes

    whole = getattr(polyculture.cache.store.shards, step)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert stored(run) == ["r1", "r2", "r3"]


def write_rows(run: RunFolder, acknowledged: Path) -> None:
    with JobShards(run, JOB, [MENTIONS, EXTRACTIONS], part_rows=60) as shards, acknowledged.open("a") as file:
        done = set(shards.read("extractions", ["extraction_id"])["extraction_id"].to_pylist())
        for number in range(3000):
            if f"r{number}" not in done:
                shards.append(extraction(number))
                print(number, file=file, flush=True)


@pytest.mark.parametrize("kills", [4, pytest.param(12, marks=pytest.mark.full)])
def test_killed_at_random_moments_it_ends_in_the_same_tables(run: RunFolder, kills: int) -> None:
    randomness = random.Random(7)
    acknowledged: set[int] = set()
    for _ in range(kills):
        acknowledged |= _write_until(run, randomness.uniform(0.02, 0.25))
    acknowledged |= _write_until(run, None)
    with JobShards(run, JOB, [MENTIONS, EXTRACTIONS]) as shards:
        done = shards.read("extractions", ["extraction_id"])["extraction_id"].to_pylist()
        mentions = shards.read("mentions", ["extraction_id", "ordinal"]).to_pylist()
    assert sorted(done) == sorted(f"r{number}" for number in range(3000))
    assert len(acknowledged) > 1000, "nothing was acknowledged: the kills came too early to show anything"
    assert len({(m["extraction_id"], m["ordinal"]) for m in mentions}) == len(mentions) == 6000


def _write_until(run: RunFolder, seconds: float | None) -> set[int]:
    """What a writer acknowledged before it was killed `seconds` after its first record; None lets it end."""
    said = run.root.with_name("acknowledged")
    said.parent.mkdir(exist_ok=True)
    said.write_bytes(b"")
    writer = begin(write_rows, run, said)
    while not said.stat().st_size and writer.exitcode is None:
        time.sleep(0.002)
    writer.join(seconds)
    writer.kill()
    writer.join()
    return {int(line) for line in said.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")}


IMPOSSIBLE = [
    pytest.param({"completion_tokens": 2**64 - 1}, id="more than 63 bits"),
    pytest.param({"completion_tokens": 10**30}, id="more than 64 bits"),
    pytest.param({"prompt_tokens": -(2**63) - 1}, id="less than 63 bits"),
    pytest.param({"prompt_tokens": "7"}, id="a text for a number"),
    pytest.param({"prompt_tokens": float("nan")}, id="NaN for an integer"),
    pytest.param({"reasoning_tokens": True}, id="a truth value for a number"),
    pytest.param({"prompt_tokens": [1]}, id="a list for a number"),
    pytest.param({"error": 5}, id="a number for a text"),
    pytest.param({"finish_reason": {"type": "stop"}}, id="a table for a text"),
    pytest.param({"language_confidence": 10**400}, id="more than a float holds"),
    pytest.param({"refused": "no"}, id="a text for a truth value"),
]


@pytest.mark.parametrize("as_object", [True, False], ids=["object", "journal"])
@pytest.mark.parametrize("wrong", IMPOSSIBLE)
def test_a_value_that_fits_no_column_is_null_with_a_note(
    run: RunFolder, wrong: dict[str, Any], as_object: bool
) -> None:
    """Before, 2^64-1 tokens stood in the journal, and Arrow raised at every later run."""
    rows = [response(1), response(2), response(3)]
    rows[1]["responses"][0].update(wrong)
    with JobShards(run, JOB, [RESPONSES]) as shards:
        for record in rows:
            made = {"responses": [RESPONSES.row(**record["responses"][0])]} if as_object else record
            shards.append(made)
    with JobShards(run, JOB, [RESPONSES]) as shards:
        found = {row["response_id"]: row for row in shards.read("responses").to_pylist()}
    column = next(iter(wrong))
    assert sorted(found) == ["r1", "r2", "r3"]
    assert found["r2"][column] is None
    assert column in str(found["r2"]["note"])
    assert found["r1"]["note"] is None


@pytest.mark.parametrize(("text", "kept"), [("a\ud800b", "a\ufffdb"), ("\udcff", "\ufffd"), ("a\0b", "a\0b")])
def test_a_text_that_is_no_unicode_is_mended(run: RunFolder, text: str, kept: str) -> None:
    with JobShards(run, JOB, [RESPONSES]) as shards:
        shards.append({"responses": [row("responses", response_id="r1", text=text)]})
    with JobShards(run, JOB, [RESPONSES]) as shards:
        assert shards.read("responses", ["text"])["text"].to_pylist() == [kept]


STRANGE = [
    b"[]",
    b"5",
    b"{}",
    b"not json",
    b'{"responses": 5}',
    b'{"responses": []}',
    b'{"responses": [7]}',
    b"\xff\xfe",
]


def test_a_journal_with_strange_lines_is_sealed_without_them_and_says_so_once(
    run: RunFolder, caplog: pytest.LogCaptureFixture
) -> None:
    with JobShards(run, JOB, [RESPONSES]) as shards:
        shards.append(response(0))
    folder = run.shards("responses", JOB)
    poisoned = response(2)
    poisoned["responses"][0]["sample"] = None  # no column that may be NULL
    lines = [orjson.dumps(response(1)), *STRANGE, orjson.dumps(poisoned), orjson.dumps(response(3))]
    (folder / "journal.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    assert len(JobShards(run, JOB, [RESPONSES]).read_journal()) == 3
    assert stored(run) == ["r0", "r1", "r3"]
    assert len((folder / "set-aside.jsonl").read_bytes().splitlines()) == len(STRANGE) + 1
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2
    assert f"{len(STRANGE)} rows cannot" in told[0]
    assert "set aside: r2" in told[1]
    caplog.clear()
    assert stored(run) == ["r0", "r1", "r3"]
    assert not caplog.records


def test_files_that_polyculture_did_not_name_are_told_and_not_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What synchronised folders and file managers put beside a part."""
    builder = StoreBuilder(tmp_path / "run")
    builder.answer(builder.ask())
    run = builder.write()
    [part] = (run.root / "responses").rglob("part-00000.parquet")
    names = ("part-00000 (1).parquet", "part-00000.sync-conflict-20261126-101010-ABC.parquet", "part-000000.parquet")
    for name in names:
        shutil.copy(part, part.with_name(name))
    with open_store(run, CORE) as store:
        assert store.sql("SELECT count(*) FROM stored_responses").fetchall() == [(1,)]
    assert all(name in caplog.text for name in names)


def test_a_copied_folder_of_a_job_is_an_error_that_names_both_files(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run")
    builder.answer(builder.ask())
    run = builder.write()
    [part] = (run.root / "responses").rglob("part-00000.parquet")
    copy = part.parent.with_name("topic=food (conflicted copy)")
    for _ in range(2):  # files that were checked once are not checked again, and others are
        with open_store(run, CORE) as store:
            assert len(store.sql("FROM responses").fetchall()) == 1
        shutil.copytree(part.parent, copy)
        for _ in range(2):
            with open_store(run, CORE) as store, pytest.raises(StoreError, match="stand twice") as told:
                store.sql("FROM responses")
            assert str(part.parent) in str(told.value)
            assert str(copy) in str(told.value)
        shutil.rmtree(copy)


def test_a_file_that_takes_the_place_of_one_that_was_checked_is_checked(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run")
    builder.answer(builder.ask())
    run = builder.write()
    [part] = (run.root / "responses").rglob("part-00000.parquet")
    with open_store(run, CORE) as store:
        assert len(store.sql("FROM responses").fetchall()) == 1
    rows = pq.ParquetFile(part).read()
    write_parquet(rows.drop_columns(["seed"]), part)
    with open_store(run, CORE) as store, pytest.raises(StoreError, match="has no column seed"):
        store.sql("FROM responses")


def test_a_folder_that_is_moved_while_it_is_written_is_told_and_keeps_its_rows(tmp_path: Path) -> None:
    run, moved = RunFolder(tmp_path / "run"), RunFolder(tmp_path / "moved")

    def work() -> None:
        with JobShards(run, JOB, [RESPONSES]) as shards:
            shards.append({"responses": [row("responses", response_id="1")]})
            run.root.rename(moved.root)
            shards.append({"responses": [row("responses", response_id="2")]})

    with pytest.raises(StoreError, match="moved or removed"):
        work()
    assert not run.root.exists()
    [record] = JobShards(moved, JOB, [RESPONSES]).read_journal()
    assert record["responses"][0]["response_id"] == "1"
