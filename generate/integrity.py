"""The check of all wording before any cost arises: built-in files in the tests, a user's files at every run."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from polyculture.cache.catalog import Catalog, Language
from polyculture.cache.catalog.model import country_names
from polyculture.cache.schema import Prompt
from polyculture.cache.scripts import script_counts, script_share
from polyculture.generate.detection import detectable
from polyculture.generate.names import PersonName, PersonNames, names_file, read_names
from polyculture.generate.template_checks import MARK, Finding, TemplateCheck, wrong_script
from polyculture.generate.wording import OWN_COUNTRIES, Wording, own_countries, read_wording, wording_file


def check_wording(
    catalog: Catalog,
    languages: Sequence[str],
    topics: Sequence[str],
    countries: Sequence[str],
    own_only: bool = False,
) -> list[Finding]:
    """All defects in the wording of these languages, topics and countries; empty for valid wording.

    Each template has its placeholder once and no other. It is in the script of its language, and is detected as that
    language. It says the length of the language's file where its wording says one. Built-in ones have a gloss. The
    wordings of a cell differ. Each country has a name and its forms in that script. The name is that of CLDR or has a
    `note` that says why not. Names of persons are in the script of the language. With `own_only` the
    built-in files, which the tests check, are skipped: this costs nothing where a user has no files. Raises
    `CatalogError` where a file cannot be read at all.
    """
    findings: list[Finding] = []
    for language in map(catalog.language, languages):
        wording = read_wording(language, catalog.countries)
        if language.wording or not own_only:
            findings += _check_language(language, wording, catalog, countries)
        findings += _check_own_countries(language, wording, catalog, countries)
        check = TemplateCheck(language, wording, catalog, countries)
        for topic in map(catalog.topic, topics):
            if language.wording or language.code in topic.wording or not own_only:
                findings += check.topic(topic)
    return list(dict.fromkeys(findings))


def check_prompts(prompts: Sequence[Prompt]) -> list[Finding]:
    """Duplicate prompts, and prompts with an unfilled placeholder; empty for valid prompts."""
    findings: list[Finding] = []
    first: dict[str, Prompt] = {}
    for prompt in prompts:
        file, place = Path(f"prompts in {prompt.language}"), _place(prompt)
        if MARK.search(prompt.text):
            findings.append(Finding(file, place, f"something is left to fill in: {prompt.text!r}"))
        if prompt.text in first:
            findings.append(Finding(file, place, f"the same text as {_place(first[prompt.text])}: {prompt.text!r}"))
        first.setdefault(prompt.text, prompt)
    return findings


def _check_language(
    language: Language, wording: Wording, catalog: Catalog, countries: Sequence[str]
) -> Iterator[Finding]:
    file = wording_file(language)
    own = language.code.partition("-")[0].upper()
    if own != language.detector and detectable(own):
        yield Finding(file, "detector", f"is {language.detector}, and the language detector knows {own}")
    check = TemplateCheck(language, wording, catalog, countries)
    yield from (Finding(file, "answer_in_language", what) for what in check.text(wording.answer_in_language))
    yield from _check_countries(language, wording, catalog, countries)
    if not language.wording:
        yield from check_built_in_names(language, read_names())
    yield from check_names(language, read_wording(language).names, file, "names")


def _check_countries(
    language: Language, wording: Wording, catalog: Catalog, countries: Sequence[str]
) -> Iterator[Finding]:
    """The countries in the language's file, but those that a user's countries.toml words."""
    file, own = wording_file(language), own_countries(catalog.countries)
    for code in countries:
        if code not in wording.countries:
            what = "is missing; it needs a name and the form that takes the place of {country}"
            yield Finding(file, f"countries.{code}", what)
        elif code not in own or language.code not in own[code].wording:
            yield from _check_forms(language, wording, [code], file)


def _check_forms(
    language: Language, wording: Wording, countries: Sequence[str], file: Path, inside: str | None = None
) -> Iterator[Finding]:
    """The name and the forms of each country: their script, and that the name is the one of CLDR."""
    official = country_names(language.code) if countries else {}  # CLDR is large
    for code in countries:
        country = wording.countries[code]
        place = f"countries.{code}" if inside is None else f"{code}{inside}"
        for part, text in (("name", country.name), ("form", country.form), ("origin", country.origin or "")):
            wrong = wrong_script(text, language)
            if wrong:
                yield Finding(file, f"{place}.{part}", wrong)
        if code in official and _normal(official[code]) != _normal(country.name) and not country.note:
            what = f"is {country.name!r}, CLDR has {official[code]!r}; take that name, or say why not in a `note`"
            yield Finding(file, f"{place}.name", what)


def _check_own_countries(
    language: Language, wording: Wording, catalog: Catalog, countries: Sequence[str]
) -> Iterator[Finding]:
    """The forms and names in a user's own countries.toml."""
    own = own_countries(catalog.countries)
    forms = [code for code in countries if code in own and language.code in own[code].wording]
    yield from _check_forms(language, wording, forms, OWN_COUNTRIES, f".wording.{language.code}")
    names = {code: wording.names[code] for code, country in own.items() if country.names}
    yield from check_names(language, names, OWN_COUNTRIES, "")


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _place(prompt: Prompt) -> str:
    return ".".join(part for part in (prompt.topic, prompt.condition, prompt.country) if part)


LATIN = "Latn"


def check_built_in_names(language: Language, names: Mapping[str, PersonNames]) -> Iterator[Finding]:
    """The built-in names, which have a spelling in the script of each built-in language."""
    for country, persons in names.items():
        yield from check_names(language, {country: persons}, names_file(country), "", complete=True)


def check_names(
    language: Language, names: Mapping[str, PersonNames], file: Path, before: str, complete: bool = False
) -> Iterator[Finding]:
    """The names in a file; `before` leads to them. With `complete` a language of another script needs a spelling."""
    for country, persons in names.items():
        for sex, known in (("male", persons.male), ("female", persons.female)):
            for number, name in enumerate(known, start=1):
                parts = (before, country, sex, f"{number}" if len(known) > 1 else "")
                place = ".".join(part for part in parts if part)
                yield from (Finding(file, f"{place}.{part}", what) for part, what in _name(name, language, complete))
            yield from _alike(known, language, file, f"{country}.{sex}")


def _name(name: PersonName, language: Language, complete: bool) -> Iterator[tuple[str, str]]:
    wrong = wrong_script(name.spellings.get(language.code, ""), language)
    if wrong:
        yield language.code, wrong
    if complete and LATIN not in language.scripts and language.code not in name.spellings:
        yield language.code, f"{name.latin} has no spelling in {', '.join(language.scripts)}"
    if script_share(script_counts(name.latin), [LATIN]) != 1.0:
        yield "latin", "is not in Latin letters"


def _alike(known: tuple[PersonName, ...], language: Language, file: Path, place: str) -> Iterator[Finding]:
    first: dict[str, PersonName] = {}
    for name in known:
        other = first.setdefault(name.spelled(language.code), name)
        if other is not name:
            what = f"{name.latin} and {other.latin} are both {name.spelled(language.code)!r} in {language.code}"
            yield Finding(file, place, what)
