"""The tables of a language's share in a model's vocabulary: what is asked, what is kept, and which rows count."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.cache.store.layout import Layout, Table, Wanted, compose
from polyculture.instruments.cbs.layout import CBS
from polyculture.instruments.declared import requests_about


@dataclass(frozen=True, slots=True)
class CountedVocabulary:
    """How many tokens of a model's vocabulary hold a letter of a language, by one reading of what its letters are."""

    share_id: str  # hash of request and reading
    request_id: str  # hash of model, setup, language and the letters and ranges that are counted as its own
    model: str
    language: str
    characters: str  # 'letters': of the language's script; 'ranges': ranges of characters, as papers count
    reading: str  # what is counted: 'letters', or the name of the ranges
    tokens: int  # of the vocabulary, special ones left out
    own: int  # of these, tokens with a letter of the language
    partial: int  # of these, tokens that are a part of a letter: of which script, nobody can say
    share: float | None  # `own` of `tokens`; None of an empty vocabulary
    status: str  # 'ok': a tokenizer that cannot be read ends the step, and is no row


WANTED_VOCABULARIES = requests_about("wanted_vocabularies", CountedVocabulary, ("language", "characters"), "tokenize")
VOCABULARY_SHARES = Table(
    "vocabulary_shares",
    CountedVocabulary,
    key="share_id",
    unit="shares of vocabularies",
    wanted=Wanted("wanted_vocabularies", of=WANTED_VOCABULARIES),
)


LAYOUT = compose(CBS, Layout((WANTED_VOCABULARIES, VOCABULARY_SHARES)))
