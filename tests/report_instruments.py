"""What the other instruments leave in a run, for the report's tests: scores, swaps, hidden states; also hostile ones.

Cultural Bias Scores are measured on an engine that makes them up; of swaps and hidden states only the numbers stand
here, so that no model is loaded.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polyculture.cache.store.data_identity import inputs_of, measure_file
from polyculture.cache.store.manifest import read_manifest
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema.measured import Difference, Number
from polyculture.generate.engines import ModelSpec
from polyculture.instruments.cbs.context_prompts import PrefixKind, PrefixOptions
from polyculture.instruments.cbs.measure import measure_bias
from polyculture.instruments.cbs.step import PLAIN, scoring_jobs
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.model import CulturalEntity, DataSet
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import DataSelection
from polyculture.instruments.differences import ComparedFacets, difference_rows
from polyculture.instruments.embeddings.layout import ENTITY_POSITIONS, EntityPosition
from polyculture.instruments.embeddings.layout import MEASURE as EMBEDDINGS
from polyculture.instruments.embeddings.measure import separation_numbers
from polyculture.instruments.embeddings.separation import SeparationEstimate
from polyculture.instruments.swaps.layout import MEASURES
from polyculture.metrics.inference.paired import PairedDifference
from polyculture.metrics.measured import write_differences, write_numbers
from tests.instruments.test_cbs_store import DEMO, ToyEngine
from tests.steps import score_job

SELECTION = DataSelection(types=("food", "names"), cultures=("Japanese", "Indian"), contexts=2, entities=6)
HELPED = DataSelection(types=("food",), cultures=("Japanese",), contexts=2, entities=6)
HELPING = PrefixOptions((PrefixKind.TOKEN, PrefixKind.DEMONSTRATIONS), 3)
NAMES = {"ar": ("هريس", "بيتزا"), "ja": ("味噌汁", "ピザ"), "th": ("ต้มยำ", "พิซซ่า")}  # native and Western


def add_instruments(run: RunFolder, models: Sequence[str]) -> None:
    """Scores of all models, of the first with help, too; swaps of three tasks; what two layers hold, with maps."""
    demo = load(rules_of("own"), DEMO)
    broken = min((e for e in demo.entities if (e.culture, e.entity_type) == ("Japanese", "food")), key=_id).surface
    score(run, demo, models, SELECTION, broken=broken)
    score(run, demo, models[:1], HELPED, HELPING, broken)
    measure_bias(run)
    add_made_up(run, models, "camellia", {code: (f"{code}-culture", "food", *pair) for code, pair in NAMES.items()})


def add_hostile_instruments(run: RunFolder, models: Sequence[str], folder: Path, hostile: str) -> None:
    """The same of data in which every word is `hostile`; what names a folder is a formula, or markup."""
    culture, kind = "=1+1", "<img src=x>"
    own = write_own(folder, "ar", culture, kind, hostile)
    score(run, own, models, DataSelection())
    measure_bias(run)
    add_made_up(run, models, hostile, {"ar": (f"{culture}{hostile}", f"{kind}{hostile}", hostile, hostile)}, hostile)


def _id(entity: CulturalEntity) -> str:
    return entity.entity_id


def score(
    run: RunFolder,
    dataset: DataSet,
    models: Sequence[str],
    selection: DataSelection,
    helping: PrefixOptions = PLAIN,
    broken: str = "",
) -> None:
    """Scores that are made up; the entity `broken` has none."""
    for model in models:
        for job in scoring_jobs(dataset, model, selection, helping):
            score_job(run, job, ModelSpec(model), engine=ToyEngine([broken]))


def write_own(folder: Path, language: str, culture: str, kind: str, hostile: str) -> DataSet:
    """A data set of one's own: two native entities and a Western one, one grounded and one neutral context."""
    folder.mkdir(parents=True, exist_ok=True)
    entities = [(culture, f"{hostile} 1"), (culture, f"{hostile} 2"), ("Western", f"{hostile} 3")]
    rows = [["language", "culture", "type", "entity"], *([language, side, kind, name] for side, name in entities)]
    (folder / "entities.csv").write_text(csv_of(rows), encoding="utf-8")
    contexts = [[language, culture, kind, setting, f"{hostile} [MASK]"] for setting in ("grounded", hostile)]
    header = ["language", "culture", "type", "setting", "context"]
    (folder / "contexts.csv").write_text(csv_of([header, *contexts]), encoding="utf-8")
    return load(rules_of("own"), folder)


def csv_of(rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def add_made_up(
    run: RunFolder, models: Sequence[str], dataset: str, names: dict[str, tuple[str, str, str, str]], word: str = ""
) -> None:
    """Swaps, separations and maps; `names` gives a language's culture, type, native and Western entity."""
    swaps: list[tuple[dict[str, Any], str | None, float]] = []
    apart, places = [], []
    manifest = read_manifest(run.manifest)
    inputs = inputs_of(run, manifest, EMBEDDINGS) if manifest else ""
    for number, model in enumerate(models):
        for language, (culture, kind, native, western) in names.items():
            where = {"model": model, "dataset": dataset, "language": language, "culture": culture}
            for task, metric in (("sentiment", "false_negative_rate"), ("qa", "accuracy"), ("ner", "f1")):
                asked = {**where, "task": task, "metric": metric, "setting": word or "neutral"}
                swaps += [(asked, kind, 0.1 * number), (asked, None, 0.1 * number)]
            pooled = {**where, "task": "sentiment", "metric": "missed_positive_rate", "setting": "grounded + neutral"}
            swaps.append((pooled, None, 0.1 * number))
            for layer in (0, 12):
                found = SeparationEstimate(2.5 - layer / 10, 6.0, 0.005, np.empty(0))
                sizes = dict.fromkeys(("contexts", "contexts_fewest", "contexts_most"), 3)
                sizes |= {"native_entities": 9, "western_entities": 9, "failed": 0}
                named = {"comparison": "a", "form": "causal", "setting": "neutral", "gender": None, "layer_name": None}
                unit = {**where, **sizes, **named, "entity_type": kind, "layer": layer}
                apart += separation_numbers(unit, found, inputs)
            for spot in range(18):
                entity = f"{western if spot % 2 else native}{word and spot}"
                place = {"entity_id": f"{language}{spot}", "entity": entity, "native": spot % 2 == 0}
                at: dict[str, Any] = {"x": float(spot % 5), "y": float(spot // 5)}
                at |= {"contexts": 3, "inputs": inputs}
                places.append(EntityPosition(**where, entity_type=kind, layer=12, **place, **at))
    write_numbers(run, EMBEDDINGS.name, apart)
    maps = measure_file(run, ENTITY_POSITIONS, EMBEDDINGS.name)
    write_parquet(objects_to_table(ENTITY_POSITIONS, places), maps)
    for measure in MEASURES.values() if manifest else ():
        inputs = inputs_of(run, manifest, measure)
        rates = [(one, kind, shift) for one, kind, shift in swaps if one["task"] == measure.name]
        write_numbers(run, measure.name, [row for one in rates for row in _sides(*one, inputs)])
        gaps = [row for one in rates for row in _gap(*one, inputs)]
        write_differences(run, measure.name, gaps)


def _sides(asked: dict[str, Any], kind: str | None, shift: float, inputs: str) -> list[Number]:
    """Both sides; one of them has too little for an interval."""
    known = {"native": (0.4 + shift, 0.3, 0.6), "western": (0.5, None, None)}
    sizes = {"asked": 203, "answered": 200, "readable": 200, "right": 90, "entities": 20}
    pooled = {"settings": "all"} if "+" in asked["setting"] else {}
    return [
        Number(
            measure=asked["task"], metric=asked["metric"], level="cell" if kind else "model, language, country",
            model=asked["model"], dataset=asked["dataset"], language=asked["language"], country=asked["culture"],
            topic=kind or "*", condition=asked["setting"], method="prompt", facets={**pooled, "side": side},
            estimate=value, low=low, high=high, no_wide="one wording", unit="context", units=5, n=200, sizes=sizes,
            cells=1, inputs=inputs,
        )
        for side, (value, low, high) in known.items()
    ]  # fmt: skip


def _gap(asked: dict[str, Any], kind: str | None, shift: float, inputs: str) -> Iterator[Difference]:
    shared = {"model": asked["model"], "dataset": asked["dataset"], "language": asked["language"], "topic": kind or "*"}
    shared |= {"country": asked["culture"], "condition": asked["setting"], "method": "prompt"}
    sides = ComparedFacets(asked["task"], asked["metric"], "native", "native", "western", shared)
    found = PairedDifference(0.4 + shift, 0.5, -0.2, 0.1, 0.04)
    return difference_rows(sides, found, unit="context x entity", units=5, inputs=inputs)
