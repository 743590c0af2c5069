"""Turns pydantic's errors about what a user wrote into one line that says what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from polyculture.cache.errors import did_you_mean

REMEDY = "See docs/extending.md."
_KINDS = {
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    "finite_number": "must be a finite number",
    "string_type": "must be text in quotes",
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("tuple_type", "list_type", "set_type"), "must be a list in square brackets"),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), "must be a table of keys"),
    "none_required": "must be left out",
}
_LIMITS = {
    "greater_than_equal": "must be {ge} or more",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be {le} or less",
    "less_than": "must be less than {lt}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "string_too_long": "must have {max_length} characters at most",
    "string_too_short": "must have {min_length} characters or more",
    "too_long": "must have {max_length} entries at most",
    "too_short": "must have {min_length} or more entries",
}
_PATTERNS = {
    r"^[A-Za-z0-9][A-Za-z0-9._-]*$": (
        "must be of the letters A to Z, digits, full stops, _ and -, and begin with a letter or digit"
    )
}


def explain(fault: ValidationError, model: type[BaseModel]) -> tuple[str, str]:
    """The first error, beginning with its place in the file, and its remedy."""
    first = fault.errors()[0]
    steps = list(first["loc"])
    place = ".".join(map(str, steps)) or "top level"
    if first["type"] == "extra_forbidden":
        return f"{place}: unknown key", did_you_mean(str(steps[-1]), _keys(model, steps[:-1]))
    if first["type"] == "missing":
        return f"{place}: {first['msg']}{_instead(fault, steps)}", REMEDY
    return f"{place}: {_message(first)}", REMEDY


def _instead(fault: ValidationError, steps: list[int | str]) -> str:
    """An unknown key beside a missing one, which is often the same key misspelt."""
    unknown = [error["loc"] for error in fault.errors() if error["type"] == "extra_forbidden"]
    beside = [str(place[-1]) for place in unknown if list(place[:-1]) == steps[:-1]]
    return f"; {beside[0]!r} is no key of it" if beside else ""


def _message(error: ErrorDetails) -> str:
    if error["type"] == "string_pattern_mismatch":
        return f"{error['input']!r} does not have the form {error.get('ctx', {}).get('pattern')}"
    message = plain_words(error)
    return message if error["type"] == "value_error" or ", not " in message else f"{message}, not {error['input']!r}"


def _keys(model: type[BaseModel], steps: list[int | str]) -> Mapping[str, Any]:
    """The keys that the table at this place may have."""
    place: Any = model
    for step in steps:
        # The type of a field, or of what a mapping or tuple holds.
        place = place.model_fields[str(step)].annotation if hasattr(place, "model_fields") else get_args(place)[-1]
    return place.model_fields if hasattr(place, "model_fields") else {}


def plain_words(error: Mapping[str, Any]) -> str:
    """What one of the errors of a `ValidationError` says, without its place and value. Our own messages stay."""
    kind, context = str(error["type"]), error.get("ctx") or {}
    if kind in _KINDS:
        return _KINDS[kind]
    if kind in _LIMITS:
        short = {name: f"{value:g}" if isinstance(value, float) else value for name, value in context.items()}
        return _LIMITS[kind].format(**short)
    if kind == "string_pattern_mismatch":
        pattern = str(context.get("pattern"))
        return _PATTERNS.get(pattern, f"must have the form {pattern}")
    return str(error["msg"]).removeprefix("Value error, ")
