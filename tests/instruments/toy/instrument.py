"""How long a model's answers about words are: its row, its options, its prompts, and its declaration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from polyculture.cache.store.schema.asked import Answered
from polyculture.instruments.contract import InstrumentPrompt
from polyculture.instruments.declared import text_instrument


@dataclass(frozen=True, slots=True, kw_only=True)
class Length(Answered):
    """How long an answer about a word is."""

    word: str  # what was asked about
    letters: int | None = None  # of the answer


class ToyOptions(BaseModel):
    """Count the letters of answers about words."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    words: Annotated[int, Field(ge=1, description="How many words.")] = 3


def prompts(options: ToyOptions) -> Iterator[InstrumentPrompt]:
    for number in range(options.words):
        yield InstrumentPrompt("en", "toy", f"word {number}", {"word": f"word {number}"})


TOY = text_instrument(
    "toy_lengths",
    Length,
    ("word",),
    ToyOptions,
    prompts,
    "polyculture toy exp.toml --words 5",
    max_tokens=20,
    read=lambda text: {"letters": len(text)},
    tables=(Path(__file__).with_name("letters.sql"),),
)
LAYOUT, COMMANDS = TOY.layout, {"toy": TOY}
