"""A field of a row by its rule: a column, a path or a template, and in other words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from polyculture.sources.rules import From, Skip, Value
from polyculture.sources.values import Row, RowError, number_of, tidy


def value_of(row: Row, rule: Value, *, whole: bool = False) -> str:
    """The text of a field, in the words of its rule; `whole` keeps the blanks within it.

    Raises `RowError` where there is no such column, or no code of a language for what it says.
    """
    if not isinstance(rule, From):
        return row.text(rule, whole=whole)
    told = row.text(rule.source)
    if told in rule.words or not rule.cldr:
        return rule.words.get(told, told)
    code = _codes().get(told.casefold())
    if code is None:
        raise RowError(f"{rule.source} {told!r} is the name of no language in CLDR: add it beside `cldr`")
    return code


def is_skipped(row: Row, skip: Skip) -> bool:
    """Whether a row is left out. Raises `RowError` where there is no such column."""
    values = [row.get(column) if row.has(column) else row.text(column) for column in skip.column]
    texts = ["" if value is None else tidy(str(value)) for value in values]
    if skip.at_least is not None:
        return sum(map(number_of, skip.column, texts)) >= skip.at_least
    if skip.empty:
        return all(value in ([], {}) or not text for value, text in zip(values, texts, strict=True))
    return any(text in skip.value or (skip.contains and skip.contains in text) for text in texts)


@cache
def _codes() -> Mapping[str, str]:
    """Codes of languages by their English names, from CLDR; the shortest of several."""
    from babel import Locale  # here: few sets need it

    names = sorted(Locale("en").languages.items(), key=lambda one: (-len(one[0]), one[0]))
    return {name.casefold(): code.replace("_", "-") for code, name in names}


def is_language(text: str) -> bool:
    """Whether a text is the code of a language in CLDR."""
    return text.replace("_", "-").partition("-")[0] in _known_codes()


@cache
def _known_codes() -> frozenset[str]:
    return frozenset(_codes().values())
