"""`polyculture view`: a judge judges a sample, in a real browser; each answer is in the run at once."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from polyculture.metrics.audit.judging import judgements_of
from tests.reports.test_browser import browser  # noqa: F401  a fixture
from tests.reports.test_view import Served, page  # noqa: F401  fixtures
from tests.store_builder import StoreBuilder

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two Arabic responses and one English one: a linked mention, one without an item, and the response itself."""
    built = StoreBuilder(tmp_path_factory.mktemp("judged") / "run", n=3)
    prompts = {language: built.ask(language, country="JP") for language in ("ar", "en")}
    for language, surface in (("ar", "كبسة"), ("ar", "كبسة"), ("en", HOSTILE)):
        text = f"{surface} 🍲 mandi"
        places = {one: text.index(one) for one in (surface, "mandi")}
        named = [{"surface": one, "start": at, "end": at + len(one)} for one, at in places.items()]
        built.answer(prompts[language], named, text=text)
    built.link("كبسة", "Q1")
    built.link(HOSTILE, "Q1")
    built.link("mandi")
    built.entity("Q1", "kabsa", IT="P495")
    served = Served(built.write(), tmp_path_factory.mktemp("stores"), models=("m",), pause=0)
    yield served
    served.close()


def begin(served: Served, page: Page, name: str = "Ana") -> None:  # noqa: F811
    page.goto(f"{served.at}/judge")
    page.fill("#judge", name)
    page.select_option("#language", "ar")
    with page.expect_navigation():  # keys are heard once the page is loaded
        page.locator("button", has_text="Begin").click()


def press(page: Page, *keys: str) -> None:  # noqa: F811
    for key in keys:
        with page.expect_navigation():
            page.keyboard.press(key)


def said(served: Served, judge: str = "Ana") -> list[tuple[object, ...]]:
    rows = [one for one in judgements_of(served.store.run) if one.judge == judge]
    return [(one.ordinal, one.mention, one.specific, one.link, one.existence, one.missed, one.on_topic) for one in rows]


def test_a_response_is_judged_by_keys_and_each_answer_is_kept_at_once(served: Served, page: Page) -> None:  # noqa: F811
    begin(served, page)
    assert page.locator("h1").inner_text() == "كبسة"
    assert page.locator("mark").inner_text() == "كبسة"
    assert page.locator("blockquote").evaluate("one => getComputedStyle(one).direction") == "rtl"
    assert "kabsa" in page.locator(".case").inner_text()
    press(page, "r")
    assert said(served) == [(0, "right", None, None, None, None, None)]
    assert page.locator("[aria-pressed=true]").inner_text().startswith("right")
    press(page, "r", "r", "i", "1")  # the second takes it back; the link leads on
    assert page.locator("h1").inner_text() == "mandi"
    assert "none (no candidate)" in page.locator(".case").inner_text()
    press(page, "w")
    assert page.locator("h1").inner_text() == "The whole response"
    assert page.locator("mark").count() == 2
    press(page, "y", "2")
    assert "response 2 of 2" in page.locator(".where").inner_text()
    expected = [
        (0, "right", None, "right", "item", None, None),
        (1, "wrong", None, None, None, None, None),
        (None, None, None, None, None, 2, "yes"),
    ]
    assert sorted(said(served), key=str) == sorted(expected, key=str)
    press(page, "ArrowLeft")
    page.fill("#missed", "12")
    page.locator("button", has_text="Keep").click()
    begin(served, page)  # who comes again goes on where nothing was said yet
    assert "response 2 of 2" in page.locator(".where").inner_text()
    assert ("missed", 12) in [("missed", one[5]) for one in said(served)]
    assert served.sql("SELECT count(*) AS n FROM judgements").count(">3</td>") == 1


def test_a_contradiction_is_said_and_nothing_of_it_kept(served: Served, browser: Browser) -> None:  # noqa: F811
    page = browser.new_page()  # noqa: F811
    begin(served, page)
    press(page, "v", "1")
    assert "press it again" in page.locator(".fault").inner_text()
    page.close()
    assert said(served) == [(0, None, None, None, "invented", None, None)]


def test_no_key_is_lost_that_is_pressed_before_the_next_page_is_there(served: Served, page: Page) -> None:  # noqa: F811
    """Keys were heard at the end of a page's loading alone: what a quick judge pressed before that was lost."""
    begin(served, page)
    page.route("**/judge*", lambda route: (time.sleep(0.3), route.continue_()))
    for key in ("r", "i", "1", "w", "y", "2"):  # of the mention, of the next one, of the whole response
        page.keyboard.press(key)
    page.locator(".where", has_text="response 2 of 2").wait_for()
    assert sorted(said(served), key=str) == [
        (0, "right", None, "right", "item", None, None),
        (1, "wrong", None, None, None, None, None),
        (None, None, None, None, None, 2, "yes"),
    ]
    page.go_back()
    page.locator("h1", has_text="The whole response").wait_for()


@pytest.mark.parametrize("address", ["/judge?judge=Ana&language=eng", "/responses?topic=foods", "/responses?model=x"])
def test_an_address_that_names_what_the_run_has_not_says_what_it_has(served: Served, address: str) -> None:
    axis, _, code = address.rpartition("?")[2].rpartition("&")[2].partition("=")
    page = served.get(address)  # noqa: F811
    there = {"language": "ar, en", "topic": "food", "model": "m"}[axis]
    assert page.status_code == 404
    assert f"this run has no {axis} &#39;{code}&#39;. It has {there}." in page.text


def test_two_tabs_write_over_nothing(served: Served, page: Page, browser: Browser) -> None:  # noqa: F811
    other = browser.new_page()
    begin(served, page)
    begin(served, other)
    press(page, "r")
    press(other, "s")  # its page was shown before the answer of the first
    begin(served, other, "Ben")
    press(other, "w")
    other.close()
    assert said(served) == [(0, "right", 1, None, None, None, None)]
    assert said(served, "Ben") == [(0, "wrong", None, None, None, None, None)]


def test_an_answer_of_another_page_or_of_nobody_is_refused(served: Served) -> None:
    shown = served.get("/judge?judge=Ana").text
    extraction = shown.partition('name="extraction" value="')[2].partition('"')[0]
    answer = {"judge": "Ana", "extraction": extraction, "case": "0", "mention": "right"}
    post = f"{served.at}/judge"
    assert httpx.post(post, data=answer, headers={"Sec-Fetch-Site": "same-site"}, timeout=60).status_code == 403
    assert httpx.post(f"{served.root}/judge", data=answer, timeout=60).status_code == 403
    assert httpx.post(post, data=answer | {"judge": " "}, timeout=60).status_code == 503
    assert httpx.post(post, data=answer | {"extraction": "x"}, timeout=60).status_code == 503
    assert served.get(f"/judge?{httpx.QueryParams(answer)}").status_code == 200  # an address keeps nothing
    assert not judgements_of(served.store.run)
    assert httpx.post(post, data=answer, timeout=60).status_code == 303
    assert len(judgements_of(served.store.run)) == 1


def test_the_page_is_accessible_and_as_wide_as_the_window(served: Served, page: Page) -> None:  # noqa: F811
    for query in ("", "?judge=Ana&language=en", "?judge=Ana&case=99&at=99"):
        page.goto(f"{served.at}/judge{query}")
        for width in (390, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") == width, query
        assert page.locator("img").count() == 0
        found = Axe().run(page, options={"resultTypes": ["violations"]})
        assert found.violations_count == 0, found.generate_report()
