"""A study's release with its own items and links: published, recomputed and re-linked, side by side."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.imports.conftest import read, write_lines
from tests.polyculture.test_command_line import polyculture

# A row per item, as a study may release it. Pasta is general; "Pizza" has two items.
TEXTS = {
    "a": ("IT", "I like pizza and risotto. And pizza again."),
    "b": ("IT", "Pizza, then pasta."),
    "c": ("JP", "Sushi and ramen."),
}
ITEMS = [
    ("a", "pizza", "specific", "Q177", "pizza"),
    ("a", "risotto", "specific", "http://www.wikidata.org/entity/Q20068", "risotto"),
    ("a", "pizza", "specific", "Q177", "pizza"),
    ("a", "tiramisu", "specific", "Q215348", "tiramisu"),  # not in the text
    ("a", "pizza", "specific", "pizza!", "pizza"),  # no QID
    ("a", "risotto", "specific", "Q4294967296", "risotto"),  # no item can have such a number
    ("b", "Pizza", "specific", "Q999999999", "another pizza"),  # no item that the snapshot knows
    ("b", "Pizza", "specific", "Q177", "pizza"),  # the same surface
    ("b", "pasta", "general", "Q178", "pasta"),
    ("b", "", "specific", "Q178", "pasta"),  # no surface
    ("c", "Sushi", "specific", "Q46383", "sushi"),
    ("c", "ramen", "specific", None, None),  # the study found no item
]
NAMES = ("entity", "granularity", "qid", "english_label")


def row_of(text: str) -> dict[str, object]:
    country, words = TEXTS[text]
    return {"model": "m", "language": "en", "country": country, "topic": "food", "response": words, "id": text}


def write(folder: Path) -> Path:
    """Shards of two kinds: a row per item, and a row per text with lists."""
    folder.mkdir()
    rows = [
        row_of(text) | dict(zip(NAMES, item, strict=True)) | {"lemma": str(item[0]).lower(), "english_name": None}
        for text, *item in ITEMS
        if text != "c"
    ]
    rows.append(row_of("a") | {"country": "Narnia", "id": "n", "entity": "pizza", "granularity": 1, "qid": "Q177"})
    (folder / "0.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = zip(*[item for text, *item in ITEMS if text == "c"], strict=True)
    lists = row_of("c") | {name: json.dumps(values) for name, values in zip(NAMES, columns, strict=True)}
    lists |= {"lemma": json.dumps(["sushi", "ramen"]), "english_name": json.dumps(["sushi", None])}
    with (folder / "1.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lists))
        writer.writeheader()
        writer.writerow(lists)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    write(folder / "data")
    for name, links in (("published", "published"), ("relinked", "ours")):
        words = ("--as", f"{name}.toml", "--links", links, "--skip-rows")
        done = polyculture("import", "data", *words, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "read as items" in done.stderr
        assert "qid from 'qid'" in done.stderr
        assert "assumed by their usual names" in done.stderr
        for stage in ("extract", "link", "measure"):
            done = polyculture("run", "--only", stage, f"{name}.toml", cwd=folder)
            assert done.returncode == 0, done.stderr
    return folder


def rows_of(folder: Path, name: str, query: str) -> list[dict[str, str]]:
    done = polyculture("sql", f"{name}.toml", query, "--format", "csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.splitlines()))


def test_rows_and_items_that_cannot_be_taken_have_a_reason(folder: Path) -> None:
    found = rows_of(folder, "published", "SELECT row, reason FROM import_failures ORDER BY row")
    reasons = [(row["row"].partition(":")[0], row["reason"].partition(" (")[0]) for row in found]
    assert sorted(reasons) == [
        ("0.jsonl", "item: its QID is no QID"),
        ("0.jsonl", "item: its QID is no QID"),
        ("0.jsonl", "item: its surface is empty"),
        ("0.jsonl", "the country is not in the catalogue"),
    ]


def test_names_that_an_extractor_gave_are_kept_with_the_mentions(folder: Path) -> None:
    query = "SELECT DISTINCT surface, name, english FROM mentions WHERE surface IN ('Pizza', 'Sushi') ORDER BY 1"
    found = [(row["surface"], row["name"], row["english"]) for row in rows_of(folder, "published", query)]
    assert found == [("Pizza", "pizza", ""), ("Sushi", "sushi", "sushi")]


def test_a_column_name_is_the_dictionary_form_beside_surfaces_alone(tmp_path: Path) -> None:
    item = {"entity": "Sushis", "granularity": 1, "qid": "Q46383"}
    beside, _, _ = read(write_lines(tmp_path / "a.jsonl", {**row_of("c"), **item, "name": "sushi", "english": "sushi"}))
    assert (beside.columns.columns["name"], beside.columns.columns["english"]) == ("name", "english")
    told = {name: f"entities[*].{name}" for name in ("granularity", "qid")} | {"surface": "entities[*].entity"}
    apart, _, _ = read(write_lines(tmp_path / "b.jsonl", {**row_of("c"), "name": "Ana", "entities": [item]}), told)
    assert "name" not in apart.columns.columns
    assert any(note.startswith("'name' is not taken as the dictionary form") for note in apart.columns.notes)


def test_recomputed_numbers_are_those_of_an_independent_count(folder: Path) -> None:
    specific: Counter[str] = Counter()
    mentions: Counter[str] = Counter()
    items: dict[str, set[str]] = defaultdict(set)
    for text, surface, level, qid, _ in ITEMS:
        country, words = TEXTS[text]
        known = qid is not None and qid.rpartition("/")[2].startswith("Q") and qid != "Q4294967296"
        if surface and surface in words and known:
            mentions[country] += 1
            specific[country] += level == "specific"
            items[country].add(str(qid).rpartition("/")[2])
    query = """SELECT country, count(*) AS mentions, count(*) FILTER (granularity = 1) AS specific,
        count(DISTINCT qid) AS items FROM linked_mentions WHERE status = 'linked' GROUP BY ALL"""
    for row in rows_of(folder, "published", query):
        country = row["country"]
        assert int(row["mentions"]) == mentions.pop(country)
        assert int(row["specific"]) == specific[country]
        assert int(row["items"]) == len(items[country])
    assert not mentions


def test_the_three_stand_side_by_side(folder: Path) -> None:
    query = """SELECT DISTINCT p.surface, p.qid AS published, l.qid AS relinked
        FROM published_items AS p JOIN links AS l USING (query) WHERE p.qid LIKE 'Q%' ORDER BY ALL"""
    found = [tuple(row.values()) for row in rows_of(folder, "relinked", query) if row["surface"].lower() == "pizza"]
    assert found == [("Pizza", "Q177", "Q177"), ("Pizza", "Q999999999", "Q177"), ("pizza", "Q177", "Q177")]
    theirs = [tuple(row.values()) for row in rows_of(folder, "published", query) if row["surface"] == "Pizza"]
    assert theirs == [("Pizza", "Q177", "Q177"), ("Pizza", "Q999999999", "Q999999999")]
    (row,) = rows_of(folder, "published", "SELECT label FROM entities WHERE qid = 'Q999999999'")
    assert row["label"] == "another pizza"
    done = polyculture("compare", "relinked.toml", "--baseline", "published.toml", cwd=folder)
    assert done.returncode == 0, done.stderr


# Rows in the columns of the study's release: its own kinds, `NA`, a property for an item, two items of one surface.
RELEASE = [
    ("food", "By noon salad, Machboos and rice in Dubai.", [
        ("Machboos", "dish_name", "Q1765463"), ("salad", "dish_category", "Q9266"),
        ("rice", "ingredient_category", "Q5090"), ("Dubai", "place", "Q612"), ("saffron", "specific_ingredient", "NA"),
    ]),
    ("food", "By noon salad again.", [("salad", "dish_name", "Q999"), ("noon", "P", "P149")]),
    ("food", "By noon salad again.", [("salad", "dish_name", "Q999")]),
    ("transportation", "By train, a rail vehicle.", [
        ("train", "mode_of_transport", "Q870"), ("rail vehicle", "vehicle_type", "Q752392"),
    ]),
    ("beverage", "~", []),
]  # fmt: skip
SPECIFIC = ("dish_name", "specific_ingredient")


def test_the_studys_own_numbers_are_recomputed_from_its_release(tmp_path: Path) -> None:
    def row(topic: str, text: str, entities: str) -> str:
        return json.dumps({"model": "m", "topic": topic, "language": "en", "country_region": "united arab emirates",
                           "prompt": "(prompt)", "generated_text": text, "entities": entities})  # fmt: skip

    names = ("entity", "entity_type", "qid")
    rows = [row(topic, text, json.dumps([dict(zip(names, item, strict=True)) for item in items]))
            for topic, text, items in RELEASE]  # fmt: skip
    (tmp_path / "a.jsonl").write_text("\n".join([*rows, row("beverage", "x", "{broken")]), encoding="utf-8")
    refused = polyculture("import", "a.jsonl", "--as", "published.toml", cwd=tmp_path)
    assert refused.returncode == 2
    assert "'P' of food (1)" in refused.stderr  # granularity is a share of all items
    assert not list(tmp_path.rglob("*.parquet"))
    done = polyculture("import", "a.jsonl", "--as", "published.toml", "--skip-rows", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "6 texts taken" in done.stderr
    assert "granularity of transportation is not settled" in done.stderr
    query = """SELECT count(*) AS items, count(DISTINCT p.response_id) AS texts, count(DISTINCT qid) AS qids,
        avg((type IN ('dish_name', 'specific_ingredient'))::INT) FILTER (type <> 'place' AND qid LIKE 'Q%')
            AS granularity
        FROM published_items AS p WHERE topic = 'food'"""
    (found,) = rows_of(tmp_path, "published", query)
    linked = [item for topic, _, items in RELEASE if topic == "food" for item in items
              if item[2].startswith("Q") and item[1] != "place"]  # fmt: skip
    assert (found["items"], found["texts"], found["qids"]) == ("8", "3", "6")
    assert float(found["granularity"]) == sum(kind in SPECIFIC for _, kind, _ in linked) / len(linked)
    kinds = {
        row["type"]: row["kind"] for row in rows_of(tmp_path, "published", "SELECT type, kind FROM published_items")
    }
    assert kinds["mode_of_transport"] == "mode"
    assert kinds["specific_ingredient"] == "ingredient"
    assert kinds["P"] == ""
    reasons = rows_of(tmp_path, "published", "SELECT reason, value FROM import_failures ORDER BY reason")
    assert [(row["reason"].partition(" in")[0], row["value"]) for row in reasons] == [
        ("item: its QID is no QID", "P149"),
        ("item: its kind is not known", "P"),
        ("its items are no JSON", "its items are no JSON: {broken"),
    ]
