"""The check of a user's own wording before any cost arises. That of the built-in languages is checked by the tests."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.catalog import Catalog, Language, Topic
from polyculture.cache.catalog.cldr import country_names
from polyculture.cache.catalog.facts import language_facts
from polyculture.cache.errors import CatalogError
from polyculture.cache.store.schema import Condition, Prompt
from polyculture.cache.text.scripts import script_counts, script_share
from polyculture.generate.design import PLAIN, known_wordings
from polyculture.generate.detection import detect, detectable
from polyculture.generate.names import PersonName, PersonNames
from polyculture.generate.wording import (
    AMOUNT,
    OWN_COUNTRIES,
    PLACEHOLDERS,
    Length,
    Template,
    TopicWording,
    Wording,
    fill_country,
    is_own,
    official_names,
    own_countries,
    place_in_file,
    plain_sentence,
    read_wording,
    topic_wordings,
    wording_file,
)


def check_wording(
    catalog: Catalog, languages: Sequence[str], topics: Sequence[str], countries: Sequence[str]
) -> list[Defect]:
    """All defects in a user's own wording of these languages, topics and countries; empty for valid wording.

    Each template has its placeholder once and no other. It is in the script of its language, and is detected as that
    language. It says the length of the language's file where its wording says one. The wordings of a cell differ. Each
    country has a name and its forms in that script. The name is that of CLDR or has a `note` that says why not. Names
    of persons are in the script of the language. Raises `CatalogError` where a file cannot be read at all.
    """
    findings: list[Defect] = []
    for language in map(catalog.language, languages):
        wording = read_wording(language, catalog.countries)
        own = is_own(language)
        if own:
            findings += _check_language(language, wording, catalog, countries)
        findings += _check_own_countries(language, wording, catalog, countries)
        check = TemplateCheck(language, wording, catalog, countries)
        for topic in map(catalog.topic, topics):
            if own or language.code in {*topic.wording, *topic.sentences}:
                findings += check.topic(topic)
    return list(dict.fromkeys(findings))


def check_prompts(prompts: Sequence[Prompt]) -> list[Defect]:
    """Duplicate prompts, and prompts with an unfilled placeholder; empty for valid prompts."""
    findings: list[Defect] = []
    first: dict[str, Prompt] = {}
    for prompt in prompts:
        file, place = Path(f"prompts in {prompt.language}"), _place(prompt)
        if MARK.search(prompt.text):
            findings.append(Defect(file, place, f"something is left to fill in: {prompt.text!r}"))
        if prompt.text in first:
            findings.append(Defect(file, place, f"the same text as {_place(first[prompt.text])}: {prompt.text!r}"))
        first.setdefault(prompt.text, prompt)
    return findings


def _check_language(
    language: Language, wording: Wording, catalog: Catalog, countries: Sequence[str]
) -> Iterator[Defect]:
    file = wording_file(language)
    own = language_facts(language.code).detector
    if own != language.detector and detectable(own):
        yield Defect(file, "detector", f"is {language.detector}, and the language detector knows {own}")
    check = TemplateCheck(language, wording, catalog, countries)
    if wording.answer_in_language:
        yield from (
            Defect(file, place_in_file(language, "answer_in_language"), what)
            for what in check.text(wording.answer_in_language)
        )
    if wording.plain:
        for place, mark, line in (
            ("plain.country", "{country_name}", wording.plain.country),
            ("plain.name", "{name}", wording.plain.name),
        ):
            findings = [*_placeholder((mark,), line.text), *check.line(line.text)] if line else []
            yield from (Defect(file, place_in_file(language, place), what) for what in findings)
        for code, name in wording.plain.countries.items():
            place = place_in_file(language, f"plain.countries.{code}")
            if code not in catalog.countries:
                yield Defect(file, place, "there is no such country")
            elif wrong := wrong_script(name, language):
                yield Defect(file, place, wrong)
    yield from _check_countries(language, wording, catalog, countries)
    yield from check_names(language, read_wording(language).names, file, place_in_file(language, "names"))


def _check_countries(
    language: Language, wording: Wording, catalog: Catalog, countries: Sequence[str]
) -> Iterator[Defect]:
    """The countries in the language's file, but those that a user's countries.toml words."""
    file, own = wording_file(language), own_countries(catalog.countries)
    for code in countries:  # one without a form is asked about in `plain` alone; other wordings say that they lack it
        if code in wording.countries and (code not in own or language.code not in own[code].wording):
            yield from _check_forms(language, wording, catalog, [code], file)


def _check_forms(
    language: Language,
    wording: Wording,
    catalog: Catalog,
    countries: Sequence[str],
    file: Path,
    inside: str | None = None,
) -> Iterator[Defect]:
    """The name and the forms of each country: their script, and that the name is CLDR's.

    The name may differ for places of which CLDR has an official form (`official_names`).
    """
    known = country_names(language.code) if countries else {}  # CLDR is large
    official = official_names(catalog, language.code) if countries else {}
    for code in countries:
        country = wording.countries[code]
        place = place_in_file(language, f"countries.{code}") if inside is None else f"{code}{inside}"
        for part, text in (("name", country.name), ("form", country.form), ("origin", country.origin or "")):
            wrong = wrong_script(text, language)
            if wrong:
                yield Defect(file, f"{place}.{part}", wrong)
        other = code in known and code not in official and _normal(known[code]) != _normal(country.name)
        if other and not country.note:
            what = f"is {country.name!r}, CLDR has {known[code]!r}; take that name, or say why not in a `note`"
            yield Defect(file, f"{place}.name", what)


def _check_own_countries(
    language: Language, wording: Wording, catalog: Catalog, countries: Sequence[str]
) -> Iterator[Defect]:
    """The forms and names in a user's own countries.toml."""
    own = own_countries(catalog.countries)
    forms = [code for code in countries if code in own and language.code in own[code].wording]
    yield from _check_forms(language, wording, catalog, forms, OWN_COUNTRIES, f".wording.{language.code}")
    names = {code: wording.names[code] for code, country in own.items() if country.names}
    yield from check_names(language, names, OWN_COUNTRIES, "")


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _place(prompt: Prompt) -> str:
    return ".".join(part for part in (prompt.topic, prompt.condition, prompt.country) if part)


def check_names(language: Language, names: Mapping[str, PersonNames], file: Path, before: str) -> Iterator[Defect]:
    """The names in a file; `before` leads to them."""
    for country, persons in names.items():
        for sex, known in (("male", persons.male), ("female", persons.female)):
            for number, name in enumerate(known, start=1):
                parts = (before, country, sex, f"{number}" if len(known) > 1 else "")
                place = ".".join(part for part in parts if part)
                yield from (Defect(file, f"{place}.{part}", what) for part, what in _name(name, language))
            yield from _alike(known, language, file, ".".join(part for part in (before, country, sex) if part))


def _name(name: PersonName, language: Language) -> Iterator[tuple[str, str]]:
    wrong = wrong_script(name.spellings.get(language.code, ""), language)
    if wrong:
        yield language.code, wrong
    if script_share(script_counts(name.latin), ["Latn"]) != 1.0:
        yield "latin", "is not in Latin letters"


def _alike(known: tuple[PersonName, ...], language: Language, file: Path, place: str) -> Iterator[Defect]:
    first: dict[str, PersonName] = {}
    for name in known:
        other = first.setdefault(name.spelled(language.code), name)
        if other is not name:
            what = f"{name.latin} and {other.latin} are both {name.spelled(language.code)!r} in {language.code}"
            yield Defect(file, place, what)


# Text that resembles a placeholder, in our notation or in another.
MARK = re.compile(r"\{[^{}]*\}|[{}]|<\w+>|\[\w+\]|%s|\$\w+|_{2,}")
# A text may contain a word or two of another script (a brand, an abbreviation), not more.
MINIMUM_SCRIPT_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Defect:
    """A defect in a file that must be fixed before prompts are built from it."""

    file: Path
    place: str  # 'wordings.write.food.explicit', 'countries.JP'
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.place}: {self.what}"


def refuse(findings: Sequence[Defect]) -> None:
    """Raises `CatalogError` with the first finding and the number of others, if there is any."""
    if findings:
        first, more = findings[0], len(findings) - 1
        others = f" (and {more} more)" if more else ""
        raise CatalogError(f"{first.place}: {first.what}{others}", where=first.file, remedy="See docs/extending.md.")


def wrong_script(text: str, language: Language) -> str | None:
    """What is wrong with the script of a text in this language; None where nothing is."""
    share = script_share(script_counts(text), language.scripts)
    if share is None or share >= MINIMUM_SCRIPT_SHARE:
        return None
    return f"only {share:.0%} of its letters are in {', '.join(language.scripts)}: {text!r}"


@dataclass(frozen=True, slots=True)
class TemplateCheck:
    """What the templates of a language are held against."""

    language: Language
    wording: Wording
    catalog: Catalog
    countries: Sequence[str]

    def topic(self, topic: Topic) -> Iterator[Defect]:
        """All wordings of a topic, each condition of them."""
        wordings = topic_wordings(topic, self.language, self.wording)
        for wording in wordings:
            for condition, template in wording.templates.items():
                yield from self._template(wording, condition, template)
        yield from _same_texts(wordings)
        sentence = plain_sentence(topic, self.language, self.wording, ())  # other ones are those of `wordings`
        if sentence and self.wording.plain:
            text, file, place = sentence
            yield from self._template(TopicWording(PLAIN, {"neutral": text}, file, place), "neutral", text, place)

    def _template(
        self, wording: TopicWording, condition: Condition, template: Template, place: str | None = None
    ) -> Iterator[Defect]:
        file, place = wording.file, place or f"{wording.place}.{condition}"
        findings = [_placeholder(PLACEHOLDERS[condition], template.text), self.text(template.text)]
        known = known_wordings().get(wording.name or "")
        length = self.wording.length_of(wording.name)
        if known and known.length and length:
            findings.append(_length(template.text, length))
        yield from (Defect(file, place, what) for one in findings for what in one)

    def line(self, template: str) -> Iterator[str]:
        """What is wrong with a line of a prompt that follows a sentence, as of `text`.

        It may be too short to show its language: it is of another where a sentence above it does not change that.
        """
        sentences = self.wording.plain.topics.values() if self.wording.plain else ()
        above = next((MARK.sub("", sentence.text) for sentence in sentences), "")
        yield from self.text(template, above=f"{above}\n")

    def text(self, template: str, *, above: str = "") -> Iterator[str]:
        """Script and language of a template: the script without the inserted names, the language with a country.

        It is of another language where it is detected as such both alone and below the text `above`.
        """
        if not template or template != template.strip():
            yield "is empty, or begins or ends with a space"
        text = MARK.sub("", self._with_country(template))
        wrong = wrong_script(text, self.language)
        if wrong:
            yield wrong
        elif detectable(self.language.detector):
            for read in dict.fromkeys((text, above + text)):
                detected = detect(read, self.language, self.catalog).language
                if detected in (self.language.code, None):
                    return
            yield f"is detected as {detected}, not as {self.language.code}: {text!r}"

    def _with_country(self, template: str) -> str:
        for code in self.countries:
            if "{country_name}" in template or code in self.wording.countries:
                return fill_country(template, code, self.language, self.wording, own=False)
        return template


def _placeholder(allowed: Sequence[str], text: str) -> Iterator[str]:
    """What is wrong with the placeholders of a text, which has one of the allowed ones once."""
    marks = MARK.findall(text)
    times = sum(marks.count(mark) for mark in allowed)
    wanted = " or ".join(allowed)
    if allowed and times != 1:
        yield f"holds {wanted} {times} times; it must stand there exactly once"
    for stray in dict.fromkeys(mark for mark in marks if mark not in allowed):
        only = f"{wanted} and nothing else" if wanted else "no placeholder"
        yield (
            f"holds {AMOUNT}, and nothing says how long 50 English words are in this language: add amount = 50 to its "
            "file, or the number of words that they take"
            if stray == AMOUNT
            else f"holds {stray}; a template of this condition holds {only}"
        )


def _length(text: str, length: Length) -> Iterator[str]:
    """The digits may be those of any script."""
    numbers = [int(digits) for digits in re.findall(r"\d+", text)]
    if numbers != [length.amount]:
        said = ", ".join(map(str, numbers)) or "no number"
        yield f"says {said}; [length] has {length.amount} {length.unit}, which must stand there once: {text!r}"


def _same_texts(wordings: Sequence[TopicWording]) -> Iterator[Defect]:
    first: dict[tuple[Condition, str], TopicWording] = {}
    for wording in wordings:
        for condition, template in wording.templates.items():
            other = first.setdefault((condition, template.text), wording)
            if other is not wording:
                what = f"the same text as {other.place}.{condition}: wordings of one cell must differ"
                yield Defect(wording.file, f"{wording.place}.{condition}", what)
