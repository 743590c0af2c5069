"""Which countries an imported prompt names: in its own language, that of the answer and English, by CLDR's names.

A country is named where its name is whole, written as a name, and nothing else in that place: "turkey", "Chad is at
home", "Michael Jordan" and "New Mexico" may be no country. Nor is it certain that none is named: people write "Italian
food", "Paris", "for Kenji". Such words are `unsure`, and with one of them a prompt is not neutral.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from polyculture.cache.catalog import Catalog
from polyculture.generate.detection import detect
from polyculture.imports.prompt_words import CountryWords, capitals_show_names, country_words, plain, small

LONGEST = 1_000  # characters: a longer prompt may name a country and ask about another thing
# Before the first word of a sentence; the apostrophe of "dall'Italia" is none.
_START = re.compile(r"(?:^|[.!?…:;\n\"“”„«»‘(\[*#>¿¡-]|(?<!\w)['’])\s*$")
_CAPITAL = re.compile(r"(?<!\w)[^\W\d_](?:\w|[’'-](?=\w))+")
_SUBJECT = re.compile(r"(?:['’]s)? [^\W\d_A-Z]")


@dataclass(frozen=True, slots=True)
class NamedCountries:
    """The countries that a prompt names."""

    countries: frozenset[str] = frozenset()
    possible: frozenset[str] = frozenset()  # these, and those whose name may be another thing here
    unsure: tuple[str, ...] = ()  # words that may name a country, or something of one


@dataclass(frozen=True)
class PromptReader:
    """Finds countries in prompts; equal prompts are looked at once."""

    catalog: Catalog
    _seen: dict[tuple[str, str], NamedCountries] = field(default_factory=dict)
    _words: dict[str, CountryWords] = field(default_factory=dict)

    def named(self, prompt: str, language: str) -> NamedCountries:
        """The countries that a prompt names, whose answer is in a language; it may be in another one itself."""
        found = self._seen.get((prompt, language))
        if found is None:
            found = self._seen[prompt, language] = self._named(unicodedata.normalize("NFC", prompt), language)
        return found

    def _named(self, text: str, language: str) -> NamedCountries:
        if len(text) > LONGEST:
            return NamedCountries(unsure=("a prompt too long to tell",))
        languages = self._languages(text, language)
        capitals, low = all(map(capitals_show_names, languages)), small(text)
        certain, possible, unsure, read = set[str](), set[str](), set[str](), set[int]()
        for one in dict.fromkeys((*languages, "en")):
            words = self._of(one)
            for match in words.names.finditer(low):
                name = next(name for name in _endings(match[0]) if name in words.codes)
                start, end = match.end() - len(name), match.end()
                if start in read or (one not in languages and text[start].islower()):
                    continue  # a small word of the prompt's language may look like an English name
                read.update(range(start, end))
                possible.add(words.codes[name])
                if _is_country(words, text, start, end, capitals=capitals):
                    certain.add(words.codes[name])
                else:
                    unsure.add(text[start:end])
        for words in map(self._of, languages):
            persons = (match for match in words.persons.finditer(low) if not text[match.start()].islower())
            for match in (*words.like.finditer(plain(text)), *persons, *(_within(text) if capitals else ())):
                if not read & set(range(*match.span())):
                    unsure.add(text[slice(*match.span())])
        # A name that is somebody's in one place is nobody's country in another.
        names = {code: self._names_of(code, languages) for code in certain}
        doubted = {code for code in certain if any(small(word) in names[code] for word in unsure)}
        return NamedCountries(frozenset(certain - doubted), frozenset(possible), tuple(sorted(unsure)))

    def _languages(self, prompt: str, language: str) -> tuple[str, ...]:
        """That of the answer, and the prompt's own where it is another: a study may ask all languages in its own."""
        own = detect(prompt, self.catalog.language(language), self.catalog).language
        return (language, own) if own is not None and own not in (language, "en") else (language,)

    def _names_of(self, code: str, languages: Iterable[str]) -> set[str]:
        return {name for one in {*languages, "en"} for name, its in self._of(one).codes.items() if its == code}

    def _of(self, language: str) -> CountryWords:
        if language not in self._words:
            self._words[language] = country_words(language, self.catalog)
        return self._words[language]


def _is_country(words: CountryWords, text: str, start: int, end: int, *, capitals: bool) -> bool:
    """Whether a name in a text can be nothing but the country."""
    name, before, after = small(text[start:end]), text[:start], text[end:]
    if name in words.other_places or text[start].islower():
        return False
    if name in words.persons_or_words:
        return words.before.search(small(before)) is not None or words.after.match(after) is not None
    if not text[start].isupper():  # a script without capitals
        return True
    if _START.search(before) and _SUBJECT.match(after):  # a country's sentence, or a person's
        return False
    neighbours = [
        next((one for one in _within(text) if one.end() == start - 1), None),
        re.match(r" [^\W\d_]\w+", after),
    ]
    return not capitals or not any(one and one[0].strip()[0].isupper() for one in neighbours)


def _within(text: str) -> Iterator[re.Match[str]]:
    """The words within sentences that begin with a capital letter."""
    for match in _CAPITAL.finditer(text):
        if match[0][0].isupper() and not _START.search(text[: match.start()]):
            yield match


def _endings(matched: str) -> Iterator[str]:
    """A match without the letters that are joined to the name."""
    return (matched[start:] for start in range(len(matched)))
