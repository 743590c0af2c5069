"""Scores of items that other harnesses gave, as what a leaderboard of several runs ranks models by.

Runs are of one study where their items are the same, belong to the same groups, and were scored by the same metrics in
the same ranges.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from polyculture.cache.identity import content_id
from polyculture.cache.store.joined import JoinedTables
from polyculture.cache.store.layout import compose
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.portable import NO_INPUTS
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import DIFFERENCES, NUMBERS
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store, open_store
from polyculture.instruments.questions.layout import ANSWERS, LAYOUT, QUESTIONS, READINGS, WANTED_ANSWERS
from polyculture.instruments.questions.numbers.measure import families_of, number_rows
from polyculture.instruments.questions.numbers.paired import paired_differences
from polyculture.instruments.questions.numbers.tally import count_answers
from polyculture.metrics import METRICS_LAYOUT
from polyculture.metrics.comparison.study import Items, RunStudy
from polyculture.metrics.inference.family import in_families
from polyculture.metrics.leaderboard import RankedData
from polyculture.metrics.model_health import MOST_MISSING, Soundness
from polyculture.sources.item_scores import NO_LANGUAGE

_OWN = Path(__file__).parent
_RANKED_LAYOUT = compose(METRICS_LAYOUT, LAYOUT)
_DIGITS = 8  # of the hash of what items there are


def study_of_scores(_: Manifest, store: Store) -> RunStudy:
    """The study of a run's scores: items with their groups, metrics with their ranges, and what logs call good."""
    parts, stated, items = dict[str, str](), dict[str, str](), dict[str, Items]()
    for dataset, language, size, units, grouped, names in store.execute(read_sql(_OWN, "score_study")).fetchall():
        where = dataset if language == NO_LANGUAGE else f"{dataset} in {language}"
        groups = f" in {units} clusters" if units < size else ""
        parts[f"items of {where}"] = f"{size}{groups}, {content_id(grouped)[:_DIGITS]}"
        items[f"items of {where}"] = {
            name: {"text": question, "cluster": unit} for name, (question, unit) in zip(names, grouped, strict=True)
        }
    for dataset, metric, scaled, better in store.execute(read_sql(_OWN, "score_metrics")).fetchall():
        parts[f"metric {metric} of {dataset}"] = scaled or "0 to 1"
        if better:
            stated[f"what is good in {metric} of {dataset}"] = better
    return RunStudy(content_id("study of scores", parts), parts, stated, items)


def compare_scored(run: RunFolder, dependent: Collection[frozenset[str]] = ()) -> None:
    """Writes the numbers of a joined run, and the differences of all pairs of its models but the `dependent` ones.

    The false discovery rate is that of the pairs of one metric.
    """
    with open_store(run, _RANKED_LAYOUT) as store:
        families = families_of(store)
        count_answers(store)
        numbers = list(number_rows(store, families, NO_INPUTS))
        rows = [
            row
            for row in paired_differences(store, families, NO_INPUTS)
            if row.dimension == "model" and frozenset((row.a, row.b)) not in dependent
        ]
    differences = in_families(
        rows, lambda row: (row.metric, row.dataset, row.language, row.condition, *sorted(row.facets.items()))
    )
    write_parquet(objects_to_table(NUMBERS, numbers), run.table(NUMBERS.name))
    write_parquet(objects_to_table(DIFFERENCES, differences), run.table(DIFFERENCES.name))


SCORES = RankedData(
    _RANKED_LAYOUT,
    JoinedTables((WANTED_ANSWERS, ANSWERS, READINGS), {QUESTIONS: ("question_id",)}),
    Soundness({"missing": MOST_MISSING}, _OWN / "score_health.sql", _OWN / "score_answers.sql"),
    study_of_scores,
    compare_scored,
)
