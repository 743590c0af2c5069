"""What `polyculture probe tokens` can be told."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from polyculture.cache.validation import ClosedModel


class TokensOptions(ClosedModel):
    """Count the tokens of a model's vocabulary that hold a language's own letters.

    What is counted is kept, for the report. Then, where `polyculture cbs` has scored: tokens per entity, native and
    Western, beside the Cultural Bias Score.
    """

    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    language: Annotated[
        tuple[str, ...],
        Field(description="These languages. Default: those of the catalogue and of Camellia that can be told."),
    ] = ()
    characters: Annotated[
        Literal["letters", "ranges"],
        Field(description="letters: of the language's script; ranges: Camellia's ranges of characters."),
    ] = "letters"
