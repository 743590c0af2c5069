"""How an answer ended, by the word that a server or a log has for it (`endings.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from polyculture.generate.engines.base import Ending

_ENDINGS = Path(__file__).with_name("endings.toml")
_SHORTEST_STEM = 4  # letters of a stem that is looked for within a word
_PREFIX = re.compile(r"^finish_?reason[._]")
_PART = re.compile(r"[a-z]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@lru_cache(maxsize=1024)
def ending_of(word: str | None) -> Ending:
    """How an answer ended, by the server's word or its parts (`endings.toml`): else unknown."""
    name, known = _folded(word or ""), _endings()
    words: dict[str, Ending] = {one: ending for ending, some in known["words"].items() for one in some}
    if name in words:
        return words[name]
    parts = _PART.findall(name)
    found = next((ending for ending, some in known["parts"].items() if any(_is_part(one, parts) for one in some)), None)
    found = found or next((ending for ending, some in known["parts"].items() if _holds(some, name)), None)
    return "unknown" if found is None or (found == "whole" and {"not", "without"} & {*parts}) else found


def numbered_ending(number: int) -> str:
    """The word for a number of Gemini's enumeration; an unknown number is its own word."""
    numbers: Mapping[str, str] = _endings()["numbers"]
    return numbers.get(str(number), str(number))


def _is_part(known: str, parts: Sequence[str]) -> bool:
    begin = known.removesuffix("*")
    return begin in parts or (begin != known and any(part.startswith(begin) for part in parts))


def _holds(stems: Iterable[str], name: str) -> bool:
    """Whether a word that is written as one has a stem in it, as `CONTENTFILTER` has, and not what denies it."""
    long = (re.escape(one[:-1]) for one in stems if one.endswith("*") and len(one) > _SHORTEST_STEM)
    return re.search(rf"(?<!un)(?<!in)(?<!not)(?:{'|'.join(long)})", name) is not None


def _folded(word: str) -> str:
    name = _CAMEL.sub("_", word.strip()).casefold().replace("-", "_").replace(" ", "_")
    return _PREFIX.sub("", name.replace("::", "."))


@cache
def _endings() -> Mapping[str, Mapping[Any, Any]]:
    """Of whole words and of their parts, those of each ending; and words for numbers."""
    table: Mapping[str, Mapping[Any, Any]] = tomllib.loads(_ENDINGS.read_text(encoding="utf-8"))
    return table
