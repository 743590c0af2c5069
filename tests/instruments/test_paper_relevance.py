"""`polyculture paper culturescope`: what layers hold is asked about once they are probed, in the same command."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.generate.engines.base import Completion, Request
from polyculture.generate.engines.patching import Continuation, Inspection, Patch
from polyculture.instruments.papers.options import PaperOptions, paper_parts
from polyculture.running.layout import store_layout
from tests.instruments.culture_files import options_of, write_blend, write_sheets
from tests.polyculture.test_command_line import polyculture
from tests.tiny_models import save_causal, save_masked

pytest.importorskip("torch", reason="the extra 'transformers' is not installed")

EXPERIMENT = """
name = "scope"
models = ["transformers:{folder}/llama", "openai:stub"]
[options.transformers]
device = "cpu"
bare_prompts = true
[options.openai]
base_url = "http://127.0.0.1:9/v1"
[probe]
resamples = 19
answer_tokens = 4
item_tokens = 3
[instruments.paper]
name = "culturescope"
part = ["probe of BLEnD", "relevance of BLEnD"]
culture = ["Mexico", "Indonesia", "Ethiopia"]
encoder = ["en={folder}/bert"]
concepts = "{folder}/concepts.tsv"
"""
TEXTS = """
languages = ["en"]
topics = ["food"]
countries = ["JP"]
sampling = { n = 1, max_tokens = 4 }
extract = { with = "gazetteer" }
link = { snapshot = "starter" }
"""
CONDITIONS = {"alone": 12, "culture": 12, "probe": 12, "source": 36}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POLYCULTURE_CACHE", str(tmp_path / "cache"))
    write_blend(tmp_path / "cache" / "data" / "blend")
    from polyculture.generate.engines.transformers.engine import TransformersEngine

    def say(_: Any, inspection: Inspection, patches: Iterable[Patch]) -> Iterator[Continuation]:
        for number, patch in enumerate(patches):  # made-up weights write no words
            yield Continuation(patch.patch_id, (": rice; soup", "tea, lamb, rain")[number % 2], 9, "line", "told")

    monkeypatch.setattr(TransformersEngine, "continue_patched", say)
    save_causal("llama", tmp_path / "llama")
    save_masked(tmp_path / "bert")
    words = "".join(f"{one}\tsoup of {one}, rain\n" for one in ("Mexico", "Indonesia", "Ethiopia"))
    (tmp_path / "concepts.tsv").write_text(f"culture\tconcepts\n{words}", encoding="utf-8")
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(folder=tmp_path), encoding="utf-8")
    return tmp_path


def asked(folder: Path) -> dict[str, int]:
    """How many questions were asked under each condition, of both models together."""
    query = (
        "SELECT q.facets['condition'], count(*) FROM answers AS a JOIN questions AS q USING (question_id) "
        "WHERE q.set = 'relevance-blend' GROUP BY ALL"
    )
    with open_store(RunFolder(folder / "runs" / "scope"), store_layout()) as store:
        return dict(store.sql(query).fetchall())


@pytest.mark.slow
def test_relevance_is_asked_after_the_probe_under_the_papers_conditions(folder: Path) -> None:
    planned = polyculture("plan", "exp.toml", cwd=folder)
    assert "relevance of BLEnD, transformers" in planned.stderr
    assert "at most 72 answers, 6 to each of its 12 questions" in planned.stderr
    done = polyculture("paper", "culturescope", "exp.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    # Whose layers nobody reads is asked nothing about them; said once.
    assert done.stderr.count("probe of BLEnD, relevance of BLEnD: left out: openai:stub") == 1
    assert done.stderr.count("left out: openai:stub") == 1
    counted = asked(folder)
    probed = counted.pop("probe")  # of some questions nothing may be kept
    assert counted == {name: size for name, size in CONDITIONS.items() if name != "probe"}
    assert 0 < probed <= CONDITIONS["probe"]
    again = polyculture("paper", "culturescope", "exp.toml", cwd=folder)
    assert " done" not in again.stderr
    assert "asked after" not in polyculture("plan", "exp.toml", cwd=folder).stderr


def test_a_folder_of_several_data_sets_has_one_named_as_each(tmp_path: Path) -> None:
    """The probe's line named --folder as the remedy, and that was of the questions alone."""
    (tmp_path / "blend").mkdir()
    parts = paper_parts(PaperOptions(name="culturescope", folder=tmp_path))
    told = {part.name: part.values.get("folder") for part in parts}
    assert told["probe of BLEnD"] == told["probe of BLEnD in Spanish"] == tmp_path / "blend"
    assert told["hard negatives"] == told["attention"] == tmp_path
    assert told["probe of CAMeL-2"] is told["relevance of BLEnD"] is None


def test_without_another_source_its_condition_alone_is_lacking(folder: Path) -> None:
    text = (folder / "exp.toml").read_text(encoding="utf-8")
    part = text[: text.index("concepts")].replace(', "openai:stub"', "")
    (folder / "exp.toml").write_text(TEXTS + part, encoding="utf-8")
    done = polyculture("run", "exp.toml", cwd=folder)  # as a part of an experiment
    assert done.returncode == 0, done.stderr
    assert asked(folder).keys() == {"alone", "culture", "probe"}
    report = polyculture("report", "exp.toml", "--paper", "culturescope", cwd=folder)
    assert report.returncode == 0, report.stderr
    told = (folder / "runs" / "scope" / "report-tables" / "paper-culturescope" / "table-2.csv").read_text("utf-8")
    assert "only without condition=source" in told or "12 of 12 answers not read" in told


def test_numbers_that_were_measured_before_what_is_asked_last_are_not_left_stale(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attention was measured, then relevance asked: tables 10 and 11 said 'ask again' after one whole run."""
    from polyculture.generate.engines.transformers.engine import TransformersEngine

    def sample(_: Any, requests: Iterable[Request]) -> Iterator[Completion]:
        for request in requests:
            options = options_of(request.messages[-1].content) or ["rain"]
            for seed in request.seeds:
                yield Completion(request.request_id, seed, random.Random(request.request_id).choice(options), "whole")

    monkeypatch.setattr(TransformersEngine, "sample", sample)
    write_sheets(folder / "cache" / "data" / "culturescope")
    text = (folder / "exp.toml").read_text(encoding="utf-8").replace(', "openai:stub"', "")
    parts = '["hard negatives", "attention", "probe of BLEnD", "relevance of BLEnD"]'
    text = text.replace('["probe of BLEnD", "relevance of BLEnD"]', parts)
    (folder / "exp.toml").write_text(text, encoding="utf-8")
    done = polyculture("paper", "culturescope", "exp.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    with open_store(RunFolder(folder / "runs" / "scope"), store_layout()) as store:
        assert store.sql("SELECT 1 FROM numbers WHERE measure = 'attention'").fetchall()
        assert not store.sql("SELECT measure FROM stale_measures").fetchall()
