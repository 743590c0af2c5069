"""A few things at once: for requests, which mostly wait."""

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
    """Every task with its result, as they come; `count` tasks are under way at a time.

    The first fault ends it: results that have come by then are handed over before it is raised, and `stop` is called
    for the tasks still under way, as it is when whoever takes the results takes no more.
    """
    if count == 1:
        for task in tasks:
            yield task, work(task)
        return
    left, under_way = iter(tasks), dict[Future[Result], Task]()
    with ThreadPoolExecutor(count) as threads:
        try:
            while True:
                for task in islice(left, count - len(under_way)):
                    under_way[threads.submit(work, task)] = task
                if not under_way:
                    return
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=_failed):
                    yield under_way.pop(future), future.result()
        finally:
            if under_way:
                stop()


def _failed(future: Future[Result]) -> bool:
    return future.exception() is not None
