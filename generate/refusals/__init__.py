"""Refusals in the text of a model, in the catalogue's 13 languages; used by all instruments.

    is_refusal("I'm sorry, but I can't help with that.", "en")               # True
    find_refusal("Es tut mir leid, das kann ich nicht tun.", "de")           # the phrase that matched

A refusal declines the task and does nothing else. It states inability or unwillingness, or gives a disclaimer ("as an
AI, I have no favourite dish"). No refusals are:

- a partial refusal that goes on to answer ("As an AI I have no favourite, but the national dish is pho");
- words of refusal in a character's mouth, in quotation marks or reported ("..., said the waiter");
- answers that name no one ("None", "I don't know", "Cannot be determined", "[]"), empty texts, and requests for a
  missing input ("Please provide the text").

A text is a refusal if one of its first sentences declines the task, no answer follows, and it says little else; quoted
speech and lines of dialogue are removed first. The phrases of each language stand in `<code>.toml`, examples with
labels in `gold/`. English phrases count in every language, since models often refuse in English. A language file of a
user's own brings its phrases in a table `[refusals]`; where a language has none, nobody knows (`None`). A provider's
own flag (`finish_reason`) is a separate signal: this module reads text alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field

from polyculture.cache.catalog import Language
from polyculture.cache.identity import content_id
from polyculture.cache.text.folding import PHRASES, fold, fold_case
from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.cache.validation import ClosedModel

BUILT_IN = Path(__file__).parent
PhraseKind = Literal["declines", "disclaims", "asides", "contrasts", "turns", "unless"]
KINDS: tuple[PhraseKind, ...] = get_args(PhraseKind)
_SYNTAX = "()|?*+[]{}.,^$-0123456789 "
_PERSIAN_PREFIX = re.compile("(?<= )(ن?می) (?=[\u0620-\u06ff])")  # 'نمی توانم' for 'نمی‌توانم'


def fold_text(text: str) -> str:
    """The words of a text as phrases are compared with them, with one blank before, between and after them."""
    folded = f" {fold(text, PHRASES)} "
    return _PERSIAN_PREFIX.sub(r"\1", folded) if "می " in folded else folded


def _fold_phrase(phrase: str) -> str:
    """A phrase in the form of `fold_text`; the metacharacters of a regular expression stay."""
    return "".join(letter if letter in _SYNTAX else PHRASES.letters[ord(letter)] or "" for letter in fold_case(phrase))


def _phrase(text: str) -> str:
    if "\\" in text:
        raise ValueError(f"{text!r}: a phrase has no backslash; texts are compared in words of lower case")
    folded = _fold_phrase(text)
    if not folded.strip():
        raise ValueError("a phrase is empty")
    try:
        re.compile(folded)
    except re.error as fault:
        raise ValueError(f"{text!r} is no regular expression: {fault}") from fault
    return folded


Phrase = Annotated[str, AfterValidator(_phrase)]


class Phrases(ClosedModel):
    """The refusal phrases of one language.

    A phrase is a regular expression over normalised words: lower case, no punctuation, no apostrophe, one space
    between words and at either end of a sentence. It begins at a word unless `spaced` is false.
    """

    code: str
    spaced: bool = True  # False: words are not set apart by spaces, or not reliably
    also: tuple[str, ...] = ()  # languages whose phrases count, too; English always does
    long: int = Field(default=600, ge=0)  # characters of other text that make a text an answer
    declines: tuple[Phrase, ...] = ()  # says that the task will not or cannot be done
    disclaims: tuple[Phrase, ...] = ()  # may introduce an answer; a refusal where nothing else is said
    asides: tuple[Phrase, ...] = ()  # apologies, reasons, offers: what stands beside a refusal and answers nothing
    contrasts: tuple[Phrase, ...] = ()  # what follows answers in spite of a disclaimer
    turns: tuple[Phrase, ...] = ()  # what follows answers in spite of anything
    unless: tuple[Phrase, ...] = ()  # in the same sentence, anywhere: the words are no refusal

    def of(self, kind: PhraseKind) -> tuple[str, ...]:
        """The phrases of a kind as patterns, bound to the beginning of a word."""
        phrases: tuple[str, ...] = getattr(self, kind)
        return tuple(f" (?:{phrase})" if self.spaced and phrase[0] != "^" else f"(?:{phrase})" for phrase in phrases)


def own_phrases(language: Language) -> Phrases | None:
    """The phrases in a user's own language file, its table `refusals`; None where it has none.

    Raises `CatalogError`, naming file and place, for an invalid one.
    """
    file = language.file or Path("languages", f"{language.code}.toml")
    return parse_model(Phrases, {"code": language.code, **language.refusals}, file) if language.refusals else None


@cache
def read_phrases(file: Path) -> Phrases:
    """The phrases of a file. Raises `CatalogError`, naming file and place, for an invalid one."""
    data: dict[str, Any] = read_toml(file)
    return parse_model(Phrases, data, file)


def phrases_for(language: str, own: Phrases | None = None) -> tuple[Phrases, ...]:
    """All phrases that apply to a language, its own first. Without a built-in file: `own` and English."""
    first = [own] if own is not None else []
    built_in = BUILT_IN / f"{language}.toml"
    if language in built_in_languages():
        first.append(read_phrases(built_in))
    codes = dict.fromkeys([code for phrases in first for code in phrases.also] + ["en"])
    return (*first, *(read_phrases(BUILT_IN / f"{code}.toml") for code in codes if code != language))


@cache
def built_in_languages() -> frozenset[str]:
    """The codes of the languages that have a built-in file."""
    return frozenset(file.stem for file in BUILT_IN.glob("*.toml"))


VERSION = 1  # of the rules in this file: raise it when they change
OPENING = 3  # sentences in which a refusal is looked for
WINDOW = 500  # characters in which it must begin
LEAD = 200  # characters that may stand before it, asides not counted
RUN_ON = 200  # characters that may follow within its own sentence
BRIEF = 12  # characters beside a disclaimer that are no answer
LONGEST = 3000  # a longer text is an answer

_SENTENCE = re.compile(r"[.!?]+(?=\s|$)|[。！？｡؟।॥]+|\n+")
_QUOTED = re.compile(r'“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|「[^「」]*」|『[^『』]*』|"[^"\n]*"')
_OUTER = re.compile(r'\s*[“„«「"](?P<inside>[^“”„«»「」"]*)[”“»」"]\s*')
_DIALOGUE = re.compile(r"\s*[—–―]")
_OPTION = re.compile(r"\s*(?:\([^\W\d_]\)|[A-Za-z]\)|[A-Z]\.\s|[A-Za-z]\s*$)|[^\n]*[:：]\s*\(?[A-E]\)?\W*$")


@dataclass(frozen=True, slots=True)
class _FoldedSentence:
    folded: str
    aside: bool

    @property
    def size(self) -> int:
        return 0 if self.aside else len(self.folded) - 2


class RefusalDetector:
    """Finds refusals in responses to prompts in one language."""

    def __init__(self, language: str, own: Phrases | None = None) -> None:
        """`own` are phrases of a user's own language file, in place of the built-in ones or beside them."""
        phrases = phrases_for(language, own)
        self._long = phrases[0].long
        self._patterns = {kind: _any([one for some in phrases for one in some.of(kind)]) for kind in KINDS}
        refusing = [one for some in phrases for kind in KINDS[:2] for one in some.of(kind)]
        self._gate = _any(refusing)

    def find(self, text: str) -> str | None:
        """The phrase of refusal in `text`, folded; None for an answer."""
        if len(text) > LONGEST:
            return None
        spoken = _without_speech(text)
        if self._gate.search(fold_text(spoken[: 2 * WINDOW])) is None or _OPTION.match(spoken):
            return None
        sentences = self._sentences(spoken)
        return self._judge(sentences, "declines", self._long) or self._judge(sentences, "disclaims", BRIEF)

    def _sentences(self, text: str) -> list[_FoldedSentence]:
        """The sentences of a text that are not dialogue and contain a letter."""
        folded = [fold_text(part) for part in _SENTENCE.split(text) if not _DIALOGUE.match(part)]
        return [_FoldedSentence(part, self._has("asides", part)) for part in folded if part.strip()]

    def _judge(self, sentences: Sequence[_FoldedSentence], kind: PhraseKind, limit: int) -> str | None:
        for number, sentence in enumerate(sentences[:OPENING]):
            match = self._patterns[kind].search(sentence.folded[:WINDOW])
            if match is None or self._has("unless", sentence.folded):
                continue
            before, after = sentences[:number], sentences[number + 1 :]
            if sum(one.size for one in before) > LEAD:
                return None
            rest = _after(sentence.folded, match.end())
            if self._answers(kind, rest, after) or self._said(rest, after) > limit:
                return None
            return match.group().strip()
        return None

    def _answers(self, kind: PhraseKind, rest: str, after: Sequence[_FoldedSentence]) -> bool:
        """Does an answer follow the refusal?"""
        parts = [rest] * (not self._has("asides", rest)) + [one.folded for one in after if not one.aside]
        kinds: tuple[PhraseKind, ...] = ("turns",) if kind == "declines" else ("turns", "contrasts")
        return any(self._has(turn, part) for part in parts for turn in kinds)

    def _said(self, rest: str, after: Sequence[_FoldedSentence]) -> int:
        """The number of characters with content outside the refusal."""
        others = [one for one in after if not (self._has("declines", one.folded) or self._has("disclaims", one.folded))]
        return max(0, len(rest) - RUN_ON) + sum(one.size for one in others)

    def _has(self, kind: PhraseKind, folded: str) -> bool:
        return self._patterns[kind].search(folded) is not None


def _after(folded: str, end: int) -> str:
    """The text after a match; if the match begins a word, the space before it is included."""
    return folded[end - 1 if folded[end - 1] == " " else end :]


def _any(patterns: Sequence[str]) -> re.Pattern[str]:
    """Any of the patterns, the first one that fits.

    What begins at a blank is looked for at blanks alone, and no group is kept: then `re` can tell by a letter which of
    them may fit, in a fifth of the time.
    """
    groups = groupby((one.replace("(?:", "(").replace("(", "(?:") for one in patterns), lambda one: one[0] == " ")
    parts = [f" (?:{'|'.join(p[1:] for p in group)})" if blank else "|".join(group) for blank, group in groups]
    return re.compile("|".join(parts) or "$a")


def _without_speech(text: str) -> str:
    """The text without its quoted parts; of a text quoted as a whole, the inside."""
    outer = _OUTER.fullmatch(text)
    return outer["inside"] if outer else _QUOTED.sub(" ", text)


@cache
def refusal_detector(language: str, own: Phrases | None = None) -> RefusalDetector:
    """The detector of a language, built once."""
    return RefusalDetector(language, own)


def refusal_rules_id(language: str, own: Phrases | None = None) -> str:
    """A hash of all rules that define a refusal in a language. Store it beside stored results."""
    return content_id("refusals", VERSION, [phrases.model_dump() for phrases in phrases_for(language, own)])


def find_refusal(text: str, language: str, own: Phrases | None = None) -> str | None:
    """The phrase, folded, by which `text` is a refusal; None for an answer.

    `language` is the code of the prompt's language. Without built-in phrases, `own` (`own_phrases`) and the
    English ones apply.
    """
    return refusal_detector(language, own).find(text)


def is_refusal_anywhere(text: str) -> bool:
    """Does `text` decline the task in any of the built-in languages? For answers whose language nobody chose."""
    return any(find_refusal(text, code) for code in sorted(built_in_languages()))


def is_refusal(text: str, language: str, own: Phrases | None = None) -> bool | None:
    """Does `text` decline the task? None where it declines not in English, and its language has no phrases."""
    if find_refusal(text, language, own) is not None:
        return True
    return False if own is not None or language in built_in_languages() else None
