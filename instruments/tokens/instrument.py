"""Vocabularies as an instrument: `polyculture probe tokens`. It reads tokenizers and queries no model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.instruments.contract import AskedExperiment, Command
from polyculture.instruments.declared import Inquiry, Instrument
from polyculture.instruments.tokens.layout import VOCABULARY_SHARES
from polyculture.instruments.tokens.options import TokensOptions

if TYPE_CHECKING:
    from polyculture.instruments.tokens.step import VocabularyJob

_OWN = Path(__file__).parent


def ask(asked: AskedExperiment, options: TokensOptions) -> Inquiry[VocabularyJob]:
    """Counts the shares of languages in vocabularies; lists them, then tokens per entity beside scores."""
    from polyculture.instruments.tokens.study import inquiry

    return inquiry(asked, options)


TOKENS = Instrument(
    VOCABULARY_SHARES,
    TokensOptions,
    ask,
    "polyculture probe tokens exp.toml --language ja --language vi",
    (_OWN / "vocabularies.sql", _OWN / "entity_lengths.sql"),
)
COMMANDS: Mapping[str, Command] = {"tokens": TOKENS.command}
