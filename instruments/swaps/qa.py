"""Extractive question answering: is an entity of one culture found in a text as well as one of another?

Naous and Xu 2025 (CAMeL-2), Naous et al. 2025 (Camellia): the answer is the entity in the gap, the score
its exact match after normalisation. The published contexts have no questions of their own. A title or an honorific that
is copied with the name makes it no other answer, as in `ner`.
"""

from __future__ import annotations

from typing import Any

from polyculture.instruments.swaps.answer_parsing import words
from polyculture.instruments.swaps.ner import judge_names
from polyculture.instruments.swaps.normalise import same
from polyculture.instruments.swaps.prompts import Prompts, fill
from polyculture.instruments.swaps.text import Filled, Judged, answer_schema

KEY = "answer"


class QuestionAnswering:
    """Asks for the entity in words of the text."""

    name = "qa"
    max_tokens = 64

    def gold(self, filled: Filled) -> str:
        return filled.entity.surface

    def prompt(self, filled: Filled, prompts: Prompts) -> str:
        kind = prompts.type_words(filled.context.entity_type)
        question = filled.context.question or fill(prompts.qa.question, type=kind)
        return fill(prompts.qa.prompt, text=filled.text, question=question)

    def schema(self, prompts: Prompts) -> dict[str, Any]:  # noqa: ARG002
        return answer_schema(KEY, {"type": "string"})

    def wording(self, prompts: Prompts) -> Any:
        return prompts.qa.model_dump(), dict(prompts.types)

    def judge(self, raw: str, filled: Filled, prompts: Prompts, own: Prompts) -> Judged:  # noqa: ARG002
        answer = words(raw, KEY)
        right = same(answer, filled.entity.surface, own) or (answer and judge_names([answer], filled, own).matched)
        return Judged(answer, int(bool(right)))
