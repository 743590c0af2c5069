"""Options that `polyculture sentiment`, `qa` and `ner` share, and what they make of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

import polyculture.instruments.swaps
from polyculture.cli.data_options import (
    Contexts,
    Cultures,
    Data,
    English,
    Folder,
    Languages,
    Model,
    OptionalExperiment,
    Types,
    demo_experiment,
    given,
    require_experiment,
)
from polyculture.cli.options import Runs

if TYPE_CHECKING:
    from polyculture.experiment.workspace import Workspace
    from polyculture.instruments.datasets.model import DataSet
    from polyculture.instruments.swaps.asking import Asker, Questions
    from polyculture.instruments.swaps.classifiers import Labels
    from polyculture.instruments.swaps.selection import SwapJob
    from polyculture.running.validity import Setups

DEMO = Path(polyculture.instruments.swaps.__file__).with_name("demo")
DEMO_SIZES = {"entities": 3, "draws": 2}  # minutes on two cores
DEMO_LANGUAGES = ["en"]  # unless others are named: the demo's model was made for English, and slow in others
KEYWORD = Parameter.KEYWORD_ONLY

OfSettings = Annotated[list[str] | None, typer.Option(help="Only these settings of the contexts.")]
Drawn = Annotated[int, typer.Option(min=1, help="Drawn for each context and culture; fewer where there are fewer.")]
Draws = Annotated[int, typer.Option(min=1, help="How often they are drawn.")]
Temperature = Annotated[float, typer.Option(min=0, help="0: the likeliest answer, asked once for all draws.")]
Ask = Annotated[str | None, typer.Option(help="Ask in this language. Default: that of the text.")]
PromptFolder = Annotated[Path | None, typer.Option("--prompts", help="A folder with prompts of your own: ja.toml, ...")]
LabelFile = Annotated[Path | None, typer.Option("--labels", help="What the model's labels mean: a TOML file of yours.")]
Demo = Annotated[bool, typer.Option("--demo", help="The embedded model, texts of our own; in swaps-demo/.")]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command line asks: a field for each option that the three commands share."""

    experiment: OptionalExperiment = None
    data: Data = "camellia"
    folder: Folder = None
    english: English = False
    model: Model = None
    language: Languages = None
    culture: Cultures = None
    type: Types = None
    setting: OfSettings = None
    contexts: Contexts = None
    entities: Drawn = 50
    draws: Draws = 3
    temperature: Temperature = 0.0
    ask: Ask = None
    prompts: PromptFolder = None
    demo: Demo = False
    runs: Runs = None

    def or_demo(self, context: typer.Context, sizes: Mapping[str, int]) -> Asked:
        """With --demo, our own texts in the place of a data set, and few where the command line says no number."""
        if not self.demo:
            return self
        sizes = {**DEMO_SIZES, **sizes}
        few: dict[str, Any] = {name: size for name, size in sizes.items() if not given(context, name)}
        file = demo_experiment(DEMO / "swaps_demo.toml", Path("swaps-demo"), context)
        language = self.language or DEMO_LANGUAGES
        return replace(self, experiment=file, data="own", folder=DEMO, language=language, **few)


def with_shared_options(**demo: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A function for typer with an option for each field of `Asked`, which the command gets as one, before its own.

    `demo` are numbers that the command's demo takes beside the shared ones.
    """

    def with_options(command: Callable[..., None]) -> Callable[..., None]:
        kinds = get_type_hints(Asked, include_extras=True)
        shared = [Parameter(f.name, KEYWORD, default=f.default, annotation=kinds[f.name]) for f in fields(Asked)]
        own = list(signature(command, eval_str=True).parameters.values())[1:]

        @wraps(command)
        def run(context: typer.Context, **options: Any) -> None:
            command(Asked(**{name: options.pop(name) for name in kinds}).or_demo(context, demo), **options)

        first = Parameter("context", KEYWORD, annotation=typer.Context)
        taken = [first, *shared, *(parameter.replace(kind=KEYWORD) for parameter in own)]
        run.__signature__ = Signature(taken)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in taken}
        return run

    return with_options


def run_prompted(task: str, asked: Asked) -> None:
    """Asks the experiment's models by prompts, measures and prints."""
    from polyculture.experiment.workspace import choose_models, open_workspace
    from polyculture.instruments.swaps.asking import PROMPT
    from polyculture.instruments.swaps.step import prompted
    from polyculture.running.swaps import Swaps
    from polyculture.running.validity import setups_of

    workspace = open_workspace(require_experiment(asked.experiment), asked.runs)
    dataset = _open(task, asked)
    setups = setups_of(workspace, choose_models(workspace, asked.model), "answer")
    jobs = [job for name in setups for job in jobs_of(workspace, dataset, name, task, asked, setups)]
    questions = {
        language: _questions(workspace, language, task, asked) for language in {job.job.language for job in jobs}
    }
    swaps = Swaps(workspace=workspace, task=task)
    answerers = prompted(questions)
    swaps.prepare(answerers.prompt_ids, PROMPT, setups, dataset)
    swaps.ask(jobs, answerers)
    swaps.measure()
    swaps.finish("the view swap_answers")


def run_labelled(task: str, asked: Asked, name: str, labels_file: Path | None) -> None:
    """Lets a classifier (sentiment) or tagger (ner) of transformers answer, measures and prints."""
    from functools import lru_cache, partial

    from polyculture.experiment.workspace import open_workspace
    from polyculture.instruments.swaps.classifiers import CLASSIFIER, TAGGER, labels_id, read_labels
    from polyculture.instruments.swaps.step import Answerers
    from polyculture.running.swaps import Swaps
    from polyculture.running.validity import setups_of

    workspace = open_workspace(require_experiment(asked.experiment), asked.runs)
    labels, model = read_labels(labels_file), f"transformers:{name}"
    dataset, setups = _open(task, asked), setups_of(workspace, [model], "answer")
    jobs = jobs_of(workspace, dataset, model, task, asked, setups)
    if task == "ner":
        jobs = _with_labels(jobs, labels)
    instrument = TAGGER if task == "ner" else CLASSIFIER
    prompt_id = labels_id(instrument, labels)
    swaps = Swaps(workspace=workspace, task=task)
    prompt_ids = {job.job.language: prompt_id for job in jobs}
    swaps.prepare(prompt_ids, instrument, setups, dataset)
    opened = lru_cache(maxsize=1)(partial(_open_labeller, workspace, model, labels, instrument))
    swaps.ask(jobs, Answerers(prompt_ids, repeatable=True, open=lambda _swap, _models: opened()))
    swaps.measure()
    swaps.finish("the view swap_answers")


def jobs_of(
    workspace: Workspace, dataset: DataSet, model: str, task: str, asked: Asked, setups: Setups
) -> list[SwapJob]:
    """The jobs of one model."""
    from polyculture.cache.manifest import setup_id
    from polyculture.instruments.datasets.selection import Selection
    from polyculture.instruments.swaps.selection import Draws as Drawing
    from polyculture.instruments.swaps.selection import swap_jobs

    named = (asked.language, asked.culture, asked.type, asked.setting)
    languages, cultures, types, settings = (tuple(names or ()) for names in named)
    chosen = Selection(languages, cultures, types, settings, contexts=asked.contexts)
    drawing = Drawing(asked.entities, asked.draws, workspace.experiment.sampling.seed)
    return swap_jobs(dataset, task, model, chosen, drawing, setup_id(setups[model]))


def _open(task: str, asked: Asked) -> DataSet:
    from polyculture.cli.data_sets import open_data_set, tell_left_out
    from polyculture.console import say
    from polyculture.instruments.swaps.selection import without_gold

    dataset = open_data_set(asked.data, asked.folder, english=asked.english)
    tell_left_out(dataset, asked.data)
    lacking = without_gold(dataset) if task == "sentiment" else 0
    if lacking:
        say(f"{dataset.folder}: {lacking} contexts have no sentiment of the three, and are not asked about")
    return dataset


def _with_labels(jobs: Sequence[SwapJob], labels: Labels) -> list[SwapJob]:
    """The jobs of types that a tagger has labels for; the others are told."""
    from polyculture.cache.errors import DataSetError
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
    from polyculture.generate.engines.transformers.labelling import open_classifier, open_tagger
    from polyculture.instruments.swaps.classifiers import CLASSIFIER, ClassifierAsker, TaggerAsker

    spec = workspace.experiment.model_spec(model)
    if instrument == CLASSIFIER:
        return ClassifierAsker(open_classifier(spec), labels, model)
    return TaggerAsker(open_tagger(spec), labels)


def _questions(workspace: Workspace, language: str, task: str, asked: Asked) -> Questions:
    """What is asked about texts in a language."""
    from polyculture.cache.errors import DataSetError
    from polyculture.instruments.swaps.asking import TASKS, Questions
    from polyculture.instruments.swaps.prompts import read_prompts

    prompts = read_prompts(asked.ask or language, asked.prompts)
    try:
        own = read_prompts(language, asked.prompts)
    except DataSetError:  # a language of the user's own, asked about in another
        if asked.ask is None:
            raise
        own = prompts
    return Questions(TASKS[task], prompts, own, asked.temperature, workspace.experiment.sampling.seed)
