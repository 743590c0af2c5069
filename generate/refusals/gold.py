"""Texts with labels by which the detector is measured: at least 30 refusals and 30 answers a language.

They were written for this purpose, by one author: batch 1 before the phrases, batch 2 after them, with less usual ways
to refuse, batch 3 after batch 2 was tuned on, with the usual ways. Of each batch a third, chosen by hash, is held out:
its misses were never printed. The phrases have the same author, who remembers the texts, so that figures of either part
are optimistic; a batch's figures at first sight, before anything was changed for it, are the better estimate.
"""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

GOLD = Path(__file__).parent / "gold"


@dataclass(frozen=True, slots=True)
class Example:
    """A text of a model, and whether it refuses."""

    batch: Literal["1", "2", "3"]
    label: Literal["refusal", "answer", "hard_answer"]  # hard: holds words of apology, inability or refusal
    task: str  # what was asked: writing, sentiment, qa, ner or choice
    text: str

    @property
    def refuses(self) -> bool:
        """Is it labelled as a refusal?"""
        return self.label == "refusal"

    @property
    def held_out(self) -> bool:
        """Is it in the third whose misses were not looked at?"""
        return hashlib.sha256(self.text.encode()).digest()[0] % 3 == 0


_EXAMPLES = TypeAdapter(tuple[Example, ...])


def read_gold(language: str) -> tuple[Example, ...]:
    """The examples of a built-in language."""
    with (GOLD / f"{language}.tsv").open(encoding="utf-8", newline="") as file:
        return _EXAMPLES.validate_python(tuple(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)))
