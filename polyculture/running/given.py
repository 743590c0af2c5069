"""An experiment that Python gives, as an object or as the keys of a file: read, checked and kept like a file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polyculture.cache.errors import ExperimentError
from polyculture.experiment.file import Experiment
from polyculture.experiment.workspace import Workspace
from polyculture.running.opening import check_workspace

WHERE = Path("<experiment>")  # named in errors; its folder is the present one, which paths are relative to
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def workspace_of(given: Experiment | Mapping[str, Any], runs: Path | None = None) -> Workspace:
    """An experiment ready to run. Its run is kept in `runs`, or in `runs/` of the present folder.

    Raises `ExperimentError`, as for a file.
    """
    if isinstance(given, Experiment):  # the keys that were given: all others have their defaults
        data = given.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
    else:
        data = dict(given)
    return check_workspace(data, WHERE, runs, toml_text(data))


def toml_text(data: Mapping[str, Any]) -> str:
    """Nested keys and values as TOML. A None is left out. Raises `ExperimentError` for what TOML cannot hold."""
    return "".join(f"{line}\n" for line in _table(data, ()))


def _table(data: Mapping[str, Any], above: tuple[str, ...]) -> list[str]:
    values = {key: value for key, value in data.items() if value is not None}
    tables = {key: value for key, value in values.items() if isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {_value(value, (*above, str(key)))}" for key, value in values.items() if key not in tables]
    for key, table in tables.items():
        name = (*above, str(key))
        lines += [f"[{'.'.join(map(_key, name))}]", *_table(table, name)]
    return lines


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise ExperimentError(f"the key {key!r} is not a string", where=WHERE)
    return key if _BARE.fullmatch(key) else _string(key)


def _value(value: object, place: tuple[str, ...]) -> str:
    if isinstance(value, str | Path):
        return _string(str(value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(one, place) for one in value)}]"
    if isinstance(value, Mapping):
        pairs = (f"{_key(key)} = {_value(one, place)}" for key, one in value.items() if one is not None)
        return f"{{ {', '.join(pairs)} }}"
    what = f"{'.'.join(place)}: {type(value).__name__} has no place in an experiment"
    raise ExperimentError(what, where=WHERE, remedy="Give strings, numbers, booleans, lists and dictionaries.")


def _string(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for the one control character that JSON leaves as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
