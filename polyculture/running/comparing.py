"""Opens the runs that somebody wants to compare, for `metrics.comparison`: one, its baselines, or other links of it.

with ExitStack() as stack:
    found = compared(stack, workspace, ComparisonQuestion(("ja", "en")))
found.rows
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from polyculture.cache.errors import ExperimentError, StoreError
from polyculture.cache.log import Tell, get_logger
from polyculture.cache.store.layout import Table
from polyculture.cache.store.linked import ENTITY_COUNTRIES, LINKS
from polyculture.cache.store.manifest import require_run
from polyculture.cache.store.model_facts import ModelFacts
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.experiment.snapshots import find_snapshot
from polyculture.experiment.workspace import Workspace
from polyculture.metrics import KEPT
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.question import (
    ComparisonQuestion,
    ComparisonRows,
    ExperimentFacts,
    OpenedRun,
    OtherRuns,
    compare_opened,
)
from polyculture.running.comparing_answers import joined_answers
from polyculture.running.layout import store_layout
from polyculture.running.opening import open_workspace

_log = get_logger(__name__)

# What a run's tables hold with the links of another snapshot.
_OF_SNAPSHOT: Mapping[Table[Any], str] = {
    LINKS: """
        SELECT l.* REPLACE (
            s.status AS status, s.qid AS qid, NULL AS matched, NULL AS only_english, NULL AS english_qid
        )
        FROM links AS l INNER JOIN snapshot_links AS s USING (query) WHERE s.identity = $identity
    """,
    ENTITY_COUNTRIES: """
        SELECT DISTINCT
            qid, unnest(countries) AS country, '' AS country_qid, 'snapshot' AS property, NULL AS successors
        FROM snapshot_links WHERE identity = $identity AND qid IS NOT NULL
    """,
}


def compared(
    stack: ExitStack,
    workspace: Workspace,
    question: ComparisonQuestion,
    tell: Tell = _log.warning,
    runs: Path | None = None,
) -> ComparisonRows:
    """Compares what is asked for; `stack` closes what is opened, and nothing is written into a run.

    `tell` takes a line on what is left out, and on what makes the compared texts doubtful. Raises a `UserError` for
    what the run does not have.
    """
    question.check()
    others = [_baseline(path, workspace, runs) for path in question.baselines]
    own = _opened(stack, workspace.run)
    if others and not own.run.cell_of:  # a run without texts
        joined, sides = joined_answers(stack, workspace.run, others, question, tell)
        own_question = replace(question, baselines=(), names=())
        return compare_opened(joined, experiment_facts(workspace), own_question, OtherRuns(joined=sides), tell)
    other_runs = OtherRuns(
        [_opened(stack, other) for other in others],
        list(_with_snapshots(stack, workspace.run, own.run, question.snapshots)),
    )
    return compare_opened(own, experiment_facts(workspace), question, other_runs, tell)


def experiment_facts(workspace: Workspace) -> ExperimentFacts:
    """What the experiment file says now."""
    experiment = workspace.experiment
    return ExperimentFacts(
        workspace.file,
        experiment.models,
        {model: ModelFacts(**facts) for model, facts in experiment.facts_of_models.items()},
        set(experiment.model_facts) - set(experiment.models),
        experiment.countries,
        workspace.catalog.native_pairs(experiment.languages),
    )


@dataclass(frozen=True, slots=True)
class LinkChanges:
    """What the links of another snapshot change: by kind of change the queries and their mentions; and single links."""

    snapshot: str
    counts: list[tuple[object, ...]]
    links: list[tuple[object, ...]]


def link_changes(workspace: Workspace, names: Sequence[str], shown: int = 10) -> Iterator[LinkChanges]:
    """The links that each snapshot changes, the `shown` ones with the most mentions. Raises what `compared` raises."""
    if not names:
        return
    with ExitStack() as stack:
        run = _opened(stack, workspace.run).run
        for name in names:
            of = {"identity": _identity(run, name)}
            counts = run.store.execute(_CHANGE_COUNTS, of).fetchall()
            yield LinkChanges(name, counts, run.store.execute(_CHANGES, of | {"shown": shown}).fetchall())


_CHANGE_COUNTS = """
    SELECT change, count(*), sum(mentions)::BIGINT FROM changed_links WHERE identity = $identity
    GROUP BY change ORDER BY 3 DESC, change
"""
_CHANGES = """
    SELECT change, language, topic, surface, mentions,
        concat_ws(' ', coalesce(qid, status), nullif(array_to_string(countries, ' '), '')),
        concat_ws(' ', coalesce(snapshot_qid, snapshot_status), nullif(array_to_string(snapshot_countries, ' '), ''))
    FROM changed_links WHERE identity = $identity
    ORDER BY mentions DESC, language, topic, kind, surface, query LIMIT $shown
"""


def _opened(stack: ExitStack, run: RunFolder) -> OpenedRun:
    """A run with its store."""
    manifest = require_run(run)
    store = stack.enter_context(open_store(run, store_layout(), KEPT, manifest=manifest))
    return OpenedRun(run.root, manifest, ComparedRun(store, manifest.deterministic))


def _baseline(path: Path, workspace: Workspace, runs: Path | None) -> RunFolder:
    """The run of a baseline's experiment file or folder. Raises `ExperimentError` where there is none, or this one."""
    if not path.exists():
        remedy = "Name the experiment file of another run, or its folder."
        raise ExperimentError(f"--baseline {path}: there is no such file or folder", remedy=remedy)
    other = RunFolder(path) if path.is_dir() else open_workspace(path, runs).run
    if other.root.resolve() == workspace.run.root.resolve():
        what = f"--baseline {path} is this run"
        raise ExperimentError(what, remedy="Name the experiment file of another run, or its folder.")
    return other


def _with_snapshots(
    stack: ExitStack, run: RunFolder, opened: ComparedRun, names: Sequence[str]
) -> Iterator[tuple[str, ComparedRun]]:
    """The run with the links of each snapshot."""
    for name in names:
        identity = {"identity": _identity(opened, name)}
        rows = {
            table.name: opened.store.sql(query, params=identity).to_arrow_table().cast(table.schema)
            for table, query in _OF_SNAPSHOT.items()
        }
        store = stack.enter_context(open_store(run, store_layout(), rows=rows, keep=KEPT))
        yield name, ComparedRun(store, opened.deterministic)


def _identity(run: ComparedRun, name: str) -> str:
    """The identity of a snapshot whose links the run holds, all of them. A path is read for it: names may be alike."""
    if not run.store.execute("SELECT 1 FROM links LIMIT 1").fetchall():
        remedy = "Link mentions first: polyculture run EXPERIMENT. Texts that name nothing have none."
        raise StoreError("the run has no mention that was linked: two snapshots cannot differ", remedy=remedy)
    asked = (find_snapshot(name, Path.cwd()).identity,) if (file := Path(name)).exists() else (name, file.name)
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
