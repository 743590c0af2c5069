"""`polyculture status`: how far a run is."""

from __future__ import annotations

from polyculture.options import ExperimentFile, Runs

QUERY = """
SELECT model, language, topic,
       count(*) FILTER (WHERE status = 'ok') AS answered,
       count(*) FILTER (WHERE status = 'failed') AS failed
FROM {table} GROUP BY ALL
"""


def status(experiment: ExperimentFile, runs: Runs = None) -> None:
    """Print how far each job is.

    Responses asked, answered, failed, left and extracted.
    """
    from cache.shards import JobShards
    from cache.store import open_store
    from polyculture.tables import print_table
    from polyculture.workspace import open_workspace, require_run, warn_of_changes

    workspace = open_workspace(experiment, runs)
    require_run(workspace.run)
    with open_store(workspace.run) as store:
        counts = {
            table: {row[:3]: row[3:] for row in store.sql(QUERY.format(table=table)).fetchall()}
            for table in ("responses", "extractions")
        }
    warn_of_changes(workspace)
    rows = []
    for job in workspace.jobs:
        key = (job.model, job.language, job.topic)
        asked = len(workspace.prompts_of(job)) * workspace.sampling.n
        answered, failed = counts["responses"].get(key, (0, 0))
        # What a running or killed process has answered stands in the job's journal.
        journal = [
            r for record in JobShards(workspace.run, job, ["responses"]).read_journal() for r in record["responses"]
        ]
        answered += sum(row["status"] == "ok" for row in journal)
        failed += sum(row["status"] != "ok" for row in journal)
        extracted, not_extracted = counts["extractions"].get(key, (0, 0))
        left = asked - answered - failed
        rows.append((*key, asked, answered, failed, left, extracted, not_extracted))
    columns = ("model", "language", "topic", "asked", "answered", "failed", "left", "extracted", "extraction failed")
    print_table(columns, rows, title=str(workspace.run.root))
    if any(row[6] for row in rows):
        print_table(("to go on",), [(f"polyculture run {experiment}",)])
