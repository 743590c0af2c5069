"""A snapshot of the live service's cached answers links like the service, without requests."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from polyculture.cache.errors import SnapshotError, StoreError
from polyculture.link.api.client import ApiSettings
from polyculture.link.api.from_cache import build_from_cache
from polyculture.link.api.source import ApiSource
from polyculture.link.index.snapshot import open_snapshot
from polyculture.link.index.source import IndexSource
from polyculture.link.linker import TABLES, Linker
from polyculture.link.rules import LinkRules
from tests.link_world import CATALOG, CLASSES, LANGUAGES, Entity, compared, item, queries
from tests.wikidata_server import WikidataServer

ITEMS: list[Entity] = [
    item("Q10", "soup", P279="Q746549"),
    item("Q11", {"en": "miso soup", "ja": "味噌汁"}, {"en": ["misoshiru"]}, 5, P31="Q10", P495="Q17"),
    item("Q12", "Tango", sitelinks=4, P31="Q99"),  # of a class that was merged
    item("Q13", "Tango", sitelinks=30, P31="Q2188189", P175="Q98"),  # by someone who was merged
    item("Q14", "Tango", P31="Q404"),  # of a class that was deleted
    item("Q20", "Ana", P31="Q5", P27="Q414"),
    item("Q30", "never asked for", P31="Q746549"),
]
QUERIES = queries(
    ("en", "food", "dish", "miso soup"),
    ("ja", "food", "dish", "味噌汁"),
    ("en", "food", "dish", "Misoshiru"),
    ("de", "beverage", "drink", "Tango"),
    ("en", "music", "song", "Tango"),
    ("en", "food", "dish", "some miso soups"),  # by another form
    ("en", "food", "dish", "nothing of the kind"),
)
EXACT = LinkRules(fuzzy_threshold=None)


@pytest.fixture
def server() -> Iterator[WikidataServer]:
    with WikidataServer([*CLASSES, *ITEMS], redirects={"Q99": "Q40050", "Q98": "Q20"}) as running:
        yield running


def link_by_service(server: WikidataServer, cache: Path, languages: frozenset[str] = LANGUAGES) -> dict[str, Any]:
    settings = ApiSettings("test@example.org", server.url, requests_per_minute=60_000)
    return Linker(CATALOG, ApiSource(settings, cache, languages), EXACT).link(QUERIES)


def test_the_same_links_as_the_service_row_for_row(server: WikidataServer, tmp_path: Path) -> None:
    by_service = link_by_service(server, tmp_path / "cache.sqlite")
    asked = len(server.requests)
    report = build_from_cache(tmp_path / "cache.sqlite", server.url, tmp_path / "index.duckdb", LANGUAGES)
    by_index = Linker(CATALOG, IndexSource(report.snapshot), EXACT).link(QUERIES)
    assert all(compared(by_index[name]).equals(compared(by_service[name])) for name in TABLES)
    assert by_index["links"].column("status").to_pylist().count("linked") == 6
    assert len(server.requests) == asked
    assert (report.counts.redirects, report.counts.left_out) == (2, 0)


def test_it_says_what_it_is(server: WikidataServer, tmp_path: Path) -> None:
    link_by_service(server, tmp_path / "cache.sqlite")
    built = build_from_cache(tmp_path / "cache.sqlite", server.url, tmp_path / "index.duckdb", LANGUAGES).snapshot
    again = build_from_cache(tmp_path / "cache.sqlite", server.url, tmp_path / "again.duckdb", LANGUAGES).snapshot
    snapshot = open_snapshot(tmp_path / "index.duckdb")
    assert snapshot == built
    assert snapshot.identity == again.identity
    assert not snapshot.complete  # it does not hold every name of a kind: nothing is to be matched fuzzily
    assert snapshot.meta["source"]["kind"] == "cache"
    assert snapshot.meta["source"]["service"] == server.url
    with duckdb.connect(str(snapshot.path), read_only=True) as connection:
        assert connection.table("redirects").fetchall() == [(98, 20), (99, 40050)]
        assert connection.execute("SELECT count(*) FROM items WHERE item = 30").fetchone() == (0,)


def test_answers_in_too_few_languages_are_left_out(server: WikidataServer, tmp_path: Path) -> None:
    cache = tmp_path / "cache.sqlite"
    link_by_service(server, cache, frozenset({"en", "ja", "de", "mul"}))
    with pytest.raises(SnapshotError, match=r"holds no answer of .* in all languages of the catalogue \(\d+ in other"):
        build_from_cache(cache, server.url, tmp_path / "index.duckdb", LANGUAGES)
    report = build_from_cache(cache, server.url, tmp_path / "index.duckdb", ["en", "ja"])
    assert report.counts.items > 5
    with pytest.raises(SnapshotError, match="holds no answer of http://elsewhere"):
        build_from_cache(cache, "http://elsewhere", tmp_path / "other.duckdb", ["en"])
    assert not (tmp_path / "other.duckdb").exists()


def test_answers_without_the_statements_needed_now_are_left_out(server: WikidataServer, tmp_path: Path) -> None:
    cache = tmp_path / "cache.sqlite"
    link_by_service(server, cache)
    with sqlite3.connect(cache) as connection:
        connection.execute("UPDATE entities SET entity = json_remove(entity, '$.claims.P106') WHERE qid = 'Q11'")
        connection.execute("UPDATE entities SET entity = '{' WHERE qid = 'Q10'")
    connection.close()
    report = build_from_cache(cache, server.url, tmp_path / "index.duckdb", LANGUAGES)
    assert report.counts.left_out == 1


def test_no_cache_and_a_damaged_one_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="there is no cache here"):
        build_from_cache(tmp_path / "none.sqlite", "http://here", tmp_path / "index.duckdb", ["en"])
    (tmp_path / "broken.sqlite").write_bytes(b"this is no database " * 100)
    assert not (tmp_path / "none.sqlite").exists()


def test_what_is_no_cache_is_left_as_it_is(server: WikidataServer, tmp_path: Path) -> None:
    """Regression: a file named by mistake was renamed, and a foreign database got our tables."""
    (tmp_path / "photo.jpg").write_bytes(b"this is no database " * 100)
    with sqlite3.connect(tmp_path / "other.sqlite") as connection:
        connection.execute("CREATE TABLE bookmarks (page TEXT)")
    connection.close()
    link_by_service(server, tmp_path / "damaged.sqlite")
    with (tmp_path / "damaged.sqlite").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for name in ("photo.jpg", "other.sqlite", "damaged.sqlite"):
        with pytest.raises(StoreError, match="is not a Wikidata cache of this Polyculture, or is damaged"):
            build_from_cache(tmp_path / name, "http://here", tmp_path / "index.duckdb", ["en"])
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_command(server: WikidataServer, tmp_path: Path) -> None:
    link_by_service(server, tmp_path / "cache.sqlite")
    out = tmp_path / "index.duckdb"
    command = [sys.executable, "-m", "polyculture", "wikidata", "build", "-o", str(out), "--from-cache"]
    built = [*command, str(tmp_path / "cache.sqlite"), "--service", server.url]
    done = subprocess.run(built, capture_output=True, text=True, check=True)
    assert f"Wrote {out}: " in done.stderr
    for wrong, says in [
        (built, "is there already"),
        ([*command, str(tmp_path / "none.sqlite"), "--replace"], "there is no cache here"),
        ([*command[:-1], "--replace"], "Missing argument 'DUMP'"),
    ]:
        failed = subprocess.run(wrong, capture_output=True, text=True, check=False)
        assert failed.returncode == 2
        assert says in failed.stderr
        assert "Traceback" not in failed.stderr
