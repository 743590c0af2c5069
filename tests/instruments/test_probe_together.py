"""What is generated, scored and probed of the same items, and flattening beside other numbers, counted by hand."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from polyculture.cache.catalog import read_catalog
from polyculture.cache.manifest import read_manifest
from polyculture.cache.numbers import inputs_of, write_numbers
from polyculture.cache.parquet import objects_to_table, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.generate.engines.patching import Continuation, Inspection, Patch
from polyculture.instruments.cbs.layout import MEASURE
from polyculture.instruments.cbs.numbers import numbers_of
from polyculture.instruments.cbs.rows import BiasInterval
from polyculture.instruments.probe import section
from polyculture.instruments.probe.correlations import FEWEST, Beside, beside, country_names
from polyculture.instruments.probe.links import kinds_of
from polyculture.instruments.probe.measure import measure_flattening
from polyculture.instruments.probe.together_rows import PROBE_LINKS, ItemLink
from polyculture.metrics.measure import measure
from polyculture.reports.report import write_report
from polyculture.running.layout import store_layout
from tests.instruments.probe_world import write_probes
from tests.instruments.test_probe import QUICK, folder
from tests.polyculture.test_command_line import polyculture
from tests.store_builder import StoreBuilder, blank

__all__ = ["folder"]  # a fixture
COUNTRIES = {"China": "CN", "Germany": "DE", "India": "IN", "Iran": "IR", "Italy": "IT", "Japan": "JP", "Mexico": "MX",
             "South Korea": "KR", "Spain": "ES", "US": "US"}  # fmt: skip
QIDS = {"sushi": "Q1", "kimchi": "Q2", "paella": "Q3"}


def link(item: str, status: str = "linked") -> ItemLink:
    qid = QIDS.get(item)
    return ItemLink("en", "food", item, item.title(), "food", "dish", status, qid, "label", 0.9)


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
    measure_flattening(run, 1, 9, 1)
    measure(run)
    page = write_report(run, layout=store_layout(), sections=section.SECTIONS).read_text(encoding="utf-8")
    assert "What it says and what its layers hold" in page
    assert '1<br><small dir="auto">Kimchi</small>' in page
    assert '1<br><small dir="auto">ramen</small>' in page
    assert f"With fewer than {FEWEST} countries there is none" in page  # one country has prompts


def rows_of(values: dict[str, float], direction: str = "leans on others") -> list[dict[str, object]]:
    return [
        {"model": "m", "dataset": "d", "language": "en", "filter": "none", "direction": direction, "culture": culture,
         "flattening": value}
        for culture, value in values.items()
    ]  # fmt: skip


def others_of(
    values: dict[str, float], language: str | None = "en", number: str = "diversity of texts"
) -> list[dict[str, object]]:
    return [
        {"model": "m", "language": language, "number": number, "place": place, "value": value}
        for place, value in values.items()
    ]


def test_a_correlation_is_over_the_countries_that_both_are_about() -> None:
    catalog = read_catalog()
    own = {culture: float(place * 7 % 10) for place, culture in enumerate(COUNTRIES)}
    theirs = {code: float(place * 3 % 10) for place, code in enumerate(COUNTRIES.values())}
    (found,) = beside(rows_of({**own, "Assam": 99.0}), others_of({**theirs, "TR": 5.0}), catalog)
    expected = stats.spearmanr(list(own.values()), list(theirs.values()))
    assert found.countries == 10
    assert found.spearman == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.low is not None
    assert found.high is not None
    assert found.low < expected.statistic < found.high
    assert found.reason is None
    few = dict(list(theirs.items())[: FEWEST - 1])
    (refused,) = beside(rows_of(own), others_of(few), catalog)
    assert refused == Beside("m", "d", "en", "none", "leans on others", "diversity of texts", 7, None, None, None, None,
                             "7 shared countries: fewer than 8")  # fmt: skip
    (other_language,) = beside(rows_of(own), others_of(theirs, "zh"), catalog)
    assert other_language.countries == 0
    (scores,) = beside(rows_of(own), others_of(theirs, None), catalog)
    assert scores.spearman == pytest.approx(expected.statistic)
    (alike,) = beside(rows_of(own), others_of(dict.fromkeys(theirs, 1.0)), catalog)
    assert (alike.spearman, alike.reason) == (None, "a number is the same for all")
    assert list(beside(rows_of(own), [{**row, "model": "n"} for row in others_of(theirs)], catalog)) == []


def test_cultures_mean_countries_by_names_peoples_and_codes() -> None:
    names = country_names(read_catalog())
    for name, code in {"korean": "KR", "south korea": "KR", "uk": "GB", "jp": "JP", "iran": "IR", "us": "US"}.items():
        assert names[name] == code, name
    for name in ("assam", "northern nigeria", "arab", "western"):
        assert name not in names


def test_bias_scores_stand_beside(tmp_path: Path) -> None:
    """From the store: scores over types, by the culture's people; types alone and differences do not count."""
    run = StoreBuilder(tmp_path).write()
    people = ("Japanese", "Korean", "Chinese")
    rows = [
        blank("bias_contrasts", model="m", dataset="camellia", language=language, culture=culture, entity_type=kind,
              setting="neutral", form="causal", rule="sum", metric="cbs", estimate=place / 10)
        for place, culture in enumerate(people) for language in ("ja", "en") for kind in (None, "food")
    ]  # fmt: skip
    manifest = read_manifest(run.manifest)
    assert manifest
    inputs = inputs_of(run, manifest, MEASURE)
    write_numbers(run, "cbs", [number for row in rows for number in numbers_of(BiasInterval(**row), inputs)])
    folder = Path(section.__file__).parent
    with open_store(run, store_layout()) as store:
        found = store.sql((folder / "other_numbers.sql").read_text(encoding="utf-8")).fetchall()
    numbers = {row[2] for row in found}
    assert len(found) == 6
    assert all(row[1] is None for row in found)
    assert {number.rpartition(", ")[2] for number in numbers} == {"in English", "in own languages"}


def test_topics_of_questions_are_topics_of_the_linker() -> None:
    topics = read_catalog().topics
    assert kinds_of("Food") == [("food", "dish"), ("beverage", "drink")]
    assert kinds_of("Work life") == []
    for name in ("food", "beverage", "clothing", "book", "literature", "music", "transportation"):
        assert kinds_of(name)
        for topic, kind in kinds_of(name):
            assert topics[topic].kinds[kind].counted


def test_the_command_links_and_lists(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a tiny model whose layers are told what to say, by the linker's own index."""
    from polyculture.generate.engines.transformers.engine import TransformersEngine

    def say(_: Any, __: Inspection, patches: Iterable[Patch]) -> Iterator[Continuation]:
        for patch in patches:
            yield Continuation(patch.patch_id, ": sushi, qzxv, ramen", 9, "line", "told")

    monkeypatch.setattr(TransformersEngine, "continue_patched", say)
    words = ("probe", "exp.toml", "--questions", "open.tsv", *QUICK)
    plain = polyculture(*words, cwd=folder)
    assert plain.returncode == 0, plain.stderr
    assert (
        "no item was linked: run with --link" in polyculture("table", "entity_knowledge", "exp.toml", cwd=folder).stderr
    )
    done = polyculture(*words, "--link", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "link items: 2 of 3 linked" in done.stderr
    rows = [json.loads(line) for line in table(folder, "entity_knowledge", "json")]
    assert {row["label"].lower(): row["probed"] for row in rows} == {"sushi": 36, "ramen": 36}  # 9 questions, 4 layers
    assert {row["generated"] for row in rows} == {None}  # no text was written
    keyed = polyculture(*words, "--key", "item", cwd=folder)
    assert keyed.returncode == 0, keyed.stderr
    assert "72 of 108 occurrences are linked; left out: no candidate 36" in keyed.stderr
    pairs = list(csv.DictReader(table(folder, "flattening_matrix")))
    found = {(row["key"], row["left_out"], row["cultures"]) for row in pairs if row["arm"] == "patched"}
    assert found == {("string", "", "3"), ("item", "36", "3")}
    for name, column in (("items_by_layer", "echo_rate"), ("knowledge", "both")):
        assert column in table(folder, name)[0].split(",")


def table(folder: Path, name: str, form: str = "csv") -> list[str]:
    """The lines of a table of the run."""
    done = polyculture("table", name, "exp.toml", "--format", form, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
