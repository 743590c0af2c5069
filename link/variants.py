"""Spelling variants and inflected forms, for queries without an exact match in the topic.

Spelling variants differ in accents, punctuation, spaces, hiragana or katakana. Inflected forms differ in plural, case,
article or particle. The rules of `inflection.toml` apply to the mention only, so that both sources of Wikidata can look
the forms up by name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog, Language
from polyculture.cache.inflection import Rule, inflection_of
from polyculture.link.cheap_patterns import has_required_text, letters_of, required_text, with_letters
from polyculture.link.name_forms import create_name_forms
from polyculture.link.normalise import normalise
from polyculture.link.statements import statement
from polyculture.link.within import create_inner_names

_LITERAL = re.compile(r"[\w &]+")  # a pattern without metacharacters
AT_A_TIME = 2  # languages inflected in parallel
FEW = 1000  # forms of a language that Python looks at before patterns are compiled for them


def find_variants(connection: duckdb.DuckDBPyConnection, *, spelled: bool = True, inflected: bool = True) -> None:
    """Adds to `found` the names of the topics that match queries in `unmatched` by a form of `create_forms`.

    Without `spelled`, none that differs from the mention by its spelling alone; without `inflected`, none that differs
    by a rule, be it of names.
    """
    connection.execute(statement("loose_forms"))
    connection.execute(statement("named"))
    create_name_forms(connection)
    connection.execute(statement("topic_names"))
    connection.execute(statement("variant_matches"))
    if not spelled:
        connection.execute("DELETE FROM found WHERE strength = 6")
    if not inflected:
        connection.execute("DELETE FROM found WHERE strength = 7")


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
        turned = len(rules) - len(cases)
        for before in range(inflection.get("again", 1)):
            again = rules[:turned] if before and inflection.get("one_case") else rules
            _inflect(cursor, again, front=False, before=before, turned=turned)
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


def _languages(connection: duckdb.DuckDBPyConnection) -> list[tuple[str]]:
    query = "SELECT language FROM unmatched GROUP BY language ORDER BY count(*) DESC, language"
    return connection.execute(query).fetchall()


def _inflect(
    connection: duckdb.DuckDBPyConnection, rules: Sequence[Rule], *, front: bool, before: int, turned: int
) -> None:
    """Applies the rules to the forms of the round `before`. Patterns are parameters, never part of the SQL.

    The first `turned` rules make another word form; the rest are of what a person's name has, too. To compile a pattern
    takes longer than to inflect a hundred mentions: where the forms are few, rules that do not apply are left out.
    """
    few = _few_forms(connection, before)
    wanted = [n for n, (pattern, _) in enumerate(rules) if few is None or has_required_text(pattern, few)]
    if not wanted:
        return
    letters = letters_of(few) if few else None
    params: dict[str, Any] = {"front": front, "before": before, "round": before if front else before + 1}
    columns = [(_inflected(n, rules[n], letters, params), n < turned) for n in wanted]
    inflected = [f"{{'key': {column}, 'turned': {turns}}}" for column, turns in columns]
    connection.execute(statement("inflect_step").replace("$inflected", ", ".join(inflected)), params)


def _few_forms(connection: duckdb.DuckDBPyConnection, before: int) -> list[str] | None:
    """The forms of the round `before`; None where there are more than `FEW`."""
    rows = connection.execute(statement("inflected_forms"), {"before": before, "most": FEW + 1}).fetchall()
    return [key for (key,) in rows] if len(rows) <= FEW else None


def _inflected(number: int, rule: Rule, letters: str | None, params: dict[str, Any]) -> str:
    """The SQL column of a rule; its texts go to `params`. A cheap test for literal text comes before the pattern."""
    pattern, other = rule
    params[f"pattern{number}"], params[f"other{number}"] = with_letters(pattern, letters), other
    if _LITERAL.fullmatch(pattern) and _LITERAL.fullmatch(other):
        return f"CASE WHEN contains(key, $pattern{number}) THEN replace(key, $pattern{number}, $other{number}) END"
    inflected = f"nullif(regexp_replace(key, $pattern{number}, $other{number}, 'g'), key)"
    return f"CASE WHEN {_literal_test(number, pattern, params)} THEN {inflected} END"


def _literal_test(number: int, pattern: str, params: dict[str, Any]) -> str:
    """An SQL test for the literal text that a pattern requires; its texts go to `params`."""
    required = required_text(pattern)
    if required is None:
        return "true"
    names = [f"text{number}_{n}" for n in range(len(required.texts))]
    params.update(zip(names, required.texts, strict=True))
    test = "suffix" if required.last else "contains"
    return f"({' OR '.join(f'{test}(key, ${name})' for name in names)})"
