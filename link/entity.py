"""What is read of a Wikidata entity, in the JSON of dumps and of the Action API; all else is skipped unread.

The form: https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html. PHP writes an empty map as an empty list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias, cast

import msgspec
from msgspec import Meta, Struct

LARGEST = 999_999_999  # no item has a greater number yet, by far; what has is a mistake

_QID = re.compile(r"Q([1-9][0-9]{0,8})")
_Empty = Annotated[list[Any], Meta(max_length=0)]


class NotAnItemError(ValueError):
    """JSON of another kind of entity: a property, a lexeme."""


class Text(Struct, gc=False):
    """A label, alias or description. `language` may be another than the one it stands under: a fallback."""

    language: str
    value: str


class _Target(Struct, gc=False, rename="kebab"):
    entity_type: Literal["item"] = "item"
    numeric_id: Annotated[int, Meta(ge=1, le=LARGEST)] | None = None
    id: str | None = None  # old dumps have the number alone


class _Value(Struct, gc=False):
    value: _Target


class _Snak(Struct, gc=False):
    snaktype: str
    datavalue: _Value | None = None


class Statement(Struct, gc=False):
    """What is said of an item by naming another one, and how well it holds: preferred, normal or deprecated."""

    mainsnak: _Snak
    rank: str = "normal"


class _Nothing(Struct, gc=False):
    pass


class Moved(Struct, gc=False, rename={"origin": "from", "target": "to"}):
    """An item that was merged into another."""

    origin: str
    target: str


Statements = tuple[Statement, ...]
_Texts = tuple[Text, ...]


class Claims(Struct, gc=False):
    """The statements that linking needs, by property."""

    P31: Statements = ()  # instance of
    P279: Statements = ()  # subclass of
    P361: Statements = ()  # part of
    P495: Statements = ()  # country of origin
    P17: Statements = ()  # country
    P27: Statements = ()  # country of citizenship
    P50: Statements = ()  # author
    P175: Statements = ()  # performer
    P136: Statements = ()  # genre
    P106: Statements = ()  # occupation


PROPERTIES = Claims.__struct_fields__


class Item(Struct, gc=False):
    """An item as it stands in a dump. What `decoder` reads has its texts in structs, a field for each language."""

    type: str
    id: str
    labels: dict[str, Text] | _Empty | None = None
    aliases: dict[str, list[Text]] | _Empty | None = None
    descriptions: dict[str, Text] | _Empty | None = None
    claims: Claims | _Empty | None = None
    sitelinks: dict[str, _Nothing] | _Empty | None = None
    lastrevid: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    modified: str | None = None
    redirects: Moved | None = None


class _Kind(Struct, gc=False):
    type: str | None = None


Decode: TypeAlias = Callable[[bytes], Item]


@cache
def decoder(languages: tuple[str, ...]) -> Decode:
    """Reads the item in a piece of JSON, with its texts in these languages, in their order; others are skipped unread.

    What it gives back raises `NotAnItemError` where the JSON holds another kind of entity, `ValueError` with the reason
    for all else.
    """
    read = msgspec.json.Decoder(_form(languages)).decode

    def decode(text: bytes) -> Item:
        try:
            item = read(text)
        except msgspec.ValidationError:
            _check_kind(msgspec.json.decode(text, type=_Kind).type)
            raise
        if item.type != "item":
            raise NotAnItemError(item.type)
        return item

    return decode


def _form(languages: tuple[str, ...]) -> type[Item]:
    """`Item` with a field a language in place of the maps: no key and no text of another language becomes an object."""
    one, several = _by_language(languages, Text | None, None), _by_language(languages, _Texts, ())
    texts = {"labels": one, "aliases": several, "descriptions": one}
    fields: list[tuple[str, Any, Any]] = [(name, form | _Empty | None, None) for name, form in texts.items()]
    form: Any = msgspec.defstruct("ItemInLanguages", fields, bases=(Item,), kw_only=True, gc=False)
    return cast(type[Item], form)


def _by_language(languages: tuple[str, ...], kind: Any, missing: Any) -> Any:
    names = {f"language_{place}": language for place, language in enumerate(languages)}
    return msgspec.defstruct("Texts", [(name, kind, missing) for name in names], rename=names, gc=False)


def convert(entity: Mapping[str, Any]) -> Item:
    """An item from JSON that was read already. Raises as `decode` does."""
    if "type" in entity:
        _check_kind(entity["type"])
    return msgspec.convert(entity, Item)


def number(qid: str) -> int:
    """The number of a QID: 'Q5' is 5. Raises `ValueError` for anything else."""
    match = _QID.fullmatch(qid)
    if match is None:
        raise ValueError(f"{qid!r} is not a QID")
    return int(match[1])


def best_targets(statements: Statements) -> list[int]:
    """The items that the statements of best rank name: the preferred ones, else the normal ones, never deprecated ones.

    Each once. This is what Wikidata's query service calls truthy.
    """
    if len(statements) == 1:  # as nearly all properties have it
        snak = statements[0].mainsnak
        return [_target(snak)] if snak.snaktype == "value" and statements[0].rank != "deprecated" else []
    preferred = [statement for statement in statements if statement.rank == "preferred"]
    best = preferred or [statement for statement in statements if statement.rank == "normal"]
    targets = [_target(statement.mainsnak) for statement in best if statement.mainsnak.snaktype == "value"]
    return targets if len(targets) < 2 else list(dict.fromkeys(targets))


def naming(target: int) -> Statement:
    """A statement that names an item."""
    return Statement(_Snak("value", _Value(_Target(numeric_id=target))))


def of_pages(count: int) -> dict[str, _Nothing]:
    """The sitelinks of an item of which only their number is known."""
    return {str(number): _Nothing() for number in range(count)}


def _target(snak: _Snak) -> int:
    if snak.datavalue is None:
        raise ValueError("a statement without its value")
    value = snak.datavalue.value
    return number(value.id or "") if value.numeric_id is None else value.numeric_id


def _check_kind(kind: str | None) -> None:
    if kind is not None and kind != "item":
        raise NotAnItemError(kind)
