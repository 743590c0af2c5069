"""What Unicode's CLDR calls languages and countries, by the package babel."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from babel import Locale


@cache
def country_names(language: str) -> Mapping[str, str]:
    """The names of countries in a language of the catalogue, by ISO 3166 code, from Unicode's CLDR.

    Empty for a language that CLDR lacks.
    """
    locale = _locale(language)
    return dict(locale.territories) if locale else {}


@cache
def language_names(language: str) -> Mapping[str, str]:
    """The names of languages in a language, by CLDR's code (`zh_Hant`). Empty for a language that CLDR lacks."""
    locale = _locale(language)
    return dict(locale.languages) if locale else {}


@cache
def every_language() -> tuple[str, ...]:
    """The languages that CLDR has names in, in its own codes, without those of one country."""
    from babel.localedata import locale_identifiers

    return tuple(sorted(code for code in locale_identifiers() if "_" not in code))


def _locale(language: str) -> Locale | None:
    from babel import Locale, UnknownLocaleError  # here: few commands need it

    try:
        return Locale.parse(language.replace("-", "_"))
    except (UnknownLocaleError, ValueError):
        return None


@cache
def long_codes() -> Mapping[str, str]:
    """The two-letter ISO 3166 code for each three-letter one; without codes that CLDR maps to several countries."""
    from babel.core import get_global

    aliases = get_global("territory_aliases")
    return {code: to[0] for code, to in aliases.items() if len(code) == 3 and code.isalpha() and len(to) == 1}
