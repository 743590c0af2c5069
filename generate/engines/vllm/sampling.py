"""Samples from vLLM: one line for all seeds of a request, an answer for each text when it is finished."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

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
