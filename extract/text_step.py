"""The step that extracts texts, wherever they come from: an answer about each, and its mentions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.catalog import Catalog, Topic
from polyculture.cache.store.layout import Table
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import Extraction, Mention
from polyculture.cache.work.worker import (
    Done,
    Step,
    StoredRows,
    Work,
)
from polyculture.extract.base import Extracted, Extractor, ResponseText, unpaid
from polyculture.extract.llm import asked_id
from polyculture.extract.rows import (
    ResponseColumns,
    as_tables,
    extraction_id,
    extraction_rows,
)
from polyculture.extract.sharing import find_extractions, read_known
from polyculture.generate.engines.models import Models

BATCH = 8_192  # texts that a gazetteer reads together
EXTRACTOR = "extractor"  # the role of the model that extracts

OpenExtractor = Callable[[Job, Models], Extractor]


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """A response that is extracted: its cell, its text, the key of its extraction, and the request about its text."""

    extraction_id: str
    cell: ResponseColumns
    text: str
    asked_id: str | None  # None where no model is asked

    @property
    def response_id(self) -> str:
        """That of the response."""
        return self.cell.response_id


@dataclass(frozen=True)
class ExtractorLoads:
    """What `plan` knows of what an extractor model will read and write."""

    heads: Mapping[str, str]  # by topic, the instructions that it reads before each text
    most_tokens: int  # of its answer about a text
    text_tokens: int  # of a text, at most
    prompts: Mapping[tuple[str, str], int]  # that texts answer, by language and topic
    taken_over: Callable[[Job], pa.Table | None]  # responses that runs beside this one hold for a job
    are_stored: bool = False  # whether all texts are there, as imported ones: their own tokens are counted


@dataclass(frozen=True)
class ExtractorChoice:
    """What extracts: the model by name, or None for one that is no model; its identity by topic; how it is opened."""

    model: str | None
    extractor_ids: Mapping[str, str]  # topic -> the id that mentions are known by
    open: OpenExtractor
    reader_id: str | None = None  # who reads a model's answers; None: the first reader
    loads: ExtractorLoads | None = None  # None of what is no model


class TextExtractionStep(Step[ResponseRow, Models]):
    """Finds the mentions of texts. A subclass says which texts these are, and which two tables keep what is found."""

    tables: tuple[Table[Mention], Table[Extraction]]

    def __init__(self, run: RunFolder, catalog: Catalog, extractor: ExtractorChoice) -> None:
        self._run, self._catalog, self._extractor = run, catalog, extractor

    def keys(self, item: ResponseRow) -> tuple[str, ...]:
        return (item.extraction_id,)

    def adopt(
        self, run: RunFolder, work: Work[ResponseRow], missing: Sequence[ResponseRow]
    ) -> dict[str, pa.Table] | None:
        """What the model has answered about the same texts. A gazetteer costs nothing to ask again."""
        topic = self._catalog.topic(work.job.topic)
        if self._extractor.model is None:
            return None
        items = {item.cell.response_id: item for item in missing}
        texts, asked = {key: item.text for key, item in items.items()}, [item.asked_id or "" for item in items.values()]
        found = find_extractions(run, work.job, texts, asked, topic, self._catalog.endings, self.tables[-1])
        return as_tables((row for one in found for row in self.rows(items[one.response_id], one, topic)), self.tables)

    def read_again(
        self, work: Work[ResponseRow], missing: Sequence[ResponseRow], failed: pa.Table
    ) -> dict[str, pa.Table] | None:
        """The mentions that the model lists in answers which nobody could read when they came."""
        topic = self._catalog.topic(work.job.topic)
        items = {item.extraction_id: item for item in missing}
        rows: list[Extraction | Mention] = []
        for row in failed.to_pylist():
            answer, item = Extracted(**{name: row[name] for name in _UNREAD}), items.get(row["extraction_id"])
            if item is not None:
                found = read_known([answer], item.text, topic, work.job.language, self._catalog.endings)
                rows += self.rows(item, found, topic) if found is not None and found.status == "ok" else ()
        return as_tables(rows, self.tables) if rows else None

    def ask(
        self, work: Work[ResponseRow], items: Iterator[ResponseRow], models: Models, kept: StoredRows
    ) -> Iterator[Done]:
        """The outcome of each response. Paid answers arrive one by one, one for equal texts; the others in bulk."""
        topic = self._catalog.topic(work.job.topic)
        extractor = self._extractor.open(work.job, models)
        if not extractor.costly:
            while batch := {item.cell.response_id: item for item in islice(items, BATCH)}:
                found = extractor.extract(_texts([item] for item in batch.values()))
                rows = (row for one in found for row in self.rows(batch[one.response_id], one, topic))
                yield Done(as_tables(rows, self.tables))
            return
        equal: dict[str | None, list[ResponseRow]] = {}  # the missing responses are in memory anyway
        for item in items:
            equal.setdefault(item.asked_id or item.extraction_id, []).append(item)
        asked = {group[0].cell.response_id: group for group in equal.values()}
        unusable = _unusable(kept.read(self.tables[-1].name, _ASKED), extractor.extractor_id)
        for extracted in extractor.extract(_texts(asked.values(), unusable)):
            item, *others = asked[extracted.response_id]
            yield Done(self.rows(item, extracted, topic))
            if extracted.status != "unusable":
                yield from (Done(self.rows(one, unpaid(extracted), topic)) for one in others)

    def item(self, cell: ResponseColumns, text: str, topic: str) -> ResponseRow:
        """A text as it is extracted."""
        ids = self._extractor.extractor_ids[topic], self._extractor.reader_id
        asked = asked_id(ids[0], text) if self._extractor.model else None
        return ResponseRow(extraction_id(cell.response_id, *ids), cell, text, asked)

    def rows(self, item: ResponseRow, extracted: Extracted, topic: Topic) -> tuple[Extraction | Mention, ...]:
        """The rows of `extractions` and `mentions` that a result becomes."""
        ids = self._extractor.extractor_ids[topic.code], self._extractor.reader_id
        return extraction_rows(item.cell, extracted, topic, *ids, item.asked_id)


# What is known of an unusable answer: what the next one is asked with, and what it lists.
_UNUSABLE = ("response_id", "status", "retryable", "attempts", "error", "raw", "extractor_model", "ending",
             "finish_reason", "note", "completion_tokens")  # fmt: skip
_ASKED = ("asked_id", "extractor_id", *_UNUSABLE)
_UNREAD = (*_UNUSABLE, "prompt_tokens", "body")  # what is known of an answer that nobody could read


def _texts(
    groups: Iterable[Sequence[ResponseRow]], unusable: Mapping[str, Sequence[Extracted]] = MappingProxyType({})
) -> Iterator[ResponseText]:
    """One response of each group of equal texts."""
    for item, *_ in groups:
        before = tuple(unusable.get(item.asked_id or "", ()))
        yield ResponseText(item.cell.response_id, item.cell.language, item.text, before)


def _unusable(rows: pa.Table, extractor_id: str) -> Mapping[str, list[Extracted]]:
    """Unusable answers so far, by request: the same question is not repeated. Retryable ones count as no attempt."""
    is_void = (pc.field("retryable") == pc.scalar(True)) & pc.field("retryable").is_valid()
    unusable = (pc.field("status") == "unusable") & ~is_void
    mine = rows.filter((pc.field("extractor_id") == extractor_id) & unusable).sort_by("attempts")
    answers: dict[str, list[Extracted]] = {}
    for row in mine.to_pylist():
        answers.setdefault(row["asked_id"], []).append(Extracted(**{name: row[name] for name in _UNUSABLE}))
    return answers
