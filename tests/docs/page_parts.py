"""The blocks of a page of the docs: files to save, commands, queries and outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$|^You now have:\n\n((?:- `[^`]+`\n)+)", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"[Ss]ave this as `([^`]+)`:\n\n\Z")


@dataclass(frozen=True)
class Part:
    """A block of a page: a file to save, commands or a query to run, what they print, or what is there then."""

    sort: str  # 'file', 'sh', 'sql', 'text' or 'there'
    text: str
    place: slice  # of the text in the page
    name: str = ""  # of a file


def parts(page: str) -> Iterator[Part]:
    """The blocks of a page in their order, without those that only say how something looks.

    Raises `ValueError` where an output follows on no command.
    """
    before = None
    for found in BLOCK.finditer(page):
        sort, text, there = found.groups()
        saved = SAVED.search(page[: found.start()])
        if there:
            yield Part("there", there, slice(*found.span(3)))
        elif saved:
            yield Part("file", text, slice(*found.span(2)), saved.group(1))
        elif sort == "text" and (before is None or page[before.end() : found.start()].strip()):
            raise ValueError(f"an output that follows on no command: {text[:80]}")
        elif sort in {"sh", "sql", "text"}:
            yield Part(sort, text, slice(*found.span(2)))
        before = found if sort in {"sh", "sql"} and not saved else None
