"""Taggers of packages that come with their models, each as a function from a text to words with their tags.

A word is given by where it stands in the text. Taggers that return strings alone are aligned with the text; a string
that is not in it, as the tagger rewrote it, is passed over.
"""

from __future__ import annotations

import logging
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from polyculture.cache.files import cache_folder

Tagged = tuple[int, int, str]  # start, end, tag
Tag = Callable[[str], Iterable[Tagged]]

_HANTA = {"de": "morphmodel_ger.pgz", "en": "morphmodel_en.pgz", "nl": "morphmodel_dutch.pgz"}
_PIECE = re.compile(
    r"n't\b|'(?:s|re|ve|ll|d|m)\b|[^\W_]+?(?=n't\b)|[^\W_](?:[^\W_]|[\u0300-\u036f]|-(?=[^\W_]))*|\S", re.I
)
_SENTENCE_ENDS = frozenset(".!?")


def open_package(name: str, language: str) -> Tag:
    """The tagger of a package for a language. Raises `ImportError` where it is not installed."""
    return {"kiwipiepy": _korean, "sudachipy": _japanese, "jieba": _chinese, "pythainlp": _thai, "hanta": _hanta}[name](
        language
    )


def _korean(_: str) -> Tag:
    from kiwipiepy import Kiwi

    kiwi = Kiwi(num_workers=1)

    def tag(text: str) -> list[Tagged]:
        found: list[Tagged] = []
        for one in kiwi.tokenize(text):  # runs of Latin letters are cut in one place or another, run by run
            if found and one.tag == "SL" == found[-1][2] and found[-1][1] == one.start:
                found[-1] = (found[-1][0], one.start + one.len, "SL")
            else:
                found.append((one.start, one.start + one.len, str(one.tag)))
        return found

    return tag


def _japanese(_: str) -> Tag:
    import sudachipy

    tokenizer = sudachipy.Dictionary(dict="core").tokenizer(mode=sudachipy.SplitMode.C)
    return lambda text: [
        (one.begin(), one.end(), "-".join(one.part_of_speech()[:2])) for one in tokenizer.tokenize(text)
    ]


def _chinese(_: str) -> Tag:
    import jieba
    from jieba import posseg

    jieba.setLogLevel(logging.WARNING)
    folder = cache_folder() / "jieba"  # it keeps its dictionary in a file that others may write to otherwise
    folder.mkdir(parents=True, exist_ok=True)
    jieba.dt.tmp_dir = str(folder)
    jieba.initialize()
    return lambda text: _aligned(text, ((one.word, one.flag) for one in posseg.cut(text)))


def _thai(_: str) -> Tag:
    if "PYTHAINLP_READ_MODE" not in os.environ:
        os.environ.setdefault("PYTHAINLP_READ_ONLY", "1")  # it makes a folder in the user's home otherwise
    from pythainlp.tag import pos_tag
    from pythainlp.tokenize import word_tokenize

    def tag(text: str) -> Iterable[Tagged]:
        words = [word for word in word_tokenize(text, keep_whitespace=True) if word.strip()]
        return _aligned(text, pos_tag(words, engine="perceptron", corpus="tud") if words else ())

    return tag


def _hanta(language: str) -> Tag:
    from HanTa.HanoverTagger import HanoverTagger

    tagger = HanoverTagger(_HANTA[language])

    def tag(text: str) -> Iterator[Tagged]:
        for sentence in _sentences(text):
            words = [unicodedata.normalize("NFC", text[start:end]) for start, end in sentence]
            for (start, end), (_, _, found) in zip(sentence, tagger.tag_sent(words), strict=True):
                yield start, end, found

    return tag


def _sentences(text: str) -> Iterator[list[tuple[int, int]]]:
    """Words and punctuation of each sentence, by where they stand; emoji and other symbols would mislead the tagger."""
    sentence: list[tuple[int, int]] = []
    for found in _PIECE.finditer(text):
        if unicodedata.category(found[0][0])[0] not in "LNP":
            continue
        sentence.append(found.span())
        if found[0] in _SENTENCE_ENDS:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _aligned(text: str, words: Iterable[tuple[str, str]]) -> Iterator[Tagged]:
    """Where words stand, in their order."""
    at = 0
    for word, tag in words:
        start = text.find(word, at) if word else -1
        if start >= 0:
            at = start + len(word)
            yield start, at, tag
