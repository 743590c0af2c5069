"""A made-up engine: this file and one line in the list of engines are all that it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from polyculture.generate.engines.answer import completed, read_text
from polyculture.generate.engines.base import Completion, ModelSpec, Request
from polyculture.generate.engines.capabilities import SAMPLING
from polyculture.generate.engines.kind import EngineKind, Offer
from polyculture.generate.engines.metering import Usage
from polyculture.generate.engines.models import Wrapper
from polyculture.generate.engines.options import PACE, Options, read_options


class ToyOptions(Options):
    voice: str = "plain"
    threads: Annotated[int, PACE] = 1


class Toy(Wrapper):
    def __init__(self, spec: ModelSpec) -> None:
        self._voice = read_options(ToyOptions, spec).voice

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        for request in requests:
            for seed in request.seeds:
                answer = read_text(f"{self._voice} {seed}", "stop", usage=Usage(completion=2))
                yield completed(request.request_id, seed, answer)


KIND = EngineKind(name="toy", options=ToyOptions, paid=True, offers=(Offer(SAMPLING, Toy),), gpus=lambda _options: 2.0)
