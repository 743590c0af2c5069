"""Turns pydantic's errors about what a user wrote into lines that say what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from polyculture.cache.text.sanitize import but_not
from polyculture.cache.text.suggestions import did_you_mean, near_words
from polyculture.cache.written_paths import WrittenOptions

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


class ClosedModel(BaseModel):
    """A table of a file, or the options of a command: a key that it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def refuse_ignored(options: BaseModel, info: ValidationInfo, names: Iterable[str], why: str) -> None:
    """Raises `ValidationError` of each option that somebody wrote, though the others leave it without an effect."""
    meant = info.context.meant if isinstance(info.context, WrittenOptions) else ()
    error = PydanticCustomError("ignored", "{why}", {"why": why})
    faults = [
        InitErrorDetails(type=error, loc=(name,), input=getattr(options, name)) for name in names if name in meant
    ]
    if faults:
        raise ValidationError.from_exception_data(type(options).__name__, faults)


def explain(
    fault: ValidationError, model: type[BaseModel], see: str = REMEDY, above: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Each thing that is wrong, with its place in the file, `above` before it, and its remedy: else `see`.

    A key is not missing where an unknown one is meant for it, and a list is not too short where its entries are wrong.
    """
    errors = [(error, list(error["loc"])) for error in fault.errors()]
    unknown = [(steps, _keys(model, steps[:-1])) for error, steps in errors if error["type"] == "extra_forbidden"]
    meant = [[*steps[:-1], *near_words(str(steps[-1]), known)] for steps, known in unknown]
    follows = {"missing": meant, "too_short": [steps[:-1] for _, steps in errors]}
    for error, steps in errors:
        known = _keys(model, steps[:-1]) if error["type"] == "extra_forbidden" else {}
        if steps not in follows.get(error["type"], ()):
            yield describe_fault(error, [*above, *steps], known, see)


def describe_fault(
    error: ErrorDetails, steps: Sequence[int | str], known: Iterable[str] = (), see: str = REMEDY
) -> tuple[str, str]:
    """What one of the errors of a `ValidationError` says, and its remedy: else `see`.

    `steps` lead to its place, and `known` are the keys that the table there may have. A value that may be an API key is
    not shown, and where a sentence is ours it says itself what of the value may be.
    """
    place, kind = ".".join(map(str, steps)), error["type"]
    if kind == "extra_forbidden":
        return f"unknown key {place!r}", did_you_mean(str(steps[-1]), known)
    if kind == "missing":
        return f"the key {place!r} is missing", see
    if kind == "ignored":
        return f"{place} would be ignored: {plain_words(error)}", "Leave it out."
    what = plain_words(error) if kind == "value_error" else plain_words(error) + but_not(error["input"])
    if kind == "literal_error":
        see = did_you_mean(str(error["input"]), re.findall("'(.+?)'", error["ctx"]["expected"]), otherwise=see)
    return f"{place}: {what}" if place else what, see


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
