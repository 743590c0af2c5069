"""What the command line prints on standard error: its own lines, the log's, and bars on a terminal."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from polyculture.cache.log import handled_by
from polyculture.cache.text.sanitize import conceal
from polyculture.cache.text.sanitize import escape_control_chars as visible
from polyculture.progress import shown_by

if TYPE_CHECKING:
    from polyculture.cache.work.outcome import Outcome, Progress
    from polyculture.progress import Rate

BAR_EVERY = 0.25  # seconds between two updates of a bar
BAR_WIDTH = 12  # columns
BESIDE_LABEL = 40  # columns of the spinner, the bar, the count and the clock


def say(line: str) -> None:
    """Writes a line to standard error, without keys; results go to standard output."""
    # In one write: jobs report from several threads. Servers and files put control characters into their words.
    sys.stderr.write(f"{visible(conceal(line))}\n")
    sys.stderr.flush()


class _PlainLines(logging.Handler):
    """Prints each record as a plain line."""

    def emit(self, record: logging.LogRecord) -> None:
        say(self.format(record))


@contextmanager
def shown() -> Iterator[None]:
    """A block whose log is printed, from INFO on; jobs have a bar where standard error is a terminal."""
    with ExitStack() as stack:
        stack.enter_context(handled_by(_PlainLines()))
        if sys.stderr.isatty():
            stack.enter_context(shown_by(_bar))
        yield


@contextmanager
def _bar(label: str, total: int, rate: Rate) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class TwoLines(Bar):
        """The bar, and below it what an 80-column terminal has no room for beside it."""

        said = ""

        def get_renderables(self) -> Iterator[Any]:
            yield self.make_tasks_table(self.tasks)
            if self.said:
                yield Text(f"  {self.said}", overflow="ellipsis", no_wrap=True)

    # The spinner and the clock move by themselves: also before the first answer is there.
    columns = (
        *(SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=BAR_WIDTH)),
        *(MofNCompleteColumn(), TimeElapsedColumn()),
    )
    console = Console(stderr=True)
    room = max(console.width - BESIDE_LABEL, 8)
    shown = label if len(label) <= room else f"{label[: room - 1]}…"
    with TwoLines(*columns, console=console, refresh_per_second=1 / BAR_EVERY) as bar:
        task = bar.add_task(shown, total=total or None)

        def progress(outcome: Outcome) -> None:
            finished = outcome.done + outcome.failed
            failed = f"{outcome.failed} failed" if outcome.failed else ""
            bar.said = ", ".join(filter(None, [failed, rate.tell(finished)]))
            bar.update(task, completed=finished)

        yield progress
