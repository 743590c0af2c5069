"""The main job as a user runs it: against a real server, killed and resumed, changed and topped up; and the demo."""

from __future__ import annotations

import io
import json
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.cache.work.worker import left
from polyculture.cli import demo
from polyculture.reports import reading
from polyculture.running.layout import store_layout
from polyculture.running.opening import open_workspace
from tests import servers
from tests.polyculture.test_command_line import one_line, polyculture
from tests.quick_start import begin_polyculture
from tests.servers import StubServer

# An OpenAI-compatible server that is not ours: llama.cpp's, with the demo's model.
LLAMA_SERVER = """
import sys
import xllamacpp
from polyculture.generate.engines.model_files import find_gguf
params = xllamacpp.CommonParams()
params.model.path = str(find_gguf("smollm2"))
params.verbosity, params.n_parallel, params.n_ctx, params.port = -1, 4, 4 * 2048, 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""

EXPERIMENT = """
name = "whole"
models = ["openai:{model}"]
languages = {languages}
topics = ["food"]
countries = ["IT", "JP"]
conditions = ["neutral", "explicit"]
[sampling]
n = {n}
max_tokens = 48
[extract]
with = "{extractor}"
[options.openai]
base_url = "{url}"
concurrency = 4
"""

# In languages that are told by their scripts: no process loads the models of those in Latin letters.
TEXTS_BY_SCRIPT = {
    "ja": ("彼女はラーメンと寿司が好きです。", "彼はピザを食べます。"),
    "ko": ("그는 피자와 김치를 좋아해요.", "라면과 초밥을 먹어요."),
}
TEXTS = (
    "She loves ramen and sushi, and paella with saffron. Ramen again!",
    "He eats pizza, pasta and a bowl of soup.",
    "Rice with chicken, tacos, and tiramisu for dessert.",
)


def write_experiment(folder: Path, url: str, n: int = 2, languages: Sequence[str] = ("en", "es"), **words: str) -> Path:
    file, words = folder / "exp.toml", {"model": "any", "extractor": "gazetteer", **words}
    text = EXPERIMENT.format(url=url, n=n, languages=json.dumps(languages), **words)
    file.write_text(text, encoding="utf-8")
    return file


def rows(experiment: Path, query: str) -> list[dict[str, Any]]:
    """What `polyculture sql` answers."""
    asked = polyculture("sql", experiment, query, "--format", "json", cwd=experiment.parent)
    assert asked.returncode == 0, asked.stderr
    return [json.loads(line) for line in asked.stdout.splitlines()]


def run(experiment: Path, *options: str) -> subprocess.CompletedProcess[str]:
    done = polyculture("run", experiment, *options, cwd=experiment.parent, report=True)
    assert done.returncode == 0, done.stderr
    return done


def do(experiment: Path, *stages: str, options: Sequence[str] = ()) -> None:
    """Stages of a run alone: a page that no test reads takes as long as all others together."""
    for stage in stages:
        done = polyculture("run", "--only", stage, experiment, *options, cwd=experiment.parent)
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def llama_server() -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, "-c", LLAMA_SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdin is not None
    assert server.stdout is not None
    with server.stdin, server.stdout:
        yield f"{server.stdout.readline().strip()}/v1"
        server.kill()
        server.wait()


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    """A server whose answers name dishes, always the same for a prompt and seed."""
    monkeypatch.setattr(servers, "answer_text", lambda _prompt, seed: " ".join(random.Random(seed).sample(TEXTS, 2)))
    with StubServer(latency=0.02) as server:
        yield server


@pytest.mark.slow
def test_a_real_server_from_prompts_to_the_report(tmp_path: Path, llama_server: str) -> None:
    experiment = write_experiment(tmp_path, llama_server, model="smollm2", n=1)
    said = run(experiment).stdout.splitlines()
    (report,) = (Path(line.removeprefix("Report: ")) for line in said if line.startswith("Report: "))
    assert report == tmp_path / "runs" / "whole" / "report.html"
    assert "Culture specificity" in report.read_text(encoding="utf-8")
    (counts,) = rows(
        experiment,
        "SELECT count(*) AS n, count(text) AS texts, min(completion_tokens) AS tokens, count(DISTINCT seed) AS seeds"
        " FROM responses",
    )
    assert counts["n"] == counts["texts"] == 2 * 3
    assert counts["tokens"] > 0
    assert counts["seeds"] == counts["n"]
    assert rows(experiment, "SELECT count(*) AS n FROM extractions WHERE status = 'ok'") == [{"n": counts["n"]}]
    trail = rows(experiment, 'SELECT text, surface, start, "end" FROM mention_trail')
    assert all(row["text"][row["start"] : row["end"]] == row["surface"] for row in trail)


@pytest.mark.full
def test_a_real_model_extracts_what_a_schema_lets_it_say(tmp_path: Path, llama_server: str) -> None:
    experiment = write_experiment(tmp_path, llama_server, model="smollm2", n=1, extractor="openai:smollm2")
    text = (
        experiment.read_text(encoding="utf-8")
        .replace('"en", "es"', '"en"')
        .replace('"neutral", "explicit"', '"neutral"')
    )
    experiment.write_text(text, encoding="utf-8")
    do(experiment, "generate")
    done = polyculture("run", "--only", "extract", experiment, cwd=tmp_path)
    assert done.returncode in (0, 4), done.stderr  # so small a model may fail on a text, which is then on record
    states = {
        row["status"]: row["n"] for row in rows(experiment, "SELECT status, count(*) AS n FROM extractions GROUP BY 1")
    }
    assert sum(states.values()) == 1
    assert done.returncode == (4 if states.get("failed") else 0)
    assert not rows(experiment, "SELECT * FROM extractions WHERE status = 'failed' AND (error IS NULL OR mentions > 0)")
    kinds = {"dish", "dish_category", "ingredient", "ingredient_category", "place", "person"}
    assert {row["kind"] for row in rows(experiment, "SELECT DISTINCT kind FROM mentions")} <= kinds


def tables(experiment: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that a run ends in, in an order of its own."""
    names = ("responses", "extractions", "mentions", "links", "candidates", "entities", "entity_countries", "numbers")
    with open_store(RunFolder(experiment.parent / "runs" / "whole"), store_layout()) as store:
        return {name: store.sql(f"SELECT * FROM {name} ORDER BY ALL").fetchall() for name in names}


@pytest.mark.slow
@pytest.mark.parametrize("times", [3, pytest.param(8, marks=pytest.mark.full)])
def test_killed_at_random_moments_a_run_ends_in_the_same_tables(
    tmp_path: Path, stub: StubServer, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    def say(prompt: str, seed: int | None) -> str:
        texts = TEXTS_BY_SCRIPT["ko" if any("가" <= letter <= "힣" for letter in prompt) else "ja"]
        return f"{random.Random(seed).choice(texts)} ({seed})"

    monkeypatch.setattr(servers, "answer_text", say)
    (tmp_path / "calm").mkdir()
    (tmp_path / "killed").mkdir()
    calm = write_experiment(tmp_path / "calm", stub.url, n=20, languages=("ja", "ko"))
    do(calm, "generate", "extract", "link", "measure")
    asked = len(stub.asked)
    assert asked == 2 * 3 * 20
    assert all(tables(calm).values())
    killed = write_experiment(tmp_path / "killed", stub.url, n=20, languages=("ja", "ko"))
    randomness, kills = random.Random(11), 0
    for _ in range(times):
        process = begin_polyculture("run", killed, cwd=killed.parent)
        time.sleep(randomness.uniform(0.1, 3.0))
        kills += process.exitcode is None
        process.kill()
        process.join()
    assert kills
    run(killed)
    assert tables(killed) == tables(calm)
    unwritten = 2 * 4  # at most, at a kill: four in flight and as many that wait to be written
    assert len(stub.asked) - asked <= asked + kills * unwritten


def test_a_changed_setting_is_refused_until_it_is_accepted(tmp_path: Path, stub: StubServer) -> None:
    experiment = write_experiment(tmp_path, stub.url, n=3)
    do(experiment, "generate")
    assert len(stub.asked) == 18
    text = experiment.read_text(encoding="utf-8")
    experiment.write_text(text.replace("[sampling]", "[sampling]\ntemperature = 0.1"), encoding="utf-8")
    line = one_line(polyculture("run", experiment, cwd=tmp_path))
    assert "sampling.temperature was 0.7 and is now 0.1" in line
    assert "18 responses" in line
    assert len(stub.asked) == 18
    do(experiment, "generate", options=["--accept-changes"])
    assert len(stub.asked) == 36
    experiment.write_text(text, encoding="utf-8")
    do(experiment, "generate", options=["--accept-changes"])
    assert len(stub.asked) == 36, "what was there counts again when the setting comes back"


def test_the_sql_of_a_figure_of_the_report_can_be_asked_as_it_stands(tmp_path: Path, stub: StubServer) -> None:
    experiment = write_experiment(tmp_path, stub.url, n=1)
    polyculture("run", "--only", "generate", experiment, cwd=tmp_path)
    figure = (reading.SQL / "health.sql").read_text(encoding="utf-8")
    assert figure.startswith("-- ")
    found = rows(experiment, figure)
    assert [row["language"] for row in found] == ["en", "es"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO(figure))
        assert rows(experiment, "-") == found
    assert "--no-such-option" in one_line(polyculture("sql", experiment, "--no-such-option", cwd=tmp_path))


@pytest.mark.slow
def test_the_demo_in_small(tmp_path: Path) -> None:
    done = polyculture("demo", "--folder", "d", "--samples", "1", cwd=tmp_path, report=True)
    assert done.returncode == 0, done.stderr
    assert "granularity" in done.stdout
    assert max(map(len, done.stdout.splitlines()[:-2])) <= 100  # but for the path of the report
    assert "polyculture init" in done.stdout.splitlines()[-1]
    assert done.stderr.count("Note:") == 1
    report = tmp_path / "d" / "runs" / "demo" / "report.html"
    assert str(report.relative_to(tmp_path)) in done.stdout
    assert "were recorded once" in report.read_text(encoding="utf-8")
    query = (
        "SELECT model, count(DISTINCT language) AS languages, count(*) AS n FROM responses GROUP BY model ORDER BY n"
    )
    live, recorded = rows(tmp_path / "d" / "demo.toml", query)
    assert (live["languages"], live["n"]) == (1, 2 * (1 + 5))
    assert (recorded["languages"], recorded["n"]) == (3, 3 * 2 * (1 + 5))


def test_what_the_demo_recorded_is_known_by_its_file_and_asked_of_nobody(tmp_path: Path) -> None:
    shutil.copyfile(demo.EXPERIMENT, tmp_path / "demo.toml")
    shutil.copytree(demo.RECORDED, tmp_path / "runs" / demo.RECORDED.name)
    ready = open_workspace(tmp_path / "demo.toml")
    live, recorded = ready.experiment.models
    assert "Q4_K_M".casefold() in recorded
    assert ready.setups[f"sample {recorded}"] == {"weights": "sha256:cc324af070c2ecbf"}
    step = ready.sampling_step(ready.jobs)
    asked = Counter({live: 0})
    for work in step.works():
        asked[work.job.model] += left(ready.run, step, work)
    assert asked == {live: 2 * (1 + 5) * demo.MOST, recorded: 0}
    parts = [pq.read_table(part, partitioning=None) for part in demo.RECORDED.glob("responses/*/*/*/*.parquet")]
    versions = {version for part in parts for version in part["model_version"].to_pylist()}
    assert {version.partition(" ")[2] for version in versions} == {"sha256:cc324af070c2ecbf"}
