"""The SPARQL queries of `sparql/*.rq`, filled in with validated item numbers, properties and limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from string import Template
from typing import Literal, Self

from polyculture.link.entity import LARGEST, PROPERTIES

LIMIT = 20_000  # rows of a page
_LEAST = 100  # rows; smaller pages are not split
_FOLDER = Path(__file__).with_name("sparql")

Name = Literal["below", "idle"]


@dataclass(frozen=True, slots=True)
class Query:
    """One page of a query. Raises `ValueError` for an invalid item number or property."""

    name: Name
    items: tuple[int, ...]
    code: str = "P31"  # the property of `below`
    limit: int = LIMIT
    offset: int = 0

    def __post_init__(self) -> None:
        wrong = [str(item) for item in self.items if not 1 <= item <= LARGEST]
        wrong += [] if self.code in PROPERTIES else [self.code]
        if wrong or not self.items or self.limit < 1 or self.offset < 0:
            raise ValueError(f"cannot query {wrong or self}")

    @property
    def text(self) -> str:
        """The text of the query."""
        return _template(self.name).substitute(
            items=" ".join(f"wd:Q{item}" for item in self.items),
            property=self.code,
            limit=self.limit,
            offset=self.offset,
        )

    def after(self, rows: int) -> Self:
        """The page after this one, which had `rows` rows."""
        return replace(self, offset=self.offset + rows)

    @property
    def smaller(self) -> list[Self]:
        """Smaller queries that together give at least the same rows; an empty list where the query cannot be split."""
        if len(self.items) > 1:
            half = len(self.items) // 2
            return [replace(self, items=items, offset=0) for items in (self.items[:half], self.items[half:])]
        return [replace(self, limit=self.limit // 2)] if self.limit >= 2 * _LEAST else []


@cache
def _template(name: Name) -> Template:
    return Template((_FOLDER / f"{name}.rq").read_text(encoding="utf-8"))
