"""The similarities of items, and the flattening scores of every model, data set, language, arm and filter of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, permutations
from pathlib import Path
from typing import Any

import duckdb

from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.instruments.probe.encoder import encode
from polyculture.instruments.probe.flattening import FEWEST, Judged, Occurrences, judge
from polyculture.instruments.probe.layout import PROBE
from polyculture.instruments.probe.rows import PROBE_FLATTENING, PROBE_SIMILARITIES, FlatteningRow, SimilarityRow
from polyculture.metrics.measured import measured

_ITEMS = Path(__file__).with_name("similarities.sql").read_text(encoding="utf-8")
_UNITS = """
SELECT DISTINCT model, dataset, language, arm, filter FROM probe_kept ORDER BY ALL
"""
_COUNTS = """
SELECT question_id, culture, item_key, count(*) FROM probe_kept
WHERE model = ? AND dataset = ? AND language = ? AND arm = ? AND filter = ?
GROUP BY ALL ORDER BY ALL
"""


def measure_similarities(run: RunFolder, encoders: Mapping[str, str]) -> None:
    """Writes the similarity of each item with its question, by the encoder of its language; no row without one."""
    measured(run, compose(CORE, PROBE), PROBE_SIMILARITIES, lambda store: _similarities(store, encoders))


def measure_flattening(run: RunFolder, minimum: int, resamples: int, seed: int) -> list[FlatteningRow]:
    """Writes and returns the scores of every pair of cultures. A language with fewer than three has none."""

    def rows(store: duckdb.DuckDBPyConnection) -> Iterator[FlatteningRow]:
        for unit in store.execute(_UNITS).fetchall():
            counts = store.execute(_COUNTS, unit).fetchall()
            yield from _pairs(unit, counts, minimum, resamples, seed)

    return measured(run, compose(CORE, PROBE), PROBE_FLATTENING, rows)


def _similarities(store: duckdb.DuckDBPyConnection, encoders: Mapping[str, str]) -> Iterator[SimilarityRow]:
    found = store.execute(_ITEMS).fetchall() if encoders else []
    for language, rows in groupby(found, key=lambda row: row[0]):
        if encoder := encoders.get(language):
            yield from _of_language(list(rows), encoder)


def _of_language(rows: Sequence[tuple[Any, ...]], encoder: str) -> Iterator[SimilarityRow]:
    texts = sorted({text for *_, item, question, about, names in rows for text in (item, question, about, *names)})
    place = {text: number for number, text in enumerate(texts)}
    vectors = encode(encoder, texts)
    for language, dataset, culture, question_id, item, question, about, names in rows:
        own = vectors[place[item]]
        like, topic, *near = (float(own @ vectors[place[text]]) for text in (question, about, *names))
        nearest = max(near, default=None)
        yield SimilarityRow(dataset, language, culture, question_id, item, encoder, like, topic, nearest)


def _pairs(unit: Any, counts: list[Any], minimum: int, resamples: int, seed: int) -> Iterator[FlatteningRow]:
    questions, cultures = (sorted({row[part] for row in counts}) for part in range(2))
    if len(cultures) < FEWEST:
        return
    judged = judge(Occurrences.of_rows(counts, questions, cultures), minimum, resamples, seed)
    model, dataset, language, arm, name = unit
    for (t, one), (s, other) in permutations(enumerate(cultures), 2):
        yield FlatteningRow(
            model=model, dataset=dataset, language=language, arm=arm, filter=name, culture=one, toward=other,
            minimum=minimum, questions=len(questions), cultures=", ".join(cultures),
            **_numbers(judged, t, s),
        )  # fmt: skip


def _numbers(judged: Judged, t: int, s: int) -> dict[str, Any]:
    arrays = {
        "score": judged.found.score, "low": judged.score_interval[0], "high": judged.score_interval[1],
        "share": judged.found.share, "share_low": judged.share_interval[0], "share_high": judged.share_interval[1],
        "by_chance": judged.by_chance, "p": judged.p,
    }  # fmt: skip
    values = {name: float(array[t, s]) for name, array in arrays.items()}
    known = {name: None if math.isnan(value) else value for name, value in values.items()}
    return {**known, "no_interval": judged.no_interval[t, s]}
