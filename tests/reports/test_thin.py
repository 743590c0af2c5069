"""Numbers that rest on few linked items are grey, with their number beside them, and are counted as doubtful."""

from __future__ import annotations

import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.metrics.measure import measure
from polyculture.reports.numbers import FEWEST, rests_on
from polyculture.reports.report import write_report
from tests.report_run import sections_named
from tests.reports.test_page import Page, parsed
from tests.store_builder import StoreBuilder

ITEMS = {"ramen": "Q1", "sushi": "Q2"}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """Japanese texts name two items, English ones twelve."""
    builder = StoreBuilder(tmp_path_factory.mktemp("thin") / "run", models=("m", "n"), n=6)
    for language, times in (("ja", 1), ("en", 6)):
        for condition, country in (("neutral", None), ("explicit", "JP")):
            prompt = builder.ask(language=language, condition=condition, country=country)
            for sample in range(times):
                builder.answer(prompt, ITEMS, model="m", sample=sample)
    for surface, qid in ITEMS.items():
        builder.link(surface, qid)
        builder.entity(qid, surface, JP="P495")
    run: RunFolder = builder.write()
    measure(run)
    write_report(run, sections=sections_named("specificity", "granularity", "numbers", "distrust"))
    return parsed(run)


def test_cells_marks_and_lines_say_on_how_little_they_rest(page: Page) -> None:
    assert [rests_on(found) for found in (FEWEST - 1, FEWEST, None, float("nan"))] == [f"n = {FEWEST - 1}", *[None] * 3]
    cells = [e for e in page.all("td") if (e.attributes.get("class") or "").startswith("thin")]
    assert cells
    assert all(e.text.endswith(("n 2", "n 4")) for e in cells)
    assert any((e.attributes.get("class") or "").startswith("h") for e in page.all("td"))
    marks = [e.attributes["aria-label"] or "" for e in page.all("a") if "svg" in e.inside]
    assert any(label.startswith("m, Japanese:") and label.endswith("; n = 4") for label in marks)
    assert not any("n = " in label for label in marks if label.startswith("m, English:"))
    grey = [" ".join(e.text.split()) for e in page.all("td") if (e.attributes.get("class") or "") == "number thin"]
    assert any(text.endswith("n = 4") for text in grey)


def test_what_to_distrust_counts_them_and_has_their_rows(page: Page) -> None:
    assert "fewer than 10 linked items" in " ".join(page.with_id("distrust").text.split())
    assert "thin.csv" in {e.attributes.get("download") for e in page.all("a")}
