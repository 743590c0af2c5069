"""Other spellings and forms of the words, for asks that no name as it stands leads to an item of the topic.

A spelling differs in accents, punctuation, spaces, hiragana or katakana; a form of a word in what a language puts on
it: plural, case, article, particle. The forms come from the rules of `inflection.toml`, from the mention's side only,
so that both sources of Wikidata can be asked for them by name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

import duckdb

from cache.catalog import Catalog, Language
from link.statements import statement

Rule = Sequence[str]  # a pattern and what takes its place


class Inflection(TypedDict, total=False):
    """The rules of one language, as `inflection.toml` has them."""

    articles: str
    before: list[Rule]
    after: list[Rule]
    again: int


@cache
def inflections() -> Mapping[str, Inflection]:
    """The rules of `inflection.toml` by language."""
    text = Path(__file__).with_name("inflection.toml").read_text(encoding="utf-8")
    read: dict[str, Inflection] = tomllib.loads(text)
    return read


def find_variants(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Adds to `found` which of `members` the asks in `unmatched` may mean, by the forms that `lay_out_forms` made."""
    connection.execute(statement("variant_names"))
    for (code,) in _languages(connection):
        language = catalog.language(code)
        if articles := inflection_of(language).get("articles"):
            params = {"language": language.label_languages[0], "articles": articles}
            connection.execute(statement("variant_articles"), params)
    connection.execute(statement("variant_found"))


def lay_out_forms(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Fills the table `forms` for the asks in `unmatched`."""
    connection.execute(statement("variants"))
    for (code,) in _languages(connection):
        inflection = inflection_of(catalog.language(code))
        connection.execute(statement("variant_begin"), {"language": code})
        _turn(connection, inflection.get("before", []), front=True, before=0)
        for before in range(inflection.get("again", 1)):
            _turn(connection, inflection.get("after", []), front=False, before=before)
        connection.execute(statement("variant_end"))


def inflection_of(language: Language) -> Inflection:
    """The rules of a language, or of the first that it falls back on and is kin to: those of zh for zh-tw."""
    base = language.label_languages[0].partition("-")[0]
    return inflections().get(language.code) or inflections().get(base) or Inflection()


def _languages(connection: duckdb.DuckDBPyConnection) -> list[tuple[str]]:
    return connection.execute("SELECT DISTINCT language FROM unmatched ORDER BY language").fetchall()


def _turn(connection: duckdb.DuckDBPyConnection, rules: Sequence[Rule], *, front: bool, before: int) -> None:
    """All rules on what the round `before` brought. The patterns themselves never stand in SQL."""
    if not rules:
        return
    one = statement("variant_turned")
    each = [one.replace("$pattern", f"$pattern{n}").replace("$other", f"$other{n}") for n in range(len(rules))]
    params: dict[str, Any] = {f"pattern{n}": pattern for n, (pattern, _) in enumerate(rules)}
    params |= {f"other{n}": other for n, (_, other) in enumerate(rules)}
    params |= {"front": front, "before": before, "round": before if front else before + 1}
    connection.execute("INSERT INTO turning\n" + "UNION ALL\n".join(each), params)
