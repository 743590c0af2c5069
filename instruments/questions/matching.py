"""Which question a record of a file is about, and how its options stood: by its names, or by the prompt's text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from string import ascii_uppercase
from typing import Any

from polyculture.instruments.questions.asking import Method, Order, message
from polyculture.instruments.questions.model import UNKNOWN, PromptTemplate, Question
from polyculture.sources.record import Record, find, shown

_LONGEST_NAME = 40  # characters of a prompt's name; what is longer, or of several words, is its text
_MESSAGES = "messages[role=user].content"
_START = 12  # characters by which the question of a prompt is looked up


class UnknownOrderError(ValueError):
    """An order of options that is none: whatever the answer says, nobody can know which option it means."""


class QuestionIndex:
    """The questions of a set, by name and by how their texts begin."""

    def __init__(self, questions: Iterable[Question]) -> None:
        self._by_name: defaultdict[str, list[Question]] = defaultdict(list)
        self._by_start: defaultdict[str, list[Question]] = defaultdict(list)
        self._languages: set[str] = set()
        for question in questions:
            self._languages.add(question.language)
            self._by_name[question.name].append(question)
            self._by_start[_plain(question.context or question.text)[:_START]].append(question)

    def find(
        self, names: Iterator[str], asked: str | None, language: str | None, orders: Sequence[Order]
    ) -> tuple[Question | None, Order | None]:
        """The one question of these names, or of the text that was asked; and the order that its name ends in.

        Raises `LookupError` where a name is that of a question in several languages, or `language` is none of them.
        """
        spoken = {one for one in self._languages if language is None or one.casefold() == language.casefold()}
        if not spoken:
            raise LookupError(f"language {shown(language)!r} is none of {', '.join(sorted(self._languages))}")

        def fits(one: Question) -> bool:
            return one.language in spoken and (asked is None or _fits(one, asked))

        several: dict[str, str] = {}  # language -> name

        for name in names:
            stem, _, number = name.rpartition("-")
            for known in (name, stem):
                fitting = [one for one in self._by_name.get(known, ()) if fits(one)]
                own = [one for one in orders if fitting and len(one) == len(fitting[0].options)]
                numbered = own[int(number)] if number.isdecimal() and int(number) < len(own) else None
                several = several or {one.language: known for one in fitting if len(fitting) > 1}
                if len(fitting) == 1 and (known == name or numbered is not None):
                    return fitting[0], None if known == name else numbered
        found = None if asked is None else self._of_text(asked, spoken)
        if found is None and several:
            name, first = next(iter(several.values())), min(several)
            remedy = f"say which with language=={first}, or name its column"
            raise LookupError(f"{shown(name)} is a question in {', '.join(sorted(several))}; {remedy}")
        return found, None

    def _of_text(self, asked: str, spoken: Set[str]) -> Question | None:
        """The one question whose context and text are in what was asked: the last one, behind examples; of several
        there the one with the longest texts, as a disambiguated context begins like the ambiguous one.
        """
        plain = _plain(asked)
        found = {
            (question.language, question.name): question
            for start in range(max(len(plain) - _START, 0) + 1)
            for question in self._by_start.get(plain[start : start + _START], ())
            if question.language in spoken and _fits(question, plain)
        }
        ranks = {name: (_end_of(one.text, plain), len(one.context) + len(one.text)) for name, one in found.items()}
        best = [name for name, rank in ranks.items() if rank == max(ranks.values())]
        return found[best[0]] if len(best) == 1 else None


def _end_of(text: str, plain: str) -> int:
    return plain.rfind(_plain(text)) + len(_plain(text))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _fits(question: Question, asked: str) -> bool:
    plain = _plain(asked)
    return all(_plain(text) in plain for text in (question.context, question.text))


def asked_path(row: Record, path: str) -> str:
    """Where a file has what the model was asked: the user's messages, or else the prompt, at `path` if it is given."""
    return _MESSAGES if find(row.values, _MESSAGES) else path or "prompt|input"


def asked_text(row: Record, path: str) -> str | None:
    """What the model was asked, where the file has it as a text: the last message of the user, or the prompt."""
    at = asked_path(row, path)
    value = find(row.values, at)[-1][1] if at == _MESSAGES else None if at.startswith("=") else row.get(at)
    if isinstance(value, list):  # parts of a message
        value = "".join(one.get("text") or "" for one in value if isinstance(one, Mapping))
    return value if isinstance(value, str) and (len(value.split()) > 1 or len(value) > _LONGEST_NAME) else None


def choices_of(row: Record) -> str:
    """The choices that a record lists, as lines under letters."""
    listed = row.get("choices")
    texts = listed if isinstance(listed, list) else []
    return "\n".join(f"{label}: {text}" for label, text in zip(ascii_uppercase, texts, strict=False))


def order_of(value: Any, stands: Order, published: Sequence[Order]) -> Order | None:
    """An order as files write it: '021', '[0, 2, 1]', or the number of one of the publisher's; None where none is."""
    if value is None or value == "":
        return None
    text = "".join(map(str, value)) if isinstance(value, list) else str(value).strip()
    digits = [int(one) for one in (value if isinstance(value, list) else re.findall(r"\d+", text))]
    if len(digits) == 1 and len(text) == len(stands) > 1:
        digits = [int(sign) for sign in text]
    own = [order for order in published if len(order) == len(stands)]
    if len(digits) == 1 and digits[0] < len(own):
        return own[digits[0]]
    if sorted(digits) != list(stands):
        raise UnknownOrderError(f"{text!r} is no order of {len(stands)} options")
    return tuple(digits)


def is_message(
    asked: str, question: Question, prompt: PromptTemplate, options: Sequence[str], labels: Sequence[str]
) -> bool:
    return _plain(message(question, prompt, options, labels)) == _plain(asked)


def likelihoods_of(row: Record) -> list[tuple[str, float]] | None:
    """Continuations with their log-probabilities of a record of lm-evaluation-harness; None of any other record."""
    responses, arguments = row.values.get("resps"), row.values.get("arguments")
    calls = list(arguments.values()) if isinstance(arguments, Mapping) else arguments
    if not isinstance(responses, list) or not isinstance(calls, list) or not responses:
        return None
    found = []
    for response, call in zip(responses, calls, strict=False):
        pair = response[0] if isinstance(response, list) and response and isinstance(response[0], list) else response
        text = call.get("arg_1") if isinstance(call, Mapping) else call[1] if isinstance(call, list) else None
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(text, str):
            return None
        try:
            found.append((text.strip(), float(pair[0])))
        except (TypeError, ValueError):
            return None
    return found


def scores_of_options(
    question: Question, order: Order, labels: Sequence[str], options: Sequence[str], scores: Sequence[tuple[str, float]]
) -> tuple[Method, list[float]]:
    """The likelihood at each place: of labels, or of texts.

    What is no other option is a wording of 'unknown', of which the likeliest counts, as in lm-evaluation-harness.
    Raises `LookupError` where an option has none.
    """
    by_label = dict(scores)
    if labels and set(by_label) == set(labels):
        return "letter", [by_label[label] for label in labels]
    places = {_plain(option): place for place, option in enumerate(options)}
    unknown = next((place for place, index in enumerate(order) if question.roles[index] == UNKNOWN), None)
    values: dict[int, float] = {}
    for text, score in scores:
        place = places.get(_plain(text), unknown)
        if place is not None:
            values[place] = max(score, values.get(place, score))
    missing = [option for place, option in enumerate(options) if place not in values]
    if missing:
        raise LookupError(f"no likelihood of {shown(missing[0])!r}")
    return "text", [values[place] for place in range(len(options))]
