"""What it asks: its options, its step and its command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from polyculture.instruments.toy.layout import LENGTHS, Length
from pydantic import BaseModel, ConfigDict, Field

from polyculture.cache.identity import content_id
from polyculture.cache.store.run_folder import Job
from polyculture.cache.work.worker import Done, Kept, Load, Step, Work
from polyculture.generate.engines import SAMPLING
from polyculture.generate.engines.base import Decoding, Message, Request
from polyculture.generate.engines.models import MODEL, Models
from polyculture.instruments.contract import Asked, Command, Shown, Study

DECODING = Decoding(0.0, 1.0, None, max_tokens=20)
Word = tuple[str, str]  # a model, and what it is asked about


class ToyOptions(BaseModel):
    """Count the letters of answers about words."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    words: Annotated[int, Field(ge=1, description="How many words.")] = 3


class ToyStep(Step[Word, Models]):
    name, tables = "ask", (LENGTHS,)

    def __init__(self, models: Sequence[str], words: int) -> None:
        self.models, self.words = models, words

    def works(self) -> Iterator[Work[Word]]:
        for model in self.models:
            items = [(model, f"word {number}") for number in range(self.words)]
            yield Work(Job(model, "en", "toy"), {MODEL: model}, lambda items=items: iter(items), len(items))

    def keys(self, item: Word) -> tuple[str, ...]:
        return (content_id(*item),)

    def ask(self, work: Work[Word], items: Iterator[Word], models: Models, kept: Kept) -> Iterator[Done]:
        requests = (Request(word, (Message("user", word),), DECODING, (1,)) for _, word in items)
        for said in models.open(SAMPLING).sample(requests):
            word, text, asked = said.request_id, said.text, work.job.model
            row = (None, None, len(text)) if text is not None else (said.error, said.retryable, None)
            status, paid = (
                "ok" if text is not None else "failed",
                (said.prompt_tokens, said.completion_tokens, said.named_cost),
            )
            own = (content_id(asked, word), asked, work.job.language, work.job.topic)
            yield Done((Length(*own, word, status, *row, *paid, said.purchase),))

    def loads(self, work: Work[Word], items: Iterable[Word]) -> Iterator[Load]:
        return (Load(word, DECODING.max_tokens) for _, word in items)


def study(asked: Asked, options: ToyOptions) -> Study:
    shown = (Shown(Path(__file__).with_name("letters.sql")),)
    return Study((ToyStep(asked.models, options.words),), shown=shown, view="toy_lengths")


EXAMPLE = "polyculture toy exp.toml --words 5"
COMMANDS: Mapping[str, Command] = {"toy": Command(ToyOptions, study, EXAMPLE, needs=lambda _: ("sample",))}
