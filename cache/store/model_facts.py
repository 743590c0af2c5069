"""What a user knows of a model and no engine says: prices, origin, size, whether its weights are published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

# Classes of size: the least number of parameters, in billions, that is beyond the class.
SIZES: Mapping[str, float] = {"under 4B": 4, "4B to 15B": 15, "15B to 100B": 100, "100B and more": float("inf")}
GROUPS = ("origin", "open", "size")
# How an answer was bought: by a call of its own, or in a batch, which is cheaper.
Purchase = Literal["direct", "batch"]
DIRECT: Purchase = "direct"
BATCH: Purchase = "batch"
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The facts of a model; None is not known."""

    origin: str | None = None  # where its maker is: a country or whatever models are grouped by
    parameters: float | None = None  # all of them, in billions
    open: bool | None = None  # are its weights published?

    @property
    def size(self) -> str | None:
        """The class of `SIZES`."""
        if self.parameters is None:
            return None
        return next(name for name, beyond in SIZES.items() if self.parameters < beyond)

    def group(self, fact: str) -> str | None:
        """The group that one of `GROUPS` puts the model into; None where the fact is not known."""
        if fact == "open":
            return None if self.open is None else "open" if self.open else "closed"
        found: str | None = {"origin": self.origin, "size": self.size}[fact]
        return found

    @property
    def described(self) -> str:
        """'US, 8B, open': the facts that are known, for a table."""
        parameters = "" if self.parameters is None else f"{self.parameters:g}B"
        return ", ".join(filter(None, [self.origin, parameters, self.group("open")]))

    def row(self, model: str) -> tuple[Any, ...]:
        """The row of the store's table `run_model_facts`."""
        return (model, self.origin, self.parameters, self.size, self.open)


@dataclass(frozen=True, slots=True)
class Price:
    """A model's price per million tokens, in whatever currency the experiment counts in."""

    input: float
    output: float
    batch_discount: float = 0.5  # share of the price that a batch saves

    def cost(self, prompt_tokens: int, completion_tokens: int, purchase: str = DIRECT) -> float:
        """The cost of prompt and completion tokens."""
        full = (prompt_tokens * self.input + completion_tokens * self.output) / MILLION
        return full * (1 - self.batch_discount) if purchase == BATCH else full
