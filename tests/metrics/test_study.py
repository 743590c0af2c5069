"""The identity of a study: what is part of it, what is not, and the words for a difference."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from polyculture.cache.store.manifest import Manifest, require_run
from polyculture.metrics.comparison.study import NOT_RECORDED, differing, other_addresses, study_id, study_parts
from polyculture.running.opening import open_workspace
from tests.link_world import index_of, item
from tests.stages import prepare

EXPERIMENT = """name = "one"
models = ["mock:m"]
languages = ["en", "ja"]
topics = ["food", "music"]
countries = ["IT", "JP"]
conditions = ["neutral", "explicit", "implicit_female"]
[prompts]
seed = 1
[sampling]
n = 2
[extract]
with = "ollama:reader"
[link]
snapshot = "index.duckdb"
[options.ollama]
base_url = "http://localhost:11434/v1"
"""


def study_of(folder: Path, *changes: tuple[str, str]) -> Manifest:
    """The manifest of a run of the experiment in which texts are replaced."""
    told = EXPERIMENT
    for old, new in changes:
        assert told.count(old) == 1, old
        told = told.replace(old, new)
    folder.mkdir()
    index_of(folder, [item("Q1", {"en": "ramen"})])
    file = folder / "one.toml"
    file.write_text(told, encoding="utf-8")
    return require_run(prepare(open_workspace(file)).run)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    return study_of(tmp_path_factory.mktemp("study") / "first")


MODELS = ('models = ["mock:m"]', 'models = ["mock:other", "mock:third"]')


@pytest.mark.parametrize(
    "changes",
    [
        [MODELS],
        [MODELS, ("[prompts]", '[languages_of]\n"mock:third" = ["ja"]\n[prompts]')],
        [("localhost:11434", "10.0.0.7:8000"), ('name = "one"', 'name = "elsewhere"')],
        [("[prompts]", '[prices."mock:m"]\ninput = 1.0\noutput = 2.0\n[prompts]')],
        [("[prompts]", '[options."mock:m"]\nsystem = "Be polite."\n[prompts]')],
        [('["en", "ja"]', '["ja", "en"]'), ('["IT", "JP"]', '["JP", "IT"]')],
    ],
    ids=["models", "languages of a model", "machine", "prices", "option of a model", "order"],
)
def test_other_models_places_and_orders_are_the_same_study(
    first: Manifest, tmp_path: Path, changes: list[tuple[str, str]]
) -> None:
    other = study_of(tmp_path / "other", *changes)
    assert study_id(other) == study_id(first)
    assert differing(first, other) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("n = 2", "n = 3"), ["n (2 against 3)"]),
        (("n = 2", "n = 2\nseed = 7"), ["seed (1 against 7)"]),
        (("n = 2", "n = 2\ntemperature = 1.0"), ["temperature (0.7 against 1.0)"]),
        (('["en", "ja"]', '["en", "de"]'), ["languages (ja against de)"]),
        (('["food", "music"]', '["food"]'), ["topics (music against none)"]),
        (('["IT", "JP"]', '["IT", "JP", "US"]'), ["countries (none against US)"]),
        ((', "implicit_female"]', "]"), ["conditions (implicit_female against none)"]),
        (("seed = 1", 'seed = 1\nwordings = ["paragraph"]'), ["wordings (write against paragraph)"]),
        (("seed = 1", "seed = 2"), ["seed of names (1 against 2)"]),
        (("seed = 1", 'system = "Be brief."'), ["system prompt (none against Be brief.)"]),
        (("[prompts]", "answer_in_language = true\n[prompts]"), ["prompts in en", "prompts in ja"]),
        (("[prompts]", 'answer_in_language = ["mock:m"]\n[prompts]'), ["sentences of some models"]),
        (("ollama:reader", "ollama:another"), ["extractor (ollama:reader against ollama:another)"]),
        (('reader"', 'reader"\nmax_tokens = 99'), ["extractor's max_tokens (not set against 99)"]),
        (('reader"', 'reader"\nsample = 1'), ["extractor's sample (not set against 1)"]),
        (("base_url", "omit = ['seed']\nbase_url"), ["extractor's omit (['top_k'] against ['top_k', 'seed'])"]),
        (('index.duckdb"', 'index.duckdb"\nforms = "paper"'), ["links (snapshot against snapshot, paper)"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_whatever_decides_a_number_is_another_study_and_is_named(
    first: Manifest, tmp_path: Path, change: tuple[str, str], said: list[str]
) -> None:
    other = study_of(tmp_path / "other", change)
    assert study_id(other) != study_id(first)
    assert differing(first, other) == said
    assert len(differing(other, first)) == len(said)


def test_another_snapshot_and_another_pack_are_named(first: Manifest, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    study_of(folder)
    index_of(folder, [item("Q2", {"en": "pizza"})])
    other = require_run(prepare(open_workspace(folder / "one.toml")).run)
    [snapshot] = differing(first, other)
    assert snapshot.startswith("snapshot (")
    assert str(first.snapshot["identity"]) in snapshot
    pack = {"name": "andes", "version": "2", "sha256": "a" * 64}
    packed = first.model_copy(update={"packs": [pack]})
    assert differing(first, packed) == [f"culture pack andes (not set against version 2, {'a' * 12})"]


def test_an_own_instruction_counts_by_its_content_and_not_by_its_name(tmp_path: Path) -> None:
    told = []
    for name, words in (("a", "Find the dishes."), ("b", "Find the dishes."), ("c", "Find all dishes.")):
        folder = tmp_path / name
        study_of(folder)
        (folder / f"{name}.txt").write_text(words, encoding="utf-8")
        file = folder / "one.toml"
        file.write_text(EXPERIMENT.replace('reader"', f'reader"\nprompt = "{name}.txt"'), encoding="utf-8")
        shutil.rmtree(folder / "runs")
        told.append(require_run(prepare(open_workspace(file)).run))
    assert study_id(told[0]) == study_id(told[1])
    assert differing(told[0], told[2]) == ["extractor of food", "extractor of music"]


def test_a_run_whose_prompts_are_not_recorded_is_no_study_of_others(first: Manifest) -> None:
    prompts = {key: value for key, value in first.prompts.items() if key != "texts"}
    old, other = (first.model_copy(update={"prompts": prompts, "experiment": name}) for name in "ab")
    assert study_parts(old)["prompts in ja"] == NOT_RECORDED
    assert differing(old, other) == ["prompts in en (not recorded)", "prompts in ja (not recorded)"]
    assert len({study_id(one) for one in (first, old, other)}) == 3


def test_no_address_and_no_path_is_part_of_a_study(first: Manifest, tmp_path: Path) -> None:
    told = " ".join(study_parts(first).values())
    assert "localhost" not in told
    assert "index.duckdb" not in told
    other = study_of(tmp_path / "other", ("localhost:11434", "10.0.0.7:8000"))
    said = other_addresses(other, first)
    assert said is not None
    assert "http://10.0.0.7:8000/v1 for this run" in said
    assert "http://localhost:11434/v1 for the baseline" in said
    assert other_addresses(first, first) is None
