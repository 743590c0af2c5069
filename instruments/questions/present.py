"""What a run asks of question sets now: its questions, and the requests whose answers count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from polyculture.cache.layout import Table
from polyculture.cache.parquet import present_rows
from polyculture.cache.run_folder import RunFolder
from polyculture.instruments.questions.asking import AskJob, question_row
from polyculture.instruments.questions.model import QuestionSet
from polyculture.instruments.questions.rows import QUESTIONS, WANTED_ANSWERS, WantedAnswer

_KEY = ("request_id", "question_id", "prompt")


def present_tables(
    run: RunFolder, sets: Sequence[QuestionSet], wanted: Iterable[WantedAnswer]
) -> dict[Table[Any], pa.Table]:
    """The tables to write so that the run holds these sets as they are, and what is wanted of them; none that it has.

    Other sets stay, and other languages of these. What was wanted before is still, e.g. after a command that asks fewer
    units: which of it counts, `wanted.sql` says.
    """
    rows = [question_row(question, one.numbers) for one in sets for question in one.questions]
    questions = list({row.question_id: row for row in rows}.values())
    return {
        **present_rows(run, QUESTIONS, questions, ("set", "language")),
        **present_rows(run, WANTED_ANSWERS, list(wanted), _KEY),
    }


def wanted_answers(jobs: Iterable[AskJob]) -> Iterable[WantedAnswer]:
    """What jobs ask: a row a request, question and prompt."""
    for one in jobs:
        decoding = one.decoding
        told = (None, None) if decoding is None else (decoding.temperature, decoding.max_tokens)
        asked = {"" if prompt is None else prompt.name: one.asked_id(prompt) for prompt in one.prompts}
        for ask in one.asks():
            if ask.sample == 0:
                yield WantedAnswer(
                    ask.request_id, ask.question_id, ask.prompt, one.samples, one.job.model, one.use, one.setup_id,
                    asked[ask.prompt], *told,
                )  # fmt: skip
