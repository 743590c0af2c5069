"""The step that reads attention: questions in, a weight per option in the store out. The model writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyculture.cache.identity import content_id
from polyculture.cache.layout import Table
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.worker import Done, Kept, Load, Span, Work
from polyculture.generate.engines import ATTENDING, Message
from polyculture.generate.engines.models import MODEL, Models
from polyculture.generate.engines.patching import Attention, AttentionRequest
from polyculture.generate.engines.token_boundary import SPACES
from polyculture.instruments.culture_mcq.asking import GENERATED, Method
from polyculture.instruments.culture_mcq.attention_rows import MCQ_ATTENTION, McqAttentionRow, Measure
from polyculture.instruments.culture_mcq.model import McqQuestion
from polyculture.instruments.culture_mcq.prompts import McqPrompt
from polyculture.instruments.culture_mcq.rows import LANGUAGE, question_id

if TYPE_CHECKING:
    from polyculture.generate.engines.patching import Vector


@dataclass(frozen=True, slots=True)
class AttentionAsk:
    """A question under a wording, with the key of each measure and option."""

    question_id: str
    question: McqQuestion
    prompt: McqPrompt
    asked: tuple[tuple[Measure, str], ...]  # each measure with what it is asked under
    attention_ids: tuple[str, ...]  # of all options of the first measure, then of the next

    @property
    def choices(self) -> tuple[str, ...]:
        """The options as they are shown."""
        return tuple(option.text for option in self.question.options)


@dataclass(frozen=True)
class AttentionJob:
    """The questions of one type of a data set to one model, as one method asks them."""

    job: Job
    dataset: str
    method: Method
    setup_id: str | None
    questions: Sequence[McqQuestion]
    prompts: Sequence[McqPrompt]
    measures: Sequence[Measure]

    @property
    def size(self) -> int:
        """How many weights are read."""
        options = sum(len(question.options) for question in self.questions)
        return options * len(self.prompts) * len(self.measures)

    def asks(self) -> Iterator[AttentionAsk]:
        """Every question under every wording."""
        for question in self.questions:
            about = question_id(self.dataset, question)
            for prompt in self.prompts:
                asked = tuple((measure, asked_id(prompt, self.method, measure)) for measure in self.measures)
                keys = tuple(
                    content_id(under, self.job.model, self.setup_id, about, option)
                    for _, under in asked
                    for option in range(1, len(question.options) + 1)
                )
                yield AttentionAsk(about, question, prompt, asked, keys)

    def request(self, ask: AttentionAsk) -> AttentionRequest:
        """What is read: the message as the method asks it, and where the options stand in it."""
        text, bare = ask.prompt.text(ask.question.text, ask.choices), self.method != GENERATED
        if bare:  # blanks at the end of a context are scored with the option behind it
            text = text.rstrip(SPACES)
        spans = ask.prompt.spans(ask.question.text, ask.choices)
        return AttentionRequest(ask.attention_ids[0], (Message("user", text),), spans, bare, "norm" in self.measures)

    def rows(self, ask: AttentionAsk, found: Attention) -> Iterator[McqAttentionRow]:
        """A row per measure and option."""
        question, keys = ask.question, iter(ask.attention_ids)
        for measure, under in ask.asked:
            arrays = found.norms if measure == "norm" else found.weights
            for place in range(len(question.options)):
                array = arrays[place] if arrays is not None else None
                yield McqAttentionRow(
                    attention_id=next(keys),
                    asked_id=under,
                    setup_id=self.setup_id,
                    measure=measure,
                    answer_method=self.method,
                    model=self.job.model,
                    dataset=self.dataset,
                    language=LANGUAGE,
                    question_type=question.question_type,
                    question_id=ask.question_id,
                    source_id=question.source_id,
                    target=question.target,
                    target_level=question.target_level,
                    target_region=question.target_region,
                    prompt=ask.prompt.name,
                    option=place + 1,
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


def asked_id(prompt: McqPrompt, method: Method, measure: Measure) -> str:
    """A hash of all that decides a weight but model and question."""
    return content_id("culture mcq attention", method, measure, prompt.wording)


class AttentionStep:
    """Reads the attention of models to options. A failure is a row per option, and is not tried again."""

    name = "attend"
    tables: tuple[Table[Any], ...] = (MCQ_ATTENTION,)
    span: Span = "job"

    def __init__(self, jobs: Sequence[AttentionJob]) -> None:
        self._jobs = {one.job: one for one in jobs}

    def works(self) -> Iterator[Work[AttentionAsk]]:
        """A work per job, with a key per option and measure."""
        for job, one in self._jobs.items():
            yield Work(job, {MODEL: job.model}, one.asks, one.size, f"{job.model} {job.topic.replace('-', ' ')}")

    def keys(self, item: AttentionAsk) -> tuple[str, ...]:
        return item.attention_ids

    def adopt(self, run: RunFolder, work: Work[AttentionAsk], missing: Sequence[AttentionAsk]) -> None:
        """Nothing: weights are not shared between runs."""

    def ask(
        self, work: Work[AttentionAsk], items: Iterator[AttentionAsk], models: Models, kept: Kept
    ) -> Iterator[Done]:
        """The rows of a question at a time. Raises `EngineError` where the model does not give its attention."""
        job = self._jobs[work.job]
        waiting: dict[str, AttentionAsk] = {}
        for found in models.open(ATTENDING).attend(_requests(job, items, waiting)):
            yield Done(tuple(job.rows(waiting.pop(found.request_id), found)))

    def load(self, item: AttentionAsk) -> Load:
        """The message, which is read once for all options and measures; nothing is written."""
        return Load(item.prompt.text(item.question.text, item.choices), 0)


def _requests(
    job: AttentionJob, items: Iterator[AttentionAsk], waiting: dict[str, AttentionAsk]
) -> Iterator[AttentionRequest]:
    for ask in items:
        waiting[ask.attention_ids[0]] = ask
        yield job.request(ask)
