"""What reading must know of a language: its words for answers, denials and the unknown; data in `languages/*.toml`.

English is read beside every language, since models often answer in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.cache.validation import ClosedModel
from polyculture.instruments.questions.reading.answer_text import WORD, folded, unspelled

FOLDER = Path(__file__).with_name("languages")
ENGLISH = "en"
_LINE = re.compile(r"(?:\A|\n)[ #*_]*(.{1,40})")
_COLON = re.compile(r"[ \d.]*[*_]*[:：]")
_KEY = re.compile("prediction|final|result|label")  # of an answer in JSON, besides words for answers and options
PROCLITICS = "(?:[وفبکل]?(?:ال)?|[והבכלמש]{1,2})?"  # Arabic, Hebrew: written onto the word that follows


class LanguageWords(ClosedModel):
    """A language's file. An entry is a regular expression of words; `*` behind a letter is any ending."""

    code: str
    spaced: bool = True  # words are set apart by spaces, and nothing is written onto them
    verb_final: bool = False  # what denies a label follows it
    words: tuple[str, ...] = ()  # words that look like labels: articles, prepositions, conjunctions of one letter
    pronouns: tuple[str, ...] = ()  # of these words the pronouns, folded: read beside every language, of English alone
    acts: tuple[str, ...] = ()  # verbs that follow such a pronoun and no label
    articles: tuple[str, ...] = ()  # before an option's text; one that ends in an apostrophe or "-" is written onto it
    suffixes: tuple[str, ...] = ()  # that are written onto a label or an option: particles, endings
    answer: tuple[str, ...] = ()  # names or makes an answer: "answer", "correct", "choose"
    copulas: tuple[str, ...] = ()  # that end a sentence behind its subject, where verbs come last
    unmarked: str = ""  # of Thai, where no mark ends a sentence: a pattern of copulas, whose option a blank ends
    option: tuple[str, ...] = ()  # names an option: "option", "letter"
    ordinals: tuple[str, ...] = ()  # the first to the fifth, and the last
    so: tuple[str, ...] = ()  # begins a conclusion
    but: tuple[str, ...] = ()  # contrasts with what was said before
    conceded: tuple[str, ...] = ()  # begins what is conceded, or says that others claim it: "although", "many"
    condition: tuple[str, ...] = ()  # begins or ends a condition: "if", "in case"
    because: tuple[str, ...] = ()  # begins a reason: what follows is no part of the answer
    negation: tuple[str, ...] = ()  # denies what follows
    prefer: tuple[str, ...] = ()  # prefers one option, or compares it: "prefer", "more"
    less: tuple[str, ...] = ()  # of two options puts the first one behind: "less"
    than: tuple[str, ...] = ()  # before the lesser one, or behind it where verbs come last: "to", "than"
    wrong: tuple[str, ...] = ()  # denies what came before
    both: tuple[str, ...] = ()  # joins two options: "or", "and"
    counters: str = ""  # a pattern of what makes a number of a digit that it is written onto: "2명"
    follows: tuple[str, ...] = ()  # may follow a label and no article: verbs, conjunctions
    question: tuple[str, ...] = ()  # names a question or its text, at the beginning of a line and before a colon
    text: tuple[str, ...] = ()  # names the text that is asked about
    unknown: tuple[str, ...] = ()  # phrases that say that the answer cannot be known


@dataclass(frozen=True, eq=False)
class ReadingLanguage:
    """The words of a language with the English ones, compiled. Patterns apply to the text of `folded`."""

    code: str
    known: bool  # False: there is no file, so any single letter may be a word
    own: LanguageWords
    english: LanguageWords

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
        """What may end a clause with a label: what is written onto it, or a copula, with the marks around it."""
        suffix = rf"[{'' if self.own.spaced else ' '}'-]?{self.suffix}"
        copula = rf"\s*{_alternatives(self.own.copulas, self.own.spaced)}"
        marks = r"[\"')\]*_]*"
        return re.compile(rf"{marks}(?:{suffix})?{copula}|{marks}{suffix}(?!{WORD})|{marks}{suffix}")

    @cached_property
    def text_end(self) -> re.Pattern[str]:
        """What may come after the last letter of an option's text."""
        return re.compile(rf"(?:['-]?{self.suffix})?(?!{WORD})(?![.,]\d)")

    @cached_property
    def ordinals(self) -> list[re.Pattern[str]]:
        """Patterns of "the first" to "the fifth", and of "the last", as they are found in a text of `folded`."""
        return [
            re.compile(
                "|".join(
                    _alternatives((file.ordinals[number],), file.spaced)
                    for file in (self.own, self.english)
                    if file.ordinals
                )
            )
            for number in range(len(self.english.ordinals))
        ]

    @cached_property
    def article(self) -> str:
        """A pattern of an article with its space; English ones are those of texts in English alone."""
        forms = [
            re.escape(unspelled(word.removesuffix("-"))) + ("" if word.endswith(("'", "-")) else " +")
            for word in self.own.articles
        ]
        return rf"(?<!{WORD})(?:{'|'.join(forms) or '(?!)'})"

    def next_question(self, text: str) -> int | None:
        """Where a line begins another question, "Question 2: ..."; None where none does or the text begins so."""
        for line in _LINE.finditer(text):
            name = self["question"].match(folded(line[1]))
            if name and _COLON.match(folded(line[1]), name.end()):
                return line.start() or None
        return None

    def is_answer_key(self, key: str) -> bool:
        """Whether a folded key of a JSON object holds the answer."""
        return any(pattern.search(key) for pattern in (self["answer"], self["option"], _KEY))

    def __getitem__(self, kind: str) -> re.Pattern[str]:
        """The words of a kind, a field of `LanguageWords`, as they are found in a text of `folded`."""
        return _compiled(self, kind)


@cache
def _compiled(language: ReadingLanguage, kind: str) -> re.Pattern[str]:
    alone = kind == "follows" or (kind == "than" and language.own.verb_final) or language.own.code == ENGLISH
    files = (language.own,) if alone else (language.own, language.english)
    return re.compile("|".join(_alternatives(getattr(file, kind), file.spaced) for file in files))


def _alternatives(entries: Sequence[str], spaced: bool) -> str:
    """Entries as one pattern: of whole words, or of any part of a text where words are not set apart."""
    patterns = []
    for entry in entries:
        words = re.sub(rf"(?<={WORD})(?<!\\w)\*", r"\\w*", folded(unspelled(entry)))
        patterns.append(words.replace(" ?", r"\s*").replace(" ", r"\s+").replace(r"\w", WORD))
    any_of = f"(?:{'|'.join(patterns) or '(?!)'})"
    return rf"(?<!{WORD}){PROCLITICS}{any_of}(?!{WORD})" if spaced else any_of


@cache
def language_of(code: str) -> ReadingLanguage:
    """The words of a language by its code; those of its base language, as 'pt' of 'pt-br', where it has no file."""
    english = _words(ENGLISH)
    for name in (code.casefold(), code.casefold().partition("-")[0]):
        if (FOLDER / f"{name}.toml").is_file():
            return ReadingLanguage(code, True, _words(name), english)
    return ReadingLanguage(code, False, LanguageWords(code=code), english)


@cache
def _words(name: str) -> LanguageWords:
    file = FOLDER / f"{name}.toml"
    return parse_model(LanguageWords, read_toml(file), file)
