"""Each figure that the page of evidence prints is in the file that its row names."""

from __future__ import annotations

import re

import pytest

from tests.test_house import ROOT

PAGE = ROOT / "docs" / "evidence.md"
FIGURE = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


def rows(text: str) -> list[tuple[str, str]]:
    """What the middle cells of a table's rows say, and the CSV file in the last."""
    return re.findall(r"^\| [^|]+ \| (.+) \| `(\w+\.csv)` \|$", text, flags=re.MULTILINE)


def missing(said: str, file: str) -> list[str]:
    measured = re.findall(r"\d+(?:\.\d+)?", (ROOT / "bench" / "results" / file).read_text(encoding="utf-8"))
    return [figure for figure in FIGURE.findall(said) if figure.replace(",", "") not in measured]


@pytest.mark.parametrize(("said", "file"), rows(PAGE.read_text(encoding="utf-8")))
def test_a_figure_is_in_its_file(said: str, file: str) -> None:
    assert not missing(said, file)


def test_a_figure_that_nobody_measured_is_noticed() -> None:
    assert len(rows(PAGE.read_text(encoding="utf-8"))) > 15
    assert missing("99.123", "intervals.csv") == ["99.123"]
