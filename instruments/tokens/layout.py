"""The tables of vocabularies beside those of the Cultural Bias Score, and which of their rows count."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout, compose
from polyculture.instruments.cbs.layout import CBS
from polyculture.instruments.tokens.rows import VOCABULARY_SHARES, WANTED_VOCABULARIES

LAYOUT = compose(
    CBS,
    Layout((WANTED_VOCABULARIES, VOCABULARY_SHARES), Layer((Path(__file__).with_name("wanted.sql"),))),
)
