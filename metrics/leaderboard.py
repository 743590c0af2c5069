"""Models of one study, be they of one run or of several, in groups by rank.

In each metric all pairs of models are compared (`comparison.compare`), and the false discovery rate is controlled over
these pairs alone. So where the models do not differ in a metric, its leaderboard has one group in 95 % of studies,
whatever the other metrics show.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

from polyculture.cache.store.joined import OF_TEXTS as TABLES_OF_TEXTS
from polyculture.cache.store.joined import JoinedRun, JoinedTables
from polyculture.cache.store.layout import Layout
from polyculture.cache.store.manifest import Manifest, require_run
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import DIFFERENCES, NUMBERS
from polyculture.cache.store.schema.measured import Difference
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store, open_store
from polyculture.cache.text.quantity import quantity
from polyculture.metrics import KEPT, METRICS_LAYOUT
from polyculture.metrics.comparison.baseline import SAME_ANSWERS
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import Terms, compare
from polyculture.metrics.comparison.sides import Sides
from polyculture.metrics.comparison.study import RunStudy, study_of_texts
from polyculture.metrics.declared import COMPARED
from polyculture.metrics.inference.family import in_families
from polyculture.metrics.limits import disqualified
from polyculture.metrics.means import all_numbers
from polyculture.metrics.model_health import OF_TEXTS as SOUND_TEXTS
from polyculture.metrics.model_health import ModelHealth, Soundness
from polyculture.metrics.responses import ALL
from polyculture.metrics.text_doubts import text_doubts

_NO_INPUTS = ""  # a joined run is not measured again, so that nobody asks what its numbers were made of
_SQL = Path(__file__).with_name("boards")
_NEW = ("new prompts", "new items", "new questions")  # variants of boards whose differences hold for others of the kind


@dataclass(frozen=True, slots=True, order=True)
class _BoardKey:
    """Of a board, as `boards/joined_boards.sql` has it."""

    metric: str
    dataset: str
    setting: str
    variant: str
    goal: str


@dataclass(frozen=True)
class RankedData:
    """What a leaderboard of runs ranks models by: their texts, or their answers to questions and scores of items."""

    layout: Layout
    tables: JoinedTables
    soundness: Soundness
    study: Callable[[Manifest, Store], RunStudy]
    doubts: Callable[[Store, Manifest], Iterable[str]]  # of a joined run: what readers must know of its answers
    # Writes the numbers of a joined run, and the differences of all pairs of its models.
    compare: Callable[[RunFolder, Collection[frozenset[str]]], None]


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """A number with its interval, where it has one."""

    estimate: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class RankedModel:
    """A model on a board: its group, from 1, its number over all languages, and that of each.

    A model that cannot be compared has no group, and the `reason`. `doubt` is what a number says less than others for.
    """

    group: int | None
    model: str
    value: IntervalEstimate | None
    cells: int
    languages: Mapping[str, IntervalEstimate]
    reason: str = ""
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class RankBoard:
    """A metric of all models, last those without a group. Unless lower is better, the highest is the first."""

    metric: str
    dataset: str  # the data set of questions or items, with its language; '' of texts
    setting: str  # the condition of the prompts, or 'all prompts'; method and reader of answers; of items ''
    variant: str  # what the differences hold for: the same prompts, or new prompts, questions or items
    goal: str  # what is good: 'low', 'high', 'zero', or 'more': that depends on the use
    models: tuple[RankedModel, ...]
    tested: int  # pairs of models that could be compared
    pairs: int

    @property
    def name(self) -> str:
        """The metric, with the data set where it is of one, and how that was asked."""
        of = ", ".join(filter(None, (self.dataset, self.setting)))
        return f"{self.metric} ({of})" if self.dataset else self.metric

    @property
    def where(self) -> str:
        """What the numbers are of, and what the differences hold for."""
        return ", ".join(filter(None, (self.dataset, self.setting, self.variant)))

    @property
    def groups(self) -> int:
        """The number of groups."""
        return max(one.group or 0 for one in self.models)

    @property
    def summary(self) -> str:
        """How many groups there are, and of how many pairs the difference could be tested."""
        first = {"low": "lowest", "zero": "one nearest to zero"}.get(self.goal, "highest")
        groups = quantity(self.groups, "group") + (f": no model differs from the {first}" if self.groups == 1 else "")
        pairs = f"{self.tested} of {quantity(self.pairs, 'pair')}"
        told = f"the sizes of {pairs} could be compared" if self.goal == "zero" else f"{pairs} could be tested"
        return f"{groups}; {told}"


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

    data: RankedData
    run: RunFolder
    manifest: Manifest
    study: RunStudy
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
    rows_of: dict[_BoardKey, list[Any]] = {}
    orders: dict[_BoardKey, set[tuple[str, str]]] = {}
    for *named, model, estimate, low, high, contexts, reason, worse in _rows(store, "joined_boards"):
        key = _BoardKey(*named)
        rows_of.setdefault(key, []).append((model, estimate, low, high, contexts, reason))
        orders.setdefault(key, set()).update((model, one) for one in worse)
    tests = {tuple(named): (tested, pairs) for *named, tested, pairs in _rows(store, "board_tests")}
    numbers = _Numbers(store)
    found = []
    for key, rows in rows_of.items():
        placed = [row for row in rows if row[1] is not None]
        tested, pairs = tests.get((key.metric, key.dataset, key.setting, key.variant in _NEW), (0, 0))
        if key.goal == "zero":  # sizes are compared by their intervals
            tested, pairs = (comb(sum(one[at] is not None for one in placed), 2) for at in (2, 1))
        if not tested or len(placed) < 2:
            continue  # without a test all models would be in one group, as if they were equal
        groups = rank_groups([model for model, *_ in placed], orders[key])
        ranked = [
            RankedModel(
                group,
                model,
                IntervalEstimate(estimate, low, high),
                cells,
                numbers.by_language(key, model),
                doubt=doubt or "",
            )
            for group, (model, estimate, low, high, cells, doubt) in zip(groups, placed, strict=True)
        ]
        withheld = {row[0]: row[-1] or "not compared" for row in rows if row[1] is None}
        withheld |= {} if key.dataset else numbers.reasons.get((key.metric, key.setting), {})
        ranked += [
            RankedModel(None, model, None, 0, numbers.by_language(key, model), reason)
            for model, reason in sorted(withheld.items())
            if model not in {one.model for one in ranked}
        ]
        board = RankBoard(key.metric, key.dataset, key.setting, key.variant, key.goal, tuple(ranked), tested, pairs)
        found.append(board)
    return found


def _rows(store: Store, name: str) -> list[Any]:
    return store.execute(read_sql(_SQL, name)).fetchall()


class _Numbers:
    """The numbers of a joined run's models by metric and condition, and why a model has none over all languages."""

    def __init__(self, store: Store) -> None:
        self.reasons: dict[tuple[str, str], dict[str, str]] = {}
        self._of_languages: dict[tuple[str, str, str, bool], dict[str, IntervalEstimate]] = {}
        for row in _rows(store, "board_numbers"):
            metric, setting, model, language, estimate, low, high, wide_low, wide_high, reason, _ = row
            if language is None:
                self.reasons.setdefault((metric, setting), {})[model] = reason or "not compared"
            elif estimate is not None:
                for new_prompts, interval in ((False, (low, high)), (True, (wide_low, wide_high))):
                    of_model = self._of_languages.setdefault((metric, setting, model, new_prompts), {})
                    of_model[language] = IntervalEstimate(estimate, *interval)

    def by_language(self, board: _BoardKey, model: str) -> Mapping[str, IntervalEstimate]:
        """The numbers of a model by language, with the intervals that a board shows."""
        return self._of_languages.get((board.metric, board.setting, model, board.variant in _NEW), {})


def unranked_metrics(store: Store, found: Sequence[RankBoard]) -> dict[str, str]:
    """The metrics that have no board among those `found`, each with the commonest reason."""
    ranked = {board.name for board in found}
    return {metric: reason for metric, reason in _rows(store, "board_reasons") if metric not in ranked}


def text_study(manifest: Manifest, store: Store) -> RunStudy:
    """The study of a run's texts. Prompts of imported texts are in the store, where their files have them."""
    prompts: dict[str, dict[str, dict[str, str]]] = {}
    for language, text, cell in _rows(store, "imported_prompts") if manifest.imported else ():
        of_language = prompts.setdefault(language, {})
        name = text if text not in of_language else f"{text} ({cell})"
        of_language[name] = {"cell": cell}
    return study_of_texts(manifest, {language: items for language, items in prompts.items() if "" not in items})


TEXTS = RankedData(METRICS_LAYOUT, TABLES_OF_TEXTS, SOUND_TEXTS, text_study, text_doubts, compare_models)
