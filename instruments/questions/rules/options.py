"""The options of a row, which of them a rule means, and which way a stereotype goes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from polyculture.instruments.questions.model import BIASED, OTHER, PERSON, UNKNOWN
from polyculture.instruments.questions.rules.groups import Person, split_groups, targets
from polyculture.instruments.questions.rules.model import OptionsColumn, Where
from polyculture.sources.cells import opened
from polyculture.sources.rules import ColumnName
from polyculture.sources.values import RowError, SourceRow, as_text

MOST_OPTIONS = 1000  # candidates of a gap
_LABEL = re.compile(r"\W*(?:([A-Za-z])|(\d{1,3}))\W*")  # 'B', '(b)', '2.'
_MISSING = ("", "na", "nan", "none", "null")  # as tables of numbers write that there is none


def options_of(row: SourceRow, rule: Sequence[ColumnName] | OptionsColumn) -> list[str]:
    """The options of a row, in the file's order. Raises `RowError` where they are none."""
    if not isinstance(rule, OptionsColumn):
        return [row.text(one, whole=True) for one in rule]
    if rule.column is None:
        return list(rule.text)
    told = row.get(rule.column)
    if told is None:
        raise RowError(f"there is no {rule.column!r}")
    found = [as_text(rule.column, one, whole=True) for one in _listed(rule, told)]
    if len(found) > MOST_OPTIONS:
        raise RowError(f"{len(found)} options; at most {MOST_OPTIONS} are read")
    return found


def _listed(rule: OptionsColumn, told: Any) -> list[Any]:
    """The options that a cell holds: between separators, or a list or a table as JSON or Python write one."""
    if rule.form == "split" and isinstance(told, str):
        return told.split(rule.separator)
    found = opened(told)
    if isinstance(found, dict):  # {"A": "tea", "B": "coffee"}
        return list(found.values())
    if not isinstance(found, (list, tuple)):
        raise RowError(f"{rule.column} {str(told)[:80]!r} is no list")
    return list(found)


class RowOptions:
    """The options of one row, to find those that rules mean."""

    def __init__(self, row: SourceRow, texts: Sequence[str], columns: Sequence[str], category: str) -> None:
        self._row, self._texts, self._columns, self._category = row, texts, columns, category
        self._folded = [_folded(text) for text in texts]

    def find(self, wheres: Sequence[Where]) -> tuple[int, ...]:
        """The indexes that the first rule to find any means. Raises `RowError` where a value names no option."""
        return next((found or () for found in self._tried(wheres) if found is None or found), ())

    def one(self, role: str, wheres: Sequence[Where], among: Sequence[int]) -> int | None:
        """The index that the first rule to find exactly one of `among` means; None where none does.

        Raises `RowError` where no rule finds one, and one finds several, or a value names no option.
        """
        several = 0
        for found in self._tried(wheres):
            if found is None:
                return None
            if len(found) == 1 and found[0] in among:
                return found[0]
            several = max(several, len(found))
        if several > 1:
            raise RowError(f"{several} options are {role!r}")
        return None

    def _tried(self, wheres: Sequence[Where]) -> Iterator[tuple[int, ...] | None]:
        """What each rule finds. A value that names no option is the next rule's; an error where no other follows."""
        fault: RowError | None = None
        for where in wheres:
            try:
                yield self._of(where)
            except RowError as first:
                fault = fault or first
        if fault is not None:
            raise fault

    def _of(self, where: Where) -> tuple[int, ...] | None:
        """The options that a rule means; None where it says that nobody is meant."""
        if where.column is not None:
            several = isinstance(opened(self._row.get(where.column)), list)
            return self._named(where, self._row.texts(where.column) if several else [self._row.text(where.column)])
        if where.place is not None:
            return (where.place - 1,) if where.place <= len(self._texts) else ()
        if where.text:
            wordings = {_folded(text) for text in where.text}
            return tuple(number for number, text in enumerate(self._folded) if text in wordings)
        if where.groups:
            return self._grouped(where)
        wanted = {text.casefold() for text in where.value}
        return tuple(number for number in range(len(self._texts))
                     if any(text.casefold() in wanted for text in self._own(where, number)))  # fmt: skip

    def _named(self, where: Where, told: list[str]) -> tuple[int, ...] | None:
        if any(one in where.nobody for one in told):
            return None
        parts = [part.strip() for one in told for part in _parts(one, where.separator)]
        if where.form != "text":
            parts = [part for part in parts if part.casefold() not in _MISSING]
        return tuple(sorted({self._place(where, part) for part in parts if part}))

    def _place(self, where: Where, told: str) -> int:
        place: int | None = None
        if isinstance(where.form, tuple):
            place = where.form.index(told) if told in where.form else None
        elif where.form.startswith("index"):
            number = _ascii_digits(told).removesuffix(".0")
            place = int(number) - (where.form == "index from 1") if re.fullmatch(r"\d{1,4}", number) else None
        elif where.form == "letter":
            label = _LABEL.fullmatch(_ascii_digits(told))
            place = None if label is None else int(label[2]) - 1 if label[2] else ord(label[1].upper()) - ord("A")
        elif self._folded.count(_folded(told)) == 1:
            place = self._folded.index(_folded(told))
        if place is None or not 0 <= place < len(self._texts):
            raise RowError(f"{where.column} {told!r} is none of the {len(self._texts)} options")
        return place

    def _own(self, where: Where, number: int) -> list[str]:
        path = str(where.of or "").replace("{option}", self._columns[number])
        return self._row.texts(path)

    def _grouped(self, where: Where) -> tuple[int, ...]:
        groups = [one for path in where.groups for text in self._row.texts(path) for one in split_groups(text)]
        persons = []
        for number, text in enumerate(self._texts):
            name, *rest = self._own(where, number) or [""]
            code = rest[-1].rpartition(",")[2].strip() if rest else ""  # the group's name stands last
            persons.append(Person(name.strip("{} "), code, text))
        real = [number for number, one in enumerate(persons) if one.code.casefold() != "unknown"]
        found = targets(self._category, list(dict.fromkeys(groups)), [persons[number] for number in real])
        return (real[found[0]],) if len(found) == 1 else ()


def _parts(told: str, separator: str | None) -> Sequence[str]:
    """What a text names, between separators; with an empty one each sign: 'ABD', as CMExam writes several letters."""
    if separator is None:
        return [told]
    return told.split(separator) if separator else list(told)


def _folded(text: str) -> str:
    """A text without case, in single blanks, its letters composed: columns of one file may be written in two forms."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _ascii_digits(text: str) -> str:
    """A text with the digits of all scripts as 0 to 9, Ethiopic ones too."""
    return "".join(str(digit) if (digit := unicodedata.digit(sign, None)) is not None else sign for sign in text)


def roles_of(texts: Sequence[str], named: Mapping[str, int]) -> tuple[str, ...]:
    """A role each: the named ones; what is left is 'other' beside a biased option, 'person' beside 'unknown' alone."""
    left = OTHER if BIASED in named else PERSON if UNKNOWN in named else ""
    by_place = {place: role for role, place in named.items()}
    return tuple(by_place.get(place, left) for place in range(len(texts)))
