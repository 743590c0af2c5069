"""The phrases of refusal of a language, read from its TOML file."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from polyculture.cache.catalog import Language
from polyculture.cache.catalog.read import parse_model, read_toml
from polyculture.cache.folding import PHRASES, fold, fold_case

BUILT_IN = Path(__file__).parent
Kind = Literal["declines", "disclaims", "asides", "contrasts", "turns", "unless"]
KINDS: tuple[Kind, ...] = get_args(Kind)
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


class Phrases(BaseModel):
    """The refusal phrases of one language.

    A phrase is a regular expression over normalised words: lower case, no punctuation, no apostrophe, one space
    between words and at either end of a sentence. It begins at a word unless `spaced` is false.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

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

    def of(self, kind: Kind) -> tuple[str, ...]:
        """The phrases of a kind as patterns, bound to the beginning of a word."""
        phrases: tuple[str, ...] = getattr(self, kind)
        return tuple(f" (?:{phrase})" if self.spaced and phrase[0] != "^" else f"(?:{phrase})" for phrase in phrases)


def own_phrases(language: Language) -> Phrases | None:
    """The phrases in a user's own language file, its table `refusals`; None where it has none.

    Raises `CatalogError`, naming file and place, for an invalid one.
    """
    file = Path("languages", f"{language.code}.toml")
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
