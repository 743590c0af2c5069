"""The starter snapshot: every item is valid, reaches its kind, and agrees with the real data."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from polyculture.cache.database import connect
from polyculture.cache.errors import CatalogError
from polyculture.experiment.snapshots import STARTER as STARTER_NAME
from polyculture.experiment.snapshots import find_snapshot
from polyculture.link.index.lexicon import lexicon
from polyculture.link.index.snapshot import Snapshot, open_snapshot
from polyculture.link.index.starter import (
    STARTER,
    UNCOUNTED,
    StarterItem,
    read_starter,
    starter_identity,
    write_starter,
)
from polyculture.link.linker import Linker
from tests.link_world import CATALOG, queries

ITEMS = list(read_starter())
FAMOUS = Path(__file__).with_name("famous.tsv")
COUNTED = [(topic, qid, item) for topic, qid, item in ITEMS if item.kind not in UNCOUNTED]


def made_items() -> set[str]:
    """The items that were made from a snapshot."""
    return {f"Q{item}" for item in pq.read_table(STARTER / "items.parquet")["item"].to_pylist()}


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return write_starter(tmp_path_factory.mktemp("starter") / "starter.duckdb")


def test_every_item_stands_once_and_in_a_kind_of_its_topic() -> None:
    assert [qid for qid, count in Counter(qid for _, qid, _ in ITEMS).items() if count > 1] == []
    for topic, qid, item in COUNTED:
        assert CATALOG.topics[topic].kinds[item.kind].counted, qid


def test_every_item_that_is_named_is_there() -> None:
    known = {qid for _, qid, _ in ITEMS}
    named = {(qid, target) for _, qid, item in ITEMS for targets in item.claims.values() for target in targets}
    assert {(qid, target) for qid, target in named if target not in known} == set()


def test_labels_stand_in_the_languages_of_the_catalogue() -> None:
    languages = set(CATALOG.languages)
    for _, qid, item in ITEMS:
        assert {*item.labels, *item.aliases} <= languages, qid
        assert "en" in item.labels, qid
        names = [name for texts in item.aliases.values() for name in texts] + list(item.labels.values())
        assert all(name == name.strip() and name for name in names), qid


def test_every_entity_is_linked_by_its_own_labels(starter: Snapshot) -> None:
    rows = [
        {"language": language, "topic": topic, "kind": item.kind, "surface": label}
        for topic, _, item in COUNTED
        for language, label in item.labels.items()
    ]
    wanted = {(r["language"], r["topic"], r["kind"], r["surface"]): r for r in rows}
    found = Linker(CATALOG, starter).link(pa.Table.from_pylist(rows))["links"].to_pylist()
    assert len(found) == len(wanted)
    qids = {
        (topic, item.kind, language, label): qid
        for topic, qid, item in COUNTED
        for language, label in item.labels.items()
    }
    wrong = [
        (r["surface"], r["language"], r["status"], r["qid"])
        for r in found
        if r["status"] != "linked" or r["qid"] != qids[r["topic"], r["kind"], r["language"], r["surface"]]
    ]
    assert wrong == [("奶油", "zh-tw", "ambiguous", "Q13228")]  # butter in Taiwan, cream elsewhere: both are kept


def test_its_meta_says_what_it_is(starter: Snapshot, tmp_path: Path) -> None:
    opened = open_snapshot(starter.path)
    meta = opened.meta
    assert not opened.complete  # most names of the world are not there
    assert meta["source"] == {"kind": "starter", "identity": starter_identity()}
    written, made = {qid for _, qid, _ in ITEMS}, made_items()
    assert meta["counts"]["items"] == len(written | made)
    assert meta["counts"]["kinds"] == len(COUNTED)
    assert write_starter(tmp_path / "again.duckdb").identity == starter.identity


def test_famous_items_have_their_country(starter: Snapshot) -> None:
    """What is linked has a right country. Of the others (kimchi, hanbok, sari) no data that we hold says the QID."""
    lines = [line for line in FAMOUS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    famous = list(csv.DictReader(lines, delimiter="\t"))
    kinds = {
        topic.code: [name for name, kind in topic.kinds.items() if kind.counted] for topic in CATALOG.topics.values()
    }
    asked = [("en", row["topic"], kind, row["name"]) for row in famous for kind in kinds[row["topic"]]]
    found = Linker(CATALOG, starter).link(queries(*asked))
    linked = {
        (row["topic"], row["surface"]): row["qid"] for row in found["links"].to_pylist() if row["status"] == "linked"
    }
    countries: dict[str, set[str]] = defaultdict(set)
    for row in found["entity_countries"].to_pylist():
        countries[row["qid"]] |= {row["country"]} - {None}
    right = {
        row["name"]: bool(countries[qid] & set(row["countries"].split("|")))
        for row in famous
        if (qid := linked.get((row["topic"], row["name"])))
    }
    assert {name for name, is_right in right.items() if not is_right} == set()
    assert (len(right), len(famous)) == (79, 130)


def test_an_item_without_a_class_of_its_own_is_not_shipped() -> None:
    """Foods and drinks that another project's tree placed under food or drink are not Wikidata's to give."""
    roles = {row["item"]: row["role"] for row in pq.read_table(STARTER / "items.parquet").to_pylist()}
    classes: dict[int, set[int]] = {}
    for row in pq.read_table(STARTER / "claims.parquet").to_pylist():
        if row["property"] in ("P31", "P279"):
            classes.setdefault(row["item"], set()).add(row["target"])
    assert not [item for item, found in classes.items() if found <= {2095, 40050}]
    kinds = [kind for topic in CATALOG.topics.values() for kind in topic.kinds.values()]
    roots = {int(qid[1:]) for kind in kinds for qid in kind.roots}
    assert {item for item, role in roles.items() if role == "entity" and item not in classes} <= roots


def test_the_lexicon_gives_the_kind_that_the_makers_gave(starter: Snapshot) -> None:
    kinds = {(topic, label): item.kind for topic, _, item in COUNTED for label in [item.labels["en"]]}
    for topic in CATALOG.topics:
        names = lexicon(starter, CATALOG, topic, "en").to_pylist()
        given = {row["surface"]: row["kind"] for row in names}
        wrong = {s: (given.get(s), kind) for (t, s), kind in kinds.items() if t == topic and given.get(s) != kind}
        assert wrong == {}


def test_a_file_that_does_not_fit_names_file_and_place(tmp_path: Path) -> None:
    (tmp_path / "food.toml").write_text('[Q1]\nconfirmed = "slice"\ndescription = "x"\nkind = "dish"\nlabels = {}\n')
    with pytest.raises(CatalogError, match=r"food\.toml: labels"):
        list(read_starter(tmp_path))


@pytest.fixture(scope="module")
def slice_names(slice_index: Snapshot) -> dict[str, set[str]]:
    """English labels and aliases of the slice's items, case-folded."""
    names: dict[str, set[str]] = {}
    with duckdb.connect(str(slice_index.path), read_only=True) as connection:
        rows = connection.execute("SELECT 'Q' || item, lower(name) FROM names WHERE language = 'en'").fetchall()
    for qid, name in rows:
        names.setdefault(qid, set()).add(name)
    return names


def test_every_qid_is_confirmed(slice_names: dict[str, set[str]]) -> None:
    """A wrong QID is worse than a missing one."""
    wrong = []
    for _, qid, item in ITEMS:
        if item.confirmed == "slice":
            ours = {item.labels["en"].lower(), *(name.lower() for name in item.aliases.get("en", ()))}
            if not ours & slice_names.get(qid, set()):
                wrong.append((qid, item.labels["en"], slice_names.get(qid)))
        else:
            assert len(_sources(item)) >= 2, f"{qid}: two public addresses, or the slice"
    assert wrong == []


def _sources(item: StarterItem) -> set[str]:
    given = {item.confirmed} if isinstance(item.confirmed, str) else set(item.confirmed)
    return {source for source in given if source.startswith("https://")}


def test_a_cached_starter_of_other_rules_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that another version left in the cache would have its keys made anew by each command."""
    monkeypatch.setenv("POLYCULTURE_CACHE", str(tmp_path))
    built = find_snapshot(STARTER_NAME, tmp_path)
    written = built.path.stat().st_mtime_ns
    assert find_snapshot(STARTER_NAME, tmp_path).path.stat().st_mtime_ns == written
    for key, value in (("keys", '{"tr": "older rules"}'), ("scopes", '{"older rules": 0}')):
        with connect(built.path) as connection:
            connection.execute("UPDATE meta SET value = $value WHERE key = $key", {"key": key, "value": value})
        stale = open_snapshot(built.path)
        assert (stale.changed_keys == {"tr"}) == (key == "keys")
        again = find_snapshot(STARTER_NAME, tmp_path)
        assert not again.changed_keys
        assert again.meta == built.meta
