"""`--retry-failed [REASON]`: what failed for good is asked again on request, and what was paid stays paid."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.work.faults import RetryFailed
from polyculture.cli.options import with_reason
from tests.polyculture.test_command_line import polyculture
from tests.servers import Reply, StubServer, failure
from tests.stored import rows

EXPERIMENT = """
name = "again"
models = ["openai:one"]
languages = ["ja"]
topics = ["food"]
countries = ["IT", "JP"]
conditions = ["neutral", "explicit"]
[sampling]
n = 8
[extract]
with = "{extractor}"
[options.openai]
base_url = "{url}"
[prices."openai:one"]
input = 1
output = 1
[prices."openai:x"]
input = 1
output = 1
"""


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer() as server:
        yield server


def write(folder: Path, url: str, extractor: str = "gazetteer") -> Path:
    file = folder / "exp.toml"
    file.write_text(EXPERIMENT.format(url=url, extractor=extractor), encoding="utf-8")
    return file


def answer(text: str | None, finish_reason: str = "stop", **message: Any) -> Reply:
    choice = {"finish_reason": finish_reason, "message": {"content": text, **message}}
    usage = {"prompt_tokens": 7, "completion_tokens": 5}
    return Reply(body=json.dumps({"choices": [choice], "model": "m", "usage": usage}).encode())


def faults(body: Mapping[str, Any], _: int) -> Reply | None:
    """Of eight samples of a prompt: one too long, one without text, one withheld by the provider, one by the model."""
    return {
        1: failure(400, "maximum context length is 8"),
        2: answer(None, "length"),
        3: failure(400, "filtered", code="content_filter"),
        4: answer(None, refusal="I cannot"),
    }.get(body["seed"] % 8)


def test_all_that_failed_for_good_is_asked_again_but_what_was_withheld(tmp_path: Path, stub: StubServer) -> None:
    stub.behaviour = faults
    file = write(tmp_path, stub.url)
    assert polyculture("run", "--only", "generate", file, cwd=tmp_path).returncode == 4
    assert polyculture("run", "--only", "generate", file, cwd=tmp_path).returncode == 4
    assert len(stub.asked) == 24, "permanent failures are not asked again"
    [(paid,)] = rows(file, "SELECT sum(cost) FROM spending")
    stub.behaviour = None
    told = polyculture("plan", file, "--retry-failed", cwd=tmp_path).stdout
    assert " 6 " in next(line for line in told.splitlines() if "generate" in line)
    done = polyculture("run", "--only", "generate", file, "--retry-failed", cwd=tmp_path)
    assert done.returncode == 4, done.stderr
    assert len(stub.asked) == 30
    assert rows(file, "SELECT status, count(*) FROM responses GROUP BY ALL ORDER BY ALL") == [("failed", 6), ("ok", 18)]
    [(now, unusable)] = rows(file, "SELECT sum(cost), sum(unusable) FROM spending")
    assert unusable == 3, "the three answers that were paid for and asked for again"
    assert now == pytest.approx(paid + 6 * 12e-6)
    last = polyculture("run", "--only", "generate", file, "--retry-failed", "content policy", cwd=tmp_path)
    assert last.returncode == 0, last.stderr
    assert len(stub.asked) == 36
    counted = "SELECT status, count(*), count(DISTINCT response_id) FROM responses GROUP BY ALL"
    assert rows(file, counted) == [("ok", 24, 24)]
    assert polyculture("run", "--only", "generate", file, "--retry-failed", cwd=tmp_path).returncode == 0
    assert len(stub.asked) == 36


@pytest.mark.parametrize(
    ("reason", "asked"), [("context length", 3), ("HTTP 400", 6), ("No Text", 3), ("no such words", 0)]
)
def test_a_reason_is_a_kind_of_fault_or_words_of_it(tmp_path: Path, stub: StubServer, reason: str, asked: int) -> None:
    stub.behaviour = faults
    file = write(tmp_path, stub.url)
    assert polyculture("run", "--only", "generate", file, cwd=tmp_path).returncode == 4
    polyculture("run", "--only", "generate", file, "--retry-failed", reason, cwd=tmp_path)
    assert len(stub.asked) == 24 + asked


def test_an_extraction_begins_anew(tmp_path: Path, stub: StubServer) -> None:
    """Three answers of no use made it final; the next answer is a first one again, and all of them are paid for."""
    broken = True

    def extractor(body: Mapping[str, Any], _: int) -> Reply | None:
        if body["model"] != "x":
            return None
        odd = any("イタリア" in turn["content"] for turn in body["messages"][-3:])  # asked again behind its words
        return answer("no JSON" if broken and odd else json.dumps({"mentions": []}))

    stub.behaviour = extractor
    file = write(tmp_path, stub.url, "openai:x")
    failed = polyculture("run", file, cwd=tmp_path)
    assert failed.returncode == 4, failed.stderr
    count = "SELECT count(*) FILTER (status = 'failed'), max(attempts) FROM extractions"
    assert rows(file, count) == [(8, 3)]
    paid = "SELECT sum(prompt_tokens) FROM spending WHERE stage = 'extract'"
    assert rows(file, paid) == [(7 * (16 + 3 * 8),)]
    asked, broken = len(stub.asked), False
    done = polyculture("run", "--only", "extract", file, "--retry-failed", "unusable answer", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(stub.asked) == asked + 8
    assert rows(file, count) == [(0, 1)]
    assert rows(file, paid) == [(7 * (16 + 3 * 8 + 8),)]


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["exp.toml", "--retry-failed"], ["exp.toml", "--retry-failed", ""]),
        (["--retry-failed", "exp.toml"], ["--retry-failed", "", "exp.toml"]),
        (["--retry-failed", "HTTP 400", "exp.toml"], ["--retry-failed", "HTTP 400", "exp.toml"]),
        (["--retry-failed", "--job", "1/2"], ["--retry-failed", "", "--job", "1/2"]),
        (["exp.toml"], ["exp.toml"]),
    ],
)
def test_the_reason_may_be_missing(words: list[str], read: list[str]) -> None:
    assert with_reason(words) == read


def test_what_was_withheld_is_named_by_its_kind_alone() -> None:
    withheld = [
        ("HTTP 400: filtered", "withheld"),
        ("refused: no", "withheld"),
        ("HTTP 400: content policy", None),
    ]
    for error, ending in withheld:
        assert not RetryFailed().names(error, ending)
        assert RetryFailed("Content Policy").names(error, ending)
    assert RetryFailed().names("HTTP 400: too odd")
    assert not RetryFailed("content policy").names("HTTP 400: too odd")
