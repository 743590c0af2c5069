"""What `run` would stop at and a plan can tell before: keys that are not set, and prices of models that nobody asks."""

from __future__ import annotations

from collections.abc import Iterator

from polyculture.cache.errors import EngineError, did_you_mean
from polyculture.experiment.file import GAZETTEER, Experiment
from polyculture.generate.engines import find_kind, read_options


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
