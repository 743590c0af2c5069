"""The sides of a comparison that somebody asks for by name: of a command line, or from Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyculture.cache.errors import ExperimentError, did_you_mean
from polyculture.cache.manifest import require_run
from polyculture.cache.model_facts import ModelFacts
from polyculture.console import say
from polyculture.experiment.workspace import Workspace
from polyculture.metrics.comparison.compare import NATIVE, Sides, lay_out_native, sides_of
from polyculture.metrics.comparison.groups import against_rest, group_sides
from polyculture.metrics.text_doubts import text_doubts

if TYPE_CHECKING:
    import duckdb

Tell = Callable[[str], None]  # takes a line on what was left out


@dataclass(frozen=True, slots=True)
class Asked:
    """The sides that somebody asks for."""

    a: str | None = None
    b: str | None = None
    native: bool = False
    rest: bool = False
    group: str | None = None  # of `cache.model_facts.GROUPS`


def choose_sides(store: duckdb.DuckDBPyConnection, workspace: Workspace, asked: Asked, tell: Tell = say) -> list[Sides]:
    """The sides that are asked for. Raises a `UserError` for none, for only one, or for one not in the run.

    `tell` takes a line on what is left out, and why; and on what makes the compared texts doubtful.
    """
    _check(asked)
    sides = _sides(store, workspace, asked, tell)
    models = (
        {model for each in sides for side in each.parameters.values() for model in side} if _of_models(sides) else None
    )
    for line in text_doubts(store, require_run(workspace.run), models):
        tell(line)
    return sides


def _of_models(sides: Sequence[Sides]) -> bool:
    return all(each.dimension == "model" for each in sides)


def _sides(store: duckdb.DuckDBPyConnection, workspace: Workspace, asked: Asked, tell: Tell) -> list[Sides]:
    a, b = asked.a, asked.b
    if asked.native:
        return [_native(store, workspace, tell)]
    if asked.group is not None:
        return group_sides(_groups(workspace, asked.group, tell), asked.group, a, b, asked.rest)
    if asked.rest and a is not None:
        return [against_rest(store, a)]
    if a is None or b is None:
        remedy = (
            "Name two models, languages, conditions, countries or wordings of the run; or one with --rest; or --native."
        )
        raise ExperimentError("two sides are needed for a comparison", remedy=remedy)
    return [sides_of(store, a, b)]


def _check(asked: Asked) -> None:
    """Raises `ExperimentError` for options that say different things."""
    sides = [side for side in (asked.a, asked.b) if side is not None]
    if asked.native and (sides or asked.rest or asked.group):
        raise ExperimentError("two sides are needed for a comparison", remedy="Write --native alone, or without it.")
    if asked.rest and len(sides) != 1:
        raise ExperimentError(
            "--rest is what one side is compared with", remedy="Name one, as in: compare exp.toml ja --rest"
        )
    if asked.group and len(sides) == 1 and not asked.rest:
        raise ExperimentError(
            "two sides are needed for a comparison", remedy="Name two groups, one with --rest, or none."
        )


def _native(store: duckdb.DuckDBPyConnection, workspace: Workspace, tell: Tell) -> Sides:
    languages = [workspace.catalog.language(code) for code in workspace.experiment.languages]
    native_countries = [(language.code, code) for language in languages for code in language.native_countries]
    lay_out_native(store, native_countries)
    foreign = sorted(set(workspace.experiment.countries) - {country for _, country in native_countries})
    if foreign:
        tell(f"left out, since no language of the run is native there: {', '.join(foreign)}")
    return NATIVE


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
