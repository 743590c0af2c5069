"""The stage: the surfaces of a run that are linked, its tables, and when it has nothing to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from polyculture.cache.catalog import Region
from polyculture.cache.store.manifest import Manifest, read_manifest
from polyculture.cache.store.parquet import read_metadata, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.cache.work.outcome import Outcome
from polyculture.link.index.snapshot import Snapshot, open_snapshot
from polyculture.link.linker import TABLES
from polyculture.link.stage import DIGEST, distinct_surfaces, link_beside, link_run
from tests.link_world import CATALOG, index_of, item
from tests.store_builder import StoreBuilder

DISHES = [
    item("Q234646", "ramen", P31="Q746549", P495="Q17"),
    item("Q177", "pizza", P31="Q746549", P495="Q38"),
    item("Q1", "toast", sitelinks=3, P31="Q746549", P495="Q17"),
    item("Q2", "toast", sitelinks=3, P31="Q746549", P495="Q38"),
]


def manifest_of(run: RunFolder) -> Manifest:
    found = read_manifest(run.manifest)
    assert found is not None
    return found


def small_run(
    folder: Path, country: str = "JP", surfaces: tuple[str, ...] = ("ramen", "toast", "ramen", "x")
) -> RunFolder:
    builder = StoreBuilder(folder)
    builder.answer(builder.ask(country=country), surfaces)
    builder.answer(builder.ask(), ["pizza"])
    kept = [{"surface": "Rome", "kind": "place", "counted": False}, {"surface": "soup", "hallucinated": True}]
    builder.answer(builder.ask(language="ja"), kept)
    builder.answer(builder.ask(), ["old"], request_id="another")
    return builder.write()


@pytest.fixture
def index(tmp_path: Path) -> Snapshot:
    return index_of(tmp_path, DISHES)


def test_what_is_linked(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run")
    surfaces = distinct_surfaces(run, manifest_of(run))
    assert surfaces.sort_by("surface").drop_columns(["query"]).to_pydict() == {
        "language": ["en"] * 4,
        "topic": ["food"] * 4,
        "kind": ["dish"] * 4,
        "surface": ["pizza", "ramen", "toast", "x"],
        "name": [None] * 4,
        "english": [None] * 4,
    }


def test_what_the_snapshot_holds_is_kept_with_the_links(tmp_path: Path, index: Snapshot) -> None:
    run = small_run(tmp_path / "run")
    asked = manifest_of(run).model_copy(update={"topics": ["food"], "languages": ["en"]})
    link_run(run, asked, CATALOG, index)
    with open_store(run) as store:
        rows = store.sql("FROM snapshot_items WHERE items > 0 ORDER BY country, language").fetchall()
    assert rows == [
        ("food", None, "IT", 2, None),
        ("food", None, "JP", 2, None),
        ("food", "en", None, 7, 7),  # with three dishes that are classes
        ("food", None, None, 7, None),
    ]


def test_the_four_tables_are_written_and_agree(tmp_path: Path, index: Snapshot) -> None:
    run = small_run(tmp_path / "run")
    assert link_run(run, manifest_of(run), CATALOG, index) == Outcome(4, 0)
    digests = {read_metadata(run.table(name))[DIGEST] for name in TABLES}
    assert len(digests) == 1
    links = pq.read_table(run.table("links")).to_pylist()
    assert sorted((row["surface"], row["status"], row["qid"]) for row in links) == [
        ("pizza", "linked", "Q177"),
        ("ramen", "linked", "Q234646"),
        ("toast", "ambiguous", "Q1"),
        ("x", "no candidate", None),
    ]
    assert pq.read_table(run.table("entities")).num_rows == 3


def test_again_does_nothing_until_something_changes(tmp_path: Path, index: Snapshot) -> None:
    run = small_run(tmp_path / "run")
    link_run(run, manifest_of(run), CATALOG, index)
    before = {name: run.table(name).stat().st_mtime_ns for name in TABLES}
    assert link_run(run, manifest_of(run), CATALOG, index) == Outcome(4, 0, 4)
    assert before == {name: run.table(name).stat().st_mtime_ns for name in TABLES}
    run.table("entities").unlink()
    assert link_run(run, manifest_of(run), CATALOG, index) == Outcome(4, 0)
    assert link_run(run, manifest_of(run), CATALOG, index, forms="paper") == Outcome(4, 0)
    (tmp_path / "other").mkdir()
    assert link_run(run, manifest_of(run), CATALOG, index_of(tmp_path / "other", DISHES[:1])) == Outcome(4, 0)


def test_links_that_know_fewer_countries_or_other_regions_are_made_again(tmp_path: Path, index: Snapshot) -> None:
    """Links of a version that knew 19 countries have no `known_countries`: none of their rows stays beside new ones."""
    run = small_run(tmp_path / "run")
    link_run(run, manifest_of(run), CATALOG, index)
    known = run.table("known_countries")
    assert read_metadata(known)[DIGEST] == read_metadata(run.table("links"))[DIGEST]
    known.unlink()
    assert link_run(run, manifest_of(run), CATALOG, index) == Outcome(4, 0)
    rows = {row["country"]: row for row in pq.read_table(known).to_pylist()}
    assert len(rows) == 249
    assert (rows["JP"]["region"], rows["JP"]["part_of"], rows["JP"]["languages"]) == ("eastern-asia", "Asia", ["ja"])
    assert (rows["AQ"]["region"], rows["AQ"]["place"]) == (None, 248)
    noodles = Region(code="noodles", name="Noodles", countries=("IT", "JP"))
    own = CATALOG.model_copy(update={"regions": {"noodles": noodles}})
    assert link_run(run, manifest_of(run), own, index) == Outcome(4, 0)
    first, second, third = pq.read_table(known).to_pylist()[:3]
    assert [row["country"] for row in (first, second)] == ["IT", "JP"]
    assert (first["region"], second["region"], third["region"]) == ("noodles", "noodles", None)
    fewer = {code: country for code, country in CATALOG.countries.items() if code != "FR"}
    assert link_run(run, manifest_of(run), own.model_copy(update={"countries": fewer}), index) == Outcome(4, 0)


def test_killed_between_the_files_it_is_done_again(
    tmp_path: Path, index: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = small_run(tmp_path / "run")
    link_run(run, manifest_of(run), CATALOG, index)
    whole = {name: run.table(name).read_bytes() for name in TABLES}

    def die(table: object, path: Path, metadata: object) -> None:
        if path == run.table("links"):
            raise KeyboardInterrupt
        write_parquet(table, path, metadata)  # type: ignore[arg-type]

    monkeypatch.setattr("polyculture.link.stage.write_parquet", die)
    with pytest.raises(KeyboardInterrupt):
        link_run(run, manifest_of(run), CATALOG, index, forms="paper")
    monkeypatch.setattr("polyculture.link.stage.write_parquet", write_parquet)
    assert link_run(run, manifest_of(run), CATALOG, index) == Outcome(4, 0)
    assert whole == {name: run.table(name).read_bytes() for name in TABLES}


def test_the_country_of_the_prompt_is_never_used(tmp_path: Path, index: Snapshot) -> None:
    """ "toast" is two dishes, of Japan and of Italy: the prompt's country makes no difference."""
    tables = []
    for country in ("JP", "IT", "US"):
        run = small_run(tmp_path / country, country)
        link_run(run, manifest_of(run), CATALOG, index)
        tables.append({name: pq.read_table(run.table(name)) for name in TABLES})
    assert all(other[name].equals(tables[0][name]) for other in tables[1:] for name in TABLES)


def test_a_run_without_mentions_has_empty_tables(tmp_path: Path, index: Snapshot) -> None:
    builder = StoreBuilder(tmp_path / "run")
    builder.answer(builder.ask())
    run = builder.write()
    assert link_run(run, manifest_of(run), CATALOG, index) == Outcome(0, 0)
    assert all(pq.read_table(run.table(name)).num_rows == 0 for name in TABLES)
    assert link_run(run, manifest_of(run), CATALOG, index) == Outcome(0, 0, 0)


def test_the_links_with_another_snapshot_stand_beside_those_of_the_run(tmp_path: Path, index: Snapshot) -> None:
    run = small_run(tmp_path / "run")
    link_run(run, manifest_of(run), CATALOG, index)
    before = {name: run.table(name).read_bytes() for name in TABLES}
    (tmp_path / "later").mkdir()
    moved = [item("Q999", "ramen", P31="Q746549", P495="Q148"), *DISHES[1:]]
    later = index_of(tmp_path / "later", moved)
    later = open_snapshot(later.path.rename(tmp_path / "later.duckdb"))
    assert link_beside(run, manifest_of(run), CATALOG, later) == Outcome(4, 0)
    link_beside(run, manifest_of(run), CATALOG, index)
    assert link_beside(run, manifest_of(run), CATALOG, later) == Outcome(4, 0)  # replaces its own rows alone
    assert {name: run.table(name).read_bytes() for name in TABLES} == before
    with open_store(run, manifest=manifest_of(run)) as store:
        rows = store.sql(
            "SELECT o.snapshot, l.surface, l.qid, o.qid, o.countries "
            "FROM links AS l JOIN snapshot_links AS o USING (query) "
            "WHERE l.qid IS DISTINCT FROM o.qid OR o.snapshot = 'index.duckdb' ORDER BY ALL"
        ).fetchall()
    assert rows == [
        ("index.duckdb", "pizza", "Q177", "Q177", ["IT"]),
        ("index.duckdb", "ramen", "Q234646", "Q234646", ["JP"]),
        ("index.duckdb", "toast", "Q1", "Q1", ["JP"]),
        ("index.duckdb", "x", None, None, []),
        ("later.duckdb", "ramen", "Q234646", "Q999", ["CN"]),
    ]


def test_snapshots_of_one_name_stand_side_by_side(tmp_path: Path, index: Snapshot) -> None:
    """A newer snapshot, or one that grew, often has the name of the older one: drift is between the two."""
    run = small_run(tmp_path / "run")
    (tmp_path / "newer").mkdir()
    newer = index_of(tmp_path / "newer", [item("Q999", "ramen", P31="Q746549"), *DISHES[1:]])
    assert newer.path.name == index.path.name
    for source in (index, newer, newer, index):
        link_beside(run, manifest_of(run), CATALOG, source)
    link_beside(run, manifest_of(run), CATALOG, newer, "paper")
    rows = pq.read_table(run.table("snapshot_links")).to_pylist()
    assert len(rows) == 8
    assert len({row["identity"] for row in rows}) == 2
    assert {row["qid"] for row in rows if row["surface"] == "ramen"} == {"Q234646", "Q999"}


def test_links_with_a_snapshot_say_its_day_and_the_starter_by_its_name(tmp_path: Path, index: Snapshot) -> None:
    """And a topic more is linked anew with the same snapshot: none of its rows is of the topics of before."""
    run, snapshot = small_run(tmp_path / "run"), index
    day = "2026-10-01T00:00:00+00:00"
    later = replace(snapshot, meta={**snapshot.meta, "identity": "later", "modified": "2026-09-30", "filled": day})
    starter = replace(snapshot, meta={**snapshot.meta, "identity": "own", "source": {"kind": "starter"}})
    for one in (later, starter):
        link_beside(run, manifest_of(run), CATALOG, one)
    more = StoreBuilder(run.root)
    more.answer(more.ask(), ["ramen"])
    more.answer(more.ask(topic="music"), [{"surface": "Song", "kind": "song"}])
    link_beside(more.write(), manifest_of(run), CATALOG, later)
    rows = pq.read_table(run.table("snapshot_links")).to_pylist()
    own = ["pizza", "ramen", "toast", "x"]
    assert sorted((row["snapshot"], row["date"] or "", row["surface"]) for row in rows) == [
        *(("index.duckdb", day, surface) for surface in ("Song", "ramen")),
        *(("starter", "", surface) for surface in own),
    ]
