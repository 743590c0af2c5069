"""`polyculture cbs`: the Cultural Bias Score of an experiment's models on a data set of contexts and entities."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import polyculture.instruments.cbs
from polyculture.cli.data_options import (
    Contexts,
    Cultures,
    Data,
    English,
    Entities,
    Folder,
    Languages,
    Model,
    OptionalExperiment,
    Settings,
    Types,
    demo_experiment,
    require_experiment,
)
from polyculture.cli.options import Runs

if TYPE_CHECKING:
    from polyculture.experiment.file import Experiment
    from polyculture.instruments.cbs.camel_draws import Drawing

DEMO = Path(polyculture.instruments.cbs.__file__).with_name("demo")


class Rule(StrEnum):
    """Which likelihood is compared."""

    SUM = "sum"
    MEAN = "mean"


class Help(StrEnum):
    """What may stand before a context to help the model."""

    TOKEN = "token"  # noqa: S105, a word before a text
    DEMONSTRATIONS = "demonstrations"


class Form(StrEnum):
    """Which form of the contexts is asked."""

    CAUSAL = "causal"
    MASKED = "masked"


def cbs(
    context: typer.Context,
    experiment: OptionalExperiment = None,
    data: Data = "camellia",
    folder: Folder = None,
    english: English = False,
    model: Model = None,
    language: Languages = None,
    culture: Cultures = None,
    type: Types = None,
    setting: Settings = None,
    form: Annotated[Form, typer.Option(help="causal: for models that read what is before the gap.")] = Form.CAUSAL,
    contexts: Contexts = None,
    entities: Entities = None,
    draws: Annotated[
        int | None,
        typer.Option(
            min=1, help="Draw --entities (50) of each culture so many times, as CAMeL does; score only those."
        ),
    ] = None,
    help_with: Annotated[
        list[Help] | None,
        typer.Option(help="Score with this before each context, too: the culture's name, filled-in contexts."),
    ] = None,
    demonstrations: Annotated[int, typer.Option(min=1, help="How many of them.")] = 5,
    phrasings: Annotated[
        bool, typer.Option("--phrasings", help="Ask the contexts that come in two phrasings, and only those.")
    ] = False,
    rule: Annotated[Rule, typer.Option(help="sum: whole entity; mean: per token. Both are kept.")] = Rule.SUM,
    demo: Annotated[
        bool, typer.Option("--demo", help="The embedded model, contexts of our own; in cbs-demo/.")
    ] = False,
    runs: Runs = None,
) -> None:
    """Compare how probable native and Western entities are in the same contexts.

    What is scored already stays; a run over a few contexts is topped up by one over all.
    With --help-with and --phrasings the table has the paired differences. CAMeL's protocol: --draws 5 --entities 50.
    """
    from polyculture.cache.manifest import setup_id
    from polyculture.cli.data_sets import open_data_set, tell_left_out
    from polyculture.experiment.workspace import choose_models, open_workspace
    from polyculture.instruments.cbs.context_prompts import Help as Kind
    from polyculture.instruments.cbs.context_prompts import Helping
    from polyculture.instruments.cbs.selection import helped_contexts, scoring_jobs
    from polyculture.instruments.datasets.phrasings import with_phrasings
    from polyculture.instruments.datasets.selection import Selection
    from polyculture.running.cbs import Likelihoods
    from polyculture.running.validity import make_present, setups_of

    if demo:
        experiment, data, folder = demo_experiment(DEMO / "cbs_demo.toml", Path("cbs-demo"), context), "own", DEMO
    workspace = open_workspace(require_experiment(experiment), runs)
    dataset = with_phrasings(open_data_set(data, folder, english=english))
    languages, cultures, types, settings = (tuple(chosen or ()) for chosen in (language, culture, type, setting))
    drawing = _drawing(workspace.experiment, draws, entities)
    selection = Selection(languages, cultures, types, settings, form, contexts, entities, phrasings)
    helping = Helping(tuple(Kind(kind) for kind in help_with or ()), demonstrations)
    tell_left_out(dataset, data)
    setups = setups_of(workspace, choose_models(workspace, model), "score")
    jobs = [
        job
        for name, setup in setups.items()
        for job in scoring_jobs(dataset, name, selection, helping, setup_id(setup), drawing)
    ]
    make_present(workspace, "score", setups, dataset, helped_contexts(dataset, jobs, helping))
    likelihoods = Likelihoods(workspace=workspace)
    likelihoods.score(jobs)
    likelihoods.link()
    likelihoods.measure(rule, drawing)
    likelihoods.finish("the view scores")


def _drawing(experiment: Experiment, draws: int | None, entities: int | None) -> Drawing | None:
    """The draws that the command line or the experiment asks for; None: all entities, or the first so many."""
    from polyculture.instruments.cbs.camel_draws import ENTITIES, Drawing

    often = draws or experiment.cbs.draws
    if often is None:
        return None
    return Drawing(often, entities or experiment.cbs.entities or ENTITIES, experiment.sampling.seed)
