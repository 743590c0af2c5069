"""Other spellings and forms of the words, for asks that no name as it stands leads to an item of the topic.

A spelling differs in accents, punctuation, spaces, hiragana or katakana; a form of a word in what a language puts on
it: plural, case, article, particle. The forms come from the rules of `inflection.toml`, from the mention's side only,
so that both sources of Wikidata can be asked for them by name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any, TypedDict

import duckdb

from polyculture.cache.catalog import Catalog, Language
from polyculture.link.statements import statement

Rule = Sequence[str]  # a pattern and what takes its place; of `searched` perhaps several pairs, one after the other
_LITERAL = re.compile(r"[\w &]+")  # a pattern without any sign of one
# A pattern of one group, and letters at the end of the word.
_PLAIN_ENDING = re.compile(r"\((?!\?)(?:[^()]|\([^()]*\))+\)(\w+)\$")
AT_A_TIME = 2  # languages whose words are turned
_VOWELS = range(0xAC00, 0xD7A4, 28)  # Hangul's syllables that end in a vowel; after each, those that add a consonant
_SYLLABLES = {
    "open": "".join(map(chr, _VOWELS)),
    "closed": "".join(f"{chr(code + 1)}-{chr(code + 27)}" for code in _VOWELS),
    "l": "".join(chr(code + 8) for code in _VOWELS),
}


class Inflection(TypedDict, total=False):
    """The rules of one language, as `inflection.toml` has them."""

    articles: str
    before: list[Rule]
    after: list[Rule]
    again: int
    searched: list[Rule]


@cache
def inflections() -> Mapping[str, Inflection]:
    """The rules of `inflection.toml` by language."""
    text = Path(__file__).with_name("inflection.toml").read_text(encoding="utf-8")
    for name, syllables in _SYLLABLES.items():
        text = text.replace(f"{{{name}}}", f"[{syllables}]")
    read: dict[str, Inflection] = tomllib.loads(text)
    return read


def lay_out_names(connection: duckdb.DuckDBPyConnection) -> None:
    """Fills the table `spelled`: the names of `members`, also without their articles.

    Names lose their articles in every language in which any is sought: what a mention may mean does not depend on which
    others are linked with it.
    """
    connection.execute(statement("variant_names"))
    for (code,) in connection.execute("SELECT DISTINCT name_language FROM chain ORDER BY name_language").fetchall():
        if articles := _inflection(code).get("articles"):
            connection.execute(statement("variant_articles"), {"language": code, "articles": articles})


def find_variants(connection: duckdb.DuckDBPyConnection) -> None:
    """Adds to `found` which of `members` the asks in `unmatched` may mean, by the forms that `lay_out_forms` made."""
    connection.execute(statement("variant_found"))


def lay_out_forms(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Fills the table `forms` for the asks in `unmatched`, languages with the most of them first, two at a time.

    A rule costs milliseconds before it turns anything, in which one language alone would leave a core idle.
    """
    connection.execute(statement("variants"))
    languages = [catalog.language(code) for (code,) in _languages(connection)]
    with ThreadPoolExecutor(AT_A_TIME) as beside:
        for _ in beside.map(partial(_turn_language, connection), languages):
            pass  # what a language raised is raised here


def _turn_language(connection: duckdb.DuckDBPyConnection, language: Language) -> None:
    inflection = inflection_of(language)
    with connection.cursor() as cursor:
        cursor.execute(statement("variant_begin"), {"language": language.code})
        _turn(cursor, inflection.get("before", []), front=True, before=0)
        for before in range(inflection.get("again", 1)):
            _turn(cursor, inflection.get("after", []), front=False, before=before)
        cursor.execute(statement("variant_end"))


def inflection_of(language: Language) -> Inflection:
    """The rules of a language, or of the first that it falls back on and is kin to: those of zh for zh-tw."""
    return inflections().get(language.code) or _inflection(language.label_languages[0])


def _inflection(name_language: str) -> Inflection:
    """The rules of a language of Wikidata's: those of en for en-gb."""
    return inflections().get(name_language.partition("-")[0]) or Inflection()


def _languages(connection: duckdb.DuckDBPyConnection) -> list[tuple[str]]:
    query = "SELECT language FROM unmatched GROUP BY language ORDER BY count(*) DESC, language"
    return connection.execute(query).fetchall()


def _turn(connection: duckdb.DuckDBPyConnection, rules: Sequence[Rule], *, front: bool, before: int) -> None:
    """All rules on what the round `before` brought. The patterns themselves never stand in SQL."""
    if not rules:
        return
    params: dict[str, Any] = {"front": front, "before": before, "round": before if front else before + 1}
    turned = [_turned(n, rule, params) for n, rule in enumerate(rules)]
    connection.execute(statement("variant_turned").replace("$turned", ", ".join(turned)), params)


def _turned(number: int, rule: Rule, params: dict[str, Any]) -> str:
    """The column for a rule, whose texts go to `params`. Whether a word has a rule's letters at all is soon known."""
    params[f"pattern{number}"], params[f"other{number}"] = rule
    if _LITERAL.fullmatch(rule[0]) and _LITERAL.fullmatch(rule[1]):
        return f"CASE WHEN contains(key, $pattern{number}) THEN replace(key, $pattern{number}, $other{number}) END"
    turned = f"nullif(regexp_replace(key, $pattern{number}, $other{number}, 'g'), key)"
    if not (ending := _PLAIN_ENDING.fullmatch(rule[0])):
        return turned
    params[f"ending{number}"] = ending[1]
    return f"CASE WHEN suffix(key, $ending{number}) THEN {turned} END"
