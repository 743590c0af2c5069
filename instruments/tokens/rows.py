"""The share of a language in a model's vocabulary, as it is kept."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.cache.layout import Table


@dataclass(frozen=True, slots=True)
class CountedVocabulary:
    """How many tokens of a model's vocabulary hold a letter of a language, by one reading of what its letters are."""

    share_id: str  # hash of model, setup, language, reading and what is counted
    model: str
    language: str
    characters: str  # 'letters': of the language's script; 'ranges': ranges of characters, as papers count
    reading: str  # what is counted: 'letters', or the name of the ranges
    tokens: int  # of the vocabulary, special ones left out
    own: int  # of these, tokens with a letter of the language
    partial: int  # of these, tokens that are a part of a letter: of which script, nobody can say
    status: str  # 'ok': a tokenizer that cannot be read ends the step, and is no row
    setup_id: str  # hash of which model it is, exactly, and of the options that decide its tokenizer
    writing_id: str  # hash of the letters and ranges that are counted as the language's own


VOCABULARY_SHARES = Table("vocabulary_shares", CountedVocabulary, key="share_id", unit="shares of vocabularies")
