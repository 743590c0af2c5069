"""What reading must know of a language: its words for answers, denials and the unknown; data in `languages/*.toml`.

English is read beside every language, since models often answer in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from polyculture.cache.catalog.read import parse_model, read_toml
from polyculture.instruments.questions.reading.answer_text import WORD, folded, unspelled

FOLDER = Path(__file__).with_name("languages")
ENGLISH = "en"
_SPACE = "[ \n]"


class Words(BaseModel):
    """A language's file. An entry is a regular expression; one ending in `*` is the beginning of a word."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    code: str
    spaced: bool = True  # words are set apart by spaces, and nothing is written onto them
    verb_final: bool = False  # what denies a label follows it
    words: tuple[str, ...] = ()  # words that look like labels: articles, prepositions, conjunctions of one letter
    articles: tuple[str, ...] = ()  # before an option's text; one that ends in an apostrophe is written onto it
    suffixes: tuple[str, ...] = ()  # that are written onto a label or an option: particles, endings
    answer: tuple[str, ...] = ()  # names or makes an answer: "answer", "correct", "choose", "it is"
    option: tuple[str, ...] = ()  # names an option: "option", "letter"
    so: tuple[str, ...] = ()  # begins a conclusion
    but: tuple[str, ...] = ()  # contrasts with what was said before
    because: tuple[str, ...] = ()  # begins a reason: what follows is no part of the answer
    negation: tuple[str, ...] = ()  # denies what follows
    wrong: tuple[str, ...] = ()  # denies what came before
    both: tuple[str, ...] = ()  # joins two options: "or", "and"
    follows: tuple[str, ...] = ()  # may follow a label and no article: verbs, conjunctions
    unknown: tuple[str, ...] = ()  # phrases that say that the answer cannot be known


@dataclass(frozen=True)
class Language:
    """The words of a language with the English ones, compiled. Patterns apply to the text of `folded`."""

    code: str
    known: bool  # False: there is no file, so any single letter may be a word
    own: Words
    english: Words

    @property
    def spaced(self) -> bool:
        return self.own.spaced

    @property
    def verb_final(self) -> bool:
        return self.own.verb_final

    @cached_property
    def one_letter(self) -> frozenset[str]:
        return frozenset(self.own.words)

    @cached_property
    def suffix(self) -> str:
        """A pattern of what may be written onto a label or an option."""
        suffixes = sorted(map(unspelled, self.own.suffixes), key=len, reverse=True)
        return f"(?:{'|'.join(suffixes) or '(?!)'})"

    @cached_property
    def ending(self) -> re.Pattern[str]:
        """What may be written onto a label, with the marks around it."""
        return re.compile(rf"[\"')\]*_]*['-]?{self.suffix}")

    @cached_property
    def text_end(self) -> re.Pattern[str]:
        """What may come after the last letter of an option's text."""
        return re.compile(rf"(?:['-]?{self.suffix})?(?!{WORD})(?![.,]\d)")

    @cached_property
    def articles(self) -> re.Pattern[str]:
        """The articles, each with its space; English ones are those of texts in English alone."""
        forms = [re.escape(unspelled(word)) + ("" if word.endswith("'") else " +") for word in self.own.articles]
        return re.compile(rf"(?<!{WORD})(?:{'|'.join(forms) or '(?!)'})", re.IGNORECASE)

    @cached_property
    def answer(self) -> re.Pattern[str]:
        return self._any("answer")

    @cached_property
    def answer_key(self) -> re.Pattern[str]:
        """A key of JSON that holds the answer."""
        return _pattern([*self._entries("answer"), *self._entries("option"), r"(?:prediction|final|result|label)"])

    @cached_property
    def option(self) -> re.Pattern[str]:
        return self._any("option")

    @cached_property
    def so(self) -> re.Pattern[str]:
        return self._any("so")

    @cached_property
    def but(self) -> re.Pattern[str]:
        return self._any("but")

    @cached_property
    def because(self) -> re.Pattern[str]:
        return self._any("because")

    @cached_property
    def negation(self) -> re.Pattern[str]:
        return self._any("negation")

    @cached_property
    def wrong(self) -> re.Pattern[str]:
        return self._any("wrong")

    @cached_property
    def both(self) -> re.Pattern[str]:
        return self._any("both")

    @cached_property
    def follows(self) -> re.Pattern[str]:
        return self._any("follows", "because", "but", "both")

    @cached_property
    def unknown(self) -> re.Pattern[str]:
        return self._any("unknown")

    def _any(self, *kinds: str) -> re.Pattern[str]:
        return _pattern([entry for kind in kinds for entry in self._entries(kind)])

    def _entries(self, kind: str) -> list[str]:
        files = (self.own, self.english) if self.own.code != ENGLISH else (self.own,)
        return [_bounded(entry, one.spaced) for one in files for entry in getattr(one, kind)]


def _bounded(entry: str, spaced: bool) -> str:
    stem = entry.endswith("*")
    words = folded(unspelled(entry.removesuffix("*"))).replace(" ", f"{_SPACE}+")
    if not spaced:
        return f"(?:{words})"
    return rf"(?<!{WORD})(?:{words})" + ("" if stem else rf"(?!{WORD})")


def _pattern(entries: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(entries) or r"(?!)")


@cache
def language_of(code: str) -> Language:
    """The words of a language by its code; those of its base language, as 'pt' of 'pt-br', where it has no file."""
    english = _words(ENGLISH)
    for name in (code.casefold(), code.casefold().partition("-")[0]):
        if (FOLDER / f"{name}.toml").is_file():
            return Language(code, True, _words(name), english)
    return Language(code, False, Words(code=code), english)


def rule_files(code: str) -> Iterable[Path]:
    """The files that decide how a language is read."""
    return dict.fromkeys(FOLDER / f"{name}.toml" for name in (ENGLISH, language_of(code).own.code))


@cache
def _words(name: str) -> Words:
    file = FOLDER / f"{name}.toml"
    return parse_model(Words, read_toml(file), file)
