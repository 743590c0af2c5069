"""Answers that a run did not ask for: it took them from runs beside it, which had made the same requests.

A request is the server's address (or `deployment`), the model's name, the prompt and the sampling. Whoever deploys
another model under the same name asks nothing again: so it is said how many answers came from where.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from polyculture.cache.database import memory_database
from polyculture.cache.store.answers import sibling_parts
from polyculture.cache.store.parquet import read_rows
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import RESPONSES, WANTED_RESPONSES
from polyculture.cache.store.shards import part_files

_GONE = "a run that is no longer beside this one"
# A row is an answer that counts, and whether this run took it over: it neither paid for it nor imported it.
_OWN = """
CREATE TEMP TABLE own AS
SELECT DISTINCT r.response_id, r.purchase IS NULL AND r.origin IS NULL AS is_taken
FROM read_parquet($parts, union_by_name = true, hive_partitioning = false) AS r
INNER JOIN wanted AS w USING (request_id, model)
WHERE r.status = 'ok' AND r.sample < w.n
"""
_COUNTS = "SELECT count(*), count(*) FILTER (is_taken) FROM own"
# A row is an answer that was taken over and is in a run beside this one.
_BESIDE = """
CREATE TEMP TABLE beside AS
SELECT o.response_id, min(f.run) AS run
FROM read_parquet($parts, filename = 'file', union_by_name = true, hive_partitioning = false) AS r
INNER JOIN own AS o ON o.is_taken AND o.response_id = r.response_id
INNER JOIN files AS f USING (file)
WHERE r.status = 'ok'
GROUP BY o.response_id
"""
_BY_RUN = "SELECT run, count(*) FROM beside GROUP BY run ORDER BY run"


def taken_lines(run: RunFolder, jobs: Sequence[Job]) -> list[str]:
    """A line for each run that answers were taken from, of those that count now; none where this run asked for all."""
    parts = [part for job in jobs for part in part_files(run.shards(RESPONSES.name, job))]
    if not parts or not run.table(WANTED_RESPONSES.name).exists():
        return []
    with memory_database() as connection:
        connection.register("wanted", read_rows(run.table(WANTED_RESPONSES.name), WANTED_RESPONSES))
        connection.execute(_OWN, {"parts": list(map(str, parts))})
        [(total, taken)] = connection.execute(_COUNTS).fetchall()
        if not taken:
            return []
        of_run = {str(part): one.root.name for job in jobs for one, part in sibling_parts(run, job, RESPONSES)}
        counts: list[tuple[str, int]] = []
        if of_run:
            files = {"file": pa.array(of_run, pa.string()), "run": pa.array(of_run.values(), pa.string())}
            connection.register("files", pa.table(files))
            connection.execute(_BESIDE, {"parts": list(of_run)})
            counts = connection.execute(_BY_RUN).fetchall()
    if gone := taken - sum(answers for _, answers in counts):
        counts.append((_GONE, gone))
    return [
        f"{answers:,} of {total:,} answers are those of {name}: the same requests, answered there"
        for name, answers in counts
    ]
