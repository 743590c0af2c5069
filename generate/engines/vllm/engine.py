"""vLLM, the work-horse on GPUs: many prompts in flight, n samples of each, in a process of its own.

    models = ["vllm:Qwen/Qwen2.5-7B-Instruct"]

    [options.vllm]
    tensor_parallel_size = 2       # and any other engine argument of the installed vLLM

vLLM: https://docs.vllm.ai
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, groupby
from pathlib import Path
from types import TracebackType
from typing import Self

from cache.errors import EngineError
from generate.engines.base import Capabilities, Completion, ModelSpec, Request, Scored, ScoreRequest, cannot_score
from generate.engines.options import VllmOptions, read_options
from generate.engines.vllm.arguments import check_arguments, find_vllm
from generate.engines.vllm.faults import in_short, missing_folder, why_it_did_not_open
from generate.engines.vllm.process import Line, Process, WorkerDiedError

# Texts under way for each that vLLM writes at the same time: while one is kept here, the next stands ready there.
_AHEAD = 2


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

    capabilities = Capabilities(schema=True, seed=True, top_k=True, score=False)

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.options = read_options(VllmOptions, spec)
        self._installed = find_vllm(spec, self.options)
        check_arguments(spec, self.options.arguments, self._installed)
        self._template = self._read_template()
        absent = missing_folder(spec)
        if absent:
            raise absent

    def __enter__(self) -> Self:
        self._numbers = count()
        self._process = Process(self._installed.python)
        try:
            self._facts = self._load()
        except BaseException:
            self._process.close()
            raise
        self.model_version = self._version()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.close()

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields a completion per request and seed as each is finished.

        vLLM makes the samples of a request with its own `n`: the prompt is read once, and sample k has the first
        seed plus k, so that a seed gives the same text whatever is asked beside it. Raises `EngineError` where the
        model has no chat template, or where vLLM ends.
        """
        runs = (run for request in requests for run in _runs(request))
        asked: dict[int, _Run] = {}
        left: dict[int, int] = {}  # texts that are still to come
        room = _AHEAD * int(self._facts["max_num_seqs"])
        try:
            while True:
                while sum(left.values()) < room and (run := next(runs, None)) is not None:
                    self._need_template()
                    number = next(self._numbers)
                    asked[number], left[number] = run, run.n
                    self._send(run.line(number))
                if not asked:
                    return
                answer = self._read()
                number = answer["id"]
                if number not in asked:  # of an iterator that was closed before it came
                    continue
                run = asked[number]
                left[number] -= run.n if "error" in answer else 1
                if not left[number]:
                    del asked[number], left[number]
                yield from self._completions(run, answer)
        finally:
            if asked:
                self._abort(list(asked))

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:  # noqa: ARG002
        """Not yet: raises `EngineError`."""
        raise cannot_score(self.spec)

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

    def _load(self) -> Line:
        arguments = {**self.options.arguments, "model": str(Path(self.spec.name).expanduser())}
        settings = {
            "arguments": arguments,
            "chat_template": self._template,
            "chat_template_kwargs": self.options.chat_template_kwargs,
        }
        self._send(settings)
        answer = self._read()
        if "fatal" in answer:
            raise self._did_not_open(answer["fatal"])
        facts: Line = answer["ready"]
        return facts

    def _version(self) -> str:
        facts = self._facts
        parts = (self.spec.name, facts["revision"], facts["dtype"], facts["quantization"], f"vllm {facts['vllm']}")
        return " ".join(part for part in parts if part)

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
        if not self._facts["chat_template"]:
            remedy = (
                "It is a base model: take its chat version ('-Instruct', '-it'), or name a Jinja file with "
                "chat_template in [options.vllm]."
            )
            raise EngineError("has no chat template", where=self.spec.model, remedy=remedy)

    def _did_not_open(self, said: str) -> EngineError:
        known = why_it_did_not_open(self.spec, said, self._process.read_log())
        return known or self._unknown(f"vLLM cannot open it: {in_short(said)}")

    def _died(self) -> EngineError:
        known = why_it_did_not_open(self.spec, "", self._process.read_log())
        return known or self._unknown("vLLM's process has ended")

    def _unknown(self, what: str) -> EngineError:
        remedy = f"Its log says why: {self._process.keep_log()}. The same command run again resumes."
        return EngineError(what, where=self.spec.model, remedy=remedy)

    def _send(self, line: Line) -> None:
        try:
            self._process.send(line)
        except WorkerDiedError as fault:
            raise self._died() from fault

    def _read(self) -> Line:
        try:
            return self._process.read()
        except WorkerDiedError as fault:
            raise self._died() from fault

    def _abort(self, numbers: list[int]) -> None:
        try:
            self._process.send({"abort": numbers})
        except WorkerDiedError:
            return  # nothing is under way any more


def _runs(request: Request) -> Iterator[_Run]:
    """The request as vLLM takes it: a run of consecutive seeds at a time, or all of them where they choose nothing."""
    if request.decoding.temperature == 0:
        yield _Run(request, request.seeds)
        return
    for _, run in groupby(enumerate(request.seeds), key=lambda pair: pair[1] - pair[0]):
        yield _Run(request, tuple(seed for _, seed in run))
