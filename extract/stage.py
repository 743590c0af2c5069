"""The stage `extract`: a job's responses to its mentions, resumable at any moment."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.catalog import Topic
from polyculture.cache.current_rows import current_responses
from polyculture.cache.errors import StoreError
from polyculture.cache.identity import content_id
from polyculture.cache.manifest import Manifest, read_manifest
from polyculture.cache.outcome import Outcome, Progress, silent
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.schema import EXTRACTIONS, MENTIONS
from polyculture.cache.shards import JobShards
from polyculture.extract.base import Extractor, ResponseText
from polyculture.extract.rows import CELL, extraction_record, extraction_tables

TABLES = (MENTIONS, EXTRACTIONS)  # the last one commits
BATCH = 8_192  # responses that are worked on together
_EVERY = 0.25  # seconds between two words about the progress


def extract_job(run: RunFolder, job: Job, topic: Topic, extractor: Extractor, progress: Progress = silent) -> Outcome:
    """Finds the mentions of the job's current responses that `extractor` has not read yet.

    What failed for a reason that may have passed is tried again. Memory is bounded by a batch of responses and the ids
    of the job's. Raises `JobHeldError` where another process holds the job, `StoreError` where there is no run.
    """
    manifest = read_manifest(run.manifest)
    if manifest is None:
        raise StoreError("holds no run", where=run.root, remedy="Generate responses first.")
    with JobShards(run, job, TABLES) as shards:
        work = _Work(shards, topic, extractor, progress)
        work.retire_retryable()
        work.count_reused(run, job, manifest)
        for batch in _batches(work.left(run, job, manifest)):
            work.extract(batch)
    progress(work.outcome)
    return work.outcome


class _Work:
    """One job being extracted, and what became of it so far."""

    def __init__(self, shards: JobShards, topic: Topic, extractor: Extractor, progress: Progress) -> None:
        self._shards, self._topic, self._extractor = shards, topic, extractor
        self._progress, self._told = progress, 0.0
        self._ok: set[str] = set()
        self._failed: set[str] = set()
        self._unusable: Counter[str] = Counter()  # answers of no use, by response
        self.outcome = Outcome(0, 0)

    def retire_retryable(self) -> None:
        """Takes this extractor's failures that are worth another try off the record, and notes what is done."""
        columns = ["response_id", "extraction_id", "extractor_id", "status", "retryable"]
        rows = self._shards.read("extractions", columns)
        mine = rows.filter(pc.field("extractor_id") == self._extractor.extractor_id)
        again = mine.filter((pc.field("status") == "failed") & pc.field("retryable"))
        self._shards.retire(_strings(again["extraction_id"]))
        unusable = mine.filter(pc.field("status") == "unusable")["response_id"]
        self._unusable = Counter(str(response_id) for response_id in unusable.to_pylist())
        self._ok = _strings(mine.filter(pc.field("status") == "ok")["response_id"])
        failed = _strings(mine.filter(pc.field("status") == "failed")["response_id"])
        self._failed = failed - _strings(again["response_id"])

    def count_reused(self, run: RunFolder, job: Job, manifest: Manifest) -> None:
        """Counts, of what is done, that which still belongs to a current response."""
        ok = failed = 0
        for batch in _answered(run, job, manifest):
            ids = batch["response_id"].to_pylist()
            ok += sum(key in self._ok for key in ids)
            failed += sum(key in self._failed for key in ids)
        self.outcome = Outcome(ok, failed, reused=ok)

    def left(self, run: RunFolder, job: Job, manifest: Manifest) -> Iterator[pa.Table]:
        """The responses that this extractor has not read."""
        for batch in _answered(run, job, manifest):
            ids = batch["response_id"].to_pylist()
            yield batch.filter(pa.array([key not in self._ok and key not in self._failed for key in ids], pa.bool_()))

    def extract(self, batch: pa.Table) -> None:
        """One batch: answers that cost something are kept one by one as they come, the others in bulk."""
        texts = (
            ResponseText(row["response_id"], self._shards.job.language, row["text"], self._unusable[row["response_id"]])
            for row in batch.select(["response_id", "text"]).to_pylist()
        )
        cells = batch.select(list(CELL))
        key = self._extractor.extractor_id
        if self._extractor.costly:
            by_id = {cell["response_id"]: cell for cell in cells.to_pylist()}
            for extracted in self._extractor.extract(texts):
                unusable = extracted.status == "unusable"
                # An answer of no use is a row of its own: it was paid for, and what follows it may not come.
                ident = content_id(extracted.response_id, key, *([extracted.attempts] if unusable else []))
                cell = by_id[extracted.response_id]
                self._shards.append(extraction_record(cell, extracted, self._topic, key, ident))
                if not unusable:
                    self._count(extracted.status == "ok")
        else:
            found = []
            for extracted in self._extractor.extract(texts):
                found.append(extracted)
                self._count(extracted.status == "ok")
            self._shards.append_part(extraction_tables(cells, found, self._topic, key))

    def _count(self, ok: bool) -> None:
        self.outcome += Outcome(1, 0) if ok else Outcome(0, 1)
        if time.monotonic() - self._told >= _EVERY:
            self._told = time.monotonic()
            self._progress(self.outcome)


def _answered(run: RunFolder, job: Job, manifest: Manifest) -> Iterator[pa.Table]:
    """The job's current responses that have a text."""
    for batch in current_responses(run, job, manifest, [*CELL, "status", "text"]):
        yield pa.Table.from_batches([batch]).filter(pc.field("status") == "ok")


def _strings(column: pa.ChunkedArray[Any]) -> set[str]:
    return {str(value) for value in column.to_pylist()}


def _batches(small: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in batches of about `BATCH`: responses come in as many parts as generation was interrupted."""
    held: list[pa.Table] = []
    for batch in small:
        held.append(batch)
        if sum(one.num_rows for one in held) >= BATCH:
            yield pa.concat_tables(held)
            held = []
    if sum(one.num_rows for one in held):
        yield pa.concat_tables(held)
