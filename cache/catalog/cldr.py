"""Names of countries in many languages, from Unicode's CLDR: computed, not kept."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from babel import Locale, UnknownLocaleError
from babel.core import get_global


@cache
def country_names(language: str) -> Mapping[str, str]:
    """The names of countries in a language of the catalogue, by ISO 3166 code; empty for a language that CLDR lacks."""
    try:
        locale = Locale.parse(language.replace("-", "_"))
    except (UnknownLocaleError, ValueError):
        return {}
    return dict(locale.territories)


@cache
def long_codes() -> Mapping[str, str]:
    """ISO 3166 codes of two letters by those of three, where one stands for one."""
    aliases = get_global("territory_aliases")
    return {code: to[0] for code, to in aliases.items() if len(code) == 3 and code.isalpha() and len(to) == 1}
