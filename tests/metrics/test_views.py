"""The metric views on runs so small that every number can be worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
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
        found = {
            row["topic"]: (row["diversity"] is None, row["awaiting"], row["mentions"]) for row in rows("diversity")
        }
    assert found == {"food": (True, 1, 1), "book": (False, 1, 2)}


def test_a_consensus_stands_beside_the_diversity_of_both_languages_in_the_same_cell(builder: StoreBuilder) -> None:
    for language, surfaces in (("en", ["a", "b", "c"]), ("de", ["b", "d", "x"]), ("ja", [])):
        for country in ("JP", None):
            builder.answer(builder.ask(language, "food", country), surfaces)
    builder.answer(builder.ask("ko", "food", "JP"), ["a"], extraction="failed")
    for surface, qid in (("a", "Q1"), ("b", "Q2"), ("c", "Q3"), ("d", "Q4")):
        builder.link(surface, qid)
    with rows_of(builder, measured=True) as rows:
        pairs = rows("consensus")
        cells = {(row["language"], row["country"]): row for row in rows("diversity")}
    languages = {
        country: {(row["language"], row["other_language"]) for row in pairs if row["country"] == country}
        for country in ("JP", None)
    }
    assert languages == {
        "JP": {("de", "en"), ("de", "ja"), ("en", "ja"), ("de", "ko"), ("en", "ko"), ("ja", "ko")},
        None: {("de", "en"), ("de", "ja"), ("en", "ja")},
    }
    for row in pairs:
        for prefix, language in (("", row["language"]), ("other_", row["other_language"])):
            cell = cells[language, row["country"]]
            assert row[f"{prefix}entities"] == (cell["diversity"] or 0)
            assert row[f"{prefix}responses"] == cell["responses"]
    assert len({row["entities"] for row in pairs}) > 1


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
        shares = store.sql("SELECT language, specificity FROM specificity WHERE condition = 'neutral'").fetchall()
        means = store.sql("""
            SELECT language, estimate, cells, low IS NOT NULL FROM numbers
            WHERE metric = 'specificity' AND level = 'model, language, condition' AND condition = 'neutral' ORDER BY 1
        """).fetchall()
    assert neutral == [("IT",), ("JP",)]
    assert country == "KR"
    assert (gain is None) == (low is None)
    own = {
        code: [share for language, share in shares if language == code and share is not None] for code in ("en", "ko")
    }
    assert means == [(code, pytest.approx(mean(own[code])), len(own[code]), True) for code in ("en", "ko")]


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


def test_the_extractor_says_what_declines_where_a_language_has_no_phrases_of_refusals(builder: StoreBuilder) -> None:
    """Three texts in a language with phrases, and five in one without; the extractor contradicts the phrases once."""
    with_phrases, without = builder.ask("en"), builder.ask("sw")
    for refused, declined in ((True, False), (False, True), (False, None)):
        builder.answer(with_phrases, refused=refused, declined=declined)
    for declined in (True, False, None):
        builder.answer(without, refused=None, declined=declined)
    builder.answer(without, refused=None, extraction=None)  # beyond the sample that is extracted
    builder.answer(without, refused=True, declined=False)  # in English
    builder.answer(without, refused=None, declined=False, finish_reason="content_filter")
    with rows_of(builder) as rows:
        health = {
            row["language"]: values(row, "answered", "refused", "unchecked", "distinct_texts") for row in rows("health")
        }
        selected = next(row for row in rows("text_selections") if row["selection"] == "answered")
    assert health == {"en": (3, 1, 0, 2), "sw": (6, 3, 2, 3)}
    assert values(selected, "texts", "left_out", "unknown") == (8, 4, 1)


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


def test_resolution_counts_where_own_words_and_the_english_name_disagree(builder: StoreBuilder) -> None:
    prompt = builder.ask(language="de")
    for surface in ("Eis", "Eis", "Brot"):
        builder.answer(prompt, [surface])
    builder.link("Eis", "Q1")
    builder.link("Brot", "Q2")
    builder.rows["links"][0]["english_qid"] = "Q3"
    with rows_of(builder) as rows:
        (found,) = rows("resolution")
    assert values(found, "linked", "disagreeing", "disagreeing_share") == (3, 2, 2 / 3)


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
        numbers = rows("numbers", "metric IN ('granularity', 'diversity', 'specificity', 'consensus')")
    cells = [row for row in numbers if row["level"] == "cell"]
    means = [row for row in numbers if row["level"] != "cell"]
    lacking = set()
    for row in means:
        own = [cell for cell in cells if cell["metric"] == row["metric"] and _is_of(cell, row)]
        known = [cell["estimate"] for cell in own if cell["estimate"] is not None]
        assert (row["cells"], row["missing"]) == (len(known), len(own) - len(known)), row
        assert row["estimate"] == (pytest.approx(mean(known)) if known else None), row
        assert (row["no_estimate"] == "no cell has a number") == (not known), row
        if row["metric"] != "consensus":  # whose pairs share texts
            assert row["n"] == sum(cell["n"] for cell in own), row
        lacking.add((row["metric"], not known, len(known) < len(own)))
    assert {("granularity", True, True), ("granularity", False, True), ("diversity", False, False)} <= lacking
    assert {row["level"] for row in means if row["metric"] == "granularity"} > {"model", "model, topic"}
    conditions = {row["condition"] for row in means if row["metric"] == "specificity"}
    assert conditions == {"explicit"}, "never averaged over conditions"


def _is_of(cell: Row, mean: Row) -> bool:
    """Is a cell one of those that a mean is over? A mean is of all values where it names none."""
    languages = {cell["language"], dict(cell["facets"] or ()).get("other_language")}
    asked = {mean["language"], dict(mean["facets"] or ()).get("other_language")} - {"*", None}
    keys = ("model", "topic", "condition", "country", "wording")
    return asked <= languages and all(mean[key] in ("*", cell[key]) for key in keys)


def test_a_gain_rests_on_the_neutral_responses_too_each_counted_once(builder: StoreBuilder) -> None:
    """Japan, Italy, and neutral prompts, whose responses are behind the gains of both."""
    for country, answers in (("JP", [2, 1]), ("IT", [1]), (None, [2, 1, 1, 1])):
        prompt = builder.ask(country=country)
        for mentions in answers:
            builder.answer(prompt, ["sushi", "pizza"][:mentions] * 2)
    builder.link("sushi", "Q1")
    builder.link("pizza", "Q2")
    builder.entity("Q1", JP="P495")
    with rows_of(builder, measured=True) as rows:
        cells = {row["country"]: row for row in rows("numbers", "metric = 'specificity_gain' AND level = 'cell'")}
        shares = {
            (row["condition"], row["country"]): values(row, "units", "n")
            for row in rows("numbers", "metric = 'specificity' AND level = 'cell'")
        }
        groups = rows("numbers", "metric = 'specificity_gain' AND level <> 'cell'")
    for country in ("JP", "IT"):
        both = shares["explicit", country], shares["neutral", country]
        assert values(cells[country], "units", "n") == tuple(map(sum, zip(*both, strict=True)))
    once = shares["explicit", "JP"], shares["explicit", "IT"], shares["neutral", "JP"]
    for group in groups:
        base = values(group, "units", "n")
        named = group["country"] != "*"
        whole = tuple(map(sum, zip(*once, strict=True)))
        assert base == (values(cells[group["country"]], "units", "n") if named else whole)
    assert {group["country"] for group in groups} == {"JP", "IT", "*"}


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
