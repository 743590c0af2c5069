"""The report in a real browser: opened from disk, clicked, filtered, at two widths, with hostile data in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.reports import evidence
from polyculture.reports.report import write_report
from polyculture.running.layout import report_sections, store_layout
from tests.browsers import NoBrowserError, opened_browser, wait_until
from tests.report_run import MODELS, Synthetic, hostile_kitchen, kitchens
from tests.store_builder import StoreBuilder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    try:
        with opened_browser() as opened:
            yield opened
    except NoBrowserError as error:
        pytest.fail(str(error)) if os.environ.get("CI") else pytest.skip(str(error))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kitchens(tmp_path_factory).report


class Visit:
    """A page that is open, with all folds and models; what it complained about, or asked the network for."""

    def __init__(self, browser: Browser, report: Path, width: int = 1280) -> None:
        # Without motion: a click's smooth way to the evidence would go on under the next one.
        self.page = browser.new_page(viewport={"width": width, "height": 900}, reduced_motion="reduce")
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(report.as_uri())
        open_all(self.page)

    def labels(self) -> list[str]:
        found: list[str] = self.page.locator("#entities .open").all_inner_texts()
        return found

    def begin_anew(self) -> None:
        """Undoes what was chosen, by an address that asks for nothing, as a reader types it."""
        self.page.evaluate("location.hash = '#evidence&search='")
        wait_until(self.page, "location.hash === '#evidence'")
        open_all(self.page)


def open_all(page: Page) -> None:
    wait_until(page, "performance.getEntriesByName('usable').length > 0")
    page.evaluate("document.querySelectorAll('details:is(.question, .more)').forEach((fold) => { fold.open = true; })")
    for select in page.locator(".picker select").all()[:1]:
        select.select_option(label="all models")
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")


@pytest.fixture(scope="module")
def opened(browser: Browser, report: Path) -> Iterator[Visit]:
    visit = Visit(browser, report)
    yield visit
    visit.page.close()


@pytest.fixture
def visit(opened: Visit, report: Path) -> Iterator[Visit]:
    """The page that all tests share, as it is when it is opened."""
    opened.begin_anew()
    yield opened
    assert opened.complaints == []
    assert {address.partition("#")[0] for address in opened.requests if not address.startswith("blob:")} == {
        report.as_uri()
    }


@pytest.mark.slow
def test_an_entity_leads_to_its_mentions_in_the_responses(visit: Visit) -> None:
    visit.page.locator("#entities .open", has_text="sushi").first.click()
    cards = visit.page.locator(".mention")
    assert cards.count() == 4
    marks = set(visit.page.locator(".mention mark").all_inner_texts())
    assert marks <= {"sushi", "سوشي", "सुशी", "寿司", "ซูชิ"}
    assert len(marks) > 1
    assert cards.nth(0).locator(".prompt").inner_text()
    rest = visit.page.locator(".rest")
    while rest.count():
        rest.click()
    said = visit.page.locator(".detail .hint").first.inner_text()
    assert 20 < cards.count() == int(said.partition(" ")[0])
    assert visit.page.locator(".detail a", has_text="Q19861951").get_attribute("href") == (
        "https://www.wikidata.org/wiki/Q19861951"
    )


def test_filters_and_search_narrow_the_table(visit: Visit) -> None:
    everything = visit.labels()
    visit.page.select_option("#filter-topic", label="Beverages")
    beverages = visit.labels()
    assert set(beverages) < set(everything)
    assert {"sake", "coffee"} <= set(beverages)
    visit.page.select_option("#filter-topic", label="all")
    visit.page.fill("#search", "寿司")
    assert visit.labels() == ["sushi"]
    visit.page.fill("#search", "q46383")
    assert visit.labels() == ["sushi"]
    visit.page.fill("#search", "no such thing")
    assert visit.labels() == []
    assert visit.page.locator("#tally").inner_text().startswith("0 rows with 0 mentions")
    visit.page.fill("#search", "")
    visit.page.select_option("#filter-language", label="Japanese")
    visit.page.locator("#entities .open", has_text="ramen").first.click()
    where = visit.page.locator(".mention .where").all_inner_texts()
    assert where
    assert all("Japanese" in line for line in where), "filters hold for the responses, too"


def test_headers_sort(visit: Visit) -> None:
    visit.page.locator("[data-sort=label]").click()
    assert visit.labels() == sorted(visit.labels(), key=str.lower)
    assert visit.page.locator("th[aria-sort=ascending]").inner_text().startswith("Entity")
    visit.page.locator("[data-sort=label]").click()
    assert visit.labels() == sorted(visit.labels(), key=str.lower, reverse=True)
    visit.page.locator("[data-sort=mentions]").click()


def test_what_was_not_linked_is_shown_by_status(visit: Visit) -> None:
    visit.page.locator("#statuses label", has_text="No candidate").click()
    assert "moon stew" in visit.labels()
    visit.page.locator("#entities .open", has_text="月のシチュー").first.click()
    assert visit.page.locator(".mention mark").first.inner_text() == "月のシチュー"


def test_the_first_screen_holds_the_picture_and_the_plot_answers_to_keys(browser: Browser, report: Path) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(report.as_uri())
    wait_until(page, "performance.getEntriesByName('usable').length > 0")
    picture = page.locator(".picture svg").bounding_box()
    assert picture["y"] + picture["height"] <= 900
    names = page.locator(".dots tbody th")
    unsorted = names.all_inner_texts()
    head = page.locator(".dots thead th", has_text="specificity").first
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    values = [float(value) for value in page.locator(".dots td:nth-child(2) .value").all_inner_texts()]
    assert values == sorted(values, reverse=True)
    assert sorted(names.all_inner_texts()) == sorted(unsorted)
    page.locator(".dots td[tabindex='0']").focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    said = "getComputedStyle(document.activeElement.querySelector('.said')).opacity"
    assert page.evaluate(said) == "1"
    assert " to " in page.evaluate("document.activeElement.querySelector('.said').textContent")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "tally"
    assert "condition=explicit" in page.url
    page.close()


def test_a_finding_leads_to_its_sentences(visit: Visit) -> None:
    link = visit.page.locator(".found .places a").first
    codes = {axis: link.get_attribute(f"data-{axis}") for axis in ("model", "language", "condition", "country")}
    link.click()
    chosen = [visit.page.locator(f"#filter-{axis} option:checked").get_attribute("value") for axis in codes]
    assert any(chosen)
    assert any(codes.values())


def test_every_figure_is_one_stop_of_the_tab_key_and_arrows_lead_on_to_its_numbers(visit: Visit) -> None:
    page = visit.page
    for figure in page.locator("figure .heat:not(.still), figure svg[role=group]").all():
        assert figure.locator("[tabindex='0'], a:not([tabindex])").count() == 1
    page.locator("#consensus .heat td[tabindex='0']").first.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert page.input_value("#search") == "shared:ar+ja"
    assert page.evaluate("document.activeElement.id") == "tally"
    assert visit.labels()
    page.locator("#entities .open").first.click()
    where = page.locator(".mention .where").all_inner_texts()
    assert all("Arabic" in line or "Japanese" in line for line in where)
    page.locator("#granularity svg a:not([tabindex])").first.focus()
    page.keyboard.press("ArrowRight")
    name = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert page.locator(".tip").inner_text() == name  # what a mark says is beside it for the keyboard, too
    page.keyboard.press("Enter")
    chosen = [page.locator(f"#filter-{axis} option:checked").inner_text() for axis in ("model", "language")]
    assert name.startswith(f"{', '.join(chosen)}: ")
    assert visit.labels()


def test_a_cell_of_the_map_of_origins_leads_to_what_is_from_there(visit: Visit) -> None:
    page = visit.page
    heat = page.locator("#origins .heat").first
    heads = heat.locator("thead th").all_inner_texts()
    assert heads.index("CN") < heads.index("TH") < heads.index("IN") < heads.index("AE") < heads.index("US")
    india = heat.locator("tbody tr[data-country=IN] td")
    assert "native" in (india.nth(heads.index("IN")).get_attribute("class") or "")
    for head, search, label in (("JP", "from:Japan", "sushi"), ("several", "from:several", "hamburger")):
        india.nth(heads.index(head)).click()
        assert page.input_value("#search") == search
        assert page.locator("#filter-country option:checked").inner_text() == "India"
        assert page.locator("#filter-condition option:checked").inner_text() == "names the country"
        assert label in " ".join(visit.labels())
        assert "biryani" not in " ".join(visit.labels())


def test_a_pointer_on_a_mark_of_a_figure_or_beside_it_leads_to_its_entities(visit: Visit) -> None:
    page = visit.page
    drawn = page.locator("#granularity figure").first.locator("svg a")
    hits = drawn.evaluate_all(
        f"marks => marks.map(mark => document.elementFromPoint(...({CENTRE})(mark)).closest('a') === mark)"
    )
    assert hits == [True] * 12
    for mark in (drawn.nth(0), drawn.nth(7)):
        x, y = mark.evaluate(CENTRE)
        page.mouse.click(x + 10, y - 1)
        chosen = [page.locator(f"#filter-{axis} option:checked").inner_text() for axis in ("model", "language")]
        assert (mark.get_attribute("aria-label") or "").startswith(", ".join(chosen).removesuffix(", all") + ":")
        assert visit.labels()


CENTRE = """mark => {
  mark.scrollIntoView({ block: "center", behavior: "instant" });
  const box = mark.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}"""


def test_a_keyboard_is_enough(visit: Visit) -> None:
    visit.page.locator("#search").focus()
    visit.page.keyboard.type("biryani")
    visit.page.locator("#entities .open").first.focus()
    visit.page.keyboard.press("Enter")
    assert visit.page.locator(".detail").count() == 1
    assert visit.page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    visit.page.keyboard.press("Enter")
    assert visit.page.locator(".detail").count() == 0


def test_arabic_runs_from_right_to_left(visit: Visit) -> None:
    visit.page.select_option("#filter-language", label="Arabic")
    visit.page.select_option("#filter-model", label="Qwen2.5-7B-Instruct")
    visit.page.locator("#entities .open").first.click()
    quote = visit.page.locator(".mention blockquote").first
    assert quote.get_attribute("lang") == "ar"
    assert quote.evaluate("element => getComputedStyle(element).direction") == "rtl"


def test_the_page_is_as_wide_as_the_window_or_the_paper(visit: Visit) -> None:
    page = visit.page
    page.locator("#entities .open").first.click()
    page.evaluate("document.querySelectorAll('.sources details').forEach((query) => { query.open = true; })")
    wide = "document.documentElement.scrollWidth"
    try:
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(wide) == width
            assert page.locator(".detail-box").bounding_box()["width"] <= width
        page.set_viewport_size({"width": 718, "height": 1000})  # A4 less its margins
        page.emulate_media(media="print")
        assert page.evaluate(wide) == 718
    finally:
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": 1280, "height": 900})
        page.evaluate("document.querySelectorAll('.sources details').forEach((query) => { query.open = false; })")


# Opens all folds, and leaves of each table but the maps three rows: contrasts are looked for part by part.
FEWER_OF_A_KIND = """() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const row of document.querySelectorAll("table:not(.heat, .heat *) > tbody > tr:nth-child(n + 4)")) row.remove();
}"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(browser: Browser, report: Path, scheme: Literal["light", "dark"]) -> None:
    page = browser.new_page(color_scheme=scheme)
    page.goto(report.as_uri())
    open_all(page)
    page.locator("#entities .open").first.click()
    page.evaluate(FEWER_OF_A_KIND)
    for name in ("probable", "swapped", "apart", "leaderboards"):
        assert page.locator(f"#{name}").is_visible()
    # In the dark only colours differ.
    only = {} if scheme == "light" else {"runOnly": ["color-contrast"]}
    found = Axe().run(page, options={"resultTypes": ["violations"], **only})  # else each part that passes is described
    assert found.violations_count == 0, found.generate_report()
    assert len(found.response["passes"]) > (40 if scheme == "light" else 0)
    page.close()


def in_scope(page: Page, section: str) -> list[str]:
    """The languages that lines and columns of a section are about, as far as they are shown."""
    found: list[str] = page.evaluate(
        """section => [...document.querySelectorAll(`#${section} :is(tr, th, svg a)`)]
            .filter(part => !part.closest(".outside")).map(part => part.dataset.aboutLanguage || part.dataset.language)
            .filter(Boolean)""",
        section,
    )
    return found


STOPS = """() => {
    const marksOf = (figure) => [...figure.querySelectorAll(figure.matches("table") ? "td:not(.off)" : "a")];
    const figures = [...document.querySelectorAll("figure svg, .heat:not(.still), .dots")]
        .map((figure) => marksOf(figure).filter((mark) => !mark.closest(".outside"))).filter((marks) => marks.length);
    const reached = figures.filter((marks) => marks.filter((mark) => mark.tabIndex === 0).length === 1);
    const others = figures.filter((marks) => !reached.includes(marks)).map((marks) => marks[0].closest("section").id);
    return {figures: figures.length, others};
}"""


@pytest.mark.parametrize("width", [1440, 390])
def test_a_language_and_a_topic_are_chosen_for_the_whole_page(browser: Browser, report: Path, width: int) -> None:
    visit = Visit(browser, report, width)
    page = visit.page
    sections = ("specificity", "consensus", "granularity", "numbers", "distrust", "swapped")
    of_all = {section: set(in_scope(page, section)) for section in sections}
    assert all(len(languages) > 1 for languages in of_all.values()), of_all
    page.get_by_label("Language of the whole page").focus()
    page.keyboard.type("Japanese")
    page.get_by_label("Topic of the whole page").select_option(label="Food")
    for section in sections:
        assert set(in_scope(page, section)) == {"ja"}, section
    assert all("ja" in both.split() for both in in_scope(page, "compared"))
    drawing = page.locator("#granularity figure svg").first
    assert drawing.locator("a:visible").count() == len(MODELS)
    assert page.locator("#consensus .panel:visible h3, #consensus .panel:visible h4", has_text="Beverages").count() == 0
    assert page.locator("#filter-language option:checked").inner_text() == "Japanese"
    assert page.evaluate("document.documentElement.scrollWidth") == width
    stops = page.evaluate(STOPS)
    assert stops["figures"] > 5
    assert stops["others"] == [], stops  # each figure that shows a mark is one stop of the Tab key
    cell = page.locator("#granularity figure svg a:visible").first
    cell.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("!document.activeElement.closest('.outside')")
    box = page.locator("#scope")
    page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
    assert box.evaluate("box => box.getBoundingClientRect().top") == 0  # what the page shows stays in sight
    shared = browser.new_page()
    shared.goto(page.url)
    wait_until(shared, "performance.getEntriesByName('usable').length > 0")
    assert shared.get_by_label("Topic of the whole page").input_value() == "food"
    assert set(in_scope(shared, "numbers")) == {"ja"}
    alone = browser.new_page()
    alone.goto(f"{report.as_uri()}#scope&only-language=ja")
    wait_until(alone, "performance.getEntriesByName('usable').length > 0")
    assert alone.locator("#filter-language option:checked").text_content() == "Japanese"
    alone.close()
    shared.close()
    page.get_by_label("Language of the whole page").select_option(label="Hindi")
    assert page.locator("#apart .scroll.empty").count() > 0  # it was asked in none of its words
    assert page.locator("#apart .scroll.empty tbody:visible").count() == 0
    for label in ("Language", "Topic"):
        page.get_by_label(f"{label} of the whole page").select_option(label=f"all {label.lower()}s")
    assert {section: set(in_scope(page, section)) for section in sections} == of_all
    assert page.locator(".outside").count() == 0
    assert visit.complaints == []
    page.get_by_label("Language of the whole page").select_option(label="Japanese")
    page.evaluate(FEWER_OF_A_KIND)
    found = Axe().run(page, options={"resultTypes": ["violations"]})
    assert found.violations_count == 0, found.generate_report()
    page.close()


def test_without_script_the_page_offers_no_choice(browser: Browser, report: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{report.as_uri()}#scope&only-language=ja")
    assert not page.locator("#scope").is_visible()
    assert page.locator(".outside").count() == 0
    context.close()


@pytest.fixture(scope="module")
def large_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run whose page does not hold everything."""
    run = Synthetic(n=4, models=MODELS[:1], languages=("en", "ja")).write(tmp_path_factory.mktemp("large") / "run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "WHOLE", evidence.Bounds(linked=8, other=2, texts=600, counts=30))
        write_report(run, layout=store_layout(), sections=report_sections())
    return run


@pytest.fixture
def large(browser: Browser, large_run: RunFolder) -> Iterator[Visit]:
    visit = Visit(browser, large_run.report)
    yield visit
    visit.page.close()


def test_what_does_not_fit_is_loaded_from_beside_the_page(large: Visit) -> None:
    page = large.page
    assert page.locator("#filter-country").is_disabled()
    page.select_option("#filter-language", label="Japanese")
    page.select_option("#filter-topic", label="Food")
    page.wait_for_selector("#filter-country:enabled")
    page.select_option("#filter-country", label="Japan")
    labels = large.labels()
    assert len(labels) > 8
    page.locator("#entities .open").first.click()
    where = page.locator(".mention .where").all_inner_texts()
    assert all("Japanese · Food" in line and "Japan" in line for line in where)
    page.select_option("#filter-topic", label="all")
    assert page.locator("#filter-country").is_disabled()
    assert len(large.labels()) < len(labels)
    assert large.complaints == []


def test_what_the_page_has_no_sentence_for_is_read_beside_it(large: Visit) -> None:
    page = large.page
    beside = page.locator(".detail button", has_text="Read those in")
    for row in range(page.locator("#entities .open").count()):
        page.locator("#entities .open").nth(row).click()
        if beside.count():
            break
    assert not page.locator(".mention").count()
    wanted = page.locator("#entities .open[aria-expanded=true]").inner_text()
    beside.click()
    page.wait_for_selector("#filter-country:enabled")
    assert large.labels() == [wanted]
    page.locator("#entities .open").click()
    assert page.locator(".mention mark").count()
    assert large.complaints == []


def test_a_page_without_what_lay_beside_it_says_so(large: Visit, large_run: RunFolder) -> None:
    large_run.report_data.rename(large_run.root / "elsewhere")
    large.page.select_option("#filter-language", label="Japanese")
    large.page.select_option("#filter-topic", label="Food")
    wait_until(large.page, "document.getElementById('part').textContent.includes('does not stand beside')")
    assert large.labels()


def test_numbers_lead_to_what_is_behind_them(visit: Visit) -> None:
    visit.page.locator("#numbers a", has_text="Hindi").first.click()
    assert visit.page.locator("#filter-language option:checked").inner_text() == "Hindi"
    click_cell(visit, "explicit", "JP", 3)
    chosen = [visit.page.locator(f"#filter-{axis} option:checked").inner_text() for axis in ("language", "country")]
    assert chosen == ["Japanese", "Japan"]
    assert visit.page.locator("#filter-condition option:checked").inner_text() == "names the country"
    assert visit.labels()


EMPTY = """() => [...document.querySelectorAll(".heat:not(.still) td:not(.off)")].filter((cell, at) => {
  if (at % 7) return false;
  cell.click();
  const rarest = [...document.querySelectorAll("#entities .open")].pop();
  if (rarest && rarest.ariaExpanded !== "true") rarest.click();
  return !document.querySelector(".mention mark");
}).map((cell) => cell.textContent.trim())"""


def test_every_number_of_a_map_leads_to_a_sentence(visit: Visit) -> None:
    assert visit.page.locator(".heat:not(.still) td:not(.off)").count() > 300
    assert set(visit.page.evaluate(EMPTY)) <= {"0"}  # which has nothing behind it


def test_the_question_under_an_entity_asks_for_what_the_filters_let_through(visit: Visit, report: Path) -> None:
    click_cell(visit, "implicit_male", "JP", 3)
    of_a_name = counted_and_asked(visit, report)
    for axis in ("language", "condition"):
        visit.page.select_option(f"#filter-{axis}", label="all")
    visit.page.fill("#search", "shared:ar+ja")
    of_both = counted_and_asked(visit, report)
    assert of_a_name[0] == of_a_name[1] > 0
    assert of_both[0] == of_both[1] > 0


def counted_and_asked(visit: Visit, report: Path) -> tuple[int, int]:
    """How often the first entity is mentioned by its row, and by the question to the store below it."""
    row = visit.page.locator("#entities tr").first
    if not visit.page.locator(".detail").count():
        row.locator(".open").click()
    asked = visit.page.locator(".detail code").inner_text()
    with open_store(RunFolder(report.parent), store_layout()) as store:
        found = store.execute(f"SELECT count(*) FROM ({asked})").fetchone()
    return int(row.locator("td.number").inner_text()), found[0]


def test_a_map_of_neutral_prompts_leads_to_what_belongs_to_the_country_and_those_of_names_to_one_each(
    visit: Visit,
) -> None:
    click_cell(visit, "neutral", "JP", 3)
    assert visit.page.input_value("#search") == "country:Japan"
    countries = visit.page.locator("#entities tr td:nth-child(4)").all_inner_texts()
    assert countries
    assert all("Japan" in country.split(", ") for country in countries)
    parts = []
    for condition, word in (("implicit_male", "a man's name"), ("implicit_female", "a woman's name")):
        click_cell(visit, condition, "JP", 3)
        assert visit.page.locator("#filter-condition option:checked").inner_text() == word
        parts.append(mentions(visit))
    visit.page.select_option("#filter-condition", label="a person's name")
    assert mentions(visit) == sum(parts) > 0


def click_cell(visit: Visit, condition: str, country: str, column: int) -> None:
    table = visit.page.locator(f"#specificity .heat[data-condition={condition}]").first
    table.locator(f"tbody tr[data-country={country}]").locator("td").nth(column).click()


def mentions(visit: Visit) -> int:
    return sum(int(text) for text in visit.page.locator("#entities tr td:nth-child(2)").all_inner_texts())


def test_hostile_data_does_nothing(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    visit = Visit(browser, hostile_kitchen(tmp_path_factory).report)
    visit.page.locator("#entities .open", has_text="window.hacked").first.click()
    assert "onerror" in visit.page.locator(".mention mark").first.inner_text()
    assert visit.page.evaluate("window.hacked") is None
    assert visit.page.locator("img").count() == 0
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 1280
    assert visit.complaints == []
    visit.page.close()


def test_a_dominant_item_leads_to_its_sentences(visit: Visit) -> None:
    link = visit.page.locator("#dominance a[data-item]").first
    label, language = link.inner_text(), link.get_attribute("data-language")
    link.click()
    assert visit.page.input_value("#search") == link.get_attribute("data-item")
    assert visit.labels() == [label]
    chosen = visit.page.locator("#filter-language option:checked").inner_text()
    assert chosen in ("Japanese", "Arabic", "English", "Hindi", "Thai"), language
    visit.page.locator("#entities .open", has_text=label).first.click()
    assert all(chosen in line for line in visit.page.locator(".mention .where").all_inner_texts())


def test_a_long_table_is_saved_as_csv(visit: Visit) -> None:
    with visit.page.expect_download() as download:
        visit.page.locator("a[download='specificity.csv.gz']").click()
    assert download.value.suggested_filename == "specificity.csv"
    assert Path(download.value.path()).read_text(encoding="utf-8").startswith("metric,model,language")


def test_a_mark_may_lead_to_another_part_of_the_page_than_the_entities(visit: Visit) -> None:
    mark = visit.page.locator("figure svg a").first
    mark.evaluate("mark => mark.setAttribute('href', '#method')")  # as a jump is drawn
    mark.focus()
    visit.page.keyboard.press("Enter")
    wait_until(visit.page, "location.hash.startsWith('#method')")
    mark.evaluate("mark => mark.setAttribute('href', '#evidence')")
    assert visit.page.locator("#search").input_value() == ""


def test_every_country_of_the_run_is_found_by_a_search(browser: Browser, tmp_path: Path) -> None:
    codes = ("US", "GB", "CI", "AU", "NG", "DE", "MX", "ES", "AR", "IR", "IN", "IT", "JP", "KR", "CW", "LC")
    builder = StoreBuilder(tmp_path / "run", countries=codes, n=3)
    for place, country in enumerate(codes):
        prompt = builder.ask(country=country)
        for _ in range(3 if place < 12 else 2):
            builder.answer(prompt, ["pizza"] if country != "LC" else [])
    builder.link("pizza", "Q1")
    builder.entity("Q1", "pizza", IT="P495")
    builder.know()
    write_report(builder.write())
    for width in (1440, 390):
        visit = Visit(browser, tmp_path / "run" / "report.html", width)
        others = visit.page.locator("#other-countries .panel h3")
        visit.page.evaluate("document.getElementById('other-countries').open = true")
        unpictured = ["Curaçao", "Japan", "South Korea"]
        for words, found in (
            ("", unpictured),
            ("KOR", ["South Korea"]),
            ("cote d'i", ["Côte d’Ivoire"]),  # which is in the first picture
            ("curacao", ["Curaçao"]),
            ("germany", ["Germany"]),
            ("ST LUCIA", ["St. Lucia"]),  # of which nothing was linked
            ("atlantis", []),
            ("", unpictured),
        ):
            visit.page.fill("#country-sought", words)
            assert sorted(one.inner_text() for one in others.all() if one.is_visible()) == found
            said = visit.page.locator("#country-missing").inner_text()
            assert said == ("" if found else "No country of this run has that name.")
        assert others.count() == len(codes)
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        assert not visit.complaints
        visit.page.close()
