"""Answers that come in pieces, as an event stream, put together to the body that the same service sends as a whole.

assemble(b'data: {"choices": [{"delta": {"content": "Te"}}]}\\n\\ndata: ...')
{"choices": [{"message": {"content": "Tea."}, "finish_reason": "stop"}], "usage": {...}}

Format: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from polyculture.cache.text.sanitize import parse
from polyculture.generate.engines.bodies import small, table_of

_LINE = re.compile(r"\r\n|\n|\r")
_LAST = "[DONE]"  # OpenAI's
# Texts that come in pieces, as `small` writes their names; of any other field the last value counts.
_PIECES = ("content", "text", "reasoning", "reasoningcontent", "refusal", "thinking", "outputtext")
_GROWING = ("parts",)  # lists whose pieces come one after another: Gemini's
_CONTENT = (
    "content"  # a text, or parts with types, of which pieces of one type that follow each other are one: Mistral's
)
# Events of OpenAI's Responses that have the whole answer in them.
_WHOLE = ("response.completed", "response.incomplete", "response.failed")
# A part of the content each: Anthropic's and Cohere's.
_BLOCKS = ("content_block_start", "content_block_delta", "content-start", "content-delta")
_FRAMES = ("message_start", "message_delta", "message-start", "message-end")  # of what is said of the message


class BrokenStreamError(ValueError):
    """A stream that ends before its answer does."""


def is_event_stream(content: bytes) -> bool:
    """Whether a body begins as an event stream does."""
    return content.lstrip(b"\xef\xbb\xbf\r\n").startswith((b"data:", b"event:", b"id:", b":", b"retry:"))


def is_json_lines(content: bytes) -> bool:
    """Whether a body is lines of JSON, as Ollama's own API streams them; an OpenAI-compatible one never does."""
    lines = [line for line in content.splitlines() if line.strip()]
    return len(lines) > 1 and all(line.lstrip().startswith(b"{") for line in lines)


def assemble(content: bytes) -> Mapping[str, Any]:
    """The body of an event stream. An error among the events stands in it as `error`.

    Raises `BrokenStreamError` where it has no event, or ends before the answer does.
    """
    body: dict[str, Any] = {}
    ended = False
    for event in _events(content):
        if event == _LAST:
            ended = True
            continue
        table = table_of(parse(event.encode("utf-8", "surrogateescape")))
        kind = table.get("type")
        if kind in _WHOLE:
            return table_of(table.get("response"))
        if kind in _BLOCKS:
            delta = table_of(table.get("delta"))
            piece = {**table_of(table.get("content_block")), **table_of(table_of(delta.get("message")).get("content"))}
            piece |= {name: value for name, value in delta.items() if name not in ("type", "message")}
            table = {"content": [{"index": table.get("index", 0), **piece}]}
        elif kind in _FRAMES:
            usage = {"usage": table["usage"]} if "usage" in table else {}
            delta = {name: one for name, one in table_of(table.get("delta")).items() if name != "message"}
            table = {**table_of(table.get("message")), **delta, **usage}
        ended = ended or kind == "message_stop"
        _merge(body, table)
    for choice in body.get("choices") or ():
        if isinstance(choice, dict) and "delta" in choice:
            choice["message"] = choice.pop("delta")
    if not body or not (ended or "error" in body or _has_ending(body)):
        raise BrokenStreamError("its event stream breaks off")
    return body


def _events(content: bytes) -> Iterator[str]:
    """The data of each event."""
    data: list[str] = []
    for line in (*_LINE.split(content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")), ""):
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []


def _merge(body: dict[str, Any], piece: Mapping[str, Any]) -> None:
    """Adds a piece: texts grow, tables and lists are merged, and of anything else the last value counts."""
    for name, value in piece.items():
        known = body.get(name)
        if name == _CONTENT and {type(known), type(value)} == {str, list}:  # Mistral: thinking in parts, then a text
            known, value = _parts(known), _parts(value)
        if isinstance(value, str) and isinstance(known, str) and small(name) in _PIECES:
            body[name] = known + value
        elif isinstance(value, Mapping):
            inner = dict(known) if isinstance(known, dict) else {}
            _merge(inner, value)
            body[name] = inner
        elif isinstance(value, list) and all(isinstance(one, Mapping) for one in value):
            body[name] = _merged(list(known) if isinstance(known, list) else [], value, name)
        elif value is not None or name not in body:
            body[name] = value


def _merged(known: list[Any], pieces: list[Mapping[str, Any]], name: str) -> list[Any]:
    for place, piece in enumerate(pieces):
        if name == _CONTENT and "index" not in piece:
            same = known[-1] if known and known[-1].get("type") == piece.get("type") else None
        else:
            index = piece.get("index", None if name in _GROWING else place)
            same = next((one for at, one in enumerate(known) if one.get("index", at) == index), None)
        if same is None:
            known.append(same := {})
        _merge(same, piece)
    return known


def _parts(content: object) -> object:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _has_ending(body: Mapping[str, Any]) -> bool:
    """Whether a choice, a candidate or the body itself says how it ended."""
    listed = [*(body.get("choices") or ()), *(body.get("candidates") or ()), body]
    return any(table_of(one).get(name) for one in listed for name in ("finish_reason", "finishReason", "stop_reason"))
