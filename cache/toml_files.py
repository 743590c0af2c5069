"""Reads TOML files that people write, as tables or as models, with faults that name file, place and remedy."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from polyculture.cache.errors import CatalogError, UserError, together
from polyculture.cache.text.suggestions import near_words
from polyculture.cache.validation import explain

Model = TypeVar("Model", bound=BaseModel)


def read_toml(file: Path, error: type[UserError] = CatalogError) -> dict[str, Any]:
    """The table of a user's file; `error` with the line where it is no TOML, or why it cannot be read."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))  # some editors begin a file with a byte-order mark
    except UnicodeDecodeError as fault:
        line = fault.object.count(b"\n", 0, fault.start) + 1
        what = f"is not UTF-8 text (line {line} has another encoding)"
        raise error(what, where=file, remedy="Save it as UTF-8 in your editor.") from fault
    except ValueError as fault:  # also of an integer of more digits than Python reads
        raise error(f"not valid TOML: {fault}", where=file, remedy="Correct that line.") from fault
    except RecursionError as fault:
        raise error("is nested too deeply", where=file, remedy="Tables and lists are a few levels deep.") from fault
    except OSError as fault:
        near = near_words(file.name, [one.name for one in file.absolute().parent.glob("*.toml")])
        remedy = f"Did you mean {near[0]!r}?" if near else None
        raise error(f"cannot be read: {fault.strerror or fault}", where=file, remedy=remedy) from fault


def parse_model(model: type[Model], data: dict[str, Any], file: Path, *above: str) -> Model:
    """`data`, which stand below the keys `above`, as a `model`.

    Raises `CatalogError` that names the file, each wrong key and what is wrong with it.
    """
    try:
        return model.model_validate(data)
    except ValidationError as fault:
        found = explain(fault, model, above=above)
        raise together(CatalogError(what, where=file, remedy=remedy) for what, remedy in found) from fault
