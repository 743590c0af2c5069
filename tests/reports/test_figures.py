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
from polyculture.reports.figures.charts import Curves, Dots
from polyculture.reports.figures.consensus_by_topic import consensus_by_topic
from polyculture.reports.figures.heat import Heat
from polyculture.reports.figures.naming import naming
from polyculture.reports.figures.print_style import page_colours
from polyculture.reports.figures.saturation import saturation
from polyculture.reports.figures.trust import trust
from polyculture.reports.leaderboard import boards
from polyculture.reports.names import Names
from polyculture.reports.naming import naming_shares
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


def test_naming_goes_from_a_country_in_its_own_language_to_origins_without_and_with_its_name(
    manifest: Manifest, names: Names
) -> None:
    def cell(number: int, topic: str, country: str | None, origins: dict[str, int]) -> list[dict[str, object]]:
        """20 responses that name one item each, from these origins; a cell without a country is neutral."""
        each = [origin for origin, times in origins.items() for _ in range(times)]
        place = {"model": MODEL, "language": "ja", "topic": topic, "condition": "explicit" if country else "neutral"}
        said = [{"cell": number, "prompt": number, "sample": sample, "origin": o} for sample, o in enumerate(each)]
        return [{**place, "country": country, **one, "numerator": 1, "denominator": 1} for one in said]

    found = [
        *cell(1, "food", None, {"JP": 4, "IT": 16}), *cell(2, "beverages", None, {"IT": 20}),
        *cell(3, "music", None, {"IT": 20}),  # no prompt names a country on this topic: it counts on neither side
        *cell(4, "food", "JP", {"JP": 16, "more": 4}), *cell(5, "beverages", "JP", {"JP": 20}),
        *cell(6, "food", "IN", {"IN": 20}),  # Japanese is no language of India
    ]  # fmt: skip
    shares = naming_shares(pd.DataFrame(found), names)
    assert set(shares["country"]) == {"JP"}
    values = {(row["condition"], row["origin"]): row for row in shares.to_dict("records")}
    assert {place: round(row["estimate"], 6) for place, row in values.items()} == {
        ("neutral", "IT"): 0.9, ("neutral", "JP"): 0.1, ("explicit", "JP"): 0.9, ("explicit", "more"): 0.1,
    }  # fmt: skip
    japan = values["explicit", "JP"]
    assert (japan["low"] < 0.9 < japan["high"] <= 1, japan["cells"], japan["incidences"]) == (True, 2, 40)
    unasked, asked = (panel.chart for panel in naming(shares, manifest, names).rows[0])
    assert isinstance(unasked, Heat)
    assert isinstance(asked, Heat)
    assert unasked.limits == asked.limits  # one scale
    assert list(asked.columns) == ["JP", "IT", "more"]
    assert asked.details["JP ja", "Japan"].endswith("; no country named: 0.10; n = 40")
    rows_of = [re.search("<tbody><tr([^>]*)>", str(chart.draw())) for chart in (unasked, asked)]
    places = [sorted(re.findall('data-[a-z]+="[^"]*"', found[1])) for found in rows_of if found]
    assert places == [['data-language="ja"'], ['data-country="JP"', 'data-language="ja"']]  # neutral prompts have none


def test_naming_without_responses_is_no_figure(manifest: Manifest, names: Names) -> None:
    columns = ["model", "language", "topic", "condition", "country", "cell", "prompt", "sample", "origin"]
    nothing = naming_shares(pd.DataFrame(columns=[*columns, "numerator", "denominator"]), names)
    assert naming(nothing, manifest, names).missing


def test_consensus_by_topic_has_a_mark_per_model_and_topic_and_one_of_all_topics(
    manifest: Manifest, names: Names
) -> None:
    found = [
        {"model": model, "topic": topic, "estimate": value, "low": value / 2, "high": None if topic else 1.0,
         "no_interval": None, "responses": 40, "incidences": 200}
        for model, value in zip(MODELS[:2], (0.4, 0.8), strict=True)
        for topic in (None, "food")
    ]  # fmt: skip
    chart = consensus_by_topic(pd.DataFrame(found), manifest, names).rows[0][0].chart
    assert isinstance(chart, Dots)
    assert (list(chart.labels), chart.limits) == (["All topics", "Food"], (0.0, 1.0))
    drawn = ElementTree.fromstring(str(chart.draw()))
    links = [link.attrib for link in drawn.iter() if link.tag.endswith("a")]
    assert sorted(link.get("data-topic", "") for link in links) == ["", "", "food", "food"]
    assert f"{names.model(MODELS[0])}: 0.40, 0.20 to 1.00" in {link["aria-label"] for link in links}


def test_panels_of_saturation_share_one_scale(manifest: Manifest, names: Names) -> None:
    found = pd.DataFrame(
        [
            {"model": MODEL, "topic": topic, "responses": responses, "entities": most * responses, "low": None,
             "high": most * responses + 1, "coverage": 0.5, "cells": 2}
            for topic, most in (("food", 3.0), ("beverages", 1.0))
            for responses in (1, 10)
        ]
    )  # fmt: skip
    charts = [panel.chart for panel in saturation(found, manifest, names).rows[0]]
    tops = [chart.top for chart in charts if isinstance(chart, Curves)]
    assert len(tops) == 2
    assert tops[0] == tops[1]
    assert tops[0] is not None
    assert tops[0] > 31


def test_a_leaderboard_is_drawn_and_its_marks_lead_to_lines_of_its_table(names: Names) -> None:
    place: dict[str, object] = {
        "task": "t", "metric": "m", "dataset": "d", "setting": "s", "variant": "v", "goal": "zero", "language": "ja",
        "culture": None, "same_items": True, "native_entities": 1, "western_entities": 1, "failed": 3,
    }  # fmt: skip
    there = {**place, "estimate": -0.2, "low": -0.3, "high": 0.1, "rank_low": 1, "rank_high": 1, "contexts": 9}
    failed = {**place, "estimate": None, "low": None, "high": None, "contexts": None, "reason": "refused"}
    rows = [{"model": MODELS[0], "reason": None, **there}, {"model": MODELS[1], **failed}]
    (board,) = boards(rows, {}, names)
    assert board.figure is not None
    chart = board.figure.rows[0][0].chart
    assert isinstance(chart, Dots)
    assert chart.limits == pytest.approx((-0.315, 0.315))  # around zero
    drawn = ElementTree.fromstring(str(chart.draw()))
    (link,) = [link.attrib for link in drawn.iter() if link.tag.endswith("a")]
    assert link["href"] == f"#{board.groups[0].lines[0].anchor}"
    assert link["aria-label"] == f"{names.model(MODELS[0])}, Japanese, all: −0.20, −0.30 to +0.10; 9 contexts"
    assert boards([rows[1]], {}, names)[0].figure is None


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
