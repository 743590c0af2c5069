"""What is wrong with a value, in plain words: pydantic's own are for programmers ('Input should be a valid tuple')."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
