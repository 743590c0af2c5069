"""The step that asks by generation: questions in, texts and their readings in the store out.

An answer that names no choice is an answer: only what did not come at all is a failure, a row with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from polyculture.cache.layout import Table
from polyculture.cache.worker import Done, Kept, Load, Work
from polyculture.generate.engines.base import Completion, Decoding, Message, Request
from polyculture.generate.engines.capabilities import SAMPLING
from polyculture.generate.engines.models import Models
from polyculture.instruments.choices.asking import A, ChoiceJob, Outcome, Read
from polyculture.instruments.choices.step import ChoiceStep


class TextReading(Protocol):
    """Reads each answer as it comes."""

    @property
    def name(self) -> str: ...

    @property
    def reader_id(self) -> str: ...

    def read(self, text: str, choices: Sequence[str]) -> Read:
        """The reading of an answer without its reasoning."""
        ...


class GenerationStep(ChoiceStep[A]):
    """Asks models to answer with one of the choices."""

    def __init__(self, table: Table[Any], jobs: Sequence[ChoiceJob[A]], reader: TextReading) -> None:
        super().__init__("ask", table, jobs)
        self._reader = reader

    def ask(self, work: Work[A], items: Iterator[A], models: Models, kept: Kept) -> Iterator[Done]:
        """A row per question, as the answers come."""
        asked = self._jobs[work.job]
        waiting: dict[str, A] = {}
        for said in models.open(SAMPLING).sample(_requests(asked, items, waiting)):
            ask = waiting.pop(said.request_id)
            yield Done((asked.row(ask, self._outcome(ask, said)),))

    def load(self, item: A) -> Load:
        """The message, and the tokens that an answer has at most."""
        decoding = next(iter(self._jobs.values())).decoding
        return Load(item.text, decoding.max_tokens if decoding else 0)

    def _outcome(self, ask: A, said: Completion) -> Outcome:
        paid: dict[str, Any] = {
            "raw": said.as_it_came,
            "prompt_tokens": said.prompt_tokens,
            "completion_tokens": said.completion_tokens,
            "model_version": said.model_version,
            "purchase": said.purchase,
            "note": said.note,
            "finish_reason": said.finish_reason,
        }
        reader = self.reader_of(ask)
        if said.text is None:
            why = said.error or "no answer"
            return Outcome("failed", reader.name, error=why, retryable=said.retryable, **paid)
        read = reader.read(said.text, ask.choices)
        return Outcome("ok", reader.name, reading=read.reading, ground=read.ground, reader_id=reader.reader_id, **paid)

    def reader_of(self, ask: A) -> TextReading:
        """Who reads the answer to a question: the same for all, unless a kind of step knows better."""
        return self._reader


def _requests(asked: ChoiceJob[A], items: Iterator[A], waiting: dict[str, A]) -> Iterator[Request]:
    for ask in items:
        waiting[ask.answer_id] = ask
        decoding = asked.decoding or Decoding()
        yield Request(ask.answer_id, (Message("user", ask.text),), decoding, (asked.seed,), group=ask.group)
