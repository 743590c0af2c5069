"""The site of docs/: each page is in its menu, each link leads somewhere, and nothing comes from other hosts."""

from __future__ import annotations

import importlib
import inspect
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
from typer.main import get_command

import polyculture
from bench.exceptions import TABLES, read_table, rows_of
from polyculture.cache.store.store import open_store
from polyculture.cache.work.faults import fault_table
from polyculture.cli.app import app
from polyculture.generate.engines.openai.servers import known_servers
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder
from tests.test_house import ROOMS

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


GENERATED = ("commands", "tables", "lists", "exceptions", "api", "interfaces")


def test_generated_pages_hold_what_the_program_says(site: Path) -> None:
    commands, tables, lists, exceptions, *_ = ((site / f"{name}.html").read_text("utf-8") for name in GENERATED)
    named: Any = get_command(app)
    assert not [name for name in named.list_commands(None) if f'id="polyculture-{name}"' not in commands]
    assert 'href="#prompts"' in tables
    missing = [one for one in (*known_servers(), *(kind.name for kind in fault_table().kinds)) if one not in lists]
    assert not missing
    rows = {
        f"<td>{row}</td>" for name, keys in TABLES.items() for key in keys for row in rows_of(read_table(name), key)
    }
    assert not [row for row in (*(f"<code>{name}</code>" for name in TABLES), *rows) if row not in exceptions]


def test_the_python_interface_is_shown_from_its_docstrings(site: Path) -> None:
    api, interfaces = ((site / f"{name}.html").read_text(encoding="utf-8") for name in ("api", "interfaces"))
    heads = {re.sub("<[^>]+>", "", head).strip() for head in re.findall(r"<h2[^>]*>(.*?)</h2>", api, flags=re.DOTALL)}
    names = {f"polyculture.{name}" for name in polyculture.__all__ if not name.startswith("__")}
    assert not {name for name in names if not any(name in head.replace("\xa0", " ") for head in heads)}
    calls = [name for name, one in vars(polyculture.Run).items() if callable(one) and not name.startswith("_")]
    assert not [name for name in calls if f'id="polyculture.api.handle.Run.{name}"' not in api]
    first = (inspect.getdoc(polyculture.Run.compare) or "").splitlines()[0]
    assert first.split(", as")[0] in api
    assert "the text for <code>seed</code>" in interfaces  # a docstring
    assert "character offsets in the text; None when hallucinated" in interfaces  # the comment of a field


def test_pages_that_the_program_names_exist() -> None:
    """A remedy such as "see docs/importing.md" leads to a page; addresses of other projects' docs are not meant."""
    files = [file for room in ROOMS for ending in ("*.py", "*.toml") for file in (ROOT / room).rglob(ending)]
    texts = [file.read_text(encoding="utf-8") for file in files]
    named = {page for text in texts for page in re.findall(r"(?<![\w/])docs/[a-z-]+\.md", text)}
    assert len(named) > 10
    assert not named - set(PAGES)


def test_no_page_of_the_repository_links_to_a_page_that_only_the_site_has() -> None:
    """Whoever reads on a forge has no generated page."""
    pages = [*(ROOT / page for page in PAGES), *ROOT.glob("*.md")]
    link = re.compile(rf"\]\([./a-z]*(?:{'|'.join(GENERATED)})\.md")
    assert not [path.name for path in pages if link.search(path.read_text(encoding="utf-8"))]


def test_tables_lead_to_one_another_by_columns_that_both_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs" / "pages")
    leads = importlib.import_module("tables_page").LEADS
    columns: dict[str, set[str]] = {}
    with open_store(StoreBuilder(tmp_path).write(), store_layout()) as store:
        for view, column, *_ in store.sql("FROM dictionary").fetchall():
            columns.setdefault(view, set()).add(column)
    assert not [lead for lead in leads if not set(lead[2]) <= columns[lead[0]] & columns[lead[1]]]


WRONG = {
    "[nowhere](absent.md)": "'absent.md', but the target is not found",
    "[nowhere](evidence.md#absent)": "the doc 'evidence.md' does not contain an anchor",
    "[nowhere](../absent-too.md)": "'../absent-too.md', but the target is not found",
    "[nowhere](/index.md)": "absolute link '/index.md'",
}


@pytest.mark.full
def test_a_link_that_leads_nowhere_and_a_page_that_no_menu_names_are_errors(tmp_path: Path) -> None:
    docs = small_docs(tmp_path, "\n".join(WRONG))
    (docs / "forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    done = build(docs, tmp_path / "site")
    assert done.returncode == 1
    assert not [told for told in (*WRONG.values(), "forgotten.md") if told not in done.stderr], done.stderr


def small_docs(folder: Path, text: str) -> Path:
    """Every page of the menu, with nothing on it but a title; the first one has the text."""
    docs = folder / "docs"
    for page in named(load_config(str(ROOT / "mkdocs.yml")).nav):
        if page.removesuffix(".md") in GENERATED:
            continue
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
