"""A question as it is asked: one wording, one model; and the row that its answer becomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from polyculture.cache.identity import content_id
from polyculture.cache.run_folder import Job
from polyculture.generate.engines.base import Decoding
from polyculture.instruments.choices.asking import Outcome, Scoring, decided
from polyculture.instruments.culture_mcq.model import McqQuestion
from polyculture.instruments.culture_mcq.prompts import McqPrompt
from polyculture.instruments.culture_mcq.rows import LANGUAGE, McqAnswerRow, question_id, role_of

Method = Literal["generated", "text"]
GENERATED: Method = "generated"


@dataclass(frozen=True, slots=True)
class McqAsk:
    """A question under a wording."""

    answer_id: str
    prompt_id: str
    question_id: str
    question: McqQuestion
    prompt: McqPrompt

    @property
    def choices(self) -> tuple[str, ...]:
        """The options as they are shown."""
        return tuple(option.text for option in self.question.options)

    @property
    def text(self) -> str:
        """The message to the model."""
        return self.prompt.text(self.question.text, self.choices)

    @property
    def group(self) -> None:
        """None: every question is asked in one order."""


@dataclass(frozen=True)
class McqJob:
    """The questions of one type of a data set to one model, by one method."""

    job: Job
    dataset: str
    method: Method
    setup_id: str
    questions: Sequence[McqQuestion]
    prompts: Sequence[McqPrompt]
    decoding: Decoding | None  # None of likelihoods
    seed: int

    @property
    def size(self) -> int:
        return len(self.questions) * len(self.prompts)

    def asks(self) -> Iterator[McqAsk]:
        """Every question under every wording."""
        made = [(prompt, prompt_id(prompt, self.method, self.decoding, self.seed)) for prompt in self.prompts]
        for question in self.questions:
            about = question_id(self.dataset, question)
            for prompt, under in made:
                key = content_id(under, self.job.model, self.setup_id, about)
                yield McqAsk(key, under, about, question, prompt)

    def scoring(self, ask: McqAsk) -> Scoring:
        """The options, after the question and after the prompt's last line."""
        return Scoring(f"{ask.text} ", f"{ask.prompt.answer} ", ask.choices)

    def row(self, ask: McqAsk, found: Outcome) -> McqAnswerRow:
        """The row of `culture_mcq_answers` that an answer becomes."""
        question = ask.question
        return McqAnswerRow(
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
            prompt=ask.prompt.name,
            choices=list(ask.choices),
            right=question.right,
            biased=question.biased,
            scores=found.scores,
            tokens=found.tokens,
            unconditional=found.unconditional,
            role=role_of(found.reading, question.right, question.biased),
            **found.kept,
        )


def prompt_id(prompt: McqPrompt, method: Method, decoding: Decoding | None, seed: int) -> str:
    """A hash of all that decides an answer but model and question."""
    return content_id("culture mcq", method, prompt.wording, *decided(decoding, seed))
