"""Answers to question sets, and scores of items that other harnesses gave, as what a leaderboard of several runs ranks
models by.

Runs are of one study where the same questions were asked in the same way, and the answers read by the same rules; of
scores, where their items are the same, belong to the same groups, and were scored by the same metrics in the same
ranges.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

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
from polyculture.instruments.questions.asking import GENERATED, WORDING
from polyculture.instruments.questions.layout import ANSWERS, LAYOUT, QUESTIONS, READINGS, SCORED, WANTED_ANSWERS
from polyculture.instruments.questions.numbers.measure import families_of, number_rows
from polyculture.instruments.questions.numbers.paired import paired_differences
from polyculture.instruments.questions.numbers.tally import count_answers
from polyculture.metrics import METRICS_LAYOUT
from polyculture.metrics.comparison.study import NOT_RECORDED, NOT_SAID, Items, RunStudy, studied
from polyculture.metrics.inference.family import in_families
from polyculture.metrics.leaderboard import RankedData
from polyculture.metrics.model_health import MOST_MISSING, Soundness
from polyculture.metrics.text_doubts import MOST_ASIDE, answer_doubts
from polyculture.sources.item_scores import NO_LANGUAGE

_OWN = Path(__file__).parent
_RANKED_LAYOUT = compose(METRICS_LAYOUT, LAYOUT)
_DIGITS = 8  # of the hash of what questions there are


def study_of_answers(manifest: Manifest, store: Store) -> RunStudy:
    """The study of a run's answers: questions, how they were asked and read; of scores items, ranges, what is good."""
    parts, stated, items = dict[str, str](), dict[str, str](), dict[str, Items]()
    for dataset, language, method, size, units, grouped, names, said in _rows(store, "ranked_questions"):
        scored = method == SCORED
        what = f"{'items' if scored else 'questions'} of {_where(dataset, language, method)}"
        groups = f" in {units} {'clusters' if scored else 'units'}" if units < size else ""
        parts[what] = f"{size}{groups}, {content_id(grouped)[:_DIGITS]}"
        called = (
            ("text", "cluster", "facet")
            if scored
            else ("text or key", "text", "list of options", "key", "unit", "facet")
        )
        each = zip(names, grouped if scored else said, strict=True)
        items[what] = {name: dict(zip(called, own, strict=True)) for name, own in each}
    for dataset, language, method, prompt, n, orders, settings in _rows(store, "ranked_prompts"):
        where = _where(dataset, language, method)
        parts |= {f"{what} of {where}": value for what, value in _asked(method, prompt, n, orders, settings)}
    for dataset, scored, reader, rules, scaled, better in _rows(store, "ranked_readers"):
        parts[f"{'metric' if scored else 'reader'} {reader} of {dataset}"] = (scaled or "0 to 1") if scored else rules
        if better:
            stated[f"what is good in {reader} of {dataset}"] = better
    asked = {dataset for dataset, _, method, *_ in _rows(store, "ranked_questions") if method != SCORED}
    families = families_of(store)
    parts |= {f"numbers of {dataset}": ", ".join(families[dataset]) for dataset in sorted(asked)}
    return studied(["study of answers" if asked else "study of scores"], manifest, parts, stated, items)


def _rows(store: Store, name: str) -> Iterator[tuple[Any, ...]]:
    return iter(store.execute(read_sql(_OWN, name)).fetchall())


def _where(dataset: str, language: str, method: str) -> str:
    """'gsm8k', 'gsm8k in de'; of what was asked 'kobbq in ko, letter'."""
    place = dataset if language in (NO_LANGUAGE, "-") else f"{dataset} in {language}"
    return place if method == SCORED else f"{place}, {method}"


def _asked(
    method: str, prompt: str, n: int, orders: Sequence[Sequence[int]], settings: Sequence[str] | None
) -> Iterator[tuple[str, str]]:
    """How a prompt was asked: its wording, the decoding, the number of answers, the orders of options."""
    some = [json.loads(one) for one in settings or ()]
    wordings = dict.fromkeys(str(one.pop(WORDING))[:_DIGITS] for one in some if WORDING in one)
    if prompt or not some:
        yield f"prompt {prompt}" if prompt else "wording", ", ".join(wordings) or NOT_RECORDED
    decoding = {name: str(value) for one in some for name, value in sorted(one.items())}
    if method == GENERATED and not decoding:
        yield "sampling", NOT_SAID
    yield from decoding.items()
    yield "answers to each request", str(n)
    if orders:
        yield "orders of the options", " ".join("".join(map(str, order)) for order in orders)


def compare_answered(run: RunFolder, dependent: Collection[frozenset[str]] = ()) -> None:
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
        rows,
        lambda row: (
            *(row.metric, row.dataset, row.language, row.method, row.reader, row.condition, row.target),
            *sorted(row.facets.items()),
        ),
    )
    write_parquet(objects_to_table(NUMBERS, numbers), run.table(NUMBERS.name))
    write_parquet(objects_to_table(DIFFERENCES, differences), run.table(DIFFERENCES.name))


def _doubts(store: Store, _: Manifest) -> Iterator[str]:
    """The doubts about the answers of a joined run."""
    return answer_doubts(store.sql(read_sql(_OWN, "ranked_texts")).to_arrow_table())


ANSWERED = RankedData(
    _RANKED_LAYOUT,
    JoinedTables((WANTED_ANSWERS, ANSWERS, READINGS), {QUESTIONS: ("question_id",)}),
    Soundness(
        # Numbers are withheld by the same bound of what can be read. An answer that was cut may name its option before.
        {"missing": MOST_MISSING, "refused": MOST_ASIDE, "unread": MOST_ASIDE, "cut": 1.0},
        _OWN / "ranked_health.sql",
        _OWN / "ranked_answers.sql",
    ),
    study_of_answers,
    _doubts,
    compare_answered,
)
