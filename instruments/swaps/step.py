"""The step that queries swapped entities: contexts and drawn entities in, answers in the store out.

A job is a task, a model, a language, and one type of one native culture of a data set. Its unit of work is one entity
in one context and draw. Where the answer does not depend on the seed, a text that several draws hold is asked once, and
its answer stands in each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from polyculture.cache.identity import content_id
from polyculture.cache.layout import Table
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.worker import Done, Kept, Load, Span, Work
from polyculture.generate.engines.capabilities import SAMPLING
from polyculture.generate.engines.models import MODEL, Models
from polyculture.instruments.swaps.asking import TASKS, Answered, Ask, Asker, PromptAsker, Questions
from polyculture.instruments.swaps.reading import Reader
from polyculture.instruments.swaps.reading_step import Reads, read_stored
from polyculture.instruments.swaps.rows import SWAP_ANSWERS, SwapAnswer
from polyculture.instruments.swaps.selection import SwapJob
from polyculture.instruments.swaps.text import Filled

Pair = tuple[str, str]  # ids of a context and an entity


@dataclass(frozen=True)
class Answerers:
    """Who answers about a task's texts: what their answers are known by, and how they are opened."""

    prompt_ids: Mapping[str, str]  # by language: a hash of all that decides an answer but the text and the model
    repeatable: bool  # the same text gets the same answer whatever the seed
    open: Callable[[SwapJob, Models], Asker]
    prompt: Callable[[SwapJob, Filled], str] | None = None  # what a model reads; None where none is asked in words
    max_tokens: int = 0
    wordings: tuple[str, ...] = ()  # the names of the questions' wordings
    readers: Mapping[str, Reader] = field(default_factory=dict)  # by language; none where labels need no reading

    @property
    def reads(self) -> Mapping[str, Reads]:
        """The answers to read in each language, and their reader."""
        return {language: Reads(self.prompt_ids[language], reader) for language, reader in self.readers.items()}


def prompted(questions: Mapping[str, Questions]) -> Answerers:
    """Language models queried with prompts in the language of the text."""
    any_of = next(iter(questions.values()))

    def prompt(swap: SwapJob, filled: Filled) -> str:
        asked = questions[swap.job.language]
        return asked.task.prompt(filled, asked.prompts)

    return Answerers(
        {language: each.prompt_id for language, each in questions.items()},
        any_of.temperature == 0,
        lambda swap, models: PromptAsker(models.open(SAMPLING), questions[swap.job.language]),
        prompt,
        any_of.decoding.max_tokens,
        tuple(sorted({each.wording for each in questions.values()})),
        {language: each.reader for language, each in questions.items()},
    )


@dataclass(frozen=True, slots=True)
class SwappedText:
    """A text with an entity in its gap, and the draws that hold it, each with the key of its answer."""

    swap: SwapJob
    filled: Filled
    draws: tuple[int, ...]
    keys: tuple[str, ...]

    @property
    def pair(self) -> Pair:
        return self.filled.context.context_id, self.filled.entity.entity_id


class SwapStep:
    """Asks about the texts of jobs. A failure is a row with its reason."""

    tables: tuple[Table[Any], ...] = (SWAP_ANSWERS,)
    span: Span = "job"

    def __init__(
        self,
        task: str,
        jobs: Sequence[SwapJob],
        answerers: Answerers,
        verdicts: Callable[[Job], Mapping[str, str]] = lambda _job: {},
    ) -> None:
        """`verdicts` gives the present reader's results for a job's older answers."""
        self.name = task
        self._jobs, self._answerers, self._verdicts = jobs, answerers, verdicts

    def works(self) -> Iterator[Work[SwappedText]]:
        """A work per job."""
        for swap in self._jobs:
            label = f"{swap.job.model} {swap.job.language} {swap.job.topic.partition('-')[2]}"
            texts, verdicts = partial(self._texts, swap), partial(self._verdicts, swap.job)
            yield Work(swap.job, {MODEL: swap.job.model}, texts, swap.size, label, verdicts)

    def keys(self, item: SwappedText) -> tuple[str, ...]:
        return item.keys

    def adopt(self, run: RunFolder, work: Work[SwappedText], missing: Sequence[SwappedText]) -> None:
        """Nothing: answers are not shared between runs."""

    def ask(self, work: Work[SwappedText], items: Iterator[SwappedText], models: Models, kept: Kept) -> Iterator[Done]:
        """A row per draw. Answers of earlier draws are taken over where the text is the same to whoever answers."""
        missing = list(items)
        swap = missing[0].swap
        if self._answerers.repeatable:
            known = self._known(swap, kept)
            for item in missing:
                if item.pair in known:
                    draws = zip(item.keys, item.draws, strict=True)
                    yield Done(tuple(_again(known[item.pair], key, draw) for key, draw in draws))
            missing = [item for item in missing if item.pair not in known]
        if missing:
            yield from self._answers(swap, missing, models)

    def load(self, item: SwappedText) -> Load | None:
        """The question without the entity, which texts of a context share, and the entity; None without a question."""
        if self._answerers.prompt is None:
            return None
        times = 1 if self._answerers.repeatable else len(item.draws)
        entity = item.filled.entity
        question = self._answerers.prompt(item.swap, Filled(item.filled.context, replace(entity, surface="")))
        return Load(question, self._answerers.max_tokens, times, apart=entity.surface)

    def _answers(self, swap: SwapJob, missing: Sequence[SwappedText], models: Models) -> Iterator[Done]:
        by_key = {key: item for item in missing for key in item.keys}
        asker = self._answerers.open(swap, models)
        for answered in asker.answers(self._asks(missing)):
            row, item = answer_row(swap, asker, answered), by_key[answered.ask.key]
            others = zip(item.keys, item.draws, strict=True) if self._answerers.repeatable else ()
            yield Done((row, *(_again(row, key, draw) for key, draw in others if key != row.answer_id)))

    def _asks(self, missing: Sequence[SwappedText]) -> Iterator[Ask]:
        for item in missing:
            pairs = list(zip(item.keys, item.draws, strict=True))
            for key, draw in pairs[:1] if self._answerers.repeatable else pairs:
                yield Ask(key, item.filled, draw, item.swap.seed + draw)

    def _texts(self, swap: SwapJob) -> Iterator[SwappedText]:
        prompt_id = self._answerers.prompt_ids[swap.job.language]
        for context, drawn in swap.asked:
            for entity, draws in drawn:
                ids = (context.context_id, entity.entity_id)
                keys = tuple(content_id(prompt_id, swap.job.model, swap.setup_id, *ids, draw) for draw in draws)
                filled = Filled(context, entity)
                if self._answerers.repeatable:
                    yield SwappedText(swap, filled, tuple(draws), keys)
                else:
                    for draw, key in zip(draws, keys, strict=True):
                        yield SwappedText(swap, filled, (draw,), (key,))

    def _known(self, swap: SwapJob, kept: Kept) -> dict[Pair, SwapAnswer]:
        """The answers of earlier draws under the present prompt and setup; those that may pass are asked again."""
        under = (self._answerers.prompt_ids[swap.job.language], swap.setup_id)
        rows = (SwapAnswer(**row) for row in kept.read(SWAP_ANSWERS.name).to_pylist())
        mine = (row for row in rows if (row.prompt_id, row.setup_id) == under and not row.retryable)
        reader = self._answerers.readers.get(swap.job.language)
        return {(row.context_id, row.entity_id): _read_by(reader, row) for row in mine}


def _read_by(reader: Reader | None, row: SwapAnswer) -> SwapAnswer:
    """An answer as the present reader reads it."""
    if reader is None or row.raw is None or row.reader_id == reader.reader_id:
        return row
    return replace(row, reader_id=reader.reader_id, **read_stored(reader, row).columns)


def _again(row: SwapAnswer, key: str, draw: int) -> SwapAnswer:
    """An answer copied from another draw, without a query of its own."""
    return replace(row, answer_id=key, draw=draw, prompt_tokens=None, completion_tokens=None, purchase=None)


def answer_row(swap: SwapJob, asker: Asker, answered: Answered) -> SwapAnswer:
    """The row of `swap_answers` that an answer becomes."""
    filled, said, reading = answered.ask.filled, answered.completion, answered.reading
    context, entity = filled.context, filled.entity
    return SwapAnswer(
        answer_id=answered.ask.key,
        prompt_id=asker.prompt_id,
        task=swap.task,
        answer_method=asker.answer_method,
        model=swap.job.model,
        dataset=context.dataset,
        language=context.language,
        culture=context.culture,
        entity_type=context.entity_type,
        setting=context.setting,
        context_id=context.context_id,
        context=context.text,
        entity_id=entity.entity_id,
        entity=entity.surface,
        entity_culture=entity.culture,
        native=entity.culture == context.culture,
        draw=answered.ask.draw,
        seed=answered.ask.seed,
        gold=TASKS[swap.task].gold(filled),
        retryable=said.retryable if reading.judged is None else None,
        raw=said.as_it_came,
        prompt_tokens=said.prompt_tokens,
        completion_tokens=said.completion_tokens,
        model_version=said.model_version,
        purchase=said.purchase,
        setup_id=swap.setup_id,
        reader_id=asker.reader_id if said.text is not None else None,
        note=said.note,
        source_context_id=context.source_context_id,
        wording=asker.wording,
        settings=asker.settings,
        **reading.columns,
    )
