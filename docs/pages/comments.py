"""Documents a field of a class by its comment, which mkdocstrings would not show."""

from __future__ import annotations

import re
from typing import Any

from griffe import Attribute, Docstring, Extension

_BEHIND = re.compile(r"^[^#]*?(?:\"[^\"]*\"[^#]*?)*#\s(?P<comment>.*)$")  # a sign of a text is no comment
_ABOVE = re.compile(r"^\s*#\s(?P<comment>.*)$")


class Comments(Extension):
    """Takes the comment behind a field, or the lines of comment above it."""

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """A hook of griffe: a field was read."""
        if attr.docstring is None and attr.lineno is not None and attr.endlineno is not None:
            comment = _comment(attr.lines_collection[attr.filepath], attr.lineno, attr.endlineno)
            if comment:
                attr.docstring = Docstring(comment, lineno=attr.lineno, endlineno=attr.endlineno, parent=attr)


def _comment(lines: list[str], first: int, last: int) -> str:
    """The comment of a field on the lines `first` to `last`, counted from 1; empty where it has none."""
    behind = _BEHIND.match(lines[last - 1])
    if behind:
        return behind["comment"].strip()
    above: list[str] = []
    for line in reversed(lines[: first - 1]):
        found = _ABOVE.match(line)
        if not found:
            break
        above.insert(0, found["comment"].strip())
    return " ".join(above)
