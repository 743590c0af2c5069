"""A whole instrument: its rows, its step, its options, its views and its section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from polyculture.instruments.toy.layout import LENGTHS, Length
from pydantic import BaseModel, ConfigDict, Field

from polyculture.cache.identity import content_id
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.worker import Done, Kept, Load, Work
from polyculture.generate.engines import SAMPLING
from polyculture.generate.engines.base import Decoding, Message, Request
from polyculture.generate.engines.models import MODEL, Models
from polyculture.instruments.contract import Asked, Command, Shown, Study
from polyculture.reports.section import ReportData, ReportTable, Section

_OWN = Path(__file__).parent
_LETTERS = _OWN / "letters.sql"
DECODING = Decoding(0.0, 1.0, None, max_tokens=20)


class ToyOptions(BaseModel):
    """Count the letters of answers about words."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    words: Annotated[int, Field(ge=1, description="How many words.")] = 3


class ToyStep:
    name, tables, span = "ask", (LENGTHS,), "job"

    def __init__(self, models: Sequence[str], words: int) -> None:
        self.models, self.words = models, words

    def works(self) -> Iterator[Work[tuple[str, str]]]:
        for model in self.models:
            items = [(model, f"word {number}") for number in range(self.words)]
            yield Work(Job(model, "en", "toy"), {MODEL: model}, lambda items=items: iter(items), len(items))

    def keys(self, item: tuple[str, str]) -> tuple[str, ...]:
        return (content_id(*item),)

    def adopt(self, run: RunFolder, work: Work[Any], missing: Sequence[Any]) -> None: ...

    def ask(self, work: Work[Any], items: Iterator[Any], models: Models, kept: Kept) -> Iterator[Done]:
        requests = (Request(word, (Message("user", word),), DECODING, (1,)) for _, word in items)
        for said in models.open(SAMPLING).sample(requests):
            word, text, asked = said.request_id, said.text, work.job.model
            row = (None, None, len(text)) if text is not None else (said.error, said.retryable, None)
            status, paid = "ok" if text is not None else "failed", (said.prompt_tokens, said.completion_tokens)
            own = (content_id(asked, word), asked, work.job.language, work.job.topic)
            yield Done((Length(*own, word, status, *row, *paid, said.purchase),))

    def load(self, item: tuple[str, str]) -> Load:
        return Load(item[1], DECODING.max_tokens)


def study(asked: Asked, options: ToyOptions) -> Study:
    return Study((ToyStep(asked.models, options.words),), shown=(Shown(_LETTERS),), view="toy_lengths")


def build(data: ReportData) -> tuple[Mapping[str, Any], ...] | None:
    return tuple(data.reading.lines(_LETTERS)) or None


class Toy:
    name = "toy"
    commands: Mapping[str, Command] = {"toy": Command(ToyOptions, study, "polyculture toy exp.toml --words 5")}

    def sections(self) -> Sequence[Section]:
        files = (_OWN / "section.html.jinja", _OWN / "section.toml")
        return (Section("toy", build, *files, (ReportTable(_LETTERS),), stands_alone=True),)


INSTRUMENT = Toy()
