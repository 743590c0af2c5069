"""Tables in a terminal say what their numbers are over."""

from __future__ import annotations

import duckdb
import pytest

from polyculture.cli.declared import print_declared
from polyculture.reports.sections import HEADLINE

ROWS = """
SELECT * FROM (VALUES
    ('m', NULL, 'diversity', 3.5, 3.0, 4.0, NULL, NULL, NULL, NULL, {shared}),
    ('m', 'en', 'diversity', 2.5, NULL, NULL, 'few responses', NULL, NULL, NULL, {shared})
) AS t (model, language, metric, estimate, low, high, no_interval, no_estimate, wide_low, wide_high, shared)
"""


@pytest.mark.parametrize("shared", [True, False])
def test_a_mean_over_some_of_a_models_cells_is_marked(shared: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with duckdb.connect() as connection:
        print_declared(HEADLINE.declared, connection.sql(ROWS.format(shared=shared)))
    shown = capsys.readouterr().out
    assert ("3.5†" in shown) == shared
    assert ("2.5† (few" in shown) == shared
    assert ("† over the cells" in shown) == shared
    assert "[3.0, 4.0]" in shown
