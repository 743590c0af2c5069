"""What `polyculture corpus` does in order: count, score, measure. The stages are called here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.cache.errors import ExperimentError
from polyculture.cli.mining import MEGABYTE, in_megabytes
from polyculture.console import say, watch
from polyculture.running.models import LoadedModels

if TYPE_CHECKING:
    from polyculture.instruments.cbs.step import ScoringJob
    from polyculture.instruments.corpus.count import Intake
    from polyculture.instruments.corpus.step import Corpus
    from polyculture.running.steps import StepRunner

_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"


def open_named_corpus(paths: Sequence[Path], name: str | None, text_field: str) -> Corpus:
    """The files of a corpus under a name; without one, under that of the first file or folder."""
    from polyculture.collect.mining.corpus import open_corpus
    from polyculture.instruments.corpus.step import Corpus

    called = name or paths[0].resolve().name.partition(".")[0]
    if not called or set(called) - set(_NAME):
        what = f"{called!r} is no name for a corpus"
        raise ExperimentError(what, remedy="Give it one of letters, digits, '.', '_' and '-' with --name.")
    return Corpus(called, open_corpus(paths, text_field))


def score_by_corpus(runner: StepRunner, jobs: Sequence[ScoringJob], corpus: Corpus, processes: int) -> None:
    """Scores what is missing, and says what was read."""
    from polyculture.cache.worker import do_works
    from polyculture.instruments.corpus.step import CorpusStep, Counting

    run = runner.workspace.run
    total = sum(file.size for file in corpus.files)
    with watch(f"count {corpus.name}, megabytes", total // MEGABYTE) as progress:
        counting = Counting(processes, in_megabytes(progress), partial(_tell, corpus))
        step = CorpusStep(run, jobs, corpus, counting)
        with LoadedModels(runner.workspace) as loaded:
            works = list(step.works())
            outcome = do_works(run, step, works, loaded.of(step, works[0]))
    say(f"score {corpus.name}: {outcome.done} done, {outcome.reused} of them before, {outcome.failed} failed")


def _tell(corpus: Corpus, intake: Intake) -> None:
    read = f"{intake.bytes / MEGABYTE:,.1f} MB of text, {intake.tokens:,} tokens in {len(corpus.files)} files"
    say(f"Read {read}; {intake.broken} lines or rows without text")
