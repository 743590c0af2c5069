"""A Parquet file that something else has cut: one line that names it, and a remedy that brings back what it held."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from polyculture.cache.corrupt_files import damaged_file
from polyculture.cache.run_folder import RunFolder
from tests import servers
from tests.polyculture.test_command_line import one_line, polyculture
from tests.servers import StubServer
from tests.test_nothing_is_lost import run_folder, say, tables, write_experiment

# A command that comes upon a damaged file of the table, and what makes its rows again.
READERS = {
    "responses": (["extract"], "generate"),
    "extractions": (["status"], "extract"),
    "mentions": (["sql", "from mentions"], "extract"),
    "links": (["sql", "from links"], "link"),
}


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(servers, "answer_text", say)
    with StubServer(latency=0) as stub:
        file = write_experiment(tmp_path, stub.url, n=4)
        for stage in ("generate", "extract", "link"):
            assert polyculture(stage, file, cwd=tmp_path).returncode == 0
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
        doomed = re.search(r"or delete (\S+) and run again", line)
        assert doomed
        Path(doomed[1]).unlink()
        assert polyculture(stage, experiment, cwd=experiment.parent).returncode == 0
        assert tables(run, stage) == before[stage]


def test_the_part_to_delete_is_named_below_folders_that_are_named_like_tables() -> None:
    part = "model=m/language=en/topic=food/part-00000.parquet"
    error = damaged_file(duckdb.IOException(f"IO Error: cannot read '/home/mentions/runs/run/mentions/{part}'"))
    assert error is not None
    assert f"delete /home/mentions/runs/run/extractions/{part} and run again" in str(error)
    gone = damaged_file(duckdb.IOException('IO Error: No files found that match the pattern "/runs/run/links.parquet"'))
    assert "cannot be opened" in str(gone)
    assert damaged_file(duckdb.IOException("IO Error: something else")) is None
