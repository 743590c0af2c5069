"""Finds the lines of a text in which an RE2 expression matches, without splitting the text into lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from polyculture.extract.boundaries import Span

BREAKS = dict.fromkeys(map(ord, "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), "\0")  # line ends besides the newline


def lines_with_spans(data: bytes, expression: Any) -> Iterator[tuple[str, list[Span]]]:
    """Yields the lines in which the expression matches, with the spans in characters.

    Unusual line ends are replaced. The data are searched once, since every call of RE2 costs microseconds.
    """
    line, start, end = b"", 0, 0
    spans: list[Span] = []
    for match in expression.finditer(data):
        first, last = match.span()
        if spans and first >= end:
            yield _in_characters(line, spans)
            spans = []
        if not spans:
            start, end = _line_around(data, first, last)
            line = data[start:end]
        spans.append((first - start, last - start))
    if spans:
        yield _in_characters(line, spans)


def _line_around(data: bytes, first: int, last: int) -> Span:
    end = data.find(b"\n", last)
    return data.rfind(b"\n", 0, first) + 1, end if end >= 0 else len(data)


def _in_characters(line: bytes, spans: list[Span]) -> tuple[str, list[Span]]:
    """The decoded line, and its sorted byte spans converted to characters."""
    text = line.decode()
    if len(text) == len(line):
        return _unbroken(text), spans
    done = chars = 0
    in_characters = []
    for first, last in spans:
        start = chars + len(line[done:first].decode())
        chars = start + len(line[first:last].decode())
        done = last
        in_characters.append((start, chars))
    return _unbroken(text), in_characters


def _unbroken(line: str) -> str:
    """The line without unusual line ends. These are searched first, since `translate` is slow."""
    return line.translate(BREAKS) if line.splitlines() != [line] else line
