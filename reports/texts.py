"""The report's own words, from `words.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Metric(_Data):
    """A metric in words: what it asks, how it is computed, what to mind."""

    name: str
    unit: str
    asks: str
    formula: str
    caveat: str


class FigureWords(_Data):
    """What a figure says: `caption` has places for numbers, `keys` is its legend, `panels` are titles of drawings."""

    title: str
    caption: str
    axis: str = ""
    keys: tuple[str, ...] = ()
    panels: Mapping[str, str] = {}


class Column(_Data):
    """A column of the health table: a count and, where `of` names another, its share of that."""

    name: str
    says: str
    count: str
    of: str | None = None


class Warning(_Data):
    """When a share of the data is bad enough to be said first: `count` of `of` above `limit`."""

    count: str
    of: str
    limit: float
    text: str


class TaskWords(_Data):
    """A task with swapped entities in words."""

    name: str
    says: str


class ComparisonWords(_Data):
    """A comparison in words."""

    title: str
    says: str


class Paper(_Data):
    """A table as it is printed: its caption and its columns, in their order."""

    title: str
    columns: tuple[str, ...]


class Words(_Data):
    """All of `words.toml`."""

    metrics: Mapping[str, Metric]
    figures: Mapping[str, FigureWords]
    comparisons: Mapping[str, ComparisonWords]
    companions: Mapping[str, str]
    conditions: Mapping[str, str]
    statuses: Mapping[str, str]
    status_notes: Mapping[str, str]
    missing: Mapping[str, str]
    rules: Mapping[str, str]
    tasks: Mapping[str, TaskWords]
    boards: Mapping[str, str]
    goals: Mapping[str, str]
    papers: Mapping[str, Paper]
    headings: Mapping[str, str]
    health: tuple[Column, ...]
    warnings: tuple[Warning, ...]


@cache
def words() -> Words:
    """The report's words, read once."""
    return Words.model_validate(tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8")))
