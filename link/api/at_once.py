"""Runs a bounded number of tasks concurrently: for requests, which mostly wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def at_once(
    count: int, work: Callable[[Task], Result], tasks: Iterable[Task], stop: Callable[[], None]
) -> Iterator[tuple[Task, Result]]:
    """Yields every task with its result, as they finish; at most `count` tasks run at a time.

    The first fault ends the iteration, after the results that are there by then. `stop` is called for the tasks still
    running, also when the caller closes the iterator.
    """
    if count == 1:
        for task in tasks:
            yield task, work(task)
        return
    left, running = iter(tasks), dict[Future[Result], Task]()
    with ThreadPoolExecutor(count) as threads:
        try:
            while True:
                for task in islice(left, count - len(running)):
                    running[threads.submit(work, task)] = task
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=_failed):
                    yield running.pop(future), future.result()
        finally:
            if running:
                stop()


def _failed(future: Future[Result]) -> bool:
    return future.exception() is not None
