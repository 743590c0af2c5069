"""What people write for what the catalogue knows by another name: the tables of `written.toml`."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_BETWEEN = re.compile(r"[\s_\-\u2010-\u2015'\u2018\u2019.,]+")  # what separates words of a name, and is left out
_ARTICLE = re.compile(r"^the\b", re.IGNORECASE)
# "Iran (Islamic Republic of)" and "Kenya, Republic of", as the United Nations and ISO write it; "Republic of Kenya"
_INVERTED = re.compile(r"(.+?)(?:, | [(])(.+ of(?: the)?)[)]?", re.IGNORECASE)
_STATE = "states?(?! of (?:georgia|m[eé]xico)$)"  # these two are states of the USA and of Mexico
_OFFICIAL = re.compile(
    rf"(?:the )?(?:[\w'’]+ ){{0,3}}(?:republic|kingdom|{_STATE}|commonwealth|principality|sultanate|union) of (?:the )?"
    "(.+)",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[\u0300-\u036f]")  # accents of Latin, Greek and Cyrillic letters: of no others, which need theirs


@cache
def written_names() -> Mapping[str, Mapping[str, str]]:
    """The tables of names that mean one thing each."""
    return {key: table for key, table in _tables().items() if key not in ("topics", "several")} | {
        "topics": {word: code for code, words in _tables()["topics"].items() for word in words}
    }


@cache
def everyday_countries() -> Mapping[str, str]:
    """The codes of countries by the keys of their everyday names, and of their parts."""
    tables = written_names()
    return {country_key(name): code for table in ("countries", "parts") for name, code in tables[table].items()}


@cache
def several_countries() -> Mapping[str, tuple[str, ...]]:
    """The codes of the countries that one name may mean, by the key of the name."""
    return {country_key(name): tuple(codes) for name, codes in _tables()["several"].items()}


@cache
def country_key(name: str) -> str:
    """What the ways to write the name of a country have in common: no case, accent, article, blank or point.

    "St. Lucia" and "Saint Lucia", "Bosnia & Herzegovina" and "bosnia-and-herzegovina" are equal.
    """
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", name).casefold())
    words = _BETWEEN.split(_ARTICLE.sub("", unicodedata.normalize("NFC", plain).replace("&", " and ").strip()))
    return "".join("st" if word == "saint" else word for word in words)


def country_keys(name: str) -> list[str]:
    """The keys of a name as it is written, and without what the state calls itself: Republic of Kenya."""
    if inverted := _INVERTED.fullmatch(name.strip()):
        name = f"{inverted[2]} {inverted[1]}"
    official = _OFFICIAL.fullmatch(name.strip())
    return [country_key(one) for one in (name, *(official.groups() if official else ()))]


@cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("written.toml").read_text(encoding="utf-8"))
