"""Why answers are missing: the most frequent reasons, and the command that lists all."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store, open_store
from polyculture.running.layout import layout_of

REASONS = read_sql(Path(__file__).parent, "frequent_reasons")
MOST = 3  # reasons that are named
_SHOWN = 80  # characters of each in a line


@dataclass(frozen=True, slots=True)
class FrequentReason:
    """A reason why answers of a stage are missing."""

    stage: str
    reason: str
    rows: int
    retryable: int  # of these: asked again by the next run

    def __str__(self) -> str:
        reason = self.reason if len(self.reason) <= _SHOWN else f"{self.reason[: _SHOWN - 1]}…"
        return f"{self.rows} x {reason} ({self.stage})"


def frequent_reasons(store: Store) -> tuple[FrequentReason, ...]:
    """The most frequent reasons in a store that can answer `REASONS`."""
    return tuple(FrequentReason(*row) for row in store.execute(REASONS, {"most": MOST}).fetchall())


def failures_query(experiment: Path) -> str:
    """The command that lists all reasons."""
    return f"polyculture sql {shlex.quote(str(experiment))} 'FROM failures ORDER BY \"rows\" DESC'"


def reasons_line(run: RunFolder, experiment: Path) -> str:
    """The most frequent reasons and the command that lists all, for the end of a line; empty where nothing failed."""
    if not run.manifest.exists():
        return ""
    with open_store(run, layout_of(run)) as store:
        found = frequent_reasons(store)
    if not found:
        return ""
    return f"most frequent reasons: {', '.join(map(str, found))}; all: {failures_query(experiment)}"
