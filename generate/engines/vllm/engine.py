"""vLLM, the main engine on GPUs: many prompts in flight, n samples of each, in a separate process.

    models = ["vllm:Qwen/Qwen2.5-7B-Instruct"]

    [options.vllm]
    tensor_parallel_size = 2       # and any other engine argument of the installed vLLM

vLLM: https://docs.vllm.ai
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

from polyculture.cache.errors import EngineError, MissingDependencyError
from polyculture.generate.engines.answer import completed, read_text
from polyculture.generate.engines.base import Completion, ModelSpec, Request, Scored, ScoreRequest, TokenScore
from polyculture.generate.engines.metering import Usage
from polyculture.generate.engines.options import read_options
from polyculture.generate.engines.reasoning import TAIL
from polyculture.generate.engines.system_prompt import REFUSES, REMEDY
from polyculture.generate.engines.token_boundary import TokenisedPair, split_pairs
from polyculture.generate.engines.vllm.client import AHEAD, Client, Line, in_short, wrong_folder
from polyculture.generate.engines.vllm.kind import VllmOptions


class VllmEngine:
    """A model in vLLM. Entering loads it; leaving ends vLLM's processes and frees the GPU."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.options = read_options(VllmOptions, spec)
        self._python = self._find_python()
        self._template = self._read_template()
        wrong = wrong_folder(spec)
        if wrong:
            raise wrong

    def __enter__(self) -> Self:
        settings = {
            "model": str(Path(self.spec.name).expanduser()),
            "arguments": self.options.arguments,
            "chat_template": self._template,
            "chat_template_kwargs": self.options.chat_template_kwargs,
            "bos": self.options.bos,
        }
        self._client = Client(self.spec, self._python, settings)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields a completion per request and seed as each is finished.

        Each text is a request of vLLM with its own seed, and the same independently of the others. Their common prompt
        is computed once. Raises `EngineError` where the model has no chat template or computes no finite numbers, and
        where vLLM ends.
        """
        return _Sampling(self._client).run(requests)

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields a row per continuation, in the order in which they finish."""
        return score(self._client, requests)

    def _find_python(self) -> str:
        """The interpreter that has vLLM: this one, or that of the option."""
        if self.options.python is None:
            if find_spec("vllm") is None:
                raise MissingDependencyError("vllm", "vllm", f"The model {self.spec.model}")
            return sys.executable
        python = shutil.which(Path(self.options.python).expanduser())
        if python is None:
            what = f"python: there is no program {self.options.python}"
            remedy = "Name the python of the environment in which vLLM is installed."
            raise EngineError(what, where=f"options of {self.spec.model}", remedy=remedy)
        return python

    def _read_template(self) -> str | None:
        """The experiment's own chat template, where its file names one."""
        if self.options.chat_template is None:
            return None
        file = Path(self.options.chat_template).expanduser()
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as fault:
            what = f"chat_template: {file} cannot be read"
            raise EngineError(what, where=f"options of {self.spec.model}", remedy="Name a Jinja file.") from fault


_OF_SYSTEM = re.compile(r"system (role|prompt|message|instruction)|roles must alternate", re.IGNORECASE)


@dataclass(slots=True)
class _Asked:
    """A request, and the seeds of its texts that are still to come: one for all where a seed has no effect."""

    request: Request
    left: set[int]

    def line(self, number: int) -> Line:
        decoding = self.request.decoding
        return {
            "id": number,
            "messages": [{"role": turn.role, "content": turn.content} for turn in self.request.messages],
            "decoding": {
                "temperature": decoding.temperature,
                "top_p": decoding.top_p,
                "top_k": decoding.top_k or 0,
                "max_tokens": decoding.max_tokens,
            },
            "schema": decoding.schema,
            "seeds": sorted(self.left),
            "tail": TAIL,
        }

    def seeds(self, seed: int) -> tuple[int, ...]:
        """The seeds that the text of one answers."""
        return self.request.seeds if self.request.decoding.temperature == 0 else (seed,)


class _Sampling:
    """Texts in flight: `AHEAD` times as many as vLLM writes at once, plus at most one request."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._asked: dict[int, _Asked] = {}

    def run(self, requests: Iterable[Request]) -> Iterator[Completion]:
        more = iter(requests)
        room = AHEAD * self._client.facts.max_num_seqs
        try:
            while True:
                while self._texts() < room and (request := next(more, None)) is not None:
                    self._ask(request)
                if not self._asked:
                    return
                yield from self._take(self._client.read())
        finally:
            if self._asked:
                self._client.abort(list(self._asked))

    def _texts(self) -> int:
        return sum(len(asked.left) for asked in self._asked.values())

    def _ask(self, request: Request) -> None:
        self._need_template()
        number = self._client.number()
        seeds = request.seeds[:1] if request.decoding.temperature == 0 else request.seeds
        self._asked[number] = _Asked(request, set(seeds))
        self._client.send(self._asked[number].line(number))

    def _take(self, answer: Line) -> Iterator[Completion]:
        asked = self._asked.get(answer["id"])
        if asked is None:  # of an iterator that was closed before it came
            return
        came = asked.left.copy() if "error" in answer else {answer["seed"]}
        asked.left -= came
        if not asked.left:
            del self._asked[answer["id"]]
        name = asked.request.request_id
        if "error" in answer:
            self._refuse_system(asked.request, answer["error"])
            for seed in (seed for one in sorted(came) for seed in asked.seeds(one)):
                yield Completion(name, seed, None, error=in_short(answer["error"]))
            return
        if not answer["finite"]:
            what = "computes logits that are no finite numbers: what it wrote would be chance"
            remedy = 'Are its weights broken? Download it again; or set dtype = "float32" under [options.vllm].'
            raise EngineError(what, where=self._client.spec.model, remedy=remedy)
        read = read_text(
            answer["text"],
            answer["finish_reason"],
            prompt_tail=answer["prompt_tail"],
            usage=Usage(answer["prompt_tokens"], answer["completion_tokens"]),
            version=self._client.model_version,
        )
        for seed in asked.seeds(answer["seed"]):
            yield completed(name, seed, read)

    def _refuse_system(self, request: Request, error: str) -> None:
        """Raises `EngineError` where the chat template has no place for the system prompt: no answer will come."""
        if request.messages[0].role == "system" and _OF_SYSTEM.search(error):
            what = f"{REFUSES}: {in_short(error)}"
            raise EngineError(what, where=self._client.spec.model, remedy=REMEDY)

    def _need_template(self) -> None:
        """Raises `EngineError` where the model has no chat template for a chat."""
        if not self._client.facts.chat_template:
            remedy = (
                "It is a base model: take its chat version ('-Instruct', '-it'), or name a Jinja file with "
                "chat_template in [options.vllm]."
            )
            raise EngineError("has no chat template", where=self._client.spec.model, remedy=remedy)


def score(client: Client, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
    """Yields a row per continuation as each is finished, `AHEAD` times as many in flight as vLLM runs at once."""
    asked: dict[int, tuple[str, TokenisedPair]] = {}
    pairs = (
        (request.request_id, pair)
        for request in requests
        for pair in split_pairs(client, request, bos=client.facts.bos_token_id)
    )
    try:
        while True:
            while len(asked) < AHEAD * client.facts.max_num_seqs and (one := next(pairs, None)) is not None:
                name, pair = one
                if pair.error is not None:
                    yield Scored(name, pair.index, error=pair.error)
                    continue
                number = client.number()
                asked[number] = one
                client.send({"id": number, "tokens": pair.ids[: pair.end], "start": pair.start})
            if not asked:
                return
            answer = client.read()
            if answer["id"] in asked:  # else of an iterator that was closed before it came
                yield _scored(*asked.pop(answer["id"]), answer, client.model_version)
    finally:
        if asked:
            client.abort(list(asked))


def _scored(name: str, pair: TokenisedPair, answer: Line, version: str) -> Scored:
    if "error" in answer:
        return Scored(name, pair.index, boundary=pair.boundary, error=in_short(answer["error"]))
    tokens = tuple(map(TokenScore, answer["tokens"], answer["log_probabilities"]))
    return Scored(name, pair.index, tokens, pair.boundary, model_version=version)
