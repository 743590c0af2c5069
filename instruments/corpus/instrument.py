"""The Cultural Bias Score of a text corpus as an instrument: `polyculture corpus`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from polyculture.cache.errors import ExperimentError
from polyculture.instruments.cbs.instrument import RULE, measure, shown
from polyculture.instruments.cbs.layout import SCORES
from polyculture.instruments.contract import AskedExperiment, AtLeastOne, Command, Shown
from polyculture.instruments.datasets.opened import DatasetOptions, changed_reason
from polyculture.instruments.declared import Inquiry, Instrument

if TYPE_CHECKING:
    from polyculture.instruments.cbs.step import ScoringJob
    from polyculture.instruments.corpus.step import Corpus

_PAIRS = Path(__file__).with_name("corpus_outcomes.sql")
_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"


class CorpusOptions(DatasetOptions):
    """Compare how probable native and Western entities are in a corpus: by a 4-gram model without smoothing.

    The corpus is read once, and only what the contexts and entities need is counted. In the store its model is called
    ngram:NAME:unsmoothed.
    """

    corpus: Annotated[
        tuple[Path, ...],
        Field(
            description="Text: JSON lines, plain or Parquet, compressed or not; or a folder.",
            json_schema_extra={"many_values": True},
        ),
    ]
    language: Annotated[  # type: ignore[assignment]  # one language, as a corpus has
        str, Field(description="The language of the corpus, as the data set has it.")
    ]
    name: Annotated[str | None, Field(description="The name of the corpus. Default: that of its first file.")] = None
    text_field: Annotated[str, Field(description="The field of JSON, or column of Parquet, with the text.")] = "text"
    rule: Annotated[Literal["sum", "mean", "probability"], Field(description=RULE)] = "sum"
    processes: Annotated[AtLeastOne | None, Field(description="The number of processes. Default: one per core.")] = None


def ask(asked: AskedExperiment, options: CorpusOptions) -> Inquiry[ScoringJob]:
    """Counts, scores, links, measures. Raises `DataSetError` without anything to query."""
    from polyculture.cache.database import cores
    from polyculture.instruments.cbs.step import asked_tables, scoring_jobs
    from polyculture.instruments.corpus.step import CorpusStep, model_name

    source = _open(options)
    dataset = options.opened(asked.warning, causal=True)
    selection = replace(options.selection("causal"), languages=(options.language,))
    model = model_name(source.name)
    chosen = scoring_jobs(dataset, "", selection, tell=asked.warning)
    return Inquiry(
        lambda _model: chosen,
        lambda jobs: CorpusStep(asked, jobs, source, options.processes or cores()),
        requests=partial(asked_tables, asked.run, dataset),
        setups={model: source.setup},
        derive=partial(measure, asked),
        shown=(*shown(options.rule, [model]), Shown(_PAIRS, {"rule": options.rule, "model": model})),
        reason=changed_reason(dataset),
    )


def _open(options: CorpusOptions) -> Corpus:
    """The files of a corpus under a name; without one, under that of the first file."""
    from polyculture.collect.mining.corpus import open_corpus
    from polyculture.instruments.corpus.step import Corpus

    name = options.name or options.corpus[0].resolve().name.partition(".")[0]
    if not name or set(name) - set(_NAME):
        what = f"{name!r} is not a valid name for a corpus"
        raise ExperimentError(what, remedy="Give it one of letters, digits, '.', '_' and '-' with --name.")
    return Corpus(name, open_corpus(options.corpus, options.text_field))


CORPUS = Instrument(
    SCORES,
    CorpusOptions,
    ask,
    "polyculture corpus exp.toml --corpus wiki/*.jsonl.gz --name wikipedia --language ja --type food",
    brings=lambda _options: True,
)
COMMANDS: Mapping[str, Command] = {"corpus": CORPUS.command}
