"""`polyculture ner`: is the entity in a text tagged as well when it is swapped for one of another culture?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyculture.options import Runs
from polyculture.swap_options import (
    DEMO,
    DEMO_DRAWS,
    DEMO_ENTITIES,
    Ask,
    Asked,
    Contexts,
    Cultures,
    Data,
    Demo,
    Draws,
    English,
    Entities,
    Folder,
    LabelFile,
    Languages,
    Model,
    OptionalExperiment,
    PromptFolder,
    Settings,
    Temperature,
    Types,
    demo_experiment,
    run_labelled,
    run_prompted,
)


def ner(
    experiment: OptionalExperiment = None,
    data: Data = "camellia",
    folder: Folder = None,
    english: English = False,
    model: Model = None,
    language: Languages = None,
    culture: Cultures = None,
    type: Types = None,
    setting: Settings = None,
    contexts: Contexts = None,
    entities: Entities = 50,
    draws: Draws = 3,
    temperature: Temperature = 0.0,
    ask: Ask = None,
    prompts: PromptFolder = None,
    tagger: Annotated[str | None, typer.Option(help="Ask this token classifier of transformers instead.")] = None,
    labels: LabelFile = None,
    demo: Demo = False,
    runs: Runs = None,
) -> None:
    """Find the names in texts, with native and with Western entities in them.

    Precision, recall and F1 of the entity's exact span. What is answered already stays.
    """
    if demo:
        experiment, data, folder = demo_experiment(Path("swaps-demo")), "own", DEMO
        entities, draws = min(entities, DEMO_ENTITIES), min(draws, DEMO_DRAWS)
    asked = Asked(
        "ner", data, folder, english, model, language or (), culture or (), type or (), setting or (),
        contexts, entities, draws, temperature, ask, prompts,
    )  # fmt: skip
    if tagger is None:
        run_prompted(experiment, runs, asked)
    else:
        run_labelled(experiment, runs, asked, tagger, labels)
