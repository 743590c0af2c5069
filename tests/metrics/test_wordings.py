"""Wordings as a factor: one wording leaves every number as it was; several are averaged, each with the same weight."""

from __future__ import annotations

import csv
import math
import statistics
from pathlib import Path
from typing import Any

import duckdb
import pytest
from scipy import stats

from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.metrics.intervals.wordings import AT_LIMIT, MISSING, NAMES_SHARED, NO_SPREAD, wordings_interval
from polyculture.metrics.measure import measure
from polyculture.reports.report import write_report
from polyculture.reports.texts import texts
from polyculture.running.layout import store_layout
from tests.metrics.wording_runs import build
from tests.store_builder import StoreBuilder

BEFORE = Path(__file__).with_name("one_wording.csv")  # of `build`, written before prompts had several wordings
OVER_WORDINGS = "model, language, topic, condition, country"
PAIRS_OVER_WORDINGS = "model, language, other_language, topic, condition, country"
NUMBERS = """
    SELECT *, facets['other_language'] AS other_language FROM numbers
    UNION ALL BY NAME SELECT
        'saturation' AS level, 'entities ' || responses AS metric, model, language, topic, condition, country,
        entities AS estimate, low, high
    FROM saturation
"""
THREE = ("paragraph", "scene", "letter")
CELLS = "SELECT *, facets['other_language'] AS other_language FROM numbers WHERE level = 'cell'"
MEANS = CELLS.replace("= 'cell'", "<> 'cell'")


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    run = build(tmp_path_factory.mktemp("one"))
    measure(run)
    return run


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    run = build(tmp_path_factory.mktemp("three"), THREE, names=2)
    measure(run)
    return run


def _rows(store: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    found = store.sql(query)
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    names = ("level", "metric", "model", "language", "other_language", "topic", "condition", "country")
    return tuple("" if row[name] in (None, "*", "-", "none") else row[name] for name in names)


NEWER = ("share_without_country", "linked_by_english")  # metrics that the file of that time lacks


def test_a_run_in_one_wording_has_the_numbers_and_intervals_that_it_had(one: RunFolder) -> None:
    with open_store(one, store_layout()) as store:
        now = {_key(row): row for row in _rows(store, NUMBERS) if row["metric"] not in NEWER}
    with BEFORE.open(encoding="utf-8") as file:
        before = list(csv.DictReader(file))
    for row in before:
        found = now.pop(_key(row))
        for name in ("estimate", "low", "high"):
            assert found[name] == (pytest.approx(float(row[name]), rel=1e-9) if row[name] else None)
        for name, column in (("no_interval", "no_interval"), ("responses", "units"), ("incidences", "n")):
            assert str(found[column] or "") == row[name]
    assert {row["level"] for row in now.values()} == {OVER_WORDINGS, PAIRS_OVER_WORDINGS}


def test_the_mean_over_one_wording_is_its_cell_with_its_interval(one: RunFolder) -> None:
    columns = "metric, model, language, facets, topic, condition, country, estimate, low, high, no_interval, units, n"
    with open_store(one, store_layout()) as store:
        cells = store.sql(f"SELECT {columns} FROM numbers WHERE level = 'cell' ORDER BY ALL").fetchall()
        means = f"FROM numbers WHERE level IN ('{OVER_WORDINGS}', '{PAIRS_OVER_WORDINGS}')"
        assert store.sql(f"SELECT {columns} {means} ORDER BY ALL").fetchall() == cells
        why = store.sql("SELECT DISTINCT wide_low, no_wide FROM numbers WHERE level <> 'cell'").fetchall()
    assert why == [(None, "fewer than three wordings")]


def test_names_of_a_wording_stand_in_its_cell(three: RunFolder) -> None:
    with open_store(three, store_layout()) as store:
        rows = store.sql(
            "SELECT condition, prompts, count(*), count(DISTINCT wording) FROM cells GROUP BY ALL ORDER BY ALL"
        )
        assert rows.fetchall() == [("explicit", 1, 24, 3), ("implicit_male", 2, 12, 3), ("neutral", 1, 12, 3)]


def test_every_level_is_the_mean_over_cells_and_so_over_wordings(three: RunFolder) -> None:
    with open_store(three, store_layout()) as store:
        cells = _rows(store, CELLS)
        means = {_key(row): row for row in _rows(store, MEANS)}
    of_one = [
        row
        for row in cells
        if (row["metric"], row["language"], row["topic"], row["country"]) == ("diversity", "en", "food", "JP")
    ]
    assert {row["wording"] for row in of_one} == set(THREE)
    found = means[OVER_WORDINGS, "diversity", "m", "en", "", "food", "explicit", "JP"]
    assert found["estimate"] == pytest.approx(statistics.mean(row["estimate"] for row in of_one))
    assert (found["cells"], found["units"]) == (3, 180)
    assert found["low"] < found["estimate"] < found["high"]
    whole = [row["estimate"] for row in cells if row["metric"] == "diversity"]
    assert means["model", "diversity", "m", "", "", "", "", ""]["estimate"] == pytest.approx(statistics.mean(whole))


def test_gains_and_pairs_are_of_one_wording(three: RunFolder) -> None:
    with open_store(three, store_layout()) as store:
        share = {
            (row["language"], row["topic"], row["condition"], row["country"], row["wording"]): row["specificity"]
            for row in _rows(store, "FROM specificity")
        }
        gains = _rows(store, "FROM specificity_gain")
        for row in gains:
            place = row["language"], row["topic"]
            neutral = share[*place, "neutral", row["country"], row["wording"]]
            assert row["gain"] == share[*place, row["condition"], row["country"], row["wording"]] - neutral
        assert len(gains) == 36
        pairs = store.sql("SELECT wording, count(*) FROM consensus GROUP BY ALL ORDER BY ALL").fetchall()
    assert pairs == [("letter", 8), ("paragraph", 8), ("scene", 8)]


def test_the_interval_of_other_wordings_is_that_of_the_wordings_means(three: RunFolder) -> None:
    with open_store(three, store_layout()) as store:
        cells = _rows(store, f"{CELLS} AND metric = 'granularity'")
        [row] = _rows(store, "FROM numbers WHERE metric = 'granularity' AND level = 'model'")
        shown = store.sql("SELECT DISTINCT no_wide FROM numbers WHERE metric = 'hill_1' AND level <> 'cell'").fetchall()
        sides = "wide_low <= estimate AND estimate <= wide_high"
        outside = store.sql(f"FROM numbers WHERE wide_low IS NOT NULL AND NOT ({sides})").fetchall()
    means = [statistics.mean(cell["estimate"] for cell in cells if cell["wording"] == wording) for wording in THREE]
    found = wordings_interval("granularity", row["estimate"], means)
    assert (row["wide_low"], row["wide_high"]) == pytest.approx((found.low, found.high))
    assert row["no_wide"] is None
    assert (shown, outside) == ([(None,)], [])


def test_a_question_without_a_number_in_one_wording_is_in_no_wordings_mean(tmp_path: Path) -> None:
    """Of 48 numbers 4 are missing; the 8 of the same questions in other wordings are left out: 18 % of the model's."""
    run = build(tmp_path, THREE, silent=("scene", "en", "food"))
    measure(run)
    with open_store(run, store_layout()) as store:
        rows = _rows(store, "FROM numbers WHERE metric = 'granularity' AND level <> 'cell'")
    found = {(row["level"], row["language"]): row["no_wide"] for row in rows if row["topic"] == row["condition"] == "*"}
    assert found["model", "*"] == MISSING
    assert found["model, language", "it"] is None
    food = [row for row in rows if (row["language"], row["topic"]) == ("en", "food") and row["level"] == OVER_WORDINGS]
    assert {(row["missing"], row["no_wide"]) for row in food} == {(1, MISSING)}


def _asked_about(folder: Path, names: dict[str, dict[str, list[str]]]) -> RunFolder:
    """A measured run in the languages and wordings of `names`, each asked neutrally and about these men."""
    builder = StoreBuilder(folder, countries=("IT",), n=20)
    for language, wordings in names.items():
        for place, (wording, men) in enumerate(wordings.items()):
            asked = [builder.ask(language, wording=wording)]
            asked += [builder.ask(language, "food", "IT", "implicit_male", wording, man) for man in men]
            for number, prompt in enumerate(asked):
                for sample in range(20):
                    specific = int(sample % 10 < 3 + place + number)
                    builder.answer(prompt, [{"surface": f"i{sample % 7}", "granularity": specific}], sample=sample)
    for item in range(7):
        builder.link(f"i{item}", f"Q{item + 1}")
        builder.entity(f"Q{item + 1}")
    run = builder.write()
    measure(run)
    return run


ONE_MAN = {wording: ["Luca"] for wording in THREE}
SOME_AGAIN = {"paragraph": ["Luca", "Aldo"], "scene": ["Ugo", "Aldo"], "letter": ["Ivo", "Gino"]}
OWN = {"paragraph": ["Luca", "Aldo"], "scene": ["Ugo", "Pio"], "letter": ["Ivo", "Gino"]}


@pytest.mark.parametrize("shared", [ONE_MAN, SOME_AGAIN])
def test_means_over_persons_that_wordings_share_have_no_interval(tmp_path: Path, shared: dict[str, list[str]]) -> None:
    run = _asked_about(tmp_path, {"en": shared, "it": OWN})
    with open_store(run, store_layout()) as store:
        rows = {_key(row): row for row in _rows(store, MEANS)}
    by_condition = "model, language, condition"
    found = {
        (language, condition): rows[by_condition, "granularity", "m", language, "", "", condition, ""]
        for language in ("en", "it")
        for condition in ("neutral", "implicit_male")
    }
    assert found["en", "implicit_male"]["no_wide"] == NAMES_SHARED
    assert found["en", "implicit_male"]["wide_low"] is None
    for place in (("en", "neutral"), ("it", "neutral"), ("it", "implicit_male")):
        assert found[place]["no_wide"] is None
        assert found[place]["wide_low"] < found[place]["estimate"] < found[place]["wide_high"]
    whole = rows["model", "granularity", "m", "", "", "", "", ""]
    assert whole["no_wide"] == NAMES_SHARED
    pairs = [row for row in rows.values() if row["metric"] == "consensus" and row["condition"] == "implicit_male"]
    assert {row["no_wide"] for row in pairs if row["estimate"] is not None} == {NAMES_SHARED}
    page = write_report(run).read_text(encoding="utf-8")
    assert page.count(texts().wordings[NAMES_SHARED]) == 1  # once for the table, as docs/method.md says


@pytest.mark.parametrize(
    ("metric", "means", "why"),
    [
        ("granularity", [0.5, 0.6], MISSING),
        ("granularity", [0.5, 0.5, 0.5], NO_SPREAD),
        ("specificity", [0.0, 0.1, 0.2], AT_LIMIT),
        ("granularity", [0.8, 0.9, 1.0], AT_LIMIT),
        ("diversity", [0.0, 4.0, 5.0], AT_LIMIT),
    ],
)
def test_where_nothing_holds_there_is_a_reason(metric: str, means: list[float], why: str) -> None:
    found = wordings_interval(metric, statistics.mean(means), means)
    assert (found.low, found.high, found.withheld) == (None, None, why)


def test_many_missing_numbers_withhold_the_interval_and_few_widen_it() -> None:
    means = [0.50, 0.51, 0.52]
    assert wordings_interval("granularity", 0.9, means, lacking=0.06).withheld == MISSING
    assert wordings_interval("granularity", 0.9, means, lacking=0.04).high == 0.9


@pytest.mark.parametrize("draws", range(3, 14))
def test_the_interval_is_as_wide_as_the_method_page_says(draws: int) -> None:
    means = [
        40.0 + (place % 3) for place in range(draws)
    ]  # far from the limit: the number's own scale reaches farther down
    student = float(stats.t.ppf(0.975, draws - 1)) * statistics.stdev(means) / math.sqrt(draws)
    found = wordings_interval("diversity", statistics.mean(means), means)
    assert found.low == pytest.approx(statistics.mean(means) - max(1.1, 1.57 - 0.04 * draws) * student)


def test_near_a_limit_the_interval_reaches_farther_away_from_it_and_never_beyond_it() -> None:
    found = wordings_interval("specificity", 0.02, [0.005, 0.015, 0.04])
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low < 0.02 < found.high
    assert found.high - 0.02 > 0.02 - found.low
    of_count = wordings_interval("diversity", 20.0, [10.0, 20.0, 30.0])
    assert of_count.low is not None
    assert of_count.low >= 0


def test_the_report_has_both_sorts_of_intervals_or_says_why_not(one: RunFolder, three: RunFolder) -> None:
    pages = [write_report(run).read_text(encoding="utf-8") for run in (one, three)]
    for page, several in zip(pages, (False, True), strict=True):
        assert ("that needs three wordings" in page) != several
        assert ("each wording is one draw" in page) == several
    with open_store(three, store_layout()) as store:
        found = store.sql(
            "SELECT wide_low, wide_high FROM numbers WHERE metric = 'diversity' AND level = 'model'"
        ).fetchall()
    [(low, high)] = found
    shown = f"other wordings: {low:.1f} to {high:.1f}"
    assert shown in pages[1]
    assert "other wordings: " not in pages[0]
    glance = [page[: page.index("</header>")] for page in pages]
    assert shown in glance[1]
    assert [texts().second_intervals["all"] in one for one in glance] == [False, True]


def test_the_length_of_texts_stands_beside_diversity(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path)
    long, short, thai = builder.ask(), builder.ask(wording="scene"), builder.ask("th")
    for prompt, text in ((long, "one two - 3\nfour"), (long, "one, two"), (short, "one"), (thai, "ข้าวผัด")):
        builder.answer(prompt, ["ramen"], text=text)
    builder.answer(long, [], text="not read " * 9, extraction="failed")
    builder.link("ramen", "Q1")
    run = builder.write()
    with open_store(run, store_layout()) as store:
        means = store.sql("SELECT language, characters, cells, missing FROM lengths ORDER BY ALL").fetchall()
    assert means == [("en", 7.5, 2, 0), ("th", 7.0, 1, 0)]
