"""The items that some topics need: the classes below their kinds' roots and of their types, and their instances.

This is the search of `link/ontology.py` by SPARQL queries: breadth first from the roots, one level of all kinds at a
time, across no stop class. It may find more items than the ontology accepts, never fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from polyculture.cache.catalog import Catalog
from polyculture.link.ontology import Scope, scopes_of
from polyculture.link.pull.pages import Name, Query, QueryPages

_AT_ONCE = 100  # items per query


def find_members(
    pages: QueryPages, catalog: Catalog, topics: Iterable[str], tell: Callable[[str], None]
) -> frozenset[int]:
    """The numbers of the classes of the topics' kinds and of required occupations, and of their instances.

    It is empty where the endpoint knows nothing below the kinds' roots.
    """
    kinds = set(scopes_of(catalog, topics).values())
    scopes = sorted(kinds | {scope.occupation_scope for scope in kinds if scope.occupation_scope})
    trees = _find_classes(pages, scopes, tell)
    classes, instances = _union(trees.values()), _instances(pages, trees)
    tell(f"{len(classes):,} classes, {len(instances - classes):,} instances of them")
    given = _union((*scope.roots, *scope.types) for scope in scopes)
    return classes | instances if classes - given or instances else frozenset()


def _find_classes(pages: QueryPages, scopes: Sequence[Scope], tell: Callable[[str], None]) -> dict[Scope, set[int]]:
    """The classes of each scope, and the metaclasses below its types."""
    trees = {scope: set(scope.roots) - set(scope.stops) for scope in scopes}
    types = {scope: set(scope.types) - set(scope.stops) for scope in scopes}
    fronts, type_fronts, below = dict(trees), dict(types), _Below(pages)
    for distance in range(max(scope.max_distance for scope in scopes)):
        climbing = [scope for scope in scopes if distance < scope.max_distance]
        below.find("P279", _union(fronts[scope] | type_fronts[scope] for scope in climbing))
        below.find("P361", _union(fronts[scope] for scope in climbing if scope.part_of))
        below.find("P31", _union(type_fronts[scope] for scope in climbing))
        for scope in climbing:
            subclasses = below.of(fronts[scope], *(("P279", "P361") if scope.part_of else ("P279",)))
            fronts[scope] = (subclasses | below.of(type_fronts[scope], "P31")) - trees[scope] - set(scope.stops)
            type_fronts[scope] = below.of(type_fronts[scope], "P279") - types[scope] - set(scope.stops)
            trees[scope] = trees[scope] | fronts[scope]
            types[scope] = types[scope] | type_fronts[scope]
        level = _union(fronts[scope] | type_fronts[scope] for scope in climbing)
        tell(f"level {distance + 1} below the topics' classes: {len(level)} more")
        if not level:
            break
    return {scope: trees[scope] | types[scope] for scope in scopes}


def _instances(pages: QueryPages, trees: dict[Scope, set[int]]) -> frozenset[int]:
    wanted = [(scope, tree) for scope, tree in trees.items() if scope.members != "classes"]
    any_instance = _union(tree for scope, tree in wanted if not scope.occupations)
    persons = _union(tree for scope, tree in wanted if scope.occupations) - any_instance
    occupation_scopes = _union(trees[scope.occupation_scope] for scope, _ in wanted if scope.occupation_scope)
    items = {item for _, item in _pairs(pages, "below", any_instance, "P31")}
    items |= {item for _, item in _pairs(pages, "below", occupation_scopes, "P106")}
    items |= {item for _, item in _pairs(pages, "idle", persons, "P31")}
    return frozenset(items)


class _Below:
    """The direct subclasses, parts and instances of classes, each queried once."""

    def __init__(self, pages: QueryPages) -> None:
        self._pages = pages
        self._found: dict[str, dict[int, set[int]]] = {"P279": {}, "P361": {}, "P31": {}}

    def find(self, code: str, classes: Iterable[int]) -> None:
        """Queries the items that refer to these classes by a property."""
        known = self._found[code]
        new = frozenset(classes) - known.keys()
        known.update({item: set() for item in new})
        for above, item in _pairs(self._pages, "below", new, code):
            known[above].add(item)

    def of(self, classes: Iterable[int], *codes: str) -> set[int]:
        """The items that refer to these classes, queried before, by one of the properties."""
        return {item for code in codes for above in classes for item in self._found[code].get(above, ())}


def _pairs(pages: QueryPages, name: Name, items: Iterable[int], code: str) -> Iterator[tuple[int, int]]:
    """Yields (item of `items`, item that refers to it)."""
    ordered = sorted(items)
    for start in range(0, len(ordered), _AT_ONCE):
        yield from pages.pairs(Query(name, tuple(ordered[start : start + _AT_ONCE]), code))


def _union(groups: Iterable[Iterable[int]]) -> frozenset[int]:
    return frozenset(item for group in groups for item in group)
