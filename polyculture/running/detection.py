"""The differences that an experiment as it is will find, for `polyculture plan`.

The variances are those of the experiment's own run. Before there is one they are those of a small run of the embedded
model (`demo_noise.toml`), and marked as such.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.store import open_store
from polyculture.experiment.workspace import Workspace
from polyculture.metrics import KEPT, METRICS_LAYOUT
from polyculture.metrics.comparison.table import NEEDS
from polyculture.metrics.declared import OF_PROMPTS, RANGES
from polyculture.metrics.inference.family import NEW_PROMPTS, SAME_PROMPTS
from polyculture.metrics.limits import disqualified
from polyculture.metrics.power import (
    LANGUAGE,
    MODEL,
    Noise,
    Plan,
    found_difference,
    noise_of_sides,
    of_one_condition,
)
from polyculture.metrics.prompt_values import PromptValue, prompt_values

DEMO_NOISE = Path(__file__).with_name("demo_noise.toml")  # written by bench.demo_noise
POWER = 0.8  # how often a difference is to be found
SIDES = {MODEL: "two models", LANGUAGE: "two languages"}
# Of which prompts the numbers are: explicit ones first, as the report's are; the optional audience last.
CONDITIONS = ("explicit", "implicit_male", "implicit_female", "neutral", "audience")


@dataclass(frozen=True, slots=True)
class VarianceSource:
    """The variances of comparisons of two sides, and where they come from, in words."""

    name: str
    condition: str
    noise: Mapping[str, Noise]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest difference that is found at p < .05 in eight of ten experiments of this design."""

    metric: str
    compared: str  # 'two models' or 'two languages'
    condition: str
    prompts: int  # topics x countries
    wordings: int
    samples: int
    same_prompts: float | None  # None where `compare` has no interval of them
    new_prompts: float | None  # of prompts like these, in these wordings; likewise


@dataclass(frozen=True, slots=True)
class DetectableDifferences:
    """What an experiment of this design will find, as far as variances are known."""

    differences: tuple[Detectable, ...] = ()
    basis: tuple[str, ...] = ()  # lines: whose variances these are, and which metrics have none
    untestable: tuple[str, ...] = ()  # lines: what cannot be compared at all, and what would change that


def detectable(workspace: Workspace, manifest: Manifest) -> DetectableDifferences:
    """The smallest difference found, per metric and comparison, and lines that say what the numbers rest on.

    `manifest` describes what the experiment asks. A metric in which no difference can be found has a line in place of
    rows, and so has one whose numbers were all alike. Empty if the experiment asks no prompt.
    """
    if not workspace.prompts:
        return DetectableDifferences()
    rows, notes, untestable = [], dict[str, None](), []
    fixed = disqualified(manifest)
    for metric, source in _sources(workspace):
        if metric in fixed:
            notes[f"{metric}: {fixed[metric]}, so no difference in it can be found"] = None
            continue
        if source is None:
            notes[f"{metric}: how it varies is not known before this experiment has a run"] = None
            continue
        if not any(noise.varies for noise in source.noise.values()):
            notes[f"{metric}: all values are equal in {source.name}, so what can be found is not known"] = None
            continue
        new = list(_rows(workspace, metric, source))
        rows += new
        if new:
            notes |= dict.fromkeys((f"variances from {source.name}, {source.condition} prompts", *source.notes))
    alone = {"models": workspace.experiment.models, "languages": workspace.experiment.languages}
    for what, named in alone.items():
        if len(named) == 1:
            untestable.append(f"not compared: {what}, because the experiment has only one")
    if any(row.same_prompts is None for row in rows):
        untestable.append("same prompts: no interval; it needs two samples of each prompt at a temperature above 0")
    if any(row.new_prompts is None for row in rows):
        why = f"it needs {NEEDS}, and a spread that is small enough: add topics and countries"
        untestable.append(f"new prompts: no interval; {why}")
    return DetectableDifferences(tuple(rows), tuple(notes), tuple(untestable))


def _sources(workspace: Workspace) -> Iterator[tuple[str, VarianceSource | None]]:
    """Where each metric's variances come from: the experiment's own run, else the shipped demo."""
    if not workspace.run.manifest.exists():
        yield from ((metric, _of_demo(metric)) for metric in OF_PROMPTS)
        return
    with open_store(workspace.run, METRICS_LAYOUT, KEPT) as store:
        values = prompt_values(store)
    yield from ((metric, _of_run(values[metric], workspace) or _of_demo(metric)) for metric in OF_PROMPTS)


def _of_demo(metric: str) -> VarianceSource | None:
    """The variances that ship with Polyculture: of one small model in one language, so the most there can be.

    None for a metric that was declared since they were measured (`bench/demo_noise.py`).
    """
    told = tomllib.loads(DEMO_NOISE.read_text(encoding="utf-8"))
    if metric not in told:
        return None
    noise = Noise(**told[metric]["noise"])
    notes = (f"NOT measured on your models but on {told['run']}: a rough guide; fewer responses may be enough",)
    return VarianceSource("the shipped demo", told[metric]["condition"], {MODEL: noise, LANGUAGE: noise}, notes)


def _of_run(values: Sequence[PromptValue], workspace: Workspace) -> VarianceSource | None:
    found = of_one_condition(values, _conditions(workspace))
    if found is None:
        return None
    condition, responses, own = found
    noise = {side: one for side in SIDES if (one := noise_of_sides(own, side, responses))}
    if not noise:
        return None
    notes = []
    if any(one.wording is None for one in noise.values()):
        notes.append("the run asked one wording, so the variance between wordings is not known")
    return VarianceSource(workspace.run.root.name, condition, noise, tuple(notes))


def _conditions(workspace: Workspace) -> Sequence[str]:
    """The conditions that an experiment asks, the one that the report's numbers are of first."""
    asked = {prompt.condition for prompt in workspace.prompts}
    return sorted(asked, key=lambda one: (CONDITIONS.index(one) if one in CONDITIONS else len(CONDITIONS), one))


def _rows(workspace: Workspace, metric: str, source: VarianceSource) -> Iterator[Detectable]:
    asked = _conditions(workspace)
    condition = source.condition if source.condition in asked else asked[0]
    prompts = [prompt for prompt in workspace.prompts if prompt.condition == condition]
    experiment = workspace.experiment
    by_model = [set(experiment.languages_asked(model)) for model in experiment.models]
    # Two models are compared in the languages that both are asked in: the fewest of any two.
    shared = min((len(one & other) for one, other in combinations(by_model, 2)), default=0)
    languages = set().union(*by_model) & {prompt.language for prompt in prompts}
    wordings = {prompt.wording for prompt in prompts}
    topics, countries = len({prompt.topic for prompt in prompts}), len({prompt.country for prompt in prompts})
    sampled = workspace.sampling.temperature != 0 and workspace.sampling.top_k != 1
    names = max(1, round(len(prompts) / len({(p.topic, p.country, p.language, p.wording) for p in prompts})))
    sides = {MODEL: len(experiment.models) if shared else 0, LANGUAGE: len(languages)}
    plan = Plan(topics, countries, len(wordings), workspace.sampling.n)
    for side, compared in SIDES.items():
        if sides[side] < 2 or side not in source.noise or not source.noise[side].varies:
            continue
        # A side's value in a block and a wording is a mean over the names and the levels of the other factor.
        values = names * (shared if side == MODEL else len(experiment.models))
        known = source.noise[side]
        noise = known.scaled(values, known.responses)
        others = found_difference(noise, plan, POWER, NEW_PROMPTS)
        yield Detectable(
            metric,
            compared,
            condition,
            plan.blocks,
            plan.wordings,
            workspace.sampling.n,
            found_difference(noise, plan, POWER, SAME_PROMPTS) if sampled else None,
            others if others is not None and others < RANGES[metric][1] else None,
        )
