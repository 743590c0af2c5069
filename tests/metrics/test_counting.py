"""What counts: a linked item, once per response. Repeated and unlinked mentions change no number."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.metrics.measure import measure
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder

LANGUAGES, COUNTRIES = ("de", "en"), ("IT", "JP")
LABELS = {"sushi": 1, "fish": 0, "ramen": 1, "pizza": 1}
ITEMS = {"sushi": "Q1", "fish": "Q1", "ramen": "Q2", "pizza": "Q3"}
HEADLINE = ("granularity", "diversity", "specificity", "specificity_gain", "consensus")
UNLINKED = ({"surface": "nobody knows", "granularity": 0}, {"surface": "rivals", "granularity": 1})

SAID = (
    ("sushi", "fish", "ramen"), ("pizza", "pizza"), (), ("fish", "sushi"), ("ramen",), ("pizza", "ramen", "fish"),
    ("ramen", "pizza"), ("sushi", "sushi", "fish"), ("fish",), ("pizza", "ramen"), (), ("sushi", "pizza"),
)  # fmt: skip


def build(folder: Path, said: Sequence[Sequence[dict[str, Any]]]) -> RunFolder:
    """Two languages, three prompts each; their responses in turn."""
    built = StoreBuilder(folder, countries=COUNTRIES, n=4)
    prompts = [built.ask(language, country=country) for language in LANGUAGES for country in (None, *COUNTRIES)]
    for number, mentions in enumerate(said):
        built.answer(prompts[number % len(prompts)], mentions, sample=number // len(prompts))
    for surface, qid in ITEMS.items():
        built.link(surface, qid)
    built.link("nobody knows")
    built.link("rivals", "Q2", "ambiguous")
    for qid, country in (("Q1", "JP"), ("Q2", "JP"), ("Q3", "IT")):
        built.entity(qid, **{country: "P495"})
    return built.write()


def numbers(run: RunFolder) -> list[tuple[Any, ...]]:
    """The cells' numbers and their means, each with its interval and what it rests on."""
    measure(run)
    columns = "metric, model, language, topic, condition, country, estimate, low, high, no_interval, units, n"
    with open_store(run, store_layout()) as store:
        query = f"SELECT {columns} FROM numbers WHERE list_contains($metrics, metric) ORDER BY ALL"
        found = store.execute(query, {"metrics": list(HEADLINE)}).fetchall()
    return [tuple(round(one, 12) if isinstance(one, float) else one for one in row) for row in found]


def test_repeated_and_unlinked_mentions_change_no_number(tmp_path: Path) -> None:
    """Every mention repeated as often as the others of its response; unlinked ones anywhere; ramen, which has one
    surface, three times instead of once."""
    plain = [[{"surface": one, "granularity": LABELS[one]} for one in mentions] for mentions in SAID]
    dice = random.Random(1)
    changed = {
        "repeated": [[*mentions, *mentions] for mentions in plain],
        "beside": [dice.sample([*mentions, *UNLINKED], len(mentions) + 2) for mentions in plain],
        "often": [[*mentions, *[one for one in mentions if one["surface"] == "ramen"] * 2] for mentions in plain],
    }
    expected = numbers(build(tmp_path / "plain", plain))
    assert [row for row in expected if row[0] == "granularity" and row[6] is not None]
    for name, said in changed.items():
        assert numbers(build(tmp_path / name, said)) == expected, name
