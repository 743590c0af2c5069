"""The unit of work of a sweep: a block of a corpus to scan, and its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import pyarrow as pa

from polyculture.cache.parquet import write_parquet
from polyculture.collect.mining.corpus import (
    BYTE_ORDER_MARK,
    BrokenStreamError,
    CorpusFile,
    read_lines,
    read_texts,
    stream_lines,
)
from polyculture.collect.mining.scan import Scanner

PARTS = "parts"  # the folder of the hits


@dataclass(frozen=True, slots=True)
class Swept:
    """The result of a block. `block` is None for the end of a file."""

    file: str  # the key of the corpus file
    block: int | None
    read: int = 0  # bytes on disk
    text: int = 0  # bytes of decompressed text
    lines: int = 0
    documents: int = 0
    hits: int = 0
    broken: int = 0
    broken_lines: tuple[tuple[int, str], ...] = ()  # within the block, from 1
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class ScanJob:
    """A block to scan: to be read from disk, or given decompressed as `data`."""

    file: CorpusFile
    block: int
    read: int
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A compressed file, to be decompressed and scanned as a whole."""

    file: CorpusFile


@dataclass(frozen=True, slots=True)
class End:
    """The end of a compressed file, or the point from which it could not be decompressed."""

    file: CorpusFile
    failure: str | None


@dataclass(frozen=True, slots=True)
class ScanWorker:
    """Runs jobs with the patterns of `scanner`, and writes the hits to `folder`."""

    scanner: Scanner
    folder: Path
    stopped: Callable[[], bool]  # is the rest of the job no longer needed?

    def do(self, job: ScanJob | WholeFile | End) -> list[Swept]:
        """Runs the job, and returns its results. Raises `StoreError` where the hits cannot be written."""
        if isinstance(job, End):
            return [Swept(job.file.key, None, failure=job.failure)]
        if isinstance(job, WholeFile):
            parts = takewhile(lambda _: not self.stopped(), blocks_of(job.file))
            return [entry for part in parts for entry in self.do(part)]
        try:
            return [self._scan(job)]
        except (OSError, pa.ArrowException) as fault:
            return [Swept(job.file.key, job.block, job.read, failure=f"cannot be read: {fault}")]

    def _scan(self, job: ScanJob) -> Swept:
        if job.file.kind == "parquet":
            scanned = self.scanner.scan_column(read_texts(job.file, job.block))
        else:
            data = (job.data or read_lines(job.file, job.block)).removeprefix(BYTE_ORDER_MARK)
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
    """The file with the hits of a block."""
    return folder / PARTS / f"{file}-{block:08}.parquet"


def write_part(folder: Path, file: str, block: int, hits: pa.Table) -> Path:
    """Writes the hits of a block, with its file and number. Raises `StoreError` where it cannot be written."""
    files, blocks = pa.array([file] * len(hits), pa.string()), pa.array([block] * len(hits), pa.uint32())
    table = pa.Table.from_arrays([*hits.columns, files, blocks], names=[*hits.column_names, "file", "block"])
    write_parquet(table, part_of(folder, file, block))
    return part_of(folder, file, block)


def blocks_of(file: CorpusFile) -> Iterator[ScanJob | End]:
    """The decompressed blocks of a compressed file, and its end."""
    before, block = 0, 0
    failure = None
    try:
        for data, position in stream_lines(file):
            yield ScanJob(file, block, position - before, data)
            before, block = position, block + 1
    except (BrokenStreamError, OSError) as fault:
        failure = str(fault)
    yield End(file, failure)
