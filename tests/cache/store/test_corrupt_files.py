"""A Parquet file that something else has cut: one line that names it, and a remedy that brings back what it held."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from polyculture.cache.store.queries import damaged_file
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store, opened_runs
from tests import servers
from tests.polyculture.test_command_line import one_line, polyculture
from tests.servers import StubServer
from tests.store_builder import StoreBuilder
from tests.test_nothing_is_lost import run_folder, say, tables, write_experiment

# A command that comes upon a damaged file of the table, and what makes its rows again.
READERS = {
    "responses": (["run", "--only", "extract"], "generate"),
    "extractions": (["status"], "extract"),
    "mentions": (["sql", "from mentions"], "extract"),
    "links": (["sql", "from links"], "link"),
}


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One run for all: what a test damages it mends."""
    folder = tmp_path_factory.mktemp("damaged")
    with pytest.MonkeyPatch.context() as patch, StubServer(latency=0) as stub:
        patch.setattr(servers, "answer_text", say)
        file = write_experiment(folder, stub.url, n=4)
        for stage in ("generate", "extract", "link"):
            assert polyculture("run", "--only", stage, file, cwd=folder).returncode == 0
        yield file


def file_of(run: RunFolder, table: str) -> Path:
    (found,) = [run.table(table)] if run.table(table).exists() else (run.root / table).rglob("part-*.parquet")
    return found


def test_a_damaged_file_is_named_and_its_remedy_works(experiment: Path) -> None:
    run = run_folder(experiment)
    before = {stage: tables(run, stage) for _, stage in READERS.values()}
    for table, ((command, *words), stage) in READERS.items():
        damaged = file_of(run, table)
        damaged.write_bytes(damaged.read_bytes()[:-9])
        line = one_line(polyculture(command, experiment, *words, cwd=experiment.parent))
        assert line.startswith(f"polyculture: {damaged}: is not valid Parquet")
        # What models answered is never to be deleted: it is paid for, and does not come back word for word.
        assert ("Delete it, and run again" in line) == (table == "links")
        assert ("move it out of the run's folder" in line) == (table != "links")
        damaged.rename(experiment.parent / "aside.parquet")
        for again in dict.fromkeys((stage, "extract", "link")):  # what was made of lost answers is made again, too
            assert polyculture("run", "--only", again, experiment, cwd=experiment.parent).returncode == 0
        assert tables(run, stage) == before[stage]


def test_only_a_file_that_is_damaged_is_called_so(experiment: Path) -> None:
    """DuckDB's error may name a file that is whole, behind a link, or the reader's own."""
    run, folder = run_folder(experiment), experiment.parent
    part, aside = file_of(run, "responses"), folder / "aside.parquet"
    assert damaged_file(duckdb.IOException(f"IO Error: cannot read '{part}'")) is None
    part.rename(aside)
    part.symlink_to(aside)
    line = one_line(polyculture("sql", experiment, "from responses", cwd=folder))
    assert f"{part}: is a link to {aside}" in line
    assert "elete" not in line
    part.unlink()
    aside.rename(part)
    own = folder / "own.parquet"
    own.write_bytes(b"no Parquet")
    found = damaged_file(duckdb.IOException(f"IO Error: cannot read '{own}'"))
    assert "elete" not in str(found)
    assert "own" in str(found)
    line = one_line(polyculture("sql", experiment, f"from '{own}'", cwd=folder))
    assert "is not valid Parquet" not in line
    gone = damaged_file(duckdb.IOException(f'IO Error: No files found that match the pattern "{run.root}/x.parquet"'))
    assert "is gone" in str(gone)
    assert damaged_file(duckdb.IOException("IO Error: something else"), runs=[]) is None


def test_a_part_that_is_gone_is_named_by_every_command_and_asked_for_again(
    experiment: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run, folder = run_folder(experiment), experiment.parent
    for table, stage in (("responses", "generate"), ("extractions", "extract"), ("mentions", "extract")):
        before = tables(run, stage)
        part = file_of(run, table)
        part.unlink()
        for command in (["sql", experiment, f"from {table}"], ["report", experiment], ["status", experiment]):
            line = one_line(polyculture(*command, cwd=folder))
            assert str(part) in line or table != "responses", command
            assert "is gone: it held" in line
            assert "Restore it from a copy" in line
        assert polyculture("run", "--only", stage, experiment, cwd=folder).returncode == 0
        assert "is gone: it is made again" in caplog.text
        assert tables(run, stage) == before
        if table == "responses":  # a model may have answered otherwise: no mention of the old text stays
            assert "so their mentions and extractions are made again" in caplog.text
            assert not list((run.root / "extractions").rglob("*.parquet"))
            assert polyculture("run", "--only", "extract", experiment, cwd=folder).returncode == 0
        assert polyculture("sql", experiment, f"from {table}", cwd=folder).returncode == 0


def test_of_several_runs_the_one_that_was_read_last_is_looked_at_first(tmp_path: Path) -> None:
    for name in ("a", "b", "a"):
        builder = StoreBuilder(tmp_path / name)
        builder.answer(builder.ask())
        open_store(builder.write()).close()
    assert [path.name for path in opened_runs()[:2]] == ["a", "b"]


@pytest.mark.parametrize("table", ["responses", "extractions", "mentions", "links"])
def test_a_damaged_page_is_named_too(experiment: Path, table: str) -> None:
    """DuckDB's errors about a page name no file, Arrow's neither; some damaged pages DuckDB reads without an error."""
    run = run_folder(experiment)
    damaged = file_of(run, table)
    whole = damaged.read_bytes()
    (command, *words), _ = READERS[table]
    for at in range(40, len(whole) - pages_end(damaged), max(1, pages_end(damaged) // 5)):
        damaged.write_bytes(whole[:at] + bytes(255 - byte for byte in whole[at : at + 24]) + whole[at + 24 :])
        done = polyculture(command, experiment, *words, cwd=experiment.parent)
        if done.returncode == 0:  # a page that the command does not read
            continue
        line = one_line(done)
        assert line.startswith(f"polyculture: {damaged}: is not valid Parquet"), line
    damaged.write_bytes(whole)


def pages_end(path: Path) -> int:
    """Where the pages end and the footer begins, counted from the end of the file."""
    return int.from_bytes(path.read_bytes()[-8:-4], "little") + 8


def test_every_page_has_a_checksum_that_is_looked_at(tmp_path: Path) -> None:
    from polyculture.cache.store.linked import LINKS
    from polyculture.cache.store.parquet import read_rows, rows_to_table, write_parquet
    from tests.store_builder import blank

    path = tmp_path / "links.parquet"
    rows = [blank("links", surface=f"surface {number * 7919}", status="linked") for number in range(2_000)]
    write_parquet(rows_to_table(LINKS, rows), path)
    whole, stored = path.read_bytes(), read_rows(path, LINKS)
    end, faults = len(whole) - pages_end(path), []
    for at in range(200, end - 64, end // 40):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            assert read_rows(path, LINKS).equals(stored)  # a byte of a page's head that nobody reads
        except pa.ArrowInvalid as fault:
            faults.append(str(fault))
    assert len(faults) >= 38
    assert all(str(path) in fault for fault in faults)
