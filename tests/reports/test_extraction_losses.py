"""*What to distrust* shows what a model that extracts lost, by language, with a warning where mentions are missing."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.store.manifest import require_run, write_manifest
from polyculture.reports.report import write_report
from tests.extracted import extracted_by
from tests.report_run import sections_named
from tests.reports.test_page import Page, parsed
from tests.store_builder import StoreBuilder


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
    assert "max_tokens of [extract]" in told
    assert "without a dictionary form" in told


def test_without_a_loss_there_is_no_warning_of_one(tmp_path: Path) -> None:
    page = page_of(tmp_path / "whole", cut=False)
    assert "max_tokens of [extract]" not in page.with_id("distrust").text
    assert "extraction_losses.csv" in {e.attributes.get("download") for e in page.all("a")}
