"""A text to content words by a tagger: nouns, verbs and proper nouns, by where they stand in the text as it is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from polyculture.instruments.probe.taggers.known import packages
from polyculture.instruments.probe.taggers.packages import Tag

Found = tuple[int, int, str]  # start, end, kind
_LINE = re.compile(r"[^\r\n]{1,8000}")  # taggers read a line at a time; some refuse very long texts
_UNREADABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")  # to some taggers; one sign for one


def tagged_words(text: str, language: str, tagger: str) -> Iterator[Found]:
    """The content words of a text, in order; no two overlap.

    Marks behind a letter belong to its word, also where the tagger cuts them off. What has no letter is none.
    """
    package, tag = packages()[tagger.partition(":")[0]], opened(tagger, language)
    readable, done = _UNREADABLE.sub(" ", text), 0
    for line in _LINE.finditer(readable):
        for start, end, found in tag(line[0]):
            kind = package.kind(found)
            first, last = max(line.start() + start, done), _with_marks(text, line.start() + end)
            while first < last and unicodedata.combining(text[first]):
                first += 1
            while first < last and unicodedata.category(text[last - 1])[0] not in "LMN":
                last -= 1
            if kind is None or not any(letter.isalpha() for letter in text[first:last]):
                continue
            done = last
            yield first, last, kind


@cache
def opened(tagger: str, language: str) -> Tag:
    """A tagger, loaded once. Raises a user's error where it or its model is not there."""
    name, _, model = tagger.partition(":")
    if model:
        from polyculture.instruments.probe.taggers.spacy_model import open_spacy

        return open_spacy(model)
    from polyculture.instruments.probe.taggers.packages import open_package

    return open_package(name, language.partition("-")[0])


def _with_marks(text: str, end: int) -> int:
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return end
