"""A question of the survey as it is asked: one wording, one order of the answers, one model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from polyculture.cache.identity import content_id
from polyculture.cache.run_folder import Job
from polyculture.generate.engines.base import Decoding
from polyculture.instruments.bbq.respondent.questions import Order, SurveyQuestion
from polyculture.instruments.bbq.respondent.reading import CUT_OFF, cut_off
from polyculture.instruments.bbq.respondent.rows import SurveyAnswerRow, places_of
from polyculture.instruments.bbq.respondent.wordings import Wording
from polyculture.instruments.bbq.rows import OUT_OF_CHOICE
from polyculture.instruments.choices.asking import Outcome, blocks, decided, in_turn


@dataclass(frozen=True, slots=True)
class SurveyAsk:
    """A question under a wording, with its answers in one order."""

    answer_id: str
    prompt_id: str
    question: SurveyQuestion
    wording: Wording
    order: Order

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers as they are shown."""
        last = len(self.question.groups) - 1
        return tuple(self.wording.none if place == last else self.question.groups[place] for place in self.order)

    @property
    def several(self) -> bool:
        return self.question.several

    @property
    def text(self) -> str:
        """The message to the model."""
        return self.wording.text(self.question.stereotype, self.choices, several=self.several)

    @property
    def group(self) -> str:
        """The same of all orders of the answers."""
        return f"{self.prompt_id} {self.question.survey_id}"


@dataclass(frozen=True)
class SurveyJob:
    """The questions of one category to one model in one language."""

    job: Job
    setup_id: str
    questions: Sequence[SurveyQuestion]
    wordings: Sequence[Wording]
    orders: int
    decoding: Decoding
    seed: int

    @property
    def size(self) -> int:
        return sum(len(one.orders(self.orders)) for one in self.questions) * len(self.wordings)

    def asks(self) -> Iterator[SurveyAsk]:
        """Every question, wording by wording and order by order, in blocks."""
        made = [(wording, prompt_id(wording, self.decoding, self.seed)) for wording in self.wordings]
        for some in blocks(self.questions):
            for wording, under in made:
                for question, order in in_turn([(one, one.orders(self.orders)) for one in some]):
                    key = content_id(under, self.job.model, self.setup_id, question.survey_id, order)
                    yield SurveyAsk(key, under, question, wording, order)

    def row(self, ask: SurveyAsk, found: Outcome) -> SurveyAnswerRow:
        """The row of `bbq_survey_answers` that an answer becomes."""
        question = ask.question
        if found.status == "ok" and cut_off(found.finish_reason, several=ask.several):
            found = replace(found, reading=OUT_OF_CHOICE, ground=CUT_OFF)
        return SurveyAnswerRow(
            answer_id=ask.answer_id,
            prompt_id=ask.prompt_id,
            setup_id=self.setup_id,
            model=self.job.model,
            language=ask.wording.language,
            category=question.category,
            survey_id=question.survey_id,
            stereotype=question.stereotype,
            several=question.several,
            prompt=ask.wording.name,
            permutation=" ".join(map(str, ask.order)),
            choices=list(ask.choices),
            finish_reason=found.finish_reason,
            places=places_of(found.reading, ask.order),
            **found.kept,
        )


def prompt_id(wording: Wording, decoding: Decoding, seed: int) -> str:
    """A hash of all that decides an answer but model and question."""
    return content_id("bbq survey", wording.decides, *decided(decoding, seed))
