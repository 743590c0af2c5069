"""Swapped entities as an instrument: `polyculture swap sentiment`, `qa` and `ner`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.instruments.contract import Command, Demo
from polyculture.instruments.declared import Instrument
from polyculture.instruments.swaps.layout import COUNTS, RATES, SWAP_RESPONSES
from polyculture.instruments.swaps.options import NerOptions, QaOptions, SentimentOptions, SwapOptions

if TYPE_CHECKING:
    from polyculture.generate.engines.options import Use

_DEMO = Path(__file__).parent / "demo"


def _demo(**sizes: int) -> Demo:
    """Minutes on two cores. English only: the demo's model was made for it, and is slow in other languages."""
    own = {"data": "own", "folder": _DEMO, "language": ("en",), "entities": 3, "draws": 2, **sizes}
    return Demo(_DEMO / "swaps_demo.toml", "texts", own)


def _uses(options: SwapOptions) -> tuple[Use, ...]:
    """None of the experiment's models where a classifier or tagger answers."""
    return ("answer",) if options.own_model is None else ()


SENTIMENT = Instrument(
    SentimentOptions,
    "polyculture swap sentiment exp.toml --data camellia --language ja --contexts 5 --entities 10",
    (RATES, COUNTS),
    _demo(),
    uses=_uses,
    answers=SWAP_RESPONSES,
)
QA = Instrument(
    QaOptions,
    "polyculture swap qa exp.toml --data camellia --language ko --contexts 5 --entities 10",
    demo=_demo(),
    answers=SWAP_RESPONSES,
)
NER = Instrument(
    NerOptions,
    "polyculture swap ner exp.toml --data camellia --type names --tagger Davlan/xlm-roberta-base-ner-hrl",
    demo=_demo(contexts=2),
    uses=_uses,
    answers=SWAP_RESPONSES,
)
COMMANDS: Mapping[str, Command[Any]] = {"sentiment": SENTIMENT, "qa": QA, "ner": NER}
