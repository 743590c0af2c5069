"""What a person sees while it runs: a progress bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from cache.outcome import Outcome, Progress

PLAIN_EVERY = 10.0  # seconds between two plain lines
BAR_EVERY = 0.25  # seconds between two updates of a bar


def say(line: str) -> None:
    """A line for the person at the terminal; results go to standard output, this goes beside them."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201


@contextmanager
def watch(label: str, total: int) -> Iterator[Progress]:
    """A progress for one job of `total` units of work, shown as it fits where standard error goes."""
    if sys.stderr.isatty():
        with _bar(label, total) as progress:
            yield progress
    else:
        yield _plain(label, total)


@contextmanager
def _bar(label: str, total: int) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), refresh_per_second=1 / BAR_EVERY) as bar:
        task = bar.add_task(label, total=total)

        def progress(outcome: Outcome) -> None:
            failed = f" ({outcome.failed} failed)" if outcome.failed else ""
            bar.update(task, completed=outcome.done + outcome.failed, description=label + failed)

        yield progress


def _plain(label: str, total: int) -> Progress:
    started = last = time.monotonic()

    def progress(outcome: Outcome) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < PLAIN_EVERY:
            return
        last = now
        finished = outcome.done + outcome.failed
        rate = max(finished - outcome.reused, 0) / (now - started)
        left = f", {(total - finished) / rate:.0f} s left" if rate else ""
        say(f"{label}: {finished} of {total}, {outcome.failed} failed, {rate:.1f} a second{left}")

    return progress
