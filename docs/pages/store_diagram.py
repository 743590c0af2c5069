"""The drawing of the store's main tables, as an SVG: boxes with their keys, and a line where one leads to another."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

WIDTH, ROW, HEAD, GAP = 196, 18, 26, (56, 40)


@dataclass(frozen=True)
class Box:
    """A table: where it stands (column and row of a grid), a word on it, and the columns that are shown."""

    name: str
    at: tuple[int, int]
    of: str
    columns: tuple[str, ...]

    @property
    def height(self) -> int:
        return HEAD + ROW * (len(self.columns) + 1) + 6


@dataclass(frozen=True)
class Line:
    """Rows of `source` lead to rows of `target` by `columns`, which both have."""

    source: str
    target: str
    columns: tuple[str, ...]


CELL = ("model", "language", "topic", "condition", "country", "wording")
BOXES = (
    Box("prompts", (0, 0), "a filled-in question", ("prompt_id", "language", "topic", "condition", "country", "text")),
    Box("responses", (1, 0), "a sampled text", ("response_id", "prompt_id", "model", "sample", "text", "status")),
    Box("extractions", (2, 0), "what was read of a text", ("extraction_id", "response_id", "status", "error")),
    Box("mentions", (3, 0), "a name in a text", ("extraction_id", "response_id", "ordinal", "surface", "query")),
    Box("links", (3, 1), "what a name means", ("query", "surface", "name", "english", "status", "qid")),
    Box("candidates", (2, 1), "what it may mean", ("query", "qid", "rank", "reason")),
    Box("entities", (1, 1), "an item of Wikidata", ("qid", "label", "description", "sitelinks")),
    Box("entity_countries", (0, 1), "where it is from", ("qid", "country", "property")),
    Box("linked_mentions", (3, 2), "a mention with its link", ("response_id", "surface", "kind", "status", "qid")),
    Box("entity_counts", (2, 2), "an item in a cell", (*CELL[:3], "country", "qid", "mentions")),
    Box("granularity", (1, 2), "and the other metrics", (*CELL, "granularity", "incidences")),
    Box("numbers", (0, 2), "cells and means with intervals", ("metric", "level", "model", "estimate", "low", "high")),
)
LINES = (
    Line("prompts", "responses", ("prompt_id",)),
    Line("responses", "extractions", ("response_id",)),
    Line("extractions", "mentions", ("extraction_id",)),
    Line("mentions", "links", ("query",)),
    Line("links", "candidates", ("query",)),
    Line("candidates", "entities", ("qid",)),
    Line("entities", "entity_countries", ("qid",)),
    Line("links", "linked_mentions", ("surface", "qid")),
    Line("linked_mentions", "entity_counts", ("qid",)),
    Line("entity_counts", "granularity", ("model", "language", "topic", "country")),
    Line("granularity", "numbers", ("model",)),
)
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1d2b2a}.n{font-weight:700;font-size:13px}"
    ".o{fill:#5b6b6a;font-style:italic}"
    ".b{fill:#fff;stroke:#2f6f6a}.h{fill:#d8ebe8}.l{stroke:#2f6f6a;stroke-width:1.5;fill:none;marker-end:url(#a)}"
)


def drawing() -> str:
    """The SVG: a page of its own colours, so that it reads on a dark one, too."""
    tops = _tops()
    rows = [[box for box in BOXES if box.at[1] == row] for row in range(len(tops))]
    width = 4 * WIDTH + 3 * GAP[0] + 32
    height = tops[-1] + max(box.height for box in rows[-1]) + 16
    said = "The main tables of a store, and by which columns their rows lead to one another"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{said}">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#2f6f6a"/></marker></defs>',
        f'<rect width="{width}" height="{height}" rx="8" fill="#f7faf9"/>',
        *(_line(line, tops) for line in LINES),
        *(_box(box, tops) for box in BOXES),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _tops() -> list[int]:
    """Where each row of the grid begins."""
    tops = [16]
    for row in range(max(box.at[1] for box in BOXES)):
        tops.append(tops[-1] + max(box.height for box in BOXES if box.at[1] == row) + GAP[1])
    return tops


def _place(box: Box, tops: list[int]) -> tuple[int, int]:
    return 16 + box.at[0] * (WIDTH + GAP[0]), tops[box.at[1]]


def _box(box: Box, tops: list[int]) -> str:
    x, y = _place(box, tops)
    texts = [f'<text class="n" x="{x + 8}" y="{y + 18}">{box.name}</text>']
    texts.append(f'<text class="o" x="{x + 8}" y="{y + HEAD + 14}">{escape(box.of)}</text>')
    for number, column in enumerate(box.columns, start=1):
        texts.append(f'<text x="{x + 8}" y="{y + HEAD + ROW * number + 14}">{column}</text>')
    frame = f'<rect class="b" x="{x}" y="{y}" width="{WIDTH}" height="{box.height}" rx="4"/>'
    head = f'<rect class="h" x="{x + 1}" y="{y + 1}" width="{WIDTH - 2}" height="{HEAD - 2}" rx="3"/>'
    return "\n".join([frame, head, *texts])


def _line(line: Line, tops: list[int]) -> str:
    boxes = {box.name: box for box in BOXES}
    source, target = boxes[line.source], boxes[line.target]
    (x, y), (to_x, to_y) = _place(source, tops), _place(target, tops)
    if x == to_x:
        return f'<path class="l" d="M{x + WIDTH // 2} {y + source.height}V{to_y}"/>'
    start, end = (x + WIDTH, to_x) if to_x > x else (x, to_x + WIDTH)
    middle = y + HEAD // 2
    return f'<path class="l" d="M{start} {middle}H{end}"/>'
