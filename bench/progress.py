"""What it costs to say how far a job is: the share of a job's time that goes into progress, on a terminal and without.

    python -m bench.progress [--answers 20000]

A job of 20,000 answers, taken as fast as the store writes them: far faster than any model answers, so that the share is
the largest that can be. The peer is the same job with nobody watching.
"""

from __future__ import annotations

import argparse
import os
import pty
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from polyculture.cache.catalog import read_catalog
from polyculture.cache.outcome import Outcome, Progress
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.console import watch
from polyculture.generate.engines import Completion, ModelSpec, Request
from polyculture.generate.prompts import build_prompts
from polyculture.generate.sampling import SamplingSettings
from tests.extract_engines import ScriptedEngine
from tests.steps import generate_job

SMALLEST = ("--answers", "200")
CATALOG = read_catalog()
PROMPTS = build_prompts(CATALOG, ["en"], ["food"], ["JP"], ("neutral",))


class Watched:
    """A progress that notes what it takes."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.seconds, self.calls = progress, 0.0, 0

    def __call__(self, outcome: Outcome) -> None:
        started = time.thread_time()
        self.progress(outcome)
        self.seconds += time.thread_time() - started
        self.calls += 1


class AtOnce(ScriptedEngine):
    """Answers as fast as it is asked."""

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        for request in requests:
            for seed in request.seeds:
                yield self._complete(replace(request, seeds=(seed,)))


def run_job(progress: Progress, answers: int) -> float:
    """Seconds of this process's CPU, all threads, for the whole job."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        engine = AtOnce(lambda _text, seed: f"She loves ramen. ({seed})")
        generate_job(
            RunFolder(Path(folder) / "runs" / "x"),
            Job("stub:model", "en", "food"),
            PROMPTS,
            ModelSpec("stub:model"),
            SamplingSettings(n=answers),
            progress,
            engine,
            catalog=CATALOG,
        )
        return time.process_time() - started


@contextmanager
def terminal() -> Iterator[None]:
    """Standard error is a terminal that somebody reads."""
    ours, theirs = pty.openpty()
    reader = threading.Thread(target=_drain, args=(ours,), daemon=True)
    reader.start()
    before = sys.stderr
    with os.fdopen(theirs, "w") as sys.stderr:
        yield
    sys.stderr = before


def _drain(descriptor: int) -> None:
    while True:
        try:
            if not os.read(descriptor, 65536):
                return
        except OSError:
            return


def main() -> None:
    """Prints the share of progress in a job's CPU time, and the ratio to a job that nobody watches."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=20_000, help="(default: 20,000)")
    answers = parser.parse_args().answers
    run_job(lambda _: None, answers)  # the language detector loads its models
    silent = run_job(lambda _: None, answers)
    with watch("generate", answers) as progress:
        plain = Watched(progress)
        plain_total = run_job(plain, answers)
    with terminal(), watch("generate", answers) as progress:
        bar = Watched(progress)
        bar_total = run_job(bar, answers)
    print(f"{answers} answers, nobody watching: {silent:.2f} s of CPU")
    for name, watched, total in (("plain lines", plain, plain_total), ("terminal", bar, bar_total)):
        share = watched.seconds / total
        print(f"{name}: {total:.2f} s, ratio {total / silent:.3f}; {watched.calls} reports, {share:.3%} in them")


if __name__ == "__main__":
    main()
