"""The parts of a Wikidata entity that are read, in the JSON of dumps and of the Action API; the rest is skipped.

The form: https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html. PHP writes an empty map as an empty list.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias, cast

import msgspec
from msgspec import Meta, Struct

from polyculture.link.qid import LARGEST, number

_YEAR = re.compile(r"[+-]?[0-9]{1,4}(?=-)")
_Empty = Annotated[list[Any], Meta(max_length=0)]


class NotAnItemError(ValueError):
    """The JSON is of another kind of entity: a property, a lexeme."""


class EntityText(Struct, gc=False):
    """A label, alias or description. `language` may differ from its key in the map: then it is a fallback."""

    language: str
    value: str


class _SnakItem(Struct, gc=False, rename="kebab"):
    entity_type: Literal["item"] = "item"
    numeric_id: Annotated[int, Meta(ge=1, le=LARGEST)] | None = None
    id: str | None = None  # old dumps have the number alone


class _SnakValue(Struct, gc=False):
    value: _SnakItem


class _Snak(Struct, gc=False):
    snaktype: str
    datavalue: _SnakValue | None = None


class _End(Struct, gc=False):
    snaktype: str
    datavalue: Any = None  # a point in time; none where the time is unknown


class _Qualifiers(Struct, gc=False):
    P582: tuple[_End, ...] = ()  # end time


class ItemStatement(Struct, gc=False):
    """A statement whose value is an item, with its rank: preferred, normal or deprecated."""

    mainsnak: _Snak
    rank: str = "normal"
    qualifiers: _Qualifiers | _Empty | None = None


class _Nothing(Struct, gc=False):
    pass


class MergedItem(Struct, gc=False, rename={"origin": "from", "target": "to"}):
    """An item that was merged into another."""

    origin: str
    target: str


Statements = tuple[ItemStatement, ...]
_EntityTexts = tuple[EntityText, ...]


class Claims(Struct, gc=False):
    """The statements that linking needs, by property: what a thing is, who made it, where it comes from."""

    P31: Statements = ()  # instance of
    P279: Statements = ()  # subclass of
    P361: Statements = ()  # part of
    P106: Statements = ()  # occupation
    P50: Statements = ()  # author
    P86: Statements = ()  # composer
    P170: Statements = ()  # creator
    P175: Statements = ()  # performer
    P495: Statements = ()  # country of origin
    P2012: Statements = ()  # cuisine
    P2596: Statements = ()  # culture
    P27: Statements = ()  # country of citizenship
    P19: Statements = ()  # place of birth
    P1071: Statements = ()  # location of creation
    P17: Statements = ()  # country
    P276: Statements = ()  # location
    P131: Statements = ()  # located in the administrative territorial entity
    P1366: Statements = ()  # replaced by


PROPERTIES = Claims.__struct_fields__
SOME_YEAR = -(2**15) + 1  # the end of what ended nobody knows when


class DumpItem(Struct, gc=False):
    """An item of a dump. `decoder` reads its texts into structs with a field for each language."""

    type: str
    id: str
    labels: Any = None
    aliases: Any = None
    descriptions: Any = None
    claims: Claims | _Empty | None = None
    sitelinks: dict[str, _Nothing] | _Empty | None = None
    lastrevid: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    modified: str | None = None
    redirects: MergedItem | None = None


class _EntityType(Struct, gc=False):
    type: str | None = None


Decode: TypeAlias = Callable[[bytes], DumpItem]


@cache
def decoder(languages: tuple[str, ...]) -> Decode:
    """A function that reads an item from JSON, with its texts in these languages, in this order; others are skipped.

    The function raises `NotAnItemError` for another kind of entity, and `ValueError` with the reason for all else.
    """
    read = msgspec.json.Decoder(_form(languages)).decode

    def decode(text: bytes) -> DumpItem:
        try:
            item = read(text)
        except msgspec.ValidationError:
            _check_kind(msgspec.json.decode(text, type=_EntityType).type)
            raise
        if item.type != "item":
            raise NotAnItemError(item.type)
        return item

    return decode


def _form(languages: tuple[str, ...]) -> type[DumpItem]:
    """`DumpItem` with a field for each language in place of the maps, so that other languages cost no objects."""
    one, several = _by_language(languages, EntityText | None, None), _by_language(languages, _EntityTexts, ())
    texts = {"labels": one, "aliases": several, "descriptions": one}
    fields: list[tuple[str, Any, Any]] = [(name, form | _Empty | None, None) for name, form in texts.items()]
    form: Any = msgspec.defstruct("ItemInLanguages", fields, bases=(DumpItem,), kw_only=True, gc=False)
    return cast(type[DumpItem], form)


def _by_language(languages: tuple[str, ...], kind: Any, missing: Any) -> Any:
    names = {f"language_{place}": language for place, language in enumerate(languages)}
    return msgspec.defstruct("Texts", [(name, kind, missing) for name in names], rename=names, gc=False)


def best_targets(statements: Statements) -> dict[int, int | None]:
    """The targets of the statements of best rank: preferred ones, else normal ones, never deprecated ones.

    The value is the year in which the statement ended (P582); None: it has not. Of several statements of one target the
    last counts. Wikidata's query service calls these statements truthy.
    """
    rank = "preferred" if any(statement.rank == "preferred" for statement in statements) else "normal"
    found: dict[int, int | None] = {}
    for statement in statements:
        if statement.rank == rank and statement.mainsnak.snaktype == "value":
            target, end = _target(statement.mainsnak), _end(statement)
            earlier = found.get(target, end)
            found[target] = None if end is None or earlier is None else max(end, earlier)
    return found


def _target(snak: _Snak) -> int:
    if snak.datavalue is None:
        raise ValueError("a statement without its value")
    value = snak.datavalue.value
    return number(value.id or "") if value.numeric_id is None else value.numeric_id


def _end(statement: ItemStatement) -> int | None:
    """The year in which a statement ended, `SOME_YEAR` where it is unknown; None: it has no end."""
    if not isinstance(statement.qualifiers, _Qualifiers):
        return None
    ends = [end for end in statement.qualifiers.P582 if end.snaktype != "novalue"]  # which says that it has not ended
    years = [_YEAR.match(_time(end.datavalue)) for end in ends]
    return max((max(int(year[0]), SOME_YEAR) if year else SOME_YEAR for year in years), default=None)


def _time(value: Any) -> str:
    """The time in a value as Wikidata writes it: +1918-11-09T00:00:00Z. Empty where there is none."""
    inner = value.get("value") if isinstance(value, dict) else None
    return str(inner.get("time", "")) if isinstance(inner, dict) else ""


def _check_kind(kind: str | None) -> None:
    if kind is not None and kind != "item":
        raise NotAnItemError(kind)
