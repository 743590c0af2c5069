"""Which regions texts are of: labels told by hand, shares with two intervals, and people's labels beside."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import CatalogError
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.generate.engines.openai.hosted import HOSTED, HOSTED_OPTIONS
from polyculture.metrics.audit.judging import cases_of, drawn, keep_answer, regions_of
from polyculture.metrics.measure import measure
from polyculture.metrics.text_regions import RegionShare, region_shares
from polyculture.reports.report import write_report
from polyculture.running.layout import store_layout
from tests.metrics.test_views import rows_of
from tests.polyculture.test_command_line import one_line, polyculture
from tests.report_run import sections_named
from tests.store_builder import StoreBuilder

WORDINGS = ("write", "describe", "imagine", "paragraph")
REGIONS = """
[arab]
name = "Arab countries"
countries = ["LB", "MA", "EG"]
[western]
name = "Western countries"
countries = ["IT", "US"]
"""


def own_regions(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "regions.toml").write_text(REGIONS, encoding="utf-8")
    return folder


@pytest.fixture
def builder(tmp_path: Path) -> StoreBuilder:
    built = StoreBuilder(tmp_path / "run", n=25)
    built.know(read_catalog(own_regions(tmp_path / "mine")))
    return built


def name_items(built: StoreBuilder) -> None:
    """Couscous of two Arab countries; kibbeh, also of Turkey, which is in neither region; hummus, of both; ..."""
    origins: dict[str, dict[str, str]] = {
        "couscous": {"MA": "P495", "EG": "P495"},
        "pizza": {"IT": "P495"},
        "kibbeh": {"LB": "P495", "TR": "P495"},
        "sushi": {"JP": "P495"},
        "hummus": {"LB": "P495", "US": "P495"},
        "soup": {},
    }
    for number, (surface, countries) in enumerate(origins.items(), start=1):
        built.link(surface, f"Q{number}")
        built.entity(f"Q{number}", surface, **countries)
    built.link("nobody knows")
    built.link("torn", "Q1", status="ambiguous")


def test_a_text_is_of_the_region_of_its_items_and_says_why_where_it_is_of_none(builder: StoreBuilder) -> None:
    prompt = builder.ask("ar", "food")
    expected: dict[str, tuple[Any, ...]] = {}

    def text(mentions: list[Any], *result: Any, **columns: Any) -> None:
        expected[builder.answer(prompt, mentions, **columns)] = result

    text(["couscous"], "labelled", "arab", None)
    text(["couscous", "couscous", "soup", "sushi"], "labelled", "arab", None)
    text(["kibbeh"], "labelled", "arab", None)
    text(["pizza", "hummus"], "labelled", "western", None)
    text(["pizza", "couscous"], "labelled", "mixed", None)
    text(["hummus", "sushi"], "labelled", "neutral", "several regions")
    text(["sushi", "soup"], "labelled", "neutral", "elsewhere")
    text(["soup"], "labelled", "neutral", "no country")
    text(["nobody knows", "torn"], "labelled", "neutral", "nothing linked")
    text([], "labelled", "neutral", "nothing named")
    text([{"surface": "pizza", "hallucinated": True}], "labelled", "neutral", "nothing named")
    text(["couscous"], "refused", None, None, refused=True)
    text([], "refused", None, None, status="failed", text=None, finish_reason="content_filter")
    text([], "failed", None, None, status="failed", text=None)
    text([], "empty", None, None, text=" \n", script_share=None)
    text([], "extraction failed", None, None, extraction="failed")
    text([], "awaiting", None, None, extraction=None)
    text(["couscous", "not looked up"], "awaiting", None, None)
    name_items(builder)
    with rows_of(builder) as rows:
        found = {
            row["response_id"]: (row["outcome"], row["label"], row["neutral_because"]) for row in rows("text_regions")
        }
    assert found == expected


def fill(built: StoreBuilder, shares: dict[str, float], **columns: Any) -> None:
    """25 texts a wording, of which this share is Western, all others Arab."""
    for wording, share in shares.items():
        prompt = built.ask("ar", "food", wording=wording)
        for number in range(25):
            built.answer(prompt, ["pizza" if number < round(25 * share) else "couscous"], **columns)


def by_label(built: StoreBuilder) -> dict[str, RegionShare]:
    with open_store(built.write(), store_layout()) as store:
        return {one.label: one for one in region_shares(store) if one.topic == "food"}


def test_a_share_has_an_interval_of_other_texts_and_none_of_other_prompts_on_one_topic(builder: StoreBuilder) -> None:
    fill(builder, dict(zip(WORDINGS, (0.2, 0.4, 0.6, 0.8), strict=True)))
    name_items(builder)
    found = by_label(builder)
    assert list(found) == ["arab", "western", "mixed", "neutral"]
    western = found["western"]
    assert western.share == pytest.approx(0.5)
    assert (western.texts, western.counts.labelled, western.counts.asked, western.prompts) == (50, 100, 100, 4)
    assert (western.wide_low, western.no_wide) == (None, "few topics")
    # The standard error of the mean of four shares of 25 texts each, 1.96 to 2.2 of which are the half width.
    error = np.sqrt(sum(p * (1 - p) / 25 for p in (0.2, 0.4, 0.6, 0.8))) / 4
    assert 1.9 * error < (western.high - western.low) / 2 < 2.3 * error
    mixed = found["mixed"]
    assert mixed.share == 0
    assert 0 < mixed.high < 0.06
    assert (mixed.wide_low, mixed.no_wide) == (None, "few topics")


def test_intervals_are_withheld_where_texts_or_wordings_are_few(builder: StoreBuilder) -> None:
    builder.n = 5
    for wording in ("write", "describe"):
        prompt = builder.ask("ar", "food", wording=wording)
        for number in range(4):
            builder.answer(prompt, ["pizza" if number else "couscous"])
    name_items(builder)
    western = by_label(builder)["western"]
    assert western.share == pytest.approx(0.75)
    assert (western.low, western.no_interval) == (None, "few responses")
    assert (western.wide_low, western.no_wide) == (None, "few topics")
    assert (western.counts.asked, western.counts.labelled) == (10, 8)  # two are not there yet


def test_refusals_and_empty_texts_are_counted_and_in_no_share(builder: StoreBuilder) -> None:
    prompt = builder.ask("ar", "food")
    for number in range(20):
        builder.answer(prompt, ["pizza" if number < 5 else "couscous"])
    for _ in range(3):
        builder.answer(prompt, ["pizza"], refused=True)
    builder.answer(prompt, text="", script_share=None)
    builder.ask("ar", "food", wording="never answered")
    name_items(builder)
    western = by_label(builder)["western"]
    assert western.share == pytest.approx(0.25)
    counts = western.counts
    assert (counts.asked, counts.labelled, counts.refused, counts.empty, counts.failed) == (50, 20, 3, 1, 0)
    assert western.prompts == 1


def test_a_share_over_topics_weighs_prompts_alike(builder: StoreBuilder) -> None:
    for topic, texts in (("food", 20), ("beverage", 10)):
        prompt = builder.ask("ar", topic)
        for _ in range(texts):
            builder.answer(prompt, ["pizza"] if topic == "food" else [])
    name_items(builder)
    with open_store(builder.write(), store_layout()) as store:
        shares = {(one.topic, one.label): one.share for one in region_shares(store)}
    assert shares[None, "western"] == pytest.approx(0.5)
    assert (shares["food", "western"], shares["beverage", "neutral"]) == (1.0, 1.0)


def test_no_region_may_have_the_name_of_a_label(tmp_path: Path) -> None:
    (tmp_path / "regions.toml").write_text('[mixed]\nname = "Mixed"\ncountries = ["IT"]\n', encoding="utf-8")
    with pytest.raises(CatalogError, match="mixed"):
        read_catalog(tmp_path)


# The preset, through the command line.
ANSWERS = """
[[answer]]
prompt = "العشاء"
texts = ["يتناول التبولة في المساء", "يأكل بيتزا مع أصدقائه", "يأكل بيتزا ثم تبولة", "يقرأ كتابا", ""]
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The preset's experiment, run with a model that is only played, on food alone."""
    tmp_path = tmp_path_factory.mktemp("texts")
    file = tmp_path / "exp.toml"
    assert polyculture("init", file, "--preset", "camel-texts", cwd=tmp_path).returncode == 0
    (tmp_path / "answers.toml").write_text(ANSWERS, encoding="utf-8")
    written = file.read_text(encoding="utf-8").replace(f'models = ["{HOSTED}"]', 'models = ["mock:a"]')
    written = written.replace('topics = ["food", "beverage", "clothing", "book"]\n', 'topics = ["food"]\n')
    changes = {
        f'with = "{HOSTED}"': 'with = "gazetteer"',
        HOSTED_OPTIONS: "",
        "fill = true": "fill = false",
        'snapshot = "camel-texts-wikidata.duckdb"': 'snapshot = "starter"',
    }
    for paid, free in changes.items():
        assert paid in written
        written = written.replace(paid, free)
    file.write_text(written + '\n[options."mock:a"]\nanswers = "answers.toml"\n', encoding="utf-8")
    done = polyculture("run", file, cwd=tmp_path, report=True)
    assert done.returncode == 0, done.stderr
    return file


def test_the_preset_asks_four_prompts_of_25_texts_and_labels_them(texts: Path) -> None:
    done = polyculture("table", "texts", texts, "--format", "json", cwd=texts.parent)
    assert done.returncode == 0, done.stderr
    found = {row["label"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert list(found) == ["arab", "western", "mixed", "neutral"]
    assert {row["asked"] for row in found.values()} == {100}
    # Three of the four prompts are about dinner: each has 5 empty texts of 25. The fourth's own words name nothing.
    assert [found[label]["texts"] for label in found] == [15, 15, 15, 40]
    assert (found["arab"]["labelled"], found["arab"]["empty"]) == (85, 15)
    assert found["arab"]["share"] == pytest.approx(3 / 4 * 1 / 4)
    assert found["arab"]["low"] < found["arab"]["share"] < found["arab"]["high"]
    shown = polyculture("table", "texts", texts, cwd=texts.parent).stdout
    assert all(word in shown for word in ("arab", "western", "mixed", "unplaced"))


def test_the_report_has_a_section_where_a_run_has_regions_of_its_own(texts: Path) -> None:
    page = (texts.parent / "runs/camel-texts/report.html").read_text(encoding="utf-8")
    section = page.partition('id="text_regions"')[2].partition("</section>")[0]
    words = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", section))
    assert "Arab countries Western countries Mixed Neutral" in words
    assert "85 of 100 15 empty" in words
    assert "0.19" in words  # 3/4 of 1/4
    done = polyculture("report", texts, "--format", "csv", cwd=texts.parent)
    assert done.returncode == 0, done.stderr
    file = texts.parent / "runs/camel-texts/report-tables/texts.csv"
    rows = {row["label"]: row for row in csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines())}
    assert [rows[label]["texts"] for label in ("arab", "western", "mixed", "neutral")] == ["15", "15", "15", "40"]
    done = polyculture("report", texts, "--paper", "camel", cwd=texts.parent)
    assert done.returncode == 0, done.stderr
    file = texts.parent / "runs/camel-texts/report-tables/paper-camel/compared.csv"
    cells = [one for one in csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines())
             if one["table"] == "figure 8"]  # fmt: skip
    assert {(one["model"], one["row"]) for one in cells} == {("mock:a", "food")}
    shares = {one["column"]: float(one["yours"]) for one in cells}
    assert [shares[label] for label in ("arab", "western", "mixed")] == [18.75, 18.75, 18.75]
    assert "this run's" in cells[0]["protocol"]


def test_a_report_with_the_regions_of_m49_has_no_such_section(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path / "run")
    prompt = built.ask("en", "food", "JP")
    for _ in range(12):
        built.answer(prompt, ["sushi"])
    built.link("sushi", "Q1")
    built.entity("Q1", "sushi", JP="P495")
    built.know()
    run = built.write()
    measure(run)
    page = write_report(run, sections=sections_named("dominance", "text_regions")).read_text(encoding="utf-8")
    assert 'id="text_regions"' not in page
    assert 'id="dominance"' in page


def label(texts: Path, judge: str, labels: list[str]) -> None:
    """A judge says of which culture the texts of a sample are."""
    run = RunFolder(texts.parent / "runs" / "camel-texts")
    with open_store(run, store_layout()) as store:
        for one, word in zip(drawn(store, 20), labels, strict=True):
            keep_answer(run, cases_of(store, one)[-1], judge, "region", word, regions_of(store))


def test_people_label_texts_and_agree_with_one_another_and_with_the_links(texts: Path) -> None:
    first = ["arab", "western"] * 10
    other = ["arab", "western"] * 9 + ["neutral", "mixed"]
    for judge, labels in (("ana", first), ("ben", other), ("cem", first)):
        label(texts, judge, labels)
    done = polyculture("audit", texts, cwd=texts.parent)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    pair = next(line for line in lines if line[:3] == ["ana,", "ben", "region"])
    assert pair[3:5] == ["20", "0.900"]
    assert next(line for line in lines if line[:3] == ["ana,", "cem", "region"])[5] == "1.000"
    against = next(line for line in lines if line[:2] == ["ana,", "the"])
    assert 0 < int(against[5]) <= 20  # an empty text has no label of ours


def test_an_unknown_preset_and_a_folder_that_is_there_end_in_one_line(tmp_path: Path) -> None:
    assert "camel-texts" in one_line(polyculture("init", "e.toml", "--preset", "camel", cwd=tmp_path))
    assert polyculture("init", "e.toml", "--preset", "camel-texts", cwd=tmp_path).returncode == 0
    assert "is there already" in one_line(polyculture("init", "f.toml", "--preset", "camel-texts", cwd=tmp_path))
    assert not (tmp_path / "f.toml").exists()
