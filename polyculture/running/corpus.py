"""What `polyculture corpus` does in order: count, score, measure. The stages are called here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.cache.errors import ExperimentError
from polyculture.cli.mining import MEGABYTE, in_megabytes
from polyculture.console import say, watch

if TYPE_CHECKING:
    from polyculture.cache.outcome import Outcome
    from polyculture.experiment.workspace import Workspace
    from polyculture.instruments.cbs.stage import ScoringJob
    from polyculture.instruments.corpus.count import Intake
    from polyculture.instruments.corpus.stage import Corpus

_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"


def open_named_corpus(paths: Sequence[Path], name: str | None, text_field: str) -> Corpus:
    """The files of a corpus under a name; without one, under that of the first file or folder."""
    from polyculture.collect.mining.corpus import open_corpus
    from polyculture.instruments.corpus.stage import Corpus

    called = name or paths[0].resolve().name.partition(".")[0]
    if not called or set(called) - set(_NAME):
        what = f"{called!r} is no name for a corpus"
        raise ExperimentError(what, remedy="Give it one of letters, digits, '.', '_' and '-' with --name.")
    return Corpus(called, open_corpus(paths, text_field))


def score_by_corpus(workspace: Workspace, jobs: Sequence[ScoringJob], corpus: Corpus, processes: int) -> None:
    """Scores what is missing, and says what was read."""
    from polyculture.instruments.corpus.stage import score_corpus

    total = sum(file.size for file in corpus.files)
    with watch(f"count {corpus.name}, megabytes", total // MEGABYTE) as progress:
        outcome, intake = score_corpus(workspace.run, jobs, corpus, processes, in_megabytes(progress))
    _tell(corpus, outcome, intake)


def _tell(corpus: Corpus, outcome: Outcome, intake: Intake | None) -> None:
    if intake is not None:
        read = f"{intake.bytes / MEGABYTE:,.1f} MB of text, {intake.tokens:,} tokens in {len(corpus.files)} files"
        say(f"Read {read}; {intake.broken} lines or rows without text")
    say(f"score {corpus.name}: {outcome.done} done, {outcome.reused} of them before, {outcome.failed} failed")
