"""What a run has spent, and where that is not what the experiment file's prices make of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyculture.generate.named_costs import differs

if TYPE_CHECKING:
    from polyculture.cache.store.store import Store

SHOWN = 5e-5  # of four decimals
SPENT = "SELECT sum(cost), sum(cost) FILTER (purchase IS NULL), sum(unknown_bills) FROM spending;\n"
NAMED = """
SELECT asked, count(*), sum(named_cost ORDER BY named_cost), sum(by_prices ORDER BY by_prices)
FROM purchases WHERE named_cost IS NOT NULL GROUP BY asked ORDER BY asked;
"""


@dataclass(frozen=True, slots=True)
class NamedTotal:
    """What the server of a model named as the cost of its answers, and what the file's prices make of the same ones."""

    model: str
    answers: int
    named: float
    by_prices: float | None  # None: the model has no price

    @property
    def factor(self) -> float:
        """What a cost by prices is to be multiplied by, to be what the server names; 1 where nobody can say."""
        return self.named / self.by_prices if self.by_prices else 1.0

    @property
    def line(self) -> str | None:
        """Where both differ, in words; None where they do not, or where the model has no price."""
        if self.by_prices is None or not differs(self.named, self.by_prices):
            return None
        return (
            f"the server of {self.model} named {self.named:.4f} for {self.answers} answers that [prices] put at "
            f"{self.by_prices:.4f}: correct the prices"
        )


def named_totals(rows: Iterable[tuple[Any, ...]]) -> list[NamedTotal]:
    """The rows of `NAMED`: the models whose servers name what their answers cost."""
    return [NamedTotal(*row) for row in rows]


def money_lines(store: Store) -> tuple[str, ...]:
    """What a run has spent, of it what is of requests that are in no row, and where servers name other costs than the
    prices make; empty where nothing was spent. `store` can answer `SPENT` and `NAMED`."""
    [(spent, in_no_row, unknown)] = store.execute(SPENT).fetchall()
    if not spent:
        return ()
    told = (one.line for one in named_totals(store.execute(NAMED).fetchall()))
    return (spent_line(spent, in_no_row or 0.0, unknown), *filter(None, told))


def spent_line(spent: float, in_no_row: float, unknown: int) -> str:
    """What was spent; of it what is in no row, and the number of requests in that whose bill nobody knows."""
    if in_no_row <= SHOWN:
        return f"{spent:.4f}"
    known = f"{spent:.4f} at most: {spent - in_no_row:.4f} is known, {in_no_row:.4f} is of"
    if not unknown:
        return f"{known} rows that are gone"
    s, they, were = ("", "it", "was") if unknown == 1 else ("s", "they", "were")
    why = f"{they} failed, {were} not counted by the server, or {were} in flight when a process ended"
    return f"{known} {unknown} request{s} that may be billed, each counted at its most ({why})"
