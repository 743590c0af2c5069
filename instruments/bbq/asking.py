"""A question as it is asked: one prompt, one order of the choices, one model; and the row that its answer becomes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from polyculture.cache.identity import content_id
from polyculture.cache.run_folder import Job
from polyculture.generate.engines.base import Decoding
from polyculture.instruments.bbq.model import Question
from polyculture.instruments.bbq.orders import name_of, orders_of, shown_roles
from polyculture.instruments.bbq.prompts import AskingPrompt, Order
from polyculture.instruments.bbq.question_rows import question_id
from polyculture.instruments.bbq.rows import AnswerRow, role_of
from polyculture.instruments.choices.asking import Outcome, Scoring, blocks, decided, in_turn

Method = Literal["generated", "letter", "text"]
GENERATED: Method = "generated"
_POLARITY = re.compile(r"-(?:bsd|cnt)$")


@dataclass(frozen=True, slots=True)
class Ask:
    """A question under a prompt, with its choices in one order."""

    answer_id: str
    prompt_id: str
    question: Question
    prompt: AskingPrompt
    order: Order

    @property
    def choices(self) -> tuple[str, ...]:
        """The choices as they are shown."""
        return self.prompt.shown(self.question, self.order)

    @property
    def text(self) -> str:
        """The message to the model."""
        return self.prompt.text(self.question, self.choices)

    @property
    def group(self) -> str:
        """The same of all orders of the choices: only these differ, at the message's end."""
        return f"{self.prompt_id} {self.question.sample_id}"


@dataclass(frozen=True)
class AskJob:
    """The questions of one category of a data set to one model, by one method."""

    job: Job
    dataset: str
    language: str
    method: Method
    setup_id: str | None
    questions: Sequence[Question]
    prompts: Sequence[AskingPrompt]
    orders: Sequence[Order]
    decoding: Decoding | None  # None of likelihoods
    seed: int = 1

    @property
    def size(self) -> int:
        several = [len(prompt.options) for prompt in self.prompts]
        return sum(len(orders_of(one, self.orders, options)) for one in self.questions for options in several)

    def asks(self) -> Iterator[Ask]:
        """Every question, prompt by prompt and order by order, in blocks."""
        prompt_ids = [prompt_id(prompt, self.method, self.decoding, self.seed) for prompt in self.prompts]
        for some in blocks(self.questions):
            named = [(question, question_id(self.dataset, question)) for question in some]
            for prompt, made in zip(self.prompts, prompt_ids, strict=True):
                orders = [(one, orders_of(one[0], self.orders, len(prompt.options))) for one in named]
                for (question, about), order in in_turn(orders):
                    key = answer_id(made, self.job.model, self.setup_id, about, order)
                    yield Ask(key, made, question, prompt, order)

    def scoring(self, ask: Ask) -> Scoring:
        """The letters or the choices, after the question and after the prompt's last line."""
        continuations = ask.prompt.labels if self.method == "letter" else ask.choices
        return Scoring(f"{ask.text} ", f"{ask.prompt.answer} ", continuations)

    def row(self, ask: Ask, found: Outcome) -> AnswerRow:
        """The row of `bbq_answers` that an answer becomes."""
        return answer_row(self, ask, found)


def prompt_id(prompt: AskingPrompt, method: Method, decoding: Decoding | None, seed: int = 1) -> str:
    """A hash of all that decides an answer but model and question."""
    return content_id("bbq", method, prompt.wording, *decided(decoding, seed))


def answer_id(prompt_id: str, model: str, setup_id: str | None, about: str, order: Order) -> str:
    """The key of an answer; `about` is the question's id. The method is a part of `prompt_id`."""
    return content_id(prompt_id, model, setup_id, about, order)


def pair_id(dataset: str, question: Question) -> str:
    """The same of the biased and the counter-biased question about one context and the same people."""
    stem = _POLARITY.sub("", question.sample_id)
    if stem != question.sample_id:
        return content_id("bbq pair", dataset, stem)
    told = (question.template_id, question.context, question.context_text, sorted(question.choices))
    return content_id("bbq pair", dataset, *told)


def answer_row(asked: AskJob, ask: Ask, found: Outcome) -> AnswerRow:
    """The row of `bbq_answers` that an answer becomes."""
    question, shown = ask.question, shown_roles(ask.question, ask.order)
    return AnswerRow(
        answer_id=ask.answer_id,
        prompt_id=ask.prompt_id,
        setup_id=asked.setup_id,
        answer_method=asked.method,
        model=asked.job.model,
        dataset=asked.dataset,
        language=asked.language,
        category=question.category.lower(),
        label=question.label,
        template_id=question.template_id,
        sample_id=question.sample_id,
        pair_id=pair_id(asked.dataset, question),
        context=question.context.value,
        polarity=question.polarity.value,
        prompt=ask.prompt.name,
        permutation=name_of(ask.order),
        shown=shown,
        scores=found.scores,
        tokens=found.tokens,
        unconditional=found.unconditional,
        role=role_of(found.reading, shown),
        **found.kept,
        question_id=question_id(asked.dataset, question),
        choices=list(ask.choices),
    )
