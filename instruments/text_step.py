"""The step of an instrument that is declared by its row type and its prompts alone (`declared.text_instrument`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from polyculture.cache.identity import content_id
from polyculture.cache.store.layout import Table
from polyculture.cache.store.run_folder import Job
from polyculture.cache.store.schema.asked import Requested
from polyculture.cache.work.worker import Load, Work
from polyculture.generate.engines import SAMPLING
from polyculture.generate.engines.base import Completion, Decoding, Request
from polyculture.generate.engines.models import Models
from polyculture.generate.engines.options import SYSTEM
from polyculture.generate.request import as_lists, as_sent, request_id
from polyculture.generate.sampling import chat
from polyculture.instruments.contract import InstrumentPrompt
from polyculture.instruments.model_job import AskedAnswer, ModelJob
from polyculture.instruments.row_step import TextStep

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
    requested: type[Requested]  # type: ignore[misc]  # of each instrument its own
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

    def places(self, item: PromptedAsk) -> tuple[Any, ...]:
        """The ids, the job and what the prompt asks about. A column of somebody else may be called as anything here."""
        ids = {"answer_id": item.answer_id, "request_id": item.request_id, "setup_id": self.setup_id}
        return (SimpleNamespace(**asdict(self.job) | ids | dict(item.prompted.about)),)


def prompted_jobs(
    prompts: Iterable[InstrumentPrompt], max_tokens: int, requested: type[Requested]
) -> list[PromptedJob]:
    """A job for each language and topic of the prompts."""
    found: dict[Job, list[InstrumentPrompt]] = {}
    for one in prompts:
        found.setdefault(Job("", one.language, one.topic), []).append(one)
    return [PromptedJob(job, some, max_tokens, requested) for job, some in found.items()]


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

    def came(self, said: Completion) -> dict[str, Any]:
        """What is read of the text, too."""
        came = super().came(said)
        if said.text is None:
            return came
        try:
            return came | dict(self._read(said.text))
        except Exception as fault:  # noqa: BLE001, the reader is somebody else's: its fault costs no answer
            why = f"the text was not read: {type(fault).__name__}: {fault}"
            return came | {"status": "failed", "error": why, "retryable": False}

    def loads(self, work: Work[PromptedAsk], items: Iterable[PromptedAsk]) -> Iterator[Load]:
        """The text of each prompt, and the tokens that an answer has at most."""
        most = self.asked[work.job].max_tokens
        return (Load(item.prompted.text, most) for item in items)
