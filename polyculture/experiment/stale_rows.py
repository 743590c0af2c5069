"""The rows of the last run that a model would have to make again, since something in the experiment has changed."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from polyculture.cache.manifest import Manifest
from polyculture.cache.store import current_store
from polyculture.cache.worker import left
from polyculture.experiment.workspace import Workspace

# The extracted responses that none of the given extractors has processed.
UNREAD = """
SELECT DISTINCT response_id FROM extractions AS e WHERE NOT EXISTS (
    FROM stored_extractions AS s WHERE s.response_id = e.response_id AND s.status <> 'unusable'
        AND list_contains($extractors, s.extractor_id))
"""
# By model: how many texts the last run has. Failures are lost to nobody.
ANSWERED = "SELECT model, count(*) FROM responses WHERE status = 'ok' GROUP BY model"


def costly_rows(workspace: Workspace, now: Manifest) -> dict[str, int]:
    """By stage, the number of the last run's rows that a model would have to make again under `now`.

    Rows on disk from an earlier run with these settings are reused.
    """
    before = workspace.before
    if before is None:
        return {}
    with current_store(workspace.run, before) as store:
        was = _requests(store.table("wanted_responses").to_arrow_table())
        answered = dict(store.sql(ANSWERED).fetchall())
        unread = len(store.sql(UNREAD, params={"extractors": list(now.extractor_ids.values())}))
    is_now = _requests(workspace.wanted(now))
    otherwise = {model for model, prompt in is_now.keys() & was.keys() if is_now[model, prompt] != was[model, prompt]}
    stale = [model for model in answered if workspace.reworded or model in otherwise]
    responses = sum(min(answered[model], _unasked(workspace, before, model)) for model in stale)
    by_model = ":" in workspace.experiment.extract.with_  # the new extractor decides whether it costs anything
    return {"generate": responses, "extract": unread if by_model else 0}


def _requests(wanted: pa.Table) -> dict[tuple[str, str], str]:
    """The request that each model is sent for each prompt."""
    return {(row["model"], row["prompt_id"]): row["request_id"] for row in wanted.to_pylist()}


def _unasked(workspace: Workspace, before: Manifest, model: str) -> int:
    """The number of samples of a model's last jobs without a stored answer under the present settings."""
    sampling = replace(workspace.sampling, n=min(workspace.sampling.n, before.n))
    step = workspace.sampling_step([job for job in workspace.jobs if job.model == model], sampling)
    return sum(left(workspace.run, step, work) for work in step.works())
