"""The step that asks the survey: two readers, one for each kind of question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polyculture.cache.layout import Table
from polyculture.instruments.bbq.respondent.asking import SurveyAsk, SurveyJob
from polyculture.instruments.bbq.respondent.reading import SurveyReader
from polyculture.instruments.choices.generation_step import GenerationStep, TextReading


class SurveyStep(GenerationStep[SurveyAsk]):
    """Asks models whom a stereotype is about."""

    def __init__(self, table: Table[Any], jobs: Sequence[SurveyJob]) -> None:
        super().__init__(table, jobs, SurveyReader("ko", several=False))

    def reader_of(self, ask: SurveyAsk) -> TextReading:
        """By the language of the wording and the kind of the question."""
        return SurveyReader(ask.wording.language, ask.several)
