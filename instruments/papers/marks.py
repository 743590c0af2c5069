"""Marks behind numbers, [1], [2], and what they mean: what a model's number has otherwise than the paper's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from polyculture.instruments.papers.join import INCOMPLETE, largest


class RemarkMarks:
    """The marks of one table. The same remarks have one mark."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What each mark means: '[1] only units 12'."""
        return tuple(f"[{number}] {said}" for said, number in self._numbers.items())

    def of(self, every: Sequence[Sequence[str]], more: Iterable[str] = ()) -> tuple[str, list[str]]:
        """The mark of what is said of all numbers of a model, with `more`; and for each the mark of the rest.

        '' is no mark. Of missing answers, the same reason with other counts is the same remark.
        """
        shapes = set.intersection(*({_shape(one) for one in some} for some in every)) if every else set[str]()
        shared = dict.fromkeys(one for some in every for one in some if _shape(one) in shapes)
        lacking = [one.removeprefix(INCOMPLETE) for one in shared if one.startswith(INCOMPLETE)]
        others = [one for one in shared if not one.startswith(INCOMPLETE)]
        whole = self.mark([*others, *more, *(INCOMPLETE + one for one in largest(lacking))])
        return whole, [self.mark([one for one in some if _shape(one) not in shapes]) for some in every]

    def mark(self, remarks: Iterable[str]) -> str:
        """The mark of remarks; '' without any."""
        said = "; ".join(remarks)
        return f"[{self._numbers.setdefault(said, len(self._numbers) + 1)}]" if said else ""


def _shape(remark: str) -> str:
    """Of what is incomplete the words without the counts, which differ from cell to cell."""
    return re.sub(r"\d+", "#", remark) if remark.startswith(INCOMPLETE) else remark


def missing(all_numbers: int, reasons: Sequence[str]) -> list[str]:
    """How many numbers of a model are missing in a table, and why; none where all are there."""
    known = largest([one.removeprefix(INCOMPLETE) for one in reasons if one.startswith(INCOMPLETE)])
    counted = [f"{len(reasons)} of {all_numbers} numbers missing"] if reasons and len(reasons) < all_numbers else []
    return [INCOMPLETE + one for one in (*counted, *known)]
