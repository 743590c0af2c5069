"""Hidden states of entities: equal to a plain pass, the index as scikit-learn's, resumable, a map that can be read."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.metrics import davies_bouldin_score

from polyculture.cache.errors import EngineError
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.generate.engines import ModelSpec, ScoreRequest, open_engine
from polyculture.instruments.embeddings.separation import davies_bouldin, separation
from polyculture.reports.report import write_report
from polyculture.running.layout import store_layout
from polyculture.running.report_sections import report_sections
from tests.instruments.test_cbs_command import EXPERIMENT
from tests.instruments.test_cbs_store import DEMO
from tests.polyculture.test_command_line import one_line, polyculture
from tests.tiny_models import save_causal, save_masked


@pytest.mark.parametrize("kind", ["gpt2", "gemma3"])
def test_vectors_are_those_of_a_plain_pass(kind: str, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = save_causal(kind, tmp_path / kind)
    words = ("soup", "fish and chips", "寿司")
    with open_engine(ModelSpec(f"transformers:{folder}", {"bos": True})) as engine:
        found = sorted(
            engine.represent([ScoreRequest("a", "we ate ", words)], ["first", "2", "last"]), key=lambda r: r.index
        )  # type: ignore[attr-defined]
        with pytest.raises(EngineError, match="has no layer '9'"):
            list(engine.represent([ScoreRequest("a", "we ate ", words)], ["9"]))  # type: ignore[attr-defined]
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    before = len(tokenizer("we ate")["input_ids"]) + 1  # and the token that begins a text
    for word, row in zip(words, found, strict=True):
        ids = torch.tensor([[tokenizer.bos_token_id, *tokenizer(f"we ate {word}")["input_ids"]]])
        with torch.no_grad():
            states = model(ids, output_hidden_states=True).hidden_states
        assert row.layers == (0, 2, len(states) - 1)
        for layer, vector in zip(row.layers, row.vectors, strict=True):
            np.testing.assert_allclose(vector, states[layer][0, before:].mean(dim=0).numpy(), atol=1e-4)


def test_what_is_no_text_of_the_models_has_a_reason(tmp_path: Path) -> None:
    with open_engine(ModelSpec(f"transformers:{save_masked(tmp_path / 'bert')}")) as engine:
        asked = [ScoreRequest("a", "we ate ", ("soup", "xyzzy"), " in the house")]
        found = {row.index: row for row in engine.represent(asked, ["last"])}  # type: ignore[attr-defined]
    assert len(found[0].vectors[0]) == 32
    assert found[1].error == "'xyzzy' tokenises to unknown tokens"


def test_the_index_is_scikit_learns_in_any_number_of_dimensions() -> None:
    chance = np.random.default_rng(1)
    for size, width in ((30, 3), (12, 64)):
        vectors, native = chance.normal(size=(size, width)), np.arange(size) % 3 == 0
        expected = davies_bouldin_score(vectors, native)
        assert davies_bouldin(vectors, native) == pytest.approx(expected)
        found = separation(vectors, native, permutations=19)
        assert found is not None
        assert found.index == pytest.approx(expected)


def test_cultures_that_are_apart_are_told_from_chance() -> None:
    chance = np.random.default_rng(2)
    native = np.arange(40) < 20
    same = chance.normal(size=(40, 8))
    apart = separation(same + 3 * native[:, None], native, permutations=199)
    alike = separation(same, native, permutations=199)
    assert apart is not None
    assert alike is not None
    assert apart.p == pytest.approx(1 / 200)
    assert alike.p > 0.05
    assert apart.low is not None
    assert apart.high is not None
    assert apart.low < apart.index < apart.high < apart.by_chance
    assert separation(same[:2], np.array([True, False])) is None


def test_intervals_cover_the_truth() -> None:
    """Two cultures in eight dimensions whose true index is known from twenty thousand entities."""
    chance = np.random.default_rng(3)
    many = np.arange(20_000) < 10_000
    truth = davies_bouldin(chance.normal(size=(20_000, 8)) + 2 * many[:, None], many)
    native = np.arange(60) < 30
    covered = 0
    for _ in range(300):
        found = separation(chance.normal(size=(60, 8)) + 2 * native[:, None], native, permutations=1)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= truth <= found.high
    assert 0.90 <= covered / 300 <= 0.99


def test_embeddings_as_a_user_asks(tmp_path: Path) -> None:
    model = save_causal("gpt2", tmp_path / "gpt2")
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(model=f"transformers:{model}"), encoding="utf-8")
    few = ("--data", "own", "--folder", DEMO, "--type", "food", "--culture", "Indian", "--entities", "12")
    first = polyculture("embeddings", "exp.toml", *few, "--plots", "maps", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "72 done, 0 of them before, 0 failed" in first.stderr
    assert "Davies-Bouldin" in first.stdout
    again = polyculture("embeddings", "exp.toml", *few, cwd=tmp_path)
    assert "represent" not in again.stderr  # the model is not even opened
    assert again.stdout == first.stdout
    run = RunFolder(tmp_path / "runs" / "likely")
    with open_store(run, store_layout()) as store:
        asked = "SELECT count(*), count(DISTINCT layer) FROM representations"
        assert store.sql(asked).fetchall() == [(72, 3)]
    (drawn,) = (tmp_path / "maps").glob("*.svg")
    texts = [part.text for part in ElementTree.parse(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert len(texts) >= 5
    assert 'id="apart"' in write_report(run, layout=store_layout(), sections=report_sections()).read_text(
        encoding="utf-8"
    )


def test_an_engine_without_hidden_states_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(model="llamacpp:smollm2"), encoding="utf-8")
    said = polyculture("embeddings", "exp.toml", "--data", "own", "--folder", DEMO, "--entities", "2", cwd=tmp_path)
    assert "no hidden states" in one_line(said)
