"""What is wrong with the keys of an experiment file, a line each, and the keys without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import reduce
from itertools import takewhile
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from polyculture.cache.catalog.written import meant_by
from polyculture.cache.errors import ExperimentError, did_you_mean, near_words
from polyculture.cache.validation import describe_fault

_STAND_INS = {"name": "unnamed", "models": ["mock:unnamed"]}  # of keys that no experiment does without

Steps = tuple[str | int, ...]  # the keys and numbers that lead to a value


def key_mistakes(
    fault: ValidationError, data: dict[str, Any], file: Path
) -> tuple[list[ExperimentError], dict[str, Any]]:
    """A mistake for every value that does not fit the model, and the keys without these values.

    A misspelt key is read as the one that is meant: a key that is missing beside it is told when it is still missing
    then. So whoever validates what is returned, until nothing is wrong, tells all mistakes and none that follows from
    another one.
    """
    errors = fault.errors()
    if any(error["type"] == "extra_forbidden" for error in errors):
        errors = [error for error in errors if error["type"] != "missing"]
    wrong_entries = {error["loc"][:-1] for error in errors}  # without these their list may be too short, which follows
    errors = [error for error in errors if error["type"] != "too_short" or error["loc"] not in wrong_entries]
    by_place: dict[Steps, ErrorDetails] = {}  # a value may fit none of several types
    for error in errors:
        by_place.setdefault(tuple(_followed(data, error["loc"])), error)
    mended = deepcopy(data)
    for error in reversed(by_place.values()):  # so that numbers of entries before one that is removed hold
        _mend(mended, error)
    if mended == data:
        raise fault
    return [_mistake(error, steps, file) for steps, error in by_place.items()], mended


def _followed(data: Any, loc: Steps) -> Iterator[str | int]:
    """The steps as far as the data goes, and the key that it lacks; behind them pydantic names types."""
    for step in loc:
        entries = dict(enumerate(data)) if isinstance(data, list | tuple) else data
        if not isinstance(entries, dict) or (entries is not data and step not in entries):
            return
        yield step
        if step not in entries:
            return
        data = entries[step]


def _mend(data: dict[str, Any], error: ErrorDetails) -> None:
    """Removes what is wrong: the value, the entry of a list, what lacks a key; a misspelt key takes its right name."""
    steps = list(_followed(data, error["loc"])) or ["variants"]  # whose mistakes alone have no place
    if error["type"] == "missing" and len(steps) > 1:
        del steps[-1]
    keys = [str(step) for step in takewhile(lambda step: isinstance(step, str), steps)]
    if error["type"] != "extra_forbidden" and len(keys) > 2:  # the price of a model: its table needs all of its keys
        del keys[-1]
    table = reduce(lambda inner, key: inner.get(key, {}), keys[:-1], data)
    value = table.pop(keys[-1], None)
    entry = next(iter(steps[len(keys) :]), None)
    if isinstance(entry, int) and len(value) > 1:
        table[keys[-1]] = [one for number, one in enumerate(value) if number != entry]
    place, meant = _meant(steps) if error["type"] == "extra_forbidden" else ("", None)
    if meant is not None and place == _section(steps):
        table.setdefault(meant, value)
    for key in _STAND_INS.keys() & keys[:1]:
        data.setdefault(key, _STAND_INS[key])
    if keys[0] == "prices":  # else a model is told to lack the price that is wrong
        data.pop("max_cost", None)


def _mistake(error: ErrorDetails, steps: Sequence[str | int], file: Path) -> ExperimentError:
    see = f"Add {steps[-1]} = ..." if error["type"] == "missing" else "See docs/experiments.md."
    what, remedy = describe_fault(error, steps, see=see)
    return ExperimentError(
        what, where=file, remedy=_key_remedy(steps) if error["type"] == "extra_forbidden" else remedy
    )


def _sections() -> dict[str, list[str]]:
    """The keys of each section of a file; those above all sections under ""."""
    from polyculture.experiment.file import Experiment  # here: it reads with this module

    models: dict[str, type[BaseModel]] = {"": Experiment}
    for name, field in Experiment.model_fields.items():
        of = (get_args(field.annotation) or (field.annotation,))[-1]  # what a mapping holds, or the section itself
        if isinstance(of, type) and issubclass(of, BaseModel):
            models[name] = of
    return {name: [field.alias or key for key, field in of.model_fields.items()] for name, of in models.items()}


def _section(steps: Sequence[str | int]) -> str:
    return str(steps[0]) if len(steps) > 1 and steps[0] in _sections() else ""


def _meant(steps: Sequence[str | int]) -> tuple[str, str | None]:
    """The section and the key that somebody means by a key that is none: of this table, else of another one."""
    keys, key, here = _sections(), str(steps[-1]), _section(steps)
    for place in (here, *(name for name in keys if name != here)):
        found = key if key in keys[place] else meant_by(key, keys[place])
        if found:
            return place, found
    return here, next(iter(near_words(key, keys[here])), None)


def _key_remedy(steps: Sequence[str | int]) -> str:
    place, found = _meant(steps)
    if found is None:
        return did_you_mean(str(steps[-1]), _sections()[place])
    if place == _section(steps):
        return f"Did you mean {found!r}?"
    return f"Did you mean {found!r} {f'under [{place}]' if place else 'at the top of the file, above all sections'}?"
