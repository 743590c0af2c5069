"""Turns pydantic's validation errors in a user's file into one line that says what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from polyculture.cache.errors import did_you_mean, plain_words

REMEDY = "See docs/extending.md."


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
