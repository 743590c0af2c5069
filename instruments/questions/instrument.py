"""Question sets as an instrument: `polyculture ask kobbq --model ollama:qwen2.5:7b`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polyculture.instruments.contract import Command, Demo, Subject
from polyculture.instruments.declared import Instrument
from polyculture.instruments.questions.layout import ANSWERS, ASK_METHODS
from polyculture.instruments.questions.options import AskOptions

_FOLDER = Path(__file__).parent
_DEMO = _FOLDER / "demo"

ASK = Instrument(
    AskOptions,
    "polyculture ask kobbq --model ollama:qwen2.5:7b --units 20",
    (_FOLDER / "question_answers.sql", _FOLDER / "question_tests.sql"),
    Demo(
        _DEMO / "ask_demo.toml",
        "questions",
        {"set": str(_DEMO / "made-up.toml")},
    ),
    subject=Subject("set", AskOptions.opened),
    # Texts where an answer is written, log-probabilities where likelihoods are compared, or attention.
    uses=lambda options: {ASK_METHODS[method].use for method in options.methods},
    answers=ANSWERS,
)
COMMANDS: Mapping[str, Command[Any]] = {"ask": ASK}
