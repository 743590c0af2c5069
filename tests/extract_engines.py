"""An engine that answers from a script: the double that stands in for a model where a test says what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import orjson

from polyculture.generate.engines.base import Completion, Request
from polyculture.generate.engines.models import Wrapper

# The answer to a text, at an attempt from 0: JSON, anything else, or a whole completion.
Script = Callable[[str, int], str | Completion]


def answer(*pairs: tuple[str, str]) -> str:
    """A well-formed answer with these (surface, kind) pairs."""
    return orjson.dumps({"mentions": [{"text": text, "kind": kind} for text, kind in pairs]}).decode()


class ScriptedEngine(Wrapper):
    """Answers one request after the other, last come first served in pairs, so that order is not relied on."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[Request] = []

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        waiting: list[Request] = []
        for request in requests:
            self.requests.append(request)
            waiting.append(request)
            if len(waiting) == 2:
                yield self._complete(waiting.pop())
        for request in reversed(waiting):
            yield self._complete(request)

    def _complete(self, request: Request) -> Completion:
        (seed,) = request.seeds
        shown = [turn for turn in request.messages if turn.role == "user"]
        text = shown[-2] if shown[-1].content.startswith("Write that as JSON") else shown[-1]
        said = self.script(text.content, seed)
        if isinstance(said, Completion):
            return said
        return Completion(request.request_id, seed, said, "stop", prompt_tokens=100, completion_tokens=10)
