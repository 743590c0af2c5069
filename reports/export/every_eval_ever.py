"""Records of an export's numbers in the common form of Every Eval Ever (evaleval/every_eval_ever, schema 0.3.0).

A model has one file, with one result for each of its rows of `numbers` that has an estimate. `metric_parameters` are
the key of that row, so that whoever reads the record finds the row again. Means over several models belong to no model,
and are in no record. The file lies where that project's datastore expects it:
data/polyculture/DEVELOPER/MODEL/UUID.json.
"""

from __future__ import annotations

import json
import math
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from polyculture.cache.identity import content_id
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.schema.measured import EVERY, WITHOUT
from polyculture.cache.store.store import Store
from polyculture.metrics import MEASURE
from polyculture.metrics.declared import METRICS, RANGES, Metric, is_count, is_share
from polyculture.reports.export.redaction import Redaction

SCHEMA_VERSION = "0.3.0"
FOLDER = "data"  # of all records, in an export
_COLLECTION = "polyculture"
_KEY = ("level", "model", "dataset", "language", "country", "topic", "condition", "wording", "method", "reader")
_SEED = "sampling_seed"  # the option of a model in place of the experiment's seed
_COUNTS = ("unit", "units", "n", "cells", "missing")  # what a number is based on
_REASONS = ("no_interval", "no_wide")
_UNPORTABLE = re.compile(r'[<>:"\\|?*\s\x00-\x1f]+')
_ROWS = "FROM numbers WHERE estimate IS NOT NULL AND isfinite(estimate) ORDER BY ALL"
_NO_DIRECTION = "Polyculture calls neither higher nor lower values better."


@dataclass(frozen=True)
class RecordFacts:
    """What records say that no table of a run has."""

    is_hosted: Callable[[str], bool | None]  # whether a model's engine asks a paid service; None: nobody knows
    study_id: Callable[[Manifest, Store], str | None]  # equal for runs of one study; None where nothing was measured
    ranges: Mapping[str, tuple[float, float]]  # by method: the least and the most that each of its metrics can be


@dataclass(frozen=True)
class ModelRecord:
    """The record of a model, and where it lies in the export."""

    path: str
    content: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The file."""
        return json.dumps(self.content, ensure_ascii=False, indent=1) + "\n"


def records(
    store: Store,
    manifest: Manifest,
    redaction: Redaction,
    made: int,
    licence: str | None,
    facts: RecordFacts,
    study: str | None = None,
) -> Iterator[ModelRecord]:
    """A record for each model that has numbers. `made` is when they were measured, in seconds of Unix; `study` is the
    name of the study that the run is, where it states one."""
    rows = store.sql(_ROWS).to_arrow_table().to_pylist()
    study_id = facts.study_id(manifest, store)
    for model in manifest.models:
        own = (row for row in rows if row["model"] == model)
        results = [_result(row, manifest, facts, study or manifest.experiment) for row in own]
        if results:
            info = redaction.plain(_model_info(model, manifest, facts))
            yield _record(info, redaction.plain(results), manifest, redaction, made, licence, study_id)


def _record(
    info: Mapping[str, Any],
    results: list[dict[str, Any]],
    manifest: Manifest,
    redaction: Redaction,
    made: int,
    licence: str | None,
    study_id: str | None,
) -> ModelRecord:
    identity = _identity(info["name"])
    content = {
        "schema_version": SCHEMA_VERSION,
        # EVALUATION/MODEL/TIME, as the schema has it. With the engine: two engines of a run may have asked one model.
        "evaluation_id": f"{_COLLECTION}-{info['inference_engine']['name']}/{identity.replace('/', '_')}/{made}",
        "retrieved_timestamp": str(made),
        "source_metadata": {
            "source_name": redaction.plain(manifest.experiment),
            "source_type": "evaluation_run",
            "source_organization_name": "not stated",
            "evaluator_relationship": "other",
            "additional_details": {
                **({"study_id": study_id} if study_id else {}),
                "licence": licence or "not stated",
            },
        },
        "eval_library": {"name": "polyculture", "version": manifest.polyculture},
        "model_info": {**info, "id": identity},
        "evaluation_results": results,
    }
    name = uuid.UUID(bytes=bytes.fromhex(content_id(content) + content_id(identity)[:8]), version=4)
    developer, _, rest = identity.partition("/")
    return ModelRecord(f"{FOLDER}/{_COLLECTION}/{developer}/{rest.replace('/', '_')}/{name}.json", content)


def _result(row: Mapping[str, Any], manifest: Manifest, facts: RecordFacts, study: str) -> dict[str, Any]:
    """A row of `numbers` as a result."""
    key = {column: row[column] for column in _KEY} | {f"facets.{name}": value for name, value in _pairs(row["facets"])}
    result = {
        "evaluation_result_id": content_id(row["measure"], row["metric"], key),
        "evaluation_name": f"{_COLLECTION}.{row['measure']}",
        "source_data": {
            "dataset_name": study if row["dataset"] in (WITHOUT, EVERY) else row["dataset"],
            "source_type": "other",
        },
        "metric_config": _metric(row["metric"], key, _better(row, manifest), _range(row, facts)),
        "score_details": {"score": row["estimate"], "details": _details(row), "uncertainty": _uncertainty(row)},
    }
    if row["measure"] == MEASURE.name and manifest.sampling:
        result["generation_config"] = _generation(row["model"], manifest)
    return result


def _better(row: Mapping[str, Any], manifest: Manifest) -> str | None:
    """What is good in a metric, 'low' or 'high', where a log said it of imported scores."""
    what = f"{row['dataset']} {row['metric']}"
    readers = (one for asked in manifest.asked.values() for one in asked if one.reads)
    return next((one.settings.get("better") for one in readers if one.what == what), None)


def _range(row: Mapping[str, Any], facts: RecordFacts) -> tuple[float, float]:
    """The least and the most that a number can be."""
    return facts.ranges.get(row["method"]) or RANGES.get(row["metric"], (-math.inf, math.inf))


def _metric(name: str, key: Mapping[str, str], better: str | None, span: tuple[float, float]) -> dict[str, Any]:
    declared: Metric | None = METRICS.get(name)
    low, high = span
    unit = "proportion" if is_share(name) else "items" if is_count(name) else None
    return {
        "evaluation_description": f"{declared.title if declared else name}.{'' if better else f' {_NO_DIRECTION}'}",
        "metric_id": f"{_COLLECTION}.{name}",
        "metric_name": declared.title if declared else name,
        **({"metric_kind": declared.statistic.value} if declared else {}),
        **({"metric_unit": unit} if unit else {}),
        "metric_parameters": dict(key),
        "lower_is_better": better == "low",
        # The schema asks for a direction. That there is none, its own converters say so (converters/common/metrics.py).
        **({} if better else {"additional_details": {"polarity": "not_applicable"}}),
        "score_type": "continuous",
        "min_score": low if math.isfinite(low) else "-Infinity",
        "max_score": high if math.isfinite(high) else "Infinity",
    }


def _details(row: Mapping[str, Any]) -> dict[str, str]:
    """What the number is based on, the wide interval, and why an interval is missing: strings, as the schema wants."""
    sizes = {f"sizes.{name}": str(value) for name, value in _pairs(row["sizes"])}
    wide = {name: repr(row[name]) for name in ("wide_low", "wide_high") if row[name] is not None}
    reasons = {name: row[name] for name in _REASONS if row[name] is not None}
    return {**{name: str(row[name]) for name in _COUNTS}, **sizes, **wide, **reasons}


def _uncertainty(row: Mapping[str, Any]) -> dict[str, Any]:
    """The interval of new samples of the same prompts."""
    found: dict[str, Any] = {"num_samples": row["units"]}
    if row["low"] is not None and row["high"] is not None:
        interval = {"lower": row["low"], "upper": row["high"], "confidence_level": 0.95}
        method = {"method": row["method_of_interval"]} if row["method_of_interval"] else {}
        found["confidence_interval"] = interval | method
    return found


def _generation(model: str, manifest: Manifest) -> dict[str, Any]:
    """How a model was asked for texts: what its server was not sent is left out."""
    setup = manifest.setups.get(f"sample {model}", {})
    omitted = set(setup.get("omit", ()))
    sampling = {**manifest.sampling, "seed": setup.get(_SEED, manifest.sampling.get("seed"))}
    sent = {name: value for name, value in sampling.items() if name not in omitted and value is not None}
    arguments = {name: sent[name] for name in ("temperature", "top_p", "top_k", "max_tokens") if name in sent}
    wordings = ", ".join(manifest.prompts.get("wordings", ()))
    details = {"n": str(manifest.n), "wordings": wordings, **({"seed": str(sent["seed"])} if "seed" in sent else {})}
    return {"generation_args": arguments, "additional_details": details}


def _model_info(model: str, manifest: Manifest, facts: RecordFacts) -> dict[str, Any]:
    engine = model.partition(":")[0]
    version, is_open = manifest.model_versions.get(model), manifest.model_facts.get(model, {}).get("open")
    return {
        "name": model,
        "inference_engine": {"name": engine},
        "additional_details": {
            "deployment_type": _deployment(model, manifest, facts),
            "model_availability": "unknown" if is_open is None else "open_weights" if is_open else "closed_weights",
            "setup": json.dumps(manifest.setups.get(f"sample {model}", {}), sort_keys=True),
            **({"version": version} if version else {}),
        },
    }


def _deployment(model: str, manifest: Manifest, facts: RecordFacts) -> str:
    """Who runs the model: of a hosted engine its maker, unless another address was asked; of the others the user."""
    hosted = facts.is_hosted(model)
    if hosted is None or (hosted and manifest.setups.get(f"sample {model}", {}).get("base_url")):
        return "unknown"
    return "externally_managed" if hosted else "self_deployed"


def _identity(model: str) -> str:
    """DEVELOPER/NAME: as the model's name has it, else with the engine in the developer's place."""
    engine, _, name = model.partition(":")
    name = name or "unnamed"
    whole = name if "/" in name else f"{engine}/{name}"
    parts = [_UNPORTABLE.sub("-", part).strip(". ") for part in whole.split("/")]
    return "/".join(part or "unnamed" for part in parts)


def _pairs(value: Any) -> list[tuple[str, Any]]:
    """The entries of a map, as Arrow gives it."""
    return list(value.items()) if isinstance(value, Mapping) else list(value or ())
