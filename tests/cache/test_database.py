"""Databases of the one DuckDB that a process shares: none sees another's tables, none outlives its block."""

from __future__ import annotations

import os
import threading

import duckdb
import pytest

from polyculture.cache.database import memory_database


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
        tables = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'numbers'"
        assert outer.sql(tables).fetchall() == [(1,)]


def test_a_fault_within_a_transaction_leaves_nothing_behind() -> None:
    with pytest.raises(duckdb.CatalogException):
        broken()
    with memory_database() as store:
        attached = "SELECT count(*) FROM duckdb_databases() WHERE NOT internal AND database_name <> 'memory'"
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
