"""The step of an instrument that is declared by its row type and its prompts alone (`declared.text_instrument`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from polyculture.cache.identity import content_id
from polyculture.cache.store.layout import Table
from polyculture.cache.store.manifest import setup_id
from polyculture.cache.store.run_folder import Job
from polyculture.cache.work.worker import Load, Work
from polyculture.generate.engines import SAMPLING
from polyculture.generate.engines.base import Completion, Decoding, Request
from polyculture.generate.engines.models import Models
from polyculture.generate.engines.options import SYSTEM
from polyculture.generate.request import as_lists, as_sent, request_id
from polyculture.generate.sampling import chat
from polyculture.instruments.contract import InstrumentPrompt
from polyculture.instruments.model_job import AskedAnswer, ModelJob
from polyculture.instruments.row_step import TextStep, completion_columns

SEED = 1  # of all requests: at temperature 0 it decides nothing


@dataclass(frozen=True, slots=True)
class PromptedAsk(AskedAnswer):
    """A prompt as a model is sent it."""

    prompted: InstrumentPrompt
    request: Request


@dataclass(frozen=True)
class PromptedJob(ModelJob[PromptedAsk]):
    """The prompts of a language and topic."""

    job: Job
    prompts: Sequence[InstrumentPrompt]
    max_tokens: int
    row: Callable[..., Any]  # of what is asked now, as the table's row type
    setup: Mapping[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.prompts)

    @cached_property
    def decoding(self) -> Decoding:
        return Decoding(0.0, 1.0, None, self.max_tokens)

    def asks(self) -> Iterator[PromptedAsk]:
        """A sample of each prompt."""
        sent, _ = as_sent(self.decoding, None, self.setup)
        for prompted in self.prompts:
            messages = chat(prompted.text, self.setup.get(SYSTEM))
            request = request_id("answer", self.job.model, self.setup, as_lists(messages), sent)
            key = content_id(request, dict(prompted.about))
            yield PromptedAsk(key, request, prompted, Request(key, messages, self.decoding, (SEED,)))

    def wanted(self) -> Iterator[Any]:
        """A row for each prompt."""
        for ask in self.asks():
            yield self.row(ask.request_id, self.job.model, setup_id(self.setup), **ask.prompted.about)


def prompted_jobs(prompts: Iterable[InstrumentPrompt], max_tokens: int, row: Callable[..., Any]) -> list[PromptedJob]:
    """A job for each language and topic of the prompts."""
    found: dict[Job, list[InstrumentPrompt]] = {}
    for one in prompts:
        found.setdefault(Job("", one.language, one.topic), []).append(one)
    return [PromptedJob(job, some, max_tokens, row) for job, some in found.items()]


class PromptedStep(TextStep[PromptedAsk, PromptedJob]):
    """Asks prompts, and keeps of each text what `read` makes of it."""

    name = "ask"
    use = "answer"

    def __init__(
        self, table: Table[Any], read: Callable[[str], Mapping[str, Any]], jobs: Sequence[PromptedJob]
    ) -> None:
        super().__init__(jobs)
        self.tables, self._read = (table,), read

    def completions(self, job: Job, asks: Iterator[PromptedAsk], models: Models) -> Iterator[Completion]:
        return models.open(SAMPLING).sample(ask.request for ask in asks)

    def row(self, job: Job, ask: PromptedAsk, said: Completion) -> Any:
        """What came, what it was asked about, and what is read of it."""
        ids = {"answer_id": ask.answer_id, "request_id": ask.request_id}
        place = {"model": job.model, "language": job.language, "topic": job.topic}
        came, read = completion_columns(said), dict[str, Any]()
        if said.text is not None:
            try:
                read = dict(self._read(said.text))
            except Exception as fault:  # noqa: BLE001, the reader is somebody else's: its fault costs no answer
                why = f"the text was not read: {type(fault).__name__}: {fault}"
                came |= {"status": "failed", "error": why, "retryable": False}
        return self.tables[-1].row(**ids, **place, **ask.prompted.about, **came, **read)

    def loads(self, work: Work[PromptedAsk], items: Iterable[PromptedAsk]) -> Iterator[Load]:
        """The text of each prompt, and the tokens that an answer has at most."""
        most = self.asked[work.job].max_tokens
        return (Load(item.prompted.text, most) for item in items)
