"""Contexts in two phrasings: *english-like*, every pronoun is present, as in English; *pro-drop*, pronouns that the
language omits are absent.

Where a data set's own contexts have a pronoun that `pronouns.toml` names, the pairs come from them, by rule: as they
stand, and without it. A user's own contexts name theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.cache.toml_files import read_toml
from polyculture.instruments.datasets.model import DataSet, MaskedContext

PRONOUNS = Path(__file__).parent / "pronouns.toml"
ENGLISH_LIKE, PRO_DROP = "english-like", "pro-drop"


@dataclass(frozen=True, slots=True)
class DroppedPronouns:
    """The contexts of a language and form that have the pronoun, of how many; the pairs that they give."""

    language: str
    form: str
    setting: str
    contexts: int
    with_pronoun: int
    pairs: int

    def __str__(self) -> str:
        lost = self.with_pronoun - self.pairs
        told = f", {lost} of them begin with the gap without it and give no pair" if lost else ""
        of = f"{self.contexts} {self.language} contexts ({self.form}, {self.setting})"
        return f"{self.with_pronoun} of {of} have the pronoun that the language drops{told}"


def with_phrasings(dataset: DataSet) -> DataSet:
    """The data set with the pairs of its contexts."""
    pairs = [each for context in dataset.every_context for each in _pair(context)]
    return replace(dataset, every_context=(*dataset.every_context, *pairs))


def without_pronoun(text: str, language: str) -> str:
    """A context without the pronouns that its language leaves out; as it is where it has none."""
    pattern = _patterns().get(language)
    return text if pattern is None else pattern.sub(r"\1", text)


def dropped_pronouns(contexts: Sequence[MaskedContext]) -> Iterator[DroppedPronouns]:
    """How many contexts have a pronoun that their language leaves out, by language, form and setting."""
    plain = [context for context in contexts if not context.phrasing and context.language in _patterns()]
    for language, form, setting in sorted({(each.language, each.form, each.setting) for each in plain}):
        own = [each for each in plain if (each.language, each.form, each.setting) == (language, form, setting)]
        found = [each for each in own if without_pronoun(each.text, language) != each.text]
        yield DroppedPronouns(
            language, form, setting, len(own), len(found), sum(bool(list(_pair(each))) for each in found)
        )


def _pair(context: MaskedContext) -> Iterator[MaskedContext]:
    """A context with a pronoun in its two phrasings. A text that begins with its gap without it makes no pair."""
    bare = without_pronoun(context.text, context.language)
    if context.phrasing or bare == context.text:
        return
    dropped = replace(context, text=bare, phrasing=PRO_DROP, pair=context.context_id)
    if dropped.starts_with_gap and not context.starts_with_gap:
        return
    yield replace(context, phrasing=ENGLISH_LIKE, pair=context.context_id)
    yield dropped


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    """The pronouns of each language with the spaces behind them; the first group is what is joined to them."""
    found = {}
    for language, words in read_toml(PRONOUNS, DataSetError).items():
        joined, pronouns = ("|".join(map(re.escape, words[name])) for name in ("joined", "pronouns"))
        found[language] = re.compile(rf"(?<!\w)((?:{joined})?)(?:{pronouns})(?!\w)\s*")
    return found
