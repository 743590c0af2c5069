"""The work of `polyculture probe tokens`: which languages it counts, and what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from polyculture.cache.errors import CatalogError
from polyculture.instruments.contract import AskedExperiment, PrintedTable
from polyculture.instruments.declared import Inquiry
from polyculture.instruments.tokens.options import TokensOptions
from polyculture.instruments.tokens.step import VocabularyJob, VocabularyStep, vocabulary_jobs
from polyculture.instruments.tokens.writings import usual_languages, writings_of

_OWN = Path(__file__).parent


def inquiry(asked: AskedExperiment, options: TokensOptions) -> Inquiry[VocabularyJob]:
    """Counts the shares of languages in vocabularies; lists them, then tokens per entity beside scores."""
    languages = _languages(asked, options.language, options.characters)
    jobs = vocabulary_jobs(languages, options.characters)
    counted = {"model": list(asked.models), "language": languages, "characters": options.characters}
    shown = (
        PrintedTable(_OWN / "vocabularies.sql", counted),
        *(PrintedTable(_OWN / "entity_lengths.sql", {"model": model}) for model in asked.models),
    )
    return Inquiry(lambda _model: jobs, lambda jobs: [VocabularyStep(jobs)], shown=shown)


def _languages(asked: AskedExperiment, named: Sequence[str], characters: str) -> list[str]:
    """Those that are named, or else the usual ones; a line tells of each that cannot be told by how it is written.

    Raises `CatalogError` where that is all of those that were named.
    """
    if not named:
        return usual_languages(asked.catalog.languages, characters)
    faults: dict[str, CatalogError] = {}
    for language in named:
        try:
            writings_of(language, characters)
        except CatalogError as fault:
            faults[language] = fault
    if len(faults) == len({*named}):
        raise next(iter(faults.values()))
    for language in faults:
        asked.warning(f"{language}: cannot be told from other languages by how it is written; left out")
    return [language for language in dict.fromkeys(named) if language not in faults]
