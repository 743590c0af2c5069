"""Probing as an instrument: `polyculture probe blend exp.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polyculture.instruments.contract import Command, Subject
from polyculture.instruments.declared import Instrument
from polyculture.instruments.probe.layout import PROBES
from polyculture.instruments.probe.options import ProbeOptions

PROBE = Instrument(
    ProbeOptions,
    "polyculture probe blend exp.toml --folder BLEnD/data --units 50 --control noise",
    (Path(__file__).with_name("entity_knowledge.sql"),),
    subject=Subject("set", ProbeOptions.opened),
    answers=PROBES,
)
COMMANDS: Mapping[str, Command[Any]] = {"probe": PROBE}
