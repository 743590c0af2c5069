"""Reads an extractor model's answer: what is good in it is kept, and what is dropped is counted and noted.

Models write prose around the JSON, a fence, a trailing comma, another language's keys, a table, `Dish` for `dish`, one
unknown kind among good ones; a limit may cut the last mention. Only where nothing can be read is the model asked again.
The syntax is read in `answer_json` and `answer_lines`, the mentions by header in `answer_tables`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

import orjson

from polyculture.cache.catalog import read_catalog
from polyculture.cache.text.sanitize import mended
from polyculture.extract.answer_json import mended_values, strict_values, whole_value
from polyculture.extract.answer_lines import line_entities, line_entity
from polyculture.extract.answer_tables import TableReader
from polyculture.extract.base import NamedEntity
from polyculture.extract.fields import field_of, folded, known_kinds
from polyculture.extract.spellings import blanks, words_for_nothing
from polyculture.generate.engines.base import Ending

MOST_MENTIONS = 100  # per answer; an answer with as many counts as endless
CUT_SHORT = "the answer was cut"
REPEATED = "the answer repeats itself and was cut"  # with more room it would be longer, and list no more
ECHOED = "the answer gives back the form that was asked for"
_REPEATS = 3  # times that a mention is listed, on average, in an answer that repeats itself
_LONGEST = 200_000  # characters of an answer that are read
_FULL_STOPS = (".", "。", "।", "۔")
_SENTENCE, _UNSPACED_SENTENCE = 40, 15  # characters of a text with a full stop, with blanks and without
# What the asked form begins with: a model may write it more than once.
_FORM = re.compile(r"""\{\s*(?:\\?["'“”„]?declined\\?["'“”„]?\s*:\s*\w+\s*,\s*)?\\?["'“”„]?mentions\\?["'“”„]?\s*:""")
_WORDS_BEFORE = re.compile(r"[\]}](?:\s|```(?:json)?|[,;])*[^\s`,;\]}][^\]}]*\Z")


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
    known = known_kinds(kinds)
    text = text.removeprefix("\ufeff")[:_LONGEST]
    reader = _reader(known)
    answer = _listed(text, reader)
    cut = ending == "cut" and not answer.whole
    listed, values = answer.entities, answer.values
    empty = not listed and any(_is_empty(value, known) for value in values)
    nothing = not listed and not empty and _says_nothing(text)
    if not (listed or empty or nothing):
        lines = line_entities(text, reader, cut=cut)
        if lines is None:
            raise UnusableAnswerError(CUT_SHORT if cut else "the answer has no list of mentions")
        listed = lines
    entities = [
        one for one in listed if one.text.strip().casefold() not in words_for_nothing() and not _is_blank(one.text)
    ]
    if not entities and any(_is_blank(one.text) for one in listed):
        raise UnusableAnswerError(ECHOED)
    sentences = sum(_is_sentence(one.text) for one in entities)
    entities = [one for one in entities if not _is_sentence(one.text)]
    if sentences > len(entities):
        raise UnusableAnswerError("the answer lists sentences of the text, not what they name")
    if len(entities) >= MOST_MENTIONS:
        raise UnusableAnswerError(f"the answer is endless: {len(entities)} mentions")
    good = tuple(
        replace(one, text=mended(one.text), kind=known[folded(one.kind)])
        for one in entities
        if folded(one.kind) in known
    )
    dropped = Counter(one.kind[:40] for one in entities if folded(one.kind) not in known)
    # Kinds of other topics alone say that the text names nothing of this one.
    if not good and (cut or any(folded(kind) not in _catalogued_kinds() for kind in dropped)):
        unknown = f"the answer has no known kind: {', '.join(map(repr, list(dropped)[:3]))}"
        raise UnusableAnswerError(unknown if dropped else CUT_SHORT)
    notes = [f"{count} of unknown kind {kind!r} dropped" for kind, count in sorted(dropped.items())]
    notes += [f"{CUT_SHORT}: its whole mentions were read"] if cut else []
    notes += [f"{answer.unreadable} that cannot be read dropped"] if answer.unreadable else []
    notes += [f"{sentences} that are whole sentences dropped"] if sentences else []
    # A model without a schema writes `null` or `{}` for an empty list. To ask again would lose the texts of nothing.
    notes += [f"{' '.join(text.split())[:60]!r} is read as no mention"] if nothing else []
    declined = next((v["declined"] for v in values if isinstance(v, dict) and "declined" in v), None)
    return ReadAnswer(
        good,
        "; ".join(notes) or None,
        cut,
        cut and len(good) >= _REPEATS * len(set(good)),
        dropped.total(),
        answer.unreadable + sentences,
        declined if isinstance(declined, bool) else None,
    )


@dataclass(frozen=True, slots=True)
class _ListedMentions:
    """The JSON in an answer: its values, the mentions in them, and how many parts of it cannot be read."""

    values: list[Any]
    entities: list[NamedEntity]
    unreadable: int
    whole: bool  # there is a value, and none is broken


def _reader(known: Mapping[str, str]) -> TableReader:
    reader: TableReader = TableReader(
        known, lambda text: [value for _, value in strict_values(text)[0]], lambda line: line_entity(line, reader)
    )
    return reader


def _listed(text: str, reader: TableReader) -> _ListedMentions:
    """The JSON of a text: of one with the asked form more than once, list by list."""
    if (value := whole_value(text)) is not None:
        return _ListedMentions([value], list(reader.read(value)), 0, True)
    places = [0, *(found.start() for found in _FORM.finditer(text)), len(text)]
    first = _most_entities(text[: places[1]], reader)
    values, entities, unread, whole = first.values, first.entities, first.unreadable, first.whole
    for before, start, end in zip(places, places[1:], places[2:], strict=False):
        part = _most_entities(text[start:end], reader)
        # An empty one behind words takes back what stands before it; right behind another it is that of a paragraph.
        behind_words = _WORDS_BEFORE.search(text[before:start]) is not None
        takes_back = bool(part.values) and not part.entities and behind_words
        entities = [] if takes_back else _with(entities, part.entities, corrects=behind_words)
        values, unread, whole = [*values, *part.values], unread + part.unreadable, part.whole
    return _ListedMentions(values, entities, unread, whole)


def _with(before: list[NamedEntity], listed: list[NamedEntity], *, corrects: bool) -> list[NamedEntity]:
    """The entities of a list and before it. A list that has all names that stood there replaces them, and so does one
    that `corrects`, most of whose names stood there; lists right behind another are those of paragraphs."""
    old, new = {one.text for one in before}, {one.text for one in listed}
    return listed if old <= new or (corrects and 2 * len(old & new) > len(new)) else [*before, *listed]


def _most_entities(text: str, reader: TableReader) -> _ListedMentions:
    """The JSON of a text; of a broken one by the reading that finds most."""
    found, broken = strict_values(text)
    values, entities, before = [value for _, value in found], list[NamedEntity](), 0
    for start, value in found:
        listed, corrects = list(reader.read(value)), _WORDS_BEFORE.search(text[before:start]) is not None
        entities = _with(entities, listed, corrects=corrects) if isinstance(value, list) else [*entities, *listed]
        before = start
    if values and not broken:
        return _ListedMentions(values, entities, 0, True)
    readings, unreadable = mended_values(text, lambda piece: any(reader.read(piece)) and _has_fields(piece))
    best = _ListedMentions(values, entities, unreadable if entities else 0, False)
    for reading in readings:
        good = [entity for value in reading for entity in reader.read(value) if folded(entity.kind) in reader.known]
        if len(good) > len(best.entities):
            best = _ListedMentions(reading, good, unreadable, False)
    return best


def _has_fields(value: Any) -> bool:
    """Whether a value that was mended has a field by name: else any words between brackets could become a mention."""
    return isinstance(value, dict) and any(field_of(str(key)) is not None for key in value)


def _is_sentence(text: str) -> bool:
    """Whether a text is a sentence and no name. Qwen2.5-Coder-1.5B, asked for a table, wrote 25 of 178 mentions so: its
    names would be linked as if the sentence were one of them."""
    words = text.strip()
    return words.endswith(_FULL_STOPS) and (
        len(words) >= _SENTENCE if " " in words else len(words) >= _UNSPACED_SENTENCE
    )


def _is_blank(text: str) -> bool:
    """Whether a text is what stands in a form to be filled in: `...`, `<text>`, `string`."""
    inside = text.strip().strip("<>[]{}$_ ").casefold()
    return inside in blanks() or (text.strip()[:1] in "<{$[" and field_of(inside) is not None) or inside == "text"


def _says_nothing(text: str) -> bool:
    """Whether an answer is a word for nothing, or a table without a field, and no more."""
    word = "".join(text.strip("`'\"*_-• \t\r\n.").removeprefix("json").split())
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
    inner = [one for one in map(_opened, value.values()) if isinstance(one, dict)]
    if any("mentions" in one for one in inner):  # a call of a tool: its name is beside its arguments
        return all(_is_empty(one, known) for one in inner)
    by_kind = any(content for key, content in value.items() if folded(str(key)) in known)  # there keys are texts
    lists = [content for key, content in value.items() if key != "declined"]
    return bool(lists) and not by_kind and all(map(_holds_nothing, lists))


def _opened(value: Any) -> Any:
    """A value, or that in a text that is JSON."""
    return whole_value(value) if isinstance(value, str) else value


def _holds_nothing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().casefold() in words_for_nothing()
    inner = value.values() if isinstance(value, dict) else value
    return value is None or (isinstance(value, dict | list) and all(map(_holds_nothing, inner)))


@cache
def _catalogued_kinds() -> frozenset[str]:
    return frozenset(kind for topic in read_catalog().topics.values() for kind in known_kinds(topic.kinds))
