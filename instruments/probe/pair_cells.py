"""The pairs of cultures of one group of the report's section: a heat map, and what is said of a pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from polyculture.reports.figures.figure import Panel
from polyculture.reports.figures.heat import Heat, plain_heads
from polyculture.reports.texts import section_texts

WORDS = section_texts(Path(__file__).with_name("section.toml")).words
SURE = 0.05
Row = Mapping[str, Any]


def cultures_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """The cultures of pairs, in alphabetical order."""
    return tuple(sorted({row["culture"] for row in rows}))


def heat(title: str, rows: Sequence[Row]) -> Panel:
    """A row per culture whose items they are, a column per culture that they lean on."""
    cultures = cultures_of(rows)
    cells = [
        {
            "row": row["culture"],
            "column": row["toward"],
            "value": row["score"],
            "framed": is_sure(row),
            "note": interval_of(row),
        }
        for row in rows
    ]
    frame = pd.DataFrame(cells).astype({"value": float})
    top = float(frame["value"].max()) or 1.0
    heads = plain_heads(cultures)
    chart = Heat(f"{title}: {WORDS['row_and_column']}", frame, heads, heads, (0.0, top))
    return Panel(title, chart)


def interval_of(row: Row) -> str:
    """The 95 % interval of F in the digits of the heat map; empty where there is none."""
    return "" if None in (row["low"], row["high"]) else f"{row['low']:.1f} to {row['high']:.1f}"


def is_sure(row: Row) -> bool:
    """Does chance seldom do as much?"""
    return row["p"] is not None and row["p"] <= SURE


def _explained(row: Row) -> str:
    interval = interval_of(row)
    why = "" if interval or not row["no_interval"] else f"no interval: {row['no_interval']}"
    chance = "" if row["p"] is None else f"by chance {row['by_chance']:.1f}, p {row['p']:.3f}"
    return "; ".join(filter(None, (interval and f"95 %: {interval}", why, chance)))


def withheld(rows: Sequence[Row]) -> str:
    """How many pairs have no interval, and why; empty where all have theirs."""
    reasons = Counter(row["no_interval"] for row in rows if row["no_interval"])
    told = "; ".join(f"{why} ({many})" for why, many in reasons.most_common())
    return f"No interval for {reasons.total()} of {len(rows)} pairs: {told}." if told else ""


def said_of(row: Row) -> str:
    share = "" if row["share"] is None else f"{100 * row['share']:.0f} % of what is particular to {row['culture']}"
    told = filter(None, (share, _explained(row)))
    return f"{row['culture']} to {row['toward']}: F {row['score']:.1f}; {'; '.join(told)}"
