"""What is good in a metric, 'low' or 'high', where the files of a harness say it.

- lm-evaluation-harness 0.4, results file: `higher_is_better` by task and metric (evaluator_utils.py; null where the
  tasks of a group contradict each other).
- Every Eval Ever 0.3.0, record of an evaluation: `metric_config.lower_is_better`. The schema asks for it, so that its
  converters write false where they do not know; `polarity` in the details then says so (converters/common/metrics.py).
  They write true of no unknown metric, even if `polarity` is left as it was (converters/lm_eval/adapter.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from polyculture.sources.files import json_beside
from polyculture.sources.lm_eval import results_of, task_of
from polyculture.sources.record import Record

_SAMPLES = "_samples"  # ends the name of Every Eval Ever's file of items: UUID_samples.jsonl beside UUID.json
_NEITHER, _UNKNOWN = "not_applicable", "unknown"


def stated_directions(log: Path, harness: str) -> dict[tuple[str, str], str]:
    """What is good, by evaluation and metric; '' is any evaluation of the log."""
    if harness == "lm-eval":
        said = _table(results_of(log)).get("higher_is_better")
        own = said.get(task_of(log)) if isinstance(said, Mapping) else None
        return {
            ("", name): "high" if higher else "low"
            for name, higher in (own.items() if isinstance(own, Mapping) else ())
            if isinstance(higher, bool)
        }
    return dict(_of_results(_table(record_of(log)))) if harness == "every-eval-ever" else {}


def record_of(log: Path) -> Path:
    """The record of Every Eval Ever whose items a log has, which need not be there."""
    return log.with_name(f"{log.name.partition('.')[0].removesuffix(_SAMPLES)}.json")


def _of_results(record: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], str]]:
    results = record.get("evaluation_results")
    for one in results if isinstance(results, list) else ():
        result = Record("", one if isinstance(one, Mapping) else {})
        lower = result.get("metric_config.lower_is_better")
        polarity = result.get("metric_config.additional_details.polarity")
        if isinstance(lower, bool) and polarity != _NEITHER and (lower or polarity != _UNKNOWN):
            metric = str(result.get("evaluation_result_id") or "score")  # as items are joined to it
            yield (str(result.get("evaluation_name") or ""), metric), "low" if lower else "high"


def _table(file: Path) -> Mapping[str, Any]:
    """What a JSON file has; empty where there is none, or none that can be read."""
    found = json_beside(file)
    return found if isinstance(found, Mapping) else {}
