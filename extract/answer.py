"""Reads an extractor model's answer: what is good in it is kept, and what is dropped is noted.

Models write prose around the JSON, a fence, a trailing comma, single quotes, a list without its table, `Dish` for
`dish`, one unknown kind among good ones; a limit may cut the last mention. Only where nothing can be read is the model
asked again.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

import orjson

from polyculture.cache.catalog import read_catalog
from polyculture.cache.sanitize import mended
from polyculture.extract.answer_lines import entity_lines
from polyculture.extract.base import NamedEntity
from polyculture.generate.engines.base import Ending

MOST_MENTIONS = 100  # per answer; an answer with as many counts as endless
CUT_SHORT = "the answer was cut"
REPEATED = "the answer repeats itself and was cut"  # with more room it would be longer, and list no more
_REPEATS = 3  # times that a mention is listed, on average, in an answer that repeats itself
_MOST_TRIES = 2_000  # brackets of an answer at which JSON is looked for
_LONGEST = 200_000  # characters of an answer that are read
_LONGEST_NAME = 200  # characters of a name
_DEEPEST = 8  # values within values
_BRACKET = re.compile(r"[{\[]")
_STRING_FIELD = re.compile(r'"(?P<name>\w+)"\s*:\s*"(?P<value>[^\n]{0,400}?)"\s*(?=,\s*"\w+"\s*:|\})')
_INNERMOST = re.compile(r"\{[^{}]*\}")
# Names of the fields in other hands, the asked one first.
_TEXT = ("text", "entity", "mention", "name", "surface", "surface_form", "span", "term", "item", "word", "value")
_KIND = ("kind", "type", "entity_type", "category", "label", "class", "entity_group", "tag")
_NAME = ("name", "dictionary_form", "lemma", "base_form", "canonical", "normalized", "normalised")
_ENGLISH = ("english", "english_name", "en", "international", "translation")
_FIELDS = {*_TEXT, *_KIND, *_NAME, *_ENGLISH}
_NO_NAME = ("", "-", "...", "…", "null", "none", "n/a")
# What the asked form begins with: a model may write it more than once.
_FORM = re.compile(r"""\{\s*(?:\\?["'“”„]?declined\\?["'“”„]?\s*:\s*\w+\s*,\s*)?\\?["'“”„]?mentions\\?["'“”„]?\s*:""")
_WORDS_BEFORE = re.compile(r"[\]}](?:\s|```(?:json)?|[,;])*[^\s`,;\]}][^\]}]*\Z")
_DECODER = json.JSONDecoder(strict=False)  # a line break within a string is no reason to lose it


class UnusableAnswerError(ValueError):
    """Nothing of the answer can be read."""


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What an answer lists, in its order, and what was dropped of it."""

    entities: tuple[NamedEntity, ...]
    note: str | None = None  # what was dropped, on one line
    cut: bool = False  # the token limit cut it before the end of its list
    repeats: bool = False  # it was cut, and lists the same again and again
    unknown_kinds: int = 0  # mentions that were dropped, since the topic has no such kind
    unreadable: int = 0  # parts of the list that cannot be read
    declined: bool | None = None  # the text declines its task, as the model says; None where it does not say


def answer_schema(kinds: Iterable[str]) -> dict[str, Any]:
    """The JSON schema of an answer: a bounded list of texts, each with one of the kinds and its names."""
    mention = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "kind": {"type": "string", "enum": list(kinds)},
            "name": {"type": "string"},
            "english": {"type": ["string", "null"]},
        },
        "required": ["text", "kind", "name", "english"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "declined": {"type": "boolean"},
            "mentions": {"type": "array", "items": mention, "maxItems": MOST_MENTIONS},
        },
        "required": ["declined", "mentions"],
        "additionalProperties": False,
    }


def write_answer(entities: Iterable[NamedEntity], declined: bool = False) -> str:
    """The answer that lists these entities, as a model would write it."""
    return orjson.dumps({"declined": declined, "mentions": [asdict(entity) for entity in entities]}).decode()


def read_answer(text: str, kinds: Iterable[str], ending: Ending | None) -> ReadAnswer:
    """The entities that an answer lists.

    Raises `UnusableAnswerError`, with a message of one line, where it lists nothing that can be read, or does not end.
    Of an answer that was cut the entities are those that are whole.
    """
    known = _known_kinds(kinds)
    text = text.removeprefix("\ufeff")[:_LONGEST]
    values, listed, unread, whole = _last_list(text, known)
    cut = ending == "cut" and not whole
    entities = [one for one in listed if one.text.strip().casefold() not in _NO_NAME]
    empty = not listed and any(_is_empty(value, known) for value in values)
    nothing = not listed and not empty and _says_nothing(text)
    if not (listed or empty or nothing):
        tables = entity_lines(text, lambda kind: _folded(kind) in known, _FIELDS)
        entities = [entity for table in tables or () if (entity := _entity(table)) is not None]
        entities = [one for one in entities if one.text.strip().casefold() not in _NO_NAME]
        if not entities and tables != []:
            raise UnusableAnswerError(CUT_SHORT if cut else "the answer has no list of mentions")
    if len(entities) >= MOST_MENTIONS:
        raise UnusableAnswerError(f"the answer is endless: {len(entities)} mentions")
    good = tuple(
        replace(one, text=mended(one.text), kind=known[_folded(one.kind)])
        for one in entities
        if _folded(one.kind) in known
    )
    dropped = Counter(one.kind[:40] for one in entities if _folded(one.kind) not in known)
    # Kinds of other topics alone say that the text names nothing of this one.
    if not good and (cut or any(_folded(kind) not in _catalogued_kinds() for kind in dropped)):
        unknown = f"the answer has no known kind: {', '.join(map(repr, list(dropped)[:3]))}"
        raise UnusableAnswerError(unknown if dropped else CUT_SHORT)
    notes = [f"{count} of unknown kind {kind!r} dropped" for kind, count in sorted(dropped.items())]
    notes += [f"{CUT_SHORT}: its whole mentions were read"] if cut else []
    notes += [f"{unread} that cannot be read dropped"] if unread else []
    # A model without a schema writes `null` or `{}` for an empty list. To ask again would lose the texts of nothing.
    notes += [f"{' '.join(text.split())[:60]!r} is read as no mention"] if nothing else []
    declined = next((v["declined"] for v in values if isinstance(v, dict) and "declined" in v), None)
    return ReadAnswer(
        good,
        "; ".join(notes) or None,
        cut,
        cut and len(good) >= _REPEATS * len(set(good)),
        dropped.total(),
        unread,
        declined if isinstance(declined, bool) else None,
    )


def _last_list(text: str, known: Mapping[str, str]) -> tuple[list[Any], list[NamedEntity], int, bool]:
    """The JSON values of a text, the entities in them, the number of tables that cannot be read, and whether the last
    list is whole: of a text with the asked form more than once, list by list."""
    if text.lstrip().startswith('"'):  # JSON within a string
        with suppress(ValueError):
            text = str(json.loads(text))
    places = [0, *(found.start() for found in _FORM.finditer(text)), len(text)]
    values, entities, unread, whole = _most_entities(text[: places[1]], known)
    for before, start, end in zip(places, places[1:], places[2:], strict=False):
        more, listed, broken, whole = _most_entities(text[start:end], known)
        # An empty one behind words takes back what stands before it; right behind another it is that of a paragraph.
        takes_back = bool(more) and not listed and _WORDS_BEFORE.search(text[before:start]) is not None
        entities = [] if takes_back else _with(entities, listed)
        values, unread = [*values, *more], unread + broken
    return values, entities, unread, whole


def _with(before: list[NamedEntity], listed: list[NamedEntity]) -> list[NamedEntity]:
    """The entities of a list and before it. A list most of whose names stood there corrects what stood there."""
    again = {one.text for one in before} & {one.text for one in listed}
    return listed if 2 * len(again) > len({one.text for one in listed}) else [*before, *listed]


def _most_entities(text: str, known: Mapping[str, str]) -> tuple[list[Any], list[NamedEntity], int, bool]:
    """The JSON values of a text, and the entities in them; of a broken one by the reading that finds most, with the
    number of tables that cannot be read; and whether there is a value and none is broken."""
    values, broken = _json_values(text)
    entities: list[NamedEntity] = []
    for value in values:
        listed = list(_entities(value, known))
        entities = _with(entities, listed) if isinstance(value, list) else [*entities, *listed]
    if not broken:
        return values, entities, 0, bool(values)
    found = [_mended(match[0]) for match in _INNERMOST.finditer(text)]
    pieces = [piece for piece in found if piece is not None]
    more = [entity for piece in pieces for entity in _entities(piece, known)]
    if not more and not entities and (start := re.search(r"[\[({]", text)) is not None:  # tuples of Python
        with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            pieces = [json.loads(json.dumps(ast.literal_eval(text[start.start() :].rstrip(" \n`"))))]
            more = [entity for piece in pieces for entity in _entities(piece, known)]
    if len(more) > len(entities) or not values:
        values, entities = pieces, more
    return values, entities, max(0, len(found) - len(pieces)), False


def _json_values(text: str) -> tuple[list[Any], bool]:
    """The outermost JSON values in a text, or those within a broken one; and whether any is broken."""
    values, position, broken = [], 0, False
    for _ in range(_MOST_TRIES):
        bracket = _BRACKET.search(text, position)
        if bracket is None:
            break
        try:
            value, position = _DECODER.raw_decode(text, bracket.start())
        except (ValueError, RecursionError):
            broken, position = True, bracket.end()
            continue
        values.append(value)
    return values, broken


def _mended(piece: str) -> Any:
    """A table that is no JSON: with a comma too many or too few, curly quotes, quotes within a text, keys without
    quotes, or as Python writes it."""
    plain = re.sub(r'"\s+(?="\w+"\s*:)', '", ', re.sub(r"[“”„]", '"', re.sub(r",\s*}", "}", piece)))
    quoted = re.sub(r"([{,]\s*)([A-Za-z_]+)\s*:", r'\1"\2":', plain)
    for text in (plain, quoted):
        try:
            return _DECODER.decode(text)
        except (ValueError, RecursionError):
            continue
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return ast.literal_eval(re.sub(r"\bnull\b", "None", piece))
    return {one["name"]: one["value"] for one in _STRING_FIELD.finditer(plain)} or None


def _entities(value: Any, known: Mapping[str, str], depth: int = 0, kind: str = "") -> Iterator[NamedEntity]:
    """The entities in a value: tables of fields, of texts with kinds or of kinds with texts, lists of them.

    `kind` is that under whose name the value stands.
    """
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        if value.lstrip()[:1] in ("{", "["):  # JSON within JSON
            for inner in _json_values(value)[0]:
                yield from _entities(inner, known, depth + 1, kind)
        elif kind:
            yield NamedEntity(value, kind)
    elif isinstance(value, list):
        if all(map(_is_pair, value)) and any(_folded(one[1]) in known for one in value):
            yield from (NamedEntity(*one) for one in value)
            return
        if (keys := _keys_of_own(value, known)) is not None:
            yield from (NamedEntity(one[keys[0]], one[keys[1]]) for one in value)
            return
        for one in value:
            yield from _entities(one, known, depth + 1, kind)
    elif isinstance(value, dict):
        table = {_field(str(key)): content for key, content in value.items()}
        entity = _entity(table)
        if entity is not None:
            yield replace(entity, kind=entity.kind or kind)
            return
        texts = table.get("text")
        if isinstance(texts, list) and isinstance(own := table.get("kind"), str):
            yield from (NamedEntity(one, own) for one in texts if isinstance(one, str))
            return
        # Where one key or one content is a kind, the others are meant as kinds: unknown ones are dropped, and noted.
        by_kind = any(_folded(str(key)) in known for key in value)
        by_text = any(
            _folded(one) in known
            for key, one in value.items()
            if isinstance(one, str) and _field(str(key)) not in _FIELDS
        )
        for key, content in value.items():
            if by_text and isinstance(content, str) and not by_kind:
                yield NamedEntity(str(key), content)
            elif (named := _named_by_key(str(key), content, known)) is not None:
                yield named
            elif kind and (not content or isinstance(content, bool | int | float)):  # texts under their kind
                yield NamedEntity(str(key), kind)
            else:
                yield from _entities(content, known, depth + 1, str(key) if by_kind else kind)


def _keys_of_own(tables: Sequence[Any], known: Mapping[str, str]) -> tuple[str, str] | None:
    """The keys of a text and of its kind in tables of names that nobody listed, as other languages have them: under one
    key each table has a kind, and under the first other one a text."""
    if not tables or not all(isinstance(one, dict) and one.keys() == tables[0].keys() for one in tables):
        return None
    strings = [str(key) for key in tables[0] if all(isinstance(one[key], str) for one in tables)]
    if any(_field(key) in _FIELDS for key in strings):
        return None
    kinds = [key for key in strings if any(_folded(one[key]) in known for one in tables)]
    texts = [key for key in strings if key not in kinds]
    return (texts[0], kinds[0]) if len(kinds) == 1 and texts else None


def _named_by_key(key: str, content: Any, known: Mapping[str, str]) -> NamedEntity | None:
    """The entity of a table that stands under its text: `{"ramen": {"kind": "dish"}}`."""
    if not isinstance(content, dict) or _folded(key) in known:
        return None
    table = {_field(str(name)): value for name, value in content.items()}
    if any(name in table for name in _TEXT if name not in _NAME) or not isinstance(
        kind := table.get("kind", table.get("type")), str
    ):
        return None
    return NamedEntity(key, kind, _clean_name(table.get("name")), _clean_name(table.get("english")))


def _field(key: str) -> str:
    """The name of a field: of one in other hands (`entityKind`, `mention_text`) its last word, where that is one."""
    name = _folded(key)
    last = name.rpartition("_")[2]
    return name if name in _FIELDS or last not in (*_TEXT, *_KIND) else last


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(one, str) for one in value)


def _entity(table: Mapping[str, Any]) -> NamedEntity | None:
    """The entity whose fields a table has; without a kind one of none, if nothing else is in the table."""
    key, kind = (next((name for name in names if name in table), None) for names in (_TEXT, _KIND))
    kinds = table[kind] if kind else ""
    if isinstance(kinds, list | tuple) and kinds and all(isinstance(one, str) for one in kinds):
        kinds = kinds[0]  # of several the first: a text is one mention
    nested = any(_holds_more(content) for name, content in table.items() if name != kind)
    if key is None or not isinstance(table[key], str) or not isinstance(kinds, str) or (not kind and nested):
        return None
    name, english = (next((table[one] for one in names if one in table and one != key), None)
                     for names in (_NAME, _ENGLISH))  # fmt: skip
    return NamedEntity(table[key], kinds, _clean_name(name), _clean_name(english))


def _holds_more(value: Any) -> bool:
    return isinstance(value, dict | list) or (isinstance(value, str) and value.lstrip()[:1] in ("{", "["))


def _clean_name(name: Any) -> str | None:
    """A name on one line; None where a model says that there is none."""
    words = mended(" ".join(name.split()))[:_LONGEST_NAME] if isinstance(name, str) else ""
    return None if words.casefold() in _NO_NAME else words


def _says_nothing(text: str) -> bool:
    """Whether an answer is a word for nothing, or a table without a field, and no more."""
    word = "".join(text.strip("`'\"*_ \t\r\n.").removeprefix("json").split())
    return bool(word) and (word == "{}" or _holds_nothing(word))


def _is_empty(value: Any, known: Mapping[str, str]) -> bool:
    """Whether a value says that a text names nothing: lists of nothing, alone or under whatever names.

    An answer that names something is read under any name, and one that names nothing must be, too: else the texts that
    are left would be those that name something.
    """
    if not isinstance(value, dict):
        return isinstance(value, list) and all(map(_holds_nothing, value))
    if "mentions" in value:
        return _holds_nothing(value["mentions"])
    by_kind = any(content for key, content in value.items() if _folded(str(key)) in known)  # there keys are texts
    return bool(value) and not by_kind and all(map(_holds_nothing, value.values()))


def _holds_nothing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().casefold() in _NO_NAME
    inner = value.values() if isinstance(value, dict) else value
    return value is None or (isinstance(value, dict | list) and all(map(_holds_nothing, inner)))


def _known_kinds(kinds: Iterable[str]) -> dict[str, str]:
    """The kinds by the forms in which models write them, folded: themselves first, then their plurals and singulars."""
    known = {_folded(kind): kind for kind in kinds}
    for kind in list(known):
        stem = kind.removesuffix("y")
        for form in (f"{kind}s", f"{kind}es", f"{stem}ies", kind.removesuffix("s")):
            known.setdefault(form, known[kind])
    return known


@cache
def _catalogued_kinds() -> frozenset[str]:
    return frozenset(kind for topic in read_catalog().topics.values() for kind in _known_kinds(topic.kinds))


def _folded(kind: str) -> str:
    """A kind as kinds are compared: `dishCategory` and `Dish category (general)` are `dish_category`."""
    plain = re.sub(r"^(?:an?|the)\s+|\s*\([^()]*\)$", "", kind.strip(), flags=re.IGNORECASE)
    return re.sub(r"[\s-]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain).casefold())
