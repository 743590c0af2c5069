"""The papers' tables are here cell by cell, in a form that is read strictly."""

from __future__ import annotations

import csv
import re
import tomllib
from collections import Counter
from dataclasses import fields
from pathlib import Path

import pytest

from polyculture.published.cells import FOLDER, MODELS, NONE, PAPERS, UNITS, PublishedCell, published

COLUMNS = {one.name for one in fields(PublishedCell)} - {"paper", "model_id"}
SHAPES = tomllib.loads(Path(__file__).with_name("shapes.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("paper", PAPERS)
def test_every_printed_cell_is_transcribed_once(paper: str) -> None:
    """A lost cell, row or column, and a head that is spelt in two ways, change the shape of their table."""
    cells = published(paper)
    assert len({(one.table, one.row, one.column) for one in cells}) == len(cells)
    rows: dict[tuple[str, str], list[str]] = {}
    for one in cells:
        rows.setdefault((one.table, one.row), []).append(one.column)
    found: dict[str, Counter[frozenset[str]]] = {}
    for (table, _), columns in rows.items():
        found.setdefault(table, Counter())[frozenset(columns)] += 1
    shapes = {table: sorted([many, len(columns)] for columns, many in some.items()) for table, some in found.items()}
    of_tables = {name: one for name, one in shapes.items() if name != "text" and not name.startswith("figure")}
    assert of_tables == {table: sorted(blocks) for table, blocks in SHAPES[paper].items()}


@pytest.mark.parametrize("paper", PAPERS)
def test_cells_are_written_as_they_are_read(paper: str) -> None:
    with (FOLDER / f"{paper}.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        assert {*(rows.fieldnames or ())} == COLUMNS
        for row, cell in zip(rows, published(paper), strict=True):
            assert all(row.values()), row  # nothing is empty: '-' is none
            assert re.fullmatch(r"[0-9A-G](\.\d+)*", row["section"]), row
            assert (row["spread"] == NONE) == (row["spread_kind"] == NONE), row
            assert row["spread_kind"] in (NONE, "sd", "variance")
            assert cell.unit in UNITS, row


def test_a_model_is_one_repository_and_each_listed_one_has_numbers() -> None:
    with (FOLDER / f"{MODELS}.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    listed = {(row["paper"], row["model"]): row["model_id"] for row in rows}
    assert len(listed) == len(rows)
    named = {(cell.paper, cell.model): cell.model_id for paper in PAPERS for cell in published(paper)}
    assert listed == {place: model_id for place, model_id in named.items() if model_id != NONE}
