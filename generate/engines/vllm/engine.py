"""vLLM, the work-horse on GPUs: many prompts in flight, n samples of each, in a process of its own.

    models = ["vllm:Qwen/Qwen2.5-7B-Instruct"]

    [options.vllm]
    tensor_parallel_size = 2       # and any other engine argument of the installed vLLM

vLLM: https://docs.vllm.ai
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Self

from cache.errors import EngineError
from generate.engines.base import Capabilities, Completion, ModelSpec, Request, Scored, ScoreRequest
from generate.engines.options import VllmOptions, read_options
from generate.engines.vllm.arguments import check_arguments, find_vllm
from generate.engines.vllm.client import AHEAD, Client
from generate.engines.vllm.faults import in_short, wrong_folder
from generate.engines.vllm.process import Line
from generate.engines.vllm.scoring import score
from generate.engines.vllm.verify import verified


@dataclass(frozen=True, slots=True)
class _Run:
    """Samples of one request that vLLM makes as one: their seeds are consecutive, or it is greedy and all are equal."""

    request: Request
    seeds: tuple[int, ...]

    @property
    def n(self) -> int:
        return 1 if self.request.decoding.temperature == 0 else len(self.seeds)

    def line(self, number: int) -> Line:
        decoding = self.request.decoding
        return {
            "id": number,
            "messages": [{"role": turn.role, "content": turn.content} for turn in self.request.messages],
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "top_k": decoding.top_k,
            "max_tokens": decoding.max_tokens,
            "schema": decoding.schema,
            "seed": self.seeds[0],
            "n": self.n,
        }


class VllmEngine:
    """A model in vLLM. Loaded when entered; leaving it ends vLLM's processes and frees the GPU."""

    capabilities = Capabilities(schema=True, seed=True, top_k=True, score=True)

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.options = read_options(VllmOptions, spec)
        self._installed = find_vllm(spec, self.options)
        check_arguments(spec, self.options.arguments, self._installed)
        self._template = self._read_template()
        wrong = wrong_folder(spec)
        if wrong:
            raise wrong

    def __enter__(self) -> Self:
        settings = {
            "arguments": {**self.options.arguments, "model": str(Path(self.spec.name).expanduser())},
            "chat_template": self._template,
            "chat_template_kwargs": self.options.chat_template_kwargs,
            "bos": self.options.bos,
        }
        self._client = Client(self.spec, self._installed.python, settings)
        self.model_version = self._client.model_version
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields a completion per request and seed as each is finished.

        vLLM makes the samples of a request with its own `n`: the prompt is read once, and sample k has the first
        seed plus k, so that a seed gives the same text whatever is asked beside it. Raises `EngineError` where the
        model has no chat template, or where vLLM ends.
        """
        runs = (run for request in requests for run in _runs(request))
        asked: dict[int, _Run] = {}
        left: dict[int, int] = {}  # texts that are still to come
        under_way, room = 0, AHEAD * self._client.facts.max_num_seqs
        try:
            while True:
                while under_way < room and (run := next(runs, None)) is not None:
                    self._need_template()
                    number = self._client.number()
                    asked[number], left[number] = run, run.n
                    under_way += run.n
                    self._client.send(run.line(number))
                if not asked:
                    return
                answer = self._client.read()
                number = answer["id"]
                if number not in asked:  # of an iterator that was closed before it came
                    continue
                run = asked[number]
                came = run.n if "error" in answer else 1
                under_way -= came
                left[number] -= came
                if not left[number]:
                    del asked[number], left[number]
                yield from self._completions(run, answer)
        finally:
            if asked:
                self._client.abort(list(asked))

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields a row per continuation, in the order in which they finish; the context is read once.

        Raises `EngineError` where a sample of the scores is not what the model gives without that short cut, or, with
        `verify_scores`, not what the transformers engine gives.
        """
        return score(self._client, verified(self._client, requests, self.options))

    def _completions(self, run: _Run, answer: Line) -> Iterator[Completion]:
        name = run.request.request_id
        if "error" in answer:
            for seed in run.seeds:
                yield Completion(name, seed, None, error=in_short(answer["error"]))
            return
        for seed in (answer["seed"],) if run.n == len(run.seeds) else run.seeds:
            yield Completion(
                name,
                seed,
                answer["text"],
                finish_reason=answer["finish_reason"],
                prompt_tokens=answer["prompt_tokens"],
                completion_tokens=answer["completion_tokens"],
                model_version=self.model_version,
            )

    def _read_template(self) -> str | None:
        """The chat template of the experiment's own, where its file names one."""
        if self.options.chat_template is None:
            return None
        file = Path(self.options.chat_template).expanduser()
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as fault:
            what = f"chat_template: {file} cannot be read"
            raise EngineError(what, where=f"options of {self.spec.model}", remedy="Name a Jinja file.") from fault

    def _need_template(self) -> None:
        """Raises `EngineError` where a chat cannot be put into the model's words."""
        if not self._client.facts.chat_template:
            remedy = (
                "It is a base model: take its chat version ('-Instruct', '-it'), or name a Jinja file with "
                "chat_template in [options.vllm]."
            )
            raise EngineError("has no chat template", where=self.spec.model, remedy=remedy)


def _runs(request: Request) -> Iterator[_Run]:
    """The request as vLLM takes it: a run of consecutive seeds at a time, or all of them where they choose nothing."""
    if request.decoding.temperature == 0:
        yield _Run(request, request.seeds)
        return
    for _, run in groupby(enumerate(request.seeds), key=lambda pair: pair[1] - pair[0]):
        yield _Run(request, tuple(seed for _, seed in run))
