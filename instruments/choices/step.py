"""What all steps have that ask models questions with choices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic

from polyculture.cache.layout import Table
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.worker import Span, Work
from polyculture.instruments.choices.asking import A, ChoiceJob, works_of


class ChoiceStep(Generic[A]):
    """Jobs of questions whose answers are rows of one table."""

    span: Span = "job"

    def __init__(self, name: str, table: Table[Any], jobs: Sequence[ChoiceJob[A]]) -> None:
        """`table` has the rows that the jobs make of answers."""
        self.name = name
        self.tables: tuple[Table[Any], ...] = (table,)
        self._jobs = {asked.job: asked for asked in jobs}

    def works(self) -> Iterator[Work[A]]:
        """A work per job."""
        return works_of(list(self._jobs.values()))

    def keys(self, item: A) -> tuple[str, ...]:
        return (item.answer_id,)

    def adopt(self, run: RunFolder, work: Work[A], missing: Sequence[A]) -> None:
        """Nothing: answers and scores are not shared between runs."""
