"""Tables to numbers: the metrics as SQL views over the store, and the uncertainty that SQL cannot give."""

from __future__ import annotations

from pathlib import Path


def views() -> list[Path]:
    """The SQL files of the metric views, in the order in which they build on one another."""
    return sorted((Path(__file__).parent / "views").glob("*.sql"))
