"""The report's section that puts models, cultures and types beside one another, and the page's header."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from polyculture.cache.store.manifest import Manifest, read_manifest, setup_id, write_manifest
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.shards import JobShards
from polyculture.cache.store.store import open_store
from polyculture.instruments.cbs.measure import measure_bias
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import DataSelection
from polyculture.instruments.tokens.layout import (
    VOCABULARY_SHARES,
    WANTED_VOCABULARIES,
    CountedVocabulary,
)
from polyculture.reports.report import write_report
from polyculture.running.layout import report_sections, store_layout
from tests.instruments.test_cbs_store import DEMO
from tests.report_instruments import add_made_up, score, write_own
from tests.report_run import sections_named

MODELS = ["openai:lab/one", "openai:lab/two"]
SILENT = "openai:lab/three"  # of the experiment, and never asked


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Scores of two models for two cultures and two types; rates of sentiment in two more languages."""
    run = RunFolder(tmp_path_factory.mktemp("run"))
    manifest = Manifest(experiment="x", polyculture="0", models=[*MODELS, SILENT], languages=["de"])
    write_manifest(manifest, run.manifest)
    chosen = DataSelection(types=("food", "names"), cultures=("Japanese", "Indian"), contexts=4, entities=6)
    score(run, load(rules_of("own"), DEMO), MODELS, chosen)
    measure_bias(run)
    add_vocabularies(run)
    made_up = {"gu": ("Indian", "food", "a", "b"), "ml": ("Indian", "food", "c", "d")}
    add_made_up(run, MODELS, "camellia", made_up)
    return run


def add_vocabularies(run: RunFolder) -> None:
    """Shares of English, which no writing tells; the made-up scores are of no other language."""
    manifest = read_manifest(run.manifest)
    assert manifest
    setups = {**manifest.setups, **{f"tokenize {model}": {"weights": model} for model in MODELS}}
    write_manifest(manifest.model_copy(update={"setups": setups}), run.manifest)
    wanted = []
    for number, model in enumerate(MODELS):
        wanted.append(WANTED_VOCABULARIES.row(model, model, setup_id(setups[f"tokenize {model}"]), "en", "ranges"))
        rows = [
            CountedVocabulary(
                f"{model}{reading}", request, model, "en", "ranges", reading, 200, own, 0, own / 200, "ok"
            )
            for reading, least, request in (("narrow", 10, model), ("wide", 25, model), ("other", 90, f"old {model}"))
            for own in (least + number,)
        ]
        with JobShards(run, Job(model, "en", "vocabulary-ranges"), (VOCABULARY_SHARES,)) as shards:
            shards.append_part({VOCABULARY_SHARES.name: objects_to_table(VOCABULARY_SHARES, rows)})
    write_parquet(objects_to_table(WANTED_VOCABULARIES, wanted), run.table(WANTED_VOCABULARIES.name))


@pytest.fixture(scope="module")
def page(run: RunFolder) -> str:
    write_report(run, None, store_layout(), report_sections())
    return Path(run.report).read_text(encoding="utf-8")


def section_of(page: str) -> str:
    found = re.search(r'<section[^>]*id="cultures".*?</section>', page, re.DOTALL)
    assert found
    return found.group()


def test_the_heat_map_has_every_score_with_its_interval(run: RunFolder, page: str) -> None:
    tables = re.findall(r'<table class="heat still">.*?</table>', section_of(page), re.DOTALL)
    assert len(tables) == 4  # two models, grounded and neutral
    titles = re.findall(r'<h4 dir="auto">(.*?)</h4>', section_of(page))
    assert titles[:2] == [f"{MODELS[0]}: own, {setting} contexts, causal" for setting in ("grounded", "neutral")]
    rows = [row for table in tables[::2] for row in re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', table)]
    assert [unescape(label) for label, _ in rows] == ["English, Indian", "English, Japanese"] * 2
    cells = [re.findall(r"<td[^>]*>([^<]*)(?:<small>([^<]*)</small>)?", cells) for _, cells in rows]
    with open_store(run, store_layout()) as store:
        known = store.sql(
            "SELECT estimate, low, high FROM numbers WHERE metric = 'cbs' AND method = 'sum' "
            "AND condition = 'grounded' AND country <> '*' ORDER BY model, country, nullif(topic, '*') NULLS LAST"
        ).fetchall()
    shown = [cell for row in cells for cell in row]
    assert len(shown) == len(known) == 12  # food, names, all types
    for (value, interval), (estimate, low, high) in zip(shown, known, strict=True):
        assert float(value) == pytest.approx(estimate, abs=0.0051)
        ends = [float(end) for end in interval.split(" to ")] if interval else [None, None]
        assert ends == [low, high] if low is None else ends == pytest.approx([low, high], abs=0.0051)
    assert any(interval for _, interval in shown)


def test_slopes_and_rates_have_a_panel_each_and_only_models_with_numbers_a_key(page: str) -> None:
    section = section_of(page)
    assert section.count("From neutral to grounded contexts: English,") == 2 * 2  # a region's and a drawing's label
    keys = re.findall(r'<span class="mark series-\d"[^>]*>.</span> ([^<]+)</li>', section)
    assert keys == [*MODELS, *MODELS, "with native entities", "with Western entities"]
    said = "False negatives (camellia, neutral contexts)"
    assert all(f"{model}: {said}" in section for model in MODELS)
    assert "Missed positives (camellia, grounded + neutral contexts)" in section
    assert "Gujarati, Indian" in section
    assert 'href="#evidence"' not in section  # nothing leads to evidence that there is not


def test_scores_stand_against_the_share_of_the_vocabulary_by_the_widest_reading(run: RunFolder, page: str) -> None:
    """A point per model and culture; readings of other letters, or of another tokenizer, are not drawn."""
    section = section_of(page)
    drawings = re.findall(r'aria-label="(Cultural Bias Score and the language[^"]*%[^"]*)"', section)
    assert len(drawings) == 2  # grounded, neutral
    found = [re.findall(r"(one|two), English, (Indian|Japanese): ([\d.]+) %, (0\.\d\d)", each) for each in drawings]
    assert [[point[:3] for point in points] for points in found] == 2 * [
        [
            ("one", "Indian", "12.50"),
            ("one", "Japanese", "12.50"),
            ("two", "Indian", "13.00"),
            ("two", "Japanese", "13.00"),
        ]
    ]
    with open_store(run, store_layout()) as store:
        known = store.sql(
            "SELECT estimate FROM numbers WHERE metric = 'cbs' AND method = 'sum' "
            "AND topic = '*' AND country <> '*' ORDER BY condition, model, country"
        ).fetchall()
    heights = [float(point[3]) for points in found for point in points]
    assert heights == pytest.approx([estimate for (estimate,) in known], abs=0.0051)


def test_the_header_names_the_languages_that_were_asked_and_the_models_in_full(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    manifest = Manifest(experiment="x", polyculture="0", models=[*MODELS, SILENT], languages=["en"])
    write_manifest(manifest, run.manifest)
    for code in ("gu", "ml"):
        score(run, write_own(tmp_path / code, code, "Indian", "food", "x"), MODELS, DataSelection())
    measure_bias(run)
    write_report(run, None, store_layout(), sections_named("cultures", "method"))
    page = run.report.read_text(encoding="utf-8")
    header = page[page.index('<dl class="asked">') : page.index("</dl>")]
    models, languages = (re.findall(r"<li>([^<]+)</li>", part) for part in header.split("Languages"))
    assert models == [*MODELS, SILENT]
    assert languages == ["Gujarati", "Malayalam"]  # and not English, which the experiment names for texts


def test_a_run_without_scores_has_no_such_section(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    write_manifest(Manifest(experiment="x", polyculture="0", models=MODELS), run.manifest)
    write_report(run, None, store_layout(), sections_named("cultures", "method"))
    assert 'id="cultures"' not in run.report.read_text(encoding="utf-8")
