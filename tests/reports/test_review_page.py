"""The page on which a speaker reviews prompts, in a real browser: answered, left, continued, saved, and read back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from polyculture.cache.catalog import read_catalog
from polyculture.experiment.prompts import review_prompts
from polyculture.generate.review import ReviewedTemplate, templates_of
from polyculture.generate.review_sheet import ReadSheet, judge_in, read_reviews, sheet_rows
from polyculture.reports.review_page import review_page
from tests.browsers import wait_until
from tests.reports.test_browser import browser  # noqa: F401  a fixture

REFUSED = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"
MARKUP = "</script><img src=x onerror=alert(1)>"


class Reviewed:
    """A page that is open, what it complained about or asked the network for, and the templates that it shows."""

    def __init__(self, page: Page, file: Path, templates: list[ReviewedTemplate]) -> None:
        self.page, self.file = page, file
        self.templates = {one.template_id: one for one in templates}
        self.complaints: list[str] = []
        self.requests: set[str] = set()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.add(request.url.partition("#")[0]))

    def open(self, step: str = "begin") -> None:
        """Opens the file anew, at one of its steps."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.file.as_uri()}#{step}")
        self.at(step)

    def go(self, word: str) -> None:
        self.page.locator(".steps:visible a", has_text=word).click()

    def at(self, step: str) -> None:
        wait_until(self.page, f"document.activeElement.closest('.step')?.id === '{step}'", seconds=20)

    def answer(self, question: str, word: str) -> None:
        inputs = self.page.locator(f"[data-question={question}]")
        self.page.locator(".step:visible fieldset", has=inputs).get_by_text(word, exact=True).click()

    def write(self, question: str, text: str) -> None:
        self.page.fill(f".step:visible textarea[data-question={question}]", text)

    def save(self) -> Path:
        with self.page.expect_download() as download:
            self.page.click("#save")
        saved = self.file.with_name(download.value.suggested_filename)
        download.value.save_as(saved)
        return saved

    def read(self, saved: Path) -> ReadSheet:
        return read_reviews(saved, "nobody", self.templates)


Opened = Callable[..., Reviewed]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:  # noqa: F811
    """Opens the page of a language, or of templates that are given; at the end it has complained about nothing."""
    visits: list[Reviewed] = []

    def visit(
        language: str, width: int = 390, script: str = "", change: Callable[[ReviewedTemplate], None] | None = None
    ) -> Reviewed:
        catalog = read_catalog()
        templates = templates_of(review_prompts(catalog, language, ["food"]), catalog)
        for one in templates:
            if change:
                change(one)
        file = tmp_path / f"review-{language}.html"
        asked = [one.questions for one in templates]
        text = review_page(sheet_rows(templates), asked, catalog.language(language), catalog)
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 844}, accept_downloads=True)
        page = context.new_page()
        if script:
            page.add_init_script(script)
        visits.append(Reviewed(page, file, templates))
        visits[-1].open()
        return visits[-1]

    yield visit
    for one in visits:
        one.page.context.close()
        assert one.complaints == []
        assert {url for url in one.requests if not url.startswith(("blob:", "about:"))} == {one.file.as_uri()}


def test_a_whole_review_is_saved_as_a_sheet_that_the_import_reads(opened: Opened) -> None:
    visit = opened("ja")
    visit.go("Begin")
    for number, template in enumerate(visit.templates.values(), start=1):
        visit.at(f"prompt-{number}")
        assert visit.page.locator("blockquote:visible").inner_text() == template.text
        assert not visit.page.get_by_text(str(template.gloss)).is_visible()  # the text is judged first
        visit.answer("natural", "No" if number == 2 else "Yes")
        if "relation" in template.questions:
            visit.answer("relation", "Lives there")
            visit.write("note", '=1+1, "better":\n日本の人')
            visit.write("says", "夕食について")
        assert visit.page.get_by_text(str(template.gloss)).is_visible()
        visit.answer("same", "Yes")
        visit.go("Next" if number < len(visit.templates) else "Finish")
    visit.at("end")
    assert visit.page.locator("#whole").inner_text() == f"All {len(visit.templates)} prompts are answered. Thank you."
    visit.page.fill("#judge", "  山田/花子 ")
    saved = visit.save()
    assert saved.name == "山田花子.ja.csv"
    assert judge_in(saved) == "山田/花子"
    read = visit.read(saved)
    assert (read.gone, read.open, read.rows) == (0, {}, len(visit.templates))
    assert [one.natural for one in read.reviews] == ["yes", "no", "yes", "yes"]
    assert {one.same for one in read.reviews} == {"yes"}
    explicit = read.reviews[1]
    assert (explicit.relation, explicit.says) == ("residence", "夕食について")
    assert explicit.note == '=1+1, "better":\n日本の人'
    assert [one.relation for one in read.reviews].count(None) == len(read.reviews) - 1
    assert "\"'=1+1" in saved.read_text(encoding="utf-8-sig"), "a spreadsheet must not take it for a formula"


def test_an_unfinished_review_is_continued_and_says_what_is_open(opened: Opened) -> None:
    visit = opened("ja")
    visit.go("Begin")
    visit.answer("natural", "Yes")
    visit.answer("same", "Yes")
    assert visit.page.locator("#standing").inner_text() == "1 of 4 prompts answered"
    visit.go("Next")
    visit.answer("natural", "Yes")
    visit.answer("relation", "Leave open")
    visit.answer("same", "No")
    visit.open()
    assert visit.page.locator("#start").inner_text() == "Continue with prompt 2"
    visit.go("Continue")
    visit.at("prompt-2")
    assert visit.page.locator(".step:visible :checked").count() == 3
    visit.page.go_back()  # as the key of a phone does
    visit.at("begin")
    visit.open("end")
    text = visit.page.locator("#open").inner_text()
    assert visit.page.locator("#whole").inner_text() == "3 of 4 prompts have questions that you left open:"
    assert text.splitlines()[0].split() == ["Not", "answered:", "prompt", "3", "4"]
    assert "Prompt 2: What is the person’s relation" in text
    saved = visit.save()
    code = visit.page.locator("#code").inner_text()
    assert saved.name == f"{code}.ja.csv", "without a name nobody is named"
    read = visit.read(saved)
    assert read.line == "1 of 4 templates are judged in full, 2 not at all, 1 without relation"
    assert [one.judge for one in read.reviews] == ["nobody", "nobody"]
    assert judge_in(saved) == code
    visit.page.locator("summary", has_text="saves no file").click()
    assert visit.page.input_value("#text").lstrip("\ufeff").splitlines() == (
        saved.read_text(encoding="utf-8-sig").splitlines()
    )
    visit.page.locator("#open a", has_text="4").click()
    visit.at("prompt-4")
    visit.open("end")
    visit.page.on("dialog", lambda dialog: dialog.accept())
    visit.page.click("#forget")
    visit.at("begin")
    assert visit.page.locator("#standing").inner_text() == "0 of 4 prompts answered"
    assert visit.page.locator("#start").inner_text() == "Begin"


def test_a_browser_that_keeps_nothing_says_so_and_saves_the_file(opened: Opened) -> None:
    visit = opened("ja", script=REFUSED)
    assert visit.page.locator("#unkept").is_visible()
    visit.go("Begin")
    visit.answer("natural", "Yes")
    visit.go("Next")
    visit.at("prompt-2")
    visit.go("Back")
    visit.at("prompt-1")
    assert visit.page.locator(".step:visible :checked").count() == 1
    visit.page.evaluate("location.hash = 'end'")
    visit.at("end")
    assert visit.read(visit.save()).line == "0 of 4 templates are judged in full, 3 not at all, 1 without same"
    visit.open()
    assert visit.page.locator("#standing").inner_text() == "0 of 4 prompts answered"


def test_it_is_answered_by_keys_alone(opened: Opened) -> None:
    visit = opened("ja")
    keys = visit.page.keyboard
    keys.press("Tab")
    keys.press("Enter")
    visit.at("prompt-1")
    keys.press("Tab")  # to the first question
    keys.press("Space")
    keys.press("ArrowRight")
    assert visit.page.locator("#prompt-1 [name=natural-1]:checked").get_attribute("value") == "no"
    for _ in range(2):
        keys.press("Tab")  # over the words, to the fold with the English, which is open by now
    assert visit.page.evaluate("document.activeElement.textContent") == "Show the English"
    keys.press("Tab")
    keys.press("Space")
    for _ in range(3):
        keys.press("Tab")  # over the comment and Back
    keys.press("Enter")
    visit.at("prompt-2")
    assert visit.page.locator("#standing").inner_text() == "1 of 4 prompts answered"


@pytest.mark.parametrize(
    ("language", "direction"), [("ar", "rtl"), ("fa", "rtl"), ("ur", "rtl"), ("he", "rtl"), ("th", "ltr")]
)
def test_a_text_runs_in_its_own_direction_and_the_page_in_english(
    opened: Opened, language: str, direction: str
) -> None:
    visit = opened(language)
    visit.open("prompt-2")
    text = visit.page.locator("blockquote:visible")
    assert (text.get_attribute("lang"), text.evaluate("one => getComputedStyle(one).direction")) == (
        language, direction,
    )  # fmt: skip
    for part in ("#prompt-2 h1", "#prompt-2 legend >> nth=0", "#prompt-2 .english"):
        assert visit.page.locator(part).evaluate("one => getComputedStyle(one).direction") == "ltr"
    visit.write("note", "نص")
    assert visit.page.locator("#note-2").evaluate("one => one.matches(':dir(rtl)')")
    assert visit.page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("language", ["ja", "ar", "en"])
def test_each_step_is_accessible_and_as_wide_as_the_window(opened: Opened, language: str, width: int) -> None:
    visit = opened(language, width)
    for step in ("begin", "prompt-2", "end"):
        visit.open(step)
        top, bar = (visit.page.locator(one).bounding_box() for one in ("h1:visible", "header"))
        assert top is not None
        assert bar is not None
        assert top["y"] >= bar["y"] + bar["height"], "the bar hides no heading"
        if step == "prompt-2":
            visit.answer("natural", "Yes")
            visit.answer("relation", "Other")
            targets = visit.page.locator(".step:visible .choices label, .steps:visible a").all()
            assert all((one.bounding_box() or {"height": 0})["height"] >= 44 for one in targets)
        assert visit.page.evaluate("document.documentElement.scrollWidth") == width
        found = Axe().run(visit.page, options={"resultTypes": ["violations"]})
        assert found.violations_count == 0, found.generate_report()
    if language == "en":
        assert visit.page.locator("[data-question=same]").count() == 0, "English is not held against itself"


def test_a_text_of_a_pack_cannot_leave_its_place(opened: Opened) -> None:
    visit = opened("ja", change=lambda one: object.__setattr__(one, "text", one.text + MARKUP))
    visit.open("prompt-1")
    assert visit.page.locator("blockquote:visible").inner_text().endswith(MARKUP)
    assert visit.page.locator("img").count() == 0
    visit.answer("natural", "Yes")
    visit.page.evaluate("location.hash = 'end'")
    visit.at("end")
    assert visit.read(visit.save()).line.startswith("0 of 4 templates")
