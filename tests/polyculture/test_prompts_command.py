"""`polyculture prompts` prints what a server receives, word for word, and asks nobody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import SystematicFaultError
from polyculture.extract.answer import answer_schema
from tests.polyculture.test_command_line import polyculture
from tests.servers import StubServer
from tests.stages import do_stages

EXPERIMENT = """name = "shown"
models = ["openai:a", "openai:b"]
languages = ["en", "ja"]
topics = ["food"]
countries = ["IT", "JP"]
answer_in_language = ["openai:b"]
[prompts]
wordings = 2
names = 2
[sampling]
n = 1
max_tokens = 16
[extract]
with = "{extractor}"
[options.openai]
base_url = "{url}"
[variants."openai:a"]
polite = {{ system = "Be polite." }}
"""
PROMPTS = 2 * 2 * (1 + 2 + 2 + 2)  # languages, wordings; neutral, explicit, and two names of each sex


def write(folder: Path, url: str = "http://127.0.0.1:9/v1", extractor: str = "gazetteer") -> Path:
    file = folder / "shown.toml"
    file.write_text(EXPERIMENT.format(url=url, extractor=extractor), encoding="utf-8")
    return file


def shown(file: Path, *words: str) -> list[dict[str, Any]]:
    done = polyculture("prompts", file, *words, "--format", "json", cwd=file.parent)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_server_receives_what_is_printed(tmp_path: Path) -> None:
    with StubServer() as server:
        file = write(tmp_path, server.url)
        printed = shown(file)
        assert server.bodies == []
        do_stages(file, "generate")
        arrived = [tuple((turn["role"], turn["content"]) for turn in body["messages"]) for body in server.bodies]
    sent = []
    for one in printed:
        system = [] if one["system"] is None else [("system", one["system"])]
        sent += [(*system, ("user", one["text"]))] * len(one["models"].split(", "))
    assert len(arrived) == 3 * PROMPTS
    assert sorted(arrived) == sorted(sent)


def test_no_run_is_needed_and_none_is_made(tmp_path: Path) -> None:
    shown(write(tmp_path))
    assert not (tmp_path / "runs").exists()


def test_filters_choose_and_unknown_values_are_one_line(tmp_path: Path) -> None:
    file = write(tmp_path)
    rows = shown(
        file, "--language", "ja", "--condition", "implicit_male", "--wording", "describe", "--model", "openai:b"
    )
    assert {(one["language"], one["condition"], one["wording"], one["models"]) for one in rows} == {
        ("ja", "implicit_male", "describe", "openai:b")
    }
    assert len({one["name"] for one in rows}) == 2
    assert all(one["name"] in one["text"] for one in rows)
    assert {one["country"] for one in shown(file, "--country", "IT", "--condition", "explicit")} == {"IT"}
    done = polyculture("prompts", file, "--wording", "descibe", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no prompt of the experiment has the wording 'descibe'" in done.stderr
    assert "describe" in done.stderr.replace("descibe", "")


def test_the_table_names_who_is_sent_what_and_counts(tmp_path: Path) -> None:
    done = polyculture("prompts", write(tmp_path), "--language", "en", cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["== en  food  write ==", "[to openai:a]"]
    assert lines.count("[to openai:a@polite]") == lines.count("[system] Be polite.") == 2
    assert sum(line.endswith("Please answer in English.") for line in lines) == 14
    totals = next(line.split() for line in lines if line.split()[:1] == ["all"])
    assert totals == ["all", "2", "4", "4", "4", "14"]
    assert "14 prompts x 1 samples x 3 models = 42 responses" in done.stderr


def test_a_table_of_one_system_prompt_says_it_once(tmp_path: Path) -> None:
    file = write(tmp_path)
    done = polyculture("prompts", file, "--model", "openai:a@polite", cwd=tmp_path)
    assert done.stdout.startswith("[system]\nBe polite.\n")
    assert done.stdout.count("Be polite.") == 1
    assert "[to " not in done.stdout


def test_the_extractors_messages_are_those_that_arrive(tmp_path: Path) -> None:
    with StubServer() as server:
        file = write(tmp_path, server.url, "openai:x")
        [printed] = shown(file, "--extractor")
        do_stages(file, "generate")
        texts = {f"{body['messages'][-1]['content']} ({body['seed']})" for body in server.bodies}
        server.bodies.clear()
        with pytest.raises(SystematicFaultError):  # the server has no list of mentions to say
            do_stages(file, "extract")
        body = server.bodies[0]
    messages = json.loads(printed["messages"])
    assert body["messages"][:-1] == messages[:-1]
    assert body["messages"][-1]["content"] in texts
    assert messages[-1] == {"role": "user", "content": "(the text of the response)"}
    assert body["response_format"]["json_schema"]["schema"] == json.loads(printed["schema"])
    assert json.loads(printed["schema"]) == answer_schema(read_catalog().topic("food").kinds)
    assert body["max_tokens"] == printed["max_tokens"]
    told = polyculture("prompts", file, "--extractor", cwd=tmp_path).stdout
    assert all(turn["content"] in told for turn in messages)


def test_a_gazetteer_has_no_prompt(tmp_path: Path) -> None:
    done = polyculture("prompts", write(tmp_path), "--extractor", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.count("\n") == 1
    assert "gazetteer" in done.stderr


def test_help_names_the_options_of_the_stage(tmp_path: Path) -> None:
    told = polyculture("prompts", "--help", cwd=tmp_path).stdout
    assert "--wording" in told
    assert "polyculture prompts exp.toml" in told
