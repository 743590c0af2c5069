"""Other spellings and other forms of the words, for asks that no name as it stands leads to an item of the topic.

A spelling differs in accents, punctuation, spaces, hiragana or katakana; a form of a word in what a language puts on it:
plural, case, article, particle. The forms come from the rules of `inflection.toml`, from the mention's side only, so that
both sources of Wikidata can be asked for them by name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import duckdb

from cache.catalog import Catalog, Language
from link.statements import statement

TURNS = 2  # rules that may be applied one after the other: an article and an ending

InflectionRules = Mapping[str, Sequence[tuple[str, str]]]


@cache
def inflection_rules() -> InflectionRules:
    """Per language the rules of `inflection.toml`, each a pattern and what takes its place."""
    data = tomllib.loads(Path(__file__).with_name("inflection.toml").read_text(encoding="utf-8"))
    return {code: [(pattern, other) for pattern, other in section["rules"]] for code, section in data.items()}


def lay_out_forms(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Fills the table `forms` for the asks in `unmatched`, and adds the turned ones to `lookups` and `keys`."""
    connection.execute(statement("variants"))
    turn = statement("variant_turn")
    languages = connection.execute("SELECT DISTINCT language FROM unmatched ORDER BY language").fetchall()
    for (code,) in languages:
        for turns in range(TURNS):
            for pattern, replacement in rules_of(catalog.language(code)):
                params = {"language": code, "turns": turns, "pattern": pattern, "replacement": replacement}
                connection.execute(turn, params)
    connection.execute(statement("variant_lookups"))


def rules_of(language: Language) -> Sequence[tuple[str, str]]:
    """The rules of a language, or of the first of those it falls back on that has any: those of zh for zh-tw."""
    rules = inflection_rules()
    codes = [language.code, *language.label_languages]
    return next((rules[code] for code in codes if code in rules and code != "en"), rules.get(language.code, ()))
