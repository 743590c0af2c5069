"""Models of one study, be they of one run or of several, in groups by rank.

In each metric all pairs of models are compared (`comparison.compare`), and the false discovery rate is controlled over
these pairs alone. So where the models do not differ in a metric, its leaderboard has one group in 95 % of studies,
whatever the other metrics show.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from polyculture.cache.store.joined import JoinedRun
from polyculture.cache.store.manifest import Manifest, require_run
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import DIFFERENCES, NUMBERS
from polyculture.cache.store.schema.measured import Difference
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store, open_store
from polyculture.metrics import KEPT, METRICS_LAYOUT
from polyculture.metrics.comparison.baseline import SAME_ANSWERS
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import Terms, compare
from polyculture.metrics.comparison.sides import Sides
from polyculture.metrics.declared import COMPARED
from polyculture.metrics.inference.family import in_families
from polyculture.metrics.limits import disqualified
from polyculture.metrics.means import all_numbers
from polyculture.metrics.model_health import ModelHealth
from polyculture.metrics.responses import ALL

_NO_INPUTS = ""  # a joined run is not measured again, so that nobody asks what its numbers were made of
_SQL = Path(__file__).with_name("boards")
_BOARDS = """
SELECT metric, setting, variant, model, estimate, low, high, contexts
FROM text_board_entries INNER JOIN declared_metrics AS d ON metric = d.name
ORDER BY d.place, setting, variant, estimate DESC, model
"""
_ORDERS = "SELECT metric, setting, variant, better, worse FROM text_board_orders"
_REASONS = """
SELECT metric, mode(reason) FROM differences INNER JOIN declared_metrics AS d ON metric = d.name
WHERE reason IS NOT NULL AND target = 'same_prompts' AND selection = 'all' GROUP BY metric, d.place ORDER BY d.place
"""
_NEW = "new prompts"  # the variant of a board whose differences hold for other prompts of the kind
_Key = tuple[str, str, str]  # of a board: its metric, the condition of its prompts, its variant


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval, where it has one."""

    estimate: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class RankedModel:
    """A model on a board: its group, from 1, its number over all languages, and that of each.

    A model that cannot be compared has no group, and the `reason`.
    """

    group: int | None
    model: str
    value: Estimate | None
    cells: int
    languages: Mapping[str, Estimate]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RankBoard:
    """A metric of all models: the highest first, and last those without a group."""

    metric: str
    setting: str  # the condition of the prompts, or 'all prompts'
    variant: str  # which prompts the differences hold for: the same prompts, or new ones
    models: tuple[RankedModel, ...]
    tested: int  # pairs of models that could be compared
    pairs: int

    @property
    def groups(self) -> int:
        """The number of groups."""
        return max(one.group or 0 for one in self.models)

    @property
    def summary(self) -> str:
        """How many groups there are, and of how many pairs the difference could be tested."""
        groups = "1 group: no model differs from the highest" if self.groups == 1 else f"{self.groups} groups"
        return f"{groups}; {self.tested} of {self.pairs} {'pair' if self.pairs == 1 else 'pairs'} could be tested"


@dataclass(frozen=True, slots=True)
class LeaderboardModel:
    """A model that is on the leaderboard under `name`."""

    name: str
    model: str  # its name in its own run
    run: str  # the label of its run
    health: ModelHealth
    joined: JoinedRun


@dataclass(frozen=True, slots=True)
class Excluded:
    """A run, or a model of one, that is not on the leaderboard, and why."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


@dataclass(frozen=True)
class Leaderboard:
    """The models of several runs with their ranks. `run` has the rows of all; it exists while the runs are open."""

    run: RunFolder
    manifest: Manifest
    study: str
    models: Sequence[LeaderboardModel]
    excluded: Sequence[Excluded]
    doubts: Sequence[str]
    boards: Sequence[RankBoard]
    unranked_metrics: Mapping[str, str]  # metrics without a board, each with the reason
    bounds: Mapping[str, float]

    @property
    def runs(self) -> list[str]:
        """The labels of the runs that have a model on it."""
        return list(dict.fromkeys(one.run for one in self.models))


def compare_models(run: RunFolder, dependent: Collection[frozenset[str]] = ()) -> None:
    """Writes the numbers of a joined run, and the differences of all pairs of its models.

    `dependent` are pairs of models that share answers: their differences are not tested.
    """
    manifest = require_run(run)
    with open_store(run, METRICS_LAYOUT, KEPT, manifest=manifest) as store:
        compared = ComparedRun(store, manifest.deterministic)
        cells = {model: compared.metrics(model, ALL) for model in compared.reader.models}
        numbers = list(all_numbers(compared.reader, cells, manifest.deterministic, _NO_INPUTS))
        differences = all_pairs(compared, manifest, dependent=dependent)
    write_parquet(objects_to_table(NUMBERS, numbers), run.table(NUMBERS.name))
    write_parquet(objects_to_table(DIFFERENCES, differences), run.table(DIFFERENCES.name))


def all_pairs(
    run: ComparedRun,
    manifest: Manifest,
    metrics: Sequence[str] = COMPARED,
    dependent: Collection[frozenset[str]] = (),
) -> list[Difference]:
    """The differences of all pairs of models, with q over those of one metric and condition.

    Those of `dependent` models are not tested: answers that both share are no independent samples.
    """
    untested: dict[bool, list[Sides]] = {True: [], False: []}
    for a, b in combinations(run.reader.models, 2):
        untested[frozenset((a, b)) in dependent].append(Sides("model", a, b))
    reasons = {True: dict.fromkeys(metrics, SAME_ANSWERS), False: disqualified(manifest)}
    rows = []
    for selection in run.selections:
        for shares_answers, several in untested.items():
            terms = Terms(metrics=metrics, selections=(selection,), fixed=reasons[shares_answers])
            rows += [row.difference for row in compare([run], several, terms)] if several else []
        run.forget(selection)
    return in_families(rows, lambda row: (row.metric, row.condition, row.selection, row.target))


def rank_groups(models: Sequence[str], orders: Collection[tuple[str, str]]) -> list[int]:
    """The group of each model, from 1. The models are sorted, the one with the highest number first.

    A model joins the group above it unless it differs from that group's first model: then it begins a new group.
    `orders` has a pair for each difference that is shown: the higher model, and the lower one.
    """
    groups: list[int] = []
    first = models[0] if models else ""
    for model in models:
        differs = (first, model) in orders
        groups.append(groups[-1] + differs if groups else 1)
        first = model if differs else first
    return groups


def boards(store: Store) -> list[RankBoard]:
    """The boards of a joined run whose models are compared: one for each metric in which two models or more can be."""
    orders: dict[_Key, set[tuple[str, str]]] = {}
    for metric, setting, variant, higher, lower in store.execute(_ORDERS).fetchall():
        orders.setdefault((metric, setting, variant), set()).add((higher, lower))
    rows_of: dict[_Key, list[Any]] = {}
    for metric, setting, variant, *row in store.execute(_BOARDS).fetchall():
        rows_of.setdefault((metric, setting, variant), []).append(row)
    tests = {
        tuple(key): (tested, pairs) for *key, tested, pairs in store.execute(read_sql(_SQL, "board_tests")).fetchall()
    }
    numbers = _Numbers(store)
    found = []
    for key, rows in rows_of.items():
        metric, setting, variant = key
        tested, pairs = tests.get((metric, setting, variant == _NEW), (0, 0))
        if not tested or len(rows) < 2:
            continue  # without a test all models would be in one group, as if they were equal
        names = [model for model, *_ in rows]
        groups = rank_groups(names, orders.get(key, set()))
        ranked = [
            RankedModel(group, model, Estimate(estimate, low, high), cells, numbers.by_language(key, model))
            for group, (model, estimate, low, high, cells) in zip(groups, rows, strict=True)
        ]
        ranked += [
            RankedModel(None, model, None, 0, numbers.by_language(key, model), reason)
            for model, reason in sorted(numbers.reasons.get((metric, setting), {}).items())
            if model not in names
        ]
        found.append(RankBoard(metric, setting, variant, tuple(ranked), tested, pairs))
    return found


class _Numbers:
    """The numbers of a joined run's models by metric and condition, and why a model has none over all languages."""

    def __init__(self, store: Store) -> None:
        self.reasons: dict[tuple[str, str], dict[str, str]] = {}
        self._of_languages: dict[tuple[str, str, str, bool], dict[str, Estimate]] = {}
        rows = store.execute(read_sql(_SQL, "board_numbers")).fetchall()
        for metric, setting, model, language, estimate, low, high, wide_low, wide_high, reason, _ in rows:
            if language is None:
                self.reasons.setdefault((metric, setting), {})[model] = reason or "not compared"
            elif estimate is not None:
                for new_prompts, interval in ((False, (low, high)), (True, (wide_low, wide_high))):
                    of_model = self._of_languages.setdefault((metric, setting, model, new_prompts), {})
                    of_model[language] = Estimate(estimate, *interval)

    def by_language(self, board: _Key, model: str) -> Mapping[str, Estimate]:
        """The numbers of a model by language, with the intervals that a board shows."""
        metric, setting, variant = board
        return self._of_languages.get((metric, setting, model, variant == _NEW), {})


def unranked_metrics(store: Store, found: Sequence[RankBoard]) -> dict[str, str]:
    """The metrics that have no board among those `found`, each with the commonest reason."""
    ranked = {board.metric for board in found}
    return {metric: reason for metric, reason in store.execute(_REASONS).fetchall() if metric not in ranked}
