"""Databases of the one DuckDB that a process shares: none sees another's tables, none outlives its block."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

from polyculture.cache.database import connect, free_memory, memory_database


def made(number: int) -> int:
    with memory_database() as store:
        store.execute(f"CREATE TABLE numbers AS SELECT {number} AS number")
        store.execute("CREATE VIEW doubled AS SELECT 2 * number AS number FROM numbers")
        [(found,)] = store.sql("FROM doubled").fetchall()
        return int(found)


def test_databases_of_threads_and_of_a_nested_block_are_apart() -> None:
    found: list[int] = []
    threads = [threading.Thread(target=lambda n=n: found.append(made(n))) for n in range(8)]
    with memory_database() as outer:
        outer.execute("CREATE TABLE numbers AS SELECT -1 AS number")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [2 * n for n in range(8)]
        assert outer.sql("FROM numbers").fetchall() == [(-1,)]
        tables = """
            SELECT count(*) FROM duckdb_tables() WHERE table_name = 'numbers' AND starts_with(database_name, 'scratch_')
        """  # the views of a layout, which stay with the process, are left out
        assert outer.sql(tables).fetchall() == [(1,)]


def test_a_fault_within_a_transaction_leaves_nothing_behind() -> None:
    with pytest.raises(duckdb.CatalogException):
        broken()
    with memory_database() as store:
        attached = """
            SELECT count(*) FROM duckdb_databases()
            WHERE NOT internal AND database_name <> 'memory' AND NOT starts_with(database_name, 'kept_')
        """  # what stays with the process is left out
        assert store.sql(attached).fetchall() == [(1,)]


def broken() -> None:
    with memory_database() as store:
        store.begin()
        store.execute("CREATE TABLE numbers (number BIGINT)")
        store.execute("FROM missing")


def test_a_forked_process_has_a_duckdb_of_its_own() -> None:
    assert made(1) == 2
    child = os.fork()
    if child == 0:
        os._exit(0 if made(21) == 42 else 1)
    assert os.waitpid(child, 0)[1] == 0


SPILLS = """
import sys, time
from polyculture.cache.database import connect, free_memory, memory_database
with memory_database() as store:
    store.execute("SET GLOBAL memory_limit = '60MB'")
    store.execute("CREATE TABLE numbers AS SELECT hash(range) AS number, repeat('x', 40) AS text FROM range(4000000)")
    print(store.sql("SELECT current_setting('temp_directory')").fetchall()[0][0], flush=True)
    time.sleep(600)
"""


def test_what_a_killed_process_spilled_is_removed_by_the_next(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    started = [sys.executable, "-c", SPILLS]
    with subprocess.Popen(started, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        spilled = Path(process.stdout.readline().strip())
        assert any(spilled.iterdir())
        ask = "from polyculture.cache.database import memory_database as m\nwith m() as s: s.sql('SELECT 1').fetchall()"
        subprocess.run([sys.executable, "-c", ask], env=environment, check=True)
        assert any(spilled.iterdir())  # the process that spilled it is alive
        process.send_signal(signal.SIGKILL)
    subprocess.run([sys.executable, "-c", ask], env=environment, check=True)
    assert list(tmp_path.glob("polyculture-duckdb-*")) == []


def test_every_connection_takes_half_of_the_free_memory_at_most(tmp_path: Path) -> None:
    most = free_memory()  # nothing that a test takes meanwhile is half of it
    limit = "SELECT value FROM duckdb_settings() WHERE name = 'memory_limit'"
    for opened in (connect(), connect(tmp_path / "file.duckdb"), memory_database()):
        with opened as connection:
            [(told,)] = connection.sql(limit).fetchall()
        number, unit = told.split()
        assert float(number) * {"MiB": 1 << 20, "GiB": 1 << 30}[unit] <= 0.75 * most
