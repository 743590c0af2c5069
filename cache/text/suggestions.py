"""What somebody meant who wrote an unknown word: the known words that are nearest to it.

Names of languages, topics and countries are known once the catalogue is loaded, which hands in what they mean
(`cache/catalog/written.py`); until then words are compared letter by letter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

_NEAR = 60  # of 100: how alike a word must be to one that is proposed for it

# The one of some known words that is meant by another one, or None.
Meaning = Callable[[str, Iterable[str]], str | None]
_meanings: list[Meaning] = []


def add_meaning(meaning: Meaning) -> None:
    """Asks `meaning` first, from now on."""
    _meanings.append(meaning)


def meant_by(word: str, known: Iterable[str]) -> str | None:
    """The one of the known words that somebody means who writes this other one: `en` by `english`, `n` by `samples`."""
    names = list(known)
    return next((found for meaning in _meanings if (found := meaning(word, names)) is not None), None)


def did_you_mean(word: str, known: Iterable[str], *, most: int = 1, otherwise: str | None = None) -> str:
    """A remedy that names the nearest known words, `most` of them: "Did you mean 'food'?".

    Where no known word is near, the remedy is `otherwise`, or a list of all known words, or that there is none.
    """
    names = sorted(map(str, known))
    if found := near_words(word, names, most):
        return f"Did you mean {' or '.join(map(repr, found))}?"
    if otherwise is not None:
        return otherwise
    return f"Known: {', '.join(names)}." if names else "There is nothing to choose from."


def near_words(word: str, known: Iterable[str], most: int = 1, alike: int = _NEAR) -> list[str]:
    """The known words that are nearest to one, `most` of them; none that is less than `alike`, of 100.

    A word that is a name of a known one leads to it: `english` to en, `USA` to US, `samples` to n; and that of a model
    without its engine to the model.
    """
    from rapidfuzz import fuzz, process

    names = sorted(map(str, known))
    if meant := meant_by(word, names):
        return [meant]
    if of_engines := [name for name in names if name.casefold().endswith(f":{word.casefold()}")]:
        return of_engines[:most]
    near = process.extract(word, names, scorer=fuzz.ratio, processor=str.casefold, limit=most, score_cutoff=alike)
    return [name for name, *_ in near]
