"""What pydantic says of an experiment file, in lines for people: each mistake with its place and its remedy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from polyculture.cache.errors import ExperimentError
from polyculture.cache.text.suggestions import did_you_mean, meant_by, near_words
from polyculture.cache.validation import describe_fault

Steps = tuple[str | int, ...]  # the keys and numbers that lead to a value


def key_mistakes(
    fault: ValidationError, data: dict[str, Any], file: Path, model: type[BaseModel]
) -> Iterator[ExperimentError]:
    """A mistake for every value that does not fit, and none that follows from another one: a key is not missing where
    an unknown one is meant for it, and a list is not too short where its entries are wrong."""
    keys = _Keys(model)
    by_place: dict[Steps, ErrorDetails] = {}  # a value may fit none of several types
    for error in fault.errors():
        by_place.setdefault(tuple(_followed(data, error["loc"])), error)
    meant = {keys.meant_place(steps) for steps, error in by_place.items() if error["type"] == "extra_forbidden"}
    with_wrong_entries = {steps[:-1] for steps in by_place}
    follows: Mapping[str, Collection[Steps | None]] = {"missing": meant, "too_short": with_wrong_entries}
    for steps, error in by_place.items():
        if steps not in follows.get(error["type"], ()):
            yield _mistake(error, steps, file, keys)


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


def _mistake(error: ErrorDetails, steps: Steps, file: Path, keys: _Keys) -> ExperimentError:
    see = f"Add {steps[-1]} = ..." if error["type"] == "missing" else "See docs/experiments.md."
    what, remedy = describe_fault(error, steps, see=see)
    return ExperimentError(
        what, where=file, remedy=keys.remedy(steps) if error["type"] == "extra_forbidden" else remedy
    )


class _Keys:
    """The keys of each section of a file; those above all sections under ""."""

    def __init__(self, model: type[BaseModel]) -> None:
        models: dict[str, type[BaseModel]] = {"": model}
        for name, field in model.model_fields.items():
            of = (get_args(field.annotation) or (field.annotation,))[-1]  # what a mapping holds, or the section itself
            if isinstance(of, type) and issubclass(of, BaseModel):
                models[name] = of
        self._of = {name: [field.alias or key for key, field in of.model_fields.items()] for name, of in models.items()}

    def meant_place(self, steps: Steps) -> Steps | None:
        """The place of the key that somebody means by an unknown one."""
        section, key = self._meant(steps)
        if key is None:
            return None
        if section == self._section(steps):
            return (*steps[:-1], key)
        return (section, key) if section else (key,)

    def remedy(self, steps: Steps) -> str:
        """What to write in place of an unknown key."""
        place, key = self._meant(steps)
        if key is None:
            return did_you_mean(str(steps[-1]), self._of[place])
        if place == self._section(steps):
            return f"Did you mean {key!r}?"
        if key == steps[-1]:
            where = f"under [{place}]" if place else "at the top of the file, above all sections"
            return f"Write {key!r} {where}."
        return f"Did you mean {key!r} {f'under [{place}]' if place else 'at the top of the file, above all sections'}?"

    def _meant(self, steps: Steps) -> tuple[str, str | None]:
        """The section and the key that somebody means by a key that is none: of this table, else of another one."""
        key, here = str(steps[-1]), self._section(steps)
        for place in (here, *(name for name in self._of if name != here)):
            near = key if key in self._of[place] else meant_by(key, self._of[place])
            if near:
                return place, near
        return here, next(iter(near_words(key, self._of[here])), None)

    def _section(self, steps: Steps) -> str:
        return str(steps[0]) if len(steps) > 1 and steps[0] in self._of else ""
