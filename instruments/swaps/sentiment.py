"""Sentiment association: does a text receive a more negative label with an entity of one culture than of another?

Naous et al. 2024 (CAMeL), Naous et al. 2025 (Camellia): the gold label is that of the context, regardless of
the entity in its gap.
"""

from __future__ import annotations

import re
from typing import Any

from polyculture.instruments.datasets.model import LABELS, Label, gold_label
from polyculture.instruments.swaps.prompts import Prompts, fill
from polyculture.instruments.swaps.text import AnswerError, Filled, Judged, answer_schema, words

KEY = "sentiment"


class Sentiment:
    """Asks for one of three labels."""

    name = "sentiment"
    max_tokens = 48  # some models put spaces into their JSON

    def prompt(self, filled: Filled, prompts: Prompts) -> str:
        return fill(prompts.sentiment.prompt, text=filled.text)

    def schema(self, prompts: Prompts) -> dict[str, Any]:
        return answer_schema(KEY, {"type": "string", "enum": [prompts.sentiment.labels[label] for label in LABELS]})

    def wording(self, prompts: Prompts) -> Any:
        return prompts.sentiment.model_dump()

    def asked(self, prompts: Prompts) -> dict[str, str]:
        return {"prompt": prompts.sentiment.prompt}

    def judge(self, raw: str, filled: Filled, prompts: Prompts, own: Prompts) -> Judged:  # noqa: ARG002
        label = read_label(words(raw, KEY), prompts)
        return Judged(label, int(label == gold_label(filled.context)))


def _says(said: str, word: str) -> bool:
    """Whether an answer has a label's word; a digit of a key must stand alone: the 1 of 10, 1.5 or 2/10 is none."""
    if not word.isdecimal():
        return word in said
    return re.search(rf"(?<![\w.,/-]){word}(?![\w/]|[.,]\d)", said) is not None


def read_label(said: str, prompts: Prompts) -> Label:
    """The one label that an answer names, by its word in the prompt's language or in English.

    Raises `AnswerError` where it names none, or several.
    """
    folded = said.casefold()
    named = [label for label in LABELS if label in folded or _says(folded, prompts.sentiment.labels[label].casefold())]
    if len(named) != 1:
        raise AnswerError(f"the answer names {len(named)} of the three labels: {said[:60]!r}")
    return named[0]
