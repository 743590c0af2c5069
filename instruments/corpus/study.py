"""The work of `polyculture corpus`: what it counts and scores, and what it shows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from polyculture.cache.database import cores
from polyculture.cache.errors import ExperimentError
from polyculture.collect.mining.corpus import open_corpus
from polyculture.instruments.cbs.step import ScoringJob, asked_tables, scoring_jobs
from polyculture.instruments.cbs.study import measure, shown
from polyculture.instruments.contract import AskedExperiment, PrintedTable
from polyculture.instruments.corpus.options import CorpusOptions
from polyculture.instruments.corpus.step import Corpus, CorpusStep, model_name
from polyculture.instruments.datasets.opened import changed_reason
from polyculture.instruments.declared import Inquiry

_PAIRS = Path(__file__).with_name("corpus_outcomes.sql")
_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"


def inquiry(asked: AskedExperiment, options: CorpusOptions) -> Inquiry[ScoringJob]:
    """Counts, scores, links, measures. Raises `DataSetError` without anything to query."""
    source = _open(options)
    dataset = options.opened(asked.warning, causal=True)
    selection = replace(options.selection("causal"), languages=(options.language,))
    model = model_name(source.name)
    chosen = scoring_jobs(dataset, "", selection, tell=asked.warning)
    return Inquiry(
        [job.of_model(model, source.setup) for job in chosen],
        lambda jobs: [CorpusStep(asked, jobs, source, options.processes or cores())],
        requests=partial(asked_tables, asked.run, dataset),
        derive=partial(measure, asked),
        shown=(*shown(options.rule, [model]), PrintedTable(_PAIRS, {"rule": options.rule, "model": model})),
        reason=changed_reason(dataset),
    )


def _open(options: CorpusOptions) -> Corpus:
    """The files of a corpus under a name; without one, under that of the first file."""
    name = options.name or options.corpus[0].resolve().name.partition(".")[0]
    if not name or set(name) - set(_NAME):
        what = f"{name!r} is not a valid name for a corpus"
        raise ExperimentError(what, remedy="Give it one of letters, digits, '.', '_' and '-' with --name.")
    return Corpus(name, open_corpus(options.corpus, options.text_field))
