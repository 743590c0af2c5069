"""What tokens cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# How an answer was bought: by a call of its own, or in a batch, which is cheaper.
Purchase = Literal["direct", "batch"]
DIRECT: Purchase = "direct"
BATCH: Purchase = "batch"
MILLION = 1_000_000


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
