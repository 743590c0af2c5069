"""Mixtures of corpora that are counted already: their scores follow from stored counts, and no text is read.

Unsmoothed, the n-grams of corpus i count with the weight w_i / N_i, where N_i is its number of tokens: the mixture is
the text in which w_i is the corpus' share of the tokens. Without weights all count as they are, as in one text of all
of them. Smoothed, the token's probabilities are interpolated with the same shares, since how many different tokens
follow a history in the mixture cannot be known from counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

from polyculture.cache.core import CORE
from polyculture.cache.errors import ExperimentError, StoreError, did_you_mean
from polyculture.cache.identity import content_id
from polyculture.cache.layout import Table, compose
from polyculture.cache.parquet import objects_to_table
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.shards import PART_ROWS
from polyculture.cache.sql_files import read_sql
from polyculture.cache.store import open_store
from polyculture.cache.worker import Done, Kept, Load, Span, Work
from polyculture.generate.engines.base import Scored, TokenScore
from polyculture.generate.engines.models import Models
from polyculture.instruments.cbs.rows import SCORES, Score
from polyculture.instruments.cbs.step import ScoredPair, ScoringJob, score_row
from polyculture.instruments.corpus.layout import CORPUS
from polyculture.instruments.corpus.step import PREFIX, SMOOTHINGS, model_name

_OWN = Path(__file__).parent
_KNOWN = "SELECT model, setup_id FROM scoring_models WHERE starts_with(model, 'ngram:') AND ends_with(model, $ending)"
_SIZES = "SELECT model, any_value(corpus_tokens) FROM ngram_counts GROUP BY model"
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """A corpus of a mixture: its name, its setup, and its share of the tokens; None: as it is."""

    name: str
    setup_id: str | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Mixture:
    """A mixture of counted corpora under a name of its own."""

    name: str
    parts: tuple[Part, ...]

    @property
    def setup(self) -> dict[str, str]:
        """The setup of its models: the corpora, and their shares."""
        parts = sorted([part.name, part.setup_id or "", part.share or 0.0] for part in self.parts)
        return {"corpus": content_id("mixture", parts)[:16]}


def read_mixture(name: str, named: Sequence[str], run: RunFolder) -> Mixture:
    """A mixture from 'NAME=SHARE' or 'NAME' of corpora that the run has counted; shares are made to add up to 1.

    Raises `ExperimentError` for shares that cannot be read, and for a corpus that was not counted.
    """
    shares = dict(_read_share(text) for text in named)
    if len(shares) < len(named):
        raise ExperimentError("a corpus is named twice in --mix", remedy="Name each once.")
    given = [share for share in shares.values() if share is not None]
    if given and len(given) < len(shares):
        raise ExperimentError("some corpora of --mix have a share, others none", remedy="Give one to all, or to none.")
    known = _known(run)
    for corpus in shares:
        if corpus not in known:
            remedy = did_you_mean(corpus, known) if known else "Count it: polyculture corpus exp.toml --corpus FILE"
            raise ExperimentError(f"no corpus {corpus!r} is counted in this run", remedy=remedy)
    whole = math.fsum(given)
    parts = (Part(corpus, known[corpus], share / whole if share else None) for corpus, share in shares.items())
    return Mixture(name, tuple(parts))


class MixtureStep:
    """Scores the pairs of all jobs by a mixture of corpora that have scored them."""

    name = "score"
    tables: tuple[Table[Any], ...] = (SCORES,)
    span: Span = "all"

    def __init__(self, run: RunFolder, jobs: Sequence[ScoringJob], mixture: Mixture) -> None:
        self._run, self._jobs, self._mixture = run, jobs, mixture

    def works(self) -> Iterator[Work[ScoredPair]]:
        """A work per job; no model is loaded, and no text is read."""
        for scoring in self._jobs:
            yield Work(scoring.job, {}, partial(ScoringJob.pairs, scoring), scoring.size, self._mixture.name)

    def keys(self, item: ScoredPair) -> tuple[str, ...]:
        return (item.score_id,)

    def adopt(self, run: RunFolder, work: Work[ScoredPair], missing: Sequence[ScoredPair]) -> None:
        """Nothing: scores are not shared between runs."""

    def ask(self, work: Work[ScoredPair], items: Iterator[ScoredPair], models: Models, kept: Kept) -> Iterator[Done]:
        """The scores of missing pairs, job by job. Raises `StoreError` where a corpus has not scored one of them."""
        for job, group in groupby(items, key=lambda pair: pair.job):
            pairs = list(group)
            unsmoothed = job.model.endswith(SMOOTHINGS[0])
            found, sizes = self._read(pairs[0], SMOOTHINGS[0] if unsmoothed else SMOOTHINGS[1])
            weights = self._weights(sizes, counts=unsmoothed)
            rows = (self._row(pair, found, weights, counts=unsmoothed) for pair in pairs)
            while part := list(islice(rows, PART_ROWS)):
                yield Done({SCORES.name: objects_to_table(SCORES, part)}, job)

    def load(self, item: ScoredPair) -> Load | None:
        """Queries no model."""
        return None

    def _read(self, pair: ScoredPair, smoothing: str) -> tuple[dict[tuple[str, str], dict[str, Row]], dict[str, int]]:
        """The rows of each pair of a job by corpus, and the tokens of each corpus."""
        context = pair.context
        wanted = {
            "models": [model_name(part.name, smoothing) for part in self._mixture.parts],
            "dataset": context.dataset,
            "language": context.language,
            "culture": context.culture,
            "entity_type": context.entity_type,
        }
        with open_store(self._run, compose(CORE, CORPUS)) as store:
            rows = store.sql(read_sql(_OWN, "mixed"), params=wanted).to_arrow_table().to_pylist()
            sizes = {_corpus(model): int(size) for model, size in store.sql(_SIZES).fetchall()}
        found: dict[tuple[str, str], dict[str, Row]] = {}
        for row in rows:
            found.setdefault((row["context_id"], row["entity_id"]), {})[_corpus(row["model"])] = row
        return found, sizes

    def _weights(self, sizes: Mapping[str, int], *, counts: bool) -> dict[str, float]:
        """What the counts, or the probabilities, of each corpus are multiplied with."""
        for part in self._mixture.parts:
            if part.name not in sizes:
                raise self._without_counts(part.name)
        whole = sum(sizes[part.name] for part in self._mixture.parts)
        shares = {p.name: sizes[p.name] / whole if p.share is None else p.share for p in self._mixture.parts}
        return {name: share / sizes[name] if counts else share for name, share in shares.items()}

    def _without_counts(self, name: str) -> StoreError:
        what = f"no counts are kept of {name!r}, which is a mixture"
        return StoreError(what, where=self._run.root, remedy="Count its files again under another --name.")

    def _row(
        self,
        pair: ScoredPair,
        found: Mapping[tuple[str, str], Mapping[str, Row]],
        weights: Mapping[str, float],
        *,
        counts: bool,
    ) -> Score:
        rows = found.get((pair.context.context_id, pair.entity.entity_id), {})
        for name in weights:
            if name not in rows:
                what = f"corpus {name!r} has no score of {pair.entity.surface!r} in a context that is asked for"
                remedy = "Score it with the same --data, --contexts and --entities first."
                raise StoreError(what, where=self._run.root, remedy=remedy)
            if counts and rows[name]["error"] is None and rows[name]["counts"] is None:
                raise self._without_counts(name)
        one = next(iter(rows.values()))
        tokens: tuple[TokenScore, ...] = ()
        if one["error"] is None:
            tokens = tuple(TokenScore("", value) for value in _mixed(rows, weights, counts=counts).tolist())
        shares = ", ".join(f"{p.name}={'as it is' if p.share is None else p.share}" for p in self._mixture.parts)
        scored = Scored(
            pair.context.context_id, 0, tokens, one["token_boundary"], one["error"], model_version=f"mixture: {shares}"
        )
        return score_row(pair, scored)


def _mixed(rows: Mapping[str, Row], weights: Mapping[str, float], *, counts: bool) -> Any:
    """The log-probability of each token: of weighted counts, or of weighted probabilities."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if not counts:
            each = [weight * np.exp(rows[name]["token_log_probabilities"]) for name, weight in weights.items()]
            return np.log(np.sum(each, axis=0))
        found, followed = (
            np.sum([weight * np.asarray(rows[name][column]) for name, weight in weights.items()], axis=0)
            for column in ("counts", "followed")
        )
        return np.log(np.where(followed > 0, found / followed, 0.0))


def _read_share(text: str) -> tuple[str, float | None]:
    name, _, share = text.partition("=")
    if not share and "=" not in text:
        return name, None
    try:
        value = float(share)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise ExperimentError(f"{text!r} has no share above 0", remedy="Write NAME=SHARE, for example wikipedia=0.7.")
    return name, value


def _known(run: RunFolder) -> dict[str, str | None]:
    """The corpora that a run has counted, with their setups."""
    try:
        with open_store(run, compose(CORE, CORPUS)) as store:
            return {
                _corpus(model): setup for model, setup in store.execute(_KNOWN, {"ending": SMOOTHINGS[0]}).fetchall()
            }
    except StoreError:
        return {}


def _corpus(model: str) -> str:
    return model.removeprefix(PREFIX).rpartition(":")[0]
