"""What copies of a model, or of a language, do to a comparison of other sides: nothing. On tables of numbers alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.cli.compare import BlockKind
from polyculture.metrics.comparison.blocks import Blocks
from polyculture.metrics.comparison.compare import NATIVE, ComparisonRow, Sides, compare, lay_out_native

TOPICS = ("book", "food", "music")
COUNTRIES = ("DE", "ES", "GB", "IN", "IT", "JP", "KR")
LANGUAGES = ("de", "en", "ja")
METRICS = ("granularity", "specificity", "specificity_gain")


def numbers(seed: int, models: Sequence[str], languages: Sequence[str]) -> list[dict[str, object]]:
    """A number for each metric and cell; some are missing. `name.2` is a copy of `name`."""
    rows: list[dict[str, object]] = []
    for metric in METRICS:
        for model in models:
            for language in languages:
                of = [sum(name.partition(".")[0].encode()) for name in (model, language, metric)]
                random = np.random.default_rng([seed, *of])
                for topic in TOPICS:
                    for country in (None, *COUNTRIES):
                        estimate = None if random.random() < 0.05 else float(random.gamma(0.5)) / 10
                        if metric == "granularity" or country is not None:
                            condition = "explicit" if country else "neutral"
                            rows.append(cell(metric, model, language, topic, condition, country, estimate))
    return rows


def cell(
    metric: str, model: str, language: str, topic: str, condition: str, country: str | None, estimate: float | None
) -> dict[str, object]:
    where = {"metric": metric, "model": model, "language": language, "other_language": None, "topic": topic}
    return {**where, "condition": condition, "country": country, "estimate": estimate}


@contextmanager
def store_of(rows: Sequence[Mapping[str, object]]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A store that has numbers, and bounds that are these numbers."""
    text = dict.fromkeys(
        ("metric", "model", "language", "other_language", "topic", "condition", "country"), pa.string()
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
@settings(max_examples=40, deadline=None)
def test_copies_of_a_model_change_nothing(
    seed: int, copies: int, sides: Sides, blocks: Blocks, by: tuple[str, ...]
) -> None:
    by = () if sides.dimension == "condition" else by
    models = ["one", *(f"one.{copy}" for copy in range(2, copies + 1))]
    with store_of(numbers(seed, ["one"], LANGUAGES)) as once, store_of(numbers(seed, models, LANGUAGES)) as often:
        assert alike(compare(once, sides, by, METRICS, blocks), compare(often, sides, by, METRICS, blocks))


@given(st.integers(0, 10_000), st.integers(2, 12), st.sampled_from(Blocks))
@settings(max_examples=20, deadline=None)
def test_copies_of_a_language_change_nothing(seed: int, copies: int, blocks: Blocks) -> None:
    languages = ["de", *(f"de.{copy}" for copy in range(2, copies + 1))]
    sides = Sides("model", "one", "two")
    with (
        store_of(numbers(seed, ["one", "two"], ["de"])) as once,
        store_of(numbers(seed, ["one", "two"], languages)) as often,
    ):
        assert alike(compare(once, sides, (), METRICS, blocks), compare(often, sides, (), METRICS, blocks))


@pytest.mark.parametrize(
    ("blocks", "granularity", "specificity", "gain"),
    [(Blocks.PROMPTS, 24, 21, 3), (Blocks.TOPICS, 3, 3, 3), (Blocks.COUNTRIES, 7, 7, 1)],
)
def test_what_is_a_block(blocks: Blocks, granularity: int, specificity: int, gain: int) -> None:
    """All models and languages of a prompt are one; neutral answers stand behind the gains of all countries."""
    rows = [row for row in numbers(3, ["one", "two"], LANGUAGES) if row["estimate"] is not None]
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


def test_the_command_takes_every_kind_of_block() -> None:
    assert [sampled.value for sampled in BlockKind] == [blocks.value for blocks in Blocks]
