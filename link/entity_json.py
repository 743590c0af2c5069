"""From Wikidata's entity JSON, as dumps and the Action API write it, to the rows of a snapshot.

The form: https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from link.normalise import fold_of, normalise

# The statements that linking needs: instance of, subclass of, part of, country of origin, country, country of
# citizenship, author, performer, genre, occupation.
PROPERTIES = ("P31", "P279", "P361", "P495", "P17", "P27", "P50", "P175", "P136", "P106")

_COLUMNS: dict[str, list[tuple[str, pa.DataType]]] = {
    "items": [("item", pa.uint32()), ("sitelinks", pa.uint32()), ("revision", pa.uint64())],
    "descriptions": [("item", pa.uint32()), ("language", pa.string()), ("description", pa.string())],
    "names": [
        ("item", pa.uint32()),
        ("language", pa.string()),
        ("name", pa.string()),
        ("kind", pa.string()),
        ("normalised", pa.string()),
    ],
    "claims": [("item", pa.uint32()), ("property", pa.string()), ("target", pa.uint32())],
    "redirects": [("item", pa.uint32()), ("target", pa.uint32())],
    "kinds": [("item", pa.uint32()), ("topic", pa.string()), ("kind", pa.string())],
}
SCHEMAS = {name: pa.schema(columns) for name, columns in _COLUMNS.items()}


_QID = re.compile(r"Q([1-9][0-9]{0,8})")


class NotAnItemError(ValueError):
    """A line that is JSON but no Wikidata item: a property, a lexeme, something else."""


class Rows:
    """Rows of the snapshot's tables, gathered item by item in columns and handed over as Arrow tables."""

    def __init__(self, languages: Iterable[str]) -> None:
        self.modified = ""  # the latest time of change seen, ISO 8601
        self._languages = frozenset(languages)
        self._items: tuple[list[int], list[int], list[int | None]] = ([], [], [])
        self._redirects: tuple[list[int], list[int]] = ([], [])
        self._kinds: tuple[list[int], list[str], list[str]] = ([], [], [])
        self._labels, self._aliases, self._descriptions = self._by_language(), self._by_language(), self._by_language()
        self._claims: dict[str, tuple[list[int], list[int]]] = {code: ([], []) for code in PROPERTIES}

    def __len__(self) -> int:
        return len(self._items[0])

    def add(self, entity: Mapping[str, Any]) -> None:
        """Takes one entity, whole or not at all.

        Raises `NotAnItemError` for other kinds of entity, `KeyError`, `TypeError`, `ValueError` or `AttributeError`
        for what does not have an entity's form.
        """
        if entity.get("type") != "item":
            raise NotAnItemError(str(entity.get("type")))
        item = number(entity["id"])
        labels, descriptions = self._texts(entity, "labels"), self._texts(entity, "descriptions")
        aliases = self._alias_texts(entity)
        statements = _mapping(entity, "claims")
        claims = [(code, best_targets(statements[code])) for code in PROPERTIES if code in statements]
        moved = entity.get("redirects")
        redirect = (number(moved["from"]), number(moved["to"])) if moved else None
        sitelinks, revision = len(_mapping(entity, "sitelinks")), entity.get("lastrevid")
        modified = max(self.modified, entity.get("modified") or "")
        _check_types(int, (revision or 0,))
        _check_types(str, (text for texts in (labels, descriptions, aliases) for _, text in texts))
        # Only now is it known that the entity is whole.
        self._items[0].append(item)
        self._items[1].append(sitelinks)
        self._items[2].append(revision)
        for store, texts in ((self._labels, labels), (self._aliases, aliases), (self._descriptions, descriptions)):
            for language, text in texts:
                items, column = store[language]
                items.append(item)
                column.append(text)
        for code, targets in claims:
            self._claims[code][0].extend([item] * len(targets))
            self._claims[code][1].extend(targets)
        if redirect:
            self.add_redirect(*redirect)
        self.modified = modified

    def add_redirect(self, item: int, target: int) -> None:
        """Notes that `item` was merged into `target`."""
        self._redirects[0].append(item)
        self._redirects[1].append(target)

    def add_kind(self, qid: str, topic: str, kind: str) -> None:
        """Notes that an item was placed in a topic's kind by hand."""
        self._kinds[0].append(number(qid))
        self._kinds[1].append(topic)
        self._kinds[2].append(kind)

    def tables(self) -> dict[str, pa.Table]:
        """The rows as Arrow tables, by table name."""
        return {
            "items": _table("items", self._items),
            "descriptions": pa.concat_tables(
                _table("descriptions", (items, [language] * len(items), texts))
                for language, (items, texts) in self._descriptions.items()
            ),
            "names": pa.concat_tables([*self._names("label", self._labels), *self._names("alias", self._aliases)]),
            "claims": pa.concat_tables(
                _table("claims", (items, [code] * len(items), targets))
                for code, (items, targets) in self._claims.items()
            ),
            "redirects": _table("redirects", self._redirects),
            "kinds": _table("kinds", self._kinds),
        }

    def _by_language(self) -> dict[str, tuple[list[int], list[str]]]:
        return {language: ([], []) for language in sorted(self._languages)}

    def _texts(self, entity: Mapping[str, Any], key: str) -> list[tuple[str, str]]:
        texts = _mapping(entity, key)
        # The API may answer with the text of a fallback language: `language` says which it is.
        return [
            (language, text["value"])
            for language in texts.keys() & self._languages
            if (text := texts[language])["language"] == language
        ]

    def _alias_texts(self, entity: Mapping[str, Any]) -> list[tuple[str, str]]:
        aliases = _mapping(entity, "aliases")
        wanted = aliases.keys() & self._languages if aliases else ()
        return [(language, alias["value"]) for language in wanted for alias in aliases[language]]

    def _names(self, kind: str, store: Mapping[str, tuple[list[int], list[str]]]) -> Iterator[pa.Table]:
        for language, (items, texts) in store.items():
            count = len(items)
            folded = normalise(texts, fold_of(language))
            yield _table("names", (items, [language] * count, texts, [kind] * count, folded))


def number(qid: str) -> int:
    """The number of a QID: 'Q5' is 5. Raises `ValueError` for anything else."""
    match = _QID.fullmatch(qid)
    if match is None:
        raise ValueError(f"{qid!r} is not a QID")
    return int(match[1])


def _check_types(wanted: type, *groups: Iterable[object]) -> None:
    for group in groups:
        for value in group:
            if type(value) is not wanted:
                raise TypeError(f"{value!r} is not {wanted.__name__}")


def best_targets(statements: list[dict[str, Any]]) -> list[int]:
    """The items that the statements of best rank name: the preferred ones, else the normal ones, never deprecated ones.

    This is what Wikidata's query service calls truthy.
    """
    ranks = [statement.get("rank", "normal") for statement in statements]
    best = "preferred" if "preferred" in ranks else "normal"
    snaks = (statement["mainsnak"] for statement, rank in zip(statements, ranks, strict=True) if rank == best)
    values = (snak["datavalue"]["value"] for snak in snaks if snak["snaktype"] == "value")
    # Old dumps have the number alone.
    return [number(value.get("id") or f"Q{value['numeric-id']}") for value in values]


def _mapping(entity: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """PHP writes an empty map as an empty list."""
    return entity.get(key) or {}


def _table(name: str, columns: Sequence[Sequence[Any]]) -> pa.Table:
    schema = SCHEMAS[name]
    arrays = [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
