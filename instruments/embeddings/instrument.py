"""Embeddings as an instrument: `polyculture probe embeddings`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from polyculture.instruments.contract import AskedExperiment, Command
from polyculture.instruments.declared import Inquiry, Instrument
from polyculture.instruments.embeddings.layout import REPRESENTATIONS
from polyculture.instruments.embeddings.options import EmbeddingsOptions

if TYPE_CHECKING:
    from polyculture.instruments.embeddings.step import RepresentingJob


def ask(asked: AskedExperiment, options: EmbeddingsOptions) -> Inquiry[RepresentingJob]:
    """Represents the entities, measures, draws. Raises `DataSetError` without anything to query."""
    from polyculture.instruments.embeddings.study import inquiry

    return inquiry(asked, options)


EMBEDDINGS = Instrument(
    REPRESENTATIONS, EmbeddingsOptions, ask, "polyculture probe embeddings exp.toml --language ja --type food"
)
COMMANDS: Mapping[str, Command] = {"embeddings": EMBEDDINGS.command}
