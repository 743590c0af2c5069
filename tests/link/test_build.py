"""Building an index from a dump, and opening it."""

from __future__ import annotations

import bz2
import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa
import pytest

from polyculture.cache.errors import SnapshotError, StoreError
from polyculture.link.dumps.build import BuildReport, BuildSettings, build_index
from polyculture.link.dumps.dump import ChangedDumpError, DumpReader
from polyculture.link.entity import SOME_YEAR
from polyculture.link.index.draft import Draft
from polyculture.link.index.snapshot import VERSION, open_snapshot, verify
from tests.link_world import CLASSES, index_of, item, statement, write_dump

RAMEN = item(
    "Q234646", {"en": "ramen", "ja": "ラーメン", "pl": "ramen"}, {"en": ["ramen noodles", "ramen"]}, 12, P31="Q746549"
)


def rows(snapshot: Path, query: str) -> list[Any]:
    with duckdb.connect(str(snapshot), read_only=True) as connection:
        return connection.execute(query).fetchall()


def build(folder: Path, text: bytes, name: str = "dump.json") -> BuildReport:
    dump = folder / name
    dump.write_bytes(text)
    return build_index(dump, folder / "out.duckdb", ["en", "ja"])


def array(*entities: dict[str, Any]) -> bytes:
    return b"[\n" + b",\n".join(map(orjson.dumps, entities)) + b"\n]\n"


PACKED = pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("plain", lambda text: text),
        ("gzip", gzip.compress),
        ("gzip of two members", lambda text: gzip.compress(text[:500]) + gzip.compress(text[500:])),
        ("bzip2", bz2.compress),
        ("bzip2 of two streams", lambda text: bz2.compress(text[:500]) + bz2.compress(text[500:])),
        ("zstd", lambda text: pa.compress(text, codec="zstd", asbytes=True)),
    ],
)


@pytest.mark.parametrize("form", ["array", "lines", "one line", "as Windows saves it"])
def test_every_form_of_a_dump_gives_the_same_tables(tmp_path: Path, form: str) -> None:
    entities = [*CLASSES, RAMEN]
    lines = b"\n".join(map(orjson.dumps, entities))
    of_windows = b"\xef\xbb\xbf" + array(*entities).replace(b"\n", b"\r\n")
    text = {"array": array(*entities), "lines": lines + b"\n", "one line": orjson.dumps(entities)}.get(form, of_windows)
    report = build(tmp_path, text)
    assert report.counts.items == len(entities)
    assert report.counts.broken == 0
    assert report.snapshot == open_snapshot(tmp_path / "out.duckdb")
    names = "SELECT language, name, kind, normalised FROM names WHERE item = 234646 ORDER BY ALL"
    assert rows(report.snapshot.path, names) == [
        ("en", "ramen", "label", "ramen"),
        ("en", "ramen noodles", "alias", "ramen noodles"),
        ("ja", "ラーメン", "label", "ラーメン"),
    ]
    assert rows(report.snapshot.path, "SELECT sitelinks FROM items WHERE item = 234646") == [(12,)]
    assert rows(report.snapshot.path, "SELECT item, property, target FROM claims WHERE item = 234646") == [
        (234646, "P31", 746549)
    ]


def test_the_meta_says_where_it_comes_from(tmp_path: Path) -> None:
    entity = {**RAMEN, "lastrevid": 7, "modified": "2026-04-09T19:34:48Z"}
    prop = {"type": "property", "id": "P31", "labels": {}}
    report = build(tmp_path, array(entity, prop))
    meta = open_snapshot(tmp_path / "out.duckdb").meta
    assert meta["version"] == VERSION
    assert meta["languages"] == ["en", "ja"]
    assert meta["counts"] == {"items": 1, "descriptions": 0, "names": 3, "claims": 1, "redirects": 0, "kinds": 0}
    assert meta["source"]["kind"] == "dump"
    assert len(meta["source"]["sha256"]) == 64
    assert (meta["file"], meta["modified"], meta["skipped"]) == ("dump.json", "2026-04-09T19:34:48Z", 1)
    assert report.counts.skipped == 1
    assert rows(report.snapshot.path, "SELECT revision FROM items") == [(7,)]


def test_identity_depends_on_content_and_languages_only(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "a.json", [RAMEN])
    first = build_index(dump, tmp_path / "1.duckdb", ["en", "ja"]).snapshot
    again = build_index(dump.rename(tmp_path / "b.json"), tmp_path / "2.duckdb", ["ja", "en"]).snapshot
    fewer = build_index(tmp_path / "b.json", tmp_path / "3.duckdb", ["en"]).snapshot
    assert first.identity == again.identity != fewer.identity


def test_only_the_best_rank_is_kept(tmp_path: Path) -> None:
    thing = item("Q1", "thing", P495="Q30", P31="Q2095")
    thing["claims"]["P31"] = [statement("Q746549", "deprecated"), statement("Q2095")]
    thing["claims"]["P495"] = [statement("Q38"), statement("Q17", "preferred"), statement("Q30", "normal", "somevalue")]
    thing["claims"]["P17"] = [statement("Q38"), statement("Q38", "preferred", "novalue")]
    report = build(tmp_path, array(thing))
    assert rows(report.snapshot.path, "SELECT property, target FROM claims ORDER BY ALL") == [
        ("P31", 2095),
        ("P495", 17),
    ]


def test_a_statement_keeps_the_year_in_which_it_ended(tmp_path: Path) -> None:
    """Of two statements of one country, one of which goes on, the claim goes on; an unknown end is an end."""
    thing = item("Q1", "thing")
    unknown = {**statement("Q30"), "qualifiers": {"P582": [{"snaktype": "somevalue"}]}}
    lasting = {**statement("Q145"), "qualifiers": {"P582": [{"snaktype": "novalue"}]}}
    ended = [statement("Q38", ended="1945"), statement("Q17", ended="1868")]
    thing["claims"]["P27"] = [*ended, statement("Q17"), unknown, lasting]
    report = build(tmp_path, array(thing))
    ends = rows(report.snapshot.path, "SELECT target, ended FROM claims ORDER BY target")
    assert ends == [(17, None), (30, SOME_YEAR), (38, 1945), (145, None)]


def test_redirects_are_followed(tmp_path: Path) -> None:
    merged = {**item("Q746549", "dish"), "redirects": {"from": "Q99", "to": "Q746549"}}
    report = build(tmp_path, array(merged, item("Q1", "stew", P31="Q99")))
    assert rows(report.snapshot.path, "FROM redirects") == [(99, 746549)]
    assert rows(report.snapshot.path, "FROM claims") == [(1, "P31", 746549, None)]


def test_broken_lines_are_counted_with_their_numbers(tmp_path: Path) -> None:
    lines = [
        b"[",
        orjson.dumps(RAMEN) + b",",
        b'{"type":"item","id":"Q2",',
        orjson.dumps({**RAMEN, "id": "pop"}) + b",",
        orjson.dumps({**RAMEN, "id": "Q3", "labels": {"en": {"language": "en", "value": 5}}}) + b",",
        orjson.dumps({**RAMEN, "id": "Q4", "claims": {"P31": [{"rank": "normal"}]}}) + b",",
        b"42,",
        b'{"x":' + b"[" * 200_000 + b"]" * 200_000 + b',"type":"item","id":"Q6"},',
        orjson.dumps({**RAMEN, "id": "Q5", "labels": [], "aliases": [], "sitelinks": []}),
        b"]",
    ]
    counts = build(tmp_path, b"\n".join(lines)).counts
    assert counts.items == 2
    assert [line for line, _ in counts.broken_lines] == [3, 4, 5, 6, 7, 8]
    assert "recursion" in counts.broken_lines[-1][1]
    assert counts.broken_lines[0][1].startswith("not JSON")
    assert "pop" in counts.broken_lines[1][1]
    meta = open_snapshot(tmp_path / "out.duckdb").meta
    assert meta["broken"] == 6
    assert [line for line, _ in meta["broken_lines"]] == [3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (gzip.compress(array(*CLASSES, RAMEN))[:-9], "ends too early"),
        (bz2.compress(array(*CLASSES, RAMEN))[:-9], "ends too early"),
        (pa.compress(array(*CLASSES, RAMEN), codec="zstd", asbytes=True)[:-9], "ends too early"),
        (array(RAMEN, RAMEN)[:-3], "ends too early"),
        (array(RAMEN, RAMEN)[:-40], "ends too early"),
        (b"[\n", "ends too early"),
        (orjson.dumps(RAMEN) + b"\n" + orjson.dumps(RAMEN)[:-20], "ends too early"),
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"<!doctype html>", "is not a Wikidata JSON dump"),
        (b"\x1f\x8bnonsense", "cannot be decompressed"),
        (b"[\n]\n", "holds no item"),
        (b'{"a": 1}\n', "holds no item"),
    ],
)
def test_what_is_no_whole_dump_is_an_error_and_leaves_no_index(tmp_path: Path, text: bytes, says: str) -> None:
    with pytest.raises(SnapshotError, match=says) as fault:
        build(tmp_path, text)
    assert str(tmp_path / "dump.json") in str(fault.value)
    assert [path.name for path in tmp_path.iterdir()] == ["dump.json"]


def test_a_cut_is_seen_even_where_the_cut_line_ends_with_a_bracket(tmp_path: Path) -> None:
    text = orjson.dumps({**RAMEN, "extra": [1]})
    cut = b"[\n" + text + b",\n" + text[: text.rindex(b"]") + 1]
    with pytest.raises(SnapshotError, match="ends too early"):
        build(tmp_path, cut)


def test_a_piece_of_an_array_has_commas_and_no_bracket(tmp_path: Path) -> None:
    """Regression: a last line with a comma and without a newline was reported as truncated."""
    text = b",\n".join(orjson.dumps(item(f"Q{number}", "soup")) for number in (7, 8)) + b","
    assert build(tmp_path, text).counts.items == 2
    assert build(tmp_path, text + b"\r\n").counts.items == 2
    with pytest.raises(SnapshotError, match="ends too early"):
        build(tmp_path, text[:-2] + b",")


def test_an_old_index_is_left_alone_when_the_new_dump_is_cut(tmp_path: Path) -> None:
    before = build(tmp_path, array(RAMEN)).snapshot
    with pytest.raises(SnapshotError):
        build(tmp_path, array(RAMEN, RAMEN)[:-3])
    assert open_snapshot(before.path) == before


def test_long_dumps_come_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyculture.link.dumps.unpack.BLOCK", 300)
    seen: list[int] = []
    dump = write_dump(tmp_path / "dump.json", [*CLASSES, RAMEN])
    settings = BuildSettings(progress=lambda read, _size: seen.append(read))
    report = build_index(dump, tmp_path / "out.duckdb", ["en"], settings)
    assert report.counts.items == len(CLASSES) + 1
    assert report.counts.broken == 0
    assert len(seen) > 3
    assert seen == sorted(seen)
    assert seen[-1] == dump.stat().st_size


@PACKED
@pytest.mark.parametrize("readers", ["the best there are", "Arrow's alone"])
def test_a_dump_is_read_on_from_any_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, pack: Callable[[bytes], bytes], readers: str
) -> None:
    if readers == "Arrow's alone":
        monkeypatch.setattr("polyculture.link.dumps.unpack.find_spec", lambda _name: None)
    monkeypatch.setattr("polyculture.link.dumps.unpack.BLOCK", 300)
    text = array(*CLASSES, RAMEN, *[item(f"Q{number}", f"thing {number}") for number in range(9_000, 9_009)])
    dump = tmp_path / "dump"
    dump.write_bytes(pack(text))
    with DumpReader(dump) as reader:
        chunks = list(reader.chunks())
        assert reader.read == dump.stat().st_size
        assert reader.sha256 == hashlib.sha256(dump.read_bytes()).hexdigest()
    assert b"".join(chunk.text for chunk in chunks) == text
    assert [chunk.line for chunk in chunks] == [text[: text.index(chunk.text)].count(b"\n") + 1 for chunk in chunks]
    for place in [chunks[0].end, chunks[len(chunks) // 2].end]:
        with DumpReader(dump, place) as again:
            rest = list(again.chunks())
            assert b"".join(chunk.text for chunk in rest) == text[place.offset :]
            assert rest[0].line == place.line
            assert again.sha256 == reader.sha256
    dump.write_bytes(b"x" + dump.read_bytes()[1:])
    with pytest.raises(ChangedDumpError):
        DumpReader(dump, chunks[0].end)


def test_a_missing_dump_and_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="No such file"):
        build_index(tmp_path / "none.json", tmp_path / "out.duckdb", ["en"])
    dump = write_dump(tmp_path / "dump.json", [RAMEN])
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        build_index(dump, tmp_path / "file" / "out.duckdb", ["en"])


def test_a_draft_that_is_no_draft_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "rows.duckdb"
    file.write_bytes(b"no database" * 500)
    with pytest.raises(StoreError, match="cannot be opened or written"):
        Draft(file)
    file.unlink()
    with duckdb.connect(file) as other:
        other.execute("CREATE TABLE names (foreign_column INTEGER)")
    with pytest.raises(StoreError, match=r"table names has other columns.*Delete the folder"):
        Draft(file)


def test_what_is_no_snapshot_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="there is no snapshot here") as missing:
        open_snapshot(tmp_path / "none.duckdb")
    assert "Is the path right?" in str(missing.value)
    text = tmp_path / "text.duckdb"
    sqlite = b"SQLite format 3".ljust(4_096, bytes(1))  # DuckDB would ask the net for an extension that reads it
    for content in (b"no database", sqlite, b""):
        text.write_bytes(content)
        with pytest.raises(SnapshotError, match=r"is not a Wikidata snapshot.*it is no DuckDB database"):
            open_snapshot(text)
    other = tmp_path / "other.duckdb"
    duckdb.connect(str(other)).close()
    with pytest.raises(SnapshotError, match=r"it has no table meta\. Name another file"):
        open_snapshot(other)
    with duckdb.connect(str(other)) as connection:
        connection.execute("CREATE TABLE meta (line INTEGER)")
    with pytest.raises(SnapshotError, match=r"its table meta names no version\. Name another file"):
        open_snapshot(other)


def test_another_version_is_named_with_the_remedy(tmp_path: Path) -> None:
    snapshot = build(tmp_path, array(RAMEN)).snapshot
    with duckdb.connect(str(snapshot.path)) as connection:
        connection.execute("""UPDATE meta SET value = '"0.9"' WHERE key = 'version'""")
    with pytest.raises(SnapshotError, match=r"version 0\.9.*wikidata build"):
        open_snapshot(snapshot.path)


@pytest.mark.parametrize(
    ("damage", "named", "kind", "remedy"),
    [
        ("DROP TABLE claims", "claims", "dump", "wikidata build DUMP"),
        ("ALTER TABLE names DROP normalised", "normalised", "sparql", "wikidata pull"),
        ("ALTER TABLE members RENAME path TO way", "path", "api", "fill = true makes it again"),
        (
            "ALTER TABLE names ALTER normalised TYPE INTEGER USING length(name)",
            "names.normalised is INTEGER, not VARCHAR",
            "starter",
            "next command",
        ),
        ("DELETE FROM meta WHERE key = 'languages'", "languages", "other", "build or pull"),
        ("UPDATE meta SET value = '[1]' WHERE key = 'scopes'", "scopes", "dump", "wikidata build DUMP"),
    ],
)
def test_a_snapshot_that_lacks_a_part_is_refused_with_its_own_remedy(
    tmp_path: Path, damage: str, named: str, kind: str, remedy: str
) -> None:
    snapshot = index_of(tmp_path, [RAMEN])
    with duckdb.connect(str(snapshot.path)) as connection:
        source = orjson.dumps({"kind": kind}).decode()
        connection.execute("UPDATE meta SET value = $source WHERE key = 'source'", {"source": source})
        connection.execute(
            "CREATE TABLE old AS FROM meta; DELETE FROM meta; INSERT INTO meta FROM old ORDER BY key DESC"
        )
        connection.execute(damage)
    with pytest.raises(SnapshotError, match=rf"not a (whole )?Wikidata snapshot.*{named}.*{remedy}"):
        open_snapshot(snapshot.path)
    with duckdb.connect(str(snapshot.path)) as connection:
        connection.execute("UPDATE meta SET value = '{'")
    with pytest.raises(SnapshotError, match=r"not a Wikidata snapshot.*unexpected end of data.*build or pull"):
        open_snapshot(snapshot.path)


def test_whole_items_as_wikidata_writes_them(tmp_path: Path, shared_data: Path) -> None:
    dump = shared_data / "wikidata" / "entity-json" / "wdsub" / "100lines.json.gz"
    report = build_index(dump, tmp_path / "out.duckdb", ["en", "de"])
    assert (report.counts.items, report.counts.broken) == (99, 0)
    assert rows(report.snapshot.path, "SELECT min(sitelinks) > 0 FROM items") == [(True,)]
    cut = shared_data / "wikidata" / "entity-json" / "wikibase-dump-filter" / "entities.ndjson"
    with pytest.raises(SnapshotError, match="bracket"):
        build_index(cut, tmp_path / "cut.duckdb", ["en"])


@pytest.mark.parametrize("form", ["array", "lines"])
def test_a_line_longer_than_any_item_is_counted_and_never_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """A label of megabytes, and blanks of megabytes: the reader holds neither."""
    monkeypatch.setattr("polyculture.link.dumps.unpack.BLOCK", 1_000)
    for module in ("dump", "ingest"):
        monkeypatch.setattr(f"polyculture.link.dumps.{module}.LONGEST_LINE", 5_000)
    lines = [orjson.dumps(each) for each in (RAMEN, item("Q1", "x" * 50_000), item("Q2", "miso"))]
    lines.insert(2, b" " * 50_000)
    text = b"[\n" + b",\n".join(lines) + b"\n]\n" if form == "array" else b"\n".join(lines) + b"\n"
    dump = tmp_path / "dump.json.gz"
    dump.write_bytes(gzip.compress(text))
    with DumpReader(dump) as reader:
        assert max(len(chunk.text) for chunk in reader.chunks()) < 12_000  # two lines and a block
    report = build_index(dump, tmp_path / "out.duckdb", ["en", "ja"])
    assert report.snapshot.meta["counts"]["items"] == 2
    assert [reason for _, reason in report.counts.broken_lines] == ["has more than 0 MiB"]
    (line,) = [line for line, _ in report.counts.broken_lines]
    assert line == (3 if form == "array" else 2)
    assert rows(report.snapshot.path, "SELECT item FROM items ORDER BY item") == [(2,), (234646,)]


def test_a_dump_on_one_line_longer_than_any_item_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("dump", "ingest"):
        monkeypatch.setattr(f"polyculture.link.dumps.{module}.LONGEST_LINE", 5_000)
    text = orjson.dumps([item(f"Q{number}", "x" * 100) for number in range(1, 100)])
    with pytest.raises(SnapshotError, match=r"its last line has more than .* MiB.*an item per line"):
        build(tmp_path, text)
    assert not (tmp_path / "out.duckdb").exists()


def test_a_damaged_block_is_found_before_anything_rests_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB looks at the checksums of the blocks that it reads, and a query reads few."""
    monkeypatch.setenv("POLYCULTURE_CACHE", str(tmp_path / "cache"))
    things = [item(f"Q{number}", f"thing {number * 7919} of {number}") for number in range(1, 20_000)]
    snapshot = build(tmp_path, array(*things)).snapshot
    verify(snapshot)
    whole, missed = snapshot.path.read_bytes(), 0
    for at in range(300_000, len(whole) - 50_000, len(whole) // 6):
        damaged = bytearray(whole)
        damaged[at : at + 40_960] = bytes(255 - byte for byte in damaged[at : at + 40_960])
        snapshot.path.write_bytes(damaged)
        try:
            verify(snapshot)
        except SnapshotError as fault:
            assert "is damaged or truncated" in str(fault)  # noqa: PT017  any other error is one, too
        else:  # a block that holds nothing now
            assert contents(snapshot.path) == contents_of(whole, tmp_path)
            missed += 1
    assert missed <= 2


def contents(snapshot: Path) -> list[Any]:
    return [rows(snapshot, f"SELECT bit_xor(hash(t)) FROM {table} t") for table in ("items", "names", "claims")]


def contents_of(whole: bytes, folder: Path) -> list[Any]:
    copy = folder / "copy.duckdb"
    copy.write_bytes(whole)
    return contents(copy)
