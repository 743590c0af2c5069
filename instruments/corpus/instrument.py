"""The Cultural Bias Score of a text corpus as an instrument: `polyculture corpus`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from polyculture.instruments.cbs.layout import SCORES
from polyculture.instruments.contract import AskedExperiment, Command
from polyculture.instruments.corpus.options import CorpusOptions
from polyculture.instruments.declared import Inquiry, Instrument

if TYPE_CHECKING:
    from polyculture.instruments.cbs.step import ScoringJob


def ask(asked: AskedExperiment, options: CorpusOptions) -> Inquiry[ScoringJob]:
    """Counts, scores, links, measures. Raises `DataSetError` without anything to query."""
    from polyculture.instruments.corpus.study import inquiry

    return inquiry(asked, options)


CORPUS = Instrument(
    SCORES,
    CorpusOptions,
    ask,
    "polyculture corpus exp.toml --corpus wiki/*.jsonl.gz --name wikipedia --language ja --type food",
    brings=lambda _options: True,
)
COMMANDS: Mapping[str, Command] = {"corpus": CORPUS.command}
