"""Vocabularies as an instrument: `polyculture probe tokens`. It reads tokenizers and queries no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from polyculture.instruments.contract import Asked, Command, Shown, Study, Validity

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


def study(asked: Asked, options: TokensOptions) -> Study:
    """Counts the shares of languages in vocabularies; lists them, then tokens per entity beside scores."""
    from polyculture.cache.store.parquet import present_rows
    from polyculture.instruments.tokens.layout import WANTED_VOCABULARIES
    from polyculture.instruments.tokens.step import VocabularyStep, wanted_vocabularies

    languages = _languages(asked, options.language, options.characters)
    setups = {model: asked.setup(model, "tokenize") for model in asked.models}
    wanted = wanted_vocabularies(setups, languages, options.characters)
    counted = {"model": list(asked.models), "language": languages, "characters": options.characters}
    return Study(
        (VocabularyStep(wanted),),
        Validity(
            {f"tokenize {model}": setup for model, setup in setups.items()},
            tables=lambda: present_rows(asked.run, WANTED_VOCABULARIES, wanted, ("model", "language", "characters")),
        ),
        shown=(Shown(_VOCABULARIES, counted), *(Shown(_LENGTHS, {"model": model}) for model in asked.models)),
        view="vocabulary_shares",
    )


def _languages(asked: Asked, named: Sequence[str], characters: str) -> list[str]:
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
    return [language for language in named if language not in faults]


COMMANDS: Mapping[str, Command] = {
    "tokens": Command(
        TokensOptions,
        study,
        "polyculture probe tokens exp.toml --language ja --language vi",
        tables=(_VOCABULARIES, _LENGTHS),
        needs=lambda _: ("tokenize",),
    )
}
