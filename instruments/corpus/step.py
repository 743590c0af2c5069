"""The step that scores by a corpus: the missing scores of all jobs come from one pass.

The model of a corpus is 'ngram:NAME:unsmoothed', where n-grams that the corpus lacks have probability 0. Its setup is
the corpus: with other files under the same name, all is scored again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from polyculture.cache.identity import content_id
from polyculture.cache.store.parquet import objects_to_table
from polyculture.cache.store.shards import PART_ROWS
from polyculture.cache.work.outcome import Outcome
from polyculture.cache.work.worker import Done, StoredRows, Work
from polyculture.collect.mining.corpus import CorpusFile
from polyculture.generate.engines.base import Scored, TokenBoundary, TokenScore
from polyculture.generate.engines.models import Models
from polyculture.instruments.cbs.layout import CORPUS, SCORES, Score
from polyculture.instruments.cbs.step import ScoredPair, ScoringJob, ScoringStep
from polyculture.instruments.contract import AskedExperiment
from polyculture.instruments.corpus.count import CorpusSize, count
from polyculture.instruments.corpus.model import ORDER, EntityInContext, NeededNgrams, NgramModel, needed_by, pairs_of
from polyculture.instruments.corpus.tokens import VERSION

MEGABYTE = 10**6
NOTHING = "holds no letter or sign"


@dataclass(frozen=True, slots=True)
class Corpus:
    """The files of a corpus, and its name."""

    name: str
    files: Sequence[CorpusFile]

    @property
    def identity(self) -> str:
        """A hash of the files, and of how they are counted."""
        return content_id(VERSION, ORDER, sorted(file.key for file in self.files))[:16]

    @property
    def setup(self) -> dict[str, str]:
        """The setup of its model."""
        return {"corpus": self.identity}


def model_name(corpus: str) -> str:
    """The name of the corpus in the column `model`."""
    return f"{CORPUS}{corpus}:unsmoothed"


class CorpusStep(ScoringStep):
    """Scores the pairs of all jobs in one pass over a corpus."""

    span = "all"

    def __init__(self, asked: AskedExperiment, jobs: Sequence[ScoringJob], corpus: Corpus, processes: int) -> None:
        super().__init__(jobs)
        self._told, self._corpus, self._processes = asked, corpus, processes

    def works(self) -> Iterator[Work[ScoredPair]]:
        """A work per job; no model is loaded."""
        for scoring in self.jobs:
            yield Work(scoring.job, {}, scoring.asks, scoring.size, self._corpus.name)

    def ask(
        self, work: Work[ScoredPair], items: Iterator[ScoredPair], models: Models, kept: StoredRows
    ) -> Iterator[Done]:
        """Counts the n-grams of all missing pairs, then yields their scores job by job. Raises what `count` raises."""
        missing = list(items)
        pairs = _pairs(missing)
        model, intake = self._count(needed_by(list(pairs.values())))
        files = len(self._corpus.files)
        read = f"{intake.bytes / MEGABYTE:,.1f} MB of text, {intake.tokens:,} tokens in {files} files"
        self._told.info(f"Read {read}; {intake.broken} lines or rows without text")
        version = f"{self._corpus.identity}: {ORDER}-grams of {intake.tokens:,} tokens in {files} files"
        for job, group in groupby(missing, key=lambda pair: pair.job):
            while part := list(islice(group, PART_ROWS)):
                rows = [
                    self._row(pair, pairs[pair.context.prefix, pair.entity.surface], model, version) for pair in part
                ]
                # Bypasses the journal: JSON has no infinity, the logarithm of zero.
                yield Done({SCORES.name: objects_to_table(SCORES, rows)}, job)

    def _row(self, asked: ScoredPair, pair: EntityInContext, model: NgramModel, version: str) -> Score:
        tokens = tuple(TokenScore("", value) for value in model.log_probabilities(pair).tolist())
        boundary: TokenBoundary = "merged" if pair.merged else "clean"
        error = None if len(pair.tokens) else NOTHING
        return self.score_row(asked, Scored(asked.request_id, 0, tokens, boundary, error, model_version=version))

    def _count(self, needed: NeededNgrams) -> tuple[NgramModel, CorpusSize]:
        total = sum(file.size for file in self._corpus.files)
        with self._told.watch(f"count {self._corpus.name}, megabytes", total // MEGABYTE) as progress:
            return count(
                self._corpus.files, needed, self._processes, lambda read: progress(Outcome(read // MEGABYTE, 0))
            )


def _pairs(missing: Sequence[ScoredPair]) -> dict[tuple[str, str], EntityInContext]:
    """The tokens of the missing pairs, by the prefix of the context and the entity."""
    surfaces: dict[str, dict[str, None]] = {}
    for pair in missing:
        surfaces.setdefault(pair.context.prefix, {})[pair.entity.surface] = None
    return {
        (prefix, entity): tokens
        for prefix, entities in surfaces.items()
        for entity, tokens in zip(entities, pairs_of(prefix, list(entities)), strict=True)
    }
