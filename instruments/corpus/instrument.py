"""The Cultural Bias Score of a text corpus as an instrument: `polyculture corpus`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polyculture.instruments.cbs.layout import SCORES
from polyculture.instruments.contract import Command
from polyculture.instruments.corpus.options import CorpusOptions
from polyculture.instruments.declared import Instrument

CORPUS = Instrument(
    CorpusOptions,
    "polyculture corpus exp.toml --corpus wiki/*.jsonl.gz --name wikipedia --language ja --type food",
    uses=lambda _options: (),
    answers=SCORES,
)
COMMANDS: Mapping[str, Command[Any]] = {"corpus": CORPUS}
