"""Collecting the items of a class from a snapshot: membership, countries, names."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.catalog.model import Catalog, Kind, Topic
from polyculture.cache.errors import CatalogError, SnapshotError
from polyculture.collect.wikidata.collect import Collection, collected
from polyculture.collect.wikidata.from_service import pulled
from polyculture.collect.wikidata.presets import collection_presets
from polyculture.link.api.sparql import SparqlSettings
from polyculture.link.dumps.build import build_index
from polyculture.link.index.classes import check_classes
from polyculture.link.index.snapshot import Snapshot
from tests.link.test_api import settings
from tests.link_world import CATALOG, CLASSES, index_of, item, write_dump
from tests.polyculture.test_command_line import one_line, polyculture
from tests.sparql_server import SparqlServer

CATALOG_BUILT_IN = read_catalog()
DISHES = [
    item("Q100", {"en": "noodle soup"}, P279="Q746549"),
    item("Q101", {"en": "ramen", "ja": "ラーメン"}, {"ja": ["らーめん", "拉麺"]}, 60, P279="Q100", P495="Q17"),
    item("Q102", {"en": "Sapporo ramen", "ja": "札幌ラーメン"}, None, 5, P31="Q101", P17="Q17"),
    item("Q103", {"en": "bibimbap", "ja": "ビビンバ"}, None, 40, P31="Q746549", P495="Q18097"),
    item("Q104", {"en": "fusion bowl"}, None, 9, P31="Q746549", P495=["Q17", "Q884"]),
    item("Q105", {"en": "ramen museum", "ja": "ラーメン博物館"}, None, 3, P31="Q33506", P361="Q101", P17="Q17"),
    item("Q106", {"en": "a bowl of ramen in a novel"}, None, 2, P31="Q102", P495="Q17"),
    item("Q107", {"en": "ramen bar chain", "ja": "店"}, None, 7, P31="Q108", P17="Q17"),
    item("Q108", {"en": "noodle restaurant"}, P279="Q100"),
    # Pages of Wikimedia's, which the linker knows as a scope of their own.
    item("Q13406463", {"en": "Wikimedia list article"}),
    item("Q109", {"en": "Wikimedia list of soups"}, P279="Q13406463"),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return index_of(tmp_path_factory.mktemp("collect"), DISHES)


def found(index: Snapshot, *classes: str, **wanted: Any) -> dict[str, dict[str, Any]]:
    """The collected rows by QID, in their order."""
    asked = Collection(classes or ("Q746549",), wanted.pop("language", "ja"), **wanted)
    with collected(index, CATALOG, asked) as rows:
        return {row["qid"]: row for row in rows.to_arrow_table().to_pylist()}


def test_instance_of_once_or_the_class_itself_then_subclass_of_only(index: Snapshot) -> None:
    # Not a part of a dish, and no instance of an instance: Q106 is an instance of Sapporo ramen, which is no class.
    assert set(found(index)) == {"Q746549", "Q100", "Q101", "Q102", "Q103", "Q104", "Q107", "Q108"}


def test_the_best_known_come_first_with_the_way_to_the_class(index: Snapshot) -> None:
    rows = found(index)
    assert list(rows)[:3] == ["Q101", "Q103", "Q104"]
    assert rows["Q102"]["path"] == ["Q101", "Q100", "Q746549"]
    assert rows["Q102"]["distance"] == 3
    assert rows["Q746549"]["distance"] == 0


def test_a_stop_is_not_crossed(index: Snapshot) -> None:
    assert {"Q107", "Q108"} & set(found(index, stops=["Q108"])) == set()
    assert set(found(index, members="instances")) == {"Q102", "Q103", "Q104", "Q107"}
    assert set(found(index, members="classes")) == {"Q746549", "Q100", "Q101", "Q108"}


def test_a_country_is_that_of_a_linked_entity(index: Snapshot) -> None:
    japanese = found(index, countries=["JP"])
    assert set(japanese) == {"Q101", "Q102", "Q104", "Q107"}
    assert japanese["Q101"]["country_properties"] == ["P495"]
    assert japanese["Q102"]["country_properties"] == ["P17"]
    assert japanese["Q104"]["countries"] == ["JP", "KR"]
    assert found(index, countries=["Q17"]) == found(index, countries=["jp"]) == japanese


def test_what_wikidata_names_in_a_countrys_place_counts_as_it(index: Snapshot) -> None:
    for country in ("KR", "Q884"):
        assert set(found(index, countries=[country])) == {"Q103", "Q104"}
    assert set(found(index, countries=["Q18097"])) == {"Q103"}
    assert set(found(index, countries=["JP", "KR"])) == {"Q101", "Q102", "Q103", "Q104", "Q107"}


def test_a_label_is_of_the_language_and_english_stands_beside_it(index: Snapshot) -> None:
    rows = found(index)
    assert (rows["Q101"]["label"], rows["Q101"]["label_language"]) == ("ラーメン", "ja")
    assert rows["Q101"]["english"] == "ramen"
    assert rows["Q101"]["aliases"] == ["らーめん", "拉麺"]
    assert (rows["Q104"]["label"], rows["Q104"]["english"]) == (None, "fusion bowl")
    assert "Q104" not in found(index, labelled=True)


def test_labels_fall_back_as_in_linking(tmp_path: Path) -> None:
    index = index_of(tmp_path, [item("Q101", {"zh-hans": "拉面", "zh-hk": "拉麵", "en": "ramen"}, P31="Q746549")])
    assert found(index, language="zh-tw")["Q101"]["label_language"] == "zh-hk"


def test_one_set_serves_several_languages(index: Snapshot, tmp_path: Path) -> None:
    rows = found(index, also=("en",), at_least=2)
    assert list(rows) == ["Q101", "Q103", "Q107", "Q102"]
    assert rows["Q102"]["labels"] == [("en", "Sapporo ramen"), ("ja", "札幌ラーメン")]
    assert rows["Q102"]["in_languages"] == 2
    assert list(found(index, also=("en",), at_least=2, most=2)) == ["Q101", "Q103"]
    words = ("--class", "Q746549", "--language", "ja", "--also", "en", "--snapshot", str(index.path))
    done = polyculture("wikidata", "collect", *words, "--at-least", "2", "-f", "csv", "-o", "set.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "set.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.DictReader(file))["labels"] == "en: ramen | ja: ラーメン"
    told = one_line(polyculture("wikidata", "collect", *words, "--at-least", "3", cwd=tmp_path))
    assert "labels in 3 languages are asked for, and 2 are named" in told


# Dishes with labels in some of Camellia's nine languages.
NINE = ("zh", "ja", "ko", "vi", "ur", "hi", "gu", "mr", "ml")
SHARED = [
    item("Q201", dict.fromkeys(NINE, "pizza"), None, 90, P31="Q746549", P495="Q38"),
    item("Q202", dict.fromkeys(NINE[:6], "tart"), None, 80, P31="Q746549", P495="Q142"),
    item("Q203", dict.fromkeys(NINE[:5], "stew"), None, 70, P31="Q746549", P495="Q183"),
    item("Q204", dict.fromkeys(NINE, "ramen"), None, 60, P31="Q746549", P495="Q17"),
    item("Q205", {"mul": "toast"}, None, 50, P31="Q746549", P495="Q30"),
    item("Q206", {"ja": "寿司"}, None, 40, P31="Q746549", P495="Q17"),
]


def collected_by_preset(tmp_path: Path, snapshot: Path, *words: str) -> tuple[list[str], str]:
    """The items that a command writes, and what it says."""
    own = ("wikidata", "collect", "--snapshot", snapshot, "-f", "csv", "-o", "set.csv")
    done = polyculture(*own, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "set.csv").open(encoding="utf-8", newline="") as file:
        return [row["qid"] for row in csv.DictReader(file)], done.stderr


def test_camellias_western_set_has_labels_in_six_of_nine_languages_and_500_items_at_most(tmp_path: Path) -> None:
    write_dump(tmp_path / "dump.json", [*CLASSES, *SHARED])
    more = [word for code in NINE[3:] for word in ("--also", code)]
    built = polyculture("wikidata", "build", "dump.json", "-o", "nine.duckdb", *more, cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    nine = tmp_path / "nine.duckdb"
    western, told = collected_by_preset(tmp_path, nine, "camellia:food:Western")
    assert western == ["Q201", "Q202"]  # five languages are too few, and a label for all languages is in none
    assert "at most 500 were asked for" in told
    assert collected_by_preset(tmp_path, nine, "camellia:food:western", "--at-least", "5")[0] == [
        "Q201",
        "Q202",
        "Q203",
    ]
    most = collected_by_preset(tmp_path, nine, "camellia:food:Western", "--most", "1")
    assert most[0] == ["Q201"]
    assert "at most 1 were asked for; there may be more" in most[1]
    japanese, told = collected_by_preset(tmp_path, nine, "camellia:food:Japanese")
    assert japanese == ["Q204", "Q206"]
    assert "at most 631 were asked for" in told


def test_a_preset_says_which_languages_a_snapshot_lacks(tmp_path: Path) -> None:
    """A snapshot that was built when the catalogue had fewer languages."""
    write_dump(tmp_path / "dump.json", [*CLASSES, *SHARED])
    build_index(
        tmp_path / "dump.json", tmp_path / "few.duckdb", read_catalog().label_languages - set(NINE[4:]) | {"hi"}
    )
    words = ("wikidata", "collect", "camellia:food:Western")
    refused = polyculture(*words, "--snapshot", "few.duckdb", cwd=tmp_path)
    assert "has no names in ur, gu, mr, ml, and labels in 6 languages are asked for" in one_line(refused)
    found, told = collected_by_preset(tmp_path, tmp_path / "few.duckdb", "camellia:food:Western", "--at-least", "5")
    assert found == ["Q201", "Q202"]  # of zh, ja, ko, vi and hi, the stew lacks hi
    assert "keeps no names in ur, gu, mr, ml" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["camelia:food:Western"], "Did you mean 'camellia'?"),
        (["camellia:fod:Western"], "Did you mean 'food'?"),
        (["camellia:names:Western"], "Wikidata gives names no country"),
        (["camellia:food:French"], "unknown culture 'French'. Known: Chinese"),
        (["camellia:food"], "write PRESET:TYPE:CULTURE"),
        (["--language", "ja"], "give --class and --language"),
    ],
)
def test_a_mistake_with_a_preset_is_one_line(tmp_path: Path, words: list[str], told: str) -> None:
    assert told in one_line(polyculture("wikidata", "collect", *words, cwd=tmp_path))


def test_camellias_classes_are_those_of_its_table_4() -> None:
    preset = collection_presets()["camellia"]
    for culture in preset.cultures:
        assert set(preset.cultures[culture].most) <= set(preset.types)
        assert all(code in CATALOG_BUILT_IN.languages for code in preset.collection("food", culture).languages)
    found = {type: preset.collection(type, "Korean").kind for type in preset.types}
    printed = {
        "beverage": {"Q40050"}, "food": {"Q2095", "Q746549"}, "locations": {"Q515"}, "sports": {"Q476028"},
        "cricket": {"Q17376093"}, "authors": {"Q36180", "Q6625963"},
    }  # fmt: skip
    assert {type: set(kind.occupations or kind.roots) for type, kind in found.items() if kind} == printed
    authors = preset.collection("authors", "Korean")
    assert (authors.most, authors.countries, authors.language, authors.classes) == (602, ("KR",), "ko", ("Q5",))


def test_several_classes(index: Snapshot) -> None:
    assert set(found(index, "Q101", "Q108")) == {"Q101", "Q102", "Q107", "Q108"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--class", "Q999999"], "no item is an instance or a subclass of Q999999. Check the class on wikidata.org"),
        (["--class", "dish"], "'dish' is not a QID. Write, for example, Q746549."),
        (["--class", "Q746549", "--country", "JAP"], "unknown country 'JAP'"),
        (["--class", "Q746549", "--country", "Q999999"], "no item is of the country Q999999. Check the country"),
        (["--class", "Q746549", "--stop", "x"], "'x' is not a QID"),
        (["--class", "Q746549", "--language", "jp"], "unknown language 'jp'. Did you mean 'ja'"),
        (["--class", "Q746549", "--snapshot", "none.duckdb"], "none.duckdb: there is no snapshot here"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, words: list[str], told: str) -> None:
    words = words if "--language" in words else [*words, "--language", "ja"]
    assert told in one_line(polyculture("wikidata", "collect", *words, cwd=tmp_path))


def test_a_snapshot_without_the_language_is_refused(index: Snapshot) -> None:
    swahili = CATALOG.language("en").model_copy(update={"code": "sw", "label_languages": ("sw", "mul", "en")})
    catalog = Catalog(topics={}, languages={"sw": swahili}, countries=CATALOG.countries)
    asked = Collection(("Q746549",), "sw")
    meta = {**index.meta, "languages": ["en", "ja"]}
    with (
        pytest.raises(SnapshotError, match="no names in sw or mul"),
        collected(type(index)(index.path, meta), catalog, asked),
    ):
        pass


def test_a_sparql_endpoint_gives_the_same_rows_and_is_queried_once(index: Snapshot, tmp_path: Path) -> None:
    with SparqlServer([*CLASSES, *DISHES]) as server:
        endpoint = SparqlSettings("us@example.org", server.url, requests_per_minute=1e6)
        service = settings(server.items)
        for wanted in (
            Collection(("Q746549",), "ja", ("JP",)),
            Collection(("Q746549",), "ja", labelled=True),
            Collection(("Q746549",), "ja", also=("ko", "en"), at_least=2, most=3),
            Collection(("Q100",), "ja", ("Q17",), stops=("Q108",), members="instances"),
        ):
            snapshot = pulled(CATALOG, wanted, tmp_path, endpoint, service)
            with collected(snapshot, CATALOG, wanted) as online, collected(index, CATALOG, wanted) as offline:
                rows = online.fetchall()
                assert rows == offline.fetchall()
                assert rows
        asked = len(server.queries), len(server.items.requests)
        assert pulled(CATALOG, wanted, tmp_path, endpoint, service).identity == snapshot.identity
        assert (len(server.queries), len(server.items.requests)) == asked
        assert all("us@example.org" in agent for agent in server.agents)


def test_an_endpoint_needs_a_contact(tmp_path: Path) -> None:
    words = ("wikidata", "collect", "--class", "Q1", "--language", "ja", "--endpoint", "http://127.0.0.1:9/sparql")
    assert "--contact you@example.org" in one_line(polyculture(*words, cwd=tmp_path))


def test_every_format_on_the_command_line(index: Snapshot, tmp_path: Path) -> None:
    snapshot = str(index.path)
    command = ("wikidata", "collect", "--class", "Q746549", "--country", "JP", "--language", "ja")
    for name in ("list.csv", "list.json", "list.parquet"):
        done = polyculture(*command, "--snapshot", snapshot, "-f", name.partition(".")[2], "-o", name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "4 items" in done.stderr
    with (tmp_path / "list.csv").open(encoding="utf-8", newline="") as file:
        flat = list(csv.DictReader(file))
    rows = [json.loads(line) for line in (tmp_path / "list.json").read_text(encoding="utf-8").splitlines()]
    rows = [{**row, "labels": [tuple(one) for one in row["labels"]]} for row in rows]
    assert rows == pq.read_table(tmp_path / "list.parquet").to_pylist()
    assert [row["qid"] for row in flat] == [row["qid"] for row in rows] == ["Q101", "Q104", "Q107", "Q102"]
    assert flat[0]["aliases"] == "らーめん | 拉麺"
    assert flat[3]["path"] == "Q101 > Q100 > Q746549"
    printed = polyculture(*command, "--snapshot", snapshot, cwd=tmp_path)
    assert "札幌ラーメン" in printed.stdout


def test_a_topics_root_that_is_no_class_is_named_with_its_place(index: Snapshot) -> None:
    def with_roots(*roots: str) -> Catalog:
        kind = Kind(granularity=1, description="a festival", roots=roots)
        topic = Topic(code="festival", name="Festivals", kinds={"festival": kind})
        return CATALOG.model_copy(update={"topics": {"festival": topic}})

    with pytest.raises(CatalogError, match=r"topics/festival.toml: kinds.festival.roots: .* of Q132241\. Check"):
        check_classes(index, with_roots("Q132241"), ["festival"])
    (told,) = check_classes(index, with_roots("Q132241", "Q746549"), ["festival"])
    assert "topics/festival.toml: kinds.festival.roots: " in told
    assert "Q132241" in told
    assert check_classes(index, CATALOG, ["food"]) == []  # a built-in one names what a small snapshot lacks


def test_real_dishes_of_japan(slice_index: Snapshot) -> None:
    with collected(slice_index, CATALOG, Collection(("Q746549",), "ja", ("JP",), labelled=True)) as rows:
        names = {row[0]: row[1] for row in rows.select("qid, label").fetchall()}
    assert len(names) > 100
    assert names["Q234646"] == "ラーメン"
