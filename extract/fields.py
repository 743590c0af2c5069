"""The fields of a mention under the names that models give them (`fields.toml`), and the forms of kinds."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from polyculture.cache.identity import content_id

Field = Literal["text", "kind", "name", "english"]
FIELDS: tuple[Field, ...] = get_args(Field)
_BEHIND = (
    "text",
    "kind",
    "english",
)  # fields that are known by the last word of a header: `entityKind`, `mention_text`


def field_of(header: str) -> tuple[Field, int] | None:
    """The field that a header names, and its place among the names of that field, the asked one first; None of others.

    A header may have a remark in parentheses, and words before its last one: `entityKind` is a kind.
    """
    name = folded(header)
    if name in _names():
        return _names()[name]
    last = name.rpartition("_")[2]
    found = _names().get(last)
    return found if found is not None and found[0] in _BEHIND and last != name else None


def is_number(header: str) -> bool:
    """Whether a header is of the numbers of rows."""
    return folded(header) in _words("number")


def is_no_name(name: str) -> bool:
    """Whether a model says so that there is no name."""
    return name.strip().rstrip(".。").strip().casefold() in _words("none") or not name.strip(" .…")


def folded(name: str) -> str:
    """A kind or a header as they are compared: `dishCategory` and `Dish category (general)` are `dish_category`."""
    plain = re.sub(r"^(?:an?|the)\s+|\s*[(（][^()（）]*[)）]$", "", name.strip(), flags=re.IGNORECASE)
    return re.sub(r"[\s-]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain).casefold())


def known_kinds(kinds: Iterable[str]) -> dict[str, str]:
    """The kinds by the forms in which models write them, folded: themselves first, then their plurals and singulars."""
    known = {folded(kind): kind for kind in kinds}
    for kind in list(known):
        stem = kind.removesuffix("y")
        for form in (f"{kind}s", f"{kind}es", f"{stem}ies", kind.removesuffix("s")):
            known.setdefault(form, known[kind])
    return known


@cache
def fields_hash() -> str:
    """A hash of the names of fields and of the words for no name."""
    return content_id(_table())


@cache
def _names() -> Mapping[str, tuple[Field, int]]:
    return {folded(name): (field, place) for field in reversed(FIELDS) for place, name in enumerate(_table()[field])}


@cache
def _words(key: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _table()[key])


@cache
def _table() -> Mapping[str, Sequence[str]]:
    """The words of all rows, by field and in their order."""
    rows = tomllib.loads(Path(__file__).with_name("fields.toml").read_text(encoding="utf-8"))["names"]
    return {key: [word for row in rows for word in row.get(key, ())] for key in (*FIELDS, "number", "none")}
