"""How the texts of a task are asked about: by prompts to a language model, or by a model that was trained for the task.

What decides an answer is in the id of its request; how it is read, in the reader's. So a corrected parser, or another
file of labels, never pays for an answer again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import orjson

from polyculture.cache.identity import content_id
from polyculture.cache.store.manifest import CurrentId
from polyculture.cache.store.run_folder import Job
from polyculture.cache.work.worker import Load
from polyculture.generate.engines.answer import NO_ANSWER, text_in
from polyculture.generate.engines.base import Completion, Decoding, Message, Request
from polyculture.generate.engines.capabilities import SAMPLING
from polyculture.generate.engines.models import Models
from polyculture.generate.engines.options import SYSTEM
from polyculture.generate.refusals import is_refusal, refusal_rules_id
from polyculture.generate.request import as_lists, as_sent, request_id
from polyculture.generate.sampling import chat
from polyculture.instruments.model_job import AskedAnswer, ModelJob
from polyculture.instruments.swaps.layout import SwapQuestion, WantedSwap
from polyculture.instruments.swaps.prompts import STANDARD, ComparisonWords, SwapPrompts
from polyculture.instruments.swaps.selection import SwapTexts
from polyculture.instruments.swaps.tasks import AnswerError, FilledContext, ReaderResult, Task, spoken

PROMPT = "prompt"
VERSION = 2  # of the rules in the code that decide what an answer is worth: raise it when they change
REFUSED = "refused"
AT_LIMIT = " (it was cut at the token limit)"


@dataclass(frozen=True, slots=True)
class AskedText(AskedAnswer):
    """A text to ask about: once, or once for each draw."""

    filled: FilledContext
    sample: int
    seed: int

    @property
    def context_id(self) -> str:
        return self.filled.context.context_id

    @property
    def entity_id(self) -> str:
        return self.filled.entity.entity_id


class SwapProtocol(Protocol):
    """How texts in one language are asked about, without the model."""

    @property
    def repeatable(self) -> bool:
        """Whether a text's answer is independent of the seed: one serves all draws."""
        ...

    @property
    def question(self) -> SwapQuestion:
        """What decides the answers but model and text, for the record."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the question's id is made of, to say what has changed of it; of words a hash, as `prompt`."""
        ...

    @property
    def reader_id(self) -> str:
        """A hash of everything that determines what an answer is worth."""
        ...

    def read(self, raw: str, filled: FilledContext, *, cut: bool = False) -> ReaderResult:
        """The score of an answer as it came, or the reason why it has none; `cut`: at the token limit."""
        ...

    def request_id(self, model: str, setup: Mapping[str, Any], filled: FilledContext) -> str:
        """The identity of a text as a model is asked about it."""
        ...

    def load(self, filled: FilledContext) -> Load | None:
        """What an answer about a text takes; None where no model of the experiment gives it."""
        ...

    def completions(self, asks: Iterable[AskedText], models: Models) -> Iterator[Completion]:
        """The answers by `answer_id`, as they arrive. A failure is an answer with a reason, not an exception."""
        ...


@dataclass(frozen=True)
class SwapQuestions:
    """The questions in one language and their settings."""

    task: Task
    language: str  # of the texts
    prompts: SwapPrompts
    words: ComparisonWords  # how words of the texts are compared
    temperature: float = 0.0
    seed: int = 1  # of the draws
    top_p: float = 1.0
    top_k: int | None = None
    limit: int | None = None  # of an answer, in tokens; None: the task's
    constrained: bool = True  # by a JSON schema, where the engine can
    wording: str = STANDARD  # its name, for the record
    shared: SwapPrompts | None = None  # by which texts of all languages are asked; None: those of each by its own

    @property
    def repeatable(self) -> bool:
        return self.temperature == 0

    @cached_property
    def decoding(self) -> Decoding:
        schema = self.task.schema(self.prompts) if self.constrained else None
        return Decoding(self.temperature, self.top_p, self.top_k, self.limit or self.task.max_tokens, schema)

    @cached_property
    def reader_id(self) -> str:
        refusals = [refusal_rules_id(language) for language in self._spoken]
        wording = self.task.wording(self.prompts)
        return content_id("swap reader", VERSION, self.task.name, wording, self.words.model_dump(), refusals)

    @cached_property
    def _spoken(self) -> tuple[str, ...]:
        """The languages that an answer may be in: that of the question, and that of the text."""
        return tuple(dict.fromkeys((self.prompts.language, self.language)))

    def read(self, raw: str, filled: FilledContext, *, cut: bool = False) -> ReaderResult:
        """What is said behind the reasoning. An answer that declines is a refusal, whatever its words."""
        answer = text_in(raw)
        if answer is None:
            return ReaderResult(None, NO_ANSWER)
        refused = self._is_refused(spoken(answer))
        try:
            judged = self.task.judge(answer, filled, self.prompts, self.words)
        except AnswerError as fault:
            return ReaderResult(None, f"{fault}{AT_LIMIT if cut else ''}", refused)
        return ReaderResult(None, REFUSED, refused) if refused else ReaderResult(judged, refused=refused)

    def _is_refused(self, answer: str) -> bool | None:
        """Whether an answer declines in a language that it may be in; None where the phrases of one are not known."""
        found = [is_refusal(answer, language) for language in self._spoken]
        return True if True in found else None if None in found else False

    @cached_property
    def question(self) -> SwapQuestion:
        decoding = asdict(self.decoding)
        asked_id = content_id("swap", self.task.name, self.task.wording(self.prompts), decoding, self.seed)
        said = {"ask": self.prompts.language, **self.task.asked(self.prompts), "schema": self.constrained}
        limits = {name: decoding[name] for name in ("temperature", "top_p", "top_k", "max_tokens")}
        shared = self.shared and self.task.wording(self.shared)
        settings_id = content_id(self.wording, shared, self.constrained, limits, self.seed)
        settings = orjson.dumps({**said, **limits, "settings_id": settings_id}).decode()
        return SwapQuestion(asked_id, self.task.name, PROMPT, self.wording, settings, self.seed)

    @property
    def settings(self) -> Mapping[str, Any]:
        wording = content_id(self.task.wording(self.prompts))
        decoding = {name: value for name, value in asdict(self.decoding).items() if name != "schema"}
        return {"prompt": wording, **decoding, "schema": self.constrained, "seed": self.seed}

    def request_id(self, model: str, setup: Mapping[str, Any], filled: FilledContext) -> str:
        decoding, seed = as_sent(self.decoding, None if self.repeatable else self.seed, setup)
        messages = as_lists(chat(self.task.prompt(filled, self.prompts), setup.get(SYSTEM)))
        return request_id("answer", model, setup, messages, decoding, seed)

    def load(self, filled: FilledContext) -> Load:
        """The question without the entity, which texts of a context share, and the entity."""
        question = self.task.prompt(replace(filled, entity=replace(filled.entity, surface="")), self.prompts)
        return Load(question, self.decoding.max_tokens, varying=filled.entity.surface)

    def completions(self, asks: Iterable[AskedText], models: Models) -> Iterator[Completion]:
        yield from models.open(SAMPLING).sample(self._requests(asks))

    def _requests(self, asks: Iterable[AskedText]) -> Iterator[Request]:
        for ask in asks:
            message = Message("user", self.task.prompt(ask.filled, self.prompts))
            yield Request(ask.answer_id, (message,), self.decoding, (ask.seed,))


def place_of(asking: SwapProtocol, language: str) -> str:
    """What is asked in a language: as in `answers.sql`."""
    return f"{asking.question.task} {asking.question.answer_method} {language}"


@dataclass(frozen=True)
class SwapJob(ModelJob[AskedText]):
    """Texts, the model that is asked about them, and how."""

    job: Job
    texts: SwapTexts
    asking: SwapProtocol
    setup: Mapping[str, Any] = field(default_factory=dict)  # of the model, for answers

    def ids(self) -> Iterator[CurrentId]:
        yield CurrentId(
            what=place_of(self.asking, self.job.language),
            id=self.asking.question.asked_id,
            measure=self.asking.question.task,
            settings=self.asking.settings,
        )

    @property
    def size(self) -> int:
        return sum(len(self._samples(draws)) for _, drawn in self.texts.drawn for _, draws in drawn)

    @property
    def prompt_count(self) -> int:
        """How many texts are asked about."""
        return sum(len(drawn) for _, drawn in self.texts.drawn)

    def asks(self) -> Iterator[AskedText]:
        """Every text once, or once for each draw that has it."""
        seed = self.asking.question.seed
        for filled, request, draws in self._filled():
            for sample in self._samples(draws):
                key = content_id(request, filled.context.context_id, filled.entity.entity_id, sample)
                yield AskedText(key, request, filled, sample, seed + sample)

    def wanted(self) -> Iterator[WantedSwap]:
        """What is asked: a row for each draw that has a text."""
        asked_id = self.asking.question.asked_id
        for filled, request, draws in self._filled():
            ids = request, self.job.model, self.setup_id, filled.context.context_id, filled.entity.entity_id
            for draw, times in draws.items():
                sample = 0 if self.asking.repeatable else draw
                yield WantedSwap(*ids, sample, draw, times, asked_id)

    def loads(self) -> Iterator[Load]:
        """What all of it takes: a context's question is read once for each of its texts."""
        for context, drawn in self.texts.drawn:
            entities = [entity for entity, draws in drawn for _ in self._samples(draws)]
            if load := self.asking.load(FilledContext(context, entities[0])):
                yield replace(load, times=len(entities), varying=" ".join(entity.surface for entity in entities))

    def _filled(self) -> Iterator[tuple[FilledContext, str, Mapping[int, int]]]:
        for context, drawn in self.texts.drawn:
            for entity, draws in drawn:
                filled = FilledContext(context, entity)
                yield filled, self.asking.request_id(self.job.model, self.setup, filled), draws

    def _samples(self, draws: Mapping[int, int]) -> Collection[int]:
        """The samples of a text that these draws have."""
        return (0,) if self.asking.repeatable else draws
