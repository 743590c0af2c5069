"""Labelled texts for measuring the detector: at least 30 refusals and 30 answers per language.

One author wrote them for this purpose. Batch 1 was written before the phrases. Batch 2 came after them, with less
usual ways to refuse. Batch 3 came after tuning on batch 2, with the usual ways. A third of each batch, chosen by hash,
is held out: its misses were never printed. The author of the phrases remembers the texts, so that figures of either
part are optimistic. A batch's first figures, before any change was made for it, are the better estimate.
"""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter

from polyculture.generate.refusals import BUILT_IN

GOLD = BUILT_IN / "gold"


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text of a model, and its label."""

    batch: Literal["1", "2", "3"]
    label: Literal["refusal", "answer", "hard_answer"]  # hard: holds words of apology, inability or refusal
    task: str  # what was asked: writing, sentiment, qa, ner or choice
    text: str

    @property
    def refuses(self) -> bool:
        """Is the label a refusal?"""
        return self.label == "refusal"

    @property
    def held_out(self) -> bool:
        """Is it in the held-out third, whose misses were never inspected?"""
        return hashlib.sha256(self.text.encode()).digest()[0] % 3 == 0


_EXAMPLES = TypeAdapter(tuple[LabelledText, ...])


def read_gold(language: str) -> tuple[LabelledText, ...]:
    """The examples of a built-in language."""
    with (GOLD / f"{language}.tsv").open(encoding="utf-8", newline="") as file:
        return _EXAMPLES.validate_python(tuple(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)))
