"""A store for somebody else's SQL: nothing is written into the run, nothing else is read, whatever the statement."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from polyculture.cache.errors import StoreError
from polyculture.cache.store.queries import check_query
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import Store, open_store
from polyculture.running.layout import store_layout
from tests.report_run import Synthetic

PIVOT = "PIVOT (SELECT unnest(['a', 'b']) AS letter, 1 AS n) ON letter USING sum(n)"
WRITES = (
    f"COPY ({PIVOT}) TO '{{file}}' (FORMAT parquet)",
    "COPY (SELECT 1) TO '{file}'",
    "WITH x AS (COPY (SELECT 1) TO '{file}') FROM x",
    f"WITH x AS (COPY ({PIVOT}) TO '{{file}}') FROM x",
    "COPY (SELECT 1 AS a) TO '{run}/new' (FORMAT parquet, PARTITION_BY a)",
    "EXPORT DATABASE '{run}/new'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{file}'",
    "ATTACH '{run}/new.duckdb' AS new",
    "CREATE PERSISTENT SECRET s (TYPE http)",
)
READS = (
    "SELECT * FROM read_text('{outside}')",
    "SELECT * FROM read_text('{run}/manifest.json')",
    "SELECT * FROM read_csv('{outside}')",
    "FROM '{outside}'",
    "ATTACH '{outside}'",
    "SELECT * FROM glob('{outside}*')",
    "SELECT getenv('HOME')",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "RESET allowed_directories",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return Synthetic(n=1, languages=("en",), topics=("food",)).write(tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The temporary folder of the store; what it spills lies in `spill`."""
    return tmp_path_factory.mktemp("own")


@pytest.fixture(scope="module")
def store(run: RunFolder, own: Path) -> Iterator[Store]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("polyculture.cache.store.store.memory_limit", lambda: "256MiB")
        store = open_store(run, store_layout(), sandbox=own / "spill")
    with store:
        yield store


def contents(run: RunFolder) -> dict[Path, str]:
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in run.root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("address", ["{run}/links.parquet", "run://{run}/links.parquet", "file://{run}/links.parquet",
                                     "{spill}/{up}/links.parquet"])  # fmt: skip
@pytest.mark.parametrize("statement", WRITES)
def test_no_statement_writes_into_the_run(
    run: RunFolder, store: Store, own: Path, statement: str, address: str
) -> None:
    """`COPY (PIVOT ...) TO` had overwritten a shard, with the paid answers in it."""
    file = address.format(run=run.root, spill=own / "spill", up=os.path.relpath(run.root, own / "spill"))
    before = contents(run)
    with pytest.raises(duckdb.Error):
        store.execute(statement.format(file=file, run=run.root))
    assert contents(run) == before


@pytest.mark.parametrize("statement", READS)
def test_nothing_else_is_read(store: Store, run: RunFolder, tmp_path: Path, statement: str) -> None:
    outside = tmp_path / "secret.csv"
    outside.write_text("a\nhush", encoding="utf-8")
    for file in (outside, f"run://{outside}", f"file://{outside}", f"run://{run.root}/../{outside.name}"):
        try:
            found = store.execute(statement.format(outside=file, run=f"run://{run.root}")).fetchall()
        except duckdb.Error:
            continue
        assert found == [], file  # to the run's file system it is a file that is not there


def test_views_are_read_as_before(run: RunFolder, store: Store) -> None:
    with open_store(run, store_layout()) as plain:
        for view in ("responses", "mentions", "links", "granularity", "specificity_gain"):
            query = f"SELECT md5(string_agg(x::VARCHAR, '|' ORDER BY x::VARCHAR)), count(*) FROM {view} x"
            assert store.sql(query).fetchall() == plain.sql(query).fetchall(), view


def test_what_does_not_fit_is_spilled_beside_the_store(store: Store, own: Path) -> None:
    query = """
        SELECT count(*), count(*) FILTER (h < before)
        FROM (
            SELECT h, lag(h) OVER (ORDER BY h) AS before
            FROM (SELECT rpad(hash(range)::VARCHAR, 500, 'x') AS h FROM range(1_000_000))
        )
    """
    assert store.execute(query).fetchall() == [(1_000_000, 0)]
    assert any(own.joinpath("spill").iterdir())


@pytest.mark.parametrize("query", [
    "SELECT 1", "FROM responses", "WITH a AS (SELECT 1) FROM a", "DESCRIBE responses", "SUMMARIZE links", "VALUES (1)",
    "SHOW TABLES", PIVOT, f"FROM ({PIVOT})", f"WITH p AS ({PIVOT}) FROM p",
    "/* copy */ SELECT 'copy' AS \"copy\" -- copy",
    "SELECT 1;", "UNPIVOT (SELECT 1 AS a) ON a",
])  # fmt: skip
def test_a_question_is_let_through(query: str) -> None:
    check_query(query)


@pytest.mark.parametrize("query", [
    *(statement.format(file="f", run="r") for statement in WRITES), "SELECT 1; SELECT 2", "", "SET threads = 1",
    "PRAGMA version", "CALL checkpoint()", "INSTALL httpfs", "LOAD httpfs", "ATTACH 'x'", "DETACH x", "EXECUTE x",
    "CREATE MACRO f() AS TABLE FROM x", f"CREATE TEMP TABLE x AS {PIVOT}", f"INSERT INTO x {PIVOT}", "VACUUM",
    "WITH x AS (INSERT INTO y VALUES (1) RETURNING *) FROM x", f"EXPLAIN ANALYZE COPY ({PIVOT}) TO 'x'", "CHECKPOINT",
    "wItH x aS (/**/\tCoPy/**/(SELECT 1) TO 'x') FROM x",
])  # fmt: skip
def test_what_acts_is_refused_before_it_is_bound(query: str) -> None:
    with pytest.raises(StoreError, match="read-only"):
        check_query(query)
