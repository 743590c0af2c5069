"""A comparison as somebody asks for it: within a run, with baselines, or with the links of other snapshots.

with ExitStack() as stack:
    found = compared(stack, workspace, Question(("ja", "en")))
found.rows
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from polyculture.cache.database import memory_limit
from polyculture.cache.errors import ExperimentError, StoreError, did_you_mean
from polyculture.cache.files import scratch_folder
from polyculture.cache.layout import Table
from polyculture.cache.manifest import Manifest, require_run
from polyculture.cache.model_facts import ModelFacts
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import ENTITY_COUNTRIES, LINKS
from polyculture.cache.store import asked_store, open_store
from polyculture.console import say
from polyculture.experiment.opening import open_workspace
from polyculture.experiment.workspace import Workspace
from polyculture.metrics import KEPT
from polyculture.metrics.audit.corrected import between_languages, is_judged, with_judges
from polyculture.metrics.comparison.baseline import (
    SAME_ANSWERS,
    measured_otherwise,
    paired_models,
    same_answers,
    texts_of_both,
)
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import TARGETS, Row, Terms, compare, with_q
from polyculture.metrics.comparison.gate import FAIL_IF, PASS_IF, Condition, read_conditions
from polyculture.metrics.comparison.sides import RUN, SNAPSHOT, Sides, against_rest, group_sides, native_sides, sides_of
from polyculture.metrics.comparison.stored import StoredDifferences
from polyculture.metrics.declared import COMPARED, ON_REQUEST, PER_CONDITION
from polyculture.metrics.inference.family import NO_SAMPLING, SAME_PROMPTS
from polyculture.metrics.limits import disqualified
from polyculture.metrics.means import MOST_UNKNOWN
from polyculture.metrics.responses import ALL, SELECTIONS
from polyculture.metrics.text_doubts import text_doubts
from polyculture.reports.reading import Reading
from polyculture.reports.text_selections import text_selections
from polyculture.running.layout import store_layout

Tell = Callable[[str], None]  # takes a line on what was left out
_TWO = "two sides are needed for a comparison"
# What a run's tables hold with the links of another snapshot.
_OF_SNAPSHOT: Mapping[Table[Any], str] = {
    LINKS: """
        SELECT l.* REPLACE (s.status AS status, s.qid AS qid, NULL AS matched, NULL AS only_english)
        FROM links AS l INNER JOIN snapshot_links AS s USING (query) WHERE s.identity = $identity
    """,
    ENTITY_COUNTRIES: """
        SELECT DISTINCT
            qid, unnest(countries) AS country, '' AS country_qid, 'snapshot' AS property, NULL AS successors
        FROM snapshot_links WHERE identity = $identity AND qid IS NOT NULL
    """,
}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a comparison. Its sides are by name, or native languages, groups, other runs, other links."""

    names: tuple[str, ...] = ()  # values of the run, or groups: each pair of them
    native: bool = False
    rest: bool = False  # each name against all others
    group: str | None = None  # of `cache.model_facts.GROUPS`
    by: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()  # none: the usual ones; conditions name theirs
    targets: tuple[str, ...] = ()  # none: both; of conditions the one that they have
    baselines: tuple[Path, ...] = ()  # experiment files or folders of other runs
    snapshots: tuple[str, ...] = ()  # of `snapshot_links`: names or identities
    fail_if: tuple[str, ...] = ()
    pass_if: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """The rows, those of all sides together, and the conditions on them.

    `same` are rows of the same prompts, where conditions are asked of new ones.
    """

    sides: Sequence[Sides]
    rows: Sequence[Row]
    conditions: Sequence[Condition]
    same: Sequence[Row] = ()


def compared(
    stack: ExitStack, workspace: Workspace, question: Question, tell: Tell = say, runs: Path | None = None
) -> Compared:
    """Compares what is asked for; `stack` closes what is opened, and nothing is written into a run.

    `tell` takes a line on what is left out, and on what makes the compared texts doubtful. Raises a `UserError` for
    what the run does not have.
    """
    run, manifest = workspace.run, require_run(workspace.run)
    opened = _opened(stack, run)
    stored = StoredDifferences(opened.store)
    # Other measures compare sides of one run, over all of what they asked.
    alone = not (question.baselines or question.snapshots)
    known = (*COMPARED, *ON_REQUEST, *(stored.metrics if alone else ()))
    for metric in question.metrics:
        if metric not in known:
            raise ExperimentError(f"there is no metric {metric!r} to compare", remedy=did_you_mean(metric, known))
    prompts = opened.values["condition"] | stored.conditions
    conditions = [
        *read_conditions(question.fail_if, known, prompts, FAIL_IF),
        *read_conditions(question.pass_if, known, prompts, PASS_IF),
    ]
    if question.baselines and question.snapshots:
        raise ExperimentError("--baseline and --snapshot are two comparisons", remedy="Ask for one of them.")
    if question.baselines:
        several = list(_with_baselines(stack, workspace, opened, question, tell, runs))
    elif question.snapshots:
        if question.names or question.native or question.rest or question.group:
            raise ExperimentError("--snapshot compares the whole run", remedy="Name no sides with it; --by splits it.")
        several = list(_with_snapshots(stack, run, opened, question.snapshots))
    else:
        values = {name: set(found) for name, found in opened.values.items()}
        for name, found in stored.values.items() if alone else ():
            values[name] = values.get(name, set()) | found
        _check_shared(question.names, manifest.models, values.get("model", set()))
        sides = choose_sides(values, workspace, question, tell)
        several = [([opened], sides, disqualified(manifest))]
    every = [side for _, sides, _ in several for side in sides]
    _check_brackets(conditions, every)
    for line in text_doubts(opened.store, manifest, _models(every)):
        tell(line)
    if not conditions:  # a condition is on all texts
        for line in text_selections(Reading(opened.store)).unknown:
            tell(line)
    targets = question.targets or (TARGETS[:1] if conditions else TARGETS)
    beside = (SAME_PROMPTS,) if conditions else ()  # what these show, no condition on new ones passes over
    rows = [
        row
        for runs, sides, fixed in several
        for terms in _terms(question, conditions, tuple(dict.fromkeys((*targets, *beside))), fixed)
        for row in compare(runs, [each for each in sides if _of_texts(each, opened)], terms)
    ]
    if not between_languages(rows) and is_judged(opened.store):
        tell("judged errors are of a language: both sides have the same ones, and they move both alike")
    rows = with_judges(rows, opened.store)
    if alone:
        asked = {one.metric for one in conditions} or question.metrics or stored.metrics
        rows += stored.of_sides(every, asked, targets, question.by)
    same: list[Row] = []
    if conditions:
        rows = [row for row in rows if any(condition.asks(row) for condition in conditions)]
        rows, same = ([row for row in rows if (row.difference.target in targets) is of] for of in (True, False))
        _check_target(question, rows)
    return Compared(every, with_q(rows), conditions, same)


def choose_sides(known: Mapping[str, set[str]], workspace: Workspace, asked: Question, tell: Tell = say) -> list[Sides]:
    """The sides that are asked for, of what is `known` by dimension. `tell` takes a line on what is left out, and why.

    Raises a `UserError` for none, for only one, or for one not in the run.
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


Group = tuple[list[ComparedRun], list[Sides], Mapping[str, str]]  # runs, their sides, and metrics that tell nothing


def _terms(
    question: Question, conditions: Sequence[Condition], targets: Sequence[str], fixed: Mapping[str, str]
) -> Iterator[Terms]:
    """What is asked of each metric: of one with conditions in brackets, each condition."""
    if not conditions:
        metrics = [metric for metric in question.metrics or COMPARED if metric in (*COMPARED, *ON_REQUEST)]
        yield Terms(question.by, metrics, targets, tuple(SELECTIONS), fixed)
        return
    conditions = [one for one in conditions if one.metric in (*COMPARED, *ON_REQUEST)]
    split = {one.metric for one in conditions if one.conditions} - {*PER_CONDITION}
    of_all = dict.fromkeys(one.metric for one in conditions if not (one.conditions and one.metric in split))
    if of_all:
        yield Terms(question.by, tuple(of_all), targets, (ALL,), fixed)
    if split:
        yield Terms(tuple(dict.fromkeys((*question.by, "condition"))), tuple(sorted(split)), targets, (ALL,), fixed)


def _check_brackets(conditions: Sequence[Condition], sides: Sequence[Sides]) -> None:
    """Raises `ExperimentError` for a condition of one sort of prompts where these are what is compared."""
    for condition in conditions:
        if condition.conditions and any(each.dimension == "condition" for each in sides):
            what = f"{condition.option} '{condition}': {sides[0].a} and {sides[0].b} are conditions themselves"
            raise ExperimentError(what, remedy=f"Leave the brackets out: '{replace(condition, conditions=())}'.")


def _check_shared(names: Sequence[str], models: Sequence[str], compared: Collection[str]) -> None:
    """Raises `StoreError` for models of the run of which one was asked nothing that another was."""
    if len(names) > 1 and set(names) <= {*models} and not set(names) <= {*compared}:
        what = f"{' and '.join(map(repr, names))} are models of the run that share no question or prompt"
        raise StoreError(what, remedy="Ask both of them the same, or import answers of both to the same questions.")


def _of_texts(sides: Sides, run: ComparedRun) -> bool:
    """Whether texts have both sides: of `grounded` and `neutral`, CBS alone has."""
    if sides.dimension not in run.values:
        return bool(sides.pairs) or sides.dimension == SNAPSHOT
    return all(not run.values[sides.dimension].isdisjoint(values) for values in sides.values)


def _check_target(question: Question, rows: Sequence[Row]) -> None:
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


def _opened(stack: ExitStack, run: RunFolder) -> ComparedRun:
    """A run with its store in a temporary folder."""
    at = stack.enter_context(scratch_folder("compare")) / "store.duckdb"
    store = open_store(run, store_layout(), KEPT, at=at, memory=memory_limit())
    stack.callback(store.close)
    return ComparedRun(store, require_run(run).deterministic)


def _with_baselines(
    stack: ExitStack, workspace: Workspace, opened: ComparedRun, question: Question, tell: Tell, runs: Path | None
) -> Iterator[Group]:
    """This run against each baseline."""
    names, own = question.names, require_run(workspace.run)
    if question.native or question.rest or question.group or len(names) > 2:
        remedy = "Name at most a model of this run and one of the baseline's."
        raise ExperimentError("--baseline compares models of two runs", remedy=remedy)
    for path in question.baselines:
        if not path.exists():
            remedy = "Name the experiment file of another run, or its folder."
            raise ExperimentError(f"--baseline {path}: there is no such file or folder", remedy=remedy)
        other = RunFolder(path) if path.is_dir() else open_workspace(path, runs).run
        if other.root.resolve() == workspace.run.root.resolve():
            what = f"--baseline {path} is this run"
            raise ExperimentError(what, remedy="Name the experiment file of another run, or its folder.")
        manifest = require_run(other)
        models = paired_models(own, manifest, *names)
        theirs = _opened(stack, other)
        both = (workspace.run.root.name, other.root.name)
        a, b = both if both[0] != both[1] else (str(workspace.run.root), str(other.root))
        sides = Sides(RUN, a, b, pairs=models)
        pairs = ", ".join(one if one == their else f"{one} with {their}" for one, their in models)
        tell(f"a: this run ({sides.a}); b: the baseline ({sides.b}); compared: {pairs}")
        for doubt in text_doubts(theirs.store, manifest):
            tell(f"{sides.b}: {doubt}")
        for doubt in texts_of_both(opened.store, theirs.store, models):
            tell(doubt)
        same, answers = same_answers(opened.store, theirs.store, models)
        if same:
            tell(
                f"{same} of {answers} answers of {sides.a} are those of {sides.b}, taken over from one run to the other"
            )
        yield [opened, theirs], [sides], _fixed(own, manifest, same > MOST_UNKNOWN * answers)


def _fixed(own: Manifest, other: Manifest, taken_over: bool) -> Mapping[str, str]:
    why = measured_otherwise(own, other) or (SAME_ANSWERS if taken_over else None)
    return dict.fromkeys((*COMPARED, *ON_REQUEST), why) if why else disqualified(own)


def _with_snapshots(stack: ExitStack, run: RunFolder, opened: ComparedRun, names: Sequence[str]) -> Iterator[Group]:
    """The run's own links against those of each snapshot: the same texts, linked twice."""
    manifest = require_run(run)
    own = Path(str(manifest.linker.get("snapshot", "the run's links"))).name
    for name in names:
        identity = {"identity": _identity(opened, name)}
        rows = {
            table.name: opened.store.sql(query, params=identity).to_arrow_table().cast(table.schema)
            for table, query in _OF_SNAPSHOT.items()
        }
        store = stack.enter_context(asked_store(run, None, store_layout(), rows=rows, keep=KEPT))
        other = ComparedRun(store, manifest.deterministic, same_texts_as=0)
        yield [opened, other], [Sides(SNAPSHOT, own, name)], disqualified(manifest)


def _identity(run: ComparedRun, name: str) -> str:
    """The identity of a snapshot whose links the run holds, all of them. A path is read for it: names may be alike."""
    from polyculture.link.index.snapshot import open_snapshot

    if not run.store.execute("SELECT 1 FROM links LIMIT 1").fetchall():
        remedy = "Link mentions first: polyculture run EXPERIMENT. Texts that name nothing have none."
        raise StoreError("the run has no mention that was linked: two snapshots cannot differ", remedy=remedy)
    asked = (open_snapshot(file).identity,) if (file := Path(name)).is_file() else (name, file.name)
    known = run.store.execute("SELECT DISTINCT snapshot, identity FROM snapshot_links ORDER BY ALL").fetchall()
    found = [identity for snapshot, identity in known if snapshot in asked or identity in asked]
    if len(found) != 1:
        names = [identity if found else snapshot for snapshot, identity in known if not found or identity in found]
        what = f"{len(found) or 'no'} snapshots of the run's snapshot_links are {name!r}"
        other = did_you_mean(name, names, otherwise=f"Link with it: polyculture link EXPERIMENT --snapshot {name}.")
        raise StoreError(what, remedy=f"Name its identity: {', '.join(names)}." if found else other)
    query = "SELECT count(*) FROM links ANTI JOIN (FROM snapshot_links WHERE identity = $identity) USING (query)"
    [(missing,)] = run.store.execute(query, {"identity": found[0]}).fetchall()
    if missing:
        what = f"{missing} queries of the run are not linked with {name}"
        raise StoreError(what, remedy=f"Link again: polyculture link EXPERIMENT --snapshot {name}.")
    return str(found[0])
