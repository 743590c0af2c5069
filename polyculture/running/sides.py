"""The sides of a comparison that somebody asks for by name: of a command line, or from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

from polyculture.cache.errors import ExperimentError, did_you_mean
from polyculture.cache.model_facts import ModelFacts
from polyculture.console import say
from polyculture.experiment.workspace import Workspace
from polyculture.metrics.comparison.sides import Sides, against_rest, group_sides, native_sides, sides_of

Tell = Callable[[str], None]  # takes a line on what was left out
_TWO = "two sides are needed for a comparison"


@dataclass(frozen=True, slots=True)
class Asked:
    """The sides that somebody asks for."""

    names: tuple[str, ...] = ()  # values of the run, or groups: each pair of them
    native: bool = False
    rest: bool = False
    group: str | None = None  # of `cache.model_facts.GROUPS`


def choose_sides(known: Mapping[str, set[str]], workspace: Workspace, asked: Asked, tell: Tell = say) -> list[Sides]:
    """The sides that are asked for, of what is `known` by dimension.

    Raises a `UserError` for none, for only one, or for one not in the run.

    `tell` takes a line on what is left out, and why.
    """
    names = asked.names
    if asked.native:
        if names or asked.rest or asked.group:
            raise ExperimentError(_TWO, remedy="Write --native alone, or without it.")
        return [_native(workspace, tell)]
    if asked.rest and not names:
        remedy = "Name one, as in: compare exp.toml ja --rest"
        raise ExperimentError("--rest is what one side is compared with", remedy=remedy)
    pairs = list(combinations(names, 2))
    if asked.group is not None:
        if len(names) == 1 and not asked.rest:
            raise ExperimentError(_TWO, remedy="Name two groups, one with --rest, or none.")
        groups = _groups(workspace, asked.group, tell)
        if asked.rest:
            return [sides for name in names for sides in group_sides(groups, asked.group, name, rest=True)]
        if not names:
            return group_sides(groups, asked.group)
        return [sides for a, b in pairs for sides in group_sides(groups, asked.group, a, b)]
    if asked.rest:
        return [against_rest(known, name) for name in names]
    if not pairs:
        remedy = (
            "Name two models, languages, conditions, countries or wordings of the run; or one with --rest; or --native."
        )
        raise ExperimentError(_TWO, remedy=remedy)
    return [sides_of(known, a, b) for a, b in pairs]


def _native(workspace: Workspace, tell: Tell) -> Sides:
    pairs = workspace.catalog.native_pairs(workspace.experiment.languages)
    foreign = sorted(set(workspace.experiment.countries) - {country for _, country in pairs})
    if foreign:
        tell(f"left out, since no language of the run is native there: {', '.join(foreign)}")
    return native_sides(pairs)


def _groups(workspace: Workspace, fact: str, tell: Tell) -> dict[str, str]:
    """The group of each model that has one, by what the experiment file says now; the others are named in a line."""
    experiment = workspace.experiment
    told = {model: ModelFacts(**facts) for model, facts in experiment.facts_of_models.items()}
    groups = {model: facts.group(fact) for model, facts in told.items()}
    missing = [model for model in experiment.models if groups.get(model) is None]
    if missing:
        key = "parameters" if fact == "size" else fact
        near = did_you_mean(missing[0], set(experiment.model_facts) - set(experiment.models))
        remedy = near if near.startswith("Did") else f'Add {key} = ... to [model_facts."{missing[0]}"].'
        tell(f"left out, since {workspace.file} does not say {fact} of them: {', '.join(missing)}. {remedy}")
    return {model: group for model, group in groups.items() if group is not None}
