"""The page of a leaderboard of runs: what it shows, in a real browser at two widths, and the rows that it names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from polyculture.cache.store.manifest import read_manifest, write_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.metrics import METRICS_LAYOUT
from polyculture.reports.export.write import write_export
from polyculture.reports.runs_page import passage, write_page
from polyculture.running.standings import joined_runs
from tests.browsers import NoBrowserError, opened_browser, wait_until
from tests.store_builder import StoreBuilder

COUNTRIES, TOPICS, LANGUAGES = ("IT", "JP", "US"), ("food", "music"), ("en", "ja")
HOSTILE = "<img src=x onerror=alert(1)>"


def written_run(folder: Path, name: str, model: str, specific: float, seed: int) -> RunFolder:
    """A run whose model names two items in each text, specific ones with a chance."""
    built, random = StoreBuilder(folder / name, (model,), COUNTRIES, 6), np.random.default_rng(seed)
    for language, topic, country in product(LANGUAGES, TOPICS, (None, *COUNTRIES)):
        prompt = built.ask(language, topic, country)
        for sample in range(6):
            items = [f"dish{one}" for one in random.choice(9, 2, replace=False).tolist()]
            number = random.integers(10**6)
            text = f"{HOSTILE} Once more. {model} likes {items[0]} a lot, and {items[1]} on day {number}. The end."
            mentions = [
                {
                    "surface": item,
                    "granularity": int(random.random() < specific),
                    "start": text.index(item),
                    "end": text.index(item) + len(item),
                }
                for item in items
            ]
            built.answer(prompt, mentions, model=model, sample=sample, text=text)
    for number in range(9):
        built.link(f"dish{number}", f"Q{number + 1}")
        built.entity(f"Q{number + 1}", **{COUNTRIES[number % 3]: "P495"})
    built.know()
    run = built.write()
    manifest = read_manifest(run.manifest)
    assert manifest is not None
    asked = {
        "experiment": name,
        "languages": list(LANGUAGES),
        "topics": list(TOPICS),
        "conditions": ["neutral", "explicit"],
        "prompts": {"texts": dict.fromkeys(LANGUAGES, "a hash")},
    }
    write_manifest(manifest.model_copy(update=asked), run.manifest)
    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, an export of a third, and their page."""
    place = tmp_path_factory.mktemp("page")
    runs = [
        written_run(place, name, f"openai:{name}", chance, seed)
        for seed, (name, chance) in enumerate({"mine": 0.9, "yours": 0.88, "theirs": 0.2}.items())
    ]
    write_export(runs[2], METRICS_LAYOUT, place / "export")
    with joined_runs([place / "mine", place / "yours", place / "export"]) as found:
        write_page(found, place / "board.html")
        write_page(found, place / "again.html")
    return place


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    try:
        with opened_browser() as opened:
            yield opened
    except NoBrowserError as error:
        pytest.fail(str(error)) if os.environ.get("CI") else pytest.skip(str(error))


@pytest.fixture(scope="module", params=[1440, 390])
def page(request: pytest.FixtureRequest, browser: Browser, folder: Path) -> Iterator[Page]:
    """The page with all folds open; it asks for no other file, and complains of nothing."""
    opened = browser.new_page(viewport={"width": request.param, "height": 900}, reduced_motion="reduce")
    complaints: list[str] = []
    requests: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda asked: requests.append(asked.url))
    opened.goto((folder / "board.html").as_uri())
    wait_until(opened, "performance.getEntriesByName('usable').length > 0")
    opened.evaluate(
        "document.querySelectorAll('details:is(.question, .more)').forEach((fold) => { fold.open = true; })"
    )
    yield opened
    assert not complaints
    assert requests == [(folder / "board.html").as_uri()]
    opened.close()


def test_a_reader_sees_groups_numbers_and_languages(page: Page) -> None:
    board = page.locator("table", has=page.locator("caption", has_text="Granularity by group"))
    heads = [head.strip() for head in board.locator("thead th").all_inner_texts()]
    assert heads == ["Model", "All languages", "English", "Japanese"]
    groups = [body.locator("tr").all_inner_texts() for body in board.locator("tbody").all()]
    assert [len(group) - 1 for group in groups] == [2, 1]
    assert [group[0].strip() for group in groups] == ["Group 1", "Group 2"]
    assert "theirs" in groups[1][1]
    assert " to " in groups[1][1]


def test_nothing_is_wider_than_the_window(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_each_sentence_names_the_row_that_holds_it(page: Page, folder: Path) -> None:
    quotes = page.locator(".quote").all()
    assert len(quotes) == 3 * 2 * 3  # models, languages, sentences
    for quote in quotes:
        said = quote.locator("blockquote").inner_text()
        run, request, sample = row_of(quote.locator("small").inner_text())
        with open_store(RunFolder(folder / run), METRICS_LAYOUT) as store:
            [(text,)] = store.execute(
                "SELECT text FROM responses WHERE request_id = $request AND sample = $sample",
                {"request": request, "sample": int(sample)},
            ).fetchall()
        assert said in text
        assert said.startswith("openai:")  # the sentence, without those before and after it
        assert said.endswith(".")


def row_of(words: str) -> tuple[str, str, str]:
    """The run, the request and the sample of 'run RUN, table responses: request_id REQUEST, sample 3'."""
    found = re.fullmatch(r"run (.+), table responses: request_id (.+), sample (\d+)", words)
    assert found is not None, words
    return found[1], found[2], found[3]


def test_the_picture_shows_each_country_that_was_asked_about(page: Page) -> None:
    picture = page.locator("#asked_about figure.picture")
    assert picture.count() == 1
    words = picture.inner_text()
    for name in ("Italy", "Japan", "United States", "mine", "yours", "theirs"):
        assert name in words
    assert page.locator("#asked_about a[download='asked_about_countries.csv']").count() == 1


def test_the_map_leads_to_the_evidence(page: Page) -> None:
    assert page.locator("#origins table.heat").count() == 3
    page.locator("#origins table.heat td[tabindex]").first.click()
    assert "evidence" in page.evaluate("location.hash")


def test_the_same_runs_give_the_same_page(folder: Path) -> None:
    assert (folder / "board.html").read_bytes() == (folder / "again.html").read_bytes()


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("One. Two likes ramen here. Three.", "ramen", ("Two likes ", "ramen", " here.")),
        ("彼は寿司が好きです。次。", "寿司", ("彼は", "寿司", "が好きです。")),
        ("ramen", "ramen", ("", "ramen", "")),
        ("no end, ramen and 3.5 bowls of it", "ramen", ("no end, ", "ramen", " and 3.5 bowls of it")),
    ],
)
def test_a_passage_is_the_sentence_around_a_mention(text: str, name: str, expected: tuple[str, str, str]) -> None:
    assert passage(text, text.index(name), text.index(name) + len(name)) == expected


def test_a_long_sentence_is_cut_on_both_sides() -> None:
    before, name, after = passage(f"{'a' * 900} ramen {'b' * 900}", 901, 906)
    assert name == "ramen"
    assert before.startswith("…")
    assert after.endswith("…")
    assert len(before + name + after) < 300
