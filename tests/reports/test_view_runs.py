"""`polyculture view`: runs over time, like names, and faults."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from polyculture.cache.run_folder import RunFolder
from polyculture.metrics.measure import measure
from tests.reports.test_browser import browser  # noqa: F401  a fixture
from tests.reports.test_view import Served, page  # noqa: F401  fixtures
from tests.store_builder import StoreBuilder

COUNTRIES = ("DE", "IT", "JP", "KR", "MX", "US")
HOSTILE = "<img src=x onerror=alert(1)>"


def build(folder: Path, name: str, model: str, general: int) -> None:
    """A run in whose prompts `general` of every three countries get a general dish beside the specific one."""
    built = StoreBuilder(folder / "runs" / name, models=[model], countries=COUNTRIES, n=6)
    for language in ("de", "ja"):
        for place, country in enumerate(COUNTRIES):
            prompt = built.ask(language, "food", country)
            for sample in range(6):
                rice = [{"surface": "rice", "granularity": 0}] * (place % 3 < general and sample < 5)
                built.answer(prompt, ["sushi", *rice], model=model, sample=sample)
    built.link("sushi", "Q46383")
    built.link("rice", "Q5090")
    built.entity("Q46383", "sushi", JP="P495")
    built.write()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("beside")
    build(folder, "before", "openai:old", general=1)
    build(folder, "after", "openai:new", general=2)
    runs = folder / "runs"
    for name in ("before", "after"):
        measure(RunFolder(runs / name))
    shutil.copytree(runs / "before", runs / HOSTILE)
    (runs / "torn").mkdir()
    (runs / "torn" / "manifest.json").write_text("{", encoding="utf-8")
    served = Served(RunFolder(runs / "after"), tmp_path_factory.mktemp("stores"), models=("openai:new",))
    yield served
    served.close()


@pytest.mark.parametrize("path", ["/runs", "/?q=shusi", "/nothing"])
def test_axe_finds_no_violation_and_nothing_runs(served: Served, browser: Browser, path: str) -> None:  # noqa: F811
    page = browser.new_page(viewport={"width": 390, "height": 900})  # noqa: F811
    try:
        page.goto(f"{served.at}{path}")
        assert page.locator("img").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
    finally:
        page.close()


def test_runs_over_time(served: Served, page: Page) -> None:  # noqa: F811
    page.goto(f"{served.at}/runs")
    assert "is not a manifest that this version can read" in page.locator(".fault").inner_text()
    heads = page.locator("thead th").all_inner_texts()
    assert any("before" in head for head in heads)
    assert sum("this run" in head for head in heads) == 1
    words = page.locator(".trend svg text").all_text_contents()
    assert {"before", "granularity", "run, oldest first"} <= set(words)  # axes
    assert any(word.replace(".", "").isdecimal() for word in words)
    assert page.locator(".keys li").count() == 2  # models


def test_a_misspelt_name_is_suggested(served: Served, page: Page) -> None:  # noqa: F811
    page.goto(f"{served.at}/?q=shusi")
    page.locator(".near a", has_text="sushi").click()
    assert "1 found" in page.locator("#found").inner_text()
    assert "Did you mean" not in served.get("/?q=zzzzzzzz").text
    assert served.get(f"/?q={'x' * 5000}").status_code == 200


def test_faults_have_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = StoreBuilder(tmp_path / "runs" / "torn")
    built.answer(built.ask(), ["sushi"])
    built.link("sushi", "Q1")
    run = built.write()
    served = Served(run, tmp_path, models=("m",), pause=0)
    try:
        missing = served.get("/nothing")
        assert missing.status_code == 404
        assert "<h1>Not found</h1>" in missing.text
        assert "There is no report yet" in served.get("/report.html").text
        monkeypatch.setattr("polyculture.reports.view.pages.Pages.responses", lambda *_: 1 / 0)
        broken = served.get("/responses")
        assert broken.status_code == 500
        assert "could not be made (ZeroDivisionError)" in broken.text
        part = next((run.root / "mentions").rglob("*.parquet"))
        part.write_bytes(part.read_bytes()[: part.stat().st_size // 2])
        for path in ("/?q=sushi", "/item/Q1"):
            said = served.get(path)
            assert said.status_code == 503
            assert "is not valid Parquet: another program truncated or overwrote it" in said.text
            assert part.name in said.text
    finally:
        served.close()
