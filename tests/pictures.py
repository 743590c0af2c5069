"""The picture of README and docs/index.md: that of the demo's page.

python -m tests.pictures demo/runs/demo/report.html
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

from PIL import Image

from tests.browsers import opened_browser, wait_until

PICTURE = Path(__file__).parents[1] / "docs" / "report.png"
WIDTH = 1000  # pixels of the page: the picture fills it
COLOURS = 128  # enough for flat surfaces, at a third of the bytes

if __name__ == "__main__":
    with opened_browser() as browser:
        page = browser.new_page(viewport={"width": WIDTH, "height": 1500}, color_scheme="light")
        page.goto(Path(sys.argv[1]).resolve().as_uri())
        wait_until(page, "performance.getEntriesByName('usable').length > 0")
        shot = page.locator("figure.picture").screenshot()
    Image.open(BytesIO(shot)).convert("RGB").quantize(COLOURS).save(PICTURE, optimize=True)
