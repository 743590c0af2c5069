"""Models of one study, be they of one run or of several: which of them are told apart, in groups by rank.

A metric is a family of its own: all pairs of models are compared (`comparison.compare`), and q is over these pairs. So
of models that do not differ in it, none is told from another in 95 % of leaderboards, whatever other metrics show.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from polyculture.cache.database import memory_database
from polyculture.cache.store.joined import Source
from polyculture.cache.store.manifest import Manifest, require_run
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import DIFFERENCES, NUMBERS
from polyculture.cache.store.schema.measured import Difference
from polyculture.cache.store.store import Store, open_store
from polyculture.metrics import KEPT, METRICS_LAYOUT
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import Terms, compare
from polyculture.metrics.comparison.sides import Sides
from polyculture.metrics.declared import COMPARED
from polyculture.metrics.inference.family import in_families
from polyculture.metrics.limits import disqualified
from polyculture.metrics.means import all_numbers
from polyculture.metrics.responses import ALL
from polyculture.metrics.text_doubts import MOST_ASIDE

MOST_SAME = 0.5  # of a model's answers: with more that another model has, too, under the same request, it is that model
# The highest share of what was asked, or of the answers, with which a model has a rank.
BOUNDS: Mapping[str, float] = {
    "missing": 0.05,
    "unextracted": 0.05,
    "refused": MOST_ASIDE,
    "off-language": MOST_ASIDE,
    "cut": MOST_ASIDE,
}
# Unextracted are texts whose extraction failed, and those of languages in which a smaller share was read than in the
# model's best one: where `[extract] sample` limits how many texts are read, the share is the same in all languages.
_HEALTH = """
SELECT
    model, sum(asked)::BIGINT AS asked, sum(answered)::BIGINT AS answered,
    1 - sum(answered) / sum(asked) AS missing,
    coalesce(sum(refused) / sum(asked), 0) AS refused,
    coalesce(sum(off_language) / sum(answered), 0) AS "off-language",
    coalesce(sum(cut) / sum(answered), 0) AS cut,
    CASE WHEN sum(answered) > 0 THEN greatest(
        1 - coalesce(sum(extracted) / (sum(answered) * max(extracted / nullif(answered, 0))), 0),
        coalesce(sum(extraction_failed) / (sum(extracted) + sum(extraction_failed)), 0)
    ) ELSE 0 END AS unextracted
FROM (
    SELECT
        model, language, sum(asked) AS asked, sum(answered) AS answered, sum(refused) AS refused,
        sum(off_language) AS off_language, sum(cut) AS cut, sum(extracted) AS extracted,
        sum(extraction_failed) AS extraction_failed
    FROM health WHERE asked > 0 GROUP BY model, language
)
GROUP BY model ORDER BY model
"""
_ANSWERS = (
    "SELECT $source AS source, model, hash(request_id, sample, text) AS answer FROM responses WHERE status = 'ok'"
)
_SAME = """
SELECT b.source, b.model, a.source, a.model, count(DISTINCT b.answer) AS same, any_value(s.answers)
FROM answers AS a INNER JOIN answers AS b ON a.answer = b.answer AND a.source < b.source
INNER JOIN (SELECT source, model, count(DISTINCT answer) AS answers FROM answers GROUP BY ALL) AS s
    ON b.source = s.source AND b.model = s.model
GROUP BY ALL HAVING same > 0 ORDER BY ALL
"""
_BOARDS = """
SELECT metric, setting, variant, model, estimate, low, high, contexts
FROM text_board_entries INNER JOIN declared_metrics AS d ON metric = d.name
ORDER BY d.place, setting, variant, estimate DESC, model
"""
_TESTS = """
SELECT
    metric, if(condition = '*', 'all prompts', condition) AS setting, target = 'new_prompts' AS of_new,
    any_value(tested + exact) AS tested, any_value(comparisons) AS pairs
FROM ranks WHERE measure = 'entities' AND dimension = 'model' GROUP BY ALL
"""
_ORDERS = "SELECT metric, setting, variant, better, worse FROM text_board_orders"
# Where models lack different cells, numbers are over those that all have.
_NUMBERS = """
SELECT
    metric, if(condition = '*', 'all prompts', condition) AS setting, model, nullif(language, '*') AS language,
    estimate, low, high, wide_low, wide_high, no_estimate, level LIKE '%, shared' AS shared
FROM numbers
WHERE measure = 'entities' AND regexp_full_match(level, 'model(, language)?(, condition)?(, shared)?')
QUALIFY shared = bool_or(shared) OVER (PARTITION BY metric, condition, model, language)
"""
_REASONS = """
SELECT metric, mode(reason) FROM differences INNER JOIN declared_metrics AS d ON metric = d.name
WHERE reason IS NOT NULL AND target = 'same_prompts' AND selection = 'all' GROUP BY metric, d.place ORDER BY d.place
"""
_NEW = "new prompts"  # the variant of a board whose differences are of such prompts
_Key = tuple[str, str, str]  # a metric and its prompts; and what differences are of, or a model


@dataclass(frozen=True, slots=True)
class Health:
    """What became of what a model was asked: shares by name, as in `BOUNDS`."""

    asked: int
    answered: int
    shares: Mapping[str, float]

    def beyond(self, bounds: Mapping[str, float]) -> tuple[str, ...]:
        """The shares that are above their bounds."""
        return tuple(name for name, most in bounds.items() if self.shares[name] > most)


@dataclass(frozen=True, slots=True)
class SameAnswers:
    """A model whose answers are another one's; each is the number of its source, and its name there."""

    model: tuple[int, str]
    other: tuple[int, str]
    same: int
    answers: int

    @property
    def is_one(self) -> bool:
        """Whether so many are the same that both are one model, asked once."""
        return self.same > MOST_SAME * self.answers


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its interval, where it has one."""

    estimate: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    """A model on a board: its group, from 1, its number over all languages, and that of each.

    A model that cannot be compared has no group, and the `reason`.
    """

    group: int | None
    model: str
    value: Value | None
    cells: int
    languages: Mapping[str, Value]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Board:
    """A metric of all models: the highest first, and last those without a group."""

    metric: str
    setting: str  # the condition of the prompts, or 'all prompts'
    variant: str  # what the differences are of: the same prompts, or new ones
    standings: tuple[Standing, ...]
    tested: int  # pairs of models that could be compared
    pairs: int

    @property
    def groups(self) -> int:
        """How many there are."""
        return max(one.group or 0 for one in self.standings)

    @property
    def says(self) -> str:
        """What the groups tell."""
        groups = "1 group: no model is told from the highest" if self.groups == 1 else f"{self.groups} groups"
        return f"{groups}; {self.tested} of {self.pairs} {'pair' if self.pairs == 1 else 'pairs'} could be tested"


@dataclass(frozen=True, slots=True)
class Entry:
    """A model that is on the leaderboard under `name`."""

    name: str
    model: str  # as its run has it
    run: str  # the label of its run
    health: Health
    source: Source


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A run, or a model of one, that is not on the leaderboard, and why."""

    what: str
    why: str
    health: Health | None = None  # of a model whose health is the reason

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


@dataclass(frozen=True)
class Leaderboard:
    """What several runs come to; `run` is the joined one, which is there while the runs are open."""

    run: RunFolder
    manifest: Manifest
    study: str
    entries: Sequence[Entry]
    left_out: Sequence[LeftOut]
    doubts: Sequence[str]
    boards: Sequence[Board]
    untold: Mapping[str, str]  # metrics without a board, and why
    bounds: Mapping[str, float]

    @property
    def runs(self) -> list[str]:
        """The labels of the runs that have a model on it."""
        return list(dict.fromkeys(entry.run for entry in self.entries))


def model_health(store: Store) -> dict[str, Health]:
    """The health of each model that was asked anything."""
    cursor = store.execute(_HEALTH)
    names = [column[0] for column in cursor.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return {row["model"]: Health(row["asked"], row["answered"], {name: row[name] for name in BOUNDS}) for row in rows}


def same_answers(stores: Sequence[Store]) -> list[SameAnswers]:
    """The models of later stores whose answers are also those of a model of an earlier one: of the same request."""
    with memory_database() as connection:
        connection.execute("CREATE TABLE answers (source BIGINT, model VARCHAR, answer UBIGINT)")
        for at, store in enumerate(stores):
            connection.from_arrow(store.sql(_ANSWERS, params={"source": at}).to_arrow_table()).insert_into("answers")
        rows = connection.execute(_SAME).fetchall()
    return [SameAnswers((b, model), (a, other), same, of) for b, model, a, other, same, of in rows]


def compare_models(run: RunFolder) -> None:
    """Writes the numbers of a joined run, and the differences of all pairs of its models."""
    manifest = require_run(run)
    with open_store(run, METRICS_LAYOUT, KEPT, manifest=manifest) as store:
        compared = ComparedRun(store, manifest.deterministic)
        cells = {model: compared.metrics(model, ALL) for model in compared.reader.models}
        numbers = list(all_numbers(compared.reader, cells, manifest.deterministic, ""))
        differences = all_pairs(compared, manifest)
    write_parquet(objects_to_table(NUMBERS, numbers), run.table(NUMBERS.name))
    write_parquet(objects_to_table(DIFFERENCES, differences), run.table(DIFFERENCES.name))


def all_pairs(run: ComparedRun, manifest: Manifest, metrics: Sequence[str] = COMPARED) -> list[Difference]:
    """The differences of all pairs of models, with q over those of one metric and condition."""
    several = [Sides("model", a, b) for a, b in combinations(run.reader.models, 2)]
    rows = []
    for selection in run.selections:
        terms = Terms(metrics=metrics, selections=(selection,), fixed=disqualified(manifest))
        rows += [row.difference for row in compare([run], several, terms)]
        run.forget(selection)
    return in_families(rows, lambda row: (row.metric, row.condition, row.selection, row.target))


def percent(share: float) -> str:
    """A share that decides who is ranked: '5 %'."""
    return f"{100 * share:.0f} %"


def rank_groups(models: Sequence[str], told: Collection[tuple[str, str]]) -> list[int]:
    """The group of each model, from 1; the models are in order, the highest first.

    A model joins the group above unless it is `told` from that group's first: then it is the first of a new one. `told`
    has pairs of a model and one that is told to be below it.
    """
    groups: list[int] = []
    first = models[0] if models else ""
    for model in models:
        apart = (first, model) in told
        groups.append(groups[-1] + apart if groups else 1)
        first = model if apart else first
    return groups


def boards(store: Store) -> list[Board]:
    """The boards of a joined run whose models are compared: of each metric in which two or more can be."""
    told: dict[_Key, set[tuple[str, str]]] = {}
    for metric, setting, variant, better, worse in store.execute(_ORDERS).fetchall():
        told.setdefault((metric, setting, variant), set()).add((better, worse))
    languages: dict[tuple[str, ...], dict[str, Value]] = {}
    reasons: dict[tuple[str, str], dict[str, str]] = {}
    for metric, setting, model, language, estimate, *intervals, reason, _ in store.execute(_NUMBERS).fetchall():
        if language is None:
            reasons.setdefault((metric, setting), {})[model] = reason or "not compared"
        elif estimate is not None:
            for of_new, interval in ((False, intervals[:2]), (True, intervals[2:])):
                of_model = languages.setdefault((metric, setting, str(of_new), model), {})
                of_model[language] = Value(estimate, *interval)
    tests = {tuple(key): (tested, pairs) for *key, tested, pairs in store.execute(_TESTS).fetchall()}
    entries: dict[_Key, list[Any]] = {}
    for metric, setting, variant, *entry in store.execute(_BOARDS).fetchall():
        entries.setdefault((metric, setting, variant), []).append(entry)
    found = []
    for key, rows in entries.items():
        if not (tested := tests.get((*key[:2], key[2] == _NEW), (0, 0)))[0]:
            continue  # groups would say that models are equal of which nothing could be tested
        kind = *key[:2], str(key[2] == _NEW)
        names = [model for model, *_ in rows]
        groups = rank_groups(names, told.get(key, set()))
        standings = [
            Standing(group, model, Value(estimate, low, high), cells, languages.get((*kind, model), {}))
            for group, (model, estimate, low, high, cells) in zip(groups, rows, strict=True)
        ]
        others = sorted((model, why) for model, why in reasons.get(key[:2], {}).items() if model not in names)
        standings += [Standing(None, one, None, 0, languages.get((*kind, one), {}), why) for one, why in others]
        if len(rows) > 1:
            found.append(Board(*key, tuple(standings), *tested))
    return found


def untold(store: Store, found: Sequence[Board]) -> dict[str, str]:
    """The metrics that have no board among those `found`, each with the commonest reason."""
    ranked = {board.metric for board in found}
    return {metric: reason for metric, reason in store.execute(_REASONS).fetchall() if metric not in ranked}
