"""The pictures of the documentation: the report of a made-up run of the study's size, with models A to G.

python -m tests.pictures FOLDER     # the run is made in FOLDER, unless it is there
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Locator

from polyculture.cache.run_folder import RunFolder
from polyculture.metrics.measure import measure
from polyculture.reports.report import write_report
from polyculture.running.layout import report_sections, store_layout
from tests.browsers import opened_browser, wait_until
from tests.full_study import FullStudy
from tests.report_instruments import add_instruments

DOCS = Path(__file__).parents[1] / "docs"
FIGURES = {  # section, and which of its figures
    "boxes": ("granularity", 1),
    "map": ("granularity", 2),
    "trust-map": ("specificity", 1),
    "two-voices": ("consensus", 2),
    "consensus-by-topic": ("consensus", 1),
    "saturation": ("saturation", 0),
}


def made_up_run(folder: Path, n: int = 6) -> RunFolder:
    """The run with its intervals and all other instruments, `n` responses a prompt."""
    if folder.exists():
        return RunFolder(folder)
    study = FullStudy(n)
    run = study.write(folder)
    measure(run)
    add_instruments(run, study.models)
    return run


def shrink(file: Path) -> None:
    """128 colours are enough for flat surfaces, and a third of the bytes."""
    Image.open(file).convert("RGB").quantize(128).save(file, optimize=True)


def first_screens(browser: Browser, report: Path) -> None:
    """What is seen first: light, dark, and on a telephone."""
    for name, width, high, scheme in (
        ("report.png", 1440, 900, "light"),
        ("screens/dark.png", 1440, 900, "dark"),
        ("screens/phone.png", 390, 844, "light"),
    ):
        page = browser.new_page(viewport={"width": width, "height": high}, color_scheme=scheme)  # type: ignore[arg-type]
        page.goto(report.as_uri())
        wait_until(page, "performance.getEntriesByName('usable').length > 0")
        page.screenshot(path=DOCS / name)
        shrink(DOCS / name)
        page.close()


def figures(browser: Browser, report: Path) -> None:
    """Each of `FIGURES` with its legend, as far as its first panels go."""
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.goto(report.as_uri())
    wait_until(page, "performance.getEntriesByName('usable').length > 0")
    page.evaluate("document.querySelectorAll('details:is(.question, .more)').forEach((fold) => { fold.open = true; })")
    for name, (section, number) in FIGURES.items():
        figure: Locator = page.locator(f"#{section} figure").nth(number)
        figure.locator("figcaption").evaluate("caption => { caption.hidden = true; }")
        figure.screenshot(path=DOCS / "screens" / f"{name}.png")
        shrink(DOCS / "screens" / f"{name}.png")
    page.close()


if __name__ == "__main__":
    run = made_up_run(Path(sys.argv[1]))
    report = write_report(run, layout=store_layout(), sections=report_sections())
    with opened_browser() as browser:
        first_screens(browser, report)
        figures(browser, report)
