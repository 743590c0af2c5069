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
    locale = locale_of(language)
    return dict(locale.territories) if locale else {}


@cache
def language_names(language: str) -> Mapping[str, str]:
    """The names of languages in a language, by CLDR's code (`zh_Hant`). Empty for a language that CLDR lacks."""
    locale = locale_of(language)
    return dict(locale.languages) if locale else {}


@cache
def every_language() -> tuple[str, ...]:
    """The languages that CLDR has names in, in its own codes, without those of one country."""
    from babel.localedata import locale_identifiers

    return tuple(sorted(code for code in locale_identifiers() if "_" not in code))


def locale_of(language: str) -> Locale | None:
    """What CLDR has of a language of the catalogue; None where it lacks the language."""
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


@cache
def language_aliases() -> Mapping[str, str]:
    """CLDR's code for each older or longer code of a language, in small letters: fra and fre are fr, tl is fil."""
    from babel.core import get_global

    return {code.replace("_", "-").lower(): to.replace("_", "-") for code, to in get_global("language_aliases").items()}


def english_language_name(code: str) -> str:
    """What a language is called in English, by its BCP-47 code; "" where CLDR does not know it."""
    names = {known.replace("_", "-").lower(): name for known, name in language_names("en").items()}
    return names.get(code, "")


def official_countries(language: str) -> tuple[str, ...]:
    """The countries whose official language it is, first the one where CLDR expects it: TZ, KE and UG of Swahili.

    A language that is official in parts of countries alone has the one where CLDR expects it.
    """
    from babel.core import get_global

    base = language.partition("-")[0]
    expected = get_global("likely_subtags").get(base, "").split("_")
    first = [expected[2]] if len(expected) == 3 else []
    spoken = get_global("territory_languages")
    official = [
        country
        for country, languages in sorted(spoken.items())
        for code, facts in languages.items()
        if code.partition("_")[0] == base and facts["official_status"] in ("official", "de_facto_official")
    ]
    return tuple(dict.fromkeys(first + official))
