"""Work on a corpus in several processes: each takes every N-th block. The result does not depend on their number."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, MutableSequence
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Protocol, TypeVar

from polyculture.cache.errors import IncompleteError

R = TypeVar("R", covariant=True)
BytesRead = Callable[[int], None]  # called with the number of bytes on disk that are read
_REPORT_EVERY = 0.5  # seconds


class ShareWork(Protocol[R]):
    """A function that does a share, `number` of `shares`, and reports the bytes that it has read. It can be pickled."""

    def __call__(self, number: int, shares: int, report: BytesRead) -> R: ...


def in_shares(work: ShareWork[R], processes: int, progress: BytesRead) -> Iterator[R]:
    """What the work gives of each share. Raises `IncompleteError` where a process was killed."""
    if processes == 1:
        yield work(0, 1, progress)
        return
    # Spawned: a forked process would share the locks of Arrow's threads.
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, ProcessPoolExecutor(processes, context) as pool:
        reads = manager.list([0] * processes)
        shares = [pool.submit(_share, work, number, processes, reads) for number in range(processes)]
        try:
            while any(not share.done() for share in shares):
                wait(shares, timeout=_REPORT_EVERY)
                progress(sum(reads))
            yield from (share.result() for share in shares)
        except BrokenProcessPool as fault:
            what = "a process was killed, perhaps by lack of memory"
            raise IncompleteError(f"{what}; run the same command again, with fewer --processes") from fault


def _share(work: ShareWork[R], number: int, shares: int, reads: MutableSequence[int]) -> R:
    def report(read: int) -> None:
        parent = multiprocessing.parent_process()
        if parent is not None and not parent.is_alive():  # a killed command is run again: its work is not done twice
            raise SystemExit(1)
        reads[number] = read

    return work(number, shares, report)
