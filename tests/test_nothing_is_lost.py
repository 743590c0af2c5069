"""Nothing is lost: on a full disk and by a server at its worst a run ends in the same tables."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from polyculture.cache.store.linked import CANDIDATES, ENTITIES, ENTITY_COUNTRIES, LINKS
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import EXTRACTIONS, MENTIONS, RESPONSES
from polyculture.cache.store.store import open_store
from tests import servers
from tests.extract_engines import answer
from tests.polyculture.test_command_line import polyculture
from tests.servers import RESET, TRUNCATED, Reply, StubServer, completion, failure

EXPERIMENT = """
name = "run"
models = ["openai:any"]
languages = ["{language}"]
topics = ["food"]
countries = ["IT", "JP"]
conditions = ["neutral", "explicit"]
[sampling]
n = {n}
[extract]
with = "openai:reader"
[options.openai]
base_url = "{url}"
concurrency = 4
"""
UNWRITTEN = 2 * 4  # at a kill, at most: in flight, and as many that wait to be written
DISHES = ("ramen", "sushi", "pizza", "paella", "tacos", "tiramisu")
STAGE_TABLES = {
    "generate": (RESPONSES,),
    "extract": (MENTIONS, EXTRACTIONS),
    "link": (LINKS, CANDIDATES, ENTITIES, ENTITY_COUNTRIES),
}


def say(prompt: str, seed: int | None) -> str:
    """A text on two dishes for a prompt; for such a text, what a model finds in it."""
    if prompt.startswith("She loves"):
        return answer(*((dish, "dish") for dish in DISHES if dish in prompt))
    return f"She loves {' and '.join(random.Random(seed).sample(DISHES, 2))}. ({seed})"


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    monkeypatch.setattr(servers, "answer_text", say)
    with StubServer(latency=0.02) as server:
        yield server


def write_experiment(folder: Path, url: str, n: int = 40, language: str = "en") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "exp.toml"
    file.write_text(EXPERIMENT.format(url=url, n=n, language=language), encoding="utf-8")
    return file


def run_folder(experiment: Path) -> RunFolder:
    return RunFolder(experiment.parent / "runs" / "run")


def tables(run: RunFolder, stage: str) -> dict[str, list[tuple[Any, ...]]]:
    """What counts of a stage's tables, of which every file can be read."""
    for part in run.root.rglob("[!.]*.parquet"):
        assert pq.read_table(part).num_rows >= 0
    with open_store(run) as store:
        return {
            table.name: store.sql(f"SELECT * FROM {table.name} ORDER BY ALL").fetchall()
            for table in STAGE_TABLES[stage]
        }


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system that a few hundred kilobytes fill."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def leave(disk: Path, kilobytes: int) -> Path:
    """Fills a disk up to so many kilobytes."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        file.write(bytes(max(shutil.disk_usage(disk).free - 1024 * kilobytes, 0)))
    return ballast


@pytest.mark.slow
def test_on_a_full_disk_every_stage_says_so_and_goes_on_when_there_is_space(
    tmp_path: Path, small_disk: Path, stub: StubServer
) -> None:
    calm, full = (write_experiment(tmp_path / name, stub.url) for name in ("calm", "full"))
    runs = ("--runs", small_disk)
    for stage, kilobytes in (("generate", 48), ("extract", 40), ("link", 12), ("measure", 8), ("report", 8)):
        words = (stage,) if stage == "report" else ("run", "--only", stage)
        if stage in STAGE_TABLES:
            assert polyculture(*words, calm, cwd=tmp_path).returncode == 0
        ballast = leave(small_disk, kilobytes)
        line = one_line_at_the_end(polyculture(*words, full, *runs, cwd=tmp_path))
        assert "No space left on device" in line, line
        assert "same command" in line
        if stage == "extract":
            leave(small_disk, 0)
            shown = polyculture("status", full, *runs, cwd=tmp_path)
            assert shown.returncode == 0, shown.stderr
        ballast.unlink()
        again = polyculture(*words, full, *runs, cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        if stage in STAGE_TABLES:
            assert tables(RunFolder(small_disk / "run"), stage) == tables(run_folder(calm), stage)
    assert (small_disk / "run" / "report.html").exists()
    assert len(stub.asked) <= 4 * 120 + 2 * UNWRITTEN  # two runs of two stages


def one_line_at_the_end(result: subprocess.CompletedProcess[str]) -> str:
    """The line that says what is wrong, after what was said of the work."""
    assert result.returncode == 2, result.stderr
    assert "Traceback" not in result.stderr
    return result.stderr.strip().splitlines()[-1]


def test_a_server_at_its_worst(tmp_path: Path, stub: StubServer) -> None:
    """Every third answer is hindered once, each in another way; one request is wrong for ever, and asked once."""
    experiment = write_experiment(tmp_path, stub.url, n=8)
    moments: dict[int, list[float]] = {}

    def behave(body: Mapping[str, Any], before: int) -> Reply | None:
        prompt, seed = body["messages"][-1]["content"], body["seed"]
        moments.setdefault(seed, []).append(time.monotonic())
        wrong = stub.asked[0][1]
        hindrances = [
            failure(429, "slow down", retry_after="1"),
            failure(500, "overloaded"),
            RESET,
            TRUNCATED,
            Reply(body=completion(body, prompt, seed), slow=0.5),
            failure(503, "back soon", retry_after="0"),
        ]
        if seed == wrong:
            return failure(400, "this prompt cannot be answered")
        return hindrances[seed % 6] if before == 0 else None

    stub.behaviour = behave
    for _ in range(2):
        done = polyculture("run", "--only", "generate", experiment, cwd=tmp_path)
        assert done.returncode == 4, done.stderr
        assert "1 failed" in done.stderr.splitlines()[-1]
    wrong = stub.asked[0]
    asked = Counter(stub.asked)
    assert asked.pop(wrong) == 1, "what cannot be answered is recorded, and asked once in two runs"
    assert len(asked) == 3 * 8 - 1
    for (_, seed), times in asked.items():
        assert times == (1 if seed % 6 == 4 else 2)  # type: ignore[operator]
    waits = [moments[seed][1] - moments[seed][0] for _, seed in asked if seed % 6 == 0]  # type: ignore[operator, index]
    assert all(wait >= 0.99 for wait in waits), "Retry-After is waited out"
    responses = tables(run_folder(experiment), "generate")["responses"]
    assert len(responses) == 24
    stub.behaviour = None
    calm = write_experiment(tmp_path / "calm", stub.url, n=8)
    assert polyculture("run", "--only", "generate", calm, cwd=calm.parent).returncode == 0
    undisturbed = tables(run_folder(calm), "generate")["responses"]
    assert len(set(responses) & set(undisturbed)) == 23
