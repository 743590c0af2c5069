"""How an answer ended, by the word that a server or a log has for it (`endings.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from polyculture.generate.engines.base import Ending

_ENDINGS = Path(__file__).with_name("endings.toml")
_WORST_FIRST: Sequence[Ending] = ("broken", "withheld", "cut", "whole")
_ALONE = "="  # before a word that is part of no other
_PREFIX = re.compile(r"^finish_?reason[._]")
_SEPARATORS = re.compile(r"[^a-z]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@lru_cache(maxsize=1024)
def ending_of(word: str | None) -> Ending:
    """How an answer ended, by a word that a system documents, or that contains such a word; else unknown."""
    name = _folded(word or "")
    if name in _words():
        return _words()[name]
    parts = _parts(name)
    if {"not", "without"} & {*parts.split("_")}:
        return "unknown"
    said = {ending for known, ending in _inner_words() if _parts(known) in parts or known.replace("_", "") == name}
    return next((ending for ending in _WORST_FIRST if ending in said), "unknown")


def numbered_ending(number: int) -> str:
    """The word for a number of Gemini's enumeration; an unknown number is its own word."""
    numbers = next(row["numbers"] for row in _systems() if "numbers" in row)
    return str(numbers[number] if 0 <= number < len(numbers) else number)


def _parts(name: str) -> str:
    """A word as its parts, with underscores between and around them."""
    return f"_{_SEPARATORS.sub('_', name).strip('_')}_"


def _folded(word: str) -> str:
    name = _CAMEL.sub("_", word.strip()).casefold().replace("-", "_").replace(" ", "_")
    return _PREFIX.sub("", name.replace("::", "."))


@cache
def _words() -> Mapping[str, Ending]:
    return {word.removeprefix(_ALONE): ending for word, ending in _documented()}


@cache
def _inner_words() -> Sequence[tuple[str, Ending]]:
    """The words that may be a part of another one."""
    return [(word, ending) for word, ending in _documented() if _parts(word).strip("_") and not word.startswith(_ALONE)]


def _documented() -> Iterator[tuple[str, Ending]]:
    return ((word, ending) for row in _systems() for ending in _WORST_FIRST for word in row.get(ending, ()))


@cache
def _systems() -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = tomllib.loads(_ENDINGS.read_text(encoding="utf-8"))["systems"]
    return rows
