"""The step that reads attention: questions in, a weight per option in the store out. The model writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyculture.cache.identity import content_id
from polyculture.cache.work.worker import Done, Kept, Load, Step, Work
from polyculture.generate.engines import ATTENDING, Message
from polyculture.generate.engines.models import MODEL, Models
from polyculture.generate.engines.patching import Attention, AttentionRequest
from polyculture.generate.request import request_id
from polyculture.instruments.probe.attention.layout import ATTENTION, AttentionRow, WantedAttention
from polyculture.instruments.questions.asking import Ask, AskJob, option_spans
from polyculture.instruments.questions.model import Prompt

if TYPE_CHECKING:
    from polyculture.generate.engines.patching import Vector


@dataclass(frozen=True, slots=True)
class AttentionAsk:
    """A question under a prompt, what is read of it, and the key of each option."""

    ask: Ask
    request_id: str
    read: AttentionRequest
    keys: tuple[str, ...]


@dataclass(frozen=True)
class AttentionJob:
    """The questions of a job, with their options as they stand, as a method asks them."""

    asked: AskJob  # its setup is that of the model whose attention is read

    @property
    def size(self) -> int:
        """How many weights are read."""
        return sum(len(question.options) for question in self.asked.questions) * len(self.asked.prompts)

    def asks(self) -> Iterator[AttentionAsk]:
        """Every question under every prompt: the message as the method asks it, and where the options stand in it."""
        prompts = {prompt.name: prompt for prompt in self.asked.prompts if prompt is not None}
        for ask in self.asked.asks():
            spans = option_spans(ask.question, prompts[ask.prompt], ask.shown, ask.labels)
            request = request_id("attend", self.asked.job.model, self.asked.setup, [ask.text, spans])
            key = f"{request} {ask.question_id} {ask.prompt}"
            read = AttentionRequest(key, (Message("user", ask.text),), spans)
            keys = tuple(content_id(key, place) for place in range(len(ask.shown)))
            yield AttentionAsk(ask, request, read, keys)

    def asked_id(self, prompt: Prompt | None) -> str:
        """A hash of a prompt's wording: weights under another one do not count."""
        return content_id("attention", prompt and [prompt.template, prompt.labels, prompt.option,
                                                                      prompt.unknown])  # fmt: skip

    def wanted(self) -> Iterator[WantedAttention]:
        """What is read: a row a question and prompt."""
        asked = {prompt.name: self.asked_id(prompt) for prompt in self.asked.prompts if prompt is not None}
        for item in self.asks():
            ask = item.ask
            yield WantedAttention(
                item.request_id,
                self.asked.job.model,
                self.asked.setup_id,
                ask.question_id,
                ask.prompt,
                asked[ask.prompt],
            )

    def rows(self, item: AttentionAsk, found: Attention) -> Iterator[AttentionRow]:
        """A row per option."""
        ask, job = item.ask, self.asked.job
        for place, key in enumerate(item.keys):
            array = found.weights[place] if found.weights is not None else None
            yield AttentionRow(
                attention_id=key,
                request_id=item.request_id,
                model=job.model,
                language=job.language,
                topic=job.topic,
                question_id=ask.question_id,
                prompt=ask.prompt,
                option=place,
                weight=None if array is None else contribution(array),
                tokens=None if array is None else array.shape[1],
                layers=None if array is None else array.shape[0],
                status="failed" if array is None else "ok",
                error=found.error,
                retryable=None if array is not None else False,
                model_version=found.model_version,
            )


def contribution(attention: Vector) -> float:
    """The attention to an option, of attention [layers, tokens]: the mean over layers, the largest of its tokens."""
    return float(attention.mean(axis=0).max())


class AttentionStep(Step[AttentionAsk, Models]):
    """Reads the attention of models to options. A failure is a row per option, and is not tried again."""

    name = "attend"
    use = "attend"
    tables = (ATTENTION,)

    def __init__(self, jobs: Sequence[AttentionJob]) -> None:
        self._jobs = {one.asked.job: one for one in jobs}

    def works(self) -> Iterator[Work[AttentionAsk]]:
        """A work per job, with a key per option."""
        for job, one in self._jobs.items():
            name, prompts = f"{job.model} {job.language} {job.topic}", len(one.asked.questions) * len(one.asked.prompts)
            yield Work(job, {MODEL: job.model}, one.asks, one.size, name, prompts=prompts)

    def keys(self, item: AttentionAsk) -> tuple[str, ...]:
        return item.keys

    def ask(
        self, work: Work[AttentionAsk], items: Iterator[AttentionAsk], models: Models, kept: Kept
    ) -> Iterator[Done]:
        """The rows of a question at a time. Raises `EngineError` where the model does not give its attention."""
        job = self._jobs[work.job]
        waiting: dict[str, AttentionAsk] = {}
        for found in models.open(ATTENDING).attend(_requests(items, waiting)):
            yield Done(tuple(job.rows(waiting.pop(found.request_id), found)))

    def loads(self, work: Work[AttentionAsk], items: Iterable[AttentionAsk]) -> Iterator[Load]:
        """The message, which is read once for all options; nothing is written."""
        return (Load(item.ask.text, 0) for item in items)


def _requests(items: Iterator[AttentionAsk], waiting: dict[str, AttentionAsk]) -> Iterator[AttentionRequest]:
    for item in items:
        waiting[item.read.request_id] = item
        yield item.read
