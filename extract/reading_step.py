"""The step that reads stored answers of an extractor model again: by a reader that came after they did.

Nothing is asked. The first of a response's answers that the present reader understands is the one that counts; where it
understands none, and the extractor was done with the response, the response has failed. What has no answer (a blank
text, a fault that will not pass) is under every reader as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pyarrow.compute as pc

from polyculture.cache.catalog import Catalog, Topic
from polyculture.cache.inflection import Endings
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.schema import EXTRACTIONS, MENTIONS
from polyculture.cache.shards import JobShards
from polyculture.cache.worker import Done, Kept, Step, Work
from polyculture.extract.answer import UnusableAnswerError
from polyculture.extract.base import Extracted
from polyculture.extract.reading import read_raw
from polyculture.extract.step import ExtractionStep, ExtractorChoice, ResponseRow
from polyculture.generate.engines.answer import NO_ANSWER
from polyculture.generate.engines.models import Models

# What is on disk of one attempt; its cost is paid once.
_STORED = (
    *("response_id", "status", "attempts", "error", "retryable"),
    *("raw", "extractor_model", "ending", "finish_reason"),
)


class ReadingStep(Step[ResponseRow, Models]):
    """Reads what the present reader has not read."""

    name = "read"
    tables = (MENTIONS, EXTRACTIONS)

    def __init__(
        self, run: RunFolder, extraction: ExtractionStep, catalog: Catalog, extractor: ExtractorChoice
    ) -> None:
        self._run, self._extraction = run, extraction
        self._catalog, self._extractor = catalog, extractor

    def works(self) -> Iterator[Work[ResponseRow]]:
        """A work per job that has something to read."""
        for work in self._extraction.works():
            unread = self._unread(work.job)
            if unread:
                yield Work(work.job, {}, partial(self._responses, work.job, unread), len(unread))

    def keys(self, item: ResponseRow) -> tuple[str, ...]:
        return (item.extraction_id,)

    def ask(
        self,
        work: Work[ResponseRow],
        items: Iterator[ResponseRow],
        models: Models,
        kept: Kept,
    ) -> Iterator[Done]:
        """A row per response; none where the extractor is still to answer."""
        topic, endings = self._catalog.topic(work.job.topic), self._catalog.endings
        answers = _stored_answers(kept, self._extractor.extractor_ids[topic.code])
        for item in items:
            read = _read(answers[item.cell.response_id], item, topic, endings)
            if read is not None:
                yield Done(self._extraction.rows(item, read, topic))

    def _unread(self, job: Job) -> frozenset[str]:
        """The responses with a row by another reader, and none by the present one."""
        columns = ["response_id", "extractor_id", "reader_id", "status"]
        rows = JobShards(self._run, job, self.tables).read(EXTRACTIONS.name, columns)
        mine = rows.filter(pc.field("extractor_id") == self._extractor.extractor_ids[job.topic]).to_pylist()
        present = self._extractor.reader_id
        others = {row["response_id"] for row in mine if row["reader_id"] != present}
        return frozenset(others - {row["response_id"] for row in mine if row["reader_id"] == present})

    def _responses(self, job: Job, chosen: frozenset[str]) -> Iterator[ResponseRow]:
        return (item for item in self._extraction.responses(job) if item.cell.response_id in chosen)


def _stored_answers(kept: Kept, extractor_id: str) -> Mapping[str, list[Extracted]]:
    """The answers about each response in the order of attempts, each once, whoever read it.

    An unusable one that is retryable is void: the response was asked anew after it, as if there had been no answer.
    """
    rows = kept.read(EXTRACTIONS.name, [*_STORED, "extractor_id"]).filter(pc.field("extractor_id") == extractor_id)
    by_response: dict[str, dict[tuple[bool, int, bool], Extracted]] = {}
    for row in rows.select(list(_STORED)).to_pylist():
        answer = Extracted(**row)
        void = answer.status == "unusable" and answer.retryable is True
        by_response.setdefault(answer.response_id, {}).setdefault((void, answer.attempts, answer.raw is None), answer)
    return {key: [answers[place] for place in sorted(answers)] for key, answers in by_response.items()}


def _read(answers: Sequence[Extracted], item: ResponseRow, topic: Topic, endings: Endings) -> Extracted | None:
    """What the present reader makes of the answers about a response; None where another answer is still to come."""
    failed: Extracted | None = None
    for answer in answers:
        if answer.raw is None or (answer.error or "").startswith(NO_ANSWER):
            continue
        try:
            found = read_raw(answer.raw, answer.finish_reason, item.text, topic, item.cell.language, endings)
        except UnusableAnswerError as fault:
            failed = replace(answer, status="failed", error=str(fault), retryable=False)
        else:
            return replace(answer, status="ok", error=None, retryable=None, mentions=found.mentions, note=found.note)
    settled = (one for one in answers if one.status == "ok" or (one.status == "failed" and one.retryable is False))
    last = next(settled, None)
    return last and (failed or last)
