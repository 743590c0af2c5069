"""The tables of a corpus: those of the Cultural Bias Score, and the outcomes of pairs."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout, compose
from polyculture.instruments.cbs.layout import CBS
from polyculture.instruments.corpus.rows import PAIR_OUTCOMES

CORPUS = compose(CBS, Layout((PAIR_OUTCOMES,), Layer(()), Layer((Path(__file__).with_name("views.sql"),))))
LAYOUT = CORPUS
