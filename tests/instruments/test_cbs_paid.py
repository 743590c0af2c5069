"""`polyculture cbs` in front of a server that echoes: killed at any moment, and stopped before it costs too much."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.generate.engines.openai.scoring import PROBE
from polyculture.reports.report import write_report
from polyculture.running.layout import store_layout
from tests.instruments.test_cbs_store import DEMO
from tests.polyculture.test_command_line import polyculture
from tests.quick_start import begin_polyculture
from tests.report_run import sections_named
from tests.servers import Reply, StubServer
from tests.tiny_models import byte_level

pytest.importorskip("transformers", reason="the extra 'transformers' is not installed")

EXPERIMENT = """
name = "paid"
models = ["openai:stub"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
{limit}
[options.openai]
base_url = "{url}"
tokenizer = "tokenizer"
concurrency = {in_flight}
[prices."openai:stub"]
input = 100
output = 1000
"""
CHOICE = ("--data", "own", "--folder", DEMO, "--type", "food", "--culture", "Indian", "--contexts", "2", "--entities",
          "15")  # fmt: skip
SCORES = 2 * 2 * 30
IN_FLIGHT = 4
KILLS = 4


@cache
def tokenizer() -> Any:
    return byte_level()


def echo(body: Mapping[str, Any], _: int) -> Reply:
    """Log-probabilities that the tokens up to each decide, as of a model; it counts what it reads and writes."""
    prompt = body["prompt"]
    ids = tokenizer()(prompt)["input_ids"] if isinstance(prompt, str) else prompt
    seen = hashlib.sha256()
    values: list[float | None] = []
    for token in ids:
        seen.update(token.to_bytes(4, "little"))
        values.append(-seen.digest()[0] / 32)
    choice = {"text": "", "logprobs": {"token_logprobs": [None, *values[1:], -0.5]}}
    usage = {"prompt_tokens": len(ids), "completion_tokens": 1}
    return Reply(body=json.dumps({"model": "stub", "choices": [choice], "usage": usage}).encode())


@pytest.fixture
def server() -> Iterator[StubServer]:
    with StubServer(behaviour=echo, latency=0.02) as stub:
        yield stub


def write(folder: Path, url: str, limit: float | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    tokenizer().save_pretrained(folder / "tokenizer")
    told = "" if limit is None else f"max_cost = {limit}"
    (folder / "exp.toml").write_text(EXPERIMENT.format(url=url, limit=told, in_flight=IN_FLIGHT), encoding="utf-8")
    return folder


def asked(server: StubServer) -> list[str]:
    """The texts that were sent to be scored, without the probe."""
    probe = tokenizer()(PROBE)["input_ids"]
    return [str(body["prompt"]) for body in server.bodies if body["prompt"] not in (PROBE, probe)]


def stored(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with open_store(RunFolder(folder / "runs" / "paid"), store_layout()) as store:
        return [tuple(row) for row in store.sql(query).fetchall()]


TABLES = (
    "SELECT score_id, log_probability, token_log_probabilities, token_boundary FROM scores ORDER BY ALL",
    "SELECT * FROM numbers ORDER BY ALL",
    "SELECT * FROM differences ORDER BY ALL",
)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_at_random_moments_it_ends_in_the_same_tables(tmp_path: Path, server: StubServer) -> None:
    calm = write(tmp_path / "calm", server.url)
    assert polyculture("cbs", "exp.toml", *CHOICE, cwd=calm).returncode == 0
    assert len(asked(server)) == len(set(asked(server))) == SCORES
    randomness, folder = random.Random(5), write(tmp_path / "killed", server.url)
    begun, in_the_middle = len(asked(server)), 0
    for _ in range(KILLS):
        answered = len(server.bodies)
        process = begin_polyculture("cbs", "exp.toml", *CHOICE, cwd=folder)
        enough = answered + 2 + randomness.randint(0, SCORES // KILLS)  # each process probes
        while len(server.bodies) < enough and process.exitcode is None:
            time.sleep(0.005)
        process.join(randomness.uniform(0, 0.05))
        in_the_middle += process.exitcode is None
        process.kill()
        process.join()
    assert polyculture("cbs", "exp.toml", *CHOICE, cwd=folder).returncode == 0
    twice = len(asked(server)) - begun - SCORES
    assert 0 <= twice <= KILLS * 2 * IN_FLIGHT, "what was answered and kept is asked again"
    assert in_the_middle >= 2
    for query in TABLES:
        assert stored(folder, query) == stored(calm, query)


def test_a_killed_extension_leaves_numbers_that_are_marked_as_incomplete(tmp_path: Path, server: StubServer) -> None:
    folder = write(tmp_path / "run", server.url)
    small = (*CHOICE[:-1], "5")
    assert "incomplete" not in polyculture("cbs", "exp.toml", *small, cwd=folder).stdout
    few = len(server.bodies)
    process = begin_polyculture("cbs", "exp.toml", *CHOICE, cwd=folder)
    while len(server.bodies) < few + SCORES // 4 and process.exitcode is None:
        time.sleep(0.005)
    process.kill()
    process.join()
    table = polyculture("table", "cbs", "exp.toml", "--format", "csv", cwd=folder).stdout
    assert f"of {SCORES} scores" in table
    run = RunFolder(folder / "runs" / "paid")
    page = write_report(run, layout=store_layout(), sections=sections_named("probable")).read_text(encoding="utf-8")
    assert f"of {SCORES} scores</" in page
    assert "incomplete" in polyculture("cbs", "exp.toml", *small, cwd=folder).stdout, "of all that was ever asked"
    assert "incomplete" not in polyculture("cbs", "exp.toml", *CHOICE, cwd=folder).stdout


def test_scores_stop_before_max_cost_is_passed_and_go_on_when_it_is_raised(tmp_path: Path, server: StubServer) -> None:
    server.latency = 0.0
    folder = write(tmp_path / "run", server.url, limit=0.5)
    stopped = polyculture("cbs", "exp.toml", *CHOICE, cwd=folder)
    assert stopped.returncode == 5, stopped.stderr
    assert "stopped by max_cost = 0.5:" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    ((spent, bought),) = stored(folder, "SELECT sum(cost), sum(answers) FROM spending WHERE stage = 'score'")
    assert bought == len(asked(server)) > 10
    assert 0.5 - 0.1 < spent <= 0.5  # a text has less tokens than bytes: so much may be left
    again = polyculture("cbs", "exp.toml", *CHOICE, cwd=folder)
    assert again.returncode == 5
    assert len(asked(server)) == bought
    write(folder, server.url, limit=50)
    done = polyculture("cbs", "exp.toml", *CHOICE, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert len(asked(server)) == len(set(asked(server))) == SCORES
    assert stored(folder, "SELECT count(*), count(log_probability) FROM scores") == [(SCORES, SCORES)]
