"""The tasks on texts with swapped entities: the question about an entity in a gap, and what is read of an answer.

The requested value is read from JSON where an answer has it, else from its plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

import orjson

from polyculture.cache.text.folding import ANSWERS, fold
from polyculture.extract.boundaries import Span
from polyculture.instruments.datasets.model import LABELS, MASK, CulturalEntity, Label, MaskedContext, gold_label
from polyculture.instruments.swaps.prompts import ComparisonWords, SwapPrompts, fill


class AnswerError(ValueError):
    """An answer not in the requested form; no part of it is used."""


@dataclass(frozen=True, slots=True)
class FilledContext:
    """A context with an entity in its gap."""

    context: MaskedContext
    entity: CulturalEntity

    @property
    def text(self) -> str:
        return self.context.text.replace(MASK, self.entity.surface)

    @property
    def span(self) -> tuple[int, int]:
        """The position of the entity in the text, in characters."""
        start = len(self.context.prefix)
        return start, start + len(self.entity.surface)


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """An answer as it was understood, and what of it is right; the columns of `SwapReading` of these names."""

    answer: str | None = None
    matched: int | None = None
    predicted: int | None = None
    elsewhere: int | None = None
    strict: int | None = None  # qa, ner: as `matched`, but character by character
    strict_predicted: int | None = None


@dataclass(frozen=True, slots=True)
class ReaderResult:
    """A reader's result for an answer: its score, or the reason for its failure."""

    judged: JudgedAnswer | None
    error: str | None = None
    refused: bool | None = None  # the model declined in words; None where nobody looked

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of `SwapReading` that a reader fills."""
        status = "failed" if self.judged is None else "ok"
        return {"status": status, "error": self.error, "refused": self.refused, **asdict(self.judged or JudgedAnswer())}


def answer_schema(key: str, value: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with one key."""
    return {"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": False}


_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


def json_object(raw: str) -> dict[str, Any] | None:
    """The JSON object in an answer, ignoring surrounding text; None without one."""
    found = _OBJECT.search(raw)
    with suppress(orjson.JSONDecodeError):
        return dict(orjson.loads(found.group())) if found else None
    return None


def json_value(raw: str, key: str) -> Any:
    """The value under `key` of the JSON object in an answer; None without an object.

    Raises `AnswerError` if the object lacks that key.
    """
    answer = json_object(raw)
    if answer is not None and key not in answer:
        raise AnswerError(f"the answer has no {key!r}")
    return None if answer is None else answer[key]


def spoken(raw: str) -> str:
    """The words of an answer, out of the JSON object that they stand in; '' of an object without words."""
    answer = json_object(raw)
    return raw if answer is None else " ".join(value for value in answer.values() if isinstance(value, str))


def words(raw: str, key: str) -> str:
    """The text under `key`, '' too, or the first line of an answer that is no JSON.

    Raises `AnswerError` where there is neither.
    """
    value = json_value(raw, key)
    if value is None:
        if "{" in raw:
            raise AnswerError("the answer is no JSON")
        value = raw.strip().partition("\n")[0].strip().strip("\"'`")
        if not value:
            raise AnswerError("the answer is empty")
    if not isinstance(value, str):
        raise AnswerError(f"the answer's {key!r} is no text")
    return value.strip()


class Sentiment:
    """Asks for one of three labels: is it a more negative one with an entity of one culture than of another?

    Naous et al. 2024 (CAMeL), Naous et al. 2025 (Camellia): the gold label is that of the context, regardless of the
    entity in its gap.
    """

    name = key = "sentiment"
    max_tokens = 48  # some models put spaces into their JSON

    def prompt(self, filled: FilledContext, prompts: SwapPrompts) -> str:
        return fill(prompts.sentiment.prompt, text=filled.text)

    def schema(self, prompts: SwapPrompts) -> dict[str, Any]:
        return answer_schema(
            self.key, {"type": "string", "enum": [prompts.sentiment.labels[label] for label in LABELS]}
        )

    def wording(self, prompts: SwapPrompts) -> Any:
        return prompts.sentiment.model_dump()

    def asked(self, prompts: SwapPrompts) -> dict[str, str]:
        return {"prompt": prompts.sentiment.prompt}

    def judge(self, raw: str, filled: FilledContext, prompts: SwapPrompts, own: ComparisonWords) -> JudgedAnswer:  # noqa: ARG002
        label = read_label(words(raw, self.key), prompts)
        return JudgedAnswer(label, int(label == gold_label(filled.context)))


def _says(said: str, word: str) -> bool:
    """Whether an answer has a label's word; a digit of a key must stand alone: the 1 of 10, 1.5 or 2/10 is none."""
    if not word.isdecimal():
        return word in said
    return re.search(rf"(?<![\w.,/-]){word}(?![\w/]|[.,]\d)", said) is not None


def read_label(said: str, prompts: SwapPrompts) -> Label:
    """The one label that an answer names, by its word in the prompt's language or in English.

    Raises `AnswerError` where it names none, or several.
    """
    folded = said.casefold()
    named = [label for label in LABELS if label in folded or _says(folded, prompts.sentiment.labels[label].casefold())]
    if len(named) != 1:
        raise AnswerError(f"the answer names {len(named)} of the three labels: {said[:60]!r}")
    return named[0]


MOST_NAMES = 30  # of an answer; one that fills this is not believed to be finished


class NameTagging:
    """Asks for all names of the entity's type: is one of one culture found as well as one of another?

    Naous et al. 2024 (CAMeL). A name counts when its span is exactly the entity's, as conlleval counts (Tjong Kim Sang
    and De Meulder 2003); all names of the type that were found in the text are predictions. The published contexts do
    not list their other names. A prediction elsewhere is a false positive on both sides, and is counted separately.

    Annotation guidelines (MUC-7, IREX) exclude titles and honorifics (Mr., さん, 씨) from names. Taggers learn this.
    Our prompts give language models no such rule: the entity with an adjacent title or honorific counts as the entity.
    """

    name, key = "ner", "names"
    max_tokens = 256

    def prompt(self, filled: FilledContext, prompts: SwapPrompts) -> str:
        return fill(prompts.ner.prompt, text=filled.text, type=prompts.type_words(filled.context.entity_type))

    def schema(self, prompts: SwapPrompts) -> dict[str, Any]:  # noqa: ARG002
        return answer_schema(self.key, {"type": "array", "items": {"type": "string"}, "maxItems": MOST_NAMES})

    def wording(self, prompts: SwapPrompts) -> Any:
        return prompts.ner.model_dump(), dict(prompts.types)

    def asked(self, prompts: SwapPrompts) -> dict[str, str]:
        return {"prompt": prompts.ner.prompt}

    def judge(self, raw: str, filled: FilledContext, prompts: SwapPrompts, own: ComparisonWords) -> JudgedAnswer:  # noqa: ARG002
        names = json_value(raw, self.key)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise AnswerError("the answer has no list of names")
        if len(names) >= MOST_NAMES:
            raise AnswerError(f"the answer goes on for ever: {len(names)} names")
        return judge_names([name.strip() for name in names if name.strip()], filled, own)


def judge_names(names: Iterable[str], filled: FilledContext, own: ComparisonWords) -> JudgedAnswer:
    """What names without places are worth: each stands wherever the text has it; one that it lacks is a false one."""
    spans: set[Span] = set()
    invented = set()
    for name in names:
        found = {(place.start(), place.end()) for place in re.finditer(re.escape(name), filled.text)}
        spans |= found
        invented |= set() if found else {name}
    judged = judge_spans([_bare(span, filled, own) for span in spans], filled, invented)
    return replace(judged, strict=int(filled.span in spans), strict_predicted=len(spans) + len(invented))


def judge_spans(spans: Iterable[Span], filled: FilledContext, invented: Iterable[str] = ()) -> JudgedAnswer:
    """What spans of the text are worth, with names that the text does not hold."""
    each, beside = sorted(set(spans)), sorted(set(invented))
    start, end = filled.span
    elsewhere = sum(stop <= start or begin >= end for begin, stop in each) + len(beside)
    named = [filled.text[begin:stop] for begin, stop in each] + beside
    found = int((start, end) in each)
    return JudgedAnswer("\n".join(named), found, len(named), elsewhere, found, len(named))


def _bare(span: Span, filled: FilledContext, own: ComparisonWords) -> Span:
    """The entity's span if `span` adds only a title before it or an honorific after it; else `span` unchanged."""
    (begin, stop), (start, end) = span, filled.span
    beside = ((filled.text[begin:start], own.titles), (filled.text[end:stop], own.honorifics))
    bare = all(word.strip().casefold() in ("", *map(str.casefold, words)) for word, words in beside)
    return filled.span if bare and begin <= start < end <= stop else span


def normalise(text: str, own: ComparisonWords) -> str:
    """`text` normalised for the exact match; empty if it holds only punctuation.

    The form is `ANSWERS`, without the articles of the language: SQuAD's rules (Rajpurkar et al. 2016) as MLQA has them
    for other languages (Lewis et al. 2020), the Arabic article, which is written together with its word, among them.
    All spaces are removed in languages without spaces between words.
    """
    kept = (word for word in fold(text, ANSWERS).split() if word not in own.articles)
    return (" " if own.spaces else "").join(_without_prefix(word, own.prefixes) for word in kept)


def same(one: str, other: str, own: ComparisonWords) -> bool:
    """Are the two the same answer? Two empty ones are none."""
    left = normalise(one, own)
    return left != "" and left == normalise(other, own)


class QuestionAnswering:
    """Asks for the entity in words of the text: is one of one culture found as well as one of another?

    Naous and Xu 2025 (CAMeL-2), Naous et al. 2025 (Camellia): the answer is the entity in the gap, the score its exact
    match after normalisation. The published contexts have no questions of their own. A title or an honorific that is
    copied with the name makes it no other answer, as in `NameTagging`.
    """

    name, key = "qa", "answer"
    max_tokens = 64

    def prompt(self, filled: FilledContext, prompts: SwapPrompts) -> str:
        kind = prompts.type_words(filled.context.entity_type)
        question = filled.context.question or fill(prompts.qa.question, type=kind)
        return fill(prompts.qa.prompt, text=filled.text, question=question, type=kind)

    def schema(self, prompts: SwapPrompts) -> dict[str, Any]:  # noqa: ARG002
        return answer_schema(self.key, {"type": "string"})

    def wording(self, prompts: SwapPrompts) -> Any:
        return prompts.qa.model_dump(exclude_defaults=True), dict(prompts.types)

    def asked(self, prompts: SwapPrompts) -> dict[str, str]:
        return {"prompt": prompts.qa.prompt, "question": prompts.qa.question}

    def judge(self, raw: str, filled: FilledContext, prompts: SwapPrompts, own: ComparisonWords) -> JudgedAnswer:
        said, gold = words(raw, self.key), filled.entity.surface
        of_prompt = prompts.words_of(prompts.language)
        nothing = prompts.qa.none is not None and said != gold and same(said, prompts.qa.none, of_prompt)
        answer = "" if nothing else said
        right = bool(same(answer, gold, own) or (answer and judge_names([answer], filled, own).matched))
        return JudgedAnswer(answer, int(right), strict=int(answer == gold))


def _without_prefix(word: str, prefixes: tuple[str, ...]) -> str:
    prefix = next((prefix for prefix in prefixes if word.startswith(prefix) and len(word) > len(prefix)), "")
    return word[len(prefix) :]


Task = Sentiment | QuestionAnswering | NameTagging
TASKS: Mapping[str, Task] = {task.name: task for task in (Sentiment(), QuestionAnswering(), NameTagging())}
