"""Samples from vLLM: one request with its own `n` for several texts, each returned when it is finished."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.answer import completed, read_text
from polyculture.generate.engines.base import Completion, Request
from polyculture.generate.engines.metering import Usage
from polyculture.generate.engines.reasoning import TAIL
from polyculture.generate.engines.system_prompt import REFUSES, REMEDY
from polyculture.generate.engines.vllm.client import AHEAD, Client
from polyculture.generate.engines.vllm.faults import in_short
from polyculture.generate.engines.vllm.process import Line

_OF_SYSTEM = re.compile(r"system (role|prompt|message|instruction)|roles must alternate", re.IGNORECASE)


def sample(client: Client, requests: Iterable[Request]) -> Iterator[Completion]:
    """Yields a completion per request and seed as each is finished. See `Engine.sample`."""
    return _Sampling(client).run(requests)


@dataclass(slots=True)
class _Run:
    """Samples of one request that vLLM makes as one: with consecutive seeds, or greedy and therefore all equal."""

    request: Request
    seeds: tuple[int, ...]
    left: int = 0  # texts that are still to come

    def __post_init__(self) -> None:
        self.left = self.n

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
            "tail": TAIL,
        }


class _Sampling:
    """Texts in flight: `AHEAD` times as many as vLLM writes at once, plus at most one request."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._asked: dict[int, _Run] = {}
        self._texts = 0  # under way

    def run(self, requests: Iterable[Request]) -> Iterator[Completion]:
        runs = (run for request in requests for run in _runs(request))
        room = AHEAD * self._client.facts.max_num_seqs
        try:
            while True:
                while self._texts < room and (run := next(runs, None)) is not None:
                    self._ask(run)
                if not self._asked:
                    return
                yield from self._take(self._client.read())
        finally:
            if self._asked:
                self._client.abort(list(self._asked))

    def _ask(self, run: _Run) -> None:
        self._need_template()
        number = self._client.number()
        self._asked[number] = run
        self._texts += run.n
        self._client.send(run.line(number))

    def _take(self, answer: Line) -> Iterator[Completion]:
        run = self._asked.get(answer["id"])
        if run is None:  # of an iterator that was closed before it came
            return
        came = run.left if "error" in answer else 1
        run.left -= came
        self._texts -= came
        if not run.left:
            del self._asked[answer["id"]]
        name = run.request.request_id
        if "error" in answer:
            self._refuse_system(run, answer["error"])
            for seed in run.seeds:
                yield Completion(name, seed, None, error=in_short(answer["error"]))
            return
        read = read_text(
            answer["text"],
            answer["finish_reason"],
            prompt_tail=answer["prompt_tail"],
            usage=Usage(answer["prompt_tokens"], answer["completion_tokens"]),
            version=self._client.model_version,
        )
        for seed in (answer["seed"],) if run.n == len(run.seeds) else run.seeds:
            yield completed(name, seed, read)

    def _refuse_system(self, run: _Run, error: str) -> None:
        """Raises `EngineError` where the chat template has no place for the system prompt: no answer will come."""
        if run.request.messages[0].role == "system" and _OF_SYSTEM.search(error):
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


def _runs(request: Request) -> Iterator[_Run]:
    """The request as vLLM receives it: runs of consecutive seeds, or all seeds where they have no effect."""
    if request.decoding.temperature == 0:
        yield _Run(request, request.seeds)
        return
    for _, run in groupby(enumerate(request.seeds), key=lambda pair: pair[1] - pair[0]):
        yield _Run(request, tuple(seed for _, seed in run))
