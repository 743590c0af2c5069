"""The wording of prompts in a language: templates per topic and condition, and the form of each country in them.

A language's wording is the table `wording` of its file in the catalogue, or `generate/wording/<code>.toml` of the
languages that have other wordings than `plain`. A user's own topic file has its sentences of `plain` in `sentences`
and templates of other wordings in `wording.<language>`; the countries of a user's own `countries.toml` have their forms
in `wording.<language>`: these are put over the language's.

Templates stand in `[wordings.<wording>.<topic>]` of a language file and in `[wording.<language>.<wording>]` of a topic
file. A single wording needs no name there: it is taken for the first that an experiment asks. The wording `plain` is
made of a sentence for each topic, or the neutral one of `write`, and of two lines that each language has (`Plain`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, model_validator

from polyculture.cache.catalog import Catalog, Country, Language, Topic, read_catalog
from polyculture.cache.catalog.cldr import country_names
from polyculture.cache.catalog.everyday import written_names
from polyculture.cache.catalog.facts import LengthUnit
from polyculture.cache.catalog.model import CountryCode
from polyculture.cache.catalog.read import COUNTRIES
from polyculture.cache.errors import CatalogError
from polyculture.cache.store.schema import Condition
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.cache.validation import ClosedModel
from polyculture.generate.design import PLAIN
from polyculture.generate.names import PersonNames, names_file, read_names

FOLDER = Path(__file__).with_name("wording")
OWN_COUNTRIES = Path(COUNTRIES)  # of a user's folder


AMOUNT = "{amount}"  # in a sentence of `plain`: how many words or characters the language's texts shall have
WRITE = "write"  # the wording whose neutral sentences `plain` takes where it has none of its own

# The placeholders for the inserted text in a template of each condition: exactly one of them stands there, once.
PLACEHOLDERS: Mapping[Condition, tuple[str, ...]] = {
    "neutral": (),
    "explicit": ("{country}", "{origin}", "{country_name}"),
    "implicit_male": ("{name}",),
    "implicit_female": ("{name}",),
    "audience": ("{country}", "{origin}"),
}


class Template(ClosedModel):
    """The text of a prompt with its placeholder, and what it says in English, word by word."""

    text: str
    gloss: str | None = None  # None in English, and where a user gives none

    @model_validator(mode="before")
    @classmethod
    def _plain_text(cls, data: Any) -> Any:
        return {"text": data} if isinstance(data, str) else data


# By condition. One that has none cannot be asked about, which `template_of` says when it is.
Templates = Annotated[Mapping[Condition, Template], Field(min_length=1)]
WordingName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=50)]


class _UnnamedWordings(BaseModel):
    wording: Mapping[str, Templates]


class _Sentences(BaseModel):
    sentences: Mapping[str, Template]


class _NamedWordings(BaseModel):
    wording: Mapping[str, Mapping[WordingName, Templates]]


@dataclass(frozen=True, slots=True)
class TopicWording:
    """One wording of a topic in a language."""

    name: str | None  # None: it has none, and is the first that an experiment asks
    templates: Mapping[Condition, Template]
    file: Path
    place: str  # in the file: 'wordings.write.food'


def language_wordings(topic: str, language: Language, wording: Wording) -> list[TopicWording]:
    """The wordings of a topic in a language's own file."""
    file = wording_file(language)
    of_topic = [
        TopicWording(name, topics[topic], file, place_in_file(language, f"wordings.{name}.{topic}"))
        for name, topics in wording.wordings.items()
        if topic in topics
    ]
    if topic in wording.topics:
        of_topic.append(TopicWording(None, wording.topics[topic], file, place_in_file(language, f"topics.{topic}")))
    return of_topic


def topic_file(topic: Topic) -> Path:
    """The file of a topic, as named in errors and findings."""
    return topic.file or Path("topics", f"{topic.code}.toml")


def own_wordings(topic: Topic, language: Language) -> list[TopicWording]:
    """The wordings in a user's own topic file; none where it has none in this language."""
    if language.code not in topic.wording:
        return []
    file, table = topic_file(topic), topic.wording[language.code]
    data, place = {"wording": {language.code: table}}, f"wording.{language.code}"
    if table and not any(map(_is_template, table.values())):
        named = parse_model(_NamedWordings, data, file).wording[language.code]
        return [TopicWording(name, templates, file, f"{place}.{name}") for name, templates in named.items()]
    return [TopicWording(None, parse_model(_UnnamedWordings, data, file).wording[language.code], file, place)]


def _is_template(value: object) -> bool:
    return not isinstance(value, Mapping) or "text" in value


def template_of(wording: TopicWording, condition: Condition) -> str:
    """The text for a condition; `CatalogError` where this wording has none."""
    if condition == "audience" and wording.name == PLAIN:
        raise CatalogError(
            f"the wording {PLAIN} has no prompts of the condition {condition!r}",
            where=wording.file,
            remedy=f"Take {condition!r} out of the conditions of the experiment, or ask a wording that has it, for "
            'example wordings = ["write"] under [prompts], in languages and about countries that are in it.',
        )
    if condition not in wording.templates and wording.name == PLAIN:  # whose sentences have a line for it below them
        raise CatalogError(
            f"wording.plain.name: no line with the name of a person, for {condition}",
            where=wording.file,
            remedy=f'Add name = "... {{name}}." to [wording.plain], or take {condition!r} out of the conditions of the '
            "experiment.",
        )
    if condition not in wording.templates:
        raise CatalogError(
            f"{wording.place}: no template for {condition}",
            where=wording.file,
            remedy=f'Add {condition} = "...", or take {condition!r} out of the conditions of the experiment.',
        )
    return wording.templates[condition].text


class CountryWording(ClosedModel):
    """A country in a language: its name, and the forms that replace `{country}` and `{origin}`."""

    name: str = Field(min_length=1)
    form: str = Field(min_length=1)
    origin: str | None = Field(default=None, min_length=1)  # None: the same as `form`
    note: str | None = None  # why the name is not the one of CLDR


class Length(ClosedModel):
    """How long the texts shall be, as the sentences of the wordings with a length say it."""

    unit: LengthUnit
    amount: int = Field(ge=1)


class Plain(ClosedModel):
    """The wording `plain` in a language: the sentence of a topic, and below it a line with the country or the name.

    No sentence contains data, so nothing has to be inflected: a country is called by its name in the nominative. The
    texts shall be as long as `Language.amount` says, in place of `{amount}`.
    """

    country: Template
    name: Template | None = None  # None: implicit prompts cannot be asked
    topics: Mapping[str, Template] = {}  # the sentences; of a topic without one it is the neutral sentence of `write`
    countries: Mapping[CountryCode, Annotated[str, Field(min_length=1)]] = {}  # in place of CLDR's


class Wording(ClosedModel):
    """All parts of the prompts in one language."""

    language: str
    answer_in_language: str | None = Field(default=None, min_length=1)  # the sentence that asks for this language
    length: Length | None = None
    plain: Plain | None = None
    plain_length: Length | None = Field(default=None, exclude=True)  # of `plain`: what data say of the language
    countries: Mapping[CountryCode, CountryWording] = {}
    wordings: Mapping[WordingName, Mapping[str, Templates]] = {}  # wording -> topic -> condition -> template
    topics: Mapping[str, Templates] = {}  # of a single wording without a name
    names: Mapping[CountryCode, PersonNames] = {}  # a user's own, put over the built-in ones

    def length_of(self, name: str | None) -> Length | None:
        """The length that a wording of this name asks for; None where the language has none."""
        return self.plain_length if name == PLAIN else self.length


class _OwnCountry(ClosedModel):
    wording: Mapping[str, CountryWording]
    names: PersonNames | None


def wording_file(language: Language) -> Path:
    """The file with a language's wording, as named in errors and findings."""
    if language.wording or not (FOLDER / f"{language.code}.toml").exists():
        return language.file or Path("languages", f"{language.code}.toml")
    return FOLDER / f"{language.code}.toml"


def place_in_file(language: Language, place: str) -> str:
    """The place of a part of a language's wording in its file; in a file of the catalogue, the wording is the table
    `wording`."""
    return f"wording.{place}" if language.wording else place


def is_own(language: Language) -> bool:
    """Is it a user's own, or a built-in one that a user changed?"""
    return language != read_catalog().languages.get(language.code)


def read_wording(language: Language, countries: Mapping[str, Country] | None = None) -> Wording:
    """A language's wording, with that of a user's own `countries` put over it.

    Raises `CatalogError`, naming file and place, where it is missing or invalid.
    """
    file = wording_file(language)
    if language.wording:
        wording = parse_model(Wording, {"language": language.code, **language.wording}, file)
    elif file.exists():
        wording = _built_in(file)
    else:
        raise CatalogError(
            f"language {language.code!r} has no wording",
            where=file,
            remedy=f"Add [wording.plain] with its lines and sentences: polyculture pack new {language.code} writes it.",
        )
    if wording.language != language.code:
        raise CatalogError(f"language is {wording.language!r}", where=file, remedy=f"Write {language.code!r}.")
    length = Length(unit=language.unit, amount=language.amount) if language.amount else None
    return _with_own_countries(wording.model_copy(update={"plain_length": length}), countries or {})


def answer_sentence(language: Language, wording: Wording) -> str:
    """The sentence that asks to answer in a language; `CatalogError` where its file has none."""
    if wording.answer_in_language is None:
        raise CatalogError(
            "no answer_in_language, which the experiment asks for",
            where=wording_file(language),
            remedy="Add the sentence to [wording], or leave answer_in_language out of the experiment.",
        )
    return wording.answer_in_language


@cache  # a command asks for it several times, and it takes as long to read as the whole catalogue
def _built_in(file: Path) -> Wording:
    return parse_model(Wording, read_toml(file), file)


def own_countries(countries: Mapping[str, Country]) -> dict[str, Country]:
    """Those with a wording or names of their own."""
    return {code: country for code, country in countries.items() if country.wording or country.names}


def _with_own_countries(wording: Wording, countries: Mapping[str, Country]) -> Wording:
    forms, names = dict(wording.countries), dict(wording.names)
    for code, country in own_countries(countries).items():
        data = {"wording": country.wording, "names": country.names or None}
        own = parse_model(_OwnCountry, data, OWN_COUNTRIES, code)
        forms |= {code: own.wording[wording.language]} if wording.language in own.wording else {}
        names |= {code: own.names} if own.names else {}
    return wording.model_copy(update={"countries": forms, "names": names})


def names_source(country: str, language: Language, wording: Wording, countries: Mapping[str, Country]) -> Path:
    """The file that the names of a country's persons come from; of a country without names the language's."""
    if country in countries and countries[country].names:
        return OWN_COUNTRIES
    if country in wording.names or country not in read_names():
        return wording_file(language)
    return names_file(country)


def topic_wordings(topic: Topic, language: Language, wording: Wording) -> list[TopicWording]:
    """All wordings of a topic in a language but `plain`: the topic file's own, else the language's."""
    return own_wordings(topic, language) or language_wordings(topic.code, language, wording)


def with_plain(topic: Topic, language: Language, wording: Wording) -> list[TopicWording]:
    """All wordings of a topic, with `plain` where the language has its lines and the topic a sentence for it."""
    wordings = topic_wordings(topic, language, wording)
    plain = _plain_wording(topic, language, wording, wordings)
    return [*wordings] if plain is None else [*wordings, plain]


def _plain_wording(
    topic: Topic, language: Language, wording: Wording, others: Sequence[TopicWording]
) -> TopicWording | None:
    """The wording `plain` of a topic; None where the language lacks its lines, or the topic its sentence."""
    found = plain_sentence(topic, language, wording, others)
    if wording.plain is None or found is None:
        return None
    sentence, file, place = found
    templates: dict[Condition, Template] = {
        "neutral": sentence,
        "explicit": _below(sentence, wording.plain.country),
    }
    if wording.plain.name:
        templates |= dict.fromkeys(("implicit_male", "implicit_female"), _below(sentence, wording.plain.name))
    return TopicWording(PLAIN, templates, file, place)


def plain_sentence(
    topic: Topic, language: Language, wording: Wording, others: Sequence[TopicWording]
) -> tuple[Template, Path, str] | None:
    """The sentence of a topic in `plain`, its file and its place there.

    It is that of the topic's own file, or of the language's. Else it is the neutral sentence of `write`, or of a
    wording without a name, with the amount of `plain`.
    """
    length, code = wording.plain_length, language.code
    amount = str(length.amount) if length else AMOUNT
    if code in topic.sentences:
        file = topic_file(topic)
        sentence = parse_model(_Sentences, {"sentences": {code: topic.sentences[code]}}, file).sentences[code]
        return _replaced(sentence, AMOUNT, amount), file, f"sentences.{code}"
    if wording.plain and topic.code in wording.plain.topics:
        sentence = wording.plain.topics[topic.code]
        return (
            _replaced(sentence, AMOUNT, amount),
            wording_file(language),
            place_in_file(language, f"plain.topics.{topic.code}"),
        )
    named = {one.name: one for one in others}
    source = named.get(WRITE) or named.get(None)
    if source is None or "neutral" not in source.templates:
        return None
    sentence = source.templates["neutral"]
    if wording.length and length:
        sentence = _with_amount(sentence, wording.length.amount, length.amount)
    return sentence, source.file, PLAIN


def _replaced(sentence: Template, old: str, new: str) -> Template:
    gloss = None if sentence.gloss is None else sentence.gloss.replace(old, new)
    return Template(text=sentence.text.replace(old, new), gloss=gloss)


def _below(sentence: Template, line: Template) -> Template:
    """A sentence with a line below it."""
    glosses = None if sentence.gloss is None or line.gloss is None else f"{sentence.gloss}\n{line.gloss}"
    return Template(text=f"{sentence.text}\n{line.text}", gloss=glosses)


def _with_amount(sentence: Template, amount: int, other: int) -> Template:
    """A sentence that asks for another amount, in the digits of its script."""

    def written(found: re.Match[str]) -> str:
        digits = found[0]
        if int(digits) != amount:
            return digits
        zero = ord(digits[0]) - int(digits[0])
        return "".join(chr(zero + int(digit)) for digit in str(other))

    text, gloss = (None if one is None else re.sub(r"\d+", written, one) for one in (sentence.text, sentence.gloss))
    return Template(text=text or "", gloss=gloss)


def country_called(code: str, language: Language, wording: Wording, *, own: bool = False) -> str | None:
    """What a country is called in a language, in the nominative: as the wording says, or as CLDR does; None where
    neither knows it. `own` says that the country's forms come from a user's countries.toml, which come first."""
    if wording.plain and code in wording.plain.countries and not own:
        return wording.plain.countries[code]
    if code in wording.countries:
        return wording.countries[code].name
    return country_names(language.code).get(code)


def named_countries(catalog: Catalog, language: Language, wording: Wording) -> dict[str, str]:
    """What the countries of the catalogue that have a name in a language are called in it, by code."""
    own = {code for code, country in catalog.countries.items() if language.code in country.wording}
    names = {code: country_called(code, language, wording, own=code in own) for code in catalog.countries}
    return {code: name for code, name in names.items() if name}


def official_names(catalog: Catalog, language: str) -> dict[str, str]:
    """By code: what Unicode's CLDR calls, in a language, the places of which it has the official form in English (Hong
    Kong SAR China), and the catalogue the everyday one. Empty for a language that CLDR lacks."""
    english, names = country_names("en"), country_names(language)
    official = [code for code, country in catalog.countries.items() if english.get(code) != country.name]
    return {code: names[code] for code in official if code in names}


def country_names_in_texts(catalog: Catalog, languages: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The names of countries that texts in some languages may have, by language: all that Unicode's CLDR knows, those
    of the prompts (which a culture pack or a wording may call otherwise), and in English the everyday ones."""
    names = {}
    for code in languages:
        language = catalog.languages[code]
        found = {name for country, name in country_names(code).items() if country.isalpha()}
        if language.wording or wording_file(language).exists():  # a language that is only read has none
            wording = read_wording(language, catalog.countries)
            found |= set(named_countries(catalog, language, wording).values())
            found |= {country.name for country in wording.countries.values()}
        if code == "en":
            found |= {name.title() for name in written_names()["countries"]}
        names[code] = tuple(sorted(found))
    return names


def topic_wording(topic: Topic, language: Language, wording: Wording, name: str, first: bool) -> TopicWording:
    """The wording of this name of a topic, or the one without a name where the `first` is asked.

    Raises `CatalogError` where there is neither.
    """
    wordings = topic_wordings(topic, language, wording)
    named = {one.name: one for one in (with_plain(topic, language, wording) if name == PLAIN else wordings)}
    chosen = named.get(name) or (named.get(None) if first and name != PLAIN else None)
    if chosen:
        return chosen
    if name == PLAIN and wording.plain is None:
        raise CatalogError(
            f"language {language.code!r} has no lines for the wording {PLAIN!r}",
            where=wording_file(language),
            remedy="Add [wording.plain] with country and name (docs/extending.md), or leave the language out.",
        )
    if not wordings and (name == PLAIN or not with_plain(topic, language, wording)):
        is_own_topic = bool(topic.sentences or topic.wording)
        place = f"sentences.{language.code}" if is_own_topic else f"wording.plain.topics.{topic.code}"
        raise CatalogError(
            f"topic {topic.code!r} has no sentence in language {language.code!r}",
            where=topic_file(topic) if is_own_topic else wording_file(language),
            remedy=f'Add {place} = "...", or leave the language or the topic out.',
        )
    if not wordings:
        raise CatalogError(
            f"topic {topic.code!r} has the wording {PLAIN} alone in language {language.code!r}, and {name} is asked",
            where=wording_file(language),
            remedy=f'Write wordings = ["{PLAIN}"] under [prompts], or leave the language out.',
        )
    names = [name for name in named if name]
    remedy = (
        f"Add it, or set wordings = {names} under [prompts]."
        if names
        else "Add it, or set wordings = 1 under [prompts]."
    )
    near = did_you_mean(name, [*names, *([PLAIN] if wording.plain else [])]) if names else ""
    raise CatalogError(
        f"topic {topic.code!r} has no wording {name!r} in language {language.code!r}",
        where=wordings[0].file,
        remedy=f"{near} {remedy}".strip(),
    )


def fill_country(template: str, country: str, language: Language, wording: Wording, own: bool) -> str:
    """The template with the country's form for `{country}`, its origin for `{origin}`, its name for `{country_name}`.

    `own` says that the country's forms come from a user's countries.toml. Raises `CatalogError` where the wording has
    no such country, and where a country of one's own has no origin in a language that distinguishes it from the form.
    """
    if "{country_name}" in template:
        name = country_called(country, language, wording, own=own)
        if name is None:
            row = f'wording.{language.code} = {{ name = "...", form = "..." }}'
            remedy = (
                f'Add {country} = "..." to [wording.plain.countries] of the language\'s file.'
                if is_own(language)
                else f"Add {row} to [{country}] in the countries.toml of your catalog."
            )
            raise CatalogError(f"no name of country {country}", where=wording_file(language), remedy=remedy)
        return template.replace("{country_name}", name)
    if country not in wording.countries:
        raise CatalogError(
            f"no wording of country {country}",
            where=wording_file(language),
            remedy=_where_to_word(country, language),
        )
    forms = wording.countries[country]
    if own and "{origin}" in template and forms.origin is None:
        _check_origin(country, language, wording)
    return template.replace("{country}", forms.form).replace("{origin}", forms.origin or forms.form)


def _check_origin(country: str, language: Language, wording: Wording) -> None:
    others = {code: one for code, one in wording.countries.items() if one.origin and one.origin != one.form}
    if others:
        code, like = next(iter(others.items()))
        raise CatalogError(
            f"{country}.wording.{language.code}: no origin, which is another than the form in this language",
            where=OWN_COUNTRIES,
            remedy=f'Add origin = "..." as it stands in place of {{origin}}: for {code} it is {like.origin!r}, '
            f"and the form is {like.form!r}.",
        )


def _where_to_word(country: str, language: Language) -> str:
    """Where a user may say what a country is called: in a language file of their own, or in countries.toml; and the
    wording that needs none of it."""
    row = '{ name = "...", form = "..." }'
    if language.wording:
        return f"Add {country} = {row} to its countries."
    return (
        f'Write wordings = ["{PLAIN}"] under [prompts], which has every country; or add [{country}] with '
        f"wording.{language.code} = {row} to the countries.toml of your catalog."
    )
