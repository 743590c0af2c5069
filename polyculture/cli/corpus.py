"""`polyculture corpus`: the Cultural Bias Score of a text corpus, beside those of the models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from polyculture.cli.cbs import Rule
from polyculture.cli.data_options import Contexts, Cultures, Data, English, Entities, Folder, Settings, Types
from polyculture.cli.mine import repeated
from polyculture.cli.options import ExperimentFile, Runs


class CorpusCommand(TyperCommand):
    """The command, whose `--corpus` may have several values, as a shell expands *."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, repeated(args, ("--corpus",)))


def corpus(
    experiment: ExperimentFile,
    corpus: Annotated[list[Path], typer.Option(help="Text: JSON lines, plain, Parquet; packed or not; or a folder.")],
    language: Annotated[str, typer.Option(help="The language of the corpus, as the data set has it.")],
    name: Annotated[str | None, typer.Option(help="What the corpus is called. Default: its first file.")] = None,
    text_field: Annotated[str, typer.Option(help="The field of JSON, or column of Parquet, with the text.")] = "text",
    data: Data = "camellia",
    folder: Folder = None,
    english: English = False,
    culture: Cultures = None,
    type: Types = None,
    setting: Settings = None,
    contexts: Contexts = None,
    entities: Entities = None,
    rule: Annotated[Rule, typer.Option(help="sum: whole entity; mean: per token. Both are kept.")] = Rule.SUM,
    processes: Annotated[int | None, typer.Option(min=1, help="How many processes. Default: one per core.")] = None,
    runs: Runs = None,
) -> None:
    """Compare how probable native and Western entities are in a corpus: by a 4-gram model, unsmoothed and smoothed.

    The corpus is read once, and only what the contexts and entities need is counted. In the store it stands as the
    models ngram:NAME:unsmoothed and ngram:NAME:smoothed.
    """
    from polyculture.cache.manifest import setup_id
    from polyculture.cli.data_sets import open_data_set, tell_left_out
    from polyculture.cli.mining import cores
    from polyculture.experiment.workspace import open_workspace
    from polyculture.instruments.cbs.selection import scoring_jobs
    from polyculture.instruments.corpus.step import SMOOTHINGS, model_name
    from polyculture.instruments.datasets.selection import Selection
    from polyculture.running.cbs import Likelihoods
    from polyculture.running.corpus import open_named_corpus, score_by_corpus
    from polyculture.running.validity import make_present

    workspace = open_workspace(experiment, runs)
    read = open_named_corpus(corpus, name, text_field)
    dataset = open_data_set(data, folder, english=english)
    tell_left_out(dataset, data)
    wanted = tuple(culture or ()), tuple(type or ()), tuple(setting or ())
    selection = Selection((language,), *wanted, "causal", contexts, entities)
    models = [model_name(read.name, smoothing) for smoothing in SMOOTHINGS]
    known = setup_id(read.setup)
    jobs = [job for model in models for job in scoring_jobs(dataset, model, selection, setup_id=known)]
    make_present(workspace, "score", dict.fromkeys(models, read.setup), dataset)
    likelihoods = Likelihoods(workspace=workspace)
    score_by_corpus(likelihoods, jobs, read, processes or cores())
    likelihoods.link()
    likelihoods.measure(rule)
