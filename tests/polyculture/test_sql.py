"""`polyculture sql`: what it may take, where it writes, and what it sends to a terminal or a spreadsheet."""

from __future__ import annotations

import hashlib
import io
import tempfile
import time
from pathlib import Path

import pytest

from polyculture.cache import database
from polyculture.cache.run_folder import RunFolder
from polyculture.cli import tables
from polyculture.cli.options import Format
from tests.polyculture.test_command_line import one_line, polyculture
from tests.report_run import Synthetic

SLOW = "SELECT count(*) FROM range(10_000_000) a, range(10_000_000) b WHERE a.range % 7 = b.range % 3"


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    Synthetic(n=1, languages=("en",), topics=("food",)).write(folder / "runs" / "asked")
    file = folder / "exp.toml"
    file.write_text(
        'name = "asked"\nmodels = ["openai:x"]\nlanguages = ["en"]\ntopics = ["food"]\ncountries = ["US"]\n'
    )
    return file


@pytest.fixture
def spilled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def contents(run: RunFolder) -> dict[str, str]:
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in run.root.rglob("*") if path.is_file()}


def run_of(experiment: Path) -> RunFolder:
    return RunFolder(experiment.parent / "runs" / "asked")


def test_a_copy_that_looks_like_a_question_overwrites_nothing(experiment: Path) -> None:
    """Both had overwritten the file: DuckDB calls the one MULTI, as a PIVOT, and the other SELECT."""
    run = run_of(experiment)
    before = contents(run)
    for query in (
        f"COPY (PIVOT (SELECT 1 AS a) ON a USING count(*)) TO '{run.table('links')}' (FORMAT parquet)",
        f"WITH x AS (COPY (SELECT 1) TO '{run.table('links')}' (FORMAT parquet)) FROM x",
    ):
        assert "read-only" in one_line(polyculture("sql", experiment, query, cwd=experiment.parent))
    assert contents(run) == before


def test_a_query_that_takes_too_long_is_stopped(experiment: Path, spilled: Path) -> None:
    """It had run until somebody stopped it."""
    started = time.monotonic()
    line = one_line(polyculture("sql", experiment, SLOW, "--timeout", "0.5", cwd=experiment.parent))
    assert "longer than 0.5 seconds" in line
    assert "--timeout" in line
    assert time.monotonic() - started < 60
    assert list(spilled.iterdir()) == []


def test_a_run_that_cannot_be_written_is_asked(
    experiment: Path, monkeypatch: pytest.MonkeyPatch, spilled: Path
) -> None:
    """It had ended with "cannot be written": the store was made in the run's folder."""
    run = run_of(experiment)
    run.store.unlink(missing_ok=True)
    folders = [run.root, *(path for path in run.root.rglob("*") if path.is_dir())]
    before = contents(run)
    for folder in folders:
        folder.chmod(0o555)
    try:
        done = polyculture("sql", experiment, "SELECT count(*) AS n FROM responses", "-f", "csv", cwd=experiment.parent)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "n"
    assert contents(run) == before
    assert list(spilled.iterdir()) == []


def test_memory_is_a_share_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB had taken four fifths of all memory, free or not."""
    monkeypatch.setattr(database, "_of_machine", lambda: 8 << 30)
    monkeypatch.setattr(database, "_of_container", lambda: [2 << 30])
    assert database.memory_limit() == "1024MiB"
    monkeypatch.setattr(database, "_of_container", list)
    assert database.memory_limit() == "4096MiB"
    monkeypatch.setattr(database, "_of_machine", lambda: 0)
    assert database.memory_limit() == "256MiB"
    monkeypatch.undo()
    assert 0 < database.free_memory() < 1 << 46


def test_the_limit_of_memory_reaches_duckdb(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "free_memory", lambda: 1 << 30)
    setting = "SELECT current_setting('memory_limit') AS held"
    assert "512.0 MiB" in polyculture("sql", experiment, setting, cwd=experiment.parent).stdout


@pytest.mark.parametrize("sign", ["＝", "＋", "－", "＠", "=", "+", "-", "@"])
def test_no_cell_of_csv_is_a_formula(experiment: Path, sign: str) -> None:
    """Excel takes the full-width signs for formulas, too; a PIVOT makes a value into a column's name."""
    query = f"PIVOT (SELECT '{sign}cmd' AS cell, '{sign}1' AS a) ON a USING min(cell)"
    done = polyculture("sql", experiment, query, "-f", "csv", cwd=experiment.parent)
    assert done.stdout.split() == [f"'{sign}1", f"'{sign}cmd"]


@pytest.mark.parametrize("format", [Format.TABLE, Format.CSV, Format.JSON])
def test_a_terminal_shows_escapes_and_is_sent_none(
    monkeypatch: pytest.MonkeyPatch, format: Format, experiment: Path
) -> None:
    """CSV had sent them; JSON had sent the one-byte CSI of the range C1; a column's name had been markup."""
    import duckdb

    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("sys.stdout", terminal)
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        query = "SELECT chr(27) || ']0;owned' || chr(7) || chr(155) || '31m' || chr(8238) AS \"[bold]\x1bname\""
        tables.write_rows(connection.sql(query), format, None)
    printed = terminal.getvalue()
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(printed)
    assert "\\x9b" in printed
    assert "[bold]" in printed


def test_a_pipe_gets_the_data_as_they_are(experiment: Path) -> None:
    done = polyculture("sql", experiment, "SELECT 'a' || chr(27) AS x", "-f", "csv", cwd=experiment.parent)
    assert done.stdout == "x\r\na\x1b\r\n"


def test_one_view_is_described(experiment: Path) -> None:
    done = polyculture("sql", "exp.toml", "--describe", "Granularity", "--format", "csv", cwd=experiment.parent)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("granularity: a row is a cell")
    assert done.stdout.splitlines()[0] == "column,type,meaning"
    columns = {line.split(",")[0] for line in done.stdout.splitlines()[1:]}
    assert {"model", "language", "topic", "granularity"} <= columns
    assert "" not in columns


def test_a_view_that_is_not_there_is_told_with_names_like_it(experiment: Path) -> None:
    done = polyculture("sql", "exp.toml", "--describe", "granularty", cwd=experiment.parent)
    assert done.returncode == 2
    assert "Did you mean 'granularity'" in one_line(done)
    both = polyculture("sql", "exp.toml", "SELECT 1", "--describe", "runs", cwd=experiment.parent)
    assert both.returncode == 2
    assert "one at a time" in one_line(both)


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("SELECT * FROM granularty", 'Did you mean "granularity"?'),
        ("SELECT modl FROM granularity", 'Candidate bindings: "model"'),
        ("SELCT 1", "LINE 1: SELCT 1"),
        ("SELECT * FROM respnses", "See the views"),
        ("SELECT FROM WHERE", "Correct the query"),
        ("SELECT * FROM read_csv('/etc/passwd')", "sees only"),
    ],
)
def test_duckdbs_hints_are_told_whole(experiment: Path, query: str, hint: str) -> None:
    done = polyculture("sql", "exp.toml", query, cwd=experiment.parent)
    assert done.returncode == 2
    assert hint in one_line(done)


def test_a_format_that_is_none_is_said_plainly(experiment: Path) -> None:
    done = polyculture("sql", "exp.toml", "SELECT 1", "--format", "foo", cwd=experiment.parent)
    assert done.returncode == 2
    assert "'--format' / '-f': 'foo' is not one of 'table', 'csv', 'json', 'parquet'" in one_line(done)
