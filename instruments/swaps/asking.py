"""Query a language model about a text with a prompt, through any engine that generates text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Protocol

import orjson

from polyculture.cache.identity import content_id
from polyculture.generate.engines.base import Completion, Decoding, Message, Request
from polyculture.generate.engines.capabilities import Sampling
from polyculture.instruments.swaps.ner import NameTagging
from polyculture.instruments.swaps.prompts import STANDARD, Prompts, compared_in_ids
from polyculture.instruments.swaps.qa import QuestionAnswering
from polyculture.instruments.swaps.reading import Reader
from polyculture.instruments.swaps.sentiment import Sentiment
from polyculture.instruments.swaps.text import Filled, Reading, Task

# A part of the ids of questions since rules of reading were one, too. It stays: rules are known by the reader's id.
FIXED = 2
PROMPT = "prompt"
TASKS: Mapping[str, Task] = {task.name: task for task in (Sentiment(), QuestionAnswering(), NameTagging())}


@dataclass(frozen=True, slots=True)
class Ask:
    """A text to query, with the number of the first draw that contains it."""

    key: str
    filled: Filled
    draw: int
    seed: int


@dataclass(frozen=True, slots=True)
class Answered:
    """The outcome of a query: the raw answer and its parsed reading."""

    ask: Ask
    completion: Completion
    reading: Reading


class Asker(Protocol):
    """Answers about texts."""

    answer_method: str

    @property
    def prompt_id(self) -> str:
        """A content hash of all that decides an answer but the text and the model."""
        ...

    @property
    def reader_id(self) -> str | None:
        """The id of the answers' reader; None where `prompt_id` already covers their meaning."""
        ...

    @property
    def wording(self) -> str | None:
        """The name of the wording; None where no question is asked."""
        ...

    @property
    def settings(self) -> str | None:
        """What was asked and how, as JSON; None where no question is asked."""
        ...

    @property
    def repeatable(self) -> bool:
        """Whether a text's answer is independent of the seed; if it is, one query suffices."""
        ...

    def answers(self, asks: Iterable[Ask]) -> Iterator[Answered]:
        """Yields one answer per query, as they arrive. A failure is an answer with a reason, not an exception."""
        ...


@dataclass(frozen=True)
class Questions:
    """The questions in one language and their settings, without the model."""

    task: Task
    prompts: Prompts  # in the language of the question
    own: Prompts  # in the language of the text: how its words are compared
    temperature: float = 0.0
    seed: int = 1  # of the draws
    top_p: float = 1.0
    top_k: int | None = None
    limit: int | None = None  # of an answer, in tokens; None: the task's
    constrained: bool = True  # by a JSON schema, where the engine can
    wording: str = STANDARD  # its name, for the record
    named: str | None = None  # what its words call the language of the text, where they do

    @property
    def decoding(self) -> Decoding:
        schema = self.task.schema(self.prompts) if self.constrained else None
        return Decoding(self.temperature, self.top_p, self.top_k, self.limit or self.task.max_tokens, schema)

    @property
    def prompt_id(self) -> str:
        """A hash of task, wording, decoding and seed. The reader's id covers the parsing of answers."""
        wording, compared = self.task.wording(self.prompts), compared_in_ids(self.own)
        return content_id("swap", FIXED, self.task.name, wording, compared, asdict(self.decoding), self.seed)

    @cached_property
    def reader(self) -> Reader:
        """Who reads the answers."""
        return Reader(self.task, self.prompts, self.own)

    @cached_property
    def settings(self) -> str:
        """What was asked and how, as JSON: for the record beside each answer."""
        said = {"ask": self.prompts.language, **self.task.asked(self.prompts), "schema": self.constrained}
        decoding = self.decoding
        limits = {name: getattr(decoding, name) for name in ("temperature", "top_p", "top_k", "max_tokens")}
        named = {"named": self.named} if self.named else {}
        return orjson.dumps({**said, **limits, **named}).decode()


class PromptAsker:
    """Asks a language model by a prompt. An answer that cannot be read is a failure that keeps it as it came."""

    answer_method = PROMPT

    def __init__(self, engine: Sampling, questions: Questions) -> None:
        self._engine, self._questions = engine, questions
        self.prompt_id, self.reader_id = questions.prompt_id, questions.reader.reader_id
        self.repeatable = questions.temperature == 0
        self.wording, self.settings = questions.wording, questions.settings

    def answers(self, asks: Iterable[Ask]) -> Iterator[Answered]:
        waiting: dict[str, Ask] = {}
        for completion in self._engine.sample(self._requests(asks, waiting)):
            yield self._answered(waiting.pop(completion.request_id), completion)

    def _requests(self, asks: Iterable[Ask], waiting: dict[str, Ask]) -> Iterator[Request]:
        task, prompts, decoding = self._questions.task, self._questions.prompts, self._questions.decoding
        for ask in asks:
            waiting[ask.key] = ask
            yield Request(ask.key, (Message("user", task.prompt(ask.filled, prompts)),), decoding, (ask.seed,))

    def _answered(self, ask: Ask, completion: Completion) -> Answered:
        if completion.text is None:
            return Answered(ask, completion, Reading(None, completion.error or "no answer"))
        cut = completion.ending == "cut"
        return Answered(ask, completion, self._questions.reader.read(completion.text, ask.filled, cut=cut))
