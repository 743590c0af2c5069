"""The picture of the documentation: the report of a made-up run of the study's size, with models A to G.

python -m tests.pictures FOLDER     # the run is made in FOLDER, unless it is there
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

from polyculture.cache.run_folder import RunFolder
from polyculture.metrics.measure import measure
from polyculture.reports.report import write_report
from polyculture.running.layout import report_sections, store_layout
from tests.browsers import opened_browser, wait_until
from tests.full_study import FullStudy
from tests.report_instruments import add_instruments

DOCS = Path(__file__).parents[1] / "docs"


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


def first_screen(browser: Browser, report: Path) -> None:
    """What is seen first, for the README and the first page of docs/."""
    page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
    page.goto(report.as_uri())
    wait_until(page, "performance.getEntriesByName('usable').length > 0")
    page.screenshot(path=DOCS / "report.png")
    shrink(DOCS / "report.png")
    page.close()


if __name__ == "__main__":
    run = made_up_run(Path(sys.argv[1]))
    report = write_report(run, layout=store_layout(), sections=report_sections())
    with opened_browser() as browser:
        first_screen(browser, report)
