"""The likeliest of several options, under three rules: readers of likelihoods.

'sum', the log-probability of the whole option; 'mean', per token; 'corrected', less the log-probability that the option
has after the prompt's last line alone (Brown et al. 2020, section 2.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from polyculture.cache.identity import content_id

Rule = Literal["sum", "mean", "corrected"]
TIE, LIKELIEST = "tie", "likeliest"  # grounds of readings of likelihoods


@dataclass(frozen=True)
class LikelihoodReader:
    """Picks the place with the highest value, of natural logarithms; of equal ones none."""

    name: Rule

    @property
    def reader_id(self) -> str:
        return content_id("likelihood reader", 1, self.name)

    def reads(self, unconditional: Sequence[float] | None) -> bool:
        """Whether scores are of the kind that it reads."""
        return self.name != "corrected" or unconditional is not None

    def pick(
        self, scores: Sequence[float], tokens: Sequence[float], unconditional: Sequence[float] | None
    ) -> int | None:
        """The place of the likeliest option; None of a tie."""
        values = list(scores)
        if self.name == "mean":
            values = [score / count for score, count in zip(scores, tokens, strict=True)]
        elif self.name == "corrected":
            values = [score - alone for score, alone in zip(scores, unconditional or (), strict=True)]
        best = max(values)
        return None if values.count(best) > 1 else values.index(best)


RULES = (LikelihoodReader("sum"), LikelihoodReader("mean"), LikelihoodReader("corrected"))
