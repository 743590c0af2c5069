"""Processes that read a dump: what is left of them when one is killed or fails, or when nobody wants more."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any, cast

import psutil
import pytest

from polyculture.cache.errors import StoreError
from polyculture.link.dumps.dump import Chunk, DumpPosition
from polyculture.link.dumps.ingest import ingested

LINES = 20_000  # of a chunk: more bytes than a pipe holds
CHUNKS = 12


def chunks() -> Iterator[Chunk]:
    text = b'{"type":"property","id":"P1"}\n' * LINES
    for number in range(CHUNKS):
        yield Chunk(1 + number * LINES, text, DumpPosition(line=1 + (number + 1) * LINES))


def readers() -> list[psutil.Process]:
    running = [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]
    return [child for child in running if "spawn_main" in " ".join(child.cmdline())]


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    before = threading.active_count()
    yield
    assert readers() == []
    assert threading.active_count() == before


def test_processes_give_the_chunks_in_their_order() -> None:
    several = list(ingested(chunks(), ["en"], 3))
    assert [one.end for one in several] == [chunk.end for chunk in chunks()]
    assert {one.counts.skipped for one in several} == {LINES}


def test_a_killed_process_ends_the_others_while_chunks_wait_in_full_pipes() -> None:
    reading = ingested(chunks(), ["en"], 2)
    next(reading)
    readers()[0].kill()
    with pytest.raises(StoreError, match="was killed") as fault:
        list(reading)
    assert "--workers 1" in str(fault.value)


def test_a_process_that_fails_is_not_called_killed(capfd: pytest.CaptureFixture[str]) -> None:
    reading = ingested(iter([cast("Chunk", "no chunk")]), ["en"], 2)
    with pytest.raises(StoreError, match="failed"):
        list(reading)
    assert "AttributeError" in capfd.readouterr().err


def test_whoever_wants_no_more_closes() -> None:
    reading: Any = ingested(chunks(), ["en"], 2)
    next(reading)
    assert {child.ppid() for child in readers()} == {os.getpid()}
    reading.close()
