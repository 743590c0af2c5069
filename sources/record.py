"""What a file yields: records, rows that are none, and the paths that reach into records.

prompt                          a column
messages[-1].content            an element of a list, from its end
content[type=text].text         the elements of a list or table whose `type` is `text`; parts of one text are joined
messages[role=assistant][0]     the first of these
choices[*].text                 each element
response_*                      each column whose name has something else in place of the star: `response_a`
usage.input|usage.prompt        the first of these paths that has a value

Of one of several texts of a record a star takes the text's own index: `completions[*].model` is the model of this text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from polyculture.sources.cells import dotted, opened

LONGEST_LINE = 16 * 2**20  # bytes of a line, or of a record in an archive
LONGEST_TEXT = 1_000_000  # characters of a text that is taken
LISTED = "@list"  # the name of the list that a record stands in, where a file has several
MOST_COLUMNS = 16_384  # of a table: as many as a spreadsheet can have
_SHOWN = 80
_WORDS_OF_A_MODEL = 6
_MARKS = str.maketrans("", "", "_- ")  # between the words of a name
_NAMED = 12  # keys in a message
_DEEPEST = 3  # tables within tables
_STEP = re.compile(
    r"\[(?P<index>-?\d{1,9})\]|\[(?P<each>\*)\]|\[(?P<key>[^\]=]+)=(?P<values>[^\]]*)\]|(?P<name>[^.\[\]]+)|\."
)

Found = list[tuple[tuple[Any, ...], Any]]  # values, and where each stands in the lists on the way to it


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be taken, and why."""

    row: str
    reason: str
    value: str | None = None
    lost: bool = True  # False: there is no text in it that is lost (a failed request, scores, the same text again)


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file: values by column."""

    row: str  # where it stands in the file
    values: Mapping[str, Any]
    nulls: bool = True  # whether its format tells a missing value from an empty one: a cell of CSV and XLSX does not
    place: str = ""  # of one of several texts: where they stand in it, `choices[*].text`
    at: tuple[Any, ...] = ()  # and what stands there in place of each star

    def get(self, path: str) -> Any:
        """The value at a path; None where there is none. Of several values a list, of parts of a text their text."""
        if path in self.values:  # a column whose name looks like a path
            return self.values[path]
        for one in alternatives(path):
            found = find(self.values, one, self.at)
            value = found[0][1] if len(found) == 1 else _joined_parts(one, [value for _, value in found])
            if value is not None:
                return value
        return None

    def column(self, path: str) -> str | None:
        """The one of a path's alternatives that `get` takes the value from; None where there is none."""
        if self.values.get(path) is not None:
            return path
        return next((one for one in alternatives(path) if self.get(one) is not None), None)

    def has(self, path: str) -> bool:
        """Whether there is a value at a path, be it null."""
        return path in self.values or any(find(self.values, one) for one in alternatives(path))

    def has_all(self, paths: Collection[str]) -> bool:
        """Whether there is a value at each of the paths that a shape needs; no record is of a shape that needs none."""
        return bool(paths) and all(map(self.has, paths))

    def within(self, rows: Sequence[str]) -> Iterator[Record]:
        """The records in the list at the path `rows[0]`, each with the columns of this one that the others name.

        The record itself where there is no such list.
        """
        inner = self.get(rows[0]) if rows else None
        if not isinstance(inner, list):
            yield self
            return
        outer = {name: self.values.get(name) for name in rows[1:]}
        for number, one in enumerate(inner, 1):
            yield Record(f"{self.row}/{number}", {**outer, **one} if isinstance(one, Mapping) else outer)


FILE = "@file"  # the column of the file's name, within its folder, without what says its kind
ReadRecords = Iterator[Record | BadRow]
# The records of a file, and the file -> the rows that are read as if they stood in it; a `BadRow` says why one is not.
Expand: TypeAlias = "Callable[[Iterable[Record | BadRow], Path], Iterator[Record | BadRow]]"


@cache
def known_names() -> Mapping[str, Mapping[str, Any]]:
    """The tables of `columns.toml`."""
    return tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=4096)
def is_model_name(name: str) -> bool:
    """Whether a name is that of a model of a known family: `GPT-4o`, `meta-llama/Llama-3.1-8B`, `claude_3_opus`."""
    words = re.findall(r"[^\W\d_]+", name.casefold())
    return len(words) <= _WORDS_OF_A_MODEL and not set(words).isdisjoint(known_names()["models"]["families"])


def find(values: Any, path: str, own: Sequence[Any] = ()) -> Found:
    """All values at a path, none where there is none. `own` is what stands in place of its first stars."""
    if (names_alone := _names_alone(path)) is not None:  # as most paths are
        for name in names_alone:
            table = opened(values)
            if not isinstance(table, dict):
                return []
            values = table[name] if name in table else dotted(table, name)
            if name not in table and not values:
                return []
        return [((), values)]
    found: Found = [((), values)]
    filtered, stars = False, 0
    for step in _steps(path):
        if filtered and isinstance(step, int):  # of what a condition chose
            found = found[step:][:1] if step < 0 else found[step : step + 1]
        elif filtered and isinstance(step, tuple) and step:
            found = [(at, one) for at, one in found if _meets(one, step)]
        else:
            if (
                len(found) == 1
                and isinstance(step, str)
                and isinstance(table := opened(found[0][1]), dict)
                and step in table
            ):
                found = [(found[0][0], table[step])]  # as most steps are
                filtered = False
                continue
            found = [(at + more, value) for at, one in found for more, value in _next(opened(one), step)]
            if step == () or (isinstance(step, str) and "*" in step):
                if stars < len(own):
                    found = [(at, value) for at, value in found if at and at[-1] == own[stars]]
                stars += 1
        filtered = isinstance(step, tuple) and bool(step)
    return found


def missing(values: Any, path: str) -> str | None:
    """Which part of a path is not there, and what is there in its place; None where the path leads to a value."""
    if isinstance(values, Mapping) and path in values:
        return None
    paths = alternatives(path)
    if any(find(values, one) for one in paths):
        return None
    parts = _texts_of_steps(paths[0])
    for end, part in enumerate(parts):
        if not find(values, "".join(parts[: end + 1]).lstrip(".") or "."):
            before = "".join(parts[:end]).lstrip(".")
            there = [value for _, value in find(values, before or ".")]
            inside = f"{before} has" if before else "there is"
            return f"{inside} no {part.lstrip('.')}: {_contents(opened(there[0]), part)}"
    return None


def listed_names(keys: Iterable[Any]) -> str:
    """The first keys in a line, without those that are ours: `@`, and what begins with a space."""
    every = [str(key) for key in keys if not str(key).startswith(("@", " "))]
    more = f", and {len(every) - _NAMED} more" if len(every) > _NAMED else ""
    return f"{', '.join(shown(key) for key in every[:_NAMED])}{more}"


def merged(records: Iterable[Record]) -> Record | None:
    """One record with the columns of several, each with its first value: rows need not have all of them."""
    values: dict[str, Any] | None = None
    for record in records:
        values = _joined({} if values is None else values, record.values)
    return None if values is None else Record("", values)


def by_name(values: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Paths by their last names: of the record's own columns, and of those within tables or behind a dot that have a
    name alone."""
    own, within = dict[str, str](), dict[str, list[str]]()
    for name, value in values.items():
        path = f"{before}{name}"
        if path.startswith((" ", "@")):  # ours
            continue
        if isinstance(value, Mapping) and before.count(".") < _DEEPEST:
            for one, inner in by_name(value, f"{path}.").items():
                within.setdefault(one, []).append(inner)
        elif "." in str(name):
            within.setdefault(folded(str(name).rpartition(".")[2]), []).append(path)
        own[folded(str(name))] = path
    return {name: paths[0] for name, paths in within.items() if len(paths) == 1} | own


def folded(name: str) -> str:
    """A column's name as names are compared: `Model name`, `modelName` and `model_name` are one."""
    return str(name).translate(_MARKS).casefold().removeprefix("ال")


def shown(value: object) -> str:
    """A value in a line, shortened."""
    try:
        line = " ".join(str(value)[: 10 * _SHOWN].split())
    except RecursionError:
        line = "tables within tables"
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def _next(value: Any, step: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(step, str):
        if isinstance(value, dict) and step in value:
            yield (), value[step]
        elif isinstance(value, dict) and "*" in step:
            before, _, after = step.partition("*")
            for name, one in value.items():
                middle = str(name)[len(before) : len(str(name)) - len(after)]
                if middle and str(name) == f"{before}{middle}{after}":
                    yield (middle,), one
        elif isinstance(value, dict) and (inner := dotted(value, step)):
            yield (), inner
    elif isinstance(step, int):
        if isinstance(value, list) and -len(value) <= step < len(value):
            yield (), value[step]
    else:
        elements = value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
        for place, one in elements:
            if not step or _meets(one, step):
                yield (place,), one


def _meets(value: Any, condition: tuple[Any, ...]) -> bool:
    path, wanted = condition
    return any(_plain(inner) in wanted for _, inner in find(value, path))


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[str | int | tuple[Any, ...], ...]:
    """Names, indexes, `()` for each element, and (path, values) for the elements whose path has one of the values."""
    steps: list[str | int | tuple[Any, ...]] = []
    for step in _STEP.finditer(path):
        if step["index"]:
            steps.append(int(step["index"]))
        elif step["each"]:
            steps.append(())
        elif step["key"]:
            steps.append((step["key"], frozenset(step["values"].split("|"))))
        elif step["name"]:
            steps.append(step["name"])
    return tuple(steps)


@lru_cache(maxsize=1024)
def _names_alone(path: str) -> tuple[str, ...] | None:
    """The steps of a path that are all names; None where one is not."""
    steps = _steps(path)
    names_alone = tuple(step for step in steps if isinstance(step, str) and "*" not in step)
    return names_alone if len(names_alone) == len(steps) else None


@lru_cache(maxsize=1024)
def alternatives(path: str) -> tuple[str, ...]:
    """The paths between the bars of one, but for those within brackets and braces. A bar at the end begins none."""
    return tuple(re.split(r"\|(?![^\[]*\])(?![^{]*\})", path.removesuffix("|"))) if "|" in path else (path,)


def _texts_of_steps(path: str) -> list[str]:
    parts = [f".{step[0]}" if step["name"] else step[0] for step in _STEP.finditer(path)]
    return [part for part in parts if part != "."]


def _joined_parts(path: str, values: Sequence[Any]) -> Any:
    if values and "[type=" in path and all(isinstance(value, str) for value in values):
        return "".join(values)
    return list(values) or None


def _contents(value: Any, part: str) -> str:
    if isinstance(value, Mapping):
        return f"it has {listed_names(value)}"
    if isinstance(value, list):
        condition = _steps(part)[0]
        if isinstance(condition, tuple) and condition:
            there = {_plain(inner): None for one in value for _, inner in find(one, condition[0])}
            return f"its {condition[0]} is {listed_names(there)}" if there else f"no element has {condition[0]}"
        return f"it is a list of {len(value)}; an element is [0] or [-1]"
    return f"it is {'null' if value is None else 'a ' + type(value).__name__}"


def _plain(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    both = dict(one)
    for name, value in other.items():
        known = both.get(name)
        if isinstance(known, Mapping) and isinstance(value, Mapping):
            both[name] = _joined(known, value)
        elif known is None:
            both[name] = value
    return both
