"""Probing as an instrument: `polyculture probe blend exp.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from polyculture.instruments.contract import Command, Subject
from polyculture.instruments.declared import Instrument
from polyculture.instruments.probe.layout import PROBES
from polyculture.instruments.probe.options import ProbeOptions

PROBE = Instrument(
    PROBES,
    ProbeOptions,
    "polyculture probe blend exp.toml --folder BLEnD/data --units 50 --control noise",
    (Path(__file__).with_name("entity_knowledge.sql"),),
    subject=Subject("set", ProbeOptions.opened),
)
COMMANDS: Mapping[str, Command] = {"probe": PROBE.command}
