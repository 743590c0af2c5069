"""A question as it is asked under a condition, and the row that its answer becomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property

from polyculture.cache.identity import content_id
from polyculture.cache.run_folder import Job
from polyculture.generate.engines.base import Decoding
from polyculture.instruments.choices.asking import Outcome, Scoring, decided
from polyculture.instruments.culture_mcq.asking import Method
from polyculture.instruments.culture_mcq.model import McqQuestion
from polyculture.instruments.culture_mcq.prompts import McqPrompt
from polyculture.instruments.culture_mcq.rows import LANGUAGE, question_id, role_of
from polyculture.instruments.relevance.conditions import Context
from polyculture.instruments.relevance.contexts import shown_id
from polyculture.instruments.relevance.rows import RelevanceAnswerRow
from polyculture.instruments.relevance.wording import ContextWording


@dataclass(frozen=True, slots=True)
class RelevanceAsk:
    """A question under a wording, with something before it or nothing."""

    answer_id: str
    prompt_id: str
    question_id: str
    shown_id: str
    shown: str | None
    question: McqQuestion
    prompt: McqPrompt

    @property
    def choices(self) -> tuple[str, ...]:
        """The options as they are shown."""
        return tuple(option.text for option in self.question.options)

    @property
    def text(self) -> str:
        """The message to the model: as `culture-mcq` asks, with a line before the question."""
        prompt = self.prompt
        if self.shown is not None:
            prompt = replace(prompt, question=f"{self.shown}\n{prompt.question}")
        return prompt.text(self.question.text, self.choices)

    @property
    def group(self) -> None:
        """None: messages differ before the question."""


@dataclass(frozen=True)
class RelevanceJob:
    """The questions of one type to one model under all conditions, by one method."""

    job: Job
    dataset: str
    method: Method
    setup_id: str
    asked: Sequence[tuple[McqQuestion, Sequence[Context]]]
    prompts: Sequence[McqPrompt]
    wording: ContextWording
    decoding: Decoding | None  # None of likelihoods
    seed: int
    unknown: str | None = None  # why nothing can be asked yet: the probe has not read anything

    @cached_property
    def _contexts(self) -> Sequence[tuple[McqQuestion, Mapping[str, Context]]]:
        """What is shown with each question, each thing once, by its id."""
        keyed = [(question, [(shown_id(one), one) for one in some]) for question, some in self.asked]
        return [(question, {key: one for key, one in some if key is not None}) for question, some in keyed]

    @property
    def size(self) -> int:
        return sum(len(some) for _, some in self._contexts) * len(self.prompts)

    def asks(self) -> Iterator[RelevanceAsk]:
        """Every question with everything that is shown before it, under every wording."""
        made = [
            (one, prompt_id(one, self.wording, self.method, self.decoding, self.seed)) for one in self.prompts
        ]  # fmt: skip
        for question, contexts in self._contexts:
            about = question_id(self.dataset, question)
            for key, context in contexts.items():
                for prompt, under in made:
                    answer = content_id(under, self.job.model, self.setup_id, about, key)
                    yield RelevanceAsk(answer, under, about, key, self.wording.text(context), question, prompt)

    def scoring(self, ask: RelevanceAsk) -> Scoring:
        """The options, after the message and after the prompt's last line."""
        return Scoring(f"{ask.text} ", f"{ask.prompt.answer} ", ask.choices)

    def row(self, ask: RelevanceAsk, found: Outcome) -> RelevanceAnswerRow:
        """The row of `relevance_answers` that an answer becomes."""
        question = ask.question
        return RelevanceAnswerRow(
            answer_id=ask.answer_id,
            prompt_id=ask.prompt_id,
            setup_id=self.setup_id,
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
            question_text=question.text,
            prompt=ask.prompt.name,
            shown_id=ask.shown_id,
            shown=ask.shown,
            choices=list(ask.choices),
            right=question.right,
            biased=question.biased,
            scores=found.scores,
            tokens=found.tokens,
            unconditional=found.unconditional,
            role=role_of(found.reading, question.right, question.biased),
            **found.kept,
        )


def prompt_id(prompt: McqPrompt, wording: ContextWording, method: Method, decoding: Decoding | None, seed: int) -> str:
    """A hash of all that decides an answer but model, question and what is shown."""
    return content_id("relevance", method, prompt.wording, asdict(wording), *decided(decoding, seed))
