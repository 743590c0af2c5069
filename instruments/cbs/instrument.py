"""The Cultural Bias Score as an instrument: `polyculture cbs`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polyculture.instruments.cbs.layout import SCORES
from polyculture.instruments.cbs.options import CbsOptions
from polyculture.instruments.contract import Command, Demo
from polyculture.instruments.declared import Instrument

_OWN = Path(__file__).parent


CBS = Instrument(
    CbsOptions,
    "polyculture cbs exp.toml --data camellia --language ja --contexts 5 --entities 100",
    (_OWN / "cbs.sql",),
    Demo(
        _OWN / "demo" / "cbs_demo.toml",
        "contexts",
        {"data": "own", "folder": _OWN / "demo"},
    ),
    answers=SCORES,
)
COMMANDS: Mapping[str, Command[Any]] = {"cbs": CBS}
