"""Records of Every Eval Ever: valid by that project's own schema and validator, and the same numbers as the run's."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest

from polyculture.cache.errors import StoreError
from polyculture.cache.identity import file_sha256
from polyculture.cache.store.manifest import read_manifest, write_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.metrics.measure import measure
from polyculture.reports.export.write import METADATA, write_export
from polyculture.running.layout import store_layout
from polyculture.running.standings import RECORD_FACTS
from tests.store_builder import StoreBuilder

PYTHON = "POLYCULTURE_EVERY_EVAL_EVER"  # an interpreter whose environment has the package, or the wheel itself
SCHEMA = "every_eval_ever/schemas/eval.schema.json"
OPENAI, OWN, QWEN = "openai:gpt-6-luna", "llamacpp:/home/jane/models/q4.gguf", "vllm:Qwen/Qwen2.5-7B"
MODELS = (OPENAI, f"{OPENAI}@control", OWN, QWEN)
KEY = ("level", "model", "dataset", "language", "country", "topic", "condition", "wording", "method", "reader")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Four models with many numbers, with and without intervals."""
    folder = tmp_path_factory.mktemp("records")
    builder = StoreBuilder(folder / "runs" / "one", models=MODELS, n=12)
    for language in ("en", "ja"):
        for topic in ("food", "music"):
            for country in (None, "JP", "IT"):
                prompt = builder.ask(language, topic, country)
                for at, model in enumerate(MODELS):
                    for sample in range(12):
                        names = [f"thing {(sample * (at + 1)) % 5}", "thing 0"]
                        builder.answer(prompt, names, model=model, sample=sample)
    for number in range(5):
        builder.link(f"thing {number}", f"Q{number + 1}")
        builder.entity(f"Q{number + 1}", **{("JP", "IT")[number % 2]: "P495"})
    made = builder.write()
    manifest = read_manifest(made.manifest)
    assert manifest is not None
    setups: dict[str, dict[str, Any]] = {f"sample {model}": {} for model in MODELS}
    setups["sample openai:gpt-6-luna"] = {"omit": ["top_k"], "extra_body": {"reasoning_effort": "none"}}
    setups["sample openai:gpt-6-luna@control"] = {"base_url": "http://gpu7.lab.example:8000/v1", "sampling_seed": 2}
    sampling = {"n": 12, "temperature": 0.7, "top_p": 0.9, "top_k": 10, "max_tokens": 512, "seed": 1}
    more = {
        "setups": setups,
        "sampling": sampling,
        "experiment": "one",
        "languages": ["en", "ja"],
        "model_facts": {"vllm:Qwen/Qwen2.5-7B": {"open": True}},
        "model_versions": {"openai:gpt-6-luna": "gpt-6-luna-2026-09-22"},
    }
    write_manifest(manifest.model_copy(update=more), made.manifest)
    measure(made)
    return made


@pytest.fixture(scope="module")
def folder(run: RunFolder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("out") / "study"
    write_export(run, store_layout(), to, "CC-BY-4.0", every_eval_ever=RECORD_FACTS)
    return to


@pytest.fixture(scope="module")
def records(folder: Path) -> dict[str, dict[str, Any]]:
    """The records by the folder of their model."""
    files = sorted((folder / "data").rglob("*.json"))
    return {file.parent.relative_to(folder).as_posix(): json.loads(file.read_text(encoding="utf-8")) for file in files}


def numbers_of(record: Mapping[str, Any]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """The numbers of a record by their key in the table `numbers`: estimate, interval, units and observations."""
    found = {}
    for result in record["evaluation_results"]:
        measured = result["evaluation_name"].removeprefix("polyculture.")
        config, details = result["metric_config"], result["score_details"]
        key = (measured, config["metric_id"].removeprefix("polyculture."), *sorted(config["metric_parameters"].items()))
        interval = details["uncertainty"].get("confidence_interval", {})
        more = details["details"]
        wide = tuple(float(more[name]) if name in more else None for name in ("wide_low", "wide_high"))
        sizes = (details["uncertainty"]["num_samples"], int(more["n"]), int(more["cells"]), int(more["missing"]))
        found[key] = (details["score"], interval.get("lower"), interval.get("upper"), *wide, *sizes, more["unit"])
    return found


def numbers_in(folder: Path) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """The same of an export's table."""
    columns = "estimate, low, high, wide_low, wide_high, units, n, cells, missing, unit"
    rows = duckdb.sql(
        f"SELECT measure, metric, {', '.join(KEY)}, facets, {columns} FROM '{folder}/numbers.parquet'"
        " WHERE estimate IS NOT NULL AND model <> '*'"
    ).fetchall()
    found = {}
    for measured, metric, *rest in rows:
        facets = {f"facets.{one['key']}": one["value"] for one in rest[len(KEY)] or ()}
        key = (measured, metric, *sorted({**dict(zip(KEY, rest, strict=False)), **facets}.items()))
        found[key] = tuple(rest[len(KEY) + 1 :])
    return found


def test_each_model_has_a_record_of_all_its_numbers_and_they_are_those_of_the_run(
    folder: Path, records: dict[str, dict[str, Any]]
) -> None:
    together: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for record in records.values():
        together |= numbers_of(record)
    numbers = numbers_in(folder)
    assert len(records) == len(MODELS)
    assert len(numbers) > 400
    assert together == numbers
    with_interval = [value for value in numbers.values() if value[1] is not None]
    assert len(with_interval) > 100


def test_a_record_with_one_number_changed_is_another(folder: Path, records: dict[str, dict[str, Any]]) -> None:
    record = copy.deepcopy(next(iter(records.values())))
    numbers = numbers_in(folder)
    for path in (("score",), ("uncertainty", "confidence_interval", "lower")):
        scores = (one["score_details"] for one in record["evaluation_results"])
        place = next(one for one in scores if "confidence_interval" in one["uncertainty"])
        for name in path[:-1]:
            place = place[name]
        before, place[path[-1]] = place[path[-1]], place[path[-1]] + 1e-9
        differ = [key for key, value in numbers_of(record).items() if numbers[key] != value]
        assert len(differ) == 1
        place[path[-1]] = before
    assert all(numbers[key] == value for key, value in numbers_of(record).items())


def test_how_a_model_was_asked_is_said_and_nothing_of_this_machine(records: dict[str, dict[str, Any]]) -> None:
    assert sorted(records) == [
        "data/polyculture/Qwen/Qwen2.5-7B",
        "data/polyculture/llamacpp/q4.gguf",
        "data/polyculture/openai/gpt-6-luna",
        "data/polyculture/openai/gpt-6-luna@control",
    ]
    luna, control, own, qwen = (
        records[f"data/polyculture/{name}"]
        for name in ("openai/gpt-6-luna", "openai/gpt-6-luna@control", "llamacpp/q4.gguf", "Qwen/Qwen2.5-7B")
    )
    asked = [one["evaluation_results"][0]["generation_config"] for one in (luna, control)]
    assert asked[0]["generation_args"] == {"temperature": 0.7, "top_p": 0.9, "max_tokens": 512}  # top_k was not sent
    assert asked[1]["generation_args"]["top_k"] == 10
    assert [one["additional_details"]["seed"] for one in asked] == ["1", "2"]
    deployed = [one["model_info"]["additional_details"]["deployment_type"] for one in (luna, control, own, qwen)]
    assert deployed == ["externally_managed", "unknown", "self_deployed", "self_deployed"]
    assert qwen["model_info"]["additional_details"]["model_availability"] == "open_weights"
    assert luna["model_info"]["additional_details"]["version"] == "gpt-6-luna-2026-09-22"
    told = json.dumps(list(records.values()))
    assert "/home/jane" not in told
    assert "gpu7.lab" not in told


def test_one_model_asked_by_two_engines_has_two_records_with_ids_of_their_own(tmp_path: Path) -> None:
    models = (QWEN, QWEN.replace("vllm", "transformers"))
    builder = StoreBuilder(tmp_path / "runs" / "two", models=models, n=2)
    prompt = builder.ask("en", "food", "JP")
    for model in models:
        builder.answer(prompt, ["ramen"], model=model, sample=0)
    builder.link("ramen", "Q234646")
    builder.entity("Q234646", JP="P495")
    made = builder.write()
    measure(made)
    write_export(made, store_layout(), tmp_path / "out", every_eval_ever=RECORD_FACTS)
    both = [json.loads(file.read_text(encoding="utf-8")) for file in (tmp_path / "out" / "data").rglob("*.json")]
    assert [one["model_info"]["id"] for one in both] == ["Qwen/Qwen2.5-7B"] * 2
    assert len({one["evaluation_id"] for one in both}) == 2
    # As the schema has it: eval_name/model_id/retrieved_timestamp.
    ids = [one["evaluation_id"].split("/") for one in both]
    assert {(len(one), one[1]) for one in ids} == {(3, "Qwen_Qwen2.5-7B")}
    assert [one[2] for one in ids] == [one["retrieved_timestamp"] for one in both]
    assert {one[0] for one in ids} == {"polyculture-vllm", "polyculture-transformers"}


def test_the_data_set_of_texts_is_the_study_that_the_run_states(run: RunFolder, tmp_path: Path) -> None:
    """It was the name of the experiment file, which everybody who runs a study gives anew."""
    own = RunFolder(Path(shutil.copytree(run.root, tmp_path / "renamed")))

    def names(to: Path) -> set[str]:
        write_export(own, store_layout(), to, every_eval_ever=RECORD_FACTS)
        found = [json.loads(file.read_text(encoding="utf-8")) for file in (to / "data").rglob("*.json")]
        return {result["source_data"]["dataset_name"] for one in found for result in one["evaluation_results"]}

    assert names(tmp_path / "without") == {"one"}
    own.experiment.write_text('name = "one"\n[study]\nname = "standard"\nversion = 1\n', encoding="utf-8")
    assert names(tmp_path / "with") == {"standard"}


def test_the_metadata_name_the_records_and_an_export_is_replaced_with_them(
    run: RunFolder, folder: Path, tmp_path: Path
) -> None:
    named = {
        one["contentUrl"]: one for one in json.loads((folder / METADATA).read_text(encoding="utf-8"))["distribution"]
    }
    files = {file.relative_to(folder).as_posix() for file in (folder / "data").rglob("*.json")}
    assert len(files) == len(MODELS)
    assert all(named[file]["sha256"] == file_sha256(folder / file) for file in files)
    to = Path(shutil.copytree(folder, tmp_path / "study"))
    mine = to / "data" / "polyculture" / "mine.txt"
    mine.write_text("mine", encoding="utf-8")
    with pytest.raises(StoreError, match=r"data/polyculture/mine\.txt in it is none of its files"):
        write_export(run, store_layout(), to)
    mine.unlink()
    write_export(run, store_layout(), to)
    assert not (to / "data").exists()


def test_the_schema_of_the_package_accepts_each_record(records: dict[str, dict[str, Any]]) -> None:
    schema = _schema()
    validator = jsonschema.Draft7Validator(schema)
    assert schema["version"] == next(iter(records.values()))["schema_version"]
    for record in records.values():
        assert [error.message for error in validator.iter_errors(record)] == []
        broken = copy.deepcopy(record)
        broken["evaluation_results"][0]["score_details"]["score"] = "high"
        assert list(validator.iter_errors(broken))


def test_the_validator_of_the_package_accepts_each_file(folder: Path) -> None:
    python = os.environ.get(PYTHON, sys.executable if find_spec("every_eval_ever") else "")
    if not python or python.endswith(".whl"):
        pytest.skip(f"{PYTHON} names no environment with every-eval-ever: run `make test-every-eval-ever`")
    files = [file.relative_to(folder).as_posix() for file in (folder / "data").rglob("*.json")]
    command = [python, "-m", "every_eval_ever", "validate", "--format", "json", *files]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    reports = json.loads(done.stdout)
    assert [(one["valid"], one["errors"], one["warnings"]) for one in reports] == [(True, [], [])] * len(MODELS)
    assert done.returncode == 0


def record_faults(record: Mapping[str, Any]) -> list[str]:
    """What the schema finds wrong with a record."""
    return [error.message for error in jsonschema.Draft7Validator(_schema()).iter_errors(record)]


def _schema() -> dict[str, Any]:
    """The schema from the wheel, or from the environment in which the package is installed."""
    place = os.environ.get(PYTHON, "")
    if place.endswith(".whl"):
        with zipfile.ZipFile(place) as wheel:
            told = wheel.read(SCHEMA).decode()
    elif place or find_spec("every_eval_ever"):
        words = "from every_eval_ever.schema import schema_text; print(schema_text())"
        command = [place or sys.executable, "-c", words]
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    else:
        pytest.skip(f"{PYTHON} names no environment with every-eval-ever, nor its wheel: `make test-every-eval-ever`")
    schema: dict[str, Any] = json.loads(told)
    return schema
