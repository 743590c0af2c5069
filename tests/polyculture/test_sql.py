"""`polyculture sql`: what it may take, where it writes, and what it sends to a terminal or a spreadsheet."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from polyculture.__main__ import STOPPED
from polyculture.cache import database, guard
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cli import tables
from polyculture.cli.options import Format
from polyculture.metrics.measure import measure
from tests.polyculture.test_command_line import one_line, polyculture, polyculture_process
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


@pytest.mark.parametrize("format", ["csv", "json"])
def test_what_programs_read_is_utf_8_on_any_terminal(format: str, experiment: Path) -> None:
    """On a Latin-1 terminal it had '?' for each letter, and exit code 0."""
    query = "SELECT '寿司 żurek' AS dish"
    command = [sys.executable, "-m", "polyculture", "sql", experiment, query, "--format", format]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = subprocess.run(command, capture_output=True, env=environment, check=False, cwd=experiment.parent)
    assert done.returncode == 0
    assert "寿司 żurek" in done.stdout.decode("utf-8")


@pytest.mark.parametrize("format", ["table", "csv", "json", "parquet"])
def test_every_type_of_duckdb_is_written_or_refused_in_a_line(format: str, experiment: Path, tmp_path: Path) -> None:
    output = ["-o", tmp_path / "out.parquet"] if format == "parquet" else []
    done = polyculture("sql", experiment, "FROM test_all_types()", "--format", format, *output, cwd=experiment.parent)
    assert done.returncode == 0 or one_line(done)
    if format in ("table", "csv", "json"):
        assert done.returncode == 0, done.stderr
        assert "5881580" in done.stdout  # the last date of DuckDB, which is none of Python's


@pytest.mark.parametrize(("ending", "written"), [("csv", "a\n1\n"), ("json", '{"a":1}\n'), ("JSONL", '{"a":1}\n')])
def test_the_ending_of_a_file_says_how_it_is_written(
    ending: str, written: str, experiment: Path, tmp_path: Path
) -> None:
    """Each was CSV, whatever it was called."""
    out = tmp_path / f"out.{ending}"
    done = polyculture("sql", experiment, "SELECT 1 AS a", "-o", out, cwd=experiment.parent)
    assert done.returncode == 0, done.stderr
    assert out.read_text(encoding="utf-8") == written


@pytest.mark.parametrize("name", ["out.xyz", "out"])
@pytest.mark.parametrize(
    "words", [("sql", "SELECT 1 AS a"), ("sql",), ("status",), ("compare", "a", "b"), ("prompts",)]
)  # fmt: skip
def test_an_ending_that_says_no_format_is_refused(
    name: str, words: tuple[str, ...], experiment: Path, tmp_path: Path
) -> None:
    command, *rest = words
    done = polyculture(command, experiment, *rest, "-o", tmp_path / name, cwd=experiment.parent)
    assert done.returncode == 2
    *_, last = done.stderr.splitlines()  # `status` has lines of its own
    assert f"{name}: " in last
    assert "Let it end in .csv, .json, .parquet or .jsonl, or add --format" in last
    assert not (tmp_path / name).exists()


def test_a_format_that_is_named_is_written_whatever_the_ending(experiment: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    done = polyculture("sql", experiment, "SELECT 1 AS a", "-f", "json", "-o", out, cwd=experiment.parent)
    assert done.returncode == 0, done.stderr
    assert out.read_text(encoding="utf-8") == '{"a":1}\n'


@pytest.mark.parametrize("query", ["UPDATE EXTENSIONS", "update extensions (json)", "PRAGMA version", "CHECKPOINT"])
def test_a_statement_of_any_kind_is_refused_in_a_line(query: str, experiment: Path) -> None:
    line = one_line(polyculture("sql", experiment, query, cwd=experiment.parent))
    assert "only one SELECT" in line or "cannot be answered" in line


@pytest.mark.parametrize(("seconds", "said"), [("2", "longer than 2 seconds"), ("600", "of memory")])
def test_a_query_that_duckdb_does_not_stop_is_stopped_from_outside(
    seconds: str, said: str, experiment: Path, tmp_path: Path
) -> None:
    """DuckDB was at work on it after a minute with --timeout 8, with 19.7 GB."""
    (tmp_path / "site").mkdir()
    limits = "database.memory_limit = lambda share=0.5: '64GiB'\n"  # as DuckDB's own count misses what it takes here
    if said == "of memory":
        limits += "database.most_memory = lambda: 600 << 20\n"
    (tmp_path / "site" / "sitecustomize.py").write_text(
        f"from polyculture.cache import database\n{limits}", encoding="utf-8"
    )
    out = tmp_path / "out.csv"
    out.write_text("before", encoding="utf-8")
    command = [sys.executable, "-m", "polyculture", "sql", experiment, "SELECT range(900000000)", "--format", "csv"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [*command, "-o", out, "--timeout", seconds],
        capture_output=True, text=True, check=False, cwd=tmp_path, env=environment,
    )  # fmt: skip
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr
    assert out.read_text(encoding="utf-8") == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "site"]


def test_a_query_ends_with_its_command(experiment: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "polyculture", "sql", experiment, SLOW]
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
        with subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)}
        ) as process:
            while not list(tmp_path.glob("polyculture-sql-*")):
                time.sleep(0.05)
            [child] = _told("-o", "pid=", "--ppid", str(process.pid)).split()
            process.send_signal(number)
            assert process.wait(60) == code
            assert "Traceback" not in process.communicate()[1]
        while (state := _told("-o", "stat=", "-p", child).strip()) and not state.startswith("Z"):
            time.sleep(0.05)
        for left in tmp_path.glob("polyculture-sql-*"):
            shutil.rmtree(left)


BROUGHT_DOWN = """
import os, resource, signal, sys, time
from polyculture import __main__ as line

def work():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, {handler})
    print("ready", flush=True)
    time.sleep(60)

line._command, sys.argv = work, ["polyculture", "sql"]
line.command()
"""


@pytest.mark.parametrize("handler", ["signal.SIG_DFL", "lambda *_: os.abort()"])
def test_ctrl_c_that_brings_the_query_down_is_no_want_of_memory(handler: str, tmp_path: Path) -> None:
    """A terminal sends Ctrl-C to both processes; a library that was loading in the one that asks ended it."""
    command = [sys.executable, "-c", BROUGHT_DOWN.format(handler=handler)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines() == [STOPPED]


@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {}], ids=["ASCII", "as it is"])
def test_arguments_are_read_as_utf_8_whatever_the_locale(
    locale: dict[str, str], experiment: Path, tmp_path: Path
) -> None:
    out = tmp_path / "出.csv"
    query = "SELECT '寿司' AS dish"
    done = polyculture_process("sql", experiment, query, "-f", "csv", "-o", out, cwd=experiment.parent, **locale)
    assert done.returncode == 0, done.stderr
    assert out.read_text(encoding="utf-8").splitlines() == ["dish", "寿司"]


def test_an_argument_that_is_no_text_is_one_line_and_a_file_may_be_called_so(experiment: Path, tmp_path: Path) -> None:
    query = os.fsdecode(b"SELECT '\xff'")
    assert "\\xff" in one_line(polyculture_process("sql", experiment, query, cwd=experiment.parent))
    file = tmp_path / os.fsdecode(b"\xff.toml")
    try:
        shutil.copy(experiment, file)
    except OSError:
        pytest.skip("this file system takes names in UTF-8 alone")
    assert polyculture_process("status", file, cwd=experiment.parent).returncode == 0


def _told(*words: str) -> str:
    return subprocess.run(["ps", *words], capture_output=True, text=True, check=False).stdout


def test_resident_memory_is_told_alike_by_the_system_and_by_ps() -> None:
    """Elsewhere than on Linux it is `ps` that tells."""
    assert guard._resident_by_ps(os.getpid()) == pytest.approx(guard.resident_memory(), rel=0.2)


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


def test_numbers_that_nobody_made_of_the_data_are_named(tmp_path: Path) -> None:
    """Without a word, no rows would read as nothing that is known."""
    file, query = tmp_path / "exp.toml", "SELECT granularity FROM granularity WHERE granularity IS NOT NULL"
    first = Synthetic(n=2, languages=("en",), topics=("food",))
    first.write(tmp_path / "runs" / "asked")
    file.write_text(
        'name = "asked"\nmodels = ["openai:x"]\nlanguages = ["en"]\ntopics = ["food"]\ncountries = ["US"]\n'
    )
    unmeasured = polyculture("sql", file, query, cwd=tmp_path)
    assert "no numbers yet" in unmeasured.stderr
    assert f"run {file} --only measure" in unmeasured.stderr
    assert (
        polyculture("sql", file, "SELECT count(*) FROM responses", cwd=tmp_path).stderr == ""
    )  # these rows are all there
    run = run_of(file)
    measure(run)
    assert polyculture("sql", file, query, cwd=tmp_path).stderr == ""
    table = pq.read_table(run.table("links"))
    pq.write_table(table.slice(1).replace_schema_metadata(table.schema.metadata), run.table("links"))
    assert "numbers of entities are left out" in polyculture("sql", file, query, cwd=tmp_path).stderr
