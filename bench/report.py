"""The report at the full study's size: how long it takes to write, how large it is, how fast a browser opens it.

    python -m bench.report [--n 6] [--folder FOLDER] [--models 7] [--language en]

7 models x 1,716 prompts with a few responses each: cells, pairs of languages and entities are those of the study.
Chromium opens the file from disk. Printed is the time until the page could be used (its evidence is unpacked and its
table drawn) and until something was seen (first contentful paint); an entity must open, and the console stay silent.
--folder keeps the run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from bench.results import keep
from bench.timing import Seconds
from polyculture.running.layout import report_sections, store_layout

sys.path.insert(0, str(Path(__file__).parents[1]))

from polyculture.cache.store.run_folder import RunFolder
from polyculture.metrics.measure import measure
from polyculture.reports.report import write_report
from tests.browsers import NoBrowserError, opened_browser, wait_until
from tests.full_study import MODELS, FullStudy

TIMES = """() => {
  const usable = performance.getEntriesByName("usable")[0];
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return [usable.startTime, paint ? paint.startTime : NaN];
}"""
OPENINGS = 5
SMALLEST = ("--n", "1", "--models", "1", "--language", "en", "ja", "--openings", "1")


def main() -> None:
    """Prints seconds, bytes and milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=6, help="responses of a prompt (default: 6)")
    parser.add_argument("--folder", type=Path, help="where the run is, or shall be, kept")
    parser.add_argument("--models", type=int, default=len(MODELS), help=f"(default: {len(MODELS)})")
    parser.add_argument("--language", nargs="*", default=(), help="(default: all)")
    parser.add_argument("--openings", type=int, default=OPENINGS, help=f"at each width (default: {OPENINGS})")
    asked = parser.parse_args()
    study = FullStudy(asked.n, MODELS[: asked.models], languages=asked.language)
    with tempfile.TemporaryDirectory() as temporary:
        run = RunFolder(asked.folder or Path(temporary))
        if not run.manifest.exists():
            timed("made", study, lambda: study.write(run.root))
        timed("measured", study, lambda: measure(run))
        timed("written", study, lambda: write_report(run, layout=store_layout(), sections=report_sections()))
        beside = [path.stat().st_size for path in run.report_data.glob("*")]
        print(f"report.html {run.report.stat().st_size:,} bytes; beside it {len(beside)} files, {sum(beside):,} bytes")
        try:
            open_in_browser(run.report, asked.openings)
        except NoBrowserError as error:
            sys.exit(str(error))


def timed(what: str, study: FullStudy, work: Callable[[], Any]) -> None:
    begun = Seconds.now()
    work()
    took = Seconds.now() - begun
    print(f"{what} in {took}", flush=True)
    row = f"{len(study.models)} models, {study.n} responses a prompt: {what}"
    keep("speed", "The report", row, {"by the clock": f"{took.wall:.1f} s", "CPU": f"{took.cpu:.1f} s"})


def open_in_browser(report: Path, openings: int) -> None:
    with opened_browser() as browser:
        for width in (1280, 390):
            times = sorted(opening(browser, report, width) for _ in range(openings))
            usable, painted = times[len(times) // 2]
            print(
                f"{width} pixels: usable after {usable:.0f} ms, painted after {painted:.0f} ms (median of {openings})"
            )


def opening(browser: Browser, report: Path, width: int) -> tuple[float, float]:
    """Opens the report once, clicks an entity, and raises where the console said anything."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(report.as_uri())
    wait_until(page, "['usable', 'first-contentful-paint'].every((n) => performance.getEntriesByName(n).length > 0)")
    usable, painted = page.evaluate(TIMES)
    page.locator("#evidence > details > summary").click()
    page.locator("#entities .open").first.click()
    page.locator(".mention").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert not said, said
    page.close()
    return usable, painted


if __name__ == "__main__":
    main()
