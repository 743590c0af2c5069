"""Records of batches at a provider, on disk: enough to resume after a kill at any moment.

A batch has a key of ours, which is recorded before anything is sent and is part of the batch's metadata.
Its record is `<key>.batch.json`; beside it stand the requests (`<key>.requests.jsonl`) until the batch exists, and
the answers (`<key>.output.jsonl`, `<key>.errors.jsonl`) until they are in the store.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from polyculture.cache.files import replacing

_PATTERN = "*.batch.json"


class BatchRecord(BaseModel):
    """One batch. A field that is None has not happened yet, as far as we know."""

    key: str
    made: float  # seconds since 1970
    ids: list[str]  # `custom_id` of its requests
    file_id: str | None = None
    asked_for: bool = False  # it may exist at the provider, even without a batch_id here
    batch_id: str | None = None
    downloaded: bool = False
    lost: bool = False  # the provider does not know it any more, and its rows say so


class BatchRecords:
    """The records in `folder`, which belongs to one stage of one job and is used while the job is locked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> list[BatchRecord]:
        """Every record, the oldest first."""
        records = [BatchRecord.model_validate_json(file.read_bytes()) for file in self.folder.glob(_PATTERN)]
        return sorted(records, key=lambda record: (record.made, record.key))

    def waiting(self) -> list[BatchRecord]:
        """Those whose answers are still to come."""
        return [record for record in self.all() if not record.downloaded and not record.lost]

    def add(self, lines: Iterable[tuple[str, bytes]]) -> BatchRecord:
        """A new record of requests: their ids and the lines of their file."""
        record = BatchRecord(key=secrets.token_hex(12), made=time.time(), ids=[])
        with replacing(self.file(record, "requests")) as temporary, temporary.open("wb") as file:
            for ident, line in lines:
                record.ids.append(ident)
                file.write(line)
        self.save(record)
        return record

    def save(self, record: BatchRecord) -> None:
        with replacing(self.folder / f"{record.key}.batch.json") as temporary:
            temporary.write_text(record.model_dump_json(), encoding="utf-8")

    def forget(self, record: BatchRecord) -> None:
        """Removes a record and its files, the record last."""
        self.file(record, "requests").unlink(missing_ok=True)
        self.file(record, "output").unlink(missing_ok=True)
        self.file(record, "errors").unlink(missing_ok=True)
        (self.folder / f"{record.key}.batch.json").unlink(missing_ok=True)

    def file(self, record: BatchRecord, what: Literal["requests", "output", "errors"]) -> Path:
        """The file with a batch's requests, its answers, or its errors."""
        return self.folder / f"{record.key}.{what}.jsonl"


def waiting(root: Path) -> Iterator[BatchRecord]:
    """The records under `root` whose answers are not in the store yet."""
    for folder in sorted({file.parent for file in root.rglob(_PATTERN)}):
        yield from BatchRecords(folder).waiting()
