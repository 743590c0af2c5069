"""How often items occur in what a model says of cultures: what flattening is computed of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyculture.metrics.inference.arrays import Integers

Occurrence = tuple[str, str, str, int]  # question, culture, item, occurrences


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """How often items occur: parallel arrays of the numbers of question, culture and item, and a count."""

    question: Integers
    culture: Integers
    item: Integers
    count: Integers
    cultures: int

    @classmethod
    def of_rows(cls, rows: Sequence[Occurrence], questions: Sequence[str], cultures: Sequence[str]) -> Occurrences:
        """From rows of a question, a culture, an item and its count."""
        items = sorted({row[2] for row in rows})
        at = [{name: number for number, name in enumerate(names)} for names in (questions, cultures, items)]
        numbered = [[at[0][question], at[1][culture], at[2][item], count] for question, culture, item, count in rows]
        question, culture, item, count = np.array(numbered, np.int64).T
        return cls(question, culture, item, count, len(cultures))

    def counted(self, weights: Integers | None = None, culture: Integers | None = None) -> Integers:
        """g: [items, cultures]; questions may have weights, occurrences other cultures."""
        place = self.item * self.cultures + (self.culture if culture is None else culture)
        count = self.count if weights is None else self.count * weights[self.question]
        size = (int(self.item.max()) + 1) * self.cultures
        return np.bincount(place, count, size).astype(np.int64).reshape(-1, self.cultures)
