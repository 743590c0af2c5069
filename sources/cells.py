"""Opens the cells of a table: the one place that knows how a table or a list is written as a text.

{"content": "Pizza."}                                       JSON, also as a text of JSON, or in a fence of Markdown
[{'role': 'assistant', 'content': 'Pizza.'}]                Python's `repr` of tables and lists
ChatCompletionMessage(content='Pizza.', role='assistant')   its `repr` of an object: OpenAI's client, dataclasses
content='Pizza.' additional_kwargs={}                       pydantic's `str` of one: LangChain's messages
['Pizza.' 'Pasta.']                                         numpy's list, which has no commas, also of tables
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from polyculture.cache.text.sanitize import parse

_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)\n?```", re.DOTALL)
_CALL = re.compile(r"[A-Za-z_][\w.]{0,80}\((?:[A-Za-z_]\w*=|['\"\[{(])")
_FIELDS = re.compile(r"[A-Za-z_]\w*=(?:['\"\[{(<]|None|True|False|[-\d]|[A-Z]\w*\()")
_ENUM = re.compile(r"<\w+(?:\.\w+)+: ('[^'\n]*'|\"[^\"\n]*\"|-?\d+)>")  # <FinishReason.STOP: 'STOP'>
_NAMES = {"nan": None, "inf": None, "null": None, "true": True, "false": False, "NaT": None}
_BESIDE = re.compile(r"['\"]\s+['\"]")  # two texts with no comma between
_TABLES = re.compile(r"\}\s+\{")  # two tables with no comma between
_KEPT = 64  # cells that were just opened: each field of a record looks into them


def opened(value: Any) -> Any:
    """The table or list that a cell holds; any other value, and what cannot be read, as it is."""
    if not isinstance(value, str) or len(value) < 2 or not _may_open(value):
        return value
    found = _opened(value)
    return value if found is None else found


def is_value(value: Any) -> bool:
    """Whether a value is one, rather than a list or a table of some: a list is no model."""
    return value not in (None, "") and not isinstance(opened(value), list | Mapping)


def _may_open(cell: str) -> bool:
    """Whether a look at the beginning and the end says that a cell may be opened."""
    first, last = cell[0], cell[-1]
    if first.isspace() or last.isspace():
        stripped = cell.strip()
        if len(stripped) < 2:
            return False
        first, last = stripped[0], stripped[-1]
    if first in "[{(":
        return last in "]})"
    if first in "\"'":
        return last == first and cell.strip()[1:2] in "[{"
    if first == "`":
        return last == "`"
    return ((first.isalpha() or first == "_") and "=" in cell[:120]) or (last == ")" and "(" in cell[:80])


@lru_cache(maxsize=_KEPT)
def _opened(cell: str) -> Any:
    """What a cell holds; None where it is a text."""
    text = cell.strip()
    if (fenced := _FENCE.fullmatch(text)) is not None:
        text = fenced[1].strip()
        if text[:1] not in ("{", "["):
            return None
    found: Any = None
    if text[0] in '[{"':
        try:
            found = parse(text.encode("utf-8", "surrogateescape"))
        except ValueError:
            found = None
    if isinstance(found, str):  # JSON in JSON
        inner = opened(found)
        return None if isinstance(inner, str) else inner
    return found if isinstance(found, dict | list) else _of_python(text)


def _of_python(text: str) -> Any:
    """A value that Python wrote; None where it did not."""
    if text[0] not in "[{('\"":
        if _FIELDS.match(text):
            text = f"_({_with_commas(text)})"
        elif _CALL.match(text) is None or text[-1] != ")":
            return None
    try:
        text = _between_tables(text) if _TABLES.search(text) else text
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            node = ast.parse(_ENUM.sub(r"\1", text) if "<" in text else text, mode="eval").body
        found = _value(node, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return None
    if isinstance(found, str):
        found = opened(found)
    return found if isinstance(found, dict | list) else None


def _with_commas(text: str) -> str:
    """The fields of pydantic's `str`, which have a blank between them, as arguments."""
    made, depth, last = "", 0, tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(_ENUM.sub(r"\1", text)).readline):
        if token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER):
            continue
        if depth == 0 and token.type == tokenize.NAME and last != tokenize.NEWLINE and not made.endswith(("=", "-")):
            made += ","
        depth += (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0
        made += ("" if token.type == tokenize.OP and token.string != "-" else " ") + token.string
        last = token.type
    return made.strip()


def _between_tables(text: str) -> str:
    """A list of tables as numpy writes it, with nothing between them, with commas there."""
    lines, last = text.splitlines(keepends=True), ""
    ends: list[tuple[int, int]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.string == "{" and last == "}":
            ends.append(token.start)
        last = token.string if token.string.strip() else last
    for row, column in reversed(ends):
        lines[row - 1] = f"{lines[row - 1][:column]},{lines[row - 1][column:]}"
    return "".join(lines)


def _value(node: ast.expr, text: str) -> Any:
    """The value of an expression that has no more than values. Raises `ValueError` for any other."""
    match node:
        case ast.Constant(value=value):
            return value if isinstance(value, str | int | float | bool | None) else str(value)
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return _elements(node, elements, text)
        case ast.Dict(keys=keys, values=values) if None not in keys:
            pairs = zip(keys, values, strict=True)
            return {str(_value(key, text)): _value(value, text) for key, value in pairs if key is not None}
        case ast.Call(args=args, keywords=keywords):
            if args:  # array([...], dtype=object), datetime(2026, 1, 1)
                first = _value(args[0], text)
                return first if isinstance(first, list | dict) else str(first)
            return {one.arg: _value(one.value, text) for one in keywords if one.arg is not None}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.Attribute(attr=name):
            return name
    raise ValueError("no value")


def _elements(node: ast.expr, elements: list[ast.expr], text: str) -> list[Any]:
    """The elements of a list. Texts without a comma between are one constant to Python, and several to numpy."""
    strings = [one for one in elements if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    segment = ast.get_source_segment(text, node) if strings and _BESIDE.search(text) else None
    if segment is None or len(strings) != len(elements):
        return [_value(one, text) for one in elements]
    tokens = tokenize.generate_tokens(io.StringIO(f"{segment}\n").readline)
    return [ast.literal_eval(one.string) for one in tokens if one.type == tokenize.STRING]


def dotted(values: Mapping[str, Any], step: str) -> dict[str, Any]:
    """The table behind the first part of keys with dots, as OpenTelemetry flattens one: `message.role`."""
    return {key[len(step) + 1 :]: values[key] for key in _behind(tuple(values), step)}


@lru_cache(maxsize=4096)
def _behind(keys: tuple[Any, ...], step: str) -> tuple[str, ...]:
    """Keys with dots of which a step is the first part: the records of a file have the same keys."""
    return tuple(key for key in keys if isinstance(key, str) and key.startswith(f"{step}."))
