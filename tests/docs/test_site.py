"""The site of docs/: each page is in its menu, each link leads somewhere, and nothing comes from other hosts."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import markdown
import pytest
from markdown_it import MarkdownIt
from mkdocs.config import load_config

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
BLOCKS = ("ul", "ol", "li", "pre", "table", "tr", "h1", "h2", "h3", "h4")


def build(docs: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """`make docs` without the pages made of code, of the folder `docs`."""
    settings = site.with_suffix(".yml")
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for old, new in (("docs_dir: docs", f"docs_dir: {docs}"), ("- docs/pages/", f"- {ROOT}/docs/pages/")):
        assert old in text
        text = text.replace(old, new)
    settings.write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", settings, "--site-dir", site],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "site"
    done = build(ROOT / "docs", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_is_built_without_a_warning(site: Path) -> None:
    assert (site / "index.html").exists()
    assert (site / "search" / "search_index.json").stat().st_size > 100_000


def test_nothing_comes_from_other_hosts(site: Path) -> None:
    """No font, script, style or picture is fetched: a reader's address goes nowhere."""
    loaded = re.compile(
        r"<(?:script|img|iframe|source|embed)[^>]*\bsrc=\"?(?:https?:)?//|<link\b(?![^>]*canonical)[^>]*//"
    )
    foreign = {
        path.name: found[0] for path in site.rglob("*.html") if (found := loaded.findall(path.read_text("utf-8")))
    }
    assert not foreign
    styles = [
        path for path in site.rglob("*.css") if re.search(r"(?:@import|url\()\W*https?:", path.read_text("utf-8"))
    ]
    assert not styles


def test_what_lies_outside_docs_is_brought_along(site: Path) -> None:
    assert "Report" in (site / "repository" / "SECURITY.html").read_text(encoding="utf-8")
    (page,) = (path.read_text("utf-8") for path in site.rglob("security.html"))
    assert "repository/SECURITY.html" in page


WRONG = {
    "[nowhere](absent.md)": "'absent.md', but the target is not found",
    "[nowhere](measurements/README.md#absent)": "the doc 'measurements/README.md' does not contain an anchor",
    "[nowhere](../absent-too.md)": "'../absent-too.md', but the target is not found",
    "[nowhere](/index.md)": "absolute link '/index.md'",
}


def test_a_link_that_leads_nowhere_and_a_page_that_no_menu_names_are_errors(tmp_path: Path) -> None:
    docs = small_docs(tmp_path, "\n".join(WRONG))
    (docs / "forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    done = build(docs, tmp_path / "site")
    assert done.returncode == 1
    assert not [told for told in (*WRONG.values(), "forgotten.md") if told not in done.stderr], done.stderr


def test_a_notebook_is_a_page_of_its_cells_and_outputs() -> None:
    spec = importlib.util.spec_from_file_location("outside", ROOT / "docs" / "pages" / "outside.py")
    assert spec is not None
    assert spec.loader is not None
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    outputs = [{"text": ["3\n"]}, {"data": {"image/png": "QUJD", "text/plain": "<Figure>"}}]
    cells = [
        {"cell_type": "markdown", "source": ["# A run\n", "\n", "Open it."]},
        {"cell_type": "code", "source": ["1 + 2"], "outputs": outputs},
    ]
    page = hook.notebook(json.dumps({"cells": cells}))
    assert page.startswith("# A run\n\nOpen it.\n\n```python\n1 + 2\n```\n\n```text\n3\n")
    assert 'src="data:image/png;base64,QUJD"' in page
    assert "<Figure>" not in page


def small_docs(folder: Path, text: str) -> Path:
    """Every page of the menu, with nothing on it but a title; the first one has the text."""
    docs = folder / "docs"
    for page in named(load_config(str(ROOT / "mkdocs.yml")).nav):
        (docs / page).parent.mkdir(parents=True, exist_ok=True)
        (docs / page).write_text(f"# A page\n\n{text if page == 'index.md' else ''}\n", encoding="utf-8")
    return docs


def named(menu: Any) -> Iterator[str]:
    """The pages of a menu."""
    for entry in menu if isinstance(menu, list) else menu.values():
        if isinstance(entry, str):
            yield entry
        else:
            yield from named(entry)


def test_no_page_stands_in_the_menu_twice() -> None:
    counts = Counter(named(load_config(str(ROOT / "mkdocs.yml")).nav))
    assert not [page for page, count in counts.items() if count > 1]


class Blocks(HTMLParser):
    """Counts the blocks of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS:
            self.counts[tag] += 1


@pytest.mark.parametrize("page", PAGES)
def test_a_page_reads_the_same_on_a_forge(page: str) -> None:
    """MkDocs wants a blank line before a list and four blanks within; forges do not. Both must see the same blocks."""
    text = (ROOT / page).read_text(encoding="utf-8")
    forge = Blocks(MarkdownIt("commonmark").enable("table").render(text)).counts
    extensions = ["attr_list", "md_in_html", "tables", "pymdownx.superfences"]
    assert Blocks(markdown.markdown(text, extensions=extensions)).counts == forge
