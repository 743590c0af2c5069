"""What is left out of a publisher's files or changed when they are read, where it is, and why."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from polyculture.cache.errors import DataSetError


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A place in the data set: a file in its folder, a sheet of it, a row counted from 1."""

    file: str
    sheet: str | None = None
    row: int | None = None

    def __str__(self) -> str:
        sheet = f" sheet {self.sheet!r}" if self.sheet else ""
        return f"{self.file}{sheet}" + (f" row {self.row}" if self.row else "")


class UnreadableFileError(DataSetError):
    """A file that is damaged, or that is not there. Rules that say something wrong of a file are another fault."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something in the files that is left out or changed, and why."""

    place: SourceLocation
    reason: str
    text: str | None = None
    languages: tuple[str, ...] = ()  # that it is about; (): all
    is_published: bool = False  # a reading as published has it


# How reasons begin, where one is what happened to a row rather than what is wrong with it.
LEFT_OUT, NOT_READ, SKIPPED, MISSING = "left out: ", "not read: ", "skipped: ", "missing: "
_VALUE = re.compile(r"(?<= )(?:'[^']*'|\"[^\"]*\")(?= )")
_OTHER_ROW = re.compile(r" stands in .*|(?:(?<=entity)|(?<=context)|(?<=name)) as in .*| as in .* row \d+")


def check_command(name: str, folder: Path | None, *, english: bool = False) -> str:
    """The command that lists all of them, to be copied; `name` and `folder` as the user gave them."""
    words = ["polyculture", "data", "check", name, *(["--folder", str(folder)] if folder else [])]
    return shlex.join([*words, *(["--english"] if english else [])])


def once(lines: Iterable[LeftOut], every: Collection[str]) -> list[LeftOut]:
    """Lines that several languages have alike as one with these; one that is about `every` language names none."""
    languages: dict[LeftOut, dict[str, None]] = {}
    for line in lines:
        languages.setdefault(replace(line, languages=()), {}).update(dict.fromkeys(line.languages))
    return [
        replace(line, languages=() if named.keys() >= set(every) else tuple(named)) for line, named in languages.items()
    ]


def by_reason(lines: Sequence[LeftOut]) -> list[tuple[str, int, SourceLocation]]:
    """Reasons, how many lines have each, and its first place; most frequent first.

    What differs from row to row is no part of a reason: the place of another row, and of several lines quoted values.
    """
    reasons = [_OTHER_ROW.sub(" as in another row", line.reason) for line in lines]
    alike = [_VALUE.sub("…", reason) for reason in reasons]
    first = dict(zip(reversed(alike), zip(reversed(reasons), reversed(lines), strict=True), strict=True))
    return [
        (first[reason][0] if number == 1 else reason, number, first[reason][1].place)
        for reason, number in Counter(alike).most_common()
    ]


def in_short(lines: Sequence[LeftOut], command: str = "", *, most: int = 3) -> str:
    """The reasons in a line: '7 x left out: its text is empty (a.csv row 3)', files that are lost first, then rows.

    Of more than `most`, how many there are beside these, with the command that lists all.
    """
    counted = sorted(by_reason(lines), key=lambda one: (not _is_lost_file(*one), not one[0].startswith(LEFT_OUT)))
    told = "; ".join(f"{number:,} x {reason} ({place})" for reason, number, place in counted[:most])
    more = f"; and {len(counted) - most} more reasons{command and f': {command}'}"
    return told + (more if len(counted) > most else "")


def _is_lost_file(reason: str, _number: int, place: SourceLocation) -> bool:
    return reason.startswith(NOT_READ) and place.row is None
