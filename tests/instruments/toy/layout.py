"""Its rows, and which of them count."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.store.layout import Layer, Layout, Table, Wanted


@dataclass(frozen=True, slots=True)
class Length:
    """How long an answer about a word is."""

    request_id: str  # hash of model and word
    model: str
    language: str
    topic: str
    word: str  # what was asked about
    status: str  # 'ok' | 'failed'
    error: str | None  # why it failed
    retryable: bool | None  # of a failure: worth asking again
    letters: int | None  # of the answer
    prompt_tokens: int | None
    completion_tokens: int | None
    named_cost: float | None
    purchase: str | None


LENGTHS = Table("toy_lengths", Length, key="request_id", stage="toy", wanted=Wanted("wanted_toys"))
LAYOUT = Layout((LENGTHS,), Layer((Path(__file__).with_name("wanted.sql"),)))
