"""A comparison as somebody asks for it, of runs that are open: within a run, with baselines, with the links of others.

found = compare_opened(own, facts, ComparisonQuestion(("ja", "en")), OtherRuns(), print)
found.rows
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from polyculture.cache.errors import ExperimentError, StoreError
from polyculture.cache.log import Tell
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.model_facts import ModelFacts
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.metrics.audit.corrected import between_languages, is_audited, with_judges
from polyculture.metrics.comparison.baseline import (
    LINKED_TWICE,
    SAME_ANSWERS,
    paired_models,
    same_answers,
    texts_of_both,
)
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import TARGETS, ComparisonRow, Terms, compare, with_q
from polyculture.metrics.comparison.gate import FAIL_IF, PASS_IF, Decision, GateCondition, decide, read_conditions
from polyculture.metrics.comparison.sides import RUN, SNAPSHOT, Sides, against_rest, group_sides, native_sides, sides_of
from polyculture.metrics.comparison.stored import StoredDifferences
from polyculture.metrics.comparison.study import measured_otherwise, other_addresses
from polyculture.metrics.declared import COMPARED, ON_REQUEST, is_per_country
from polyculture.metrics.inference.family import NO_SAMPLING, SAME_PROMPTS
from polyculture.metrics.limits import disqualified
from polyculture.metrics.means import MOST_UNKNOWN
from polyculture.metrics.responses import ALL, SELECTIONS
from polyculture.metrics.text_doubts import text_doubts
from polyculture.metrics.text_selections import text_selections

_TWO = "two sides are needed for a comparison"
_OF_TEXTS = (*COMPARED, *ON_REQUEST)


@dataclass(frozen=True, slots=True)
class ComparisonQuestion:
    """What is asked of a comparison. Its sides are by name, or native languages, groups, other runs, other links."""

    names: tuple[str, ...] = ()  # values of the run, or groups: each pair of them
    native: bool = False
    rest: bool = False  # each name against all others
    group: str | None = None  # of `cache.store.model_facts.GROUPS`
    by: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()  # none: the usual ones; conditions name theirs
    targets: tuple[str, ...] = ()  # none: both; of conditions the one that they have
    baselines: tuple[Path, ...] = ()  # experiment files or folders of other runs
    snapshots: tuple[str, ...] = ()  # of `snapshot_links`: names or identities
    fail_if: tuple[str, ...] = ()
    pass_if: tuple[str, ...] = ()

    def check(self) -> None:
        """Raises `ExperimentError` for what cannot be asked together."""
        if self.baselines and self.snapshots:
            raise ExperimentError("--baseline and --snapshot are two comparisons", remedy="Ask for one of them.")
        is_of_sides = bool(self.native or self.rest or self.group)
        if self.baselines and (is_of_sides or len(self.names) > 2):
            remedy = "Name at most a model of this run and one of the baseline's."
            raise ExperimentError("--baseline compares models of two runs", remedy=remedy)
        if self.snapshots and (is_of_sides or self.names):
            raise ExperimentError("--snapshot compares the whole run", remedy="Name no sides with it; --by splits it.")


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """A run that is open for a comparison."""

    root: Path
    manifest: Manifest
    run: ComparedRun


@dataclass(frozen=True, slots=True)
class ExperimentFacts:
    """What an experiment file says now of the models and countries of its run."""

    file: Path
    models: Sequence[str]
    model_facts: Mapping[str, ModelFacts]
    strangers: Collection[str]  # models that have facts and are none of the run's
    countries: Sequence[str]
    native: Sequence[tuple[str, str]]  # languages with the countries in which they are native


@dataclass(frozen=True, slots=True)
class OtherRuns:
    """What a run is compared with, where that is not within it."""

    baselines: Sequence[OpenedRun] = ()
    snapshots: Sequence[tuple[str, ComparedRun]] = ()  # by name: the run with the links of a snapshot
    joined: Sequence[Sides] = ()  # of a run that others were joined to: its models, and theirs


@dataclass(frozen=True, slots=True)
class ComparisonRows:
    """The rows, those of all sides together, the conditions on them, and what each of these comes to in each row."""

    sides: Sequence[Sides]
    rows: Sequence[ComparisonRow]
    conditions: Sequence[GateCondition] = ()
    decisions: Sequence[Decision] = ()


def compare_opened(
    own: OpenedRun, facts: ExperimentFacts, question: ComparisonQuestion, others: OtherRuns, tell: Tell
) -> ComparisonRows:
    """Compares what is asked for.

    `tell` takes a line on what is left out, and on what makes the compared texts doubtful. Raises a `UserError` for
    what the run does not have. The question was checked.
    """
    opened, manifest = own.run, own.manifest
    stored = StoredDifferences(opened.store)
    # Other measures compare sides of one run, over all of what they asked.
    alone = not (others.baselines or others.snapshots)
    known = (*_OF_TEXTS, *(stored.metrics if alone else ()))
    for metric in question.metrics:
        if metric not in known:
            raise ExperimentError(f"there is no metric {metric!r} to compare", remedy=did_you_mean(metric, known))
    prompts = opened.values["condition"] | stored.conditions
    conditions = [
        *read_conditions(question.fail_if, known, prompts, FAIL_IF),
        *read_conditions(question.pass_if, known, prompts, PASS_IF),
    ]
    if others.baselines:
        several = list(_with_baselines(own, others.baselines, question, tell))
    elif others.joined:
        several = [([opened], list(others.joined), disqualified(manifest))]
    elif others.snapshots:
        several = list(_with_snapshots(own, others.snapshots))
    else:
        values = {name: set(found) for name, found in opened.values.items()}
        for name, found in stored.values.items() if alone else ():
            values[name] = values.get(name, set()) | found
        _check_shared(question, manifest.models, values)
        sides = choose_sides(values, facts, question, tell)
        several = [([opened], sides, disqualified(manifest))]
    every = [side for _, sides, _ in several for side in sides]
    _check_brackets(conditions, every)
    for line in text_doubts(opened.store, manifest, _models(every)):
        tell(line)
    # Links of the same texts differ exactly, whichever prompts are meant.
    targets = question.targets or (TARGETS[:1] if conditions or others.snapshots else TARGETS)
    beside = (SAME_PROMPTS,) if conditions else ()  # what these show, no condition on new ones passes over
    rows = [
        row
        for runs, sides, fixed in several
        for terms in _terms(question, conditions, tuple(dict.fromkeys((*targets, *beside))), fixed)
        for row in compare(runs, [each for each in sides if _of_texts(each, opened)], terms)
    ]
    if not between_languages(rows) and is_audited(opened.store):
        tell("judged errors are of a language: both sides have the same ones, and they move both alike")
    rows = with_judges(rows, opened.store)
    if alone:
        asked = {one.metric for one in conditions} or question.metrics or stored.metrics
        rows += stored.of_sides(every, asked, targets, question.by)
        if others.joined and not rows:
            what = f"{every[0].a} and {every[0].b} share no item that both have a score of"
            raise StoreError(what, remedy="Import scores of the same items, by the same ids.")
    if not conditions:
        for line in text_selections(opened.store).unknown:
            tell(line)
        return ComparisonRows(every, with_q(rows))
    rows = [row for row in rows if any(condition.asks(row) for condition in conditions)]
    rows, same = ([row for row in rows if (row.difference.target in targets) is of] for of in (True, False))
    _check_target(question, rows)
    rows = with_q(rows)
    return ComparisonRows(every, rows, conditions, decide(conditions, rows, same))


def choose_sides(
    known: Mapping[str, set[str]], facts: ExperimentFacts, asked: ComparisonQuestion, tell: Tell
) -> list[Sides]:
    """The sides that are asked for, of what is `known` by dimension. `tell` takes a line on what is left out, and why.

    Raises a `UserError` for none, for only one, or for one not in the run.
    """
    names = asked.names
    if asked.native:
        if names or asked.rest or asked.group:
            raise ExperimentError(_TWO, remedy="Write --native alone, or without it.")
        return [_native(facts, tell)]
    if asked.rest and not names:
        remedy = "Name one, as in: compare exp.toml ja --rest"
        raise ExperimentError("--rest is what one side is compared with", remedy=remedy)
    pairs = list(combinations(names, 2))
    if asked.group is not None:
        if len(names) == 1 and not asked.rest:
            raise ExperimentError(_TWO, remedy="Name two groups, one with --rest, or none.")
        groups = _groups(facts, asked.group, tell)
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


def _native(facts: ExperimentFacts, tell: Tell) -> Sides:
    foreign = sorted(set(facts.countries) - {country for _, country in facts.native})
    if foreign:
        tell(f"left out, since no language of the run is native there: {', '.join(foreign)}")
    return native_sides(facts.native)


def _groups(facts: ExperimentFacts, fact: str, tell: Tell) -> dict[str, str]:
    """The group of each model that has one, by what the experiment file says now; the others are named in a line."""
    groups = {model: own.group(fact) for model, own in facts.model_facts.items()}
    missing = [model for model in facts.models if groups.get(model) is None]
    if missing:
        key = "parameters" if fact == "size" else fact
        near = did_you_mean(missing[0], set(facts.strangers))
        remedy = near if near.startswith("Did") else f'Add {key} = ... to [model_facts."{missing[0]}"].'
        tell(f"left out, since {facts.file} does not say {fact} of them: {', '.join(missing)}. {remedy}")
    return {model: group for model, group in groups.items() if group is not None}


ComparedGroup = tuple[
    list[ComparedRun], list[Sides], Mapping[str, str]
]  # runs, their sides, and metrics that tell nothing


def _terms(
    question: ComparisonQuestion, conditions: Sequence[GateCondition], targets: Sequence[str], fixed: Mapping[str, str]
) -> Iterator[Terms]:
    """What is asked of each metric: of one with conditions in brackets, each condition."""
    if not conditions:
        metrics = [metric for metric in question.metrics or COMPARED if metric in _OF_TEXTS]
        yield Terms(question.by, metrics, targets, tuple(SELECTIONS), fixed)
        return
    conditions = [one for one in conditions if one.metric in _OF_TEXTS]
    split = {one.metric for one in conditions if one.conditions and not is_per_country(one.metric)}
    of_all = dict.fromkeys(one.metric for one in conditions if not (one.conditions and one.metric in split))
    if of_all:
        yield Terms(question.by, tuple(of_all), targets, (ALL,), fixed)
    if split:
        yield Terms(tuple(dict.fromkeys((*question.by, "condition"))), tuple(sorted(split)), targets, (ALL,), fixed)


def _check_brackets(conditions: Sequence[GateCondition], sides: Sequence[Sides]) -> None:
    """Raises `ExperimentError` for a condition of one sort of prompts where these are what is compared."""
    for condition in conditions:
        if condition.conditions and any(each.dimension == "condition" for each in sides):
            what = f"{condition.option} '{condition}': {sides[0].a} and {sides[0].b} are conditions themselves"
            raise ExperimentError(what, remedy=f"Leave the brackets out: '{replace(condition, conditions=())}'.")


def _check_shared(question: ComparisonQuestion, models: Sequence[str], values: Mapping[str, set[str]]) -> None:
    """Raises `StoreError` for models of the run of which one was asked nothing that another was.

    A model without anything to compare is no side. The error about an unknown name lists it all the same.
    """
    if question.native or question.group:  # whose names are no values of the run
        return
    sides = set[str]().union(*values.values(), models)
    folded = {side.casefold() for side in sides}
    for name in question.names:
        if name.casefold() not in folded:
            raise StoreError(f"the run has no {name!r} to compare", remedy=did_you_mean(name, sides))
    alone = set(models) - values.get("model", set())
    if len(models) == 1 and alone.intersection(question.names):
        what = f"{models[0]!r} is the only model of the run"
        raise StoreError(what, remedy="Compare it with a model of another run: --baseline EXPERIMENT|FOLDER.")
    if alone.intersection(question.names) and set(question.names) <= set(models):
        what = f"{' and '.join(map(repr, question.names))} are models of the run that share no question or prompt"
        raise StoreError(what, remedy="Ask both of them the same, or import answers of both to the same questions.")


def _of_texts(sides: Sides, run: ComparedRun) -> bool:
    """Whether texts have both sides: of `grounded` and `neutral`, CBS alone has."""
    if sides.dimension not in run.values:
        return bool(sides.pairs) or sides.dimension == SNAPSHOT
    return all(not run.values[sides.dimension].isdisjoint(values) for values in sides.values)


def _check_target(question: ComparisonQuestion, rows: Sequence[ComparisonRow]) -> None:
    """Raises `ExperimentError` where nothing was sampled and nobody said of what a condition is meant."""
    exact = [row.difference.metric for row in rows if row.difference.reason == NO_SAMPLING]
    if exact and not question.targets:
        what = (
            f"--fail-if: nothing was sampled for {exact[0]} (temperature 0, or likelihoods), so its difference is exact"
        )
        remedy = "Write --target same_prompts, where any difference counts, or --target new_prompts."
        raise ExperimentError(what, remedy=remedy)


def _models(sides: Sequence[Sides]) -> set[str] | None:
    if any(each.dimension != "model" for each in sides):
        return None
    return {model for each in sides for side in each.values for model in side}


def _with_baselines(
    own: OpenedRun, baselines: Sequence[OpenedRun], question: ComparisonQuestion, tell: Tell
) -> Iterator[ComparedGroup]:
    """This run against each baseline."""
    for other in baselines:
        models = paired_models(own.manifest, other.manifest, *question.names)
        both = (own.root.name, other.root.name)
        a, b = both if both[0] != both[1] else (str(own.root), str(other.root))
        sides = Sides(RUN, a, b, pairs=models)
        pairs = ", ".join(one if one == their else f"{one} with {their}" for one, their in models)
        tell(f"a: this run ({sides.a}); b: the baseline ({sides.b}); compared: {pairs}")
        for doubt in text_doubts(other.run.store, other.manifest):
            tell(f"{sides.b}: {doubt}")
        for doubt in texts_of_both(own.run.store, other.run.store, models):
            tell(doubt)
        if addresses := other_addresses(own.manifest, other.manifest):
            tell(addresses)
        same, answers = same_answers(own.run.store, other.run.store, models)
        if same:
            tell(
                f"{same} of {answers} answers of {sides.a} are those of {sides.b}, taken over from one run to the other"
            )
        yield [own.run, other.run], [sides], _fixed(own.manifest, other.manifest, same > MOST_UNKNOWN * answers)


def _fixed(own: Manifest, other: Manifest, taken_over: bool) -> Mapping[str, str]:
    why = measured_otherwise(own, other) or (SAME_ANSWERS if taken_over else None)
    return dict.fromkeys(_OF_TEXTS, why) if why else disqualified(own)


def _with_snapshots(own: OpenedRun, snapshots: Sequence[tuple[str, ComparedRun]]) -> Iterator[ComparedGroup]:
    """The run's own links against those of each snapshot: the same texts, linked twice. They are no samples."""
    name = Path(str(own.manifest.linker.get("snapshot", "the run's links"))).name
    for snapshot, other in snapshots:
        yield [own.run, other], [Sides(SNAPSHOT, name, snapshot)], dict.fromkeys(_OF_TEXTS, LINKED_TWICE)
