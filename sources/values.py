"""A row of a file: its columns, paths into them, and templates.

A name without braces is a column or a path, as `sources.record` reads them (`answer_info.ans0[1]`;
`annotations[].count` is each element's). With braces it is a template: `{category}-{example_id}`. Of several between
bars the first that is there counts: `ending1|ending 1`; with a bar at the end, none need be there. Columns without a
path are found by the words of their names, where none has exactly this one (`headers.plain_title`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.spreadsheet import is_error
from polyculture.sources.cells import opened
from polyculture.sources.headers import UNNAMED, plain_title
from polyculture.sources.left_out import SourceLocation
from polyculture.sources.record import Record, alternatives, find, listed_names

_BRACES = re.compile(r"\{([^{}]+)\}")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_CONTROL_BUT_TABS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNSEEN = "\ufeff \t\r\n"  # a byte order mark, also in mid-file
_SURROGATE = re.compile("[\ud800-\udfff]")  # of a byte that is not UTF-8, or of a broken escape
LONGEST_PATTERN = 1000


class RowError(Exception):
    """A row that cannot be read as its rules say, of questions, entities or a second file; the message says why."""


@dataclass(frozen=True)
class SourceRow:
    """A row under its columns, and what else is known of it: parts of its path, joined columns, split parts."""

    place: SourceLocation
    record: Record
    more: Mapping[str, str]
    of_path: Mapping[str, str] = field(default_factory=dict)  # what the path of its file says

    def get(self, name: int | str) -> Any:
        """The value of a column (its number or name), a path or a template; None where there is none."""
        if isinstance(name, int):
            values = list(self.record.values.values())
            return values[name] if name < len(values) else None
        for known in (self.record.values, self.more):  # most names are columns: no path is looked for
            if name in known:
                return known[name]
        every = alternatives(name)
        return next((value for one in every if (value := self._at(one, is_only=len(every) == 1)) is not None), None)

    def _at(self, name: str, *, is_only: bool) -> Any:
        """The value at one of several names. Of a template that `is_only`, a missing column is an error."""
        if name in self.more:
            return self.more[name]
        if "{" in name:
            return _BRACES.sub(lambda match: self.text(match[1]), name) if is_only or self.has(name) else None
        path = name.replace("[]", "[*]")
        value = self.record.get(path)
        return self.record.get(column) if value is None and (column := self._titled(name)) is not None else value

    def _titled(self, name: str) -> str | None:
        """The column whose name has these words; None where there is none."""
        return None if set("{}[].") & set(name) else by_title(tuple(self.record.values)).get(plain_title(name))

    def has(self, name: int | str) -> bool:
        """Whether there is a column, or a path into one, of this name."""
        if isinstance(name, int):
            return name < len(self.record.values)
        if (every := alternatives(name)) != (name,):
            return name in self.record.values or any(map(self.has, every))
        if "{" in name and name not in self.record.values:
            return all(self.has(part) for part in _BRACES.findall(name))
        there = name in self.more or self.record.has(name.replace("[]", "[*]"))
        return there or self._titled(name) is not None

    def text(self, name: int | str, *, whole: bool = False, optional: bool = False) -> str:
        """A value as a text in tidy spaces; `whole` keeps the blanks within it, as a question is asked.

        Raises `RowError` where there is no such column and it is not `optional`, or where it holds no text.
        """
        if isinstance(name, str) and "|" in name and name not in self.record.values:
            optional = optional or may_be_missing(name)
            every = alternatives(name)
            name = next((one for one in every if self.get(one) is not None), name if every[1:] else every[0])
        if whole and isinstance(name, str) and "{" in name and name not in self.record.values:
            return _BRACES.sub(lambda match: self.text(match[1], whole=True), name)
        value = self.get(name)
        if value is None and not optional and not self.has(name):
            there = listed_names({**self.more, **self.record.values})
            raise RowError(f"there is no {name!r}; there are {there}")
        return as_text(name, value, whole=whole)

    def texts(self, name: int | str) -> list[str]:
        """All texts of a value: of a list its elements, of a list of lists theirs, of a text itself.

        A cell may hold a list as JSON, or as Python writes one."""
        return list(_flat(name, opened(self.get(name))))

    def all(self, path: int | str) -> list[Any]:
        """Each value at a path: `annotations[].answers` has one an annotation."""
        if isinstance(path, int):
            return [self.get(path)]
        return [value for _, value in find(self.record.values, path.replace("[]", "[*]"))]


def may_be_missing(name: int | str) -> bool:
    """Whether the name of a column says that tables may lack it: `Gender|`."""
    return isinstance(name, str) and name.endswith("|")


@lru_cache(maxsize=1024)
def by_title(columns: tuple[str, ...]) -> Mapping[str, str]:
    """Columns by the words of their names; of those that have the same the first."""
    return {plain_title(name): name for name in reversed(columns) if not name.startswith(UNNAMED)}


def is_utf8(value: object) -> bool:
    """Whether a value is in UTF-8, so far as it is a text: a byte that is none became half of a pair of surrogates."""
    return not isinstance(value, str) or value.isascii() or _SURROGATE.search(value) is None


def as_text(name: object, value: Any, *, whole: bool = False) -> str:
    """A value as a text in tidy spaces, or `whole`: a whole number without a point. Raises `RowError` of no text."""
    if isinstance(value, str):
        if not is_utf8(value):
            raise RowError(f"{name!r} is not in UTF-8")
        text = kept_whole(value) if whole else tidy(value)
        return "" if is_error(text) else text
    if value is None:
        return ""
    if isinstance(value, (list, dict)):
        raise RowError(f"{name!r} is a {'list' if isinstance(value, list) else 'table'}, no text")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return tidy(str(value))


def number_of(name: object, value: object) -> float:
    """A value as a number. Raises `RowError` where it is none."""
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        try:
            return float(value)
        except ValueError:
            pass
    raise RowError(f"{name} {value!r} is no number")


def _flat(name: object, value: Any) -> Sequence[str]:
    if isinstance(value, list):
        return [text for one in value for text in _flat(name, one)]
    text = as_text(name, value)
    return [text] if text else []


def kept_whole(text: str) -> str:
    """A question's text as its publisher has it, but for blanks around it and control characters within.

    A likelihood depends on each blank: double ones, and those that do not break, stay.
    """
    return _CONTROL_BUT_TABS.sub(" ", text.replace("\r\n", "\n").strip(_UNSEEN)).strip()


def tidy(text: str) -> str:
    """Single spaces, no blanks at the ends of lines, and a blank for each control character.

    A publisher's editor left backspaces where a blank stood ("18\\x08years"): deleting them joins two words.
    """
    text = _CONTROL.sub(" ", text)
    return (
        "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()
        if "\n" in text
        else " ".join(text.split())
    )


def spelling(text: str) -> str:
    """A word as words are compared: without case, in single blanks."""
    return " ".join(text.split()).casefold()


def parse_name(name: str) -> str:
    """A column, a path or a template of columns. Raises `ValueError` where a brace does not close."""
    if "{" in (rest := _BRACES.sub("", name)) or "}" in rest:
        raise ValueError(f"{name!r} has a brace without its other half, or nothing in braces")
    return name


def parse_pattern(pattern: str) -> str:
    """A pattern with named groups, as RE2 reads it: its time grows with the text alone, whatever strangers write.

    Raises `ValueError` where it is none.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise ValueError(f"is a pattern of more than {LONGEST_PATTERN} characters")
    try:
        split_texts(["x"], pattern)
    except pa.ArrowInvalid as fault:
        reason = str(fault).removeprefix("Invalid regular expression: ")
        raise ValueError(f"is no pattern of named groups that RE2 reads: {reason}") from fault
    return pattern


def split_texts(texts: Sequence[str], pattern: str) -> list[dict[str, str] | None]:
    """The named groups of a pattern in each text; None where a text does not fit as a whole."""
    found: Any = pc.extract_regex(pa.array(texts, pa.string()), f"^(?:{pattern})$")
    return list(found.to_pylist())
