"""Vocabularies as an instrument: `polyculture probe tokens`. It reads tokenizers and queries no model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polyculture.instruments.contract import Command
from polyculture.instruments.declared import Instrument
from polyculture.instruments.tokens.layout import VOCABULARY_SHARES
from polyculture.instruments.tokens.options import TokensOptions

_OWN = Path(__file__).parent


TOKENS = Instrument(
    TokensOptions,
    "polyculture probe tokens exp.toml --language ja --language vi",
    (_OWN / "vocabularies.sql", _OWN / "entity_lengths.sql"),
    answers=VOCABULARY_SHARES,
)
COMMANDS: Mapping[str, Command[Any]] = {"tokens": TOKENS}
