"""Its rows, and which of them count."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.layout import Layer, Layout, Table


@dataclass(frozen=True, slots=True)
class Length:
    """How long an answer about a word is."""

    length_id: str  # hash of model and word
    model: str
    word: str  # what was asked about
    status: str  # 'ok' | 'failed'
    error: str | None  # why it failed
    retryable: bool | None  # of a failure: worth asking again
    letters: int | None  # of the answer
    prompt_tokens: int | None
    completion_tokens: int | None
    purchase: str | None


LENGTHS = Table("toy_lengths", Length, key="length_id", account="toy")
FEEDS = {"bought": ("bought_toy_lengths",), "failed": ("failed_toy_lengths",)}
LAYOUT = Layout((LENGTHS,), Layer((Path(__file__).with_name("current.sql"),), FEEDS))
