"""*What to distrust* shows what a model that extracts lost, by language, and where its English names disagree."""

from __future__ import annotations

import re
from pathlib import Path

from polyculture.cache.store.manifest import require_run, write_manifest
from polyculture.reports.report import write_report
from tests.extracted import extracted_by
from tests.report_run import sections_named
from tests.reports.test_page import Page, parsed
from tests.store_builder import StoreBuilder, blank


def page_of(folder: Path, *, cut: bool) -> Page:
    """Four texts, two in each language; of those in Thai one has a list that was cut, and no dictionary forms."""
    builder = StoreBuilder(folder, models=("m",), n=2)
    for language in ("en", "th"):
        prompt = builder.ask(language=language)
        for sample in range(2):
            builder.answer(prompt, {"ramen": "Q1"}, sample=sample)
    for row in (*builder.rows["extractions"], *builder.rows["mentions"]):
        row["reader_id"] = "reader"
    for row in builder.rows["extractions"]:
        row["cut"] = cut and row["language"] == "th" and row["sample"] == 1
        row["unknown_kinds"] = row["unreadable"] = 0
    for row in builder.rows["mentions"]:
        row["name"] = None if row["language"] == "th" else "ramen"
    builder.link("ramen", "Q1")
    builder.entity("Q1", "ramen", JP="P495")
    run = builder.write()
    manifest = require_run(run)
    extractor = extracted_by(manifest.extractor, manifest.extractor_ids, "reader")
    write_manifest(manifest.model_copy(update=extractor), run.manifest)
    write_report(run, sections=sections_named("distrust"))
    return parsed(run)


def test_mentions_that_the_limit_cut_are_a_warning_with_its_place_and_its_remedy(tmp_path: Path) -> None:
    told = " ".join(page_of(tmp_path / "cut", cut=True).with_id("distrust").text.split())
    assert "What extraction lost" in told
    assert "Thai: 50 % (1 of 2)" in told
    assert "max_tokens in [extract]" in told
    assert "without a dictionary form" in told


def test_without_a_loss_there_is_no_warning_of_one(tmp_path: Path) -> None:
    page = page_of(tmp_path / "whole", cut=False)
    assert "max_tokens of [extract]" not in page.with_id("distrust").text
    assert "extraction_losses.csv" in {e.attributes.get("download") for e in page.all("a")}


def test_refusals_on_the_extractors_word_alone_or_against_the_phrases_are_warnings(tmp_path: Path) -> None:
    """Of two texts in each language the extractor takes one for a refusal; only English has phrases of refusals."""
    builder = StoreBuilder(tmp_path, models=("m",), n=2)
    for language in ("en", "sw"):
        prompt = builder.ask(language=language)
        for sample in range(2):
            builder.answer(prompt, {"ramen": "Q1"}, sample=sample)
    for row in builder.rows["responses"]:
        row["refused"] = False if row["language"] == "en" else None
    for row in builder.rows["extractions"]:
        row["reader_id"], row["declined"] = "reader", row["sample"] == 1
    builder.link("ramen", "Q1")
    builder.entity("Q1", "ramen", JP="P495")
    run = builder.write()
    manifest = require_run(run)
    extractor = extracted_by(manifest.extractor, manifest.extractor_ids, "reader")
    write_manifest(manifest.model_copy(update=extractor), run.manifest)
    write_report(run, sections=sections_named("distrust"))
    told = " ".join(parsed(run).with_id("distrust").text.split())
    places = r"\W*(\w+: 50 % \(1 of 2\))\. Of a model"
    assert re.findall(r"or name a stronger model in \[extract\]\." + places, told) == ["Swahili: 50 % (1 of 2)"], told
    assert re.findall(r"in languages without phrases, either\." + places, told) == ["English: 50 % (1 of 2)"], told


def test_where_own_words_and_the_english_name_disagree_is_shown_with_an_example(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path, models=("m",), n=4)
    prompt = builder.ask(language="de")
    for sample, mention in enumerate(({"surface": "Eis", "english": "ice cream"}, "Brot", "Brot", "Brot")):
        builder.answer(prompt, [mention], sample=sample)
    builder.link("Brot", "Q2")
    link = {"language": "de", "topic": "food", "kind": "dish", "surface": "Eis", "english": "ice cream"}
    builder.rows["links"].append(blank("links", status="linked", qid="Q1", english_qid="Q3", **link))
    builder.entity("Q1", "ice")
    builder.entity("Q2", "bread")
    run = builder.write()
    write_report(run, sections=sections_named("distrust"))
    section = parsed(run).with_id("distrust")
    told = " ".join(section.text.split())
    assert "25 % of the linked mentions have an English name that matches a different item" in told
    assert "German 25 % 1 of 4 Eis ice Q1 ice cream Q3" in told
