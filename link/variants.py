"""Spelling variants and inflected forms, for queries without an exact match in the topic.

Spelling variants differ in accents, punctuation, spaces, hiragana or katakana. Inflected forms differ in plural, case,
article or particle. The rules of `inflection.toml` apply to the mention only, so that both sources of Wikidata can look
the forms up by name.
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
import pyarrow as pa

from polyculture.cache.catalog import Catalog, Language
from polyculture.link.normalise import normalise
from polyculture.link.statements import statement
from polyculture.link.within import create_inner_names

Rule = Sequence[str]  # a pattern and its replacement; in `searched` several such pairs may follow one another
_LITERAL = re.compile(r"[\w &]+")  # a pattern without metacharacters
# A pattern of one group and a literal ending.
_PLAIN_ENDING = re.compile(r"\((?!\?)(?:[^()]|\([^()]*\))+\)(\w+)\$")
AT_A_TIME = 2  # languages inflected in parallel
ALL = "all"  # the rules for every language
_VOWELS = range(0xAC00, 0xD7A4, 28)  # Hangul syllables that end in a vowel, each before those that add a consonant
_SYLLABLES = {
    "open": "".join(map(chr, _VOWELS)),
    "closed": "".join(f"{chr(code + 1)}-{chr(code + 27)}" for code in _VOWELS),
    "l": "".join(chr(code + 8) for code in _VOWELS),
}


class Inflection(TypedDict, total=False):
    """The rules of one language in `inflection.toml`."""

    articles: str
    names: list[Rule]
    written: list[Rule]
    before: list[Rule]
    after: list[Rule]
    cases: list[Rule]
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


def create_topic_names(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the table `topic_names`: the names of `members`, also without articles or what stands in brackets.

    So are those of all languages of the fallback chains: a link must not depend on the other queries.
    """
    connection.execute(statement("topic_names"))
    rewritten = [("", rule) for rule in inflections()[ALL]["names"]]
    for (code,) in connection.execute("SELECT DISTINCT name_language FROM chain ORDER BY name_language").fetchall():
        inflection = _inflection(code)
        if articles := inflection.get("articles"):
            connection.execute(statement("names_without_article"), {"language": code, "articles": articles})
        rewritten += [(code, rule) for rule in inflection.get("names", [])]
    for code, (pattern, other) in rewritten:
        params = {"language": code, "pattern": pattern, "other": other}
        connection.execute(statement("names_otherwise"), params)


def find_variants(connection: duckdb.DuckDBPyConnection, *, spelled: bool = True) -> None:
    """Adds to `found` the `members` that match queries in `unmatched` by a form of `create_forms`.

    Without `spelled`, none that differs from the mention by its spelling alone.
    """
    connection.execute(statement("variant_matches"))
    if not spelled:
        connection.execute("DELETE FROM found WHERE strength = 6")


def create_forms(
    connection: duckdb.DuckDBPyConnection, catalog: Catalog, *, inflected: bool = True, within: bool = True
) -> None:
    """Fills the tables `inner_names` and `forms` for the queries in `unmatched`: names within, and forms of all.

    Two languages are inflected in parallel, the largest first: each rule has a fixed cost of milliseconds, in which one
    language alone would leave a core idle.
    """
    connection.execute(statement("spellings"))
    if within:
        create_inner_names(connection, catalog)
    if not inflected:
        return
    languages = [catalog.language(code) for (code,) in _languages(connection)]
    with ThreadPoolExecutor(AT_A_TIME) as beside:
        for _ in beside.map(partial(_inflect_language, connection), languages):
            pass  # raises what a language raised


def _inflect_language(connection: duckdb.DuckDBPyConnection, language: Language) -> None:
    inflection = inflection_of(language)
    with connection.cursor() as cursor:
        cursor.execute(statement("inflect_begin"), {"language": language.code})
        _insert_written(cursor, language, inflection.get("written", []))
        cases = inflection.get("cases", [])
        rules = [*inflection.get("after", []), *cases]
        _inflect(cursor, inflection.get("before", []), front=True, before=0, turned=0)
        for before in range(inflection.get("again", 1)):
            _inflect(cursor, rules, front=False, before=before, turned=len(rules) - len(cases))
        cursor.execute(statement("inflect_end"))


def _insert_written(connection: duckdb.DuckDBPyConnection, language: Language, rules: Sequence[Rule]) -> None:
    """Adds to `inflections` the forms of mentions as they are written, without what an apostrophe sets apart."""
    if not rules:
        return
    wanted = connection.execute(statement("written_mentions"), {"language": language.code}).fetchall()
    found = [
        (spelling, fold, re.sub(pattern, other, surface))
        for spelling, fold, surface in wanted
        for pattern, other in rules
        if re.search(pattern, surface)
    ]
    for fold in sorted({fold for _, fold, _ in found}):
        own = [(spelling, text) for spelling, other, text in found if other == fold]
        keys = normalise([text for _, text in own], fold)
        rows = pa.table({"spelling": pa.array([spelling for spelling, _ in own], pa.uint32()), "key": keys})
        connection.register("written", rows)
        connection.execute(statement("inflect_written"))


def inflection_of(language: Language) -> Inflection:
    """The rules of a language, or of the first label language it falls back on: those of zh for zh-tw."""
    return inflections().get(language.code) or _inflection(language.label_languages[0])


def _inflection(name_language: str) -> Inflection:
    """The rules of a Wikidata language: those of en for en-gb."""
    return inflections().get(name_language.partition("-")[0]) or Inflection()


def _languages(connection: duckdb.DuckDBPyConnection) -> list[tuple[str]]:
    query = "SELECT language FROM unmatched GROUP BY language ORDER BY count(*) DESC, language"
    return connection.execute(query).fetchall()


def _inflect(
    connection: duckdb.DuckDBPyConnection, rules: Sequence[Rule], *, front: bool, before: int, turned: int
) -> None:
    """Applies all rules to the forms of the round `before`. Patterns are parameters, never part of the SQL.

    The first `turned` rules make another word form; the rest are of what a person's name has, too.
    """
    if not rules:
        return
    params: dict[str, Any] = {"front": front, "before": before, "round": before if front else before + 1}
    columns = [_inflected(n, rule, params) for n, rule in enumerate(rules)]
    inflected = [f"{{'key': {column}, 'turned': {n < turned}}}" for n, column in enumerate(columns)]
    connection.execute(statement("inflect_step").replace("$inflected", ", ".join(inflected)), params)


def _inflected(number: int, rule: Rule, params: dict[str, Any]) -> str:
    """The SQL column of a rule; its texts go to `params`. A cheap test for literal text comes before the pattern."""
    params[f"pattern{number}"], params[f"other{number}"] = rule
    if _LITERAL.fullmatch(rule[0]) and _LITERAL.fullmatch(rule[1]):
        return f"CASE WHEN contains(key, $pattern{number}) THEN replace(key, $pattern{number}, $other{number}) END"
    inflected = f"nullif(regexp_replace(key, $pattern{number}, $other{number}, 'g'), key)"
    if not (ending := _PLAIN_ENDING.fullmatch(rule[0])):
        return inflected
    params[f"ending{number}"] = ending[1]
    return f"CASE WHEN suffix(key, $ending{number}) THEN {inflected} END"
