"""`polyculture qa`: is the entity in a text found as well when it is swapped for one of another culture?"""

from __future__ import annotations

from pathlib import Path

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
    Languages,
    Model,
    OptionalExperiment,
    PromptFolder,
    Settings,
    Temperature,
    Types,
    demo_experiment,
    run_prompted,
)


def qa(
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
    demo: Demo = False,
    runs: Runs = None,
) -> None:
    """Ask which entity a text names, with native and with Western entities in it.

    The answer counts if it is the entity, after normalisation. What is answered already stays.
    """
    if demo:
        experiment, data, folder = demo_experiment(Path("swaps-demo")), "own", DEMO
        entities, draws = min(entities, DEMO_ENTITIES), min(draws, DEMO_DRAWS)
    asked = Asked(
        "qa", data, folder, english, model, language or (), culture or (), type or (), setting or (),
        contexts, entities, draws, temperature, ask, prompts,
    )  # fmt: skip
    run_prompted(experiment, runs, asked)
