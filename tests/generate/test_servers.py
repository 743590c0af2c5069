"""Presets of servers: what each takes is sent to a server that takes exactly that, and rejects the rest as it does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import EngineError
from polyculture.generate.engines import Message, ModelSpec, Request, check_model, open_engine
from polyculture.generate.engines.base import Decoding
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
        stopped = polyculture("generate", "exp.toml", cwd=tmp_path)
        assert stopped.returncode == 6, stopped.stderr
        assert 'It does not take seed: write omit = ["seed"]' in stopped.stderr
        assert "top_k" not in server.bodies[0]
        file.write_text(text.replace("URL", server.url) + 'omit = ["seed"]\n', encoding="utf-8")
        done = polyculture("generate", "exp.toml", "--accept-changes", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    seeds = polyculture("sql", "exp.toml", "SELECT count(*), count(seed) FROM responses", "-f", "csv", cwd=tmp_path)
    assert seeds.stdout.splitlines()[1] == "30,0"
