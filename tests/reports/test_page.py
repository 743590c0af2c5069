"""The report as a file: what stands in it, that it is well formed, and that nothing of the data is markup."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import StoreError
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.metrics import KEPT
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import Terms, compare
from polyculture.metrics.comparison.sides import Sides, native_sides
from polyculture.metrics.limits import BY_CONSTRUCTION
from polyculture.metrics.measure import measure
from polyculture.reports import evidence as evidence_module
from polyculture.reports.escaping import csv_link, defuse
from polyculture.reports.evidence import Bounds
from polyculture.reports.health import notices
from polyculture.reports.names import Names
from polyculture.reports.numbers import decimal, difference
from polyculture.reports.report import write_report
from polyculture.reports.sections import OWN_SECTIONS
from polyculture.reports.texts import texts
from polyculture.running.layout import report_sections, store_layout
from tests.report_instruments import add_instruments
from tests.report_run import COUNTRIES, HOSTILE, MODELS, Synthetic, hostile_kitchen, kitchens, sections_named
from tests.store_builder import StoreBuilder

VOID = {"meta", "input", "br", "hr", "img", "link"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None]
    inside: tuple[str, ...] = ()
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)


@dataclass
class Page(HTMLParser):
    """A page read by the standard library's parser: every element with its text, and that tags are closed in order."""

    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs), inside=tuple(e.tag for e in self.open))
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, dict(attrs), inside=tuple(e.tag for e in self.open)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.texts.append(data)

    def all(self, tag: str) -> list[Element]:
        return [element for element in self.elements if element.tag == tag]

    def with_id(self, name: str) -> Element:
        return next(element for element in self.elements if element.attributes.get("id") == name)


def parsed(run: RunFolder) -> Page:
    page = Page()
    page.feed(run.report.read_text(encoding="utf-8"))
    assert not page.open
    return page


def evidence(page: Page) -> dict[str, Any]:
    return unpacked(page.with_id("evidence-data").text)


def unpacked(text: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(text, validate=True)))
    return data


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return kitchens(tmp_path_factory)


@pytest.fixture(scope="module")
def page(run: RunFolder) -> Page:
    return parsed(run)


def rows_of(href: str) -> list[dict[str, str]]:
    """The rows of a table that a link of the page downloads, gzipped where it is long."""
    head, _, body = href.partition(",")
    zipped = head == "data:application/gzip;base64"
    text = gzip.decompress(base64.b64decode(body)).decode() if zipped else unquote(body)
    return list(csv.DictReader(io.StringIO(text)))


def test_nothing_is_loaded_from_elsewhere(page: Page, run: RunFolder) -> None:
    loaded = [e for e in page.elements for key in ("src", "srcset", "poster") if e.attributes.get(key)]
    assert not loaded
    assert not page.all("link")
    hrefs = [e.attributes["href"] or "" for e in page.all("a") + page.all("use") if e.attributes.get("href")]
    assert hrefs
    assert all(href.startswith(("#", "data:text/csv", "data:application/gzip;base64,")) for href in hrefs)
    assert not re.search(r"@import|url\((?!#)", run.report.read_text(encoding="utf-8"))


def test_ids_are_unique_and_every_reference_is_met(page: Page) -> None:
    ids = Counter(e.attributes["id"] for e in page.elements if e.attributes.get("id"))
    assert not [name for name, times in ids.items() if times > 1]
    attributes = [value or "" for e in page.elements for value in e.attributes.values()]
    referred = {e.attributes["aria-labelledby"] for e in page.elements if "aria-labelledby" in e.attributes}
    referred |= {found for value in attributes for found in re.findall(r"url\(#([^)]+)\)", value)}
    referred |= {
        (e.attributes.get("href") or "")[1:].partition("&")[0]  # the rest says what is chosen there
        for e in page.elements
        if (e.attributes.get("href") or "")[:1] == "#"
    }
    assert referred
    assert referred <= set(ids)


def test_headings_come_in_order_and_tables_have_headers(page: Page) -> None:
    levels = [int(e.tag[1]) for e in page.elements if re.fullmatch("h[1-6]", e.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(e.attributes.get("scope") for e in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))


def test_figures_have_text_and_every_mark_of_theirs_a_name(page: Page) -> None:
    drawings = page.all("svg")
    assert {e.attributes["role"] for e in drawings} == {"group", "img"}
    assert (
        len([e for e in drawings if e.attributes["role"] == "group"]) == 1 + 2 + 1
    )  # the picture, boxes of diversity a model, granularity
    marks = [e for e in page.all("a") if "svg" in e.inside]
    assert all(e.attributes["aria-label"] for e in drawings + marks)
    assert len(marks) > 2 * 6 + 6 + 2 * 2 * 6
    heat = [e for e in page.all("table") if e.attributes.get("role") == "grid"]
    # the opening's plot; specificity a model and condition, and what they add; granularity, diversity and origins a
    # model; consensus a topic and model
    assert len(heat) == 1 + 2 * 7 + 2 + 2 + 2 + 4
    texts = {e.text for e in page.all("text")}
    assert {"Arabic العربية", "Hindi हिन्दी", "Japanese 日本語", "Thai ไทย"} <= texts
    styles = " ".join(e.text for e in page.all("style") if "svg" in e.inside)
    assert "var(--series-1)" in styles
    assert not re.search(r"#[0-9a-f]{6}", styles)  # every colour is one of the page
    assert "font-family" not in styles


def test_opening_says_what_there_is_and_what_is_weak(page: Page) -> None:
    header = page.all("header")[0].text
    assert "Six kitchens" in header
    assert "2 models wrote" in header
    asked = header.partition("Languages")[2].partition("Topics")[0].split()
    assert asked
    assert len(asked) == len(set(asked))  # each language once
    assert "a test put its texts together" in header
    assert "in another language than their prompt" in header
    assert "Arabic" in page.with_id("distrust").text


def test_numbers_have_intervals_and_what_they_rest_on(page: Page) -> None:
    rows = [e.text for e in page.all("tr") if "header" in e.inside]
    assert len([text for text in rows if " to " in text]) == 2  # models
    assert "the gazetteer" in page.with_id("compared").text  # why granularity has no interval
    intervals = re.findall(r"\d to [+−\d]", page.with_id("numbers").text)
    too_little = re.findall("too (?:little data|few(?: items)?) for an interval", page.with_id("numbers").text)
    assert len(intervals) + len(too_little) == 5 * 2 * (1 + 6)  # metrics x models x (all languages, and each)
    assert len(intervals) > 40
    assert "No intervals were computed yet" not in page.with_id("numbers").text
    assert "jackknife" in page.with_id("method").text


def test_every_figure_has_its_numbers_and_its_query(page: Page) -> None:
    links = {
        (e.attributes["download"] or "").removesuffix(".gz").removesuffix(".csv"): e.attributes["href"] or ""
        for e in page.all("a")
        if "download" in e.attributes
    }
    tables = {table.name for section in OWN_SECTIONS for table in section.tables}
    # Nothing is thin here, there are no regions, no model extracted, and no English name disagrees.
    shown = tables - {"headline", "texts", "thin", "extraction_losses", "disagreements"} | {"numbers"}
    assert shown | {"bias", "swaps", "separations", "entity-positions"} <= set(links)
    rows = rows_of(links["granularity"])
    assert {(row["model"], row["language"]) for row in rows} >= {(model, "ar") for model in MODELS}
    assert all(0 < float(row["estimate"]) <= 1 for row in rows)
    beside = rows_of(links["companions"])
    assert {row["metric"] for row in beside} >= {"diversity", "hill_1", "hill_2", "coverage", "rarefied"}
    assert page.with_id("diversity").text.count("Hill number of order 1") == 1
    assert sum("FROM numbers" in e.text for e in page.all("pre")) == 8


def test_what_differs_is_what_compare_says(page: Page, run: RunFolder) -> None:
    link = next(e for e in page.all("a") if e.attributes.get("download") in ("comparisons.csv", "comparisons.csv.gz"))
    rows = rows_of(link.attributes["href"] or "")
    with open_store(run, store_layout(), KEPT) as store:
        native = [(language, country) for country, language in COUNTRIES.items()]
        opened, terms = ComparedRun(store), Terms(selections=("all",), fixed={"granularity": BY_CONSTRUCTION})
        several = {
            "native by country": compare([opened], [native_sides(native)], replace(terms, by=("country",))),
            "model": compare([opened], [Sides("model", *sorted(MODELS))], terms),
        }
    for family, own in several.items():
        found = {(r["metric"], r["condition"], r["country"]): r for r in rows if r["family"] == family}
        wanted = [row.difference for row in own if row.difference.target == "same_prompts" and row.difference.cells]
        assert len(found) == len(wanted) > 6
        for row in wanted:
            shown = found[row.metric, row.condition.strip("*"), row.country.strip("*")]
            told = (row.difference, row.low, row.p)
            assert [
                float(shown[name]) if shown[name] else None for name in ("difference", "low", "p")
            ] == pytest.approx(told, abs=1e-6)
            assert (shown["cells"], shown["lacking"]) == (str(row.cells), "few topics" if row.p else BY_CONSTRUCTION)
    [japan] = [
        row.difference
        for row in several["native by country"]
        if (row.difference.metric, row.difference.country, row.difference.target) == ("diversity", "JP", "same_prompts")
    ]
    lines = [" ".join(e.text.split()) for e in page.all("tr")]
    shown_line = next(line for line in lines if line.startswith("Japan Diversity"))
    assert shown_line.startswith(f"Japan Diversity {difference(japan.difference or 0.0, 'diversity')} ")
    assert "smollm2 minus Qwen2.5-7B-Instruct" in " ".join(page.with_id("compared").text.split())
    assert "Native language against other languages, by model" in page.with_id("compared").text


def test_evidence_leads_from_items_to_places_in_responses(page: Page) -> None:
    data = evidence(page)
    sushi = next(number for number, item in enumerate(data["items"]) if item.get("qid") == "Q46383")
    assert data["items"][sushi]["countries"] == [["Japan", "P495"]]
    assert ["ar", "سوشي"] in data["items"][sushi]["labels"]
    surfaces = {"sushi", "سوشي", "सुशी", "寿司", "ซูชิ"}
    marked = [
        (response["text"][start:end])
        for response in data["responses"]
        for start, end, item in zip(*(response["marks"][at::3] for at in range(3)), strict=True)
        if item == sushi
    ]
    assert marked
    assert set(marked) <= surfaces


def test_counts_of_the_evidence_are_those_of_the_store(page: Page, run: RunFolder) -> None:
    data = evidence(page)
    with open_store(run) as store:
        found = store.execute(
            "SELECT count(*) FROM mentions JOIN links USING (query) WHERE NOT hallucinated "
            "AND qid = 'Q46383' AND mentions.language = 'ja' AND condition = 'explicit' AND country = 'JP'"
        ).fetchone()
    codes = [[code for code, _ in data["axes"][axis]] for axis in ("language", "condition", "country")]
    wanted = [axis.index(code) for axis, code in zip(codes, ("ja", "explicit", "JP"), strict=True)]
    sushi = next(item for item in data["items"] if item.get("qid") == "Q46383")
    pairs = zip(sushi["counts"][::2], sushi["counts"][1::2], strict=True)
    assert found == (sum(n for cell, n in pairs if [data["cells"][cell][axis] for axis in (1, 3, 4)] == wanted),)
    assert data["split"] == ["model", "language", "topic", "condition", "country"]
    assert (
        {item["status"] for item in data["items"]} == set(data["of_status"]) >= {"linked", "ambiguous", "hallucinated"}
    )


def test_the_table_of_dominance_has_the_stores_numbers_and_items(page: Page, run: RunFolder) -> None:
    links = [e for e in page.all("a") if e.attributes.get("data-item")]
    with open_store(run, store_layout()) as store:
        found = store.sql("SELECT model, topic, qid, in_language FROM dominant_items WHERE language IS NULL").fetchall()
    keys = ("data-model", "data-topic", "data-item", "data-language")
    assert found
    assert sorted(tuple(e.attributes[key] for key in keys) for e in links) == sorted(found)
    assert all(e.attributes["href"] == "#evidence" for e in links)
    assert "responses; " in page.with_id("dominance").text


def part_of(run: RunFolder, name: str) -> dict[str, Any]:
    script = (run.report_data / name).read_text(encoding="utf-8")
    return unpacked(script.removeprefix('window.polyculturePart = "').removesuffix('";\n'))


def test_a_large_run_is_embedded_in_part_and_the_rest_lies_beside_it(tmp_path: Path, monkeypatch: Any) -> None:
    run = Synthetic(n=4, models=MODELS[:1], languages=("en", "ja")).write(tmp_path)
    monkeypatch.setattr(evidence_module, "WHOLE", Bounds(linked=8, other=2, texts=3_000, counts=40))
    monkeypatch.setattr(evidence_module, "LONGEST", 60)
    write_report(run, sections=sections_named("evidence"))
    data = evidence(parsed(run))
    assert data["of_status"]["linked"] > 8 >= sum(item["status"] == "linked" for item in data["items"])
    assert sum(len(response["text"].encode()) for response in data["responses"]) <= 3_000
    assert any(response.get("cut") for response in data["responses"])
    assert data["split"] == ["model", "language", "topic"]
    assert 0 < sum(len(item["counts"]) // 2 for item in data["items"]) <= 40
    assert len(data["parts"]) == len(list(run.report_data.iterdir())) == 2 * 2
    japanese_food = part_of(run, data["parts"]["1,0"])
    assert japanese_food["axes"] == data["axes"]
    assert japanese_food["split"] == ["model", "language", "topic", "condition", "country"]
    assert {
        tuple(japanese_food["cells"][cell][1:3]) for item in japanese_food["items"] for cell in item["counts"][::2]
    } == {(1, 0)}
    with open_store(run) as store:
        where = "counted AND language = 'ja' AND topic = 'food'"
        found = store.execute(f"SELECT count(*) FROM mentions WHERE {where}").fetchone()
    assert found == (sum(sum(item["counts"][1::2]) for item in japanese_food["items"]),)
    before = {path: path.read_bytes() for path in [run.report, *run.report_data.iterdir()]}
    write_report(run, sections=sections_named("evidence"))
    assert {path: path.read_bytes() for path in before} == before
    monkeypatch.undo()
    write_report(run, sections=sections_named("evidence"))
    assert not evidence(parsed(run))["parts"]
    assert not run.report_data.exists()


def test_hostile_data_is_text_and_nothing_else(tmp_path_factory: pytest.TempPathFactory) -> None:
    hostile = hostile_kitchen(tmp_path_factory)
    page = parsed(hostile)
    assert not page.all("img")
    assert len(page.all("script")) == 2
    assert "<img src=x>" in page.with_id("probable").text
    for name in ("swapped", "apart", "leaderboards"):
        assert HOSTILE[:50] in page.with_id(name).text
        assert "long" * 200 not in page.with_id(name).text
    assert not [e for e in page.all("a") if ",=1+1" in unquote(e.attributes.get("href") or "")]
    assert "{{ 7*7 }}" in page.all("h1")[0].text
    assert not [e for e in page.elements for key in e.attributes if key.startswith("on")]
    data = evidence(page)
    assert any(item["label"].startswith(HOSTILE[:100]) and len(item["label"]) < 400 for item in data["items"])
    assert any(HOSTILE[:100] in response["text"] for response in data["responses"])


def test_a_run_without_responses_still_has_a_report(tmp_path: Path) -> None:
    run = Synthetic(n=2, languages=("en",), countries=("US",), topics=("food",), respond=False).write(tmp_path)
    measure(run)
    write_report(run, layout=store_layout(), sections=report_sections())
    page = parsed(run)
    assert "There is no response yet" in page.all("header")[0].text
    numbers = page.with_id("numbers").text
    assert "no responses" in numbers
    assert "no consensus: there is only one language" in numbers
    assert "0.00" not in numbers
    assert not page.all("svg")
    assert page.with_id("granularity").text.count("There is no figure") == 1
    instruments = {"probable", "swapped", "apart", "leaderboards"}
    assert not instruments & {e.attributes.get("id") for e in page.elements}
    assert not instruments & {(e.attributes.get("href") or "")[1:] for e in page.all("a")}


def test_a_run_in_which_all_failed_waits_for_nothing(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path, models=MODELS[:1], n=1)
    builder.answer(builder.ask(), status="failed", text=None, error="503 from the server")
    run = builder.write()
    write_report(run)
    header = parsed(run).all("header")[0].text
    assert "the only request failed" in " ".join(header.split())
    assert "waiting for" not in header


def test_links_by_english_alone_are_warned_of_with_their_language() -> None:
    row = defaultdict(int, model="m", linked=26)
    rows = [{**row, "language": "th", "by_english": 19}, {**row, "language": "es", "by_english": 2}]
    (warning,) = [one for one in texts().warnings if one.count == "by_english"]
    found = [
        one
        for one in notices([defaultdict(int, one) for one in rows], Names(read_catalog(), ["m"]))
        if one.text == warning.text
    ]
    assert [(one.worst, one.places, one.more) for one in found] == [
        ("73\N{NO-BREAK SPACE}%", ("Thai: 73\N{NO-BREAK SPACE}% (19 of 26)",), 0)
    ]


def test_what_is_missing_says_why(tmp_path: Path) -> None:
    speechless = Synthetic(n=2, languages=("en", "th"), countries=("US",), topics=("food",), mention=False)
    run = speechless.write(tmp_path / "speechless")
    measure(run)
    write_report(run, sections=sections_named("numbers", "distrust"))
    assert "no mentions" in parsed(run).with_id("numbers").text
    warned = " ".join(parsed(run).with_id("distrust").text.split())
    assert "100 % of the answers in a language contain no counted mention" in warned
    assert "Thai: 100 % (" in warned
    conditions = Synthetic(n=2, languages=("en", "th"), countries=("US",), topics=("food",), conditions=("neutral",))
    run = conditions.write(tmp_path / "neutral")
    measure(run)
    write_report(run, sections=sections_named("numbers", "diversity"))
    page = parsed(run)
    assert "no prompt names a country" in page.with_id("numbers").text
    assert "There is no figure: no prompt names a country" in page.with_id("diversity").text


def test_scores_are_a_section_with_a_table_of_one_rule(page: Page, run: RunFolder) -> None:
    captions = [e.text for e in page.all("caption") if "Cultural Bias Score, rule" in e.text]
    assert [caption.partition("rule ")[2][:4] for caption in captions] == ["sum:"]  # the others in the download
    section = page.with_id("probable")
    lines = [e.text for e in page.all("th") if "section" in e.inside]
    assert "p = " in section.text or "p < " in section.text
    link = next(e for e in page.all("a") if e.attributes.get("download") in ("bias.csv", "bias.csv.gz"))
    rows = rows_of(link.attributes["href"] or "")
    shown = [row for row in rows if row["rule"] == "sum"]
    food = [row for row in shown if (row["culture"], row["entity_type"]) == ("Japanese", "food")]
    assert lines.count("English, Japanese: food") == len(food) > 3 * len(MODELS)
    assert section.text.count("All languages, cultures and types") == sum(row["language"] == "" for row in shown)
    with open_store(run, store_layout()) as store:
        where = "method = 'sum' AND condition = 'neutral' AND country = 'Japanese' AND topic = 'food'"
        named = f"metric = 'cbs' AND cardinality(facets) = 1 AND model = ? AND {where}"
        query = f"SELECT estimate FROM numbers WHERE {named}"
        found = store.execute(query, [MODELS[1]]).fetchone()
    keys = ("model", "rule", "metric", "setting", "culture", "entity_type")
    wanted = next(r for r in rows if [r[k] for k in keys] == [MODELS[1], "sum", "cbs", "neutral", "Japanese", "food"])
    assert float(wanted["estimate"]) == pytest.approx(found[0], abs=1e-6)
    assert (wanted["failed"], wanted["native_entities"], wanted["western_entities"]) == ("4", "5", "6")
    assert f"{found[0]:.2f}" in section.text


def test_help_is_told_by_paired_differences(page: Page, run: RunFolder) -> None:
    section = page.with_id("probable").text
    for kind in ("token", "3 demonstrations"):
        assert section.count(f", {kind} - plain") == 2  # settings
    with open_store(run, store_layout()) as store:
        query = (
            "SELECT difference FROM differences "
            "WHERE dimension = 'context_prefix' AND target = 'new_prompts' AND method = 'sum' AND topic = 'food'"
        )
        found = store.sql(query).fetchall()
        contexts = (
            "SELECT count(DISTINCT context_id) FILTER (context_prefix IS NULL), count(DISTINCT context_id) FROM scores"
        )
        plain, each = store.sql(contexts).fetchall()[0]
    assert len(found) == 4
    assert all(decimal(value, "cbs_difference") in section for (value,) in found)
    assert plain < each
    assert f"in {plain} contexts" in " ".join(page.all("header")[0].text.split())  # not each with each help


def test_every_instrument_has_a_section_with_its_numbers(page: Page) -> None:
    names = ("probable", "swapped", "apart", "leaderboards")
    assert [e.attributes["id"] for e in page.all("section") if e.attributes.get("id") in names] == list(names)
    swapped = page.with_id("swapped").text
    # Tasks, languages of one type each; pooled settings of one metric, over all types alone.
    assert swapped.count("too little data for an interval") == 3 * len(MODELS) * 3 + len(MODELS) * 3
    assert "0.40 0.30 to 0.60" in " ".join(swapped.split())
    assert "1.30 6.00 0.005" in " ".join(page.with_id("apart").text.split())
    assert "Map of entities" in " ".join(e.attributes.get("aria-label") or "" for e in page.all("svg"))
    assert "Question answering: accuracy, native less Western" in page.with_id("leaderboards").text


def test_a_run_of_scores_alone_shows_them(tmp_path: Path) -> None:
    run = Synthetic(n=2, languages=("en",), countries=("US",), topics=("food",), respond=False).write(tmp_path)
    add_instruments(run, MODELS)
    write_report(run, layout=store_layout(), sections=report_sections())
    page = parsed(run)
    assert "There is no response yet" not in page.all("header")[0].text
    assert "was asked every prompt" not in page.with_id("method").text
    assert "No prompt of this run asked for a text" in page.all("header")[0].text
    assert "The models scored" in page.all("header")[0].text
    shown = {e.attributes["id"] for e in page.all("section") if e.attributes.get("id")}
    assert {"probable", "method"} <= shown
    assert not {"numbers", "distrust", "granularity", "evidence"} & shown
    links = {(e.attributes.get("href") or "")[1:] for e in page.all("a") if (e.attributes.get("href") or "")[:1] == "#"}
    assert links <= {e.attributes["id"] for e in page.elements if e.attributes.get("id")}


def test_a_folder_without_a_run_is_an_error_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no run"):
        write_report(RunFolder(tmp_path))


def test_csv_cells_are_no_formulas() -> None:
    assert [defuse(value) for value in ("=1+1", "+1", "-1", "@x", "\tx", "x=1", -1.5)] == [
        "'=1+1", "'+1", "'-1", "'@x", "'\tx", "x=1", -1.5,
    ]  # fmt: skip
    link = csv_link(["a"], [["=cmd"], ["寿司, #1"], [None]])
    assert link.startswith("data:text/csv;charset=utf-8,")
    assert "#" not in link
    assert list(csv.reader(io.StringIO(unquote(link.partition(",")[2])))) == [["a"], ["'=cmd"], ["寿司, #1"], [""]]
