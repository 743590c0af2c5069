"""Extractive question answering: is an entity of one culture found in a text as well as one of another?

Naous and Xu 2025 (CAMeL-2), Naous et al. 2025 (Camellia): the answer is the entity in the gap, the score
its exact match after normalisation. The published contexts have no questions of their own. A title or an honorific that
is copied with the name makes it no other answer, as in `ner`.
"""

from __future__ import annotations

from typing import Any

from polyculture.cache.folding import ANSWERS, fold
from polyculture.instruments.swaps.ner import judge_names
from polyculture.instruments.swaps.prompts import Prompts, fill
from polyculture.instruments.swaps.text import Filled, Judged, answer_schema, words

KEY = "answer"


def normalise(text: str, prompts: Prompts) -> str:
    """`text` normalised for the exact match; empty if it holds only punctuation.

    The form is `ANSWERS`, without the articles of the language: SQuAD's rules (Rajpurkar et al. 2016) as MLQA has them
    for other languages (Lewis et al. 2020), the Arabic article, which is written together with its word, among them.
    All spaces are removed in languages without spaces between words.
    """
    kept = (word for word in fold(text, ANSWERS).split() if word not in prompts.articles)
    return (" " if prompts.spaces else "").join(_without_prefix(word, prompts.prefixes) for word in kept)


def same(one: str, other: str, prompts: Prompts) -> bool:
    """Are the two the same answer? Two empty ones are none."""
    left = normalise(one, prompts)
    return left != "" and left == normalise(other, prompts)


class QuestionAnswering:
    """Asks for the entity in words of the text."""

    name = "qa"
    max_tokens = 64

    def prompt(self, filled: Filled, prompts: Prompts) -> str:
        kind = prompts.type_words(filled.context.entity_type)
        question = filled.context.question or fill(prompts.qa.question, type=kind)
        return fill(prompts.qa.prompt, text=filled.text, question=question, type=kind)

    def schema(self, prompts: Prompts) -> dict[str, Any]:  # noqa: ARG002
        return answer_schema(KEY, {"type": "string"})

    def wording(self, prompts: Prompts) -> Any:
        return prompts.qa.model_dump(exclude_defaults=True), dict(prompts.types)

    def asked(self, prompts: Prompts) -> dict[str, str]:
        return {"prompt": prompts.qa.prompt, "question": prompts.qa.question}

    def judge(self, raw: str, filled: Filled, prompts: Prompts, own: Prompts) -> Judged:
        said, gold = words(raw, KEY), filled.entity.surface
        nothing = prompts.qa.none is not None and said != gold and same(said, prompts.qa.none, prompts)
        answer = "" if nothing else said
        right = bool(same(answer, gold, own) or (answer and judge_names([answer], filled, own).matched))
        return Judged(answer, int(right), strict=int(answer == gold))


def _without_prefix(word: str, prefixes: tuple[str, ...]) -> str:
    prefix = next((prefix for prefix in prefixes if word.startswith(prefix) and len(word) > len(prefix)), "")
    return word[len(prefix) :]
