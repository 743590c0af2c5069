"""What the last token attends to is what the model's whole plain attention says, on tiny models of several kinds."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyculture.cache.errors import EngineError
from polyculture.generate.engines import ATTENDING, Message, ModelSpec, check_can, open_engine
from polyculture.generate.engines.patching import Attention, AttentionRequest
from polyculture.generate.engines.transformers.engine import TransformersEngine
from tests.tiny_models import CAUSAL, byte_level, save_causal, save_masked

torch = pytest.importorskip("torch", reason="the extra 'transformers' is not installed")

TEXT = "we ate the soup and fish, 김치와 밥 was hot:"
SPANS = ((7, 15), (20, 24), (26, 31), (36, 39))  # 'the soup', 'fish', Korean of several tokens a letter, 'hot'
TEMPLATE = "{% for m in messages %}<{{ m.role }}>\n{{ m.content | trim }}\n{% endfor %}<assistant>"


def _qwen2(vocabulary: int) -> Any:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    sizes = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 1}
    return Qwen2ForCausalLM(Qwen2Config(vocab_size=vocabulary, intermediate_size=64, **sizes))


def _qwen3(vocabulary: int) -> Any:
    """Queries and keys are normed, and heads are wider than their share of the state."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    sizes = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2}
    return Qwen3ForCausalLM(Qwen3Config(vocab_size=vocabulary, intermediate_size=64, head_dim=16, **sizes))


def _gemma2(vocabulary: int) -> Any:
    """Logits of attention are capped softly, which only plain attention can; every other layer sees 6 tokens back."""
    from transformers import Gemma2Config, Gemma2ForCausalLM

    sizes = {"hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2}
    kinds = ["sliding_attention", "full_attention"] * 2
    return Gemma2ForCausalLM(
        Gemma2Config(vocab_size=vocabulary, intermediate_size=64, head_dim=8, sliding_window=6, layer_types=kinds,
                     attn_logit_softcapping=1.0, **sizes)
    )  # fmt: skip


def _gpt_oss(vocabulary: int) -> Any:
    """A sink takes a part of each row, so that weights add up to less than 1."""
    from transformers import GptOssConfig, GptOssForCausalLM

    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    return GptOssForCausalLM(
        GptOssConfig(vocab_size=vocabulary, intermediate_size=32, head_dim=8, num_local_experts=2,
                     num_experts_per_tok=1, sliding_window=6, **sizes)
    )  # fmt: skip


MODELS: Mapping[str, Callable[[int], Any]] = {
    **{kind: CAUSAL[kind] for kind in ("llama", "gpt2", "gemma3", "mistral", "bloom")},
    "qwen2": _qwen2,
    "qwen3": _qwen3,
    "gemma2": _gemma2,
    "gpt_oss": _gpt_oss,
}


def _save(kind: str, folder: Path) -> ModelSpec:
    tokenizer = byte_level()
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(7)
    model = MODELS[kind](len(tokenizer))
    for weight in model.parameters():  # random weights look at all tokens alike
        weight.data.mul_(3.0)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return ModelSpec(f"transformers:{folder}", {"device": "cpu"})


@pytest.fixture(scope="module", params=MODELS)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TransformersEngine]:
    with open_engine(_save(request.param, tmp_path_factory.mktemp(request.param)), ATTENDING) as opened:
        assert isinstance(opened, TransformersEngine)
        yield opened


def _request(text: str = TEXT, **changes: Any) -> AttentionRequest:
    return AttentionRequest(text, (Message("user", text),), changes.pop("spans", SPANS), **changes)


def _one(engine: TransformersEngine, request: AttentionRequest) -> Attention:
    (found,) = engine.attend([request])
    assert found.error is None
    return found


def _whole(engine: TransformersEngine, text: str) -> tuple[Any, list[tuple[int, int]]]:
    """All attention of a text, [layers, heads, tokens, tokens], by one plain pass; and where its tokens stand."""
    loaded = engine._loaded
    read = loaded.tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)
    model, before = loaded.model, loaded.model.config._attn_implementation
    if before != "eager":
        model.set_attn_implementation("eager")
    with torch.inference_mode():
        whole = torch.tensor([read["input_ids"]], device=model.device)
        found = model(whole, use_cache=False, output_attentions=True).attentions
    if before != "eager":
        model.set_attn_implementation(before)
    return torch.stack([one[0] for one in found]), read["offset_mapping"]


def _chat(text: str) -> str:
    return f"<user>\n{text}\n<assistant>"


def _under(offsets: list[tuple[int, int]], start: int, end: int) -> list[int]:
    return [place for place, (one, other) in enumerate(offsets) if one < end and start < other]


@pytest.mark.parametrize("bare", [False, True])
def test_weights_are_the_last_row_of_the_whole(engine: TransformersEngine, bare: bool) -> None:
    whole, offsets = _whole(engine, TEXT if bare else _chat(TEXT))
    found = _one(engine, _request(bare=bare))
    assert found.weights is not None
    assert found.tokens == len(offsets)
    shift = 0 if bare else len("<user>\n")
    for (start, end), weights in zip(SPANS, found.weights, strict=True):
        places = _under(offsets, start + shift, end + shift)
        expected = whole[:, :, -1].mean(1)[:, places]
        np.testing.assert_allclose(weights, expected, atol=1e-5)
    if bare or "Mistral" not in type(engine._loaded.model).__name__:  # all of whose layers see 6 tokens back
        assert any(weights.max() > 0.02 for weights in found.weights)


def test_over_all_tokens_a_row_adds_up(engine: TransformersEngine) -> None:
    found = _one(engine, _request(spans=((0, len(TEXT)),), bare=True))
    sums = found.weights[0].sum(axis=1)
    if "GptOss" in type(engine._loaded.model).__name__:
        assert (sums < 0.99).all()  # the sink has the rest
    else:
        np.testing.assert_allclose(sums, 1.0, atol=1e-5)


def test_prompts_in_one_pass_are_those_alone(engine: TransformersEngine) -> None:
    texts = (TEXT, TEXT.replace("fish", "soup"), "soup was hot", "the fish was", "we ate rice and chips with soup")
    requests = [_request(text, spans=((0, 4),)) for text in texts]
    together: dict[str, Any] = {one.request_id: one for one in engine.attend(requests)}
    for text in texts:
        alone = _one(engine, _request(text, spans=((0, 4),)))
        np.testing.assert_allclose(together[text].weights[0], alone.weights[0], atol=1e-5)


def test_the_model_is_as_before(engine: TransformersEngine) -> None:
    model = engine._loaded.model
    _one(engine, _request())  # transformers hangs hooks of its own into some models, once
    before, hooks = model.config._attn_implementation, _hooks(model)
    _one(engine, _request())
    assert (model.config._attn_implementation, _hooks(model)) == (before, hooks)
    with pytest.MonkeyPatch.context() as patch:
        body, told = model.base_model.forward, []

        def broken(*_: Any, **options: Any) -> Any:
            told.append(options)
            if options.get("output_attentions"):
                raise KeyboardInterrupt
            return body(*_, **options)

        patch.setattr(model.base_model, "forward", broken)
        with pytest.raises(KeyboardInterrupt):
            _one(engine, _request())
    assert len(told) == 2
    assert (model.config._attn_implementation, _hooks(model)) == (before, hooks)


def _hooks(model: Any) -> int:
    return sum(len(module._forward_pre_hooks) + len(module._forward_hooks) for module in model.modules())


def test_memory_grows_with_the_length_and_not_with_its_square(tmp_path: Path) -> None:
    """Llama with 4 layers of 4 heads reads 900 tokens: all attention is 52 MB, a layer's 13."""
    text = "soup " * 900
    with open_engine(_save("llama", tmp_path), ATTENDING) as engine:
        assert isinstance(engine, TransformersEngine)
        tokens = len(engine._loaded.tokenizer(text)["input_ids"])
        square = 4 * 4 * tokens**2
        assert 900 < tokens < 1000
        with _Meter() as ours:
            _one(engine, _request(text, spans=((0, 4),), bare=True))
        with _Meter() as whole:
            _whole(engine, text)
    assert whole.most > 4 * square  # the meter sees all four layers
    assert ours.most < square / 2  # not even one


def _meter() -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Meter(TorchDispatchMode):
        """The most bytes of tensors that are alive at one time, of those made while it is on."""

        def __init__(self) -> None:
            super().__init__()
            self.most = self._now = 0
            self._known: set[int] = set()

        def __torch_dispatch__(self, function: Any, _: Any, given: Any = (), options: Any = None) -> Any:
            made = function(*given, **(options or {}))
            for one in made if isinstance(made, (tuple, list)) else (made,):
                if isinstance(one, torch.Tensor):
                    self._see(one.untyped_storage())
            return made

        def _see(self, storage: Any) -> None:
            if storage.data_ptr() in self._known or not storage.nbytes():
                return
            self._known.add(storage.data_ptr())
            self._now += storage.nbytes()
            self.most = max(self.most, self._now)
            weakref.finalize(storage, self._forget, storage.data_ptr(), storage.nbytes())

        def _forget(self, place: int, size: int) -> None:
            self._known.discard(place)
            self._now -= size

    return Meter()


_Meter = _meter


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_half_precision_gives_much_the_same(tmp_path: Path, kind: str) -> None:
    spec = _save(kind, tmp_path)
    found = []
    for dtype in ("float32", "bfloat16"):
        with open_engine(ModelSpec(spec.model, {**spec.options, "dtype": dtype}), ATTENDING) as engine:
            assert isinstance(engine, TransformersEngine)
            found.append(_one(engine, _request()))
    assert found[1].weights is not None
    for one, other in zip(found[0].weights or (), found[1].weights, strict=True):
        np.testing.assert_allclose(other, one, rtol=0.2, atol=0.1 * one.max())


def test_what_the_model_cannot_read_is_a_row(tmp_path: Path) -> None:
    with open_engine(_save("gpt2", tmp_path), ATTENDING) as engine:
        long, outside, short, good = (
            _request("soup " * 200, spans=((0, 4),)),
            _request("the fish", spans=((0, 3), (8, 9)), bare=True),
            _request("x", spans=((0, 1),), bare=True),
            _request("  the soup \n", spans=((6, 10),)),
        )
        found = {one.request_id: one for one in engine.attend([long, outside, short, good])}
    assert "are more than the 128 that the model reads" in str(found["soup " * 200].error)
    assert found["the fish"].error == "no token stands under span 2 of the message"
    assert found["x"].error == "the prompt has no token before its last one"
    assert found["  the soup \n"].error is None  # its template takes blanks away
    assert found["soup " * 200].weights is None


def test_a_template_that_rewrites_the_message_is_a_row(tmp_path: Path) -> None:
    spec = _save("gpt2", tmp_path)
    with open_engine(spec, ATTENDING) as engine:
        assert isinstance(engine, TransformersEngine)
        engine._loaded.tokenizer.chat_template = "{{ messages[0].content | upper }}"
        (found,) = engine.attend([_request()])
    assert found.error == "the chat template does not show the message as it stands"


def test_models_without_attention_in_reach_are_one_line(tmp_path: Path) -> None:
    spec = ModelSpec(f"transformers:{save_causal('mamba', tmp_path / 'mamba')}", {"device": "cpu"})
    with (
        open_engine(spec, ATTENDING) as mamba,
        pytest.raises(EngineError, match="keys and values"),
    ):
        list(mamba.attend([_request(bare=True)]))
    with (
        open_engine(ModelSpec(f"transformers:{save_masked(tmp_path / 'm')}", {"device": "cpu"}), ATTENDING) as masked,
        pytest.raises(EngineError, match="is a masked model"),
    ):
        list(masked.attend([_request(bare=True)]))
    api = ModelSpec("openai:gpt-x", {"base_url": "http://localhost:1/v1"})
    with pytest.raises(EngineError, match=r"attention.*'transformers'"):
        check_can(api, ATTENDING)
