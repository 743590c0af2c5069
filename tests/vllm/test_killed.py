"""A run on a real vLLM that is killed: nothing of it is left, and its next run ends as if nothing had been."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import RESPONSES
from polyculture.cache.store.shards import JobShards
from polyculture.generate.engines import ModelSpec, Request
from polyculture.generate.engines.vllm.engine import VllmEngine
from polyculture.generate.engines.vllm.worker import shared_memory
from polyculture.generate.sampling import SamplingSettings, chat

pytestmark = pytest.mark.vllm
ROOT = Path(__file__).parents[2]
EXPERIMENT = """
name = "killed"
models = ["{model}"]
languages = ["en"]
topics = ["food"]
countries = ["IT", "JP"]
conditions = ["neutral", "explicit"]
[sampling]
n = 16
max_tokens = 32
[options.vllm]
"""


def generate(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "polyculture", "run", "--only", "generate", str(folder / "exp.toml")]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def answers(folder: Path, model: str) -> dict[tuple[str, int], dict[str, Any]]:
    """What is on disk, by prompt and seed: in parts, and in the journal of a process that writes or was killed."""
    shards = JobShards(RunFolder(folder / "runs" / "killed"), Job(model, "en", "food"), [RESPONSES])
    rows = shards.read("responses").to_pylist() + [
        row for record in shards.read_journal() for row in record["responses"]
    ]
    return {(row["prompt_id"], row["seed"]): row for row in rows}


def wait_for(condition: Any, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_a_killed_run_leaves_nothing_and_the_next_one_ends_as_if_undisturbed(
    engine: VllmEngine, spec: ModelSpec, tmp_path: Path
) -> None:
    options = "\n".join(f"{name} = {json.dumps(value)}" for name, value in spec.options.items())
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(model=spec.model) + options, encoding="utf-8")
    first = generate(tmp_path)
    assert wait_for(lambda: len(answers(tmp_path, spec.model)) >= 5 or first.poll() is not None, 300)
    family = psutil.Process(first.pid).children(recursive=True)
    assert len(family) >= 2  # vLLM's front and its engine
    held = {segment for one in family for segment in shared_memory(os.getpgid(one.pid))}
    assert held  # in which they talk to each other
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert wait_for(lambda: not any(one.is_running() and one.status() != "zombie" for one in family), 120), family
    assert not [segment for segment in held if segment.exists()]
    kept = answers(tmp_path, spec.model)
    assert 5 <= len(kept) < 48

    second = generate(tmp_path)
    assert second.wait(300) == 0
    rows = answers(tmp_path, spec.model)
    assert len(rows) == 48
    assert {key: rows[key]["text"] for key in kept} == {key: row["text"] for key, row in kept.items()}
    assert {key: row["text"] for key, row in rows.items()} == undisturbed(engine, tmp_path)


def undisturbed(engine: VllmEngine, folder: Path) -> dict[tuple[str, int], str | None]:
    """The texts of the same experiment from a model that was never disturbed."""
    from polyculture.cache.catalog import read_catalog
    from polyculture.generate.prompts import build_prompts

    sampling = SamplingSettings(n=16, max_tokens=32)
    prompts = build_prompts(read_catalog(), ["en"], ["food"], ["IT", "JP"], ("neutral", "explicit"))
    asked = [
        Request(
            prompt.prompt_id,
            chat(prompt.text),
            sampling.decoding,
            tuple(sampling.base_seed(prompt.text) + sample for sample in range(16)),
        )
        for prompt in prompts
    ]
    return {(answer.request_id, answer.seed): answer.text for answer in engine.sample(asked)}
