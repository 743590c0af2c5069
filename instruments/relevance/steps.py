"""The steps that ask under all conditions. Before the probe has read anything there is nothing to compare with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polyculture.cache.errors import DataSetError
from polyculture.cache.worker import Done, Kept, Work
from polyculture.generate.engines.models import Models
from polyculture.instruments.choices.generation_step import GenerationStep
from polyculture.instruments.choices.likelihood_step import LikelihoodStep
from polyculture.instruments.culture_mcq.asking import Method
from polyculture.instruments.culture_mcq.reading import ScoreReader, WordReader
from polyculture.instruments.relevance.asking import RelevanceAsk, RelevanceJob
from polyculture.instruments.relevance.rows import RELEVANCE_ANSWERS

_REMEDY = "Run `polyculture probe` with the same questions first: see docs/relevance.md."


class GeneratedStep(GenerationStep[RelevanceAsk]):
    """Asks models to answer with one of the options."""

    def __init__(self, jobs: Sequence[RelevanceJob]) -> None:
        super().__init__(RELEVANCE_ANSWERS, jobs, WordReader())
        self._unknown = unknown_of(jobs)

    def ask(
        self, work: Work[RelevanceAsk], items: Iterator[RelevanceAsk], models: Models, kept: Kept
    ) -> Iterator[Done]:
        """A row per answer. Raises `DataSetError` where the probe has read nothing of the questions."""
        check_probed(self._unknown.get(work.job.model))
        yield from super().ask(work, items, models, kept)


class ScoredStep(LikelihoodStep[RelevanceAsk]):
    """Scores the options."""

    def __init__(self, method: Method, jobs: Sequence[RelevanceJob]) -> None:
        super().__init__(method, RELEVANCE_ANSWERS, jobs, ScoreReader("sum"))
        self._unknown = unknown_of(jobs)

    def ask(
        self, work: Work[RelevanceAsk], items: Iterator[RelevanceAsk], models: Models, kept: Kept
    ) -> Iterator[Done]:
        """A row per answer. Raises `DataSetError` where the probe has read nothing of the questions."""
        check_probed(self._unknown.get(work.job.model))
        yield from super().ask(work, items, models, kept)


def unknown_of(jobs: Sequence[RelevanceJob]) -> dict[str, str | None]:
    """Why a model cannot be asked yet, by model."""
    return {one.job.model: one.unknown for one in jobs}


def check_probed(unknown: str | None) -> None:
    """Raises `DataSetError` where there is a reason not to ask yet."""
    if unknown is not None:
        raise DataSetError(f"relevance: {unknown}", remedy=_REMEDY)
