"""Answers that a run did not ask for: it took them from runs beside it, which had made the same requests.

A request is the server's address (or `deployment`), the model's name, the prompt and the sampling. Whoever deploys
another model under the same name asks nothing again: so it is said how many answers came from where.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa

from polyculture.cache.database import memory_database
from polyculture.cache.store.answers import sibling_parts
from polyculture.cache.store.parquet import read_rows
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import RESPONSES, WANTED_RESPONSES
from polyculture.cache.store.shards import part_files

_GONE = "a run that is no longer beside this one"
# A row is a run that answers came from; NULL: this run, or an imported file.
_OF_JOB = """
WITH own AS (
    SELECT DISTINCT r.response_id, r.purchase IS NULL AND r.origin IS NULL AS is_taken
    FROM read_parquet($own, hive_partitioning = false) AS r
    INNER JOIN wanted AS w USING (request_id, model)
    WHERE r.status = 'ok' AND r.sample < w.n
),
elsewhere AS (
    SELECT response_id, min(b.run) AS run
    FROM read_parquet($parts, filename = 'file', union_by_name = true, hive_partitioning = false)
    INNER JOIN beside AS b USING (file)
    WHERE status = 'ok' AND b.run IS NOT NULL
    GROUP BY response_id
)
SELECT if(o.is_taken, coalesce(e.run, $gone), NULL) AS run, count(*) AS answers
FROM own AS o
LEFT JOIN elsewhere AS e ON o.is_taken AND o.response_id = e.response_id
GROUP BY ALL
"""


def taken_lines(run: RunFolder, jobs: Sequence[Job]) -> list[str]:
    """A line for each run that answers were taken from, of those that count now; none where this run asked for all."""
    counts: Counter[str | None] = Counter()
    if not run.table(WANTED_RESPONSES.name).exists():
        return []
    with memory_database() as connection:
        connection.register("wanted", read_rows(run.table(WANTED_RESPONSES.name), WANTED_RESPONSES))
        for job in jobs:
            own = part_files(run.shards(RESPONSES.name, job))
            if not own:
                continue
            parts: dict[str, str | None] = {str(part): None for part in own}
            parts |= {str(part): one.root.name for one, part in sibling_parts(run, job, RESPONSES)}
            named = {"file": pa.array(parts, pa.string()), "run": pa.array(parts.values(), pa.string())}
            connection.register("beside", pa.table(named))
            given = {"own": list(map(str, own)), "parts": list(parts), "gone": _GONE}
            counts.update(dict(connection.execute(_OF_JOB, given).fetchall()))
    total = counts.total()
    taken = sorted((name, answers) for name, answers in counts.items() if name is not None)
    return [
        f"{answers:,} of {total:,} answers are those of {name}: the same requests, answered there"
        for name, answers in taken
    ]
