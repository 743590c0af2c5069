"""The declaration of the `mock` engine."""

from __future__ import annotations

from pathlib import Path

from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.capabilities import REPRESENTING, SAMPLING, SCORING, TOKENIZING
from polyculture.generate.engines.kind import EngineKind, Offer, TokenCounter
from polyculture.generate.engines.mock.answers import read_answers
from polyculture.generate.engines.mock.engine import MockEngine
from polyculture.generate.engines.mock.options import MockOptions


def _open(spec: ModelSpec, _: MockOptions) -> MockEngine:
    return MockEngine(spec)


def _check(spec: ModelSpec, options: MockOptions) -> None:
    if options.answers is not None:
        read_answers(spec, Path(options.answers).expanduser())


def _files(_: ModelSpec, options: MockOptions) -> Path | None:
    return None if options.answers is None else Path(options.answers).expanduser()


def _counter(_: ModelSpec) -> TokenCounter:
    return TokenCounter(lambda text: len(text.split()), "words; no real model")


KIND = EngineKind(
    name="mock",
    options=MockOptions,
    paid=False,
    real=False,
    offers=(Offer(SAMPLING, _open), Offer(SCORING, _open), Offer(REPRESENTING, _open), Offer(TOKENIZING, _open)),
    check=_check,
    files=_files,
    counter=_counter,
)
