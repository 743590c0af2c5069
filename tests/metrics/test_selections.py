"""Selections: the same views without responses in another language, and with ambiguous links."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.layout import SELECTIONS
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.metrics import KEPT, METRICS
from polyculture.metrics.measure import measure
from polyculture.running.layout import store_layout
from tests.polyculture.test_command_line import polyculture
from tests.store_builder import StoreBuilder


def build(folder: Path) -> RunFolder:
    """Of four English answers one is in Japanese and one in other letters; the German one is English."""
    built = StoreBuilder(folder / "runs" / "pilot", models=("openai:one",), n=4)
    prompt, german = built.ask("en", country="JP"), built.ask("de", country="JP")
    built.answer(prompt, ["sushi", "tango"])
    built.answer(prompt, ["ramen"], detected_language="ja")
    built.answer(prompt, ["ramen", "soba"], script_share=0.1)
    built.answer(prompt, ["sushi"], detected_language=None)
    built.answer(german, ["sushi"], detected_language="en")
    for surface, qid in (("sushi", "Q1"), ("ramen", "Q2"), ("soba", "Q4")):
        built.link(surface, qid)
    built.link("tango", "Q3", "ambiguous")
    built.entity("Q1", "sushi", JP="P495")
    return built.write()


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return build(tmp_path)


def ask(run: RunFolder, *queries: str, keep: Sequence[str] = (), selection: str = "main") -> list[list[Any]]:
    with open_store(run, METRICS, keep, selection, SELECTIONS) as store:
        return [store.sql(query).fetchall() for query in queries]


def test_numbers_without_wrong_languages_and_with_ambiguous_links(run: RunFolder) -> None:
    query = """
        SELECT d.diversity, d.responses, s.specificity, h.answered, h.wrong_language, h.off_language, h.mentions
        FROM {0}.diversity AS d
        INNER JOIN {0}.specificity AS s USING (language)
        INNER JOIN {0}.health AS h USING (language)
        WHERE language = 'en'
    """
    assert ask(run, *(query.format(selection) for selection in ("main", *SELECTIONS))) == [
        [(3, 4, 0.4, 4, 1, 2, 6)],
        [(1, 2, 1.0, 2, 0, 0, 3)],
        [(4, 4, 2 / 6, 4, 1, 2, 6)],
        [(2, 2, 2 / 3, 2, 0, 0, 3)],
    ]


def test_a_cell_without_a_right_answer_has_no_number(run: RunFolder) -> None:
    query = "SELECT diversity, responses FROM {}.diversity WHERE language = 'de'"
    consensus = "SELECT consensus FROM right_language.consensus"
    found = ask(run, query.format("main"), query.format("right_language"), consensus)
    assert found == [[(1, 1)], [(None, 0)], [(None,)]]


def test_each_selection_has_intervals_of_its_own(run: RunFolder) -> None:
    counts = [
        f"SELECT count(estimate) FROM {selection}.numbers "
        "WHERE level = 'cell' AND metric = 'granularity' AND language = 'en'"
        for selection in ("main", *SELECTIONS)
    ]
    assert ask(run, *counts) == [[(0,)]] * 4
    assert measure(run, selection="right_language").reused == 0
    assert ask(run, *counts) == [[(int(selection == "right_language"),)] for selection in ("main", *SELECTIONS)]
    for selection in ("main", *SELECTIONS):
        assert bool(measure(run, selection=selection).reused) == (selection == "right_language")
    everywhere = "SELECT (SELECT count(estimate) FROM numbers) > (SELECT count(estimate) FROM right_language.numbers)"
    assert ask(run, *counts, everywhere) == [[(1,)]] * 4 + [[(True,)]]


def test_what_is_kept_is_of_the_selection(run: RunFolder) -> None:
    query = "SELECT language, diversity FROM diversity ORDER BY ALL"
    plain = ask(run, *(query.replace("FROM ", f"FROM {selection}.") for selection in ("main", *SELECTIONS)))
    for selection, expected in zip(("main", *SELECTIONS), plain, strict=True):
        assert ask(run, query, keep=KEPT, selection=selection) == [expected]


@pytest.mark.parametrize("selection", ["main", *SELECTIONS])
def test_every_view_answers_in_every_selection(run: RunFolder, selection: str) -> None:
    with open_store(run, store_layout(), KEPT, selection, SELECTIONS) as store:
        query = "SELECT view_name FROM duckdb_views() WHERE NOT internal AND schema_name = $schema"
        names = store.execute(query, {"schema": selection}).fetchall()
        assert len(names) > len(KEPT)
        for (name,) in names:
            store.sql(f"SELECT * FROM {selection}.{name}").fetchall()


def test_from_the_command_line(tmp_path: Path) -> None:
    build(tmp_path)
    file = tmp_path / "exp.toml"
    file.write_text(
        'name = "pilot"\nmodels = ["openai:one"]\nlanguages = ["de", "en"]\ntopics = ["food"]\ncountries = ["JP"]\n',
        encoding="utf-8",
    )
    measured = polyculture("table", "headline", file, "--selection", "right_language", cwd=tmp_path)
    assert measured.returncode == 0, measured.stderr
    assert "1.00" in measured.stdout
    query = (
        "SELECT a.diversity, b.diversity FROM diversity AS a INNER JOIN right_language.diversity AS b USING (language)"
    )
    asked = polyculture("sql", file, f"{query} WHERE language = 'en'", "--format", "csv", cwd=tmp_path)
    assert asked.stdout.split() == ["diversity,diversity", "3,1"]
    compared = polyculture("compare", file, "en", "de", "--selection", "right_language", "-f", "csv", cwd=tmp_path)
    assert compared.returncode == 0, compared.stderr
    lines = csv.DictReader(compared.stdout.splitlines())
    assert next(line for line in lines if line["metric"] == "diversity")["missing_b"] == "1"  # German has no number
