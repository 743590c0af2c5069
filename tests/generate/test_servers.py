"""Presets of servers: what each takes is sent to a server that takes exactly that, and rejects the rest as it does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import EngineError
from polyculture.generate.engines import Message, ModelSpec, Request, check_model, find_kind, open_engine, read_options
from polyculture.generate.engines.base import Decoding
from polyculture.generate.engines.openai import servers
from polyculture.generate.engines.openai.kind import KIND, found_servers
from polyculture.generate.engines.openai.options import UNBOUNDED, OpenAIOptions, most_written
from polyculture.generate.engines.openai.servers import advice, known_servers, rejected_fields
from polyculture.generate.engines.setup import model_setup
from tests.polyculture.test_command_line import polyculture
from tests.servers import Behaviour, Reply, StubServer

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
ALWAYS = {"model", "messages", "temperature", "top_p"}


def openai_error(field: str) -> bytes:
    message = f"Unsupported parameter: '{field}' is not supported with this model."
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "param": field}}).encode()


def gemini_error(field: str) -> bytes:
    message = f'Invalid JSON payload received. Unknown name "{field}": Cannot find field.'
    return json.dumps([{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}]).encode()


def strict(taken: set[str], error: Any = openai_error) -> Behaviour:
    """A server that takes these fields and answers HTTP 400 to any other."""

    def answer(body: Mapping[str, Any], _before: int) -> Reply | None:
        wrong = [field for field in body if field not in taken]
        return Reply(400, error(wrong[0])) if wrong else None

    return answer


def ask(stub: StubServer, **options: Any) -> list[Any]:
    spec = ModelSpec("openai:stub", {"base_url": stub.url, "max_retries": 0, **options})
    request = Request("r", (Message("user", "Hello"),), Decoding(schema=SCHEMA), (1, 2))
    with open_engine(spec) as engine:
        return list(engine.sample([request]))


@pytest.mark.parametrize("name", known_servers())
def test_each_server_is_sent_what_it_takes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = known_servers()[name]
    if facts.key:
        monkeypatch.setenv(facts.key, "a-key")
    beside = {"top_k", "seed", "response_format"} - {*facts.rejects, *facts.ignores}
    taken = ALWAYS | {facts.length} | (beside - {"response_format"} if facts.schema_form == "none" else beside)
    error = gemini_error if name == "gemini" else openai_error
    with StubServer(behaviour=strict(taken, error)) as server:
        assert [one.error for one in ask(server, server=name)] == [None, None]
        assert set(server.bodies[0]) == taken
    with StubServer(behaviour=strict(taken - {"top_p"}, error)) as server:
        (first, _) = ask(server, server=name)
        assert rejected_fields(first.error) == ["top_p"]


def test_the_options_of_the_file_take_precedence_and_omit_is_joined() -> None:
    setup = model_setup(ModelSpec("openai:m", {"server": "ollama", "omit": ["seed"]}), "sample")
    assert setup == {"base_url": "http://localhost:11434/v1", "omit": ["top_k", "seed"], "schema_form": "json_schema"}
    own = model_setup(ModelSpec("openai:m", {"server": "ollama", "base_url": "http://10.0.0.1/v1"}), "sample")
    assert own["base_url"] == "http://10.0.0.1/v1"
    assert model_setup(ModelSpec("openai:m", {}), "sample") == {}  # rows of earlier versions stay


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    """A server on what is taken for Ollama's usual port; nothing listens on the other ones."""
    with StubServer() as server:
        server.serves = ["nomic-embed-text:latest", "qwen2.5:7b", "gemma3:latest"]
        urls = {"ollama": server.url, "lmstudio": "http://127.0.0.1:9/v1", "vllm": "http://127.0.0.1:9/v1"}
        moved = {name: known_servers()[name].model_copy(update={"base_url": url}) for name, url in urls.items()}
        monkeypatch.setattr(servers, "known_servers", lambda: moved)
        yield server


def test_a_server_on_its_usual_port_is_asked_by_its_name_without_a_key(
    ollama: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-another-provider")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    request = Request("r", (Message("user", "Hello"),), Decoding(), (1,))
    with open_engine(ModelSpec("ollama:qwen2.5:7b")) as engine:
        assert [one.error for one in engine.sample([request])] == [None]
    assert ollama.bodies[0]["model"] == "qwen2.5:7b"
    assert "top_k" not in ollama.bodies[0]
    assert "another-provider" not in str(ollama.headers)
    named, preset = ModelSpec("ollama:m"), ModelSpec("openai:m", {"server": "ollama"})
    assert model_setup(named, "sample") == model_setup(preset, "sample")
    assert not find_kind(named).paid


def test_a_server_on_its_usual_port_is_found_with_its_models(ollama: StubServer) -> None:
    assert list(found_servers()) == [("ollama", ollama.url, ["qwen2.5:7b", "gemma3:latest"])]


def test_the_address_in_the_environment_is_asked_and_is_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    with StubServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        request = Request("r", (Message("user", "Hello"),), Decoding(), (1,))
        with open_engine(ModelSpec("openai:m")) as engine:
            assert [one.error for one in engine.sample([request])] == [None]
    assert model_setup(ModelSpec("openai:m"), "sample") == {"base_url": server.url}
    named = model_setup(ModelSpec("openai:m", {"base_url": "http://10.0.0.1/v1"}), "sample")
    assert named == {"base_url": "http://10.0.0.1/v1"}
    monkeypatch.setenv("OPENAI_BASE_URL", "ftp://nowhere")
    with pytest.raises(EngineError, match="OPENAI_BASE_URL"):
        check_model(ModelSpec("openai:m"))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("qwen2.5", "ollama:qwen2.5"),
        ("qwen2.5:7b", "ollama:qwen2.5:7b"),
        ("gpt-4o", "openai:gpt-4o"),
        ("Qwen/Qwen2.5-7B-Instruct", "vllm:Qwen/Qwen2.5-7B-Instruct"),
        ("models/qwen.gguf", "llamacpp:models/qwen.gguf"),
        ("opanai:gpt-4o", "openai"),
    ],
)
def test_a_model_without_an_engine_leads_to_what_was_meant(written: str, meant: str) -> None:
    with pytest.raises(EngineError, match=f"Did you mean '{re.escape(meant)}'"):
        check_model(ModelSpec(written))


@pytest.mark.parametrize("options", [{"server": "olama"}, {"server": 3}, {"omit": ["messages"]}, {"length_field": "n"}])
def test_a_wrong_preset_is_one_line(options: dict[str, Any]) -> None:
    with pytest.raises(EngineError):
        check_model(ModelSpec("openai:m", options))


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        (
            "HTTP 400: Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            ["max_tokens"],
        ),
        ("HTTP 400: Unsupported value: 'temperature' does not support 0.7 with this model.", ["temperature"]),
        ('HTTP 400: Invalid JSON payload received. Unknown name "top_k": Cannot find field.', ["top_k"]),
        (
            "HTTP 422: [{'loc': ('body', 'top_k'), 'msg': 'Extra inputs are not permitted'}]",
            ["top_k"],
        ),
        ("HTTP 400: the prompt is too long for temperature 3", []),
        ("HTTP 500: unknown top_k", []),
    ],
)
def test_the_rejected_field_is_read_from_what_servers_say(words: str, fields: list[str]) -> None:
    assert rejected_fields(words) == fields
    assert (advice(words) is not None) == bool(fields)


def test_a_stage_that_a_field_stops_names_it_and_goes_on_without(tmp_path: Path) -> None:
    taken = ALWAYS | {"max_tokens"}
    file = tmp_path / "exp.toml"
    text = """name = "x"
models = ["openai:stub"]
languages = ["en"]
topics = ["food"]
countries = ["IT", "JP"]
conditions = ["neutral", "explicit"]
[sampling]
n = 10
top_k = 0
[options.openai]
max_retries = 0
base_url = "URL"
"""
    with StubServer(behaviour=strict(taken)) as server:
        file.write_text(text.replace("URL", server.url), encoding="utf-8")
        stopped = polyculture("run", "--only", "generate", "exp.toml", cwd=tmp_path)
        assert stopped.returncode == 6, stopped.stderr
        assert 'It does not take seed: write omit = ["seed"]' in stopped.stderr
        assert "top_k" not in server.bodies[0]
        file.write_text(text.replace("URL", server.url) + 'omit = ["seed"]\n', encoding="utf-8")
        done = polyculture("run", "--only", "generate", "exp.toml", "--accept-changes", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    seeds = polyculture("sql", "exp.toml", "SELECT count(*), count(seed) FROM responses", "-f", "csv", cwd=tmp_path)
    assert seeds.stdout.splitlines()[1] == "30,0"


@pytest.mark.parametrize(
    ("body", "most"),
    [
        ({}, 16),
        ({"max_tokens": 2000}, 2000),
        ({"max_completion_tokens": 2000}, 2000),
        ({"max_new_tokens": 2000, "max_tokens": 100}, 2000),
        ({"n_predict": 2000}, 2000),
        ({"options": {"num_predict": 2000}}, 2000),
        ({"n_predict": -1}, UNBOUNDED),
        ({"max_tokens": None}, UNBOUNDED),
        ({"max_tokens": 10**30}, UNBOUNDED),
        ({"n": 5}, 80),
        ({"n": 2, "max_tokens": 100, "best_of": 3}, 300),
        ({"thinking": {"type": "enabled", "budget_tokens": 1000}}, 1016),
        ({"thinking_budget": 1000}, 1016),
        ({"max_tokens": 8}, 16),
        ({"min_p": 0.1, "stop": ["a"], "top_k": 3, "repetition_penalty": 1.1}, 16),
    ],
)
def test_the_bound_of_an_answer_rises_with_what_is_asked_for(body: dict[str, Any], most: int) -> None:
    assert most_written(body, 16) == most


def test_a_longer_prompt_counts() -> None:
    spec = ModelSpec("openai:m", {"extra_body": {"documents": ["x" * 1000]}})
    prompt, written = read_options(OpenAIOptions, spec).most_tokens(100, 16)
    assert prompt >= 1100
    assert written == 16


def test_an_answer_in_pieces_is_refused_in_a_batch() -> None:
    read_options(OpenAIOptions, ModelSpec("openai:m", {"extra_body": {"stream": True}}))
    with pytest.raises(EngineError, match=r"stream.*batch"):
        read_options(OpenAIOptions, ModelSpec("openai:m", {"extra_body": {"stream": True}, "batch": True}))


@pytest.mark.parametrize(
    ("provider", "pinned"),
    [
        (None, False),
        ({"only": ["deepinfra"]}, True),
        ({"only": ["deepinfra", "together"]}, False),
        ({"order": ["deepinfra"]}, False),
        ({"order": ["deepinfra"], "allow_fallbacks": False}, True),
        ("deepinfra", False),
    ],
    ids=str,
)
def test_routing_that_is_not_pinned_is_warned_of(provider: Any, pinned: bool) -> None:
    spec = ModelSpec("openai:m", {"server": "openrouter", "extra_body": {"provider": provider} if provider else {}})
    warning = KIND.warning(spec, read_options(OpenAIOptions, spec))
    assert (warning is None) == pinned
    if warning is not None:
        assert "only = [" in warning
    assert KIND.warning(ModelSpec("openai:m"), OpenAIOptions()) is None
