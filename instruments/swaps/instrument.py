"""Swapped entities as an instrument: `polyculture swap sentiment`, `qa` and `ner`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from polyculture.instruments.contract import Command, Demo, Idle
from polyculture.instruments.declared import Instrument
from polyculture.instruments.swaps.layout import COUNTS, RATES, SWAP_RESPONSES
from polyculture.instruments.swaps.options import NerOptions, QaOptions, SentimentOptions, SwapOptions

_DEMO = Path(__file__).parent / "demo"


def _demo(**sizes: int) -> Demo:
    """Minutes on two cores. English only: the demo's model was made for it, and is slow in other languages."""
    own = {"data": "own", "folder": _DEMO, "language": ("en",), "entities": 3, "draws": 2, **sizes}
    help_ = "The embedded model, texts of our own; in swaps-demo/."
    return Demo(_DEMO / "swaps_demo.toml", "swaps-demo", help_, own, ("data", "folder"))


_OF_PROMPTS = ("model", "temperature", "top_p", "top_k", "max_tokens", "json_schema", "prompts")


def _idle(own: str) -> tuple[Idle, ...]:
    """What is idle beside a model of one's own, --classifier or --tagger, and without it."""
    by_prompts = f"is of models that are asked by prompts: not --{own}"
    return (
        Idle(_OF_PROMPTS, lambda options: options.own_model is not None, by_prompts),
        Idle(("labels",), lambda options: options.own_model is None, f"is of a --{own}"),
    )


def _uses(options: SwapOptions) -> tuple[str, ...]:
    """None of the experiment's models where a classifier or tagger answers."""
    return ("answer",) if options.own_model is None else ()


SENTIMENT = Instrument(
    SWAP_RESPONSES,
    SentimentOptions,
    "polyculture swap sentiment exp.toml --data camellia --language ja --contexts 5 --entities 10",
    (RATES, COUNTS),
    _demo(),
    _idle("classifier"),
    uses=_uses,
)
QA = Instrument(
    SWAP_RESPONSES,
    QaOptions,
    "polyculture swap qa exp.toml --data camellia --language ko --contexts 5 --entities 10",
    demo=_demo(),
)
NER = Instrument(
    SWAP_RESPONSES,
    NerOptions,
    "polyculture swap ner exp.toml --data camellia --type names --tagger Davlan/xlm-roberta-base-ner-hrl",
    demo=_demo(contexts=2),
    idle=_idle("tagger"),
    uses=_uses,
)
COMMANDS: Mapping[str, Command] = {"sentiment": SENTIMENT.command, "qa": QA.command, "ner": NER.command}
