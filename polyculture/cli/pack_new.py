"""A new culture pack: what Unicode's CLDR knows of a language and its countries; the rest is "" for a speaker."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.catalog.cldr import country_names
from polyculture.cache.catalog.pack import PACK
from polyculture.cache.catalog.read import COUNTRIES
from polyculture.cache.catalog.written import WrittenNames
from polyculture.cache.errors import CatalogError
from polyculture.cache.files import arriving_folder, store_faults
from polyculture.cache.store.schema import CONDITIONS
from polyculture.generate.names import read_names
from polyculture.generate.wording import Wording, read_wording

_CODE = re.compile(r"[a-z]{2,3}(-[a-z0-9]+)*")
_TOPIC = re.compile(r"[a-z0-9][a-z0-9_-]*")
UNDETECTED = "XX"  # of a language that has no code of two letters: the language detector knows none such


@dataclass(frozen=True, slots=True)
class KnownLanguage:
    """What CLDR has of a language; "" where it has nothing."""

    code: str
    name: str
    endonym: str
    direction: str
    script: str


def write_pack(folder: Path, code: str, countries: Sequence[str], topics: Sequence[str]) -> None:
    """Writes a pack for a language, the countries whose language it is, and topics that are new.

    A folder that holds just this pack is left as it is: a command that was stopped at its end had written it. Raises
    `CatalogError` for a code that is none or that there is already, and for any other folder that is there.
    """
    catalog = read_catalog()
    countries = _countries(catalog, countries)
    _check(catalog, code, topics)
    files = {
        PACK: f'name = {_string(folder.resolve().name)}\nversion = "1"\n',
        f"languages/{code}.toml": _lines(_language(catalog, known_language(code), countries)),
        COUNTRIES: _lines(_country_rows(catalog, code, countries)),
        **{f"topics/{topic}.toml": _lines(_topic(topic, code)) for topic in topics},
    }
    if _holds(folder, files):
        return
    if folder.exists():
        raise CatalogError("is there already", where=folder, remedy="Name another folder, or remove it first.")
    with store_faults(folder), arriving_folder(folder.absolute()) as arriving:
        pack = arriving / "pack"
        for place, text in files.items():
            (pack / place).parent.mkdir(parents=True, exist_ok=True)
            (pack / place).write_text(text, encoding="utf-8")
        pack.rename(folder)  # whole or not at all: whoever is stopped before gives the same command again


def _holds(folder: Path, files: Mapping[str, str]) -> bool:
    """Whether a folder holds these files, as texts by place, and no other."""
    if not folder.is_dir():
        return False
    there = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return there.keys() == files.keys() and all(
        path.read_bytes() == files[place].encode() for place, path in there.items()
    )


def _english_names() -> Mapping[str, str]:
    """What languages are called in English, by BCP-47 code."""
    from babel import Locale

    return {code.replace("_", "-").lower(): name for code, name in Locale("en").languages.items()}


def known_language(code: str) -> KnownLanguage:
    """What CLDR says of a language, by its BCP-47 code."""
    from babel import Locale, UnknownLocaleError
    from babel.core import get_global

    written = code.replace("-", "_")
    likely = get_global("likely_subtags").get(code.partition("-")[0], "").split("_")
    name = _english_names().get(code, "")
    try:
        locale = Locale.parse(written)
    except (UnknownLocaleError, ValueError):
        return KnownLanguage(code, name, "", "", likely[1] if len(likely) == 3 else "")
    script = locale.script or (likely[1] if len(likely) == 3 else "")
    endonym = locale.languages.get(locale.language, "")
    return KnownLanguage(code, name or locale.english_name or "", endonym, locale.text_direction, script)


def _countries(catalog: Catalog, written: Sequence[str]) -> list[str]:
    names = WrittenNames(catalog)
    return list(dict.fromkeys(catalog.country(names.country(one) or one).code for one in written))


def _check(catalog: Catalog, code: str, topics: Sequence[str]) -> None:
    if not _CODE.fullmatch(code):
        meant = [one for one, name in _english_names().items() if name.casefold() == code.casefold()]
        remedy = f"Did you mean {meant[0]}?" if meant else "Write its BCP-47 code, such as sw or pt-br."
        raise CatalogError(f"{code!r} is no code of a language", remedy=remedy)
    if code in catalog.languages:
        remedy = "Its countries and topics need no language file: see docs/extending.md."
        raise CatalogError(f"language {code!r} is built in", remedy=remedy)
    for topic in topics:
        if not _TOPIC.fullmatch(topic):
            raise CatalogError(f"{topic!r} is no code of a topic", remedy="Small letters, digits, - and _ alone.")
        if topic in catalog.topics:
            raise CatalogError(f"topic {topic!r} is built in", remedy="Leave it out: the language's file words it.")


def _language(catalog: Catalog, known: KnownLanguage, countries: Sequence[str]) -> Iterator[str]:
    english = read_wording(catalog.language("en"), catalog.countries)
    two = known.code.partition("-")[0]
    yield '# From Unicode\'s CLDR. What is "" a speaker writes; `polyculture pack check` lists it.'
    yield "# Of topics that you do not ask about, delete the table."
    yield f"code = {_string(known.code)}"
    yield f"name = {_string(known.name)}"
    yield f"endonym = {_string(known.endonym)}"
    yield f"direction = {_string(known.direction)}"
    yield f"scripts = [{_string(known.script)}]  # ISO 15924"
    yield f"first_country = {_string(countries[0])}  # whose people's names the implicit prompts use"
    yield f"native_countries = {json.dumps(countries)}"
    yield f"detector = {_string(two.upper() if len(two) == 2 else UNDETECTED)}  # ISO 639-1; {UNDETECTED}: not detected"
    yield f"label_languages = {json.dumps([known.code, 'mul', 'en'])}  # where Wikidata keeps its labels, in order"
    yield 'endings = []  # of names in texts: [["", "s"]] turns taco into tacos'
    yield "key = []  # rules [pattern, replacement] that join the forms of a name where it is linked: docs/extending.md"
    yield ""
    yield "# Phrases by which a model refuses, as in generate/refusals/en.toml:"
    yield "# [refusals]"
    yield '# declines = ["..."]'
    yield ""
    yield "[wording]"
    yield 'answer_in_language = ""  # Please answer in ' + (known.name or "this language") + "."
    yield ""
    yield "[wording.countries]  # `form` replaces {country} and {origin}; where they differ, add origin."
    names = country_names(known.code)
    for country in dict.fromkeys([*countries, *english.countries]):
        yield f"{country} = {_forms(names.get(country, ''), names.get(country, ''))}"
    for topic in catalog.topics:
        yield from ("", f"[wording.topics.{topic}]", *_templates(english, topic))


def _templates(english: Wording, topic: str) -> Iterator[str]:
    """A template to write under its English, per condition."""
    for condition in CONDITIONS:
        yield f"# {english.wordings['write'][topic][condition].text}"
        yield f'{condition} = ""'


def _country_rows(catalog: Catalog, code: str, countries: Sequence[str]) -> Iterator[str]:
    """Per country the names of its persons, and its name in the built-in languages that lack it.

    Where every known form is the country's name, so is this one's. Else the line is a comment that a speaker completes.
    """
    spelling = "" if known_language(code).script == "Latn" else f', {code} = ""'
    yield "# Persons' names: common there and not in its neighbours, one or more of each sex."
    for country in countries:
        yield from ("", f"[{country}]")
        if country not in read_names():
            yield from (f'names.{sex} = [{{ latin = ""{spelling} }}]' for sex in ("male", "female"))
        for language in catalog.languages.values():
            known = read_wording(language, catalog.countries).countries
            if country in known or not known:  # a language without forms calls every country by its name
                continue
            name = country_names(language.code)[country]
            plain = all(one.form == one.name and one.origin in (None, one.form) for one in known.values())
            row = _forms(name, name if plain else "", origin=any(one.origin for one in known.values()))
            yield f"{'' if plain else '# '}wording.{language.code} = {row}"


def _topic(topic: str, code: str) -> Iterator[str]:
    yield f"code = {_string(topic)}"
    yield f"name = {_string(topic.replace('-', ' ').replace('_', ' ').capitalize())}"
    for kind, granularity in ((topic, 1), (f"{topic}_category", 0)):
        yield from ("", f"[kinds.{kind}]", f"granularity = {granularity}  # 1 specific, 0 general")
        yield 'description = ""  # for the extractor, with examples'
        yield "roots = []  # Wikidata classes, such as Q132241"
    for kind, what in (("place", "a named place"), ("person", "a named person")):
        yield from ("", f"[kinds.{kind}]", "counted = false  # kept, never in a metric", f'description = "{what}"')
    for language in ("en", code):
        yield from ("", f"[wording.{language}]", *(f'{condition} = ""' for condition in CONDITIONS))
    yield ""
    yield "# What a model that extracts is shown: a text with its mentions, by kind, as in extract/prompts/examples/:"
    yield "# [[examples]]"
    yield '# text = "..."'
    yield f'# mentions.{topic} = [["in the text", "dictionary form", "English name"]]'


def _forms(name: str, form: str, *, origin: bool = False) -> str:
    last = ', origin = ""' if origin else ""
    return f"{{ name = {_string(name)}, form = {_string(form)}{last} }}"


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _lines(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
