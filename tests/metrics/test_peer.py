"""Our numbers of diversity against those of scikit-bio, on random cells: what it has, and where ours goes on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from polyculture.cache.store.store import open_store
from polyculture.metrics.measure import measure
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder

LANGUAGES = ("ar", "de", "en", "es", "hi", "ja", "ko", "tr")


def test_hill_numbers_and_goods_coverage_are_scikit_bios(tmp_path: Path) -> None:
    """It knows counts of individuals; ours are of responses that mention an item, each of them once."""
    from skbio.diversity import alpha

    random, builder = np.random.default_rng(4), StoreBuilder(tmp_path / "run")
    counts: dict[str, list[int]] = {}
    for number, language in enumerate(LANGUAGES):
        prompt, named = builder.ask(language), Counter[int]()
        for _ in range(5 + 2 * number):
            items = set((random.zipf(1.3 + number / 10, 4) % 40).tolist())
            named.update(items)
            builder.answer(prompt, [f"item {item}" for item in items])
        counts[language] = list(named.values())
    for item in range(40):
        builder.link(f"item {item}", f"Q{item + 1}")
    run = builder.write()
    measure(run)
    with open_store(run, store_layout()) as store:
        columns = "language, hill_1, hill_2, coverage, responses FROM diversity_companions"
        rows = store.sql(f"SELECT {columns}").fetchall()
    assert {row[0] for row in rows} == set(LANGUAGES)
    for language, *hills, coverage, responses in rows:
        seen = counts[language]
        assert hills == pytest.approx([alpha.hill(seen, order=order) for order in (1, 2)])
        once, twice = alpha.singles(seen), alpha.doubles(seen)
        others = (responses - 1) * (once if twice else once - 1)  # Chao and Jost's correction, which it does not have
        corrected = others / (others + 2 * max(twice, 1))
        assert 1 - coverage == pytest.approx((1 - alpha.goods_coverage(seen)) * corrected)
