"""The report at the study's shape (7 models, 13 languages, 19 countries): its length, links, addresses and tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from polyculture.metrics.measure import measure
from polyculture.reports.report import write_report
from polyculture.running.layout import report_sections, store_layout
from tests.browsers import NoBrowserError, opened_browser, wait_until
from tests.full_study import FullStudy
from tests.report_run import kitchens

SCREENS = 8
HIGH = 900
USABLE = "performance.getEntriesByName('usable').length > 0"
OPEN = "document.querySelectorAll('details:is(.question, .more)').forEach((fold) => { fold.open = true; })"

# Presses each link, lets the page come to rest, and tells where what it leads to stands from the top of the window;
# the end of the page may come before.
ASTRAY = """async ([links, to, step]) => {
  const astray = [];
  const rest = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const pressed = [...document.querySelectorAll(links)].filter((_, at) => at % step === 0);
  for (const link of pressed) {
    link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
    await rest();
    const id = to || link.hash.slice(1).split("&")[0];
    const { top } = document.getElementById(id).getBoundingClientRect();
    const ended = scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
    const open = document.getElementById(id).querySelector("details.question").open;
    if (!open || !(Math.abs(top) <= 20 || (ended && top > 0 && top < innerHeight))) astray.push([id, top, open]);
  }
  return [pressed.length, astray];
}"""


SOME = ("ar", "en", "ja")


@pytest.fixture(
    scope="module", params=[pytest.param(SOME, id="part"), pytest.param((), id="whole", marks=pytest.mark.full)]
)
def report(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """One topic, one response a prompt: models, languages and countries make the report high and wide.

    A part has all models and countries, and three of the languages.
    """
    study = FullStudy(1, topics=("food",), languages=request.param)
    run = study.write(tmp_path_factory.mktemp("full") / "run")
    measure(run)
    return write_report(run, layout=store_layout(), sections=report_sections())


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    try:
        with opened_browser() as opened:
            yield opened
    except NoBrowserError as error:
        pytest.fail(str(error)) if os.environ.get("CI") else pytest.skip(str(error))


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of two models, for what does not hang on the size."""
    return kitchens(tmp_path_factory).report


@pytest.fixture
def page(browser: Browser, report: Path) -> Iterator[Page]:
    page, complaints = opened(browser, report)
    yield page
    assert complaints == []
    page.close()


def opened(browser: Browser, report: Path, width: int = 1440, address: str = "", **more: Any) -> tuple[Page, list[str]]:
    page = browser.new_page(viewport={"width": width, "height": HIGH}, reduced_motion="reduce", **more)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(report.as_uri() + address)
    if more.get("java_script_enabled", True):
        wait_until(page, USABLE)
    return page, complaints


@pytest.mark.slow
def test_few_screens_are_open_figures_come_first_and_no_column_is_cut(page: Page) -> None:
    high = "document.documentElement.scrollHeight"
    assert page.evaluate(high) <= SCREENS * HIGH
    first = page.evaluate("document.querySelector('main figure, main table').tagName")
    assert first == "FIGURE"
    page.evaluate(OPEN)
    assert page.evaluate(high) > 2 * SCREENS * HIGH
    tables = "[...document.querySelectorAll('.scroll:has(> table)')].filter((box) => box.checkVisibility())"
    assert page.evaluate(f"{tables}.length") > 10
    cut = page.evaluate(f"{tables}.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.ariaLabel)")
    assert cut == []
    assert page.evaluate("document.documentElement.scrollWidth") == 1440


@pytest.mark.parametrize(("width", "step"), [(390, 5), (1440, 1)])
def test_every_link_lands_where_it_leads(browser: Browser, report: Path, width: int, step: int) -> None:
    """On a narrow page, which is three times as high, one of five is pressed."""
    page, complaints = opened(browser, report, width)
    links = page.evaluate(ASTRAY, ["a[href^='#']:not(svg a, [data-model], .permalink, .skip)", "", step])
    assert links[0] > 20 // step
    assert links[1] == []
    page.reload()
    wait_until(page, USABLE)
    figures = "svg a:first-of-type"
    marks = f"{figures}, .heat tbody tr:first-child td[tabindex], #dominance a[data-item]"
    found = page.evaluate(ASTRAY, [marks, "evidence", step])
    assert found[0] > 20 // step
    assert found[1] == []
    assert complaints == []
    page.close()


def test_an_address_leads_to_its_section_when_the_page_opens(browser: Browser, report: Path) -> None:
    page, _ = opened(browser, report, address="#method")
    box = page.locator("#method").bounding_box()
    assert box["y"] <= 20
    assert page.locator("#method h3").first.is_visible()
    page.close()


def test_one_model_is_shown_at_a_time_and_the_address_says_which(page: Page) -> None:
    shown = "#specificity .panel:visible h4"
    before = page.locator(shown).all_inner_texts()
    assert before
    assert all(title.startswith("model-A: ") for title in before)
    select = page.locator("#specificity .picker select")
    top = select.bounding_box()
    select.select_option(label="model-F")
    assert select.bounding_box() == top
    assert all(title.startswith("model-F: ") for title in page.locator(shown).all_inner_texts())
    assert page.locator("#consensus .picker select").input_value() == "openai:model-F"
    assert "of=openai%3Amodel-F" in page.url
    page.go_back()
    assert page.locator(shown).all_inner_texts() == before
    page.go_forward()
    page.reload()
    wait_until(page, USABLE)
    assert page.locator("#specificity .picker select").input_value() == "openai:model-F"
    select.select_option(label="all models")
    assert page.locator(shown).count() == 7 * len(before)


def test_back_undoes_what_was_chosen(browser: Browser, kitchen: Path) -> None:
    page, complaints = opened(browser, kitchen)
    cell = page.locator("#specificity .heat td[tabindex='0']").first
    cell.scroll_into_view_if_needed()
    at = page.evaluate("scrollY")
    cell.click()
    first = tally(page)
    wanted = page.locator("#filter-language option:checked").inner_text()
    assert wanted != "all"
    page.select_option("#filter-language", label="all")
    assert tally(page) != first
    page.locator("#entities .open").first.click()
    assert page.locator(".detail").count() == 1
    page.go_back()
    assert page.locator(".detail").count() == 0
    page.go_back()
    assert tally(page) == first
    assert page.locator("#filter-language option:checked").inner_text() == wanted
    page.go_back()
    assert page.locator("#filter-language option:checked").inner_text() == "all"
    wait_until(page, f"Math.abs(scrollY - {at}) < 5", 10)
    assert complaints == []
    page.close()


def tally(page: Page) -> str:
    return page.locator("#tally").inner_text()


def test_a_sentence_has_an_address(browser: Browser, kitchen: Path) -> None:
    page, complaints = opened(browser, kitchen)
    page.locator(".contents a", has_text="The evidence").click()
    page.locator("#entities .open").nth(3).click()
    said = page.locator(".mention blockquote").nth(2).inner_text()
    where = page.locator(".mention .where").nth(2).inner_text()
    address = page.locator(".mention .permalink").nth(2).get_attribute("href") or ""
    other, more = opened(browser, kitchen, address=address)
    wanted = other.locator(".mention.wanted")
    assert wanted.locator("blockquote").inner_text() == said
    assert wanted.locator(".where").inner_text() == where
    box = wanted.bounding_box()
    assert -20 <= box["y"] <= HIGH - 100  # at the top, unless the page ends before
    assert complaints == more == []
    page.close()
    other.close()


def test_an_address_of_nothing_harms_nothing(browser: Browser, kitchen: Path) -> None:
    for address in (
        "#nowhere",
        "#evidence&language=xx&item=Q0&sentence=9.z&of=none",
        "#%3Cimg&search=%3Cscript%3E",
        "#%",
    ):
        page, complaints = opened(browser, kitchen, address=address)
        assert complaints == []
        page.close()


def test_heads_of_tables_stay_and_sort(page: Page) -> None:
    page.locator(".contents a", has_text="What differs").click()
    table = page.locator("#compared table", has_text=" minus ").first
    heads = [text.strip() for text in table.locator("thead th").all_inner_texts()]
    table.locator("thead button", has_text="Cells").click()
    column = heads.index("Cells")
    shown = [int(text.replace(",", "")) for text in cells(table, column) if text]
    assert shown == sorted(shown, reverse=True)
    assert len(set(shown)) > 1
    assert table.locator("th[aria-sort=descending]").inner_text().startswith("Cells")
    table.locator("thead button", has_text="Cells").click()
    assert [int(text.replace(",", "")) for text in cells(table, column) if text] == sorted(shown)
    table.locator("tbody tr").last.evaluate("row => row.scrollIntoView({ block: 'center' })")
    assert abs(table.locator("thead th").first.bounding_box()["y"]) <= 1


def cells(table: Any, column: int) -> list[str]:
    found: list[str] = table.locator(f"tbody tr td:nth-child({column + 1})").all_inner_texts()
    return found


def test_without_the_script_all_models_are_shown_and_links_lead_into_folds(browser: Browser, report: Path) -> None:
    page, _ = opened(browser, report, java_script_enabled=False)
    assert page.locator("#specificity .panel:visible h4", has_text="model-G").count()
    page.locator(".contents a", has_text="Method").click()
    assert page.locator("#method h3").first.is_visible()
    page.close()


def test_paper_has_no_folds(browser: Browser, kitchen: Path) -> None:
    page, _ = opened(browser, kitchen)
    page.emulate_media(media="print")
    for name in ("numbers", "method", "dominance"):
        box = page.locator(f"#{name}").bounding_box()
        assert box["height"] > 300, name
    page.close()
