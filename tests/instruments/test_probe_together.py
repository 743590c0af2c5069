"""What is generated, scored and probed of the same items, counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.instruments.probe import section
from polyculture.instruments.probe.layout import PROBE_LINKS, ItemLink
from polyculture.instruments.probe.links import kinds_of
from polyculture.instruments.probe.measure import measure_probe
from polyculture.metrics.measure import measure
from polyculture.reports.report import write_report
from polyculture.running.layout import store_layout
from tests.instruments.probe_world import layers_say, write_probes
from tests.instruments.test_probe import folder, llama
from tests.polyculture.test_command_line import polyculture
from tests.store_builder import StoreBuilder

__all__ = ["folder", "llama"]  # fixtures
QIDS = {"sushi": "Q1", "kimchi": "Q2", "paella": "Q3"}


def link(item: str, status: str = "linked") -> ItemLink:
    qid = QIDS.get(item)
    return ItemLink("en", "food", item, item.title(), "food", "dish", status, qid, "exact" if qid else None)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """Three texts say sushi and ramen; layers give sushi, kimchi and what is no item. Two countries have prompts."""
    builder = StoreBuilder(tmp_path, n=3)
    prompt = builder.ask(country="JP")
    for found in (["sushi"], ["sushi", "ramen"], []):
        builder.answer(prompt, found)
    builder.link("sushi", "Q1")
    builder.link("ramen", "Q4")
    builder.entity("Q1", "sushi", JP="P495")
    builder.entity("Q4", "ramen", JP="P495")
    run = builder.write()

    def said(arm: str, culture: str, question: int, layer: int) -> Sequence[str]:
        return ["sushi", "kimchi", "water"] if layer == 1 else ["kimchi", "nothing", f"dish of {culture}"]

    write_probes(run, said, arms=("patched", "text"), cultures=("Iran", "Japan", "South Korea"), questions=2, layers=2)
    links = [link("sushi"), link("kimchi"), link("nothing", "no candidate"), link("water", "no candidate")]
    write_parquet(objects_to_table(PROBE_LINKS, links), run.table(PROBE_LINKS.name))
    return run


def test_one_row_for_what_is_said_scored_and_stored(run: RunFolder) -> None:
    query = "SELECT qid, label, texts, generated, scored, items, probed FROM {} ORDER BY qid"
    with open_store(run, store_layout()) as store:
        rows = store.sql(query.format("entity_knowledge")).fetchall()
        unsaid = store.sql(query.format("stored_and_never_said")).fetchall()
        unstored = store.sql(query.format("said_and_not_stored")).fetchall()
        (entity,) = store.sql("SELECT at_layers, of_questions FROM probed_entities WHERE qid = 'Q2'").fetchall()
    assert rows == [
        ("Q1", "sushi", 3, 2, None, 18, 6),  # 3 cultures x 2 questions at layer 1
        ("Q2", "Kimchi", 3, 0, None, 18, 12),  # and at both layers
        ("Q4", "ramen", 3, 1, None, 18, 0),
    ]
    assert [row[0] for row in unsaid] == ["Q2"]
    assert [row[0] for row in unstored] == ["Q4"]
    assert entity == (2, 6)


def test_what_was_not_looked_for_is_not_absent(tmp_path: Path) -> None:
    """Without texts of the topic nothing is 'never said'."""
    run = StoreBuilder(tmp_path).write()
    write_probes(run, lambda *_: ["sushi"], cultures=("Iran", "Japan", "Spain"), questions=2, layers=1)
    write_parquet(objects_to_table(PROBE_LINKS, [link("sushi")]), run.table(PROBE_LINKS.name))
    with open_store(run, store_layout()) as store:
        assert store.sql("SELECT qid, generated, texts, probed FROM entity_knowledge").fetchall() == [
            ("Q1", None, None, 6)
        ]
        assert store.sql("SELECT * FROM stored_and_never_said").fetchall() == []


def test_the_section_shows_it(run: RunFolder) -> None:
    measure_probe(run, 9, 1)
    measure(run)
    page = write_report(run, layout=store_layout(), sections=section.SECTIONS).read_text(encoding="utf-8")
    assert "What it says and what its layers hold" in page
    for name in ("Kimchi", "ramen"):
        assert f'1 <span class="interval">{name}</span>' in page


def test_topics_of_questions_are_topics_of_the_linker() -> None:
    topics = read_catalog().topics
    assert kinds_of("Food") == [("food", "dish"), ("beverage", "drink")]
    assert kinds_of("Work life") == []
    for name in ("food", "beverage", "clothing", "book", "literature", "music", "transportation"):
        assert kinds_of(name)
        for topic, kind in kinds_of(name):
            assert topics[topic].kinds[kind].counted


def test_the_command_links(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a tiny model whose layers are told what to say, by the linker's own index."""
    layers_say(monkeypatch, ": sushi, qzxv, ramen")
    done = polyculture("probe", "exp.toml", "--link", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "link items: 2 of 3 linked" in done.stderr
    with open_store(RunFolder(folder / "runs" / "inside"), store_layout()) as store:
        found = store.sql("SELECT lower(label), probed, generated FROM entity_knowledge ORDER BY 1").fetchall()
    assert found == [("ramen", 36, None), ("sushi", 36, None)]  # 9 questions, 4 layers; no text was written
