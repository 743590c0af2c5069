"""Where a data set is published, and which of its files a rule reads.

A pattern of files is a path in the data set's folder, whatever its capitals. `{language}`, `{category}` or any other
name takes what is there, the first as much as it can; `*` takes anything but a slash. A pattern that ends with a star
takes files of every kind that is read.
"""

from __future__ import annotations

import glob
import re
from functools import lru_cache
from typing import Annotated

from pydantic import Field

from polyculture.cache.validation import ClosedModel


class Source(ClosedModel):
    """A data set and its publisher."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$")]  # a folder is called like it
    title: str
    licence: str
    citation: str = ""
    repository: str | None = None  # a git repository: an https address or a folder
    published_at: str = ""  # where no git repository has it: an address
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    pinned: str = ""  # how sure the commit is, and what of the data set it holds
    paths: tuple[str, ...] = ()  # the folders and files that are kept of the repository; empty: all

    @property
    def how_to_get(self) -> str:
        """A remedy where its files are not there."""
        if self.repository:
            return f"Get it with `polyculture data fetch {self.name}`, or name the folder of its files with --folder."
        published = f"It is published at {self.published_at}: download it, and name" if self.published_at else "Name"
        return f"{published} the folder of its files with --folder."


_PLACE = re.compile(r"(\{[A-Za-z_]\w*\}|\*+)")
_MOST = 3  # fields and stars in one part of a path: matching takes a time that grows with each


def parse_files(pattern: str) -> str:
    """A pattern of files that can be matched in bounded time. Raises `ValueError` where it is none."""
    named = fields_of(pattern)
    if not pattern.strip("/"):
        raise ValueError("is empty")
    if pattern.startswith("/") or ".." in pattern.split("/"):
        raise ValueError("leaves the set's folder; it is a path inside it")
    if any(sign in _PLACE.sub("", pattern) for sign in "{}"):
        raise ValueError(f"{pattern!r} has a brace without its other half, or no name in braces")
    if len(set(named)) < len(named):
        raise ValueError("has a field twice")
    if any(len(_PLACE.findall(part)) > _MOST for part in pattern.split("/")):
        raise ValueError(f"has more than {_MOST} fields and stars in one part of the path")
    return pattern


def fields_of(pattern: str) -> list[str]:
    """The fields of a pattern of files."""
    return [place[1:-1] for place in _PLACE.findall(pattern) if place[0] == "{"]


@lru_cache(maxsize=256)
def path_expression(pattern: str) -> re.Pattern[str]:
    """A pattern of files as a regular expression with its fields as named groups."""
    pieces = enumerate(_PLACE.split(pattern))  # what stands at odd places is a field or a star
    expression = (re.escape(piece) if not place % 2 else f"(?P<{piece[1:-1]}>[^/]+)" if piece[0] == "{" else "[^/]*"
                  for place, piece in pieces)  # fmt: skip
    return re.compile("".join(expression), re.IGNORECASE)


def path_glob(pattern: str) -> str:
    """The same as a glob: only folders that it names are looked into."""
    return "".join("*" if place % 2 else "".join(map(_either_case, piece))
                   for place, piece in enumerate(_PLACE.split(pattern)))  # fmt: skip


def _either_case(sign: str) -> str:
    return f"[{sign.lower()}{sign.upper()}]" if sign.isascii() and sign.isalpha() else glob.escape(sign)
