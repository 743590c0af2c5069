"""What a run has spent, and where that is not what the experiment file's prices make of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyculture.generate.named_costs import differs

if TYPE_CHECKING:
    import duckdb

SPENT = "SELECT sum(cost), sum(cost) FILTER (purchase IS NULL) FROM spending;\n"
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


def money_lines(store: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """What a run has spent, of it what is of requests that are in no row, and where servers name other costs than the
    prices make; empty where nothing was spent. `store` can answer `SPENT` and `NAMED`."""
    [(spent, in_no_row)] = store.execute(SPENT).fetchall()
    if not spent:
        return ()
    without = "requests that failed and may be billed, or were in flight when a process ended"
    more = f", {in_no_row:.4f} of it for {without}" if in_no_row else ""
    told = (one.line for one in named_totals(store.execute(NAMED).fetchall()))
    return (f"{spent:.4f}{more}", *filter(None, told))
