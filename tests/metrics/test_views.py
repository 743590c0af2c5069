"""The metric views on runs so small that every number can be worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.store.store import open_store
from polyculture.metrics.measure import measure
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder

Row = dict[str, Any]


@contextmanager
def rows_of(builder: StoreBuilder, *, measured: bool = False) -> Iterator[Any]:
    """A function from a view's name (and a condition) to its rows as dictionaries; `numbers` must be `measured`."""
    run = builder.write()
    if measured:
        measure(run)
    with open_store(run, store_layout()) as store:

        def rows(view: str, where: str = "true", order: str = "ALL") -> list[Row]:
            table = store.sql(f"SELECT * FROM {view} WHERE {where} ORDER BY {order}").to_arrow_table()
            return list(table.to_pylist())

        yield rows


@pytest.fixture
def builder(tmp_path: Path) -> StoreBuilder:
    return StoreBuilder(tmp_path / "run")


def only(rows: list[Row]) -> Row:
    assert len(rows) == 1, rows
    return rows[0]


def values(row: Row, *columns: str) -> tuple[Any, ...]:
    return tuple(row[column] for column in columns)


def test_granularity_is_the_mean_label_of_linked_items_once_per_response(builder: StoreBuilder) -> None:
    """Sushi twice in one response is one item, also as fish, a general word that means it: its label is then a half."""
    prompt = builder.ask("en", "food", "JP")
    general = {"surface": "soup", "granularity": 0}
    builder.answer(prompt, ["sushi", "sushi", general, general, "nobody knows"])
    builder.answer(prompt, ["sushi", {"surface": "fish", "granularity": 0}])
    builder.link("sushi", "Q1")
    builder.link("fish", "Q1")
    builder.link("soup", "Q2")
    builder.link("nobody knows")
    builder.link("invented", "Q3")
    builder.answer(prompt, [{"surface": "invented", "hallucinated": True}])
    builder.answer(prompt, [{"surface": "Kyoto", "kind": "place", "granularity": None, "counted": False}])
    builder.answer(prompt, [])
    with rows_of(builder, measured=True) as rows:
        row = only(rows("granularity"))
    assert values(row, "granularity", "responses", "incidences", "specific") == (0.5, 5, 3, 1.5)
    assert values(row, "model", "language", "topic", "condition", "country") == ("m", "en", "food", "explicit", "JP")


def test_a_mean_of_nothing_is_missing_and_the_cell_is_still_there(builder: StoreBuilder) -> None:
    silent, unread, failed, unasked = (
        builder.ask("en", topic, "JP") for topic in ("food", "book", "music", "clothing")
    )
    builder.answer(silent, [])
    builder.answer(unread, extraction=None)
    builder.answer(failed, status="failed", text=None, error="server said no")
    builder.ask("de", "food", "JP")
    with rows_of(builder, measured=True) as rows:
        granularity = {(row["language"], row["topic"]): row for row in rows("granularity")}
        diversity = {(row["language"], row["topic"]): row for row in rows("diversity")}
        specificity = rows("specificity")
        consensus = rows("consensus")
    assert len(granularity) == len(diversity) == len(specificity) == 5
    assert {row["granularity"] for row in granularity.values()} == {None}
    assert granularity["en", silent.topic]["responses"] == 1
    assert granularity["en", unread.topic]["responses"] == granularity["en", failed.topic]["responses"] == 0
    assert diversity["en", silent.topic]["diversity"] == 0  # a count of nothing in something is a number
    assert [diversity["en", p.topic]["diversity"] for p in (unread, failed, unasked)] == [None] * 3
    assert {row["specificity"] for row in specificity} == {None}
    assert {row["consensus"] for row in consensus} == {None}


def test_diversity_is_missing_while_nothing_is_looked_up_and_says_what_awaits(builder: StoreBuilder) -> None:
    nothing, some = builder.ask("en", "food", "JP"), builder.ask("en", "book", "JP")
    builder.answer(nothing, ["sushi"])
    builder.answer(some, ["sushi", "Genji"])
    builder.link("Genji", "Q5", prompt=some)
    with rows_of(builder, measured=True) as rows:
        found = {row["topic"]: values(row, "diversity", "awaiting", "mentions") for row in rows("diversity")}
    assert found == {"food": (None, 1, 1), "book": (1, 1, 2)}


def test_a_link_is_of_a_language_and_topic(builder: StoreBuilder) -> None:
    english, german = builder.ask("en", "food", "JP"), builder.ask("de", "food", "JP")
    builder.answer(english, ["gift"])
    builder.answer(german, ["gift"])
    builder.link("gift", "Q1", prompt=english)
    builder.link("gift", prompt=german)
    with rows_of(builder, measured=True) as rows:
        found = {row["language"]: row["diversity"] for row in rows("diversity")}
    assert found == {"en": 1, "de": 0}


def test_gain_is_missing_without_a_neutral_number_and_exists_for_implicit_prompts(builder: StoreBuilder) -> None:
    implicit = builder.ask("en", "food", "JP", "implicit_female")
    alone = builder.ask("en", "book", "JP")
    neutral = builder.ask("en", "food")
    builder.answer(implicit, ["sushi"])
    builder.answer(alone, ["sushi"])
    builder.answer(neutral, ["pizza"])
    builder.link("sushi", "Q1")
    builder.link("pizza", "Q3")
    builder.entity("Q1", JP="P495")
    with rows_of(builder, measured=True) as rows:
        found = {(row["topic"], row["condition"]): row["gain"] for row in rows("specificity_gain")}
    assert found == {("food", "implicit_female"): 1.0, ("book", "explicit"): None}


def test_neutral_prompts_alone_have_a_specificity_for_the_countries_of_the_experiment(builder: StoreBuilder) -> None:
    builder.answer(builder.ask("en", "food"), ["sushi"])
    builder.link("sushi", "Q1")
    builder.entity("Q1", JP="P495", US="P495")
    with rows_of(builder, measured=True) as rows:
        found = {row["country"]: row["specificity"] for row in rows("specificity")}
    assert found == {"JP": 1.0, "IT": 0.0}


def test_consensus_is_the_overlap_of_two_languages_in_the_same_cell(builder: StoreBuilder) -> None:
    for language, surfaces in (("en", ["a", "b", "c"]), ("de", ["b", "c", "d", "x"]), ("ja", [])):
        for country in ("JP", None):
            builder.answer(builder.ask(language, "food", country), surfaces)
    builder.answer(builder.ask("ko", "food", "JP"), ["a"], extraction="failed")
    for surface, qid in (("a", "Q1"), ("b", "Q2"), ("c", "Q3"), ("d", "Q4")):
        builder.link(surface, qid)
    builder.link("x", "Q1", "ambiguous")
    with rows_of(builder, measured=True) as rows:
        found = {(row["language"], row["other_language"]): row for row in rows("consensus", "country = 'JP'")}
        neutral = {(row["language"], row["other_language"]): row for row in rows("consensus", "country IS NULL")}
    assert set(found) == {("de", "en"), ("de", "ja"), ("en", "ja"), ("de", "ko"), ("en", "ko"), ("ja", "ko")}
    pair = found["de", "en"]
    assert pair["consensus"] == 0.5
    assert values(pair, "entities", "other_entities", "responses", "other_responses") == (3, 3, 1, 1)
    assert found["en", "ja"]["consensus"] == 0  # one gave items, the other none
    assert found["en", "ko"]["consensus"] is None  # nobody knows what the other gave
    assert neutral["de", "en"]["consensus"] == 0.5
    assert len(neutral) == 3


def test_a_country_that_only_implicit_prompts_name_has_a_gain_and_is_in_no_mean(builder: StoreBuilder) -> None:
    """The experiment is about Japan and Italy; the people in its Korean prompts have names from Korea."""
    asked = [(builder.ask(language), ["sushi", "kimchi"]) for language in ("en", "ko")]
    asked.append((builder.ask("ko", country="KR", condition="implicit_female"), ["kimchi"]))
    for prompt, surfaces in asked * 10:
        builder.answer(prompt, surfaces)
    builder.link("sushi", "Q1")
    builder.link("kimchi", "Q2")
    builder.entity("Q1", JP="P495")
    builder.entity("Q2", KR="P495")
    run = builder.write()
    measure(run)
    with open_store(run, store_layout()) as store:
        neutral = store.sql(
            "SELECT DISTINCT country FROM specificity WHERE condition = 'neutral' ORDER BY 1"
        ).fetchall()
        ((country, gain, low),) = store.sql(
            "SELECT country, estimate, low FROM numbers WHERE level = 'cell' AND metric = 'specificity_gain'"
        ).fetchall()
        means = store.sql("""
            SELECT language, estimate, cells, low IS NOT NULL FROM numbers
            WHERE metric = 'specificity' AND level = 'model, language, condition' AND condition = 'neutral' ORDER BY 1
        """).fetchall()
    assert neutral == [("IT",), ("JP",)]
    assert (country, gain) == ("KR", 0.5)
    assert low is not None
    assert means == [("en", 0.25, 2, True), ("ko", 0.25, 2, True)]


def test_a_consensus_rests_on_the_cells_that_are_in_a_pair(builder: StoreBuilder) -> None:
    for language in ("en", "de", "ja"):
        prompt = builder.ask(language, country="JP")
        for _ in range(2):
            builder.answer(prompt, ["sushi"])
    builder.answer(builder.ask("en", country="US", condition="implicit_female"), ["sushi"])
    builder.link("sushi", "Q1")
    builder.entity("Q1")
    with rows_of(builder, measured=True) as rows:
        found = rows("numbers", "metric = 'consensus' AND topic = '*' AND condition = '*'")
    assert {(row["level"], row["cells"], row["units"], row["n"]) for row in found} == {
        ("model", 3, 6, 6),
        ("model, language", 2, 2, 2),
        ("model, language, other_language", 1, 4, 4),
    }


def test_stale_rows_are_in_no_number(builder: StoreBuilder) -> None:
    prompt = builder.ask("en", "food", "JP")
    builder.answer(prompt, ["sushi"])
    builder.answer(prompt, ["pizza"], request_id="another temperature")
    builder.answer(prompt, ["pizza"], model="a model that is no longer asked")
    builder.answer(prompt, ["pizza"], sample=builder.n)
    builder.answer(prompt, ["pizza"], extractor_id="another extractor")
    builder.link("sushi", "Q1")
    builder.link("pizza", "Q2")
    forgotten = builder.ask("en", "book", "JP")
    builder.answer(forgotten, ["pizza"])
    builder.rows["prompts"].pop()
    with rows_of(builder, measured=True) as rows:
        assert values(only(rows("diversity")), "diversity", "responses", "mentions") == (1, 1, 1)
        assert values(only(rows("granularity")), "responses", "incidences") == (1, 1)
        health = only(rows("health"))
        assert values(health, "answered", "extracted", "mentions") == (
            2,
            1,
            1,
        )  # the text counts, its old mentions do not


def test_health_counts_what_became_of_everything_that_was_asked(builder: StoreBuilder) -> None:
    builder.n = 10
    prompt = builder.ask("en", "food", "JP")
    builder.answer(prompt, ["sushi", "lost", "astray", "either", "late", {"surface": "false", "hallucinated": True}])
    builder.answer(prompt, [{"surface": "Kyoto", "counted": False, "granularity": None}], finish_reason="length")
    builder.answer(prompt, text=" \n\t\u3000", detected_language=None, script_share=None)
    builder.answer(prompt, detected_language="ja", script_share=0.2)
    builder.answer(prompt, extraction="failed")
    builder.answer(prompt, extraction=None, refused=True)  # in words; of the others nobody looked
    builder.answer(prompt, status="failed", text=None, error="timeout", detected_language=None, finish_reason=None)
    builder.answer(prompt, status="failed", text=None, error="refused: no", finish_reason="refusal")
    builder.answer(prompt, finish_reason="content_filter", script_share=0.2, refused=True)
    builder.link("sushi", "Q1")
    builder.link("lost")
    builder.link("astray", status="no path")
    builder.link("either", "Q2", "ambiguous")
    with rows_of(builder) as rows:
        cell = only(rows("health"))
    expected = {
        **{
            "asked": 10,
            "answered": 7,
            "failed": 2,
            "refused": 3,
            "empty": 1,
            "cut": 1,
            **{
                "unknown_ending": 0,
                "unrecorded_ending": 0,
                "distinct_texts": 4,
                "repeated": 0,
                "copies": 0,
                "shared": 0,
                "copied": 0,
                "renumbered": 0,
            },
            "wrong_language": 1,
            "other_variant": 0,
        },
        **{
            "undecided_language": 1,
            "wrong_script": 2,
            "off_language": 2,
            "extracted": 5,
            "extraction_failed": 1,
            "mentions": 5,
        },
        **{"hallucinated": 1, "uncounted": 1, "linked": 1, "ambiguous": 1, "no_candidate": 1, "no_path": 1},
        "awaiting": 1,
    }
    assert {name: cell[name] for name in expected} == expected


def test_resolution_says_what_has_no_item_and_under_how_many_names_items_come(builder: StoreBuilder) -> None:
    """Over two cells: seven mentions looked up, two of them without an item; two items, the one under two names."""
    builder.answer(builder.ask(country="JP"), ["sushi", "susi", "lost", "either", "late"])
    builder.answer(builder.ask(country="IT"), ["sushi", "pizza", "astray"])
    builder.link("sushi", "Q1")
    builder.link("susi", "Q1")
    builder.link("pizza", "Q2")
    builder.link("lost")
    builder.link("astray", status="no path")
    builder.link("either", "Q3", "ambiguous")
    builder.ask(topic="book")
    with rows_of(builder) as rows:
        found = {row["topic"]: row for row in rows("resolution")}
    assert values(found["food"], "looked_up", "nil", "nil_share") == (7, 2, 2 / 7)
    assert values(found["food"], "entities", "surfaces", "surfaces_per_entity") == (2, 3, 1.5)
    assert values(found["book"], "looked_up", "nil_share", "surfaces_per_entity") == (0, None, None)


def test_the_chinese_variants_are_one_language_to_the_health(builder: StoreBuilder) -> None:
    """A topic each: the language that is asked for, the one that is detected, and what the text is counted as."""
    cases = {
        "food": ("zh-tw", "zh-tw", None),
        "book": ("zh-tw", "zh", "other_variant"),
        "music": ("zh", "zh-tw", "other_variant"),
        "clothing": ("zh", "zh", None),
        "beverage": ("zh-tw", "ja", "wrong_language"),
        "transportation": ("fa", "ar", "wrong_language"),
        "film": ("en", None, "undecided_language"),
    }
    for topic, (language, detected, _) in cases.items():
        builder.answer(builder.ask(language, topic), detected_language=detected)
    with rows_of(builder) as rows:
        health = rows("health")
    columns = ("wrong_language", "other_variant", "undecided_language")
    found = {row["topic"]: [name for name in columns if row[name]] for row in health}
    assert found == {topic: [counted] if counted else [] for topic, (*_, counted) in cases.items()}


def test_means_are_over_cells_that_have_a_number(builder: StoreBuilder) -> None:
    general = {"surface": "soup", "granularity": 0}
    builder.answer(builder.ask("en", "food", "JP"), ["sushi", "sushi", "nobody knows", general])
    builder.answer(builder.ask("en", "food", "IT"), [general])
    builder.answer(builder.ask("en", "book", "JP"), [])
    builder.answer(builder.ask("de", "food", "JP"), ["sushi"])
    builder.link("sushi", "Q1")
    builder.link("soup", "Q2")
    builder.link("nobody knows")
    builder.entity("Q1", JP="P495")
    with rows_of(builder, measured=True) as rows:
        found = {
            (row["metric"], row["level"], row["language"], row["topic"]): row
            for row in rows("numbers", "condition = '*' AND country = '*' AND level NOT LIKE '%other_language%'")
        }
        specific = rows("numbers", "metric = 'specificity' AND level = 'model, condition'")
        pair = only(rows("numbers", "level = 'model, language, other_language'"))
    english = found["granularity", "model, language", "en", "*"]
    assert values(english, "estimate", "cells", "missing", "units", "n") == (0.25, 2, 1, 3, 3)
    assert found["granularity", "model", "*", "*"]["estimate"] == pytest.approx((0.5 + 0 + 1) / 3)
    book = found["granularity", "model, topic", "*", "book"]
    assert values(book, "estimate", "no_estimate") == (None, "no cell has a number")
    diversity = found["diversity", "model", "*", "*"]
    assert values(diversity, "estimate", "cells", "missing", "n") == (1.0, 4, 0, 4)
    assert [(row["estimate"], row["cells"], row["missing"]) for row in specific] == [(0.5, 3, 1)]
    assert values(pair, "language", "facets", "estimate", "cells") == ("de", [("other_language", "en")], 0.5, 1)
    assert found["consensus", "model, language", "en", "*"]["estimate"] == 0.5
    assert not [key for key in found if key[0].startswith("specificity")]  # never averaged over conditions


def test_a_gain_rests_on_the_neutral_responses_too_each_counted_once(builder: StoreBuilder) -> None:
    """Japan: 2 responses with 3 linked items; Italy: 1 with 1; nobody named: 4 with 5."""
    for country, answers in (("JP", [2, 1]), ("IT", [1]), (None, [2, 1, 1, 1])):
        prompt = builder.ask(country=country)
        for mentions in answers:
            builder.answer(prompt, ["sushi", "pizza"][:mentions] * 2)
    builder.link("sushi", "Q1")
    builder.link("pizza", "Q2")
    builder.entity("Q1", JP="P495")
    with rows_of(builder, measured=True) as rows:
        cells = {row["country"]: row for row in rows("numbers", "metric = 'specificity_gain' AND level = 'cell'")}
        groups = rows("numbers", "metric = 'specificity_gain' AND level <> 'cell'")
    assert values(cells["JP"], "units", "n") == (2 + 4, 3 + 5)
    assert values(cells["IT"], "units", "n") == (1 + 4, 1 + 5)
    for group in groups:
        base = values(group, "units", "n")
        named = group["country"] != "*"
        assert base == (values(cells[group["country"]], "units", "n") if named else (7, 9))
    assert {group["country"] for group in groups} == {"JP", "IT", "*"}


def test_companions_of_diversity(builder: StoreBuilder) -> None:
    small, large = builder.ask("en", "food", "JP"), builder.ask("en", "food", "IT")
    builder.answer(small, ["a"])
    builder.answer(small, ["b"])
    for surfaces in (["a", "a"], ["a", "b"], ["a"], []):
        builder.answer(large, surfaces)
    builder.link("a", "Q1")
    builder.link("b", "Q2")
    with rows_of(builder, measured=True) as rows:
        found = {row["country"]: row for row in rows("diversity_companions")}
    row = found["IT"]  # a in 3 of 4 responses, b in 1
    assert values(row, "coverage", "incidences", "rarefied_to") == (1, 4, 2)
    assert row["hill_1"] == pytest.approx((4 / 3) ** 0.75 * 4**0.25)
    assert row["hill_2"] == pytest.approx(1 / (9 / 16 + 1 / 16))
    assert row["rarefied"] == pytest.approx(1 + 0.5)  # any two responses hold a; half of the pairs hold b
    assert found["JP"]["coverage"] == pytest.approx(1 - 1 / (1 * 1 + 2))  # a and b in one response each


def test_the_evidence_leads_from_a_cell_to_the_sentence(builder: StoreBuilder) -> None:
    prompt = builder.ask("en", "food", "JP")
    builder.answer(prompt, [{"surface": "sushi", "start": 5, "end": 10}, "Sushi"], text="Good sushi. Sushi!")
    builder.answer(prompt, ["sushi", "tango"])
    builder.link("sushi", "Q1")
    builder.link("Sushi", "Q1")
    builder.link("tango", "Q2", "ambiguous")
    builder.entity("Q1", "sushi", JP="P495")
    with rows_of(builder) as rows:
        sushi = only(rows("entity_counts"))
        trail = rows("mention_trail", order="response_id, ordinal")
    assert values(sushi, "label", "mentions", "responses", "surfaces") == ("sushi", 3, 2, ["Sushi", "sushi"])
    assert sushi["countries"] == [{"country": "JP", "property": "P495"}]
    assert trail[0]["text"][trail[0]["start"] : trail[0]["end"]] == "sushi"
    assert trail[0]["prompt"] == prompt.text
    assert [row["status"] for row in trail] == ["linked", "linked", "linked", "ambiguous"]


def test_a_run_without_a_single_response_has_every_view(builder: StoreBuilder) -> None:
    builder.ask("en", "food", "JP")
    with open_store(builder.write(), store_layout()) as store:
        own = "SELECT view_name FROM duckdb_views() WHERE NOT internal AND database_name = current_database()"
        names = store.sql(own).fetchall()
        for (name,) in names:
            store.sql(f'SELECT * FROM "{name}"').fetchall()
    assert len(names) > 25


def test_every_view_says_what_a_row_means() -> None:
    layout = store_layout()
    feeds = {
        *layout.current.feeds,
        *layout.views.feeds,
        "bought",
        "failed",
    }  # of no file, explained where they are read
    for file in layout.files:
        lines = file.read_text(encoding="utf-8").splitlines()
        created = [line.split()[2] for line in lines if line.startswith("CREATE VIEW")]
        described = [line.split()[1].rstrip(":") for line in lines if re.match(r"-- \w+: a row (is|of)", line)]
        assert created == [view for view in described if view not in feeds], file
