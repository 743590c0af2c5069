"""`polyculture view`: its pages in a real browser over a real store, what they refuse, and a run that still writes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from aiohttp import web
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import StoreError
from polyculture.cache.guard import resident_memory
from polyculture.cache.store.run_folder import RunFolder
from polyculture.reports.names import Names
from polyculture.reports.view.live import PageStore
from polyculture.reports.view.pages import SAMPLES, Pages, pieces
from polyculture.reports.view.server import application, listen, new_base
from polyculture.running.layout import store_layout
from tests.report_run import MODELS, Synthetic, hostile_kitchen, kitchens
from tests.reports.test_browser import browser  # noqa: F401  a fixture
from tests.store_builder import StoreBuilder


class Served:
    """A server of the pages in a thread, until it is closed."""

    def __init__(self, run: RunFolder, folder: Path, models: tuple[str, ...] = MODELS, **limits: float) -> None:
        self.store = PageStore(run, folder, store_layout(), **limits)
        self._door = listen(0)
        base = new_base()
        self.root = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        self.at = f"{self.root}{base}"
        self._app = application(run, Pages(self.store, "Six kitchens", Names(read_catalog(), models), base), base)
        self._loop = asyncio.new_event_loop()
        self._runner = web.AppRunner(self._app)
        ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(ready,))
        self._thread.start()
        ready.wait()

    def _serve(self, ready: threading.Event) -> None:
        async def start() -> None:
            await self._runner.setup()
            await web.SockSite(self._runner, self._door).start()
            ready.set()

        self._loop.run_until_complete(start())
        self._loop.run_forever()
        self._loop.run_until_complete(self._runner.cleanup())
        self._loop.close()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._door.close()

    def get(self, path: str, **headers: str) -> httpx.Response:
        return httpx.get(f"{self.at}{path}", headers=headers, timeout=60, verify=False)

    def sql(self, query: str) -> str:
        return httpx.post(f"{self.at}/sql", data={"query": query}, timeout=60, verify=False).text


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(kitchens(tmp_path_factory), tmp_path_factory.mktemp("stores"))
    yield served
    served.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:  # noqa: F811
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    page.close()
    assert complaints == []


def open_page(served: Served, page: Page, path: str) -> None:
    """Goes to an address; what is none is a query, typed where a reader types it."""
    if path.startswith("/"):
        page.goto(f"{served.at}{path}")
        return
    page.goto(f"{served.at}/sql")
    page.fill("#query", path)
    page.locator("button", has_text="Run").click()
    page.locator("#answer").wait_for()


def test_a_name_leads_to_its_responses_in_every_language(served: Served, page: Page) -> None:
    page.goto(f"{served.at}/")
    page.fill("#q", "寿司")
    page.keyboard.press("Enter")
    page.locator("tbody a", has_text="sushi").click()
    assert page.locator("h1").inner_text() == "sushi"
    assert page.locator("th[scope=row]").all_inner_texts()[0] == "Arabic"
    page.locator("a[aria-label*='Japanese']").first.click()
    assert "寿司" in page.locator("mark").all_inner_texts()
    assert all("Japanese" in line for line in page.locator(".where").all_inner_texts())
    page.select_option("#country", label="Japan")
    page.locator("button", has_text="Show").click()
    assert all("Japan" in line.split("·")[4] for line in page.locator(".where").all_inner_texts())


def test_the_first_page_has_the_numbers_of_the_health_of_models(served: Served) -> None:
    told = served.store.told("standing")
    sums = ", ".join(f"sum({name})::BIGINT AS {name}" for name in told.columns if name != "model")
    assert told == served.store.answer(f"SELECT model, {sums} FROM health GROUP BY model ORDER BY model", {}, 100)
    assert any(0 < row["linked"] < row["mentions"] and row["failed"] for row in told.records())


def test_responses_can_be_read_page_by_page(served: Served, page: Page) -> None:
    page.goto(f"{served.at}/responses?language=ar&page=1")
    assert page.locator("blockquote").count() == 20
    assert page.locator("blockquote").first.evaluate("element => getComputedStyle(element).direction") == "rtl"


def test_two_models_stand_side_by_side(served: Served, page: Page) -> None:
    page.goto(f"{served.at}/side-by-side")
    page.select_option("#topic", label="Food")
    page.select_option("#language", label="Japanese")
    page.select_option("#country", label="Japan")
    page.locator("button", has_text="Show").click()
    ones, others = (page.locator(f"section:has(#side-{side}) article") for side in (1, 2))
    assert ones.count() == others.count() == SAMPLES
    assert ones.locator("blockquote").count() + page.locator("section .nothing").count() == SAMPLES  # one failed
    left, right = (places.first.bounding_box() for places in (ones, others))
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] < right["x"]
    assert "寿司" in page.locator("mark").all_inner_texts()
    first = page.locator("main > .where").inner_text()
    page.locator(".pager a", has_text="Next").click()
    second = page.locator("main > .where").inner_text()
    assert [line.split(" · ")[1:3] for line in (first, second)] == [["Japanese", "Food"]] * 2
    assert first.split(" · ")[3] != second.split(" · ")[3]  # the kind of prompt


def test_what_one_of_two_models_names_is_listed(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path / "runs" / "two", models=("m", "n"))
    prompt = built.ask()
    for model, said in {"m": ["sushi", "ramen"], "n": ["sushi", "udon", "udon"]}.items():
        for name in said:
            built.answer(prompt, [name], model=model)
    for name, qid in {"sushi": "Q1", "ramen": "Q2", "udon": "Q3"}.items():
        built.link(name, qid)
    served = Served(built.write(), tmp_path, models=("m", "n"))
    try:
        named = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", served.get("/side-by-side").text)
        assert [(label, re.findall(r">(\w+)<", items)) for label, items in named] == [
            ("Both name", ["Q1"]),
            ("Only m names", ["Q2"]),
            ("Only n names", ["Q3"]),
        ]
        assert "Choose two different models" in served.get("/side-by-side?a=m&b=m").text
        assert "no prompt that fits" in served.get("/side-by-side?page=2").text
        assert served.get("/side-by-side?a=x").status_code == 404
    finally:
        served.close()


def test_a_prompt_that_failed_at_one_of_two_models_is_shown_with_its_reason(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path / "runs" / "two", models=("m", "n"))
    prompt = built.ask()
    failed = {"status": "failed", "text": None, "error": "out of <memory>"}
    built.answer(prompt, ["sushi"], model="m")
    for sample in range(2):
        built.answer(prompt, model="n", sample=sample, **failed)
    served = Served(built.write(), tmp_path, models=("m", "n"))
    try:
        shown = served.get("/side-by-side").text
        assert "Prompt 1 of 1" in shown
        assert shown.count("<blockquote") == 1
        assert shown.count("No answer: out of &lt;memory&gt;") == 2
        assert "2 of 2 requests failed" in shown
    finally:
        served.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        "/?q=sushi", "/?q=shusi", "/item/Q46383", "/responses?qid=Q46383", "/side-by-side?language=ar",
        "FROM linked_mentions LIMIT 9",
    ],
)  # fmt: skip
def test_a_page_is_accessible_and_as_wide_as_the_window(served: Served, page: Page, path: str) -> None:
    open_page(served, page, path)
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    found = Axe().run(page, options={"resultTypes": ["violations"]})
    assert found.violations_count == 0, found.generate_report()


def test_sql_answers_one_select(served: Served, page: Page) -> None:
    page.goto(f"{served.at}/sql")
    page.fill("#query", "SELECT count(*) AS n FROM responses WHERE language = 'ja'")
    page.locator("button", has_text="Run").click()
    assert page.locator("table.cells td").inner_text().isdecimal()
    assert "the first 1000" in served.sql("SELECT * FROM range(5000)")
    assert "specificity_gain" in served.get("/sql").text


def test_sql_reads_the_run_and_changes_nothing(served: Served, tmp_path: Path) -> None:
    run = served.store.run.root
    before = sorted(run.rglob("*"))
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nhush", encoding="utf-8")
    for query in (
        f"COPY (SELECT 1) TO '{run}/x.csv'", "CREATE TABLE x AS SELECT 1", "DROP VIEW cells", "ATTACH 'x.duckdb'",
        f"COPY (PIVOT (SELECT 1 AS a) ON a USING count(*)) TO '{run}/links.parquet'",
        f"WITH x AS (COPY (SELECT 1) TO '{run}/links.parquet') FROM x", "EXPLAIN ANALYZE SELECT 1", "CALL checkpoint()",
        "SET memory_limit = '1TB'", "INSTALL httpfs", "SELECT 1; SELECT 2", "PRAGMA version", "not sql at all",
        f"SELECT * FROM read_csv('{secret}')", f"FROM '{secret}'", "SELECT * FROM read_text('/etc/hostname')",
    ):  # fmt: skip
        answer = served.sql(query)
        assert 'class="fault"' in answer, query
        assert "hush" not in answer.replace(query, "")
    assert sorted(run.rglob("*")) == before
    assert b"PAR1" in (run / "links.parquet").read_bytes()[-4:]


def test_a_long_question_is_stopped(served: Served, tmp_path: Path) -> None:
    impatient = PageStore(served.store.run, tmp_path, store_layout(), seconds=0.3)
    with pytest.raises(StoreError, match="took longer than"):
        impatient.question(
            "SELECT count(*) FROM range(10_000_000) a, range(10_000_000) b WHERE a.range % 7 = b.range % 3", 10, 10
        )
    assert impatient.question("SELECT 1", 10, 10).rows == [(1,)]


def test_a_large_answer_is_cut_and_its_memory_given_back(served: Served, tmp_path: Path) -> None:
    """A thousand cells of a million characters; a page shows the beginning of each."""
    store, before = PageStore(served.store.run, tmp_path, store_layout()), resident_memory()
    answer = store.question("SELECT repeat('x', 1_000_000) || range AS a, [range] AS a FROM range(1_000)", 1_000, 50)
    assert answer.columns == ("a", "a")
    assert answer.rows[7] == ("x" * 50, "[7]")
    assert store.question("SELECT 1", 10, 10).rows == [(1,)]
    assert resident_memory() - before < 700 << 20
    for query, rows in (("DESCRIBE responses", 1), ("FROM range(5) -- five", 5), ("PIVOT (FROM range(3)) ON range", 1)):
        assert len(store.question(query, 10, 10).rows) >= rows
    assert store.question("SELECT 1.5 AS x, NULL, 'é', DATE '2026-01-01'", 1, 9).rows[0][:3] == (
        Decimal("1.5"),
        None,
        "é",
    )


def test_a_question_that_duckdb_does_not_stop_is_stopped_from_outside(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polyculture.reports.view.question.most_memory", lambda: 500 << 20)
    store, before = PageStore(served.store.run, tmp_path, store_layout()), resident_memory()
    with pytest.raises(StoreError, match=r"0\.5 GiB of memory"):
        store.question("SELECT range(900000000)", 10, 10)
    assert resident_memory() - before < 300 << 20
    assert store.question("SELECT 1", 10, 10).rows == [(1,)]
    assert store.question("FROM test_all_types()", 10, 10).rows
    with pytest.raises(StoreError, match="only one SELECT"):
        store.question("UPDATE EXTENSIONS", 10, 10)


def test_only_this_machine_under_its_own_name_is_answered(served: Served) -> None:
    assert served.get("/").status_code == 200
    assert served.get("/", Host="localhost:1").status_code == 200
    for host in ("evil.example", "evil.example:8765", "127.0.0.1.evil.example", "[::1]", ""):
        assert served.get("/", Host=host).status_code in (400, 403), host
    for answer in (served.get("/"), served.get("/sql"), served.get("/nothing"), httpx.get(served.root)):
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")


@pytest.mark.parametrize("origin", ["cross-site", "same-site", "anything"])
def test_a_request_that_another_page_makes_is_refused(served: Served, origin: str) -> None:
    """A page on another port of this machine is of the same site: `same-site` was let through."""
    headers = {"Sec-Fetch-Site": origin}
    for path in ("/", "/sql", "/item/Q46383", "/report.html"):
        assert served.get(path, **headers).status_code == 403
    assert httpx.post(f"{served.at}/sql", data={"query": "SELECT 1"}, headers=headers).status_code == 403
    for own in ("same-origin", "none"):
        assert served.get("/sql", **{"Sec-Fetch-Site": own}).status_code == 200


def test_nothing_is_answered_without_the_token(served: Served) -> None:
    for path in ("/", "/sql", "/report.html", "/report.css", f"/x{served.at.rpartition('/')[2]}/sql", "//sql"):
        assert httpx.get(f"{served.root}{path}").status_code == 403, path
    assert httpx.post(f"{served.root}/sql", data={"query": "SELECT 1"}).status_code == 403
    assert new_base() != new_base()


def test_sql_is_no_part_of_an_address(served: Served) -> None:
    refused = served.get("/sql?query=SELECT+40%2B2")
    assert refused.status_code == 405
    assert "42" not in refused.text
    assert ">42</td>" in served.sql("SELECT 40+2")


def test_a_page_of_another_port_gets_nothing(served: Served, browser: Browser) -> None:  # noqa: F811
    """It had overwritten the report with one `<img>`; here even one that knows the token is refused."""
    asked: list[str] = []
    statuses: list[int] = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("response", lambda answer: answer.url.startswith(served.root) and statuses.append(answer.status))

    def attack() -> str:
        images = "".join(f'<img src="{at}/sql?query=SELECT+1">' for at in (served.at, served.root))
        frame = f'<iframe name="f"></iframe><form method="post" target="f" action="{served.at}/sql">'
        form = f'{frame}<input name="query" value="SELECT 1"></form><script>document.forms[0].submit()</script>'
        return f"<!doctype html>{images}{form}"

    class Attacker(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(attack().encode())

        def log_message(self, *_: object) -> None:
            """Nothing of it belongs into a test's output."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Attacker) as elsewhere:
        threading.Thread(target=elsewhere.serve_forever).start()
        try:
            page.goto(f"http://127.0.0.1:{elsewhere.server_port}/")
            page.wait_for_load_state("networkidle")
        finally:
            page.close()
            elsewhere.shutdown()
    assert sum(url.startswith(served.root) for url in asked) == 3  # two images and a form
    assert set(statuses) == {403}  # of an image that is none the browser reports no answer


def test_the_report_lies_beside_the_pages(served: Served, page: Page) -> None:
    page.goto(f"{served.at}/report.html")
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    page.locator("#entities .open").first.click()
    assert page.locator(".mention").count()
    assert served.get("/report-data/../manifest.json").status_code == 404
    assert served.get("/report-data/00-00.js").status_code == 404


def test_a_run_that_goes_on_writing_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    early = Synthetic(n=1, languages=("en",), topics=("food",), respond=False).write(folder)
    served = Served(early, tmp_path, pause=0)
    try:
        before = served.get("/").text
        assert ">0</td>" in served.sql("SELECT count(*) FROM responses")
        Synthetic(n=1, languages=("en",), topics=("food",)).write(folder)
        assert "/item/Q46383" in served.get("/?q=sushi").text
        assert served.get("/").text != before
        assert list(tmp_path.rglob("*.duckdb")) == []
        (folder / "links.parquet").unlink()
        assert "awaiting" in served.get("/?q=sushi").text
        shutil.rmtree(folder / "mentions")
        shutil.rmtree(folder / "extractions")
        shutil.rmtree(folder / "inventory" / "extractions")
        assert "0 found" in served.get("/?q=sushi").text
    finally:
        served.close()


def test_hostile_data_does_nothing(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, page: Page) -> None:
    served = Served(hostile_kitchen(tmp_path_factory), tmp_path)
    try:
        for path in (
            "/?q=window",
            "/item/Q1",
            "/responses?qid=Q1",
            "FROM linked_mentions",
            f"/?q={'<script>'}",
        ):
            open_page(served, page, path)
            assert page.evaluate("window.hacked") is None
            assert page.locator("img").count() == 0
        page.goto(f"{served.at}/responses?qid=Q1")
        assert "onerror" in page.locator("mark").first.inner_text()
    finally:
        served.close()


def test_the_command_says_where_and_ends_with_ctrl_c(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    runs = kitchens(tmp_path_factory).root.parent
    experiment = tmp_path / "exp.toml"
    experiment.write_text(
        'name = "kitchens"\nmodels = ["openai:x"]\nlanguages = ["en"]\ntopics = ["food"]\ncountries = ["US"]\n'
    )
    command = [sys.executable, "-m", "polyculture", "view", str(experiment), "--runs", str(runs), "--port", "0"]
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        address = process.stdout.readline().split()[0]
        assert address.startswith("http://127.0.0.1:")
        assert httpx.get(address, timeout=60).status_code == 200
        taken = subprocess.run(
            [*command[:-1], str(httpx.URL(address).port)], capture_output=True, text=True, check=False
        )
        assert taken.returncode == 2
        assert "cannot be opened" in taken.stderr
        slow = "SELECT count(*) FROM range(10_000_000) a, range(10_000_000) b WHERE a.range % 7 = b.range % 3"
        asking = threading.Thread(target=_asked, args=(f"{address}sql", slow), daemon=True)
        asking.start()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=30)  # the query has a minute
    assert process.returncode in (0, 130)
    assert "Traceback" not in complaints


def _asked(address: str, query: str) -> None:
    with contextlib.suppress(httpx.HTTPError):
        httpx.post(address, data={"query": query}, timeout=60)


def test_overlapping_marks_are_told_apart() -> None:
    marks = [{"start": 0, "end": 3}, {"start": 2, "end": 4}, {"start": None, "end": None}]
    assert pieces("寿司🍜とrice", marks) == [("", False), ("寿司🍜", True), ("とrice", False)]


def test_a_misspelt_name_is_suggested(served: Served, page: Page) -> None:
    page.goto(f"{served.at}/?q=shusi")
    page.locator(".near a", has_text="sushi").first.click()
    assert "sushi" in page.locator("#found ~ .scroll").inner_text()
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
