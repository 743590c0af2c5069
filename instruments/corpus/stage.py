"""The stage that scores by a corpus: what is missing of the jobs is counted in one pass, and put beside the models'.

A corpus has two models: 'ngram:NAME:unsmoothed', in which what the corpus does not hold has no probability at all, and
'ngram:NAME:smoothed'. Their setup is the corpus: with other files under the same name, scores are made anew.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from polyculture.cache.files import store_faults
from polyculture.cache.identity import content_id
from polyculture.cache.outcome import Outcome
from polyculture.cache.parquet import rows_to_table
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.shards import PART_ROWS, JobShards
from polyculture.collect.mining.corpus import CorpusFile
from polyculture.generate.engines.base import Scored, Seam, TokenScore
from polyculture.instruments.cbs.rows import SCORES
from polyculture.instruments.cbs.stage import KEY, TABLE, ScoringJob, score_id, score_row
from polyculture.instruments.corpus.count import BytesRead, Intake, count
from polyculture.instruments.corpus.gaps import ORDER, Pair, needed_by, pairs_of
from polyculture.instruments.corpus.model import NgramModel
from polyculture.instruments.corpus.tokens import VERSION
from polyculture.instruments.datasets.model import CulturalEntity, MaskedContext

PREFIX = "ngram:"
SMOOTHINGS = ("unsmoothed", "smoothed")
NOTHING = "holds no letter or sign"
Asked = tuple[ScoringJob, MaskedContext, CulturalEntity]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The files of a corpus, and what it is called."""

    name: str
    files: Sequence[CorpusFile]

    @property
    def identity(self) -> str:
        """A hash of the files, and of how they are counted."""
        return content_id(VERSION, ORDER, sorted(file.key for file in self.files))[:16]

    @property
    def setup(self) -> dict[str, str]:
        """What its models are known by."""
        return {"corpus": self.identity}


def model_name(corpus: str, smoothing: str) -> str:
    """What the corpus is called in the column `model`."""
    return f"{PREFIX}{corpus}:{smoothing}"


def score_corpus(
    run: RunFolder,
    jobs: Sequence[ScoringJob],
    corpus: Corpus,
    processes: int = 1,
    progress: BytesRead = lambda _read: None,
) -> tuple[Outcome, Intake | None]:
    """Scores what is missing of the jobs; None instead of an intake where that is nothing, and the corpus is not read.

    A job's model is one of the corpus' two. Raises `JobHeldError`, and what `count` raises.
    """
    missing = [(job, asked) for job in jobs if (asked := _missing(run, job))]
    size, left = sum(job.size for job in jobs), sum(len(asked) for _, asked in missing)
    if not missing:
        return Outcome(size, 0, size), None
    pairs = _pairs(asked for _, asked in missing)
    needed = needed_by(list(pairs.values()))
    with store_faults(run.root), tempfile.TemporaryDirectory(prefix=".ngrams-", dir=run.root) as folder:
        model, intake = count(corpus.files, needed, Path(folder), processes, progress)
    version = f"{corpus.identity}: {ORDER}-grams of {intake.tokens:,} tokens in {len(corpus.files)} files"
    failed = sum(_write(run, job, asked, pairs, model, version) for job, asked in missing)
    return Outcome(size - failed, failed, size - left), intake


def _missing(run: RunFolder, job: ScoringJob) -> list[Asked]:
    """What of a job is not in the store."""
    with JobShards(run, job.job, [SCORES]) as shards:
        known = set(shards.read(TABLE, [KEY])[KEY].to_pylist())
    every = ((job, context, entity) for context, entities in job.asked for entity in entities)
    return [asked for asked in every if score_id(*asked) not in known]


def _pairs(missing: Iterator[Sequence[Asked]]) -> dict[tuple[str, str], Pair]:
    """The tokens of what is missing, by the prefix of the context and the entity: both models share them."""
    surfaces: dict[str, dict[str, None]] = {}
    for _, context, entity in chain.from_iterable(missing):
        surfaces.setdefault(context.prefix, {})[entity.surface] = None
    return {
        (prefix, entity): pair
        for prefix, entities in surfaces.items()
        for entity, pair in zip(entities, pairs_of(prefix, list(entities)), strict=True)
    }


def _write(
    run: RunFolder,
    job: ScoringJob,
    missing: Sequence[Asked],
    pairs: dict[tuple[str, str], Pair],
    model: NgramModel,
    version: str,
) -> int:
    """Writes the scores of a job, and says how many are failures."""
    likelihood = model.unsmoothed if job.job.model.endswith(SMOOTHINGS[0]) else model.witten_bell
    failed = 0
    rest = iter(missing)
    with JobShards(run, job.job, [SCORES]) as shards:
        while part := list(islice(rest, PART_ROWS)):
            rows = []
            for asked in part:
                pair = pairs[asked[1].prefix, asked[2].surface]
                error = None if len(pair.tokens) else NOTHING
                failed += error is not None
                tokens = tuple(TokenScore("", value) for value in likelihood(pair).tolist())
                seam: Seam = "merged" if pair.merged else "clean"
                scored = Scored(asked[1].context_id, 0, tokens, seam, error, model_version=version)
                rows.append(score_row(*asked, scored))
            # Past the journal, which is JSON and knows no infinity: the logarithm of zero.
            shards.append_part({TABLE: rows_to_table(SCORES, rows)})
    return failed
