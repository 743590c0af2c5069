"""The bodies of servers' and logs' answers, whoever wrote them: the text, how it ended, and what stands beside it.

Services differ in names and in levels, and hardly in what they mean by them. On the way to a text stand tables
(`message`, `output`, `result`) and lists of alternatives (`choices`, `candidates`, `generations`): the first is taken.
The text is a string, pieces of one, or parts with types. Beside it, or on the way to it, stand its ending, its
reasoning, a refusal, an error and the counts of tokens. So no service needs a reader of its own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from polyculture.generate.engines.endings import ending_of, numbered_ending
from polyculture.generate.engines.error_body import message_of

# Names of fields and kinds of parts with reasoning, and not with what is said of it: `reasoning_effort`.
_REASONING = re.compile(
    r"(?!.*(?:effort|budget|tokens?|signature|mode|level|time|id)$).*(?:reasoning|think|thought)", re.IGNORECASE
)
_TEXTS = ("text", "value", "content", "summary")  # where a part has its text
# What a text is called, and what stands on the way to one; all of it as `small` writes it, in the singular.
_NAMES = frozenset(
    {"generatedtext", "generation", "completion", "response", "content", "text", "outputtext", "output", "answer"}
    | {"reply", "result", "token"}
)
_WAY = _NAMES | {"choice", "candidate", "alternative", "prediction", "message", "data", "body"}
_ENDING = re.compile(
    "^(?:native)?(?:finish|stop|done|end|completion|termination)(?:reason|type|status)$"
    "|^(?:done|status|incompletedetails|stopped[a-z]+|(?:is)?truncated)$"
)
_BODIES = Path(__file__).with_name("bodies.toml")
_ASKERS = ("user", "system", "developer", "tool", "human")
_WORST = ("cut", "withheld", "broken")
_DEEPEST, _WIDEST = 6, 16  # tables within tables, and ways that are followed


@dataclass(frozen=True, slots=True)
class BodyParts:
    """The parts of a body that make an answer."""

    text: object = None
    ending: object = None
    reasoning: str | None = None
    refusal: object = None
    error: object = None
    usage: object = None
    calls: object = None  # what it calls tools with, in place of a text
    known: bool = False  # whether it is the body of an answer
    # The names of the text and of its ending as `small` writes them, where both are the body's own.
    names: tuple[str, str] | None = None


def parts_of(body: Mapping[str, Any]) -> BodyParts:
    """The parts of a body."""
    way, name = _way(body)
    value, inner_first = way[-1].get(name), way[::-1]
    said: dict[str, Any] = {}  # the first value of each name, from the innermost table on
    for table in inner_first:
        for key, one in table.items():
            if one:
                said.setdefault(small(key), one)
    text, thought = content_of(value)
    fields = (_plain_text(one) for key, one in said.items() if _is_reasoning(key))
    ending_name, ending = _ending(inner_first)
    # Some servers (Ollama, SGLang) say "stop" of a message that only calls a tool: it is no empty answer.
    if (
        not text
        and any(map(said.get, documented("calls")))
        and (ending is None or ending_of(str(ending)) not in _WORST)
    ):
        ending = "tool_calls"
    if isinstance(ending, int) and first_choice(body.get("candidates")):  # Gemini's libraries write the enumeration
        ending = numbered_ending(ending)
    parts = [table_of(part) for one in _list(value) for part in (one, *_list(table_of(one).get("content")))]
    blocked = _at(said, documented("blocked"))
    refusals = (said.get("refusal"), *(part.get("refusal") for part in parts), blocked)
    sure = any(first_choice(said.get(one)) for one in documented("lists"))
    return BodyParts(
        text,
        (blocked and "blocked") or ending,
        thought or next(filter(None, fields), None),
        next(filter(None, refusals), None),
        said.get("error")
        or (body if body.get("object") == "error" else None)
        or (_failure(said) if text == "" else None),
        said.get("usage") or _counts(inner_first),
        next(filter(None, map(said.get, documented("calls"))), None)
        or [part for part in parts if {*documented("call_parts")} & {*map(small, (str(part.get("type")), *part))}]
        or None,
        bool(blocked or (name and ending_name) or (sure and (name or ending is not None or len(way) > 2))),
        (small(name), small(ending_name)) if name and ending_name in body and len(way) == 1 else None,
    )


def has_answer(body: Mapping[str, Any]) -> bool:
    """Whether a table is the body of an answer, rather than a row with a text among its columns."""
    said = table_of(table_of(first_choice(body.get("choices"))).get("message")).get("content")
    return bool(said and isinstance(said, str)) or parts_of(body).known  # most bodies are OpenAI's, and seen at once


def _way(body: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], str]:
    """The tables on the way to the text, the outermost first, and the text's name in the last of them.

    The text that stands highest is taken; where none is written, the deepest place for one.
    """
    level, places = [[body]], list[tuple[list[Mapping[str, Any]], str]]()
    last = level[0]
    while level:
        last = level[0]
        for way in level:
            for name, value in way[-1].items():
                if _singular(name) not in _NAMES or not _holds_text(name, value):
                    continue
                if value and isinstance(value, str | list | Mapping):
                    return way, name
                places.append((way, name))
        level = [[*way, inner] for way in level[:_WIDEST] for inner in _within(way)]
    return places[-1] if places else (last, "")


def _holds_text(name: str, value: object) -> bool:
    """Whether a value is a text, pieces or parts of one, rather than what stands on the way to it."""
    if isinstance(value, list):
        typed = all(isinstance(one, str) or "type" in table_of(one) for one in value)
        return typed or _singular(name) == "content"
    parts = small(name) == "content" or (small(name) == "text" and isinstance(content_of(value)[0], str))
    return parts or not isinstance(value, Mapping)


def _within(way: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The tables within the last one of a way; of a list of alternatives the first."""
    for name, value in way[-1].items() if len(way) < _DEEPEST else ():
        inner = first_choice(value) if isinstance(value, list) else table_of(value)
        if _leads_on(name) and inner and str(inner.get("role", "")).casefold() not in _ASKERS:
            yield inner


@lru_cache(maxsize=4096)
def _leads_on(name: str) -> bool:
    """Whether a table of this name stands on the way to a text: `message`, `chatResponse`."""
    *_, last = ["", *re.findall(r"[A-Z]?[a-z]+", name)]
    return _singular(name) in _WAY or small(last) in ("response", "output", "result")


def _ending(tables: Sequence[Mapping[str, Any]]) -> tuple[str, object]:
    """The name of an ending and its word, of the innermost table with one, or of the tables in it.

    Where a gateway says "stop", the model behind it may have been stopped: of several words one that says so counts.
    """
    known: tuple[str, object] = ("", None)
    for table in chain(tables, (one for each in tables for one in _within([each]))):
        beside = (table, *(one for one in table.values() if isinstance(one, Mapping)))
        found = [(key, _word(key, one)) for each in beside for key, one in each.items() if _is_ending(key)]
        words = [(key, word) for key, word in found if isinstance(word, str) and word]
        if words:
            worse = [one for one in words if ending_of(str(one[1])) in _WORST]
            return worse[-1] if worse else words[0]
        known = next((one for one in found if one[1] is not None), found[0]) if found and not known[0] else known
    return known


@lru_cache(maxsize=4096)
def _is_ending(name: str) -> bool:
    return _ENDING.search(small(name)) is not None


def _word(name: str, ending: object) -> object:
    """The word of an ending, which some servers have in a table, a list or a name: `stopped_eos`; `done` says none."""
    if isinstance(ending, bool):
        return name if ending and small(name) in documented("true") else None
    if isinstance(ending, Mapping):
        return ending.get("reason") or ending.get("type") or ending
    return ending[0] if isinstance(ending, list) and len(ending) == 1 else ending


def _counts(tables: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """What stands beside a text, or in any table there: counts of tokens may be among it."""
    beside = [*tables, *(one for table in tables for one in table.values() if isinstance(one, Mapping))]
    return {key: one for table in beside[::-1] for key, one in table.items() if not isinstance(one, bool)}


@lru_cache(maxsize=4096)
def small(name: str) -> str:
    """A name of a field as names are compared: `finishReason` and `finish_reason` are one."""
    return str(name).replace("_", "").replace("-", "").casefold()


@lru_cache(maxsize=4096)
def _singular(name: str) -> str:
    return small(name).removesuffix("s")


def content_of(content: object) -> tuple[object, str | None]:
    """The text of a content and the reasoning beside it. A list, or one object, has parts; else it is as it is."""
    if isinstance(content, Mapping):
        if content.keys() == {"role"}:  # Gemini's, where its reasoning took all tokens
            return None, None
        if not ("type" in content or "parts" in content or _plain_text(content) is not None):
            return content, None
        content = content["parts"] if isinstance(content.get("parts"), list) else [content]
    if not isinstance(content, list):
        return content, None
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        one = table_of(part)
        kind = small(str(one.get("type", "")))
        if kind in documented("asides"):
            continue
        if one.get("phase") in documented("phases"):  # as Harmony's channel has it
            thoughts += filter(None, [_plain_text(one.get("content"))])
            continue
        named = [name for name in one if _is_reasoning(name) and one[name] is not True]
        if named or _is_reasoning(kind) or any(one.get(name) is True for name in documented("thought")):
            thoughts += filter(None, [_plain_text(one[named[0]] if named else one)])
            continue
        text, thought = (
            content_of(inner) if isinstance(inner := one.get("content"), list) else (_plain_text(part), None)
        )
        # A message of its own, of several in Responses, begins a paragraph.
        texts += ["\n\n"] if texts and isinstance(inner, list) and text else []
        texts += [text] if isinstance(text, str) else []
        thoughts += [thought] if thought else []
    return "".join(texts) if texts or not content or thoughts else None, "\n\n".join(thoughts) or None


@lru_cache(maxsize=4096)
def _is_reasoning(name: str) -> bool:
    return _REASONING.match(name) is not None


def _plain_text(value: object) -> str | None:
    """The text of a part or of reasoning: a string, a table with one, or a list of them; None where there is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n\n".join(filter(None, map(_plain_text, value))) or None
    table = table_of(value)
    if "effort" in table:  # how to reason, and not what
        return None
    within = (table[name] for name in table if name in _TEXTS or _is_reasoning(name))
    return next((text for one in within if (text := _plain_text(one)) is not None), None)


def first_choice(choices: object) -> Mapping[str, Any]:
    """The choice with the lowest `index`: servers may write them in any order."""
    found = [one for one in _list(choices) if isinstance(one, Mapping)]
    numbered = [one for one in found if str(one.get("index", "")).isdecimal()]
    return min(numbered, key=lambda one: int(one["index"])) if numbered else next(iter(found), {})


def table_of(value: object) -> Mapping[str, Any]:
    """A table as it is, and an empty one in place of anything else."""
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def error_words(error: object) -> str:
    """An error's own words with its code."""
    if error is None:
        return ""
    table = table_of(error)
    words = (table.get("code"), message_of(error) or (None if table else error))
    return one_line(" ".join(str(one) for one in words if one is not None)) or "error"


def _failure(said: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What says beside an empty text why it is empty: a table with a code that is none of success, and a message."""
    tables = (one for one in said.values() if isinstance(one, Mapping) and message_of(one))
    codes = ("code", "statuscode", "errorcode")
    return next(
        (
            t
            for t in tables
            if any(small(key) in codes and str(one) not in ("200", "0") for key, one in t.items() if one)
        ),
        None,
    )


def error_status(error: object) -> int | None:
    """The HTTP status that an error names."""
    codes = [one for key, one in table_of(error).items() if small(key) in ("code", "status", "statuscode")]
    found = [int(one) for one in codes if isinstance(one, int | str) and str(one).isdecimal()]
    return next((one for one in found if 400 <= one < 600), None)


def one_line(words: str) -> str:
    """Words without line breaks, and with single blanks."""
    return " ".join(words.split())


@cache
def documented(key: str) -> Sequence[str]:
    """The names that systems document for a part of a body (`bodies.toml`), as `small` writes them."""
    rows = tomllib.loads(_BODIES.read_text(encoding="utf-8"))["systems"]
    return [small(name) for row in rows for name in row.get(key, ())]


def _at(said: Mapping[str, Any], names: Sequence[str]) -> Any:
    """What stands under these names, one within the other; None where nothing does."""
    value: Any = said
    for name in names:
        value = {small(key): one for key, one in table_of(value).items()}.get(name)
    return (value or None) if names else None
