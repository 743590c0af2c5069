"""The questions of data sets of BBQ's form as they are at present: their texts, and which answers are about them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyculture.cache.identity import content_id
from polyculture.cache.layout import Table
from polyculture.instruments.bbq.model import Question
from polyculture.instruments.choices.present import present_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.run_folder import RunFolder


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question of a data set, with its choices in the data set's order."""

    question_id: str  # hash of data set, sample, texts, choices, and what each choice means
    dataset: str  # 'kobbq' its evaluation set, 'kobbq-all' all of its templates expanded
    language: str
    sample_id: str
    template_id: str
    category: str
    label: str | None  # where the template is from: NC, ST, TM of KoBBQ
    stereotype: str | None
    context: str  # 'ambiguous' | 'biased' | 'counter-biased' | 'disambiguated': who is meant is not known
    polarity: str  # 'biased' | 'counter-biased'
    context_text: str
    question_text: str
    choices: list[str]
    right: int  # index of the right choice
    biased: int | None  # index of the choice that the stereotype expects; None where that is not known
    unknown: int  # index of 'unknown'


BBQ_QUESTIONS = Table("bbq_questions", QuestionRow)


def question_id(dataset: str, question: Question) -> str:
    """A hash of all that makes a question and the meaning of its choices."""
    return content_id(
        "bbq question", dataset, question.sample_id, question.template_id, question.context, question.polarity,
        question.context_text, question.question_text, question.choices, question.right, question.biased,
        question.unknown,
    )  # fmt: skip


def present_questions(
    run: RunFolder, dataset: str, language: str, questions: Iterable[Question]
) -> dict[Table[Any], pa.Table]:
    """The table to write so that these are the run's questions of `dataset`; none where they are already.

    Other data sets of the run stay.
    """
    return present_rows(run, BBQ_QUESTIONS, (_row(dataset, language, question) for question in questions), dataset)


def _row(dataset: str, language: str, question: Question) -> QuestionRow:
    return QuestionRow(
        question_id=question_id(dataset, question),
        dataset=dataset,
        language=language,
        sample_id=question.sample_id,
        template_id=question.template_id,
        category=question.category.lower(),
        label=question.label,
        stereotype=question.stereotype,
        context=question.context.value,
        polarity=question.polarity.value,
        context_text=question.context_text,
        question_text=question.question_text,
        choices=list(question.choices),
        right=question.right,
        biased=question.biased,
        unknown=question.unknown,
    )
