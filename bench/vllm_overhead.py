"""What the stages cost on top of vLLM: tokens a second of `generate` and of extraction by a model, against a bare call
of `LLM.generate` that throws its output away.

    python -m bench.vllm_overhead --model FOLDER [--python /opt/vllm/bin/python]

The same prompts, seeds and engine arguments, so the same tokens; both models stay loaded and take turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from polyculture.cache.catalog import read_catalog
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import RESPONSES
from polyculture.cache.store.shards import JobShards
from polyculture.cache.work.worker import do_works
from polyculture.extract.base import ResponseText
from polyculture.extract.llm import LlmExtractor
from polyculture.generate.engines import Completion, ModelSpec, Request, capabilities, open_engine
from polyculture.generate.engines.models import OneModel, Wrapper
from polyculture.generate.prompts import build_prompts
from polyculture.generate.sampling import SamplingSettings, chat
from polyculture.generate.step import SamplingStep

# The peer: a loaded model that generates what it is told in one call, and says how long it took.
BARE = """
import json, sys, time, os
out = os.fdopen(os.dup(1), "w"); os.dup2(2, 1)
if __name__ == "__main__":
    from pydantic import TypeAdapter
    from vllm import LLM, SamplingParams
    parameters = TypeAdapter(SamplingParams)
    model = LLM(**json.loads(sys.stdin.readline()))
    tokenizer = model.get_tokenizer()
    print("ready", file=out, flush=True)
    for line in sys.stdin:
        prompts, params = [], []
        for one in json.loads(line):
            tokens = tokenizer.apply_chat_template(
                one["messages"], tokenize=True, add_generation_prompt=True, return_dict=False)
            prompts.append({"prompt_token_ids": tokens})
            schema = one["params"].pop("schema")
            told = {**one["params"], "structured_outputs": {"json": schema} if schema else None}
            params.append(parameters.validate_python(told))
        started = time.perf_counter()
        answers = model.generate(prompts, params, use_tqdm=False)
        seconds = time.perf_counter() - started
        tokens = sum(len(text.token_ids) for answer in answers for text in answer.outputs)
        print(json.dumps([tokens, seconds]), file=out, flush=True)
"""
ARGUMENTS = {
    "dtype": "float32",
    "enforce_eager": True,
    "max_model_len": 2048,
    "max_num_seqs": 64,
    "kv_cache_memory_bytes": 1_000_000_000,
    "block_size": 32,
}
TEXTS = 96  # that are extracted from
SMALLEST = ("--model", "{vllm_model}", "--python", "{vllm_python}", "--n", "2", "--rounds", "1")
CATALOG = read_catalog()


class Recorded(Wrapper):
    """An engine that remembers what it was asked, for the peer, and counts the tokens of what it said."""

    def __init__(self, engine: capabilities.Sampling) -> None:
        self.engine = engine
        self.asked: list[Request] = []
        self.tokens = 0

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        for completion in self.engine.sample(self._remember(requests)):
            self.tokens += completion.completion_tokens or 0
            yield completion

    def _remember(self, requests: Iterable[Request]) -> Iterator[Request]:
        for request in requests:
            self.asked.append(request)
            yield request


class Bare:
    """The peer, in a process of its own."""

    def __init__(self, python: str, model: str) -> None:
        self._file = tempfile.NamedTemporaryFile("w", suffix=".py")  # noqa: SIM115 - as long as the peer
        self._file.write(BARE)
        self._file.flush()
        self._process = subprocess.Popen(
            [python, self._file.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._say({"model": model, **ARGUMENTS})
        assert self._hear() == "ready"

    def rate(self, requests: Sequence[Request]) -> tuple[int, float]:
        """Tokens and seconds of all requests in one call."""
        self._say([_as_vllm_takes_it(request) for request in requests])
        tokens, seconds = json.loads(self._hear())
        return tokens, seconds

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()  # terminated, it would leave vLLM's processes behind
        self._process.wait()

    def _say(self, line: Any) -> None:
        assert self._process.stdin is not None
        print(json.dumps(line), file=self._process.stdin, flush=True)

    def _hear(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def _as_vllm_takes_it(request: Request) -> dict[str, Any]:
    decoding = request.decoding
    params = {
        "n": 1 if decoding.temperature == 0 else len(request.seeds),
        "seed": request.seeds[0],
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "top_k": decoding.top_k or 0,
        "max_tokens": decoding.max_tokens,
        "schema": decoding.schema,
    }
    return {"messages": [{"role": turn.role, "content": turn.content} for turn in request.messages], "params": params}


def generate_rate(
    engine: capabilities.Sampling, requests: Sequence[Request], sampling: SamplingSettings
) -> tuple[int, float]:
    """Tokens and seconds of the stage: into a run folder, every answer on disk before the next, languages detected."""
    prompts = build_prompts(CATALOG, ["en"], ["food"], ["IT", "JP", "MX"], ("neutral", "explicit"))
    job = Job("vllm:model", "en", "food")
    with tempfile.TemporaryDirectory() as folder:
        run = RunFolder(Path(folder) / "runs" / "bench")
        started = time.perf_counter()
        step = SamplingStep([job], prompts, sampling, CATALOG)
        do_works(run, step, list(step.works()), OneModel(engine, ModelSpec(job.model)))
        seconds = time.perf_counter() - started
        rows = JobShards(run, job, [RESPONSES]).read("responses", ["completion_tokens"])
    assert rows.num_rows == len(requests) * sampling.n
    return sum(rows["completion_tokens"].to_pylist()), seconds


def sampled_requests(sampling: SamplingSettings) -> list[Request]:
    """What the stage asks, written down."""
    prompts = build_prompts(CATALOG, ["en"], ["food"], ["IT", "JP", "MX"], ("neutral", "explicit"))
    seeds = {p.text: sampling.base_seed(p.text) for p in prompts}
    return [
        Request(p.prompt_id, chat(p.text), sampling.decoding, tuple(seeds[p.text] + k for k in range(sampling.n)))
        for p in prompts
    ]


def extraction(engine: capabilities.Sampling, texts: Sequence[str]) -> tuple[Recorded, float]:
    """The extractor over texts: what it asked and was answered, and the seconds it took."""
    recorded = Recorded(engine)
    # The small model of the benchmark does not end by itself.
    extractor = LlmExtractor(recorded, "vllm:model", CATALOG.topic("food"), max_tokens=48)
    responses = [ResponseText(str(number), "en", text) for number, text in enumerate(texts)]
    started = time.perf_counter()
    found = list(extractor.extract(responses))
    seconds = time.perf_counter() - started
    # An unusable answer is a result of its own, before the attempt that follows it.
    assert sum(result.status != "unusable" for result in found) == len(texts)
    return recorded, seconds


def bare_extraction(bare: Bare, asked: Sequence[Request]) -> tuple[int, float]:
    """Tokens and seconds of the same requests, a call for each attempt: what is asked again hangs on the answers."""
    attempts = [bare.rate(list(group)) for _, group in groupby(asked, key=lambda request: request.seeds)]
    return sum(tokens for tokens, _ in attempts), sum(seconds for _, seconds in attempts)


def report(name: str, ours: tuple[int, float], bare: tuple[int, float]) -> float:
    """Prints one round, and returns the ratio of the rates."""
    rates = ours[0] / ours[1], bare[0] / bare[1]
    ratio = rates[0] / rates[1]
    print(
        f"{name}: {rates[0]:.1f} tokens/s ({ours[0]}), bare {rates[1]:.1f} ({bare[0]}): ratio {ratio:.3f}", flush=True
    )
    return ratio


def main() -> None:
    """Prints tokens a second of both, round by round, and the median of their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--n", type=int, default=24, help="samples of each of four prompts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--extract", type=int, default=1, help="rounds of extraction")
    told = parser.parse_args()
    sampling = SamplingSettings(n=told.n, max_tokens=48)
    asked = sampled_requests(sampling)
    warm = [replace(request, seeds=request.seeds[:2]) for request in asked]
    bare = Bare(told.python, told.model)
    with open_engine(ModelSpec(f"vllm:{told.model}", {"python": told.python, **ARGUMENTS})) as engine:
        bare.rate(warm)
        generate_rate(engine, warm, replace(sampling, n=2))  # loads the language detector
        seeds = tuple(range(TEXTS))
        texts = [answer.text or "" for answer in engine.sample([replace(asked[0], seeds=seeds)])]
        ratios = []
        for number in range(told.rounds):
            first = bare.rate(asked) if number % 2 else None  # each is first in turn
            ours = generate_rate(engine, asked, sampling)
            ratios.append(report("generate", ours, first or bare.rate(asked)))
        if ratios:
            print(f"generate: median ratio {statistics.median(ratios):.3f}", flush=True)
        for number in range(told.extract + 1):
            recorded, seconds = extraction(engine, texts)
            taken = bare_extraction(bare, recorded.asked)
            if number:  # the first fills both prefix caches
                report("extract", (recorded.tokens, seconds), taken)
    bare.close()


if __name__ == "__main__":
    main()
