"""What copies of a model, a language or a wording do to a comparison of other sides: nothing. On tables of numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import product

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.cache.errors import StoreError
from polyculture.metrics.comparison.blocks import Blocks
from polyculture.metrics.comparison.compare import NATIVE, ComparisonRow, Sides, compare, lay_out_native, pairs_of

TOPICS = ("book", "food", "music")
COUNTRIES = ("DE", "ES", "GB", "IN", "IT", "JP", "KR")
LANGUAGES = ("de", "en", "ja")
METRICS = ("granularity", "specificity", "specificity_gain")


def numbers(
    seed: int, models: Sequence[str], languages: Sequence[str], wordings: Sequence[str] = ("paragraph",)
) -> list[dict[str, object]]:
    """A number for each metric and cell; some are missing. `name.2` is a copy of `name`."""
    rows: list[dict[str, object]] = []
    for metric, model, language, wording in product(METRICS, models, languages, wordings):
        of = [sum(name.partition(".")[0].encode()) for name in (model, language, metric, wording)]
        random = np.random.default_rng([seed, *of])
        for topic, country in product(TOPICS, (None, *COUNTRIES)):
            estimate = None if random.random() < 0.05 else float(random.gamma(0.5)) / 10
            if metric == "granularity" or country is not None:
                condition = "explicit" if country else "neutral"
                rows.append(cell(metric, model, language, topic, condition, country, estimate, wording))
    return rows


def cell(
    metric: str,
    model: str,
    language: str,
    topic: str,
    condition: str,
    country: str | None,
    estimate: float | None,
    wording: str = "paragraph",
) -> dict[str, object]:
    where = {"metric": metric, "model": model, "language": language, "other_language": None, "topic": topic}
    return {**where, "condition": condition, "country": country, "wording": wording, "estimate": estimate}


@contextmanager
def store_of(rows: Sequence[Mapping[str, object]]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A store that has numbers, and bounds that are these numbers."""
    text = dict.fromkeys(
        ("metric", "model", "language", "other_language", "topic", "condition", "country", "wording"), pa.string()
    )
    schema = pa.schema({**text, "estimate": pa.float64()})
    table = pa.Table.from_pylist([dict(row) for row in rows], schema)
    with duckdb.connect() as store:
        store.register("cell_values", table)
        store.execute("CREATE VIEW cell_bounds AS SELECT *, estimate AS lowest, estimate AS highest FROM cell_values")
        lay_out_native(store, [("de", "DE"), ("ja", "JP"), ("en", "GB")])
        yield store


def told(rows: Sequence[ComparisonRow]) -> list[float | None]:
    """The numbers of a comparison, but for those of pairs."""
    values: list[float | None] = []
    for row in rows:
        assert row.effect
        found = {name: value for name, value in asdict(row.effect).items() if name not in ("pairs", "no_interval")}
        values += [*found.values(), row.q]
    return values


def alike(one: Sequence[ComparisonRow], other: Sequence[ComparisonRow]) -> bool:
    assert [row.group for row in one] == [row.group for row in other]
    pairs = zip(told(one), told(other), strict=True)
    return all(a == b if a is None or b is None else b == pytest.approx(a, rel=1e-6, abs=1e-9) for a, b in pairs)


@given(
    st.integers(0, 10_000),
    st.integers(2, 12),
    st.sampled_from([Sides("language", "de", "en"), Sides("condition", "explicit", "neutral"), NATIVE]),
    st.sampled_from(Blocks),
    st.sampled_from([(), ("condition",)]),
)
@settings(max_examples=16, deadline=None)
def test_copies_of_a_model_change_nothing(
    seed: int, copies: int, sides: Sides, blocks: Blocks, by: tuple[str, ...]
) -> None:
    by = () if sides.dimension == "condition" else by
    models = ["one", *(f"one.{copy}" for copy in range(2, copies + 1))]
    with store_of(numbers(seed, ["one"], LANGUAGES)) as once, store_of(numbers(seed, models, LANGUAGES)) as often:
        assert alike(compare(once, sides, by, METRICS, blocks), compare(often, sides, by, METRICS, blocks))


@given(st.integers(0, 10_000), st.integers(2, 12), st.sampled_from(Blocks))
@settings(max_examples=8, deadline=None)
def test_copies_of_a_language_change_nothing(seed: int, copies: int, blocks: Blocks) -> None:
    languages = ["de", *(f"de.{copy}" for copy in range(2, copies + 1))]
    sides = Sides("model", "one", "two")
    with (
        store_of(numbers(seed, ["one", "two"], ["de"])) as once,
        store_of(numbers(seed, ["one", "two"], languages)) as often,
    ):
        assert alike(compare(once, sides, (), METRICS, blocks), compare(often, sides, (), METRICS, blocks))


@given(
    st.integers(0, 10_000),
    st.integers(2, 8),
    st.sampled_from([blocks for blocks in Blocks if blocks is not Blocks.WORDINGS]),
    st.sampled_from([["write"], ["write", "describe", "letter"]]),
)
@settings(max_examples=8, deadline=None)
def test_copies_of_wordings_change_nothing(seed: int, copies: int, blocks: Blocks, wordings: list[str]) -> None:
    """A wording is no independent witness of what is special about a topic or country."""
    copied = [f"{wording}.{copy}" for wording in wordings for copy in range(1, copies + 1)]
    models = ["one", "two"]
    for sides in (Sides("model", *models), Sides("language", "de", "en"), NATIVE):
        with (
            store_of(numbers(seed, models, LANGUAGES, wordings)) as once,
            store_of(numbers(seed, models, LANGUAGES, copied)) as often,
        ):
            assert alike(compare(once, sides, (), METRICS, blocks), compare(often, sides, (), METRICS, blocks))


def test_wordings_are_compared_within_all_else() -> None:
    rows = [row for row in numbers(4, ["one", "two"], LANGUAGES, ["write", "describe"]) if row["estimate"] is not None]
    of = {tuple(value for name, value in row.items() if name != "estimate"): row["estimate"] for row in rows}
    with store_of(rows) as store:
        [row] = compare(store, Sides("wording", "write", "describe"), (), ["granularity"], Blocks.TOPICS)
        found = pairs_of(store, Sides("wording", "write", "describe"))
        pairs = [dict(zip(found.columns, pair, strict=True)) for pair in found.fetchall()]
    assert row.effect
    assert row.effect.blocks == 3
    columns = ("metric", "model", "language", "other_language", "topic", "condition", "country")
    for pair in pairs:
        place = tuple(pair[name] for name in columns)
        assert (pair["a"], pair["b"]) == (of[*place, "write"], of[*place, "describe"])
    assert len(pairs) == len(
        {(*key[:-1],) for key in of if (*key[:-1], "write") in of and (*key[:-1], "describe") in of}
    )


def test_with_wordings_as_blocks_three_are_enough_and_each_has_the_same_questions() -> None:
    rows = numbers(5, ["one", "two"], ["de", "en"], ["write", "describe", "letter"])
    models, complete = Sides("model", "one", "two"), defaultdict(list)
    for row in rows:
        if row["metric"] == "granularity" and row["estimate"] is not None:
            complete[row["language"], row["topic"], row["country"]].append(row)
    with store_of(rows) as store:
        [row] = compare(store, models, (), ["granularity"], Blocks.WORDINGS)
        [one] = compare(store, models, ["wording"], ["granularity"], Blocks.WORDINGS)[:1]
    assert row.effect
    assert row.effect.low is not None
    assert row.effect.p is not None
    assert (row.effect.p < 0.05) == (row.effect.low > 0 or (row.effect.high or 0) < 0)
    assert (row.effect.blocks, row.effect.pairs) == (3, 3 * sum(len(found) == 6 for found in complete.values()))
    assert one.effect
    assert one.effect.no_interval == "few blocks"
    with store_of(rows) as store, pytest.raises(StoreError, match="wordings are compared here"):
        compare(store, Sides("wording", "write", "letter"), (), ["granularity"], Blocks.WORDINGS)


@pytest.mark.parametrize(
    ("blocks", "granularity", "specificity", "gain"),
    [(Blocks.PROMPTS, 24, 21, 3), (Blocks.TOPICS, 3, 3, 3), (Blocks.COUNTRIES, 7, 7, 1), (Blocks.WORDINGS, 1, 1, 1)],
)
def test_what_is_a_block(blocks: Blocks, granularity: int, specificity: int, gain: int) -> None:
    """All models and languages of a prompt are one; neutral answers stand behind the gains of all countries."""
    rows = [row for row in numbers(1, ["one", "two"], LANGUAGES) if row["estimate"] is not None]
    with store_of(rows) as store:
        found = {row.metric: row.effect for row in compare(store, Sides("language", "de", "en"), (), METRICS, blocks)}
    effects = [found[metric] for metric in METRICS]
    assert [effect and effect.blocks for effect in effects] == [granularity, specificity, gain]
    given = [effect is not None and effect.low is not None for effect in effects]
    assert given == [number >= 18 for number in (granularity, specificity, gain)]


def test_a_block_counts_once_however_many_pairs_it_has() -> None:
    rows = [
        cell(
            "granularity",
            "one",
            language,
            topic,
            "explicit",
            "JP",
            1.0 if language == "en" and topic == "book" else 0.0,
        )
        for topic, languages in (("book", ["en"]), ("food", ["en", "de", "ja"]))
        for language in languages
    ]
    rows += [{**row, "model": "two", "estimate": 0.0} for row in rows]
    with store_of(rows) as store:
        [row] = compare(store, Sides("model", "one", "two"), (), ["granularity"])
    assert row.effect
    assert (row.effect.a, row.effect.difference, row.effect.pairs, row.effect.blocks) == (0.5, 0.5, 4, 2)
