"""Swapped entities as an instrument: `polyculture swap sentiment`, `qa` and `ner`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from polyculture.instruments.contract import Asked, Command, Demo, Idle, Need, Study
from polyculture.instruments.swaps.layout import COUNTS, RATES
from polyculture.instruments.swaps.options import NerOptions, QaOptions, SentimentOptions, SwapOptions

_DEMO = Path(__file__).parent / "demo"


def study(asked: Asked, options: SwapOptions) -> Study:
    """Asks about the texts and reads the answers. Raises `DataSetError` without any text."""
    from polyculture.instruments.swaps.study import study as made

    return made(asked, options)


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


def _needs(options: SwapOptions) -> tuple[Need, ...]:
    """Texts of the experiment's models; nothing of them where a classifier or tagger answers."""
    return ("sample",) if options.own_model is None else ()


COMMANDS: Mapping[str, Command] = {
    "sentiment": Command(
        SentimentOptions,
        study,
        "polyculture swap sentiment exp.toml --data camellia --language ja --contexts 5 --entities 10",
        _demo(),
        tables=(RATES, COUNTS),
        needs=_needs,
        idle=_idle("classifier"),
    ),
    "qa": Command(
        QaOptions,
        study,
        "polyculture swap qa exp.toml --data camellia --language ko --contexts 5 --entities 10",
        _demo(),
        needs=_needs,
    ),
    "ner": Command(
        NerOptions,
        study,
        "polyculture swap ner exp.toml --data camellia --type names --tagger Davlan/xlm-roberta-base-ner-hrl",
        _demo(contexts=2),
        needs=_needs,
        idle=_idle("tagger"),
    ),
}
