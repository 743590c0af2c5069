"""Embeddings as an instrument: `polyculture probe embeddings`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polyculture.instruments.contract import Command
from polyculture.instruments.declared import Instrument
from polyculture.instruments.embeddings.layout import REPRESENTATIONS
from polyculture.instruments.embeddings.options import EmbeddingsOptions

EMBEDDINGS = Instrument(
    EmbeddingsOptions, "polyculture probe embeddings exp.toml --language ja --type food", answers=REPRESENTATIONS
)
COMMANDS: Mapping[str, Command[Any]] = {"embeddings": EMBEDDINGS}
