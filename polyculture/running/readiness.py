"""What a plan tells before `run` meets it: keys that are not set, prices without a model, what models cannot do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from polyculture.cache.errors import EngineError, did_you_mean
from polyculture.experiment.file import Experiment
from polyculture.experiment.sections import GAZETTEER
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines import find_kind, read_options
from polyculture.running.instrument_calls import PartCall
from polyculture.running.studies import calls_of_run


def not_ready(experiment: Experiment) -> Iterator[str]:
    """A line for each: the plan stands, and a run will refuse, or bill at no price. Asks no service."""
    asked = [model for model in dict.fromkeys(experiment.asked) if model != GAZETTEER]
    for model in asked:
        spec = experiment.model_spec(model)
        kind = find_kind(spec)
        try:
            kind.places(spec, read_options(kind.options, spec))
        except EngineError as fault:
            yield f"run will refuse: {fault}"
    for name in experiment.prices:
        if name not in asked:
            yield f"[prices] names {name}, which the experiment does not ask. {did_you_mean(name, asked)}"


@dataclass(frozen=True, slots=True)
class Unsupported:
    """What a model cannot do of a command, for one reason."""

    command: str
    model: str
    parts: tuple[str, ...]  # of a command that asks several; else none
    reason: str
    remedy: str


def unsupported(workspace: Workspace) -> list[Unsupported]:
    """The commands and parts that models of the experiment cannot do, by what their engines declare. Opens nothing."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for asked in calls_of_run(workspace):
        command, part = (asked.suite.command, asked.part.name) if isinstance(asked, PartCall) else (asked.command, "")
        for model, fault in asked.unable():
            key = command, model, fault.what.removeprefix(f"{model} "), fault.remedy or ""
            found.setdefault(key, []).extend([part] if part else [])
    return [Unsupported(command, model, tuple(parts), *why) for (command, model, *why), parts in found.items()]
