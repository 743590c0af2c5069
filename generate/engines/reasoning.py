"""Reasoning that a model writes before its answer, told apart from the answer, in one place for all engines.

Every engine makes the completions of its texts by `completed`, so that reasoning is never extracted or judged.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from polyculture.cache.model_facts import DIRECT, Purchase
from polyculture.cache.sanitize import ResponseSanitizer
from polyculture.generate.engines.base import Completion

CUT = "the reasoning was cut before the answer"
TAIL = 8  # tokens of a prompt in which an opening tag that ends it stands whole
_TAGS = Path(__file__).with_name("reasoning.toml")


@dataclass(frozen=True, slots=True)
class Split:
    """A text taken apart. `answer` is None where the reasoning does not end in the text."""

    answer: str | None
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class _Tags:
    open: str
    close: str
    bare: bool = False


def completed(
    request_id: str,
    seed: int,
    text: str,
    finish_reason: str | None,
    *,
    reasoning: str | None = None,
    reasoning_tokens: int | None = None,
    prompt_tokens: int | None = None,
    completion_tokens: int | None = None,
    model_version: str | None = None,
    purchase: Purchase = DIRECT,
    prompt_tail: str = "",
    note: str | None = None,
) -> Completion:
    """The completion of a text that a model wrote. Where its reasoning does not end there is no answer: an error.

    `reasoning` is what a server has told apart already, `prompt_tail` the end of the prompt as the model read it: chat
    templates may open the reasoning themselves.
    """
    sanitizer = ResponseSanitizer()
    text, reasoning = sanitizer.text("text", text) or "", sanitizer.text("reasoning", reasoning)
    split = split_reasoning(text, cut=finish_reason == "length", prompt_tail=prompt_tail)
    parts = [part for part in (reasoning, split.reasoning) if part]
    if reasoning and not text and finish_reason == "length":
        split = Split(None)
    lost = split.answer is None
    return Completion(
        request_id,
        seed,
        split.answer,
        finish_reason=finish_reason,
        prompt_tokens=sanitizer.count("prompt_tokens", prompt_tokens),
        completion_tokens=sanitizer.count("completion_tokens", completion_tokens),
        model_version=model_version,
        error=f"{CUT}: finish reason {finish_reason}" if lost else None,
        purchase=purchase,
        reasoning="\n\n".join(parts) or None,
        reasoning_tokens=reasoning_tokens,
        raw=(text or None) if split.answer != text else None,
        note="; ".join(filter(None, (note, sanitizer.note))) or None,
    )


def split_reasoning(text: str, *, cut: bool = False, prompt_tail: str = "") -> Split:
    """The answer in a text and the reasoning around it, by the tags of `reasoning.toml`.

    Reasoning ends with its closing tag. One that is opened and never closed has no answer behind it if the text begins
    with it or was `cut`; elsewhere the tag is a part of the answer. A closing tag without an opening one ends reasoning
    that the prompt opened.
    """
    opened = _opened(prompt_tail)
    if opened is None and not any(mark in text for mark in _marks()):
        return Split(text)
    rest, thoughts = text, []
    for tags in (opened,) if opened else _tags():
        if opened and not rest.lstrip().startswith(tags.open):
            rest = tags.open + rest
        rest, reasoning, whole = _take(rest, tags, cut)
        thoughts += reasoning
        if not whole:
            return Split(None, _joined(thoughts))
    return Split(rest.lstrip() if thoughts else rest, _joined(thoughts))


def _take(text: str, tags: _Tags, cut: bool) -> tuple[str, list[str], bool]:
    """The text without its reasoning, the reasoning, and whether all of it ends."""
    thoughts: list[str] = []
    if tags.bare:
        if text.startswith(tags.open) and tags.close in text:
            reasoning, _, text = text.removeprefix(tags.open).partition(tags.close)
            thoughts.append(reasoning)
        return text, thoughts, True
    while True:
        before, opening, behind = text.partition(tags.open)
        if not opening:
            reasoning, closing, answer = text.partition(tags.close)
            return (answer, [*thoughts, reasoning], True) if closing else (text, thoughts, True)
        if tags.close in before:  # of reasoning that the prompt opened
            reasoning, _, before = before.partition(tags.close)
            thoughts.append(reasoning)
        reasoning, closing, answer = behind.partition(tags.close)
        if not closing:
            if before.strip() and not cut:
                return before + opening + behind, thoughts, True
            return "", [*thoughts, reasoning], False
        thoughts.append(reasoning)
        text = before + answer


def _joined(thoughts: list[str]) -> str | None:
    return "\n\n".join(part.strip() for part in thoughts if part.strip()) or None


def _opened(prompt_tail: str) -> _Tags | None:
    """The tags whose opening one a prompt ends with."""
    end = prompt_tail.rstrip()
    return next((tags for tags in _tags() if not tags.bare and end.endswith(tags.open)), None) if end else None


@cache
def _tags() -> tuple[_Tags, ...]:
    return tuple(_Tags(**table) for table in tomllib.loads(_TAGS.read_text(encoding="utf-8"))["tags"])


@cache
def _marks() -> tuple[str, ...]:
    """What a text with reasoning has in it: nearly no text has any, and then nothing else is looked for."""
    return tuple(mark for tags in _tags() for mark in (tags.close, *([] if tags.bare else [tags.open])))
