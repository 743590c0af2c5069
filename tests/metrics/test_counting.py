"""What counts: a linked item, once per response. Repeated and unlinked mentions change no number."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.metrics.measure import measure
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder

LANGUAGES, COUNTRIES = ("de", "en"), ("IT", "JP")
LABELS = {"sushi": 1, "fish": 0, "ramen": 1, "pizza": 1}
ITEMS = {"sushi": "Q1", "fish": "Q1", "ramen": "Q2", "pizza": "Q3"}
HEADLINE = ("granularity", "diversity", "specificity", "specificity_gain", "consensus")
UNLINKED = ({"surface": "nobody knows", "granularity": 0}, {"surface": "rivals", "granularity": 1})

named = st.lists(st.sampled_from(sorted(LABELS)), max_size=4)
responses = st.lists(named, min_size=6, max_size=6)


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


@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(responses, st.randoms(use_true_random=False))
def test_repeated_and_unlinked_mentions_change_no_number(said: list[list[str]], random: Any) -> None:
    """Every mention repeated as often as the others of its response, and unlinked ones anywhere."""
    plain = [[{"surface": one, "granularity": LABELS[one]} for one in mentions] for mentions in said]
    repeated = [[*mentions, *mentions] for mentions in plain]
    beside = [random.sample([*mentions, *UNLINKED], len(mentions) + 2) for mentions in plain]
    with tempfile.TemporaryDirectory() as folder:
        found = [numbers(build(Path(folder) / str(k), one)) for k, one in enumerate((plain, repeated, beside))]
    assert found[0] == found[1] == found[2]
    assert [row for row in found[0] if row[0] == "granularity" and row[6] is not None] or not any(said)


def test_a_mention_repeated_under_one_surface_changes_no_number(tmp_path: Path) -> None:
    """Ramen, which has one surface, three times instead of once."""
    once = [[{"surface": one} for one in ("ramen", "pizza")], [{"surface": "pizza"}]] * 3
    often = [[*mentions, *[one for one in mentions if one["surface"] == "ramen"] * 2] for mentions in once]
    assert numbers(build(tmp_path / "once", once)) == numbers(build(tmp_path / "often", often))
