"""Converts the rows of `facts.rq` to items in the form of a dump, with the items merged into them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Set
from dataclasses import dataclass, field

from polyculture.link.entity import PROPERTIES, Claims, EntityText, Item, naming, of_pages
from polyculture.link.pull.client import Binding, Term

_ENTITY = re.compile(r"https?://www\.wikidata\.org/entity/Q([1-9][0-9]{0,8})")
_DIRECT = re.compile(r"https?://www\.wikidata\.org/prop/direct/(P[1-9][0-9]*)")
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
_DESCRIPTION = "http://schema.org/description"
_SITELINKS = "http://wikiba.se/ontology#sitelinks"
_REVISION = "http://schema.org/version"
_MODIFIED = "http://schema.org/dateModified"
_MOVED = "http://www.w3.org/2002/07/owl#sameAs"
_MERGED = "merged"
_ENDED = "ended"
# Of an item, its makers and what it lies in.
_SOURCES = ("P50", "P86", "P170", "P175", "P495", "P2012", "P2596", "P361", "P27", "P19", "P1071", "P17", "P276",
            "P131", "P1366")  # fmt: skip


@dataclass(slots=True)
class ItemFacts:
    """The facts about one item. If it was merged into another item, only `moved_to` is set."""

    number: int
    labels: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    descriptions: dict[str, str] = field(default_factory=dict)
    targets: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    ends: dict[tuple[str, int], str] = field(default_factory=dict)  # when the last statement of a target ended
    sitelinks: int = 0
    revision: int = 0
    modified: str = ""
    merged: set[int] = field(default_factory=set)
    moved_to: int | None = None

    @property
    def exists(self) -> bool:
        """Does the item exist? Deleted items have no facts."""
        return bool(self.revision or self.labels or self.targets or self.aliases or self.descriptions)

    def sources(self, states: Set[int]) -> set[int]:
        """What says where the item comes from, in its own place: makers, places, cuisines, but for the `states`."""
        return {target for code in _SOURCES for target in self.targets[code]} - states

    def add(self, row: Binding) -> None:
        """Adds one row."""
        name, value = row["property"].value, row["value"]
        named, direct = item_of(value.value), _DIRECT.fullmatch(name)
        if direct and direct[1] in PROPERTIES and named:
            self.targets[direct[1]].add(named)
        elif name in (_LABEL, _DESCRIPTION):
            texts = self.labels if name == _LABEL else self.descriptions
            # One per language; of several (two copies of the data) the choice must be stable.
            texts[_language(value)] = max(texts.get(_language(value), ""), value.value)
        elif name == _ALIAS:
            self.aliases[_language(value)].add(value.value)
        elif name == _ENDED:
            code, target, end = value.value.split(" ")
            key = (code, item_of(target) or 0)
            self.ends[key] = max(self.ends.get(key, ""), end)
        elif name == _MERGED and named:
            self.merged.add(named)
        elif name == _MOVED and named:
            self.moved_to = named
        else:
            self._add_number(name, value.value)

    def item(self) -> Item:
        """The item in the form of a dump."""
        return Item(
            type="item",
            id=f"Q{self.number}",
            labels={code: EntityText(code, name) for code, name in self.labels.items()},
            aliases={code: [EntityText(code, name) for name in sorted(names)] for code, names in self.aliases.items()},
            descriptions={code: EntityText(code, text) for code, text in self.descriptions.items()},
            claims=Claims(
                **{
                    code: tuple(naming(target, self.ends.get((code, target))) for target in sorted(targets))
                    for code, targets in self.targets.items()
                }
            ),
            sitelinks=of_pages(self.sitelinks),
            lastrevid=self.revision or None,
            modified=self.modified or None,
        )

    def _add_number(self, name: str, value: str) -> None:
        if name == _MODIFIED:
            self.modified = max(self.modified, value)
        elif name == _SITELINKS and value.isdecimal():
            self.sitelinks = max(self.sitelinks, int(value))
        elif name == _REVISION and value.isdecimal():
            self.revision = max(self.revision, int(value))


def gather(rows: Iterable[Binding]) -> list[ItemFacts]:
    """The facts by item, in the order of item numbers."""
    by_item: dict[int, ItemFacts] = {}
    for row in rows:
        number = item_of(row["item"].value)
        if number is not None:
            by_item.setdefault(number, ItemFacts(number)).add(row)
    return [by_item[number] for number in sorted(by_item)]


def item_of(iri: str) -> int | None:
    """The number of the item with this IRI; None for anything else, such as an unknown value."""
    match = _ENTITY.fullmatch(iri)
    return int(match[1]) if match else None


def _language(text: Term) -> str:
    return text.language.lower()
