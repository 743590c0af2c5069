"""How the names of a mention are asked for: each spelling in each language whose names the linker compares with it.

An endpoint finds exact names alone. The linker also accepts names that are spelled a little otherwise. The commonest of
these are asked for, too: capital letters, quotation marks and apostrophes, a parenthesis at the end, both Chinese
scripts, and in English the plural, the hyphen and the article.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from polyculture.cache.catalog import Catalog
from polyculture.cache.text.inflection import Endings, forms, inflections
from polyculture.link.forms import PARENTHESIS
from polyculture.link.normalise import chinese_forms, fold_of, without_marks

LONGEST_NAME = 250  # characters; Wikidata's limit for labels
ENGLISH = "en"

NameInLanguage = tuple[str, str]  # a language of Wikidata's, and a name in it
_TAG = re.compile("[a-z]{1,8}(-[a-z0-9]{1,8})*", re.IGNORECASE)
_ARTICLE = re.compile("^(the|an?) ", re.IGNORECASE)
_JOINED = re.compile(r"(?<=\w)-(?=\w)")


@dataclass(frozen=True, slots=True)
class NamedMention:
    """A mention as it is looked up: its language, surface, dictionary form and English name."""

    language: str
    surface: str
    name: str | None = None
    english: str | None = None

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Its texts, each with the language of the catalogue that it is compared in."""
        own = [(self.language, text) for text in (self.surface, self.name) if text]
        return [*own, *([(ENGLISH, self.english)] if self.english else [])]


def exact_terms(catalog: Catalog, named: NamedMention) -> set[NameInLanguage]:
    """The names by which an item is found for the mention."""
    found: set[NameInLanguage] = set()
    for code, text in named.texts:
        chain = catalog.language(code).label_languages
        tags = list(filter(is_tag, chain))
        found |= {(language, spelled) for spelled in spellings(text, chain[0]) for language in tags}
    return found


def is_tag(language: str) -> bool:
    """Can a literal in SPARQL be in this language of Wikidata's? Not in zh-classical, whose names are not asked for."""
    return _TAG.fullmatch(language) is not None


def search_terms(catalog: Catalog, named: NamedMention) -> list[NameInLanguage]:
    """What is searched where no item bears the mention's names: its dictionary form, and its English name."""
    own = (catalog.language(named.language).label_languages[0], _plain(named.name or named.surface))
    return [term for term in (own, (ENGLISH, _plain(named.english or ""))) if _is_name(term[1])]


def spellings(text: str, language: str) -> list[str]:
    """The ways in which a name may be written in a language, as written first."""
    plain = _plain(text)
    if not without_marks(plain):
        return []
    bare = re.sub(PARENTHESIS, "", plain)
    written = [bare, without_marks(bare), bare.replace("\u2019", "'"), bare.replace("'", "\u2019"), plain]
    if language == ENGLISH:
        written += _english(bare)
    if fold_of(language) == "chinese":
        written = [form for one in written for form in chinese_forms(one)]
    turkish = fold_of(language) == "turkish"
    cased = [form for one in dict.fromkeys(written) for form in _cased(one, turkish)]
    return [form for form in dict.fromkeys(cased) if _is_name(form)]


def _english(text: str) -> Iterator[str]:
    bare = _ARTICLE.sub("", text)
    yield bare
    yield _JOINED.sub(" ", bare)
    yield from forms(bare, ENGLISH, _singulars()) or forms(bare, ENGLISH)


@cache
def _singulars() -> Endings:
    """The endings of English plurals, the other way round."""
    return {ENGLISH: [(plural, end) for end, plural in inflections()[ENGLISH]["endings"]]}


def _cased(text: str, turkish: bool) -> Iterable[str]:
    small = (text.replace("I", "\u0131").replace("\u0130", "i") if turkish else text).lower()
    if small == text and text.upper() == text:  # a script without capital letters
        return [text]
    titled = " ".join(_capital(word, turkish) for word in small.split(" "))
    return [text, _capital(text, turkish), small, _capital(small, turkish), titled]


def _capital(text: str, turkish: bool) -> str:
    first = "\u0130" if turkish and text[:1] == "i" else text[:1].upper()
    return first + text[1:]


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _is_name(text: str) -> bool:
    return 0 < len(text) <= LONGEST_NAME and text.isprintable()
