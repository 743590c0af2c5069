"""`polyculture cbs`: the Cultural Bias Score of an experiment's models on a data set of contexts and entities."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from polyculture.options import Runs

DEMO = Path(__file__).parent.parent / "data" / "cbs_demo"


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
    experiment: Annotated[
        Path | None, typer.Argument(metavar="EXPERIMENT", help="The experiment file; its models score.")
    ] = None,
    data: Annotated[str, typer.Option(help="camellia, camel, camel2, own, or a rules file.")] = "camellia",
    folder: Annotated[Path | None, typer.Option(help="Where the data set lies, if it was not fetched.")] = None,
    english: Annotated[bool, typer.Option("--english", help="The publisher's English translation.")] = False,
    model: Annotated[str | None, typer.Option(help="Only this model of the experiment.")] = None,
    language: Annotated[list[str] | None, typer.Option(help="Only these languages.")] = None,
    culture: Annotated[list[str] | None, typer.Option(help="Only these native cultures.")] = None,
    type: Annotated[list[str] | None, typer.Option(help="Only these types of entities.")] = None,
    setting: Annotated[list[str] | None, typer.Option(help="Only these settings. Default: all but qa.")] = None,
    form: Annotated[Form, typer.Option(help="causal: for models that read what is before the gap.")] = Form.CAUSAL,
    contexts: Annotated[int | None, typer.Option(min=1, help="At most so many of each type and setting.")] = None,
    entities: Annotated[int | None, typer.Option(min=1, help="At most so many of each culture and type.")] = None,
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
    With --help-with and --phrasings the table has the paired differences.
    """
    from metrics.datasets.phrasings import with_phrasings
    from metrics.datasets.selection import Selection
    from metrics.likelihood.helping import Help as Kind
    from metrics.likelihood.helping import Helping
    from metrics.likelihood.selection import scoring_jobs
    from polyculture.data_sets import open_data_set, tell_left_out
    from polyculture.likelihood import Likelihoods
    from polyculture.workspace import choose_models, open_workspace

    if demo:
        experiment, data, folder = _demo_experiment(Path("cbs-demo")), "own", DEMO
    if experiment is None:
        raise typer.BadParameter("name an experiment file, or try --demo")
    workspace = open_workspace(experiment, runs)
    dataset = with_phrasings(open_data_set(data, folder, english=english))
    languages, cultures, types, settings = (tuple(chosen or ()) for chosen in (language, culture, type, setting))
    selection = Selection(languages, cultures, types, settings, form, contexts, entities, phrasings)
    helping = Helping(tuple(Kind(kind) for kind in help_with or ()), demonstrations)
    tell_left_out(dataset, data)
    models = choose_models(workspace, model)
    jobs = [job for name in models for job in scoring_jobs(dataset, name, selection, helping)]
    likelihoods = Likelihoods(workspace)
    likelihoods.prepare()
    likelihoods.score(jobs)
    likelihoods.link()
    likelihoods.measure(rule)
    likelihoods.finish()


def _demo_experiment(folder: Path) -> Path:
    """The demo's experiment file, written into `folder`."""
    import shutil

    from cache.files import store_faults

    file = folder / "cbs_demo.toml"
    with store_faults(file):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(DEMO / file.name, file)
    return file
