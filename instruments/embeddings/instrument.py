"""Embeddings as an instrument: `polyculture probe embeddings`."""

from __future__ import annotations

from collections.abc import Mapping

from polyculture.instruments.contract import Command
from polyculture.instruments.declared import Instrument
from polyculture.instruments.embeddings.layout import REPRESENTATIONS
from polyculture.instruments.embeddings.options import EmbeddingsOptions

EMBEDDINGS = Instrument(
    REPRESENTATIONS, EmbeddingsOptions, "polyculture probe embeddings exp.toml --language ja --type food"
)
COMMANDS: Mapping[str, Command] = {"embeddings": EMBEDDINGS.command}
