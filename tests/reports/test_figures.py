"""Boxes by country, the map of trust, and figures as files."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.manifest import Manifest, read_manifest
from polyculture.cache.run_folder import RunFolder
from polyculture.reports.figure_files import FigureFormat, write_figures
from polyculture.reports.figures.boxes import Boxes
from polyculture.reports.figures.by_country import country_boxes
from polyculture.reports.figures.heat import Heat
from polyculture.reports.figures.print_style import page_colours
from polyculture.reports.figures.trust import trust
from polyculture.reports.names import Names
from polyculture.reports.sections import OWN_SECTIONS
from tests.report_run import MODELS, kitchens

MODEL = MODELS[0]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return kitchens(tmp_path_factory)


@pytest.fixture(scope="module")
def manifest(run: RunFolder) -> Manifest:
    found = read_manifest(run.manifest)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def names() -> Names:
    return Names(read_catalog(), tuple(MODELS))


def rows(values: dict[tuple[str, str], float], incidences: int = 50) -> pd.DataFrame:
    """A row per (country, language) of one model."""
    return pd.DataFrame(
        [
            {"model": MODEL, "country": country, "language": language, "estimate": value, "low": value - 0.1,
             "high": value + 0.1, "no_interval": None, "incidences": incidences}
            for (country, language), value in values.items()
        ]
    )  # fmt: skip


def boxes_of(frame: pd.DataFrame, manifest: Manifest, names: Names, metric: str = "granularity") -> Boxes:
    (panels,) = country_boxes(metric, frame, manifest, names).rows
    chart = panels[0].chart
    assert isinstance(chart, Boxes)
    return chart


def test_a_box_is_a_country_and_its_native_language_is_marked(manifest: Manifest, names: Names) -> None:
    languages = ("ar", "en", "hi", "ja", "th")
    japan = {("JP", language): place / 10 for place, language in enumerate(languages)}
    india = {("IN", language): 0.5 for language in languages}
    chart = boxes_of(rows({**india, **japan}), manifest, names)
    assert [box.label for box in chart.boxes] == ["Japan", "India"]  # in the order of regions, a line between two
    assert [box.begins for box in chart.boxes] == [False, True]
    box = chart.boxes[0]
    assert list(box.values) == [0.0, 0.1, 0.2, 0.3, 0.4]
    assert [one.value for one in box.marked] == [0.3]  # Japanese
    assert len(chart.boxes[1].marked) == 1
    assert "Japan, 5 languages: from 0.00 (Arabic) to 0.40 (Thai), median 0.20" in box.address
    drawn = ElementTree.fromstring(str(chart.draw()))
    labels = [link.attrib["aria-label"] for link in drawn.iter() if link.tag.endswith("a")]
    assert sum(label.startswith("Japan, 5 languages") for label in labels) == 1
    assert "Japan, Japanese, native: 0.30, 0.20 to 0.40" in labels


def test_fewer_than_five_languages_are_no_box_and_few_items_make_it_pale(manifest: Manifest, names: Names) -> None:
    few = boxes_of(rows({("JP", "ja"): 0.5, ("JP", "en"): 0.7}), manifest, names)
    assert not re.search("Japan, 2 languages", str(few.draw()))  # single marks, no quartiles of two numbers
    japan = rows({("JP", language): 0.5 for language in ("ar", "en", "hi", "ja", "th")}, incidences=3)
    pale = boxes_of(japan, manifest, names)
    assert pale.boxes[0].thin
    assert pale.boxes[0].marked[0].thin
    assert "n = 3" in pale.boxes[0].marked[0].address
    assert not boxes_of(japan, manifest, names, "diversity").boxes[0].thin  # a count of few is no share of few


def test_squares_are_as_large_as_the_evidence_and_hatched_where_they_may_be_the_neutral_share(
    manifest: Manifest, names: Names
) -> None:
    explicit = rows({("JP", "ja"): 0.6, ("JP", "en"): 0.3, ("IN", "hi"): 0.5}).assign(
        condition="explicit", incidences=[100, 25, 100]
    )
    explicit.loc[2, ["low", "high"]] = None
    neutral = rows({("JP", "ja"): 0.2, ("JP", "en"): 0.25, ("IN", "hi"): 0.1}).assign(condition="neutral")
    figure = trust(pd.concat([explicit, neutral]).assign(metric="specificity"), manifest, names)
    heat = figure.rows[0][0].chart
    assert isinstance(heat, Heat)
    assert heat.hatched == {("JP", "en"), ("IN", "hi")}  # covered by the interval, and without one
    assert [heat.size("JP", "ja"), heat.size("JP", "en")] == [10, 5]  # a quarter of the area
    assert heat.details["JP", "ja"] == "0.50 to 0.70; neutral 0.20; n = 100"
    assert "1 of 3 squares have no interval" in figure.caption
    assert figure.rows[0][0].says.startswith("1 of 3 squares")


def test_figures_are_files_of_a_columns_width_in_the_pages_colours(run: RunFolder, tmp_path: Path) -> None:
    some = [section for section in OWN_SECTIONS if section.name in ("granularity", "specificity")]
    written = write_figures(run, tmp_path, FigureFormat, 3.3, sections=some)
    by_ending = {ending: [path for path in written if path.suffix == f".{ending}"] for ending in FigureFormat}
    assert len(by_ending["svg"]) == len(by_ending["pdf"]) == len(by_ending["png"]) > 10
    for path in by_ending["svg"]:
        root = ElementTree.parse(path).getroot()
        assert float(root.attrib["width"].removesuffix("pt")) <= 3.3 * 72 + 1, path
        text = path.read_text(encoding="utf-8")
        assert "var(--" not in text
        assert "mark:" not in text  # leads nowhere from here
        assert not re.search("#0[1-9a-c]0[0-9]0[0-9]", text)  # every ink became a colour
    first = (tmp_path / "granularity-01.svg").read_text(encoding="utf-8")
    assert page_colours()["series-1"] in first
    assert "日本語" in first
    assert all(path.read_bytes().startswith(b"%PDF") for path in by_ending["pdf"])
    wide = [struct.unpack(">I", path.read_bytes()[16:20])[0] for path in by_ending["png"]]
    assert max(wide) <= 3.3 * 600 + 1
    lines = (tmp_path / "captions.tsv").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[0] for line in lines[1:]] == [path.stem for path in by_ending["svg"]]
