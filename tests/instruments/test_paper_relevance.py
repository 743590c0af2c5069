"""`polyculture paper culturescope`: what layers hold is asked about once they are probed, in the same command."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.generate.engines.base import Completion, Request
from polyculture.instruments.datasets.presets import read_preset
from polyculture.instruments.papers.options import SOURCE, PaperOptions
from polyculture.running.layout import store_layout
from tests.instruments.culture_files import options_of, write_blend, write_sheets
from tests.instruments.probe_world import layers_say
from tests.polyculture.test_command_line import polyculture
from tests.stored import rows
from tests.tiny_models import save_causal, save_masked

pytest.importorskip("torch", reason="the extra 'transformers' is not installed")

EXPERIMENT = """
name = "scope"
models = ["transformers:{folder}/llama", "mock:stub"]
[options.transformers]
device = "cpu"
bare_prompts = true
[probe]
resamples = 19
answer_tokens = 4
item_tokens = 3
[instruments.paper]
name = "culturescope"
part = ["hard negatives", "attention", "probe of BLEnD", "relevance of BLEnD"]
culture = ["Mexico", "Indonesia", "Ethiopia"]
encoder = ["en={folder}/bert"]
concepts = "{folder}/concepts.tsv"
"""
CONDITIONS = {"alone": 12, "culture": 12, "probe": 12, "source": 36}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POLYCULTURE_CACHE", str(tmp_path / "cache"))
    write_blend(tmp_path / "cache" / "data" / "blend")
    write_sheets(tmp_path / "cache" / "data" / "culturescope", questions=1)
    from polyculture.generate.engines.transformers.engine import TransformersEngine

    def sample(_: Any, requests: Iterable[Request]) -> Iterator[Completion]:
        for request in requests:
            options = options_of(request.messages[-1].content) or ["rain"]
            for seed in request.seeds:
                yield Completion(request.request_id, seed, random.Random(request.request_id).choice(options), "whole")

    layers_say(monkeypatch, ": rice; soup", "tea, lamb, rain")
    monkeypatch.setattr(TransformersEngine, "sample", sample)
    save_causal("llama", tmp_path / "llama")
    save_masked(tmp_path / "bert")
    words = "".join(f"{one}\tsoup of {one}, rain\n" for one in ("Mexico", "Indonesia", "Ethiopia"))
    (tmp_path / "concepts.tsv").write_text(f"culture\tconcepts\n{words}", encoding="utf-8")
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(folder=tmp_path), encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_relevance_is_asked_after_the_probe_under_the_papers_conditions(folder: Path) -> None:
    planned = polyculture("plan", "exp.toml", cwd=folder)
    assert "relevance of BLEnD, transformers" in planned.stderr
    assert "at most 72 answers, 6 to each of its 12 questions" in planned.stderr
    done = polyculture("paper", "culturescope", "exp.toml", cwd=folder)
    assert done.returncode in (0, 4), done.stderr
    # Whose layers nobody reads is asked nothing about them; said once.
    assert done.stderr.count("probe of BLEnD, relevance of BLEnD: left out: mock:stub") == 1
    query = (
        "SELECT q.facets['condition'], count(*) FROM answers AS a JOIN questions AS q USING (question_id) "
        "WHERE q.set = 'relevance-blend' GROUP BY ALL"
    )
    with open_store(RunFolder(folder / "runs" / "scope"), store_layout()) as store:
        counted = dict(store.sql(query).fetchall())
        assert store.sql("SELECT 1 FROM numbers WHERE measure = 'attention'").fetchall()
        # Attention was measured, then relevance asked: tables 10 and 11 said 'ask again' after one whole run.
        assert not store.sql("SELECT measure FROM stale_measures").fetchall()
    probed = counted.pop("probe")  # of some questions nothing may be kept
    assert counted == {name: size for name, size in CONDITIONS.items() if name != "probe"}
    assert 0 < probed <= CONDITIONS["probe"]
    again = polyculture("paper", "culturescope", "exp.toml", cwd=folder)
    assert " done" not in again.stderr
    assert "asked after" not in polyculture("plan", "exp.toml", cwd=folder).stderr


@pytest.mark.slow
def test_answers_about_other_results_are_made_again_only_where_that_is_accepted(folder: Path) -> None:
    """Another encoder keeps other items of what was probed. No model is asked for it, but the answers about the former
    items were paid for."""
    file = folder / "exp.toml"
    save_masked(folder / "other", ["rain", "tea"])
    first = file.read_text(encoding="utf-8").replace('"hard negatives", "attention", ', "")
    file.write_text(first, encoding="utf-8")
    assert polyculture("run", file, cwd=folder).returncode in (0, 4)
    known = "SELECT answer_id FROM answers ORDER BY ALL"
    before = rows(folder, known, "scope")
    assert before
    file.write_text(first.replace(f"{folder}/bert", f"{folder}/other"), encoding="utf-8")
    # The first run measures what changes the questions; whoever asks again could count them.
    for words, code in ((("run", file), 4), (("run", file), 2), (("paper", "culturescope", file), 2)):
        asked = polyculture(*words, cwd=folder)
        assert asked.returncode == code, asked.stderr
        assert code == 2 or "relevance of BLEnD: not asked: " in asked.stderr
        refused = [line for line in asked.stderr.splitlines() if "To be redone: 12 answers" in line]
        assert "--accept-changes" in refused[-1]
        assert rows(folder, known, "scope") == before
    assert polyculture("run", file, "--accept-changes", cwd=folder).returncode in (0, 4)
    assert rows(folder, known, "scope") != before


def test_a_folder_of_several_data_sets_has_one_named_as_each(tmp_path: Path) -> None:
    """The probe's line named --folder as the remedy, and that was of the questions alone."""
    (tmp_path / "blend").mkdir()
    options = PaperOptions(name="culturescope", folder=tmp_path)
    told = {part.name: values.get("folder") for part, values in options.commands}
    assert told["probe of BLEnD"] == told["probe of BLEnD in Spanish"] == tmp_path / "blend"
    assert told["hard negatives"] == told["attention"] == tmp_path
    assert told["probe of CAMeL-2"] is told["relevance of BLEnD"] is None


def test_without_another_source_its_condition_alone_is_lacking() -> None:
    preset = read_preset("culturescope")
    [part] = [one for one in preset.parts if one.name == "relevance of BLEnD"]
    for concepts, lacks in ((None, {SOURCE}), (Path("concepts.tsv"), set())):
        options = PaperOptions(name="culturescope", concepts=concepts)
        [values] = [values for one, values in options.commands if one == part]
        assert {*part.options["only"].value} - {*values["only"]} == lacks
        assert options.answers_to_each(part) == 6 - 3 * len(lacks)
