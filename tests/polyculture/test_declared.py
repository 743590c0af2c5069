"""Tables in a terminal say what their numbers are over."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from polyculture.cli.declared import print_declared, print_tables
from polyculture.instruments.contract import Listing, PrintedTable, Study
from polyculture.instruments.tokens.instrument import TOKENS
from polyculture.reports.sections import HEADLINE
from polyculture.running.opening import open_workspace

EXPERIMENT = """
name = "tables"
models = ["mock:a"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
"""
ROWS = """
SELECT * FROM (VALUES
    ('m', NULL, 'diversity', 3.5, 3.0, 4.0, NULL, NULL, NULL, NULL, {shared}, 39, 1),
    ('m', 'en', 'diversity', 2.5, NULL, NULL, 'few responses', NULL, NULL, NULL, {shared}, 8, {missing})
) AS t (
    model, language, metric, estimate, low, high, no_interval, no_estimate, wide_low, wide_high, shared, cells, missing
)
"""


@pytest.mark.parametrize("shared", [True, False])
def test_a_mean_over_some_of_a_models_cells_is_marked(shared: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with duckdb.connect() as connection:
        print_declared(HEADLINE.declared, connection.sql(ROWS.format(shared=shared, missing=0)))
    shown = capsys.readouterr().out
    assert ("3.5†" in shown) == shared
    assert ("2.5† (few" in shown) == shared
    assert ("† over the cells" in shown) == shared
    assert "[3.0, 4.0]" in shown
    assert "no number in" not in shown


def test_a_table_of_what_is_missing_needs_no_column_of_cells(capsys: pytest.CaptureFixture[str]) -> None:
    with duckdb.connect() as connection:
        print_declared(
            HEADLINE.declared, connection.sql(f"SELECT * EXCLUDE (cells) FROM ({ROWS.format(shared=False, missing=4)})")
        )
    assert "2.5" in capsys.readouterr().out


def test_means_that_lack_more_than_a_twentieth_of_their_cells_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    with duckdb.connect() as connection:
        print_declared(HEADLINE.declared, connection.sql(ROWS.format(shared=False, missing=4)))
    assert "no number in up to 4 of 12 cells" in capsys.readouterr().out


def test_a_reason_that_recurs_has_a_sign_and_one_line_below_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    one = ROWS.format(shared=False, missing=0)
    more = f"""
        SELECT * FROM ({one}) UNION ALL
        SELECT * REPLACE ('de' AS language) FROM ({one}) WHERE language = 'en' UNION ALL
        SELECT * REPLACE ('ja' AS language, NULL AS estimate, NULL AS no_interval, 'no item' AS no_estimate)
        FROM ({one}) WHERE language = 'en'
    """
    with duckdb.connect() as connection:
        print_declared(HEADLINE.declared, connection.sql(more))
    shown = capsys.readouterr().out
    assert shown.count("2.5¹") == 2
    assert "– (no item)" in shown
    assert [line for line in shown.splitlines() if line.startswith("¹")] == ["¹ too few responses for an interval"]


def test_what_one_study_lists_hides_no_table_of_another_and_a_table_of_both_is_printed_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "exp.toml"
    file.write_text(EXPERIMENT, encoding="utf-8")
    table, *_ = map(PrintedTable, TOKENS.tables)
    listing = Listing(("draw", "score"), [("1", "0.5")], "Scores by draw", ["of two draws"])
    print_tables(open_workspace(file), [Study(shown=iter([listing])), Study(shown=[table]), Study(shown=[table])])
    shown = "".join(capsys.readouterr())  # that a table has no rows is no output
    assert shown.count("0.5") == shown.count("of two draws") == shown.count("vocabularies") == 1
