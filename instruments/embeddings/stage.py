"""The stage that represents: entities in, a vector per entity and layer in the store out, one job at a time.

An entity's vector is the mean of the hidden states of its tokens where it stands in a context's gap, averaged over the
contexts. The contexts are the same for both cultures: what is the context's own is no difference between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polyculture.cache.errors import EngineError
from polyculture.cache.identity import content_id
from polyculture.cache.outcome import Outcome, Progress, silent
from polyculture.cache.parquet import rows_to_table
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.shards import JobShards
from polyculture.generate.engines import ModelSpec, Represented, ScoreRequest
from polyculture.instruments.cbs.stage import ScoringJob
from polyculture.instruments.datasets.model import CulturalEntity, MaskedContext
from polyculture.instruments.embeddings.rows import REPRESENTATIONS

TABLE, KEY = "representations", "representation_id"
PART = 200  # entities that are asked, and written, at a time
Layers = tuple[str, ...]


def represent_job(
    run: RunFolder, job: ScoringJob, spec: ModelSpec, engine: Any, layers: Layers, progress: Progress = silent
) -> Outcome:
    """Represents what is missing of a job; a failure is a row with its reason.

    Raises `JobHeldError` where another process holds the job, `EngineError` where the engine gives no hidden states or
    has no such layer.
    """
    if not engine.capabilities.represent:
        remedy = "Name the same model as 'transformers:...'."
        raise EngineError("gives no hidden states", where=spec.model, remedy=remedy)
    contexts, _ = _asked(job)
    with JobShards(run, job.job, [REPRESENTATIONS]) as shards:
        stock = _read_stock(shards)
        missing, outcome = _missing(job, layers, stock)
        shards.retire({_key(job, contexts, e, layer) for e in missing for layer in layers} & stock.keys())
        progress(outcome)
        for start in range(0, len(missing), PART):
            some = missing[start : start + PART]
            rows = _rows(job, contexts, some, layers, engine)
            # Past the journal: vectors are long, and a pass over some entities is soon done again.
            shards.append_part({TABLE: rows_to_table(REPRESENTATIONS, rows)})
            bad = len({row["entity_id"] for row in rows if row["status"] != "ok"})
            outcome += Outcome(len(some) - bad, bad)
            progress(outcome)
    return outcome


def settled(run: RunFolder, job: ScoringJob, layers: Layers) -> Outcome | None:
    """What has become of a job of which nothing is left to ask; None where something is."""
    with JobShards(run, job.job, [REPRESENTATIONS]) as shards:
        missing, outcome = _missing(job, layers, _read_stock(shards))
    return None if missing else outcome


def _read_stock(shards: JobShards) -> dict[str, bool]:
    """The keys that are in the store, and whether each has a vector."""
    table = shards.read(TABLE, [KEY, "status"])
    return {row[KEY]: row["status"] == "ok" for row in table.to_pylist()}


def _missing(job: ScoringJob, layers: Layers, stock: Mapping[str, bool]) -> tuple[list[CulturalEntity], Outcome]:
    """The entities that lack a layer, and what has become of the others."""
    contexts, entities = _asked(job)
    missing, failed = [], 0
    for entity in entities:
        keys = [_key(job, contexts, entity, layer) for layer in layers]
        if not stock.keys() >= set(keys):
            missing.append(entity)
        elif not all(stock[key] for key in keys):
            failed += 1
    done = len(entities) - len(missing) - failed
    return missing, Outcome(done, failed, reused=done)


def _asked(job: ScoringJob) -> tuple[list[MaskedContext], list[CulturalEntity]]:
    """The job's contexts, and the entities that fit all of them: each stands in the same."""
    contexts = [context for context, _ in job.asked]
    fitting = [{entity.entity_id for entity in entities} for _, entities in job.asked]
    entities = {e.entity_id: e for e in job.asked[0][1] if all(e.entity_id in each for each in fitting)}
    return contexts, list(entities.values())


def _key(job: ScoringJob, contexts: Sequence[MaskedContext], entity: CulturalEntity, layer: str) -> str:
    return content_id(job.job.model, job.setup_id, sorted(c.context_id for c in contexts), entity.entity_id, layer)


def _rows(
    job: ScoringJob,
    contexts: Sequence[MaskedContext],
    entities: Sequence[CulturalEntity],
    layers: Layers,
    engine: Any,
) -> list[dict[str, Any]]:
    surfaces = tuple(entity.surface for entity in entities)
    requests = [ScoreRequest(c.context_id, c.prefix, surfaces, c.suffix) for c in contexts]
    found: list[list[Represented]] = [[] for _ in entities]
    for row in engine.represent(requests, layers):
        found[row.index].append(row)
    return [
        _row(job, contexts, entity, each, layers, place)
        for entity, each in zip(entities, found, strict=True)
        for place in range(len(layers))
    ]


def _row(
    job: ScoringJob,
    contexts: Sequence[MaskedContext],
    entity: CulturalEntity,
    found: Sequence[Represented],
    layers: Layers,
    place: int,
) -> dict[str, Any]:
    error = next((row.error for row in found if row.error), None)
    vector = None if error else np.mean([row.vectors[place] for row in found], axis=0).tolist()
    return {
        KEY: _key(job, contexts, entity, layers[place]),
        "model": job.job.model,
        "dataset": entity.dataset,
        "language": entity.language,
        "culture": contexts[0].culture,
        "entity_type": entity.entity_type,
        "entity_id": entity.entity_id,
        "entity": entity.surface,
        "entity_culture": entity.culture,
        "native": entity.culture == contexts[0].culture,
        "contexts": len(contexts),
        "asked_layer": layers[place],
        "status": "failed" if error else "ok",
        "error": error,
        "layer": None if error else found[0].layers[place],
        "vector": vector,
        "model_version": next((row.model_version for row in found if row.model_version), None),
        "setup_id": job.setup_id,
    }
