"""Languages in a rules file: `languages` says what columns call them, and `{language}` and `{code}` in the name of a
column are the name and the code of each. Codes are those of CLDR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from polyculture.sources.record import alternatives


def in_language(rule: Any, name: str, code: str) -> Any:
    """A rule for the columns of a language: "{language} Entity" is "Hindi Entity"."""
    if isinstance(rule, str):
        return rule.replace("{language}", name).replace("{code}", code)
    if isinstance(rule, Mapping):
        return {key: in_language(one, name, code) for key, one in rule.items()}
    return [in_language(one, name, code) for one in rule] if isinstance(rule, (list, tuple)) else rule


def text_rules(text: int | str, languages: Mapping[str, str]) -> dict[str, int | str]:
    """The rule for a text in each language; of several languages the names that say which one it is, '' where none
    does."""
    if len(languages) == 1:  # a name that says no language fits
        return {code: in_language(text, name, code) for code, name in languages.items()}
    every = alternatives(str(text))
    return {
        code: "|".join(one for name_of in every if (one := in_language(name_of, name, code)) != name_of)
        for code, name in languages.items()
    }


def in_each_language(block: Mapping[str, Any], languages: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    """A block of a rules file as one for each language that its columns are named after; itself where they are named
    after none, or where it says its language."""
    files, fixed = str(block.get("files")), block.get("fixed", {})
    named = {key: rule for key, rule in block.items() if key not in ("files", "without")}
    if "language" in block or "{language}" in files or in_language(named, "", "") == named:
        yield block
        return
    for code, name in languages.items():
        if fixed.get("language", code) == code:
            yield {**block, **in_language(named, name, code), "fixed": {**fixed, "language": code}}


def language_code(text: str) -> str | None:
    """The code of a language: itself, or that of its English name in CLDR; None where it is neither."""
    if text.replace("_", "-").partition("-")[0] in _known_codes():
        return text
    return _codes().get(text.casefold())


@cache
def _codes() -> Mapping[str, str]:
    """Codes of languages by their English names, from CLDR; the shortest of several."""
    from babel import Locale  # here: few sets need it

    names = sorted(Locale("en").languages.items(), key=lambda one: (-len(one[0]), one[0]))
    return {name.casefold(): code.replace("_", "-") for code, name in names}


@cache
def _known_codes() -> frozenset[str]:
    return frozenset(_codes().values())
