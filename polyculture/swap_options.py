"""Options that `polyculture sentiment`, `qa` and `ner` share, and what they make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from metrics.datasets.model import DataSet
    from metrics.swaps.asking import Asker, Questions
    from metrics.swaps.labelled import Labels
    from metrics.swaps.selection import SwapJob
    from polyculture.workspace import Workspace

DEMO = Path(__file__).parent / "data" / "swaps_demo"
DEMO_ENTITIES, DEMO_DRAWS = 3, 2  # at most: minutes on two cores

OptionalExperiment = Annotated[
    Path | None, typer.Argument(metavar="EXPERIMENT", help="The experiment file; its models answer.")
]
Data = Annotated[str, typer.Option(help="camellia, camel, camel2, own, or a rules file.")]
Folder = Annotated[Path | None, typer.Option(help="Where the data set lies, if it was not fetched.")]
English = Annotated[bool, typer.Option("--english", help="The publisher's English translation.")]
Model = Annotated[str | None, typer.Option(help="Only this model of the experiment.")]
Languages = Annotated[list[str] | None, typer.Option("--language", help="Only these languages.")]
Cultures = Annotated[list[str] | None, typer.Option("--culture", help="Only these native cultures.")]
Types = Annotated[list[str] | None, typer.Option("--type", help="Only these types of entities.")]
Settings = Annotated[list[str] | None, typer.Option("--setting", help="Only these settings of the contexts.")]
Contexts = Annotated[int | None, typer.Option(min=1, help="At most so many of each type and setting.")]
Entities = Annotated[int, typer.Option(min=1, help="Drawn for each context and culture; fewer where there are fewer.")]
Draws = Annotated[int, typer.Option(min=1, help="How often they are drawn.")]
Temperature = Annotated[float, typer.Option(min=0, help="0: the likeliest answer, asked once for all draws.")]
Ask = Annotated[str | None, typer.Option(help="Ask in this language. Default: that of the text.")]
PromptFolder = Annotated[Path | None, typer.Option("--prompts", help="A folder with prompts of your own: ja.toml, ...")]
LabelFile = Annotated[Path | None, typer.Option("--labels", help="What the model's labels mean: a TOML file of yours.")]
Demo = Annotated[bool, typer.Option("--demo", help="The embedded model, texts of our own; in swaps-demo/.")]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command line asks."""

    task: str
    data: str
    folder: Path | None
    english: bool
    model: str | None
    languages: Sequence[str]
    cultures: Sequence[str]
    types: Sequence[str]
    settings: Sequence[str]
    contexts: int | None
    entities: int
    draws: int
    temperature: float = 0.0
    ask: str | None = None
    prompts: Path | None = None


def run_prompted(experiment: Path | None, runs: Path | None, asked: Asked) -> None:
    """Asks the experiment's models by prompts, measures and prints."""
    from metrics.swaps.asking import PROMPT
    from polyculture.swaps import Swaps
    from polyculture.workspace import choose_models, open_workspace

    workspace = open_workspace(require_experiment(experiment), runs)
    dataset = _open(asked)
    models = choose_models(workspace, asked.model)
    jobs = [job for name in models for job in jobs_of(workspace, dataset, name, asked)]
    questions = {language: _questions(workspace, language, asked) for language in {job.job.language for job in jobs}}
    swaps = Swaps(workspace, asked.task)
    swaps.prepare({language: each.prompt_id for language, each in questions.items()}, PROMPT)
    swaps.ask(jobs, questions)
    swaps.measure()
    swaps.finish()


def run_labelled(experiment: Path | None, runs: Path | None, asked: Asked, name: str, labels_file: Path | None) -> None:
    """Lets a classifier (sentiment) or tagger (ner) of transformers answer, measures and prints."""
    from functools import partial

    from metrics.swaps.labelled import CLASSIFIER, TAGGER, labels_id, read_labels
    from polyculture.swaps import Swaps
    from polyculture.workspace import open_workspace

    workspace = open_workspace(require_experiment(experiment), runs)
    labels, model = read_labels(labels_file), f"transformers:{name}"
    jobs = jobs_of(workspace, _open(asked), model, asked)
    if asked.task == "ner":
        jobs = _with_labels(jobs, labels)
    instrument = TAGGER if asked.task == "ner" else CLASSIFIER
    prompt_id = labels_id(instrument, labels)
    swaps = Swaps(workspace, asked.task)
    swaps.prepare({job.job.language: prompt_id for job in jobs}, instrument)
    swaps.label(jobs, prompt_id, partial(_open_labeller, workspace, model, labels, instrument))
    swaps.measure()
    swaps.finish()


def require_experiment(experiment: Path | None) -> Path:
    """The experiment file; a mistake of usage where none is named."""
    if experiment is None:
        raise typer.BadParameter("name an experiment file, or try --demo")
    return experiment


def jobs_of(workspace: Workspace, dataset: DataSet, model: str, asked: Asked) -> list[SwapJob]:
    """The jobs of one model."""
    from metrics.datasets.selection import Selection
    from metrics.swaps.selection import Draws as Drawing
    from metrics.swaps.selection import swap_jobs

    chosen = Selection(
        tuple(asked.languages), tuple(asked.cultures), tuple(asked.types), tuple(asked.settings),
        contexts=asked.contexts,
    )  # fmt: skip
    drawing = Drawing(asked.entities, asked.draws, workspace.experiment.sampling.seed)
    return swap_jobs(dataset, asked.task, model, chosen, drawing)


def demo_experiment(folder: Path) -> Path:
    """The demo's experiment file, written into `folder`."""
    import shutil

    from cache.files import store_faults

    file = folder / "swaps_demo.toml"
    with store_faults(file):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(DEMO / file.name, file)
    return file


def _open(asked: Asked) -> DataSet:
    from metrics.swaps.selection import without_gold
    from polyculture.console import say
    from polyculture.data_sets import open_data_set, tell_left_out

    dataset = open_data_set(asked.data, asked.folder, english=asked.english)
    tell_left_out(dataset, asked.data)
    lacking = without_gold(dataset) if asked.task == "sentiment" else 0
    if lacking:
        say(f"{dataset.folder}: {lacking} contexts have no sentiment of the three, and are not asked about")
    return dataset


def _with_labels(jobs: Sequence[SwapJob], labels: Labels) -> list[SwapJob]:
    """The jobs of types that a tagger has labels for; the others are told."""
    from cache.errors import DataSetError
    from polyculture.console import say

    types = {job.asked[0][0].entity_type for job in jobs}
    without = sorted(types - labels.names.keys())
    told = f"no label of a name means {', '.join(without)}"
    if not types - set(without):
        raise DataSetError(told, remedy="Name labels in a file with --labels, or other types with --type.")
    if without:
        say(f"{told}: left out; --labels may name some")
    return [job for job in jobs if job.asked[0][0].entity_type not in without]


def _open_labeller(workspace: Workspace, model: str, labels: Labels, instrument: str) -> Asker:
    from generate.engines.transformers.labelling import open_classifier, open_tagger
    from metrics.swaps.labelled import CLASSIFIER, ClassifierAsker, TaggerAsker

    spec = workspace.experiment.model_spec(model)
    if instrument == CLASSIFIER:
        return ClassifierAsker(open_classifier(spec), labels, model)
    return TaggerAsker(open_tagger(spec), labels)


def _questions(workspace: Workspace, language: str, asked: Asked) -> Questions:
    """What is asked about texts in a language."""
    from cache.errors import DataSetError
    from metrics.swaps.asking import TASKS, Questions
    from metrics.swaps.prompts import read_prompts

    prompts = read_prompts(asked.ask or language, asked.prompts)
    try:
        own = read_prompts(language, asked.prompts)
    except DataSetError:  # a language of the user's own, asked about in another
        if asked.ask is None:
            raise
        own = prompts
    return Questions(TASKS[asked.task], prompts, own, asked.temperature, workspace.experiment.sampling.seed)
