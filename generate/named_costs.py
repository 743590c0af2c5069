"""Says where the cost that a server names for its answers is not what the experiment file's prices make of them, or is
no amount of money."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from polyculture.cache.log import get_logger
from polyculture.cache.store.model_facts import Price
from polyculture.cache.work.worker import cancelling
from polyculture.generate.engines.base import Completion, Request, Scored, ScoreRequest
from polyculture.generate.engines.capabilities import SAMPLING, SCORING, Capability, E, Sampling, Scoring
from polyculture.generate.engines.metering import IGNORED
from polyculture.generate.engines.models import Wrapper

_log = get_logger(__name__)

ROUNDED = 0.02  # share by which a named cost may differ from the file's prices: services round


def differs(named: float, by_prices: float) -> bool:
    """Whether two costs of the same answers differ by more than rounding."""
    return abs(named - by_prices) > ROUNDED * max(named, by_prices)


@dataclass(frozen=True)
class NamedCosts:
    """Compares the named costs of one model's answers with its price; says a difference, and a cost that is no amount
    of money, once a command."""

    model: str
    price: Price
    told: set[tuple[str, str]]  # models and what was said of them

    def see(self, answer: Completion | Scored) -> None:
        """Looks at one answer."""
        if answer.note and IGNORED in answer.note:
            said = next(part for part in answer.note.split("; ") if IGNORED in part)
            self._tell_once(IGNORED, f"the server names a cost that is no amount of money ({said}): [prices] decide")
        named = answer.named_cost
        if named is None or answer.completion_tokens is None:
            return
        by_prices = self.price.cost(answer.prompt_tokens or 0, answer.completion_tokens, answer.purchase or "")
        if differs(named, by_prices):
            self._tell_once(
                "differs",
                f"the server names a cost of {named:.6f} for an answer that [prices] put at {by_prices:.6f}. What the "
                "server names is counted; correct the prices",
            )

    def _tell_once(self, what: str, line: str) -> None:
        if (self.model, what) not in self.told:
            self.told.add((self.model, what))
            _log.warning(f"{self.model}: {line}")


class _Samples(Wrapper):
    def __init__(self, engine: Sampling, costs: NamedCosts) -> None:
        self._engine, self._costs = engine, costs
        self.metered = getattr(engine, "metered", False)

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields the engine's own samples."""
        with cancelling(self._engine.sample(requests)) as answers:
            for answer in answers:
                self._costs.see(answer)
                yield answer


class _Scores(Wrapper):
    def __init__(self, engine: Scoring, costs: NamedCosts) -> None:
        self._engine, self._costs = engine, costs
        self.metered = getattr(engine, "metered", False)

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields the engine's own scores."""
        with cancelling(self._engine.score(requests)) as answers:
            for answer in answers:
                self._costs.see(answer)
                yield answer


_WRAPPERS: Mapping[Capability[Any], Callable[[Any, NamedCosts], Any]] = {SAMPLING: _Samples, SCORING: _Scores}


def with_named_costs(engine: E, needs: Capability[E], costs: NamedCosts) -> E:
    """`engine`, whose answers `costs` looks at. An engine of any other capability is returned unchanged."""
    wrapper = _WRAPPERS.get(needs)
    found: E = engine if wrapper is None else wrapper(engine, costs)
    return found
