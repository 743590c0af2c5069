"""The step that extracts: responses in, their mentions in the store out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.catalog import Catalog, Topic
from polyculture.cache.store.answers import wanted_batches
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import EXTRACTIONS, MENTIONS, RESPONSES, Extraction, Mention
from polyculture.cache.work.worker import Done, Kept, Load, Step, Work
from polyculture.extract.base import Extracted, Extractor, ResponseText, unpaid
from polyculture.extract.llm import asked_id
from polyculture.extract.rows import (
    RESPONSE_COLUMNS,
    ResponseColumns,
    as_tables,
    extraction_id,
    extraction_rows,
)
from polyculture.extract.sharing import find_extractions
from polyculture.generate.engines.models import Models

BATCH = 8_192  # responses that a gazetteer reads together
EXTRACTOR = "extractor"  # the role of the model that extracts

OpenExtractor = Callable[[Job, Models], Extractor]


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """A response that is extracted: its cell, its text, the key of its extraction, and the request about its text."""

    extraction_id: str
    cell: ResponseColumns
    text: str
    asked_id: str | None  # None where no model is asked


@dataclass(frozen=True)
class ExtractorChoice:
    """What extracts: the model by name, or None for one that is no model; its identity by topic; how it is opened."""

    model: str | None
    extractor_ids: Mapping[str, str]  # topic -> the id that mentions are known by
    open: OpenExtractor
    reader_id: str | None = None  # who reads a model's answers; None: the first reader


class ExtractionStep(Step[ResponseRow, Models]):
    """Finds the mentions of the current responses of jobs. Memory is bounded by a batch of responses and their ids."""

    name = "extract"
    tables = (MENTIONS, EXTRACTIONS)
    reads = (RESPONSES,)

    def __init__(
        self,
        run: RunFolder,
        jobs: Iterable[tuple[Job, int]],
        wanted: pa.Table,
        catalog: Catalog,
        extractor: ExtractorChoice,
    ) -> None:
        """`wanted` has the rows of `wanted_responses`: the responses of these requests are extracted."""
        self._run, self._jobs, self._wanted = run, jobs, wanted
        self._catalog, self._extractor = catalog, extractor

    def works(self) -> Iterator[Work[ResponseRow]]:
        """A work per job; its size is that of its prompts and samples."""
        models = {EXTRACTOR: self._extractor.model} if self._extractor.model else {}
        for job, size in self._jobs:
            yield Work(job, models, partial(self.responses, job), size)

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
        found = find_extractions(run, work.job, texts, asked, topic, self._catalog.endings)
        return as_tables(row for one in found for row in self.rows(items[one.response_id], one, topic))

    def ask(self, work: Work[ResponseRow], items: Iterator[ResponseRow], models: Models, kept: Kept) -> Iterator[Done]:
        """The outcome of each response. Paid answers arrive one by one, one for equal texts; the others in bulk."""
        topic = self._catalog.topic(work.job.topic)
        extractor = self._extractor.open(work.job, models)
        if not extractor.costly:
            while batch := {item.cell.response_id: item for item in islice(items, BATCH)}:
                found = extractor.extract(_texts([item] for item in batch.values()))
                yield Done(as_tables(row for one in found for row in self.rows(batch[one.response_id], one, topic)))
            return
        equal: dict[str | None, list[ResponseRow]] = {}  # the missing responses are in memory anyway
        for item in items:
            equal.setdefault(item.asked_id or item.extraction_id, []).append(item)
        asked = {group[0].cell.response_id: group for group in equal.values()}
        unusable = _unusable(kept, extractor.extractor_id)
        for extracted in extractor.extract(_texts(asked.values(), unusable)):
            item, *others = asked[extracted.response_id]
            yield Done(self.rows(item, extracted, topic))
            if extracted.status != "unusable":
                yield from (Done(self.rows(one, unpaid(extracted), topic)) for one in others)

    def load(self, item: ResponseRow) -> Load | None:
        """Nothing of a gazetteer; `plan` adds the instructions of a model."""
        return None if self._extractor.model is None else Load(item.text, 0)

    def responses(self, job: Job) -> Iterator[ResponseRow]:
        """The job's responses that have a text."""
        wanted = self._wanted.filter(pc.field("model") == job.model)
        for batch in wanted_batches(self._run, job, RESPONSES, wanted, [*_READ, "status"]):
            yield from self.rows_of(job, pa.Table.from_batches([batch]))

    def rows_of(self, job: Job, responses: pa.Table) -> Iterator[ResponseRow]:
        """Responses of a job that have a text, as they are extracted."""
        ids = self._extractor.extractor_ids[job.topic], self._extractor.reader_id
        answered = responses.filter(pc.field("status") == "ok").select(list(_READ))
        for row in zip(*(answered[name].to_pylist() for name in _READ), strict=True):
            values = dict(zip(_READ, row, strict=True))
            text = values.pop("text")
            asked = asked_id(ids[0], text) if self._extractor.model else None
            yield ResponseRow(extraction_id(values["response_id"], *ids), ResponseColumns(**values), text, asked)

    def rows(self, item: ResponseRow, extracted: Extracted, topic: Topic) -> tuple[Extraction | Mention, ...]:
        """The rows of `extractions` and `mentions` that a result becomes."""
        ids = self._extractor.extractor_ids[topic.code], self._extractor.reader_id
        return extraction_rows(item.cell, extracted, topic, *ids, item.asked_id)


_READ = (*RESPONSE_COLUMNS, "text")
# What is known of an unusable answer: what the next one is asked with, and what it lists.
_UNUSABLE = ("response_id", "status", "retryable", "attempts", "error", "raw", "extractor_model", "ending",
             "finish_reason", "note", "completion_tokens")  # fmt: skip


def _texts(
    groups: Iterable[Sequence[ResponseRow]], unusable: Mapping[str, Sequence[Extracted]] = MappingProxyType({})
) -> Iterator[ResponseText]:
    """One response of each group of equal texts."""
    for item, *_ in groups:
        before = tuple(unusable.get(item.asked_id or "", ()))
        yield ResponseText(item.cell.response_id, item.cell.language, item.text, before)


def _unusable(kept: Kept, extractor_id: str) -> Mapping[str, list[Extracted]]:
    """Unusable answers so far, by request: the same question is not repeated. Retryable ones count as no attempt."""
    rows = kept.read("extractions", ["asked_id", "extractor_id", *_UNUSABLE])
    is_void = (pc.field("retryable") == pc.scalar(True)) & pc.field("retryable").is_valid()
    unusable = (pc.field("status") == "unusable") & ~is_void
    mine = rows.filter((pc.field("extractor_id") == extractor_id) & unusable).sort_by("attempts")
    answers: dict[str, list[Extracted]] = {}
    for row in mine.to_pylist():
        answers.setdefault(row["asked_id"], []).append(Extracted(**{name: row[name] for name in _UNUSABLE}))
    return answers
