"""An event loop in a separate thread, for synchronous callers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from itertools import islice
from queue import SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar

Unit = TypeVar("Unit")
Result = TypeVar("Result")

# Seconds over which the workers start: requests that start together also end together and wait for one another.
START_WITHIN = 0.2


class Background:
    """Runs coroutines for a synchronous caller. `close` stops the loop and joins its thread."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """The coroutine's result; its exception is raised here."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def map_unordered(
        self, work: Callable[[Unit], Awaitable[Result]], units: Iterable[Unit], workers: int
    ) -> Iterator[Result]:
        """Yields `work(unit)` for every unit as it finishes, with at most `workers` coroutines.

        `units` is consumed in the caller's thread, at most `2 * workers` ahead of the yielded results. Half of these
        are in flight. The other half waits, so that a slow consumer does not leave the workers idle. The first
        exception of `work` is raised here, after the results that finished before it. Then the rest is cancelled, as it
        is when the iterator is closed.
        """
        pool = self.run(_start(work, workers))
        source = iter(units)
        outstanding, most, batch = 0, 2 * workers, max(1, workers // 4)
        try:
            while True:
                # Units are passed in batches: each switch between threads costs time.
                if outstanding <= most - batch:
                    taken = list(islice(source, most - outstanding))
                    self._loop.call_soon_threadsafe(pool.give, taken)
                    outstanding += len(taken)
                if outstanding == 0:
                    return
                results, faults = pool.finished.get()
                for result in results:
                    outstanding -= 1
                    yield result
                if faults:
                    raise faults[0]
        finally:
            self.run(pool.cancel())

    def close(self) -> None:
        """Stops the loop. No coroutine may still be running in it."""
        self.run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Pool(Generic[Unit, Result]):
    """Workers in the loop. The results of one turn of the loop reach the caller together."""

    def __init__(self, work: Callable[[Unit], Awaitable[Result]], workers: int) -> None:
        self.finished: SimpleQueue[tuple[list[Result], list[Exception]]] = SimpleQueue()
        self._work = work
        self._waiting: asyncio.Queue[Unit] = asyncio.Queue()
        self._results: list[Result] = []
        self._faults: list[Exception] = []
        self._tasks = [asyncio.create_task(self._worker(START_WITHIN * n / workers)) for n in range(workers)]

    def give(self, units: Iterable[Unit]) -> None:
        for unit in units:
            self._waiting.put_nowait(unit)

    async def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _worker(self, wait: float) -> None:
        await asyncio.sleep(wait)
        while True:
            unit = await self._waiting.get()
            try:
                result = await self._work(unit)
            except Exception as fault:  # noqa: BLE001 - the caller's thread raises it
                self._hand_over(self._faults, fault)
            else:
                self._hand_over(self._results, result)

    def _hand_over(self, pile: list[Any], answer: Any) -> None:
        if not self._results and not self._faults:
            asyncio.get_running_loop().call_soon(self._flush)
        pile.append(answer)

    def _flush(self) -> None:
        self.finished.put((self._results, self._faults))
        self._results, self._faults = [], []


async def _start(work: Callable[[Unit], Awaitable[Result]], workers: int) -> _Pool[Unit, Result]:
    return _Pool(work, workers)
