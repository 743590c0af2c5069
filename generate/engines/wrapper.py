"""An engine around another one: it changes how that one samples, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

from polyculture.generate.engines.base import Capabilities, Engine, Scored, ScoreRequest


class AroundEngine:
    """What engines around `engine` share; `sample` is theirs. Whoever opened `engine` closes it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def capabilities(self) -> Capabilities:
        return self._engine.capabilities

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """As the engine's own."""
        return self._engine.score(requests)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None
