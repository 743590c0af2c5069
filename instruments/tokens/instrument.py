"""Vocabularies as an instrument: `polyculture probe tokens`. It reads tokenizers and queries no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from polyculture.instruments.contract import AskedExperiment, Command, Shown
from polyculture.instruments.declared import Inquiry, Instrument
from polyculture.instruments.tokens.layout import VOCABULARY_SHARES

if TYPE_CHECKING:
    from polyculture.instruments.tokens.step import VocabularyJob

_OWN = Path(__file__).parent
_VOCABULARIES, _LENGTHS = _OWN / "vocabularies.sql", _OWN / "entity_lengths.sql"


class TokensOptions(BaseModel):
    """Count the tokens of a model's vocabulary that hold a language's own letters.

    What is counted is kept, for the report. Then, where `polyculture cbs` has scored: tokens per entity, native and
    Western, beside the Cultural Bias Score.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    language: Annotated[
        tuple[str, ...],
        Field(description="These languages. Default: those of the catalogue and of Camellia that can be told."),
    ] = ()
    characters: Annotated[
        Literal["letters", "ranges"],
        Field(description="letters: of the language's script; ranges: Camellia's ranges of characters."),
    ] = "letters"


def ask(asked: AskedExperiment, options: TokensOptions) -> Inquiry[VocabularyJob]:
    """Counts the shares of languages in vocabularies; lists them, then tokens per entity beside scores."""
    from polyculture.instruments.tokens.step import VocabularyStep, vocabulary_jobs

    languages = _languages(asked, options.language, options.characters)
    jobs = vocabulary_jobs(languages, options.characters)
    counted = {"model": list(asked.models), "language": languages, "characters": options.characters}
    shown = (Shown(_VOCABULARIES, counted), *(Shown(_LENGTHS, {"model": model}) for model in asked.models))
    return Inquiry(lambda _model: jobs, VocabularyStep, shown=shown)


def _languages(asked: AskedExperiment, named: Sequence[str], characters: str) -> list[str]:
    """Those that are named, or else the usual ones; a line tells of each that cannot be told by how it is written.

    Raises `CatalogError` where that is all of those that were named.
    """
    from polyculture.cache.errors import CatalogError
    from polyculture.instruments.tokens.step import usual_languages, writings_of

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


TOKENS = Instrument(
    VOCABULARY_SHARES,
    TokensOptions,
    ask,
    "polyculture probe tokens exp.toml --language ja --language vi",
    (_VOCABULARIES, _LENGTHS),
)
COMMANDS: Mapping[str, Command] = {"tokens": TOKENS.command}
