"""The papers of `papers.toml`: what each measured, on which data set."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polyculture.instruments.cbs.protocol import Protocol


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: its data set, and the commands that measure it anew, by their presets of its name."""

    name: str  # of its command, and of its preset
    title: str
    data: str
    parts: tuple[str, ...]
    columns: int  # of its tables of Cultural Bias Scores, without the average
    texts: bool  # it labels generated texts by their culture
    pooled: bool  # its counts of wrong sentiments are over grounded and neutral contexts together

    @property
    def protocol(self) -> Protocol:
        """How it makes a score of likelihoods, of the rows of its data set as they are published."""
        from polyculture.instruments.cbs.instrument import CbsOptions

        return CbsOptions.model_validate({"preset": self.name}).protocol


@cache
def papers() -> Mapping[str, Paper]:
    """All papers by name."""
    return {name: _paper(name, entry) for name, entry in _read().items()}


def _paper(name: str, entry: Mapping[str, Any]) -> Paper:
    return Paper(name, **{**entry, "parts": tuple(entry["parts"])})


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("papers.toml").read_text(encoding="utf-8"))
