"""A question as a model reads it, the job that it belongs to, and their identities.

The model reads the options in an order, under labels, in a prompt's template.

A request is what is sent and decides the answer: model, setup, decoding, text. An answer is one sample of a request, to
one question under one prompt with its options in one order. Where only what the files say of a question has changed
(roles, right options), its answers are taken over: the request is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.cache.store.manifest import CurrentId
from polyculture.cache.store.run_folder import Job
from polyculture.generate.engines.base import Decoding, Message, ScoreRequest
from polyculture.generate.engines.patching import AttentionRequest
from polyculture.generate.request import as_sent, request_id
from polyculture.generate.sampling import SamplingSettings
from polyculture.instruments.datasets.model import MASK
from polyculture.instruments.model_job import AskedAnswer, ModelJob
from polyculture.instruments.questions.layout import ASK_METHODS, ATTENTION, QuestionRow, WantedAnswer
from polyculture.instruments.questions.model import UNKNOWN, PromptTemplate, Question, QuestionKind, QuestionSet

WORDING = "prompt"  # the key of its hash in the settings of what is asked
Order = tuple[int, ...]  # the index of the option at each place
Orders = Literal["published", "cyclic", "one"]
SLOT = re.compile(r"\{(\w+)\}")


def orders_of(options: int, orders: Orders, published: Sequence[Order] = ()) -> tuple[Order, ...]:
    """The orders in which so many options are shown.

    'published': those of `published` that are orders of so many options, else as the options stand; 'cyclic': each
    option once at each place; 'one': as they stand.
    """
    stands = tuple(range(options))
    if orders == "published":
        return tuple(order for order in published if len(order) == options) or (stands,)
    if orders == "cyclic":
        return tuple(stands[first:] + stands[:first] for first in stands) or (stands,)
    return (stands,)


def shown_options(question: Question, order: Order, prompt: PromptTemplate | None) -> tuple[str, ...]:
    """The text at each place: the prompt's own wording where the option's role is 'unknown' and it has one."""
    own = prompt.unknown if prompt else None
    return tuple(own if own and question.roles[index] == UNKNOWN else question.options[index] for index in order)


def labels_of(question: Question, prompt: PromptTemplate) -> tuple[str, ...]:
    """The label of each place; none of an open question, and where a prompt shows none.

    Raises `DataSetError` where a prompt has too few.
    """
    if prompt.labels and len(prompt.labels) < len(question.options):
        what = f"question {question.name}: {len(question.options)} options, and prompt {prompt.name!r} has "
        remedy = "Give the prompt as many labels."
        raise DataSetError(f"{what}{len(prompt.labels)} labels", where=question.place.file, remedy=remedy)
    return prompt.labels[: len(question.options)]


def message(question: Question, prompt: PromptTemplate, shown: Sequence[str], labels: Sequence[str]) -> str:
    """The whole text that a model reads. A line with the slot of a context that is empty is left out.

    Slots are filled in one pass: what looks like a slot in a question's own words stays as it is.
    """
    options = "\n".join(_lines(prompt, shown, labels))
    return _filled(_template(question, prompt), {**_slots(question), "options": options})


def option_spans(
    question: Question, prompt: PromptTemplate, shown: Sequence[str], labels: Sequence[str]
) -> tuple[tuple[int, int], ...]:
    """Where the text of each option stands in the message: its first character, and the one behind its last."""
    head = _template(question, prompt).partition("{options}")[0]
    at, found = len(_filled(head, _slots(question))), []
    for line, label, text in zip(_lines(prompt, shown, labels), labels or [""] * len(shown), shown, strict=True):
        start = at + len(_filled(prompt.option.partition("{option}")[0], {"label": label}))
        found.append((start, start + len(text)))
        at += len(line) + 1
    return tuple(found)


def _template(question: Question, prompt: PromptTemplate) -> str:
    lines = prompt.template.split("\n")
    return "\n".join(line for line in lines if question.context or "{context}" not in line)


def _slots(question: Question) -> dict[str, str]:
    return {"context": question.context, "question": question.text}


def _lines(prompt: PromptTemplate, shown: Sequence[str], labels: Sequence[str]) -> list[str]:
    """The line of each option; where no labels are shown their slot is empty."""
    return [
        _filled(prompt.option, {"label": label, "option": text})
        for label, text in zip(labels or [""] * len(shown), shown, strict=True)
    ]


def _filled(template: str, slots: Mapping[str, str]) -> str:
    return SLOT.sub(lambda slot: slots.get(slot[1], slot[0]), template)


# How a question is asked: the model writes, or the likelihood is compared of labels, option texts, whole sentences, or
# candidates in a gap; or the attention to option texts is read, before anything is written.
Method = Literal["generated", "letter", "text", "sentence", "gap", "attention"]
GENERATED: Method = "generated"
METHODS: Mapping[QuestionKind, tuple[Method, ...]] = {  # of each kind of question; the first is the default
    "choice": (GENERATED, "letter", "text", ATTENTION),
    "pair": ("sentence",),
    "gap": ("gap",),
    "open": (GENERATED,),
}
# Questions of which all first orders are asked before the second ones: an engine then still holds their beginning.
BLOCK = 16


def question_rows(of: QuestionSet) -> Iterator[QuestionRow]:
    """The rows of `questions` that the questions of a set become."""
    for q in of.questions:
        yield QuestionRow(
            q.question_id, q.set, q.language, q.kind, q.name, q.unit, q.context, q.text, list(q.options), list(q.roles),
            list(q.right), list(q.answers), list(q.weights), dict(q.facets), list(of.numbers),
        )  # fmt: skip


def wording_id(prompt: PromptTemplate) -> str:
    """A hash of what a prompt shows around a question."""
    return content_id(_wording(prompt))


def _wording(prompt: PromptTemplate | None) -> Any:
    return None if prompt is None else (prompt.template, prompt.labels, prompt.option, prompt.unknown)


def topic_of(question: Question, method: Method) -> str:
    """The set, the category or topic of a question, and the method where the model writes nothing: its job."""
    named = question.facets.get("category") or question.facets.get("topic") or ""
    return "-".join(filter(None, (question.set, named.lower(), "" if method == GENERATED else method)))


@dataclass(frozen=True, slots=True)
class Ask(AskedAnswer):
    """A sample of a question under a prompt, with its options in one order."""

    question: Question
    prompt: str  # its name; empty of sentences and gaps, which have none
    asked_id: str  # as in `wanted_answers`
    order: Order
    labels: tuple[str, ...]
    shown: tuple[str, ...]
    text: str  # what the model reads, or what is before the candidates
    group: str  # the same of messages that begin alike
    sample: int
    seed: int

    @property
    def question_id(self) -> str:
        return self.question.question_id


@dataclass(frozen=True)
class AskJob(ModelJob[Ask]):
    """The questions of one category and language of a set to one model, by one method."""

    requested = WantedAnswer
    job: Job
    method: Method
    questions: Sequence[Question]
    prompts: Sequence[PromptTemplate | None]  # of the language; None of sentences and gaps
    orders: Orders = "published"
    published: Sequence[Order] = ()  # the set's own orders
    setup: Mapping[str, Any] = field(default_factory=dict)
    sampling: SamplingSettings = field(default_factory=SamplingSettings)

    @property
    def use(self) -> str:
        """What the model is used for: its setup depends on it."""
        return ASK_METHODS[self.method].use

    @cached_property
    def decoding(self) -> Decoding | None:
        """None where the model writes nothing."""
        return self.sampling.decoding if self.method == GENERATED else None

    @property
    def n(self) -> int:
        """How many samples of each request are asked."""
        return self.sampling.n if self.method == GENERATED else 1

    @property
    def size(self) -> int:
        several = sum(len(self._orders(question)) for question in self.questions)
        return several * len(self.prompts) * self.n

    @cached_property
    def _decided(self) -> tuple[dict[str, Any] | None, int | None]:
        """Decoding and seed of the model's requests: null where its server is not sent them."""
        return self._decided_for(self.setup)

    def _decided_for(self, setup: Mapping[str, Any]) -> tuple[dict[str, Any] | None, int | None]:
        """Decoding and seed for ids, without what is not sent; at temperature 0 a seed decides nothing."""
        if self.decoding is None:
            return None, None
        return as_sent(self.decoding, self.sampling.seed if self.decoding.temperature > 0 else None, setup)

    def ids(self) -> Iterator[CurrentId]:
        what = " ".join((self.questions[0].set, self.job.language, self.method))
        for prompt in self.prompts:
            name, settings = prompt.name if prompt else "", self.settings(prompt)
            yield CurrentId(what=what, prompt=name, id=self.asked_id(prompt), settings=settings)

    def asked_id(self, prompt: PromptTemplate | None) -> str:
        """A hash of a prompt's wording and of how it is asked: answers under another one do not count.

        It is that of all models; what one of them is not sent is in its setup.
        """
        return content_id("asked", self.method, _wording(prompt), *self._decided_for({}))

    @cached_property
    def _asked_ids(self) -> dict[str, str]:
        """Those of the prompts, by their names."""
        return {prompt.name if prompt else "": self.asked_id(prompt) for prompt in self.prompts}

    def settings(self, prompt: PromptTemplate | None) -> dict[str, Any]:
        """What `asked_id` is made of, to say what has changed of it."""
        decoding, seed = self._decided_for({})
        found = {WORDING: wording_id(prompt) if prompt else None, **(decoding or {}), "seed": seed}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def prompt_count(self) -> int:
        return self.size // self.n

    def places(self, item: Ask) -> tuple[Any, ...]:
        """With the decoding, where the model writes."""
        return *super().places(item), self.decoding

    def asks(self) -> Iterator[Ask]:
        """Every question, prompt by prompt and order by order, in blocks; the first order of all of a block first."""
        for start in range(0, len(self.questions), BLOCK):
            some = [(question, self._orders(question)) for question in self.questions[start : start + BLOCK]]
            for prompt in self.prompts:
                for place in range(max(len(orders) for _, orders in some)):
                    for question, orders in some:
                        if place < len(orders):
                            yield from self._samples(question, prompt, orders[place])

    def scored(self, ask: Ask) -> ScoreRequest:
        """What is scored of a question: its candidates where it asks for them."""
        if self.method == "sentence":
            return ScoreRequest(ask.answer_id, "", ask.shown, one_by_one=True)
        if self.method == "gap":
            return ScoreRequest(ask.answer_id, ask.text, ask.shown, ask.question.text.partition(MASK)[2], to_end=True)
        return ScoreRequest(ask.answer_id, f"{ask.text} ", ask.labels if self.method == "letter" else ask.shown)

    def attended(self, ask: Ask) -> AttentionRequest:
        """The message, and where the options stand in it."""
        prompt = next(one for one in self.prompts if one is not None and one.name == ask.prompt)
        spans = option_spans(ask.question, prompt, ask.shown, ask.labels)
        return AttentionRequest(ask.answer_id, (Message("user", ask.text),), spans)

    def _orders(self, question: Question) -> tuple[Order, ...]:
        if question.kind == "choice":
            return orders_of(len(question.options), self.orders, self.published)
        return (tuple(range(len(question.options))),)

    def _samples(self, question: Question, prompt: PromptTemplate | None, order: Order) -> Iterator[Ask]:
        shown = shown_options(question, order, prompt)
        labels = labels_of(question, prompt) if prompt else ()
        text = message(question, prompt, shown, labels) if prompt else question.text.partition(MASK)[0]
        content: Any = [["user", text]]
        if self.method != GENERATED:
            content = [self.method, text, "" if prompt else question.text, labels, shown]
        request = request_id(self.use, self.job.model, self.setup, content, *self._decided)
        name, made = prompt.name if prompt else "", question.question_id
        seed = self.sampling.base_seed(text)
        for sample in range(self.n):
            key = content_id(request, made, name, order, sample)
            yield Ask(
                key, request, question, name, self._asked_ids[name], order, labels, shown, text, f"{name} {made}",
                sample, seed + sample,
            )  # fmt: skip
