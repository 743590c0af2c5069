"""What a topic, a language and a country are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from fontTools.unicodedata import script_name
from pydantic import AfterValidator, Field, model_validator

from polyculture.cache.catalog.everyday import country_key, country_keys, everyday_countries, several_countries
from polyculture.cache.catalog.facts import LengthUnit
from polyculture.cache.catalog.pack import Pack
from polyculture.cache.errors import CatalogError
from polyculture.cache.text.inflection import base_language
from polyculture.cache.text.suggestions import did_you_mean, meant_by, near_words
from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.cache.validation import ClosedModel


def _qid(text: str) -> str:
    if not re.fullmatch(r"Q[1-9][0-9]{0,8}", text):
        raise ValueError(f"{text!r} is not a QID; write, for example, Q132241")
    return text


def _script(code: str) -> str:
    if script_name(code, None) is None:
        raise ValueError(
            f"{code!r} is no script of letters in Unicode (it may name a way to write one, or several of them); leave "
            "scripts out, and those of CLDR are taken; or write for example Hani, or Hira, Kana and Hani"
        )
    return code


QID = Annotated[str, AfterValidator(_qid)]
CountryCode = Annotated[str, Field(pattern=r"^[A-Z]{2}$")]
LabelLanguage = Annotated[str, Field(pattern=r"^[a-z]{2,}(-[a-z0-9]+)*$")]
ScriptCode = Annotated[str, Field(pattern=r"^[A-Z][a-z]{3}$"), AfterValidator(_script)]

# The wording that a user's own topic file brings along: condition -> template, or wording -> condition -> template.
OwnTemplates = Mapping[str, object]
_MISSPELT = 80  # of 100: how alike the name of a country or a language must be to a misspelt one
NO_REGION = ("mixed", "neutral")  # labels of texts that are of several regions, or of none


class Kind(ClosedModel):
    """A kind of mention within a topic: a dish, an author, a genre."""

    granularity: int | None = Field(default=None, ge=0, le=1)  # 1 specific, 0 general
    counted: bool = True  # False: kept, never in a metric
    description: str  # one line, for the extractor's prompt
    roots: tuple[QID, ...] = ()  # Wikidata classes that its entities are instances or subclasses of
    stops: tuple[QID, ...] = ()  # classes that a path to a root may not cross
    # Classes of classes (type of food or dish, ship type, music genre): each of their instances is a class of the kind.
    types: tuple[QID, ...] = ()
    # Of persons, what one of them must do (P106, subclasses included), where Wikidata says at all what the person does.
    occupations: tuple[QID, ...] = ()
    members: Literal["any", "instances", "classes"] = "any"  # titles and persons are instances, vehicle types classes

    @model_validator(mode="after")
    def _counted_kinds_have_a_granularity(self) -> Kind:
        if self.counted and self.granularity is None:
            raise ValueError("a counted kind needs granularity = 0 or 1")
        if self.counted and not self.roots:
            raise ValueError("a counted kind needs roots: the Wikidata classes of its entities")
        for name, ends in (("roots", self.roots), ("types", self.types)):
            both = sorted(set(ends) & set(self.stops))
            if both:
                raise ValueError(f"{both[0]} is among {name} and among stops: no path could end there")
        return self


class Example(ClosedModel):
    """A text and what the extractor should answer about it: the kinds' [text, dictionary form, English name or ""]."""

    text: str = Field(min_length=1)
    mentions: Mapping[str, tuple[tuple[str, str, str], ...]] = {}
    declined: bool = False  # the text declines its task

    @model_validator(mode="after")
    def _mentions_are_in_the_text(self) -> Example:
        for kind, listed in self.mentions.items():
            for surface, *_ in listed:
                if not surface or surface not in self.text:
                    raise ValueError(f"mentions.{kind}: {surface!r} is not in the text")
        return self


class Topic(ClosedModel):
    """A topic: the kinds of entity that are looked for, and where they stand in Wikidata's classes."""

    code: str
    name: str
    part_of: bool = False  # may a path use P361?
    max_distance: int = Field(default=12, ge=1)  # edges from an item to a root
    kinds: Mapping[str, Kind]
    sentences: Mapping[str, object] = {}  # of the wording `plain`, by language; in a user's own topic file
    wording: Mapping[str, OwnTemplates] = {}  # of other wordings, by language; the same
    examples: tuple[Example, ...] = ()  # the extractor's, in a user's own topic file; else extract/prompts/examples/
    file: Path | None = Field(default=None, exclude=True)  # that it was read from

    @model_validator(mode="after")
    def _something_is_counted(self) -> Topic:
        if not any(kind.counted for kind in self.kinds.values()):
            raise ValueError("kinds: none is counted; a topic needs a kind with a granularity and roots")
        return self

    @model_validator(mode="after")
    def _examples_have_its_kinds(self) -> Topic:
        for kind in (kind for example in self.examples for kind in example.mentions):
            if kind not in self.kinds:
                raise ValueError(f"examples.mentions: unknown kind {kind!r}. {did_you_mean(kind, self.kinds)}")
        return self


class Language(ClosedModel):
    """A language: its scripts, its countries, and where Wikidata keeps its labels.

    A language file has its code and what `facts.language_facts` does not know, or knows wrongly.
    """

    code: str
    name: str
    endonym: str
    direction: str = Field(pattern="^(ltr|rtl)$")
    scripts: tuple[ScriptCode, ...] = Field(min_length=1)
    first_country: CountryCode
    native_countries: tuple[CountryCode, ...] = Field(min_length=1)
    detector: str = Field(pattern="^[A-Z]{2,3}$")  # ISO 639 code that the language detector reports
    # Languages that the detector takes for this one, by its codes: how many times fewer texts it was trained on.
    near: Mapping[str, float] = {}
    label_languages: tuple[LabelLanguage, ...] = Field(min_length=1)  # Wikidata's, the fallback chain in order
    # As many words or characters as the Universal Declaration of Human Rights has here for 50 of its English words: the
    # length that `plain` asks for.
    unit: LengthUnit = "words"
    amount: int | None = Field(default=None, ge=1)
    # The sentences of the prompts, in the form of generate/wording/<code>.toml: there are the languages that have other
    # wordings than `plain`.
    wording: Mapping[str, object] = {}
    # In a user's own language file: the same form as generate/refusals/<code>.toml without its code.
    refusals: Mapping[str, object] = {}
    endings: tuple[tuple[str, str], ...] = ()  # of words in texts, as in cache/text/inflection.toml; the same
    key: tuple[tuple[str, str], ...] = ()  # rules that bring the forms of a name to one key, as there; the same

    file: Path | None = Field(default=None, exclude=True)  # that it was read from

    @property
    def names_in(self) -> str:
        """Wikidata's language of its names, whose rules make their keys: sw for sw-ke."""
        return base_language(self.label_languages[0])

    @model_validator(mode="after")
    def _keys_can_be_made(self) -> Language:
        for pattern, replacement in self.key:
            import pyarrow as pa
            import pyarrow.compute as pc  # here: few packs have rules, and every command reads the catalogue

            try:
                pc.replace_substring_regex(pa.array([""]), pattern, replacement)
            except pa.ArrowInvalid as fault:
                raise ValueError(f"key: {pattern!r} is no rule: {fault}") from None
        return self


class Country(ClosedModel):
    """A country. Prompts can name it in the languages that have a form of it."""

    code: CountryCode
    name: str
    qid: QID
    includes: tuple[QID, ...] = ()  # items that Wikidata names in its place: constituent countries, the undivided one
    confirmed: bool = True  # was the QID held against Wikidata?
    wording: Mapping[str, object] = {}  # language -> name and form, in a user's own file
    names: Mapping[str, object] = {}  # of men and women, in the form of generate/names/<country>.toml; the same

    @property
    def items(self) -> tuple[str, ...]:
        """The QIDs that stand for the country."""
        return (self.qid, *self.includes)


class FormerState(ClosedModel):
    """A state that is no more, with the countries of today that continue it."""

    qid: QID
    name: str
    heirs: tuple[CountryCode, ...] = Field(min_length=1)
    principal: CountryCode | None = None  # of several heirs, whose it is where nothing else decides
    sources: tuple[str, ...] = ()  # tables that give its number and name, where our extract of Wikidata lacks it


@cache
def _former_states() -> dict[str, FormerState]:
    """The former states of the built-in catalogue, by QID: packs bring none."""
    file = Path(__file__).with_name("former_states.toml")
    return {qid: parse_model(FormerState, {"qid": qid, **row}, file) for qid, row in read_toml(file).items()}


class Region(ClosedModel):
    """A region: countries that stand together in maps and are compared with those of others."""

    code: str = Field(pattern="^[a-z0-9]+(-[a-z0-9]+)*$")
    name: str
    m49: str | None = Field(default=None, pattern="^[0-9]{3}$")  # the United Nations' code
    part_of: str | None = None  # the name of a larger region
    countries: tuple[CountryCode, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _no_label_of_texts(self) -> Region:
        if self.code in NO_REGION:
            raise ValueError(f"no region can be called {self.code!r}: texts of several regions, or of none, are")
        return self


class Catalog(ClosedModel):
    """All topics, languages and countries that an experiment can name."""

    topics: Mapping[str, Topic]
    languages: Mapping[str, Language]
    countries: Mapping[str, Country]
    regions: Mapping[str, Region] = {}  # in the order of maps; a country is in one at most
    packs: tuple[Pack, ...] = ()  # that it was read from, beside the built-in files

    @property
    def endings(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """The word endings that packs bring, by language."""
        return {code: language.endings for code, language in self.languages.items() if language.endings}

    @property
    def key_rules(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """The rules of keys that packs bring, by Wikidata language, which is that of sw for sw-ke."""
        return {language.names_in: language.key for language in self.languages.values() if language.key}

    @property
    def region_of(self) -> dict[str, Region]:
        """The region of each country that has one."""
        return {country: region for region in self.regions.values() for country in region.countries}

    @property
    def former_states(self) -> Mapping[str, FormerState]:
        """Those that Polyculture ships, by QID; read when something is linked."""
        return _former_states()

    @property
    def country_items(self) -> dict[str, tuple[str, ...]]:
        """The countries that an item stands for, by QID: a country's own, or that of a former state with one heir."""
        found = {state.qid: state.heirs for state in self.former_states.values() if len(state.heirs) == 1}
        own: dict[str, tuple[str, ...]] = {}
        for country in self.countries.values():
            for qid in country.items:
                own[qid] = (*own.get(qid, ()), country.code)
        return found | own

    @property
    def divided_states(self) -> dict[str, FormerState]:
        """Former states with several heirs, by QID."""
        known = self.country_items
        return {qid: state for qid, state in self.former_states.items() if qid not in known}

    @property
    def label_languages(self) -> frozenset[str]:
        """The Wikidata languages whose labels any of the languages falls back on."""
        return frozenset(code for language in self.languages.values() for code in language.label_languages)

    def native_pairs(self, languages: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """Each of the languages that are known, with each country in which it is native."""
        known = [self.languages[code] for code in languages if code in self.languages]
        return tuple((language.code, country) for language in known for country in language.native_countries)

    def topic(self, code: str) -> Topic:
        """The topic of this code; `CatalogError` with the nearest name where there is none."""
        if code not in self.topics:
            raise CatalogError(f"unknown topic {code!r}", remedy=did_you_mean(code, self.topics))
        return self.topics[code]

    def language(self, code: str) -> Language:
        """The language of this code; `CatalogError` with the nearest name where there is none."""
        if code not in self.languages:
            of_country = [one.code for one in self.languages.values() if one.first_country == code.upper()]
            near = near_words(code, self.languages) or of_country or _by_name(code, self.languages)
            remedy = _meant(near, self.languages) if near else did_you_mean(code, self.languages)
            if not near and re.fullmatch(r"[a-z]{2,3}(-[A-Za-z]{2,4})?", code):
                remedy += f" To add it: polyculture pack new {code}."
            raise CatalogError(f"unknown language {code!r}", remedy=remedy)
        return self.languages[code]

    def country(self, code: str) -> Country:
        """The country of this ISO 3166 code; `CatalogError` that says what to write where there is none."""
        if code not in self.countries:
            raise CatalogError(f"unknown country {code!r}", remedy=country_remedy(code, self.countries))
        return self.countries[code]


def _by_name(written: str, known: Mapping[str, Language] | Mapping[str, Country]) -> list[str]:
    """The codes of the English names that hold some words, such as Korea; else of the one that is misspelt.

    Another country's name is as near as a misspelt one where they are less alike: England to Greenland.
    """
    names = {one.name: code for code, one in known.items()}
    words = re.escape(" ".join(re.findall(r"\w+", written.casefold())))
    holding = [code for name, code in names.items() if re.search(rf"\b{words}\b", name.casefold())] if words else []
    if holding or len(written) <= 3:
        return holding
    return [names[name] for name in near_words(written, names, alike=_MISSPELT)]


def _meant(codes: Sequence[str], known: Mapping[str, Language] | Mapping[str, Country]) -> str:
    return f"Did you mean {' or '.join(f'{code!r} ({known[code].name})' for code in codes)}?"


def country_remedy(code: str, countries: Mapping[str, Country]) -> str:
    """What to write instead of an unknown code: the codes of the countries that have this name or one like it, or where
    codes are from."""
    former = {country_key(state.name): state.heirs for state in _former_states().values()}
    for key in country_keys(code):
        several = several_countries().get(key) or former.get(key, ())
        if found := [one for one in several if one in countries]:
            return _meant(found, countries)
    meant = meant_by(code, countries)
    if found := [meant] if meant else _by_name(code, countries) or _misspelt_everyday(country_key(code), countries):
        return _meant(found, countries)
    return "Write an ISO 3166 code, such as 'GB' for the United Kingdom, or add the country: see docs/extending.md."


def _misspelt_everyday(key: str, countries: Mapping[str, Country]) -> list[str]:
    """The code of the everyday name that is misspelt: Palestne."""
    near = near_words(key, everyday_countries(), alike=_MISSPELT) if len(key) > 3 else []
    return [code for code in (everyday_countries()[name] for name in near) if code in countries]
