"""What is searched for a mention: its dictionary form and English name, and other forms where these find nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from polyculture.cache.catalog import Catalog
from polyculture.link.normalise import chinese_forms, fold_of, normalise, without_marks

LONGEST_NAME = 250  # characters; Wikidata's limit for labels

Term = tuple[str, str]  # a language of Wikidata's, and what is searched in it


@dataclass(frozen=True, slots=True)
class Named:
    """A mention as it is looked up: its language, surface, dictionary form and English name."""

    language: str
    surface: str
    name: str | None = None
    english: str | None = None


class Searches:
    """What is searched for a name, in this order: the next only where nothing was found before it."""

    def __init__(self, catalog: Catalog, named: Named) -> None:
        language = catalog.language(named.language).label_languages[0]
        surface, name = ([(language, form) for form in _forms(language, text)] for text in (named.surface, named.name))
        english = [("en", form) for form in _forms("en", named.english)]
        own = name or surface
        self._first = list(dict.fromkeys([*own[:1], *english[:1]]))  # both: neither says that the other names the same
        self._others = [term for term in (*own, *surface, *english) if term not in self._first]

    def next(self, searched: Mapping[Term, bool]) -> list[Term]:
        """The terms to search now: none where something was found, or nothing is left."""
        if first := [term for term in self._first if term not in searched]:
            return first
        for term in (*self._first, *self._others):
            if term not in searched:
                return [term]
            if searched[term]:
                return []
        return []


def _forms(language: str, text: str | None) -> list[str]:
    """How a text is searched: as written, without the marks that normalisation removes, in Turkish in lower case, in
    both Chinese scripts. What cannot be a name is left out.
    """
    if text is None:
        return []
    forms, fold = [text.strip(), without_marks(text)], fold_of(language)
    if fold == "turkish" and "I" in text:
        forms += normalise([text], fold)
    if fold == "chinese":
        forms = [written for form in forms for written in chinese_forms(form)]
    return [form for form in dict.fromkeys(forms) if 0 < len(form) <= LONGEST_NAME]
