"""The report's tables as CSV, Parquet and LaTeX."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.store.run_folder import RunFolder
from polyculture.instruments.cbs.section import SECTIONS
from polyculture.reports.names import Names
from polyculture.reports.sections import OWN_SECTIONS
from polyculture.reports.tables import Export, TableFormat, _write_csv, _write_latex, write_tables
from polyculture.running.layout import report_sections, store_layout
from tests.report_run import HOSTILE, MODELS, Synthetic, hostile_kitchen, kitchens

UNPRINTED = "entity_positions"
NAMES = {table.name for section in OWN_SECTIONS for table in section.tables} - {
    "texts",
    "thin",
    "extraction_losses",
    "disagreements",
}  # a run without models as extractors loses nothing, and has no English name that could disagree
NAMES |= {"bias", "swaps", "separations"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    run = kitchens(tmp_path_factory)
    write_tables(run, list(TableFormat), layout=store_layout(), sections=report_sections())
    return run


@pytest.mark.slow
def test_every_table_is_written(run: RunFolder) -> None:
    written = {(path.stem, path.suffix) for path in run.report_tables.iterdir()}
    assert {(name, ending) for name in NAMES for ending in (".csv", ".parquet", ".tex")} <= written
    assert {ending for name, ending in written if name == UNPRINTED} == {".csv", ".parquet"}


def test_csv_and_parquet_hold_the_same_numbers_with_intervals(run: RunFolder) -> None:
    with (run.report_tables / "granularity.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    table = pq.read_table(run.report_tables / "granularity.parquet").to_pylist()
    assert [(row["model"], row["language"]) for row in rows] == [(row["model"], row["language"]) for row in table]
    for row, other in zip(rows, table, strict=True):
        assert {float(row[name]) for name in ("estimate", "low", "high")} == {
            other[name] for name in ("estimate", "low", "high")
        }


def test_latex_is_well_formed_and_says_the_intervals(run: RunFolder) -> None:
    headline = (run.report_tables / "headline.tex").read_text(encoding="utf-8")
    assert re.search(r"smollm2 & all & \d\.\d\d \[\d\.\d\d, \d\.\d\d\] &", headline)
    assert "Culture specificity" in headline
    for path in run.report_tables.glob("*.tex"):
        text = path.read_text(encoding="utf-8")
        check_latex(text)
        assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption", r"\label{tab:"))


def test_latex_gives_every_instrument_its_interval(run: RunFolder) -> None:
    number, difference = r"\d\.\d\d", r"(?:\+|\$-\$|)\d\.\d\d"
    interval, of_difference = rf"{number} \[{number}, {number}\]", rf"{difference} \[{difference}, {difference}\]"
    for name, line in {
        "swaps": rf"neutral & false negative rate & {interval} & 0\.50 & {of_difference} & 0\.040 & 5 ",
        "bias": rf"smollm2 .*{interval} ",
        "leaderboard": rf"1\u20132 & .*{interval}",
        "specificity": rf"& {of_difference} & [\d,]+ ",
    }.items():
        text = (run.report_tables / f"{name}.tex").read_text(encoding="utf-8")
        assert re.search(line, text), name
        assert "\u2212" not in text  # LaTeX has no such letter: it would drop the sign


def test_hostile_tables_are_text_that_latex_can_set(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = hostile_kitchen(tmp_path_factory)
    written = write_tables(run, [TableFormat.LATEX], layout=store_layout(), sections=report_sections())
    assert NAMES - {"failures"} | {"thin"} <= {path.stem for path in written}, "nothing failed in this run"
    for path in written:
        text = path.read_text(encoding="utf-8")
        check_latex(text)
        assert not set("\u2028\u202e") & set(text)
        assert "long" * 20 not in text
    assert HOSTILE[:8] in (run.report_tables / "swaps.tex").read_text(encoding="utf-8")


def check_latex(text: str) -> None:
    """Environments close in order, braces balance, every line of a table has as many cells as the first."""
    plain = re.sub(r"\\[&%$#_{}]|\\textbackslash|\$[-<]\$", "", text)
    assert plain.count("{") == plain.count("}")
    assert not re.search(r"[#$%]", re.sub(r"\\,\\%", "", plain))
    open_: list[str] = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if what == "begin":
            open_.append(name)
        else:
            assert open_.pop() == name
    assert not open_
    lines = [line for line in plain.splitlines() if " & " in line]
    assert len({line.count(" & ") for line in lines}) == 1


def test_hostile_cells_are_text(tmp_path: Path) -> None:
    hostile = ["=1+1", "@x", r"\input{/etc/passwd}", "50 % of $x_1 & #2 ~ ^ {", "<script>"]
    frame = pd.DataFrame({"culture": hostile, "model": [MODELS[0]] * 5})
    names = Names(read_catalog(), MODELS)
    (bias,) = (table for section in SECTIONS for table in section.tables if table.name == "bias")
    export = Export(bias, frame, {})
    _write_csv(export, tmp_path / "a.csv", names)
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        cells = [row["culture"] for row in csv.DictReader(file)]
    assert cells == ["'=1+1", "'@x", *hostile[2:]]
    _write_latex(export, tmp_path / "a.tex", names)
    text = (tmp_path / "a.tex").read_text(encoding="utf-8")
    check_latex(text)
    assert r"\input" not in text


def test_a_run_without_responses_has_the_table_of_what_was_asked(tmp_path: Path) -> None:
    run = Synthetic(n=2, languages=("en",), countries=("US",), topics=("food",), respond=False).write(tmp_path)
    written = write_tables(run, list(TableFormat), layout=store_layout(), sections=report_sections())
    assert [path.name for path in written if path.stem == "health"] == ["health.csv", "health.parquet", "health.tex"]
