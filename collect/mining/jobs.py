"""One piece of a sweep: a block of a corpus to scan, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import pyarrow as pa

from polyculture.cache.parquet import write_parquet
from polyculture.collect.mining.corpus import BrokenStreamError, CorpusFile, read_lines, read_texts, stream_lines
from polyculture.collect.mining.scan import Scanner

PARTS = "parts"  # the folder of the hits
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Swept:
    """What became of a block. `block` is None for the end of a file."""

    file: str  # the key of the corpus file
    block: int | None
    read: int = 0  # bytes on disk
    text: int = 0  # bytes of text, unpacked
    lines: int = 0
    documents: int = 0
    hits: int = 0
    broken: int = 0
    broken_lines: tuple[tuple[int, str], ...] = ()  # within the block, from 1
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A block to scan: one that is to be read, or one that is handed over unpacked as `data`."""

    file: CorpusFile
    block: int
    read: int
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A packed file, to be unpacked and scanned from its beginning to its end."""

    file: CorpusFile


@dataclass(frozen=True, slots=True)
class End:
    """Nothing to scan: the file was handed over to its end, or as far as it could be unpacked."""

    file: CorpusFile
    failure: str | None


@dataclass(frozen=True, slots=True)
class Worker:
    """What jobs are done with: the patterns, and the folder that the hits go to."""

    scanner: Scanner
    folder: Path
    stopped: Callable[[], bool]  # whether nobody waits for the rest of a job any more

    def do(self, job: Job | WholeFile | End) -> list[Swept]:
        """Does the job; what becomes of it. Raises `StoreError` where the hits cannot be written."""
        if isinstance(job, End):
            return [Swept(job.file.key, None, failure=job.failure)]
        if isinstance(job, WholeFile):
            parts = takewhile(lambda _: not self.stopped(), blocks_of(job.file))
            return [entry for part in parts for entry in self.do(part)]
        try:
            return [self._scan(job)]
        except (OSError, pa.ArrowException) as fault:
            return [Swept(job.file.key, job.block, job.read, failure=f"cannot be read: {fault}")]

    def _scan(self, job: Job) -> Swept:
        if job.file.kind == "parquet":
            scanned = self.scanner.scan_column(read_texts(job.file, job.block))
        else:
            data = (job.data or read_lines(job.file, job.block)).removeprefix(_BYTE_ORDER_MARK)
            is_json = job.file.kind == "json"
            scanned = self.scanner.scan_json(data, job.file.field) if is_json else self.scanner.scan_text(data)
        if len(scanned.hits):
            write_part(self.folder, job.file.key, job.block, scanned.hits)
        return Swept(
            file=job.file.key,
            block=job.block,
            read=job.read,
            text=scanned.text,
            lines=scanned.lines,
            documents=scanned.documents,
            hits=len(scanned.hits),
            broken=scanned.broken,
            broken_lines=tuple(scanned.broken_lines),
        )


def part_of(folder: Path, file: str, block: int) -> Path:
    """Where the hits of a block are."""
    return folder / PARTS / f"{file}-{block:08}.parquet"


def write_part(folder: Path, file: str, block: int, hits: pa.Table) -> Path:
    """Writes the hits of a block, with its file and number. Raises `StoreError` where that is not possible."""
    files, blocks = pa.array([file] * len(hits), pa.string()), pa.array([block] * len(hits), pa.uint32())
    table = pa.Table.from_arrays([*hits.columns, files, blocks], names=[*hits.column_names, "file", "block"])
    write_parquet(table, part_of(folder, file, block))
    return part_of(folder, file, block)


def blocks_of(file: CorpusFile) -> Iterator[Job | End]:
    """The blocks of a packed file, unpacked here, and its end."""
    before, block = 0, 0
    failure = None
    try:
        for data, position in stream_lines(file):
            yield Job(file, block, position - before, data)
            before, block = position, block + 1
    except (BrokenStreamError, OSError) as fault:
        failure = str(fault)
    yield End(file, failure)
