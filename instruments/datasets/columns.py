"""The columns of a sheet of entities or contexts, by the names that the rules give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from polyculture.cache.spreadsheet import is_error
from polyculture.instruments.datasets.rules import DataBlock, DatasetRules
from polyculture.sources.headers import KnownColumns, plain_title
from polyculture.sources.record import alternatives, names
from polyculture.sources.rules import ColumnName, columns_of
from polyculture.sources.values import SourceRow

_UNSEEN = "\ufeff"  # a byte order mark, also in mid-file


class MissingColumnError(Exception):
    """A sheet lacks a column without which no row can be used; the message says which, and what there is."""


def cell_text(value: Any) -> str:
    """A cell as a text: a whole number without its point, nothing of a formula that failed."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = "" if value is None else str(value).strip().strip(_UNSEEN).strip()
    return "" if is_error(text) else text


def present_fields(block: DataBlock, rows: Sequence[SourceRow], known: Mapping[str, str]) -> list[str]:
    """The fields, but for the text, of which a sheet has a column.

    `known` are those of which block or path say what they are. Raises `MissingColumnError` where the column of a needed
    one, or of the language, is not there.
    """
    present = []
    for one in block.target_fields():
        rule = getattr(block, one.name)
        if one.name == "text" or rule is None:
            continue
        if has_column(rows, rule):
            present.append(one.name)
        elif (one.is_needed() or one.name == "language") and not known.get(one.name):
            raise _missing(rows, rule)
    return present


def text_columns(
    rules: DatasetRules, block: DataBlock, rows: Sequence[SourceRow], culture: str
) -> dict[str, ColumnName]:
    """The column of a sheet's texts in each of its languages; of '' where it says the language.

    Raises `MissingColumnError` where it has none.
    """
    rule_of = {code: _text_rule(rules, block, code) for code in _languages(rules, block, culture)}
    if len(rule_of) == 1:  # a name that says no language fits
        rule_of = {code: _spelt_rule(rules, block.text, code) for code in rule_of}
    found = {code: rule for code, rule in rule_of.items() if rule != "" and has_column(rows, rule)}
    if not found:
        raise _missing(rows, next(iter(rule_of.values())) or block.text)
    return found


def languages_without(
    rules: DatasetRules, block: DataBlock, culture: str, found: Mapping[str, ColumnName]
) -> list[str]:
    """The languages of a native culture that a sheet has no column for."""
    return [code for code in _languages(rules, block, culture) if code not in found and culture != rules.reference]


def has_column(rows: Sequence[SourceRow], rule: ColumnName) -> bool:
    """Whether a sheet has a column. All rows of a table have the same; of objects each may have others."""
    return any(row.has(rule) for row in (rows if rows[0].record.nulls else rows[:1]))


def _languages(rules: DatasetRules, block: DataBlock, culture: str) -> tuple[str, ...]:
    """The languages that a sheet may have texts in; '' where each row says its own."""
    if block.says("language"):
        return ("",)
    every = dict.fromkeys(code for of_culture in rules.cultures.values() for code in of_culture)
    return rules.cultures.get(culture) or tuple(every)


def _text_rule(rules: DatasetRules, block: DataBlock, code: str) -> ColumnName:
    """The rule of the text in one of several languages: the names that say which language it is."""
    every = alternatives(str(block.text))
    told = [spelt(name, rules.languages.get(code, code), code) for name in every]
    return "|".join(one for one, name in zip(told, every, strict=True) if one != name)


def _spelt_rule(rules: DatasetRules, rule: ColumnName, code: str) -> ColumnName:
    return spelt(rule, rules.languages.get(code, code), code) if isinstance(rule, str) else rule


def _missing(rows: Sequence[SourceRow], rule: ColumnName) -> MissingColumnError:
    wanted = " or ".join(map(repr, alternatives(str(rule))))
    there = names(dict.fromkeys(name for row in rows for name in row.record.values))
    return MissingColumnError(f"no column {wanted}; there are: {there or 'none with a name'}")


def known_columns(rules: DatasetRules, block: DataBlock) -> KnownColumns:
    """How the header of a sheet is known: by the names of its columns in every language."""
    spoken = [(name, code) for code, name in rules.languages.items()] or [("", "")]
    words = (*rules.cultures, rules.reference, *rules.others)
    return KnownColumns(
        frozenset(map(plain_title, columns_of(spelt(name, *one) for name in block.names for one in spoken))),
        frozenset(map(plain_title, words)),
        by_people=True,
    )


def spelt(name: str, language: str, code: str) -> str:
    """A column's name in a language: "{language} Entity" is "Hindi Entity"."""
    return name.replace("{language}", language).replace("{code}", code)
