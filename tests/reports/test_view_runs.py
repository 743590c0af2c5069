"""`polyculture view`: runs over time and against a baseline, files to take away, like names, and faults."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
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


def test_a_run_against_its_baseline(served: Served) -> None:
    text = served.get("/compare?baseline=before").text
    row = text.partition("Granularity</th>")[2].partition("</tr>")[0]
    assert "<td>these prompts</td>" in row
    assert "<strong>lower</strong> <small>among texts: all, answered, right language</small>" in row
    assert '<td class="number">-0.152</td>' in row  # 2 countries of 6, 5 of 11 items each
    assert "<strong>untestable</strong> <small>the difference is the same everywhere</small>" in text
    for asked, said in {
        "baseline=none": "there is no other run",
        "baseline=after": "there is no other run",
        "baseline=../../etc": "there is no other run",
        "baseline=before&model=openai:knew": "Did you mean",
    }.items():
        answer = served.get(f"/compare?{asked}")
        assert answer.status_code == 503
        assert said in answer.text


@pytest.mark.parametrize("path", ["/runs", "/compare?baseline=before", "/?q=shusi", "/nothing"])
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
    assert page.locator(".trend circle").count() > 6
    page.select_option("#baseline", "before")
    page.locator("button", has_text="Compare").click()
    assert "after against before" in page.locator("h1").inner_text()


def test_a_misspelt_name_is_suggested(served: Served, page: Page) -> None:  # noqa: F811
    page.goto(f"{served.at}/?q=shusi")
    page.locator(".near a", has_text="sushi").click()
    assert "1 found" in page.locator("#found").inner_text()
    assert "Did you mean" not in served.get("/?q=zzzzzzzz").text
    assert served.get(f"/?q={'x' * 5000}").status_code == 200


def test_answers_are_taken_away_as_files(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path / "runs" / "formula")
    prompt = built.ask()
    built.answer(prompt, ["sushi"], text="=cmd|' /C calc'!A0")
    built.answer(prompt, [], text="寿司, and rice")
    served = Served(built.write(), tmp_path, models=("m",))
    try:
        answer = served.get("/responses.csv?language=en")
        assert answer.headers["Content-Disposition"] == 'attachment; filename="responses.csv"'
        rows = list(csv.DictReader(io.StringIO(answer.text)))
        assert {row["text"] for row in rows} == {"'=cmd|' /C calc'!A0", "寿司, and rice"}
        lines = [json.loads(line) for line in served.get("/responses.jsonl").text.splitlines()]
        assert {line["text"] for line in lines} == {"=cmd|' /C calc'!A0", "寿司, and rice"}
        assert served.get("/responses.csv?language=de").text.count("\n") == 1
        asked = {"query": "SELECT 40 + 2 AS n, '+1' AS \"=x\""}
        assert httpx.post(f"{served.at}/sql.csv", data=asked).text.splitlines() == ["n,'=x", "42,'+1"]
        assert httpx.post(f"{served.at}/sql.jsonl", data=asked).json() == {"n": 42, "=x": "+1"}
        wrong = httpx.post(f"{served.at}/sql.csv", data={"query": "DROP VIEW cells"})
        assert wrong.status_code == 503
        assert 'class="fault"' in wrong.text
        refused = served.get("/sql.csv?query=SELECT+1")
        assert refused.status_code == 405
        assert httpx.get(f"{served.root}/responses.csv").status_code == 403
    finally:
        served.close()


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
