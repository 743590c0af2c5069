"""The columns of a sheet of entities or contexts, by the names that the rules give them."""

from __future__ import annotations

from collections.abc import Mapping

from polyculture.instruments.datasets.rules import DataBlock, DatasetRules
from polyculture.sources.folder import Sheet
from polyculture.sources.headers import KnownColumns, plain_title
from polyculture.sources.languages import in_language, text_rules
from polyculture.sources.rules import ColumnName, columns_of
from polyculture.sources.values import may_be_missing

DataSheet = Sheet[DataBlock]


def present_fields(sheet: DataSheet, known: Mapping[str, str]) -> list[str]:
    """The fields, but for the text, of which a sheet has a column.

    `known` are those of which block or path say what they are. Raises `MissingColumnError` where the column of another
    one is not there and may not be missing.
    """
    present = []
    for one in sheet.block.target_fields():
        rule = getattr(sheet.block, one.name)
        if one.name == "text" or rule is None:
            continue
        if sheet.has(rule):
            present.append(one.name)
        elif not may_be_missing(rule) and not known.get(one.name):
            raise sheet.lacks(rule)
    return present


def text_columns(rules: DatasetRules, sheet: DataSheet, culture: str) -> dict[str, ColumnName]:
    """The column of a sheet's texts in each of its languages; of '' where it says the language.

    Raises `MissingColumnError` where it has none.
    """
    rule_of = text_rules(sheet.block.text, _languages(rules, sheet.block, culture))
    found = {code: rule for code, rule in rule_of.items() if rule != "" and sheet.has(rule)}
    if not found:
        raise sheet.lacks(next(iter(rule_of.values())) or sheet.block.text)
    return found


def languages_without(
    rules: DatasetRules, sheet: DataSheet, culture: str, found: Mapping[str, ColumnName]
) -> list[str]:
    """The languages of a native culture that a sheet has no column for."""
    every = _languages(rules, sheet.block, culture)
    return [code for code in every if code not in found and culture != rules.reference]


def _languages(rules: DatasetRules, block: DataBlock, culture: str) -> dict[str, str]:
    """The languages that a sheet may have texts in, with their names; '' where each row says its own."""
    if block.says("language"):
        return {"": ""}
    every = dict.fromkeys(code for of_culture in rules.cultures.values() for code in of_culture)
    return {code: rules.languages.get(code, code) for code in rules.cultures.get(culture) or every}


def known_columns(rules: DatasetRules, block: DataBlock) -> KnownColumns:
    """How the header of a sheet is known: by the names of its columns in every language."""
    spoken = [(name, code) for code, name in rules.languages.items()] or [("", "")]
    words = (*rules.cultures, rules.reference, *rules.others)
    return KnownColumns(
        frozenset(
            map(plain_title, columns_of(in_language(name, *one) for name in block.column_names for one in spoken))
        ),
        frozenset(map(plain_title, words)),
        by_people=True,
    )
