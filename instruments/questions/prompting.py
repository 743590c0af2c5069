"""A question as a model reads it: the options in an order, under labels, in a prompt's template."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Literal

from polyculture.cache.errors import DataSetError
from polyculture.instruments.questions.model import UNKNOWN, Prompt, Question

Order = tuple[int, ...]  # the index of the option at each place
Orders = Literal["published", "cyclic", "all", "one"]
MOST_ORDERS = 24  # of one question: those of four options
SLOT = re.compile(r"\{(\w+)\}")


def orders_of(options: int, orders: Orders, published: Sequence[Order] = ()) -> tuple[Order, ...]:
    """The orders in which so many options are shown.

    'published': those of `published` that are orders of so many options, else as the options stand; 'cyclic': each
    option once at each place; 'all': every permutation; 'one': as they stand. Raises `DataSetError` where 'all' are
    more than `MOST_ORDERS`.
    """
    stands = tuple(range(options))
    if orders == "published":
        return tuple(order for order in published if len(order) == options) or (stands,)
    if orders == "cyclic":
        return tuple(stands[first:] + stands[:first] for first in stands) or (stands,)
    if orders == "one":
        return (stands,)
    if math.factorial(options) > MOST_ORDERS:
        what = f"a question has {options} options: all {math.factorial(options)} orders are too many to ask"
        raise DataSetError(what, remedy="Ask --orders cyclic: each option once at each place.")
    return tuple(permutations(stands))


def shown_options(question: Question, order: Order, prompt: Prompt | None) -> tuple[str, ...]:
    """The text at each place: the prompt's own wording where the option's role is 'unknown' and it has one."""
    own = prompt.unknown if prompt else None
    return tuple(own if own and question.roles[index] == UNKNOWN else question.options[index] for index in order)


def labels_of(question: Question, prompt: Prompt) -> tuple[str, ...]:
    """The label of each place; none of an open question, and where a prompt shows none.

    Raises `DataSetError` where a prompt has too few.
    """
    if prompt.labels and len(prompt.labels) < len(question.options):
        what = f"question {question.name}: {len(question.options)} options, and prompt {prompt.name!r} has "
        remedy = "Give the prompt as many labels."
        raise DataSetError(f"{what}{len(prompt.labels)} labels", where=question.place.file, remedy=remedy)
    return prompt.labels[: len(question.options)]


def message(question: Question, prompt: Prompt, shown: Sequence[str], labels: Sequence[str]) -> str:
    """The whole text that a model reads. A line with the slot of a context that is empty is left out.

    Slots are filled in one pass: what looks like a slot in a question's own words stays as it is.
    """
    options = "\n".join(_lines(prompt, shown, labels))
    return _filled(_template(question, prompt), {**_slots(question), "options": options})


def option_spans(
    question: Question, prompt: Prompt, shown: Sequence[str], labels: Sequence[str]
) -> tuple[tuple[int, int], ...]:
    """Where the text of each option stands in the message: its first character, and the one behind its last."""
    head = _template(question, prompt).partition("{options}")[0]
    at, found = len(_filled(head, _slots(question))), []
    for line, label, text in zip(_lines(prompt, shown, labels), labels or [""] * len(shown), shown, strict=True):
        start = at + len(_filled(prompt.option.partition("{option}")[0], {"label": label}))
        found.append((start, start + len(text)))
        at += len(line) + 1
    return tuple(found)


def _template(question: Question, prompt: Prompt) -> str:
    lines = prompt.template.split("\n")
    return "\n".join(line for line in lines if question.context or "{context}" not in line)


def _slots(question: Question) -> dict[str, str]:
    return {"context": question.context, "question": question.text}


def _lines(prompt: Prompt, shown: Sequence[str], labels: Sequence[str]) -> list[str]:
    """The line of each option; where no labels are shown their slot is empty."""
    return [
        _filled(prompt.option, {"label": label, "option": text})
        for label, text in zip(labels or [""] * len(shown), shown, strict=True)
    ]


def _filled(template: str, slots: Mapping[str, str]) -> str:
    return SLOT.sub(lambda slot: slots.get(slot[1], slot[0]), template)
