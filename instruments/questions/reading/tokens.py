"""Where a text names the options that were shown: their labels and their texts as tokens.

From here on no rule sees which label it was. That is what makes reading equivariant: if labels are permuted in a text,
its readings are permuted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

from polyculture.cache.text.folding import fold
from polyculture.instruments.questions.reading.answer_text import ENDS, MARKS, WORD, plain, unspelled
from polyculture.instruments.questions.reading.languages import PROCLITICS, ReadingLanguage, language_of

LABEL, TEXT = 0xE000, 0xE800  # code points of private use stand for the label, and for the text, of each place
LABELS, TEXTS = f"{chr(LABEL)}-{chr(TEXT - 1)}", f"{chr(TEXT)}-{chr(TEXT + 0x7FF)}"
TOKENS = LABELS + TEXTS
TOKEN = re.compile(f"[{TOKENS}]")
_LATIN = "[A-Za-z0-9\u00c0-\u02af\u1e00-\u1eff]"
NO_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_WORDS_IN_A_ROW = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
)  # beside another one a letter is part of a word
HANGUL = "[\uac00-\ud7a3]"
_INSIDE = re.compile(rf"(?:{WORD}|\d[.,])$")  # what precedes a part of a longer word or number
_SIGN = re.compile(r"(?:^|[\s(=:$])[-\u2212]\Z")  # makes another number of one: of "-4" that is not offered no 4
_PROCLITIC = re.compile(rf"(?<!{WORD}){PROCLITICS}$")
_SENTENCE = re.compile(rf"(?<=[.!?{ENDS}\n])")
_SHORT = 2  # letters of "la", which is an article before "primera"
_ACT = 30  # characters behind a label that tell whether it is a pronoun: "I would choose"
_ALIKE = str.maketrans("АВСЕНКМОРТХавсеорхΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABCEHKMOPTXabceopxABEZHIKMNOPTXo")


def place_of(token: str) -> int:
    """The place of the option that a token stands for."""
    return ord(token) - (LABEL if ord(token) < TEXT else TEXT)


def is_label(token: str) -> bool:
    """Whether a token stands for a label, and not for an option's text."""
    return ord(token) < TEXT


@dataclass(frozen=True)
class OfferedOptions:
    """The options of a question under their labels, as they were shown."""

    shown: tuple[str, ...]
    labels: tuple[str, ...]
    language: ReadingLanguage

    @cached_property
    def cores(self) -> tuple[str, ...]:
        """The labels without decoration: 'a' of '(a)'. None where they do not tell options apart, as bullets."""
        cores = tuple(unspelled(label).strip(MARKS) for label in self.labels[: len(self.shown)])
        return cores if all(cores) and len(set(cores)) == len(cores) else ()

    @cached_property
    def spelled(self) -> tuple[str, ...]:
        """The options' texts as those of answers are spelled."""
        return tuple(map(unspelled, self.shown))

    @cached_property
    def are_words(self) -> bool:
        """Whether a label may be an ordinary word or number within a sentence."""
        return any(self._is_word(core) for core in self.cores)

    @cached_property
    def begin_sentences(self) -> bool:
        """Whether a label may be an ordinary word at the beginning of a sentence."""
        return any(self._is_word(core.casefold()) for core in self.cores) or self.are_words

    def _is_word(self, core: str) -> bool:
        if _is_foreign(core, self.language):
            return False
        if core.isdigit() or not core.isascii() or core in self.language.one_letter:
            return True
        return not self.language.known and core.islower()

    def with_texts(self, said: str) -> str:
        """A text of `answer_text` with tokens for the options' texts."""
        text = said
        for pattern, places in self._texts:
            text = pattern.sub(partial(self._text_tokens, places), text)
        if len(text) == len(said):
            return text
        # An article before an option's text is a part of it.
        return re.sub(rf"{self.language.article}(?=[{TEXTS}])", "", text, flags=re.IGNORECASE)

    def with_labels(self, text: str, *, any_case: bool = False) -> str:
        """A text of `with_texts` with tokens for labels too, in the case in which they were shown.

        With `any_case` in the other case, and in letters that look alike.
        """
        label = self._other_labels if any_case else self._labels
        return label.sub(self._label_token, text) if label else text

    def with_ordinals(self, text: str) -> str:
        """A text of `folded` without tokens, with tokens of labels for "the first one", "option 2".

        An ordinal names an option beside a word for options, before a word for the answer, or at the end of a sentence.
        Where several are named it is not clear what they count, and no token is made.
        """
        words, last = self.language, len(self.shown) - 1
        named: list[tuple[int, int, int]] = []
        for number, pattern in enumerate(words.ordinals):
            place = last if number == len(words.ordinals) - 1 else number
            named += [(*match.span(), place) for match in pattern.finditer(text)]
        digits = [(*match.span(), int(match[0]) - 1) for match in re.finditer(r"(?<!\d)[1-9]\d?(?!\d)", text)]
        named += [found for found in digits if found[2] <= last]
        places = {place for *_, place in named}
        named = [found for found in named if self._names_option(text, *found[:2])]
        if len(places) != 1 or not named or not places <= {*range(len(self.shown))}:
            return text
        start, end, place = named[-1]
        return f"{text[:start]}{chr(LABEL + place)}{text[end:]}"

    def _names_option(self, text: str, start: int, end: int) -> bool:
        """Is the ordinal at `start` beside a word for options, or alone at the end of its sentence?"""
        option, rest = self.language["option"], _SENTENCE.split(text[end:], maxsplit=1)[0]
        before = [word for word in option.finditer(text[:start]) if not text[word.end() : start].strip(MARKS)]
        beside = [*before, option.match(rest.lstrip(MARKS))]
        if any(word and (len(word[0]) > _SHORT or not word[0].isascii()) for word in beside):
            return True
        if text[start:end].isdigit():
            return False
        ending = self.language.ending.match(rest)
        rest = rest[ending.end() :] if ending else rest
        claimed = self.language["because"].match(rest.lstrip(MARKS)) or self.language["answer"].search(rest)
        return not rest.strip(MARKS) or claimed is not None

    def _text_tokens(self, places: Sequence[int], found: re.Match[str]) -> str:
        """The option that was written; of options that differ in case alone the one of this case, or all of them."""
        text, (start, end) = found.string, found.span()
        # Where scripts without spaces meet others, a word ends.
        before = "" if NO_SPACES.search(text[max(0, start - 1) : start + 1]) else text[max(0, start - 4) : start]
        if (_INSIDE.search(before) and not _PROCLITIC.search(before)) or (
            found[0][0].isdigit() and _SIGN.search(text[max(0, start - 2) : start])
        ):
            return found[0]
        if not NO_SPACES.search(text[end - 1 : end + 1]) and not self.language.text_end.match(text, end):
            return found[0]
        written = _bare(found[0])
        exact = [place for place in places if written == _bare(self.shown[place])]
        return "".join(chr(TEXT + place) for place in (exact if len(exact) == 1 else places))

    def _label_token(self, found: re.Match[str]) -> str:
        """The token of a label, with its brackets where it was found with them; a pronoun with its verb is none.

        The verb decides of any label, so that all are read alike: "I think" as "C think".
        """
        after = found.string[found.end() : found.end() + _ACT].casefold()
        if self._has_pronoun and after[:1] == " " and self.language["acts"].match(after[1:]):
            return found[0]
        written = found[0] if found[0] in self.cores else found[0].strip(MARKS)
        core = self._otherwise.get(written, written)
        return found[0].replace(written, chr(LABEL + self.cores.index(core)))

    @cached_property
    def _has_pronoun(self) -> bool:
        return any(core.casefold() in self.language.english.pronouns for core in self.cores)

    @cached_property
    def _labels(self) -> re.Pattern[str] | None:
        return _label_pattern(self.cores, self.language)

    @cached_property
    def are_digits(self) -> bool:
        """Whether all labels are numbers."""
        return all(core.isdigit() for core in self.cores)

    @property
    def are_decorated(self) -> bool:
        """Whether all labels were shown in brackets or with another mark."""
        return self._decorated is not None

    @cached_property
    def _decorated(self) -> re.Pattern[str] | None:
        labels = [unspelled(label) for label in self.labels[: len(self.cores)]]
        decorated = all(label != core for label, core in zip(labels, self.cores, strict=False))
        return re.compile("|".join(map(re.escape, labels))) if labels and decorated else None

    @cached_property
    def _other_labels(self) -> re.Pattern[str] | None:
        return _label_pattern(tuple(sorted(self._otherwise)), self.language)

    @cached_property
    def _otherwise(self) -> Mapping[str, str]:
        """Labels in the other case, and in letters that look alike, by how they are written there."""
        found = {chr(letter): chr(latin) for letter, latin in _ALIKE.items() if chr(latin) in self.cores}
        found |= {core.swapcase(): core for core in self.cores}
        return {written: core for written, core in found.items() if written not in self.cores}

    @cached_property
    def _texts(self) -> list[tuple[re.Pattern[str], list[int]]]:
        """Patterns of the options' texts, the longest first, so an option inside another is not taken for it."""
        by_text: dict[str, list[int]] = {}
        marked: dict[str, set[str]] = {}
        for text in self.shown:
            marked.setdefault(plain(text), set()).add(fold(unspelled(text)))
        for place, text in enumerate(self.shown):  # of "-4" and "4" both offered, neither loses its marks
            key = plain(text) if len(marked[plain(text)]) == 1 else fold(unspelled(text))
            by_text.setdefault(key, []).append(place)
        cores = {core.casefold() for core in self.cores}
        texts = [text for text in by_text if text and text not in cores]
        bare: dict[str, str] = {}
        for text in texts:
            shown = self.shown[by_text[text][0]]  # not folded: of "ß" that would be another letter
            whole = _bare(shown) if text == plain(shown) else unspelled(shown)
            own = re.sub(rf"\A{self.language.article}", "", whole, flags=re.IGNORECASE)
            bare[text] = own if len(own) > 1 and plain(own) not in texts else whole
        order = sorted(texts, key=len, reverse=True)  # of "man" and "the man" both offered, neither loses its article
        return [(_text_pattern(bare[text]), by_text[text]) for text in order]


@lru_cache(maxsize=1024)
def _label_pattern(cores: tuple[str, ...], language: ReadingLanguage) -> re.Pattern[str] | None:
    forms = "|".join(_stand_alone(core, language) for core in sorted(cores, key=len, reverse=True) if core)
    return re.compile(forms) if forms else None


def _stand_alone(core: str, language: ReadingLanguage) -> str:
    """A pattern of a label that is a token of its own: no part of a word, a number or an abbreviation."""
    escaped = re.escape(core)
    ends = rf"(?!{WORD})" if language.own.spaced else ""
    joined = rf"(?:(?=['-]?{language.suffix}{ends})|(?!{WORD})(?!-[A-Za-z]{{3}}))"
    if language.own.counters:
        joined = rf"(?![A-Za-z]|{language.own.counters})"
    if core.isdigit():
        return rf"(?<![\da-zA-Z%€$£])(?<!\d[.,:/-]){escaped}{joined}(?![.,:/-]\d)(?! ?%)"
    if core.isascii():  # a letter of another script may be a particle, as in "B입니다"; a Latin one makes a word
        right = rf"(?:(?=['-]{language.suffix}(?!{WORD}))|(?!{_LATIN}|['-]{_LATIN}|\.[A-Za-z](?![A-Za-z])))"
        return rf"(?<!{_LATIN})(?<!{_LATIN}[.-])(?<![Nn]/){escaped}{right}"  # "N/A" is no A
    if _is_foreign(core, language):
        return rf"(?<!{HANGUL}){escaped}(?!{HANGUL})"
    if _WORDS_IN_A_ROW.match(core):
        return rf"(?<!{_WORDS_IN_A_ROW.pattern}){escaped}(?!{_WORDS_IN_A_ROW.pattern})"
    return escaped if NO_SPACES.match(core) else rf"(?<!{WORD}){escaped}{joined}"


def _is_foreign(core: str, language: ReadingLanguage) -> bool:
    """Is a label Korean and the language another: no word, and beside letters of other scripts a token of its own?"""
    return language.own.code != "ko" and re.match(HANGUL, core) is not None


@lru_cache(maxsize=65536)
def _text_pattern(text: str) -> re.Pattern[str]:
    return re.compile(r"(?:\s+|-)".join(map(re.escape, text.split())), re.IGNORECASE)  # "Addis-Ababa"


def _bare(text: str) -> str:
    return " ".join(unspelled(text).strip(MARKS).split())


@lru_cache(maxsize=4096)
def offered(shown: tuple[str, ...], labels: tuple[str, ...], language: str) -> OfferedOptions:
    """The options of a question, with their patterns compiled once."""
    return OfferedOptions(shown, labels, language_of(language))
