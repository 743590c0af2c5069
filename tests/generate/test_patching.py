"""Looking inside: states that are read and put in their place are the model's own, on tiny models of several kinds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyculture.cache.errors import EngineError
from polyculture.generate.engines import PATCHING, Message, ModelSpec, check_can, open_engine
from polyculture.generate.engines.patching import Inspection, Patch, StatesRequest
from polyculture.generate.engines.setup import model_setup
from polyculture.generate.engines.transformers.engine import TransformersEngine
from tests.tiny_models import save_causal, save_masked

torch = pytest.importorskip("torch", reason="the extra 'transformers' is not installed")

INSPECTION = Inspection("soup: hot, fish, bread\nchips: the, and\nx", "x", max_tokens=8)
KINDS = ("llama", "gpt2", "gemma3", "mistral", "bloom", "mamba")
NORMS = {
    "llama": "model.norm",
    "gpt2": "transformer.ln_f",
    "gemma3": "model.norm",
    "mistral": "model.norm",
    "bloom": "transformer.ln_f",
    "mamba": "backbone.norm_f",
}


@pytest.fixture(scope="module", params=KINDS)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TransformersEngine]:
    folder = tmp_path_factory.mktemp(request.param)
    with open_engine(_spec(save_causal(request.param, folder)), PATCHING) as opened:
        assert isinstance(opened, TransformersEngine)
        opened.kind = request.param  # type: ignore[attr-defined]
        for weight in opened._loaded.model.parameters():  # random weights say one and the same after any text
            weight.data.mul_(3.0)
        yield opened


def _spec(folder: Path, **options: Any) -> ModelSpec:
    return ModelSpec(f"transformers:{folder}", {"device": "cpu", "bare_prompts": True, **options})


def _writer(engine: TransformersEngine) -> Any:
    from polyculture.generate.engines.transformers.patched import PatchedWriter

    return PatchedWriter(engine._loaded, engine._blocks(), INSPECTION, engine.spec.model)


def _first_logits(writer: Any, patches: list[Patch]) -> Any:
    """The logits of the first token behind the placeholder: [patches, vocabulary]."""
    with writer._patched(patches) as kept:
        return writer._generated([writer._ids] * len(patches), 1, output_logits=True, **kept).logits[0]


def _hooks(engine: TransformersEngine) -> int:
    return sum(len(module._forward_hooks) for module in engine._loaded.model.modules())


def _states_of(engine: TransformersEngine, prompt: str, answer: str, *spans: tuple[int, int]) -> Any:
    (found,) = engine.answer_states([StatesRequest("r", (Message("user", prompt),), answer, spans)])
    assert found.error is None
    return found


def _own(engine: TransformersEngine) -> Any:
    """The placeholder's own states, read where it stands: [depth, width]."""
    return _states_of(engine, INSPECTION.prompt[:-1], "x").states


def _random_patches(engine: TransformersEngine, count: int) -> list[Patch]:
    chance = np.random.default_rng(3)
    width, scale = _own(engine).shape[1], 3 * float(np.abs(_own(engine)).max())
    depth = engine.depth()
    return [
        Patch(str(n), {1 + n % depth: (scale * chance.standard_normal(width)).astype(np.float32)}) for n in range(count)
    ]


def test_states_are_those_of_a_plain_pass(engine: TransformersEngine) -> None:
    """All layers but the last are the library's; the last one is its own before the final norm."""
    first = 0 if engine.kind == "mamba" else 1  # type: ignore[attr-defined]  # it leaves out what the first block reads
    prompt, answer = "we ate ", "the soup was hot"
    found = _states_of(engine, prompt, answer, (4, 8), (9, 12))
    tokenizer = engine._loaded.tokenizer
    before, read = tokenizer(prompt)["input_ids"], tokenizer(answer, return_offsets_mapping=True)
    with torch.inference_mode():
        whole = torch.tensor([[*before, *read["input_ids"]]], device=engine._loaded.model.device)
        states = engine._loaded.model(whole, output_hidden_states=True).hidden_states
    offsets = read["offset_mapping"]
    places = [
        len(before) + n for n, (start, end) in enumerate(offsets) if (start < 8 and end > 4) or (start < 12 and end > 9)
    ]
    assert found.tokens == len(places)
    assert not found.last_token
    for layer in range(1, engine.depth()):
        np.testing.assert_allclose(
            found.states[layer - 1], states[layer - 1 + first][0, places].sum(0), rtol=1e-4, atol=1e-3
        )
    assert found.states.shape == (engine.depth(), states[-1].shape[-1])
    assert np.abs(found.states[-1] - states[-1][0, places].sum(0).numpy()).max() > 0.01


def test_without_a_span_the_last_token_is_taken(engine: TransformersEngine) -> None:
    last, spanned = _states_of(engine, "we ate ", "the soup"), _states_of(engine, "we ate ", "the soup", (0, 8))
    assert last.last_token
    assert last.tokens == 1
    assert spanned.tokens > 1
    assert np.abs(last.states - spanned.states).max() > 0.01


def test_answers_in_one_pass_are_those_alone(engine: TransformersEngine) -> None:
    answers = ("the soup", "fish and chips were hot", "김치와 밥", "x")
    requests = [StatesRequest(a, (Message("user", "we ate "),), a, ((0, 4),)) for a in answers]
    together: dict[str, Any] = {one.request_id: one.states for one in engine.answer_states(requests)}
    for answer in answers:
        np.testing.assert_allclose(
            together[answer], _states_of(engine, "we ate ", answer, (0, 4)).states, rtol=1e-3, atol=1e-3
        )


def test_a_layers_own_state_changes_no_logit(engine: TransformersEngine) -> None:
    own, writer = _own(engine), _writer(engine)
    patches = [Patch("none"), *(Patch(str(n + 1), {n + 1: own[n]}) for n in range(len(own)))]
    logits = _first_logits(writer, [*patches, Patch("all", {n + 1: own[n] for n in range(len(own))})])
    spread = float(logits[0].std())
    assert spread > 0.01
    np.testing.assert_allclose(logits[1:], logits[:1].expand_as(logits[1:]), atol=1e-4 * max(1.0, spread))


def test_a_patch_at_the_last_layer_is_its_state_through_norm_and_unembedding(engine: TransformersEngine) -> None:
    kind = engine.kind  # type: ignore[attr-defined]
    depth, model = engine.depth(), engine._loaded.model
    patches = [Patch(p.patch_id, {depth: next(iter(p.states.values()))}) for p in _random_patches(engine, 3)]
    norm = model.get_submodule(NORMS[kind])
    with torch.inference_mode():
        expected = [model.lm_head(norm(torch.from_numpy(p.states[depth]).to(model.device))).cpu() for p in patches]
    found = _first_logits(_writer(engine), patches)
    assert float(found.std(0).mean()) > 0.001
    np.testing.assert_allclose(found, torch.stack(expected), rtol=1e-4, atol=1e-4)


def test_a_batch_over_layers_writes_what_single_passes_do(engine: TransformersEngine) -> None:
    """Against whole passes without a cache, a token at a time."""
    patches = [*_random_patches(engine, 9), Patch("none")]
    together = list(engine.continue_patched(INSPECTION, patches))
    assert [one.patch_id for one in together] == [patch.patch_id for patch in patches]
    assert [one.text for one in together] == [_plain(engine, patch) for patch in patches]
    assert len({one.text for one in together}) > 2
    alone = [one for patch in patches for one in engine.continue_patched(INSPECTION, [patch])]
    assert alone == together


def _plain(engine: TransformersEngine, patch: Patch) -> str:
    """What one patch makes the model write, by whole passes and a hook of this test's own."""
    loaded = engine._loaded
    ids = loaded.tokenizer(INSPECTION.prompt)["input_ids"]
    place, written = len(ids) - 1, list[int]()
    for _ in range(INSPECTION.max_tokens):
        hooks = []
        for layer, state in patch.states.items():

            def put(_: Any, __: Any, output: Any, state: Any = state) -> None:
                (output[0] if isinstance(output, tuple) else output)[:, place] = torch.from_numpy(state).to(
                    loaded.model.device
                )

            hooks.append(engine._blocks()[layer - 1].register_forward_hook(put))
        with torch.inference_mode():
            read = torch.tensor([[*ids, *written]], device=loaded.model.device)
            token = int(loaded.model(read, use_cache=False).logits[0, -1].argmax())
        for hook in hooks:
            hook.remove()
        if token == loaded.tokenizer.eos_token_id:
            break
        written.append(token)
        if "\n" in loaded.tokenizer.decode([token]):
            break
    text: str = loaded.tokenizer.decode(written, skip_special_tokens=True)
    return text.partition("\n")[0]


def test_hooks_are_gone_afterwards(engine: TransformersEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    patches, before = _random_patches(engine, 2), _hooks(engine)  # transformers may have some of its own
    _states_of(engine, "we ate ", "soup")
    list(engine.continue_patched(INSPECTION, patches))
    assert _hooks(engine) == before
    wrong = Patch("wrong", {1: np.zeros(7, np.float32)})  # of another width: raised inside a pass
    with pytest.raises(RuntimeError):
        list(engine.continue_patched(INSPECTION, [wrong]))
    assert _hooks(engine) == before

    def broken(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine._blocks()[-1], "forward", broken)
    with pytest.raises(KeyboardInterrupt):
        _states_of(engine, "we ate ", "soup")
    assert _hooks(engine) == before


def test_wrong_layers_and_placeholders_are_one_line(engine: TransformersEngine) -> None:
    width = _own(engine).shape[1]
    far = Patch("far", {99: np.zeros(width, np.float32)})
    with pytest.raises(EngineError, match=rf"has no layer 99 to patch. Its layers are 1 to {engine.depth()}\."):
        list(engine.continue_patched(INSPECTION, [far]))
    with pytest.raises(EngineError, match=r"'qzx'.*inspection"):
        list(engine.continue_patched(Inspection("soup: hot\nqzx", "qzx"), [Patch("none")]))
    with pytest.raises(EngineError, match="is not one token at the end"):
        list(engine.continue_patched(Inspection("soup: hot\nx:", "x"), [Patch("none")]))


def test_what_the_model_cannot_read_is_a_row(tmp_path: Path) -> None:
    with open_engine(_spec(save_causal("gpt2", tmp_path)), PATCHING) as engine:
        long, empty, good = (StatesRequest(a, (Message("user", "we"),), a) for a in ("soup " * 200, "", "soup"))
        found = {one.request_id: one for one in engine.answer_states([long, empty, good])}
    assert found["soup " * 200].states is None
    assert "are more than the 128 that the model reads" in str(found["soup " * 200].error)
    assert found[""].error == "the answer has no token"
    assert found["soup"].error is None


def test_a_model_without_layers_in_reach_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_engine(_spec(save_causal("gpt2", tmp_path / "c")), PATCHING) as engine:
        assert isinstance(engine, TransformersEngine)
        model: Any = engine._loaded.model
        monkeypatch.setattr(model.transformer, "h", torch.nn.Sequential(*model.transformer.h))
        with pytest.raises(EngineError, match=r"4 layers.*decoder"):
            engine.depth()
    with (
        open_engine(_spec(save_masked(tmp_path / "m")), PATCHING) as masked,
        pytest.raises(EngineError, match="is a masked model"),
    ):
        masked.depth()
    api = ModelSpec("openai:gpt-x", {"base_url": "http://localhost:1/v1"})
    with pytest.raises(EngineError, match=r"layers.*'transformers'"):
        check_can(api, PATCHING)


def test_random_weights_are_the_same_again_and_another_model(tmp_path: Path) -> None:
    folder = save_causal("llama", tmp_path)
    found = {}
    for name, options in {"own": {}, "one": {"random_weights": 1}, "two": {"random_weights": 2}}.items():
        for times in range(2):
            with open_engine(_spec(folder, **options), PATCHING) as engine:
                assert isinstance(engine, TransformersEngine)
                found[name, times] = _own(engine), engine.model_version
    for name in ("own", "one", "two"):
        np.testing.assert_array_equal(found[name, 0][0], found[name, 1][0])
    for one, other in (("own", "one"), ("one", "two")):
        assert np.abs(found[one, 0][0] - found[other, 0][0]).max() > 0.001
    assert "random weights 2" in found["two", 0][1]
    assert "random weights" not in found["own", 0][1]
    assert model_setup(_spec(folder, random_weights=1), "patch")["random_weights"] == 1
    assert model_setup(_spec(folder, random_weights=1), "score")["random_weights"] == 1


def test_texts_of_different_lengths_are_continued_as_alone(engine: TransformersEngine) -> None:
    texts = [("a", "soup: hot, fish\nthe soup was"), ("b", "soup"), ("c", "soup: hot\nfish and")]
    together = list(engine.continue_texts(texts, 6))
    assert [one.patch_id for one in together] == ["a", "b", "c"]
    alone = [next(iter(engine.continue_patched(Inspection(text, "", 6), [Patch(name)]))) for name, text in texts]
    assert together == alone
    if engine._loaded.window < 2**14:  # others read texts of any length
        far = list(engine.continue_texts([("long", "soup " * 2**13), texts[1]], 6))
        assert [one.finish_reason for one in far] == ["window", alone[1].finish_reason]
        assert far[1] == alone[1]
