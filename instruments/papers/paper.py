"""The papers of `papers.toml`, and how each makes a Cultural Bias Score of likelihoods."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polyculture.instruments.cbs.averages import Average
    from polyculture.instruments.cbs.bias import Ties


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a score is made of likelihoods: the choices of a preset of `polyculture cbs` that stored scores allow."""

    as_published: bool  # rows that stand twice, names on both sides and causal contexts that begin with their gap count
    draws: int | None  # how often entities are drawn; None: all are compared
    entities: int | None  # of each culture per draw
    equal_sides: bool  # no more Western entities than there are native ones
    leave_out: tuple[str, ...]  # types: 'names', or of one language 'ja:names'
    ties: Ties  # 'strict': a pair of equal likelihood counts as not Western; 'half'
    rule: str  # 'sum': the log-probability of the whole entity; 'mean': per token
    genders: str  # of contexts that ask for none: 'together', or 'apart', one comparison for each gender
    average: Average  # over 'columns' (types, genders apart), 'types', 'contexts' or 'pairs'


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: its data set, the commands that measure it anew, and how it makes a score of likelihoods."""

    name: str  # of its command, and of its presets
    title: str
    citation: str
    data: str
    parts: tuple[str, ...]
    columns: int  # of its tables of Cultural Bias Scores, without the average
    texts: bool  # it labels generated texts by their culture
    pooled: bool  # its counts of wrong sentiments are over grounded and neutral contexts together
    switches: tuple[str, ...]  # of the ledger, in order
    protocol: Protocol


@cache
def papers() -> Mapping[str, Paper]:
    """All papers by name."""
    return {name: _paper(name, entry) for name, entry in _read()["papers"].items()}


@cache
def ours() -> Protocol:
    """Our own way to make a score of likelihoods."""
    from polyculture.instruments.cbs.presets import OURS

    return _protocol(OURS)


def data_of(paper: str) -> str:
    """The data set of a paper, with nothing else loaded."""
    data: str = _read()["papers"][paper]["data"]
    return data


def known_parts() -> tuple[str, ...]:
    """The commands that can be a part of a paper."""
    return tuple(_read()["parts"])


def _paper(name: str, entry: Mapping[str, Any]) -> Paper:
    parts, switches = tuple(entry["parts"]), tuple(entry["switches"])
    title, citation, data = entry["title"], entry["citation"], entry["data"]
    measured = entry["columns"], entry["texts"], entry["pooled"]
    return Paper(name, title, citation, data, parts, *measured, switches, _protocol(name))


def _protocol(preset: str) -> Protocol:
    from polyculture.instruments.cbs.presets import read_preset

    chosen = read_preset(preset).options
    sides = chosen.draws, chosen.entities, chosen.equal_sides
    return Protocol(
        chosen.as_published, *sides, chosen.leave_out, chosen.ties, chosen.rule, chosen.genders, chosen.average
    )


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("papers.toml").read_text(encoding="utf-8"))
