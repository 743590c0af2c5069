"""Boxes by country, the map of trust, and figures as files."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager

from polyculture.cache.catalog import read_catalog
from polyculture.cache.manifest import Manifest, read_manifest
from polyculture.cache.run_folder import RunFolder
from polyculture.reports.figure_files import FigureFormat, write_figures
from polyculture.reports.figures import style
from polyculture.reports.figures.by_country import country_boxes
from polyculture.reports.figures.by_model import by_topic, saturation_curves
from polyculture.reports.figures.chart import Chart, Mark
from polyculture.reports.figures.figure import Figure, key_of
from polyculture.reports.figures.heat import Heat, plain_heads
from polyculture.reports.figures.kinds import dots, lines, scatter
from polyculture.reports.figures.maps import specificity_maps
from polyculture.reports.figures.origins import origin_maps
from polyculture.reports.figures.style import PAGE_COLOURS, SERIES
from polyculture.reports.leaderboard import boards
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


def drawn(figure: Figure) -> ElementTree.Element:
    """The first drawing of a figure, as the page has it."""
    return ElementTree.fromstring(str(figure.rows[0][0].chart.draw()))


def links(svg: ElementTree.Element) -> dict[str, dict[str, str]]:
    """The marks of a drawing by what they say."""
    return {link.attrib["aria-label"]: link.attrib for link in svg.iter("a")}


def texts_of(svg: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in svg.iter("text")]


def cells_of(heat: object) -> list[dict[str, str]]:
    """The cells of a map in the page: their attributes and their text."""
    assert isinstance(heat, Heat)
    body = ElementTree.fromstring(f"<div>{heat.draw()}</div>").find("table/tbody")
    return [{**cell.attrib, "text": "".join(cell.itertext())} for cell in body.iter("td")]


def test_country_box_marks_its_native_language(manifest: Manifest, names: Names) -> None:
    languages = ("ar", "en", "hi", "ja", "th")
    japan = {("JP", language): place / 10 for place, language in enumerate(languages)}
    india = {("IN", language): 0.5 for language in languages}
    svg = drawn(country_boxes(rows({**india, **japan}), manifest, names))
    assert texts_of(svg)[-2:] == ["Japan", "India"]  # in the order of regions
    marks = links(svg)
    assert marks["Japan, 5 languages: from 0.0 (Arabic) to 0.4 (Thai), median 0.2"]["data-country"] == "JP"
    native = marks["Japan, Japanese, native: 0.3, 0.2 to 0.4"]
    assert (native["data-language"], native["href"]) == ("ja", "#evidence")
    assert len(marks) == 4  # a box and a native language for each of the two
    assert svg.attrib["data-condition"] == "explicit"


def test_few_languages_have_no_box_and_a_count_of_few_items_is_not_grey(manifest: Manifest, names: Names) -> None:
    few = country_boxes(rows({("JP", "ja"): 0.5, ("JP", "en"): 0.7}), manifest, names)
    assert not [label for label in links(drawn(few)) if "2 languages" in label]  # no quartiles of two numbers
    assert "a language, where there are fewer than five" in [key.label for key in few.keys]
    thin = rows({("JP", language): 0.5 for language in ("ar", "en", "hi", "ja", "th")}, incidences=3)
    assert not [label for label in links(drawn(country_boxes(thin, manifest, names))) if "n = 3" in label]


def test_origins_that_are_no_country_have_no_colour(manifest: Manifest, names: Names) -> None:
    shares = [("JP", "country", "JP", 0.2), ("JP", "country", "US", 0.1), ("JP", "none", None, 0.7)]
    frame = pd.DataFrame(
        [
            {"model": MODEL, "country": asked, "origin_kind": kind, "origin": origin, "estimate": share, "place": 1,
             "origin_place": 1 if origin else None}
            for asked, kind, origin, share in shares
        ]
    )  # fmt: skip
    [panel] = origin_maps(frame, manifest, names).rows[0]
    shades = {cell["text"]: cell["class"].split()[0] for cell in cells_of(panel.chart) if cell["text"]}
    assert shades == {".20": "h10", ".10": "h5", ".70": "plain"}


def test_consensus_by_topic_has_a_mark_per_model_and_topic_and_one_of_all_topics(
    manifest: Manifest, names: Names
) -> None:
    found = [
        {"model": model, "topic": topic, "estimate": value, "low": value / 2, "high": None if topic else 1.0,
         "no_interval": None, "responses": 40, "incidences": 200}
        for model, value in zip(MODELS[:2], (0.4, 0.8), strict=True)
        for topic in (None, "food")
    ]  # fmt: skip
    svg = drawn(by_topic(pd.DataFrame(found), manifest, names))
    assert [text for text in texts_of(svg) if text in ("All topics", "Food")] == ["All topics", "Food"]
    marks = [link.attrib for link in svg.iter("a")]
    assert sorted(mark.get("data-topic", "") for mark in marks) == ["", "", "food", "food"]
    assert f"{names.model(MODELS[0])}: 0.40, 0.20 to 1.00" in links(svg)


def test_panels_of_saturation_share_one_scale(manifest: Manifest, names: Names) -> None:
    found = pd.DataFrame(
        [
            {"model": MODEL, "topic": topic, "responses": responses, "entities": most * responses, "low": None,
             "high": most * responses + 1, "coverage": 0.5, "cells": 2}
            for topic, most in (("food", 3.0), ("beverages", 1.0))
            for responses in (1, 10)
        ]
    )  # fmt: skip
    panels = saturation_curves(found, manifest, names).rows[0]
    ticks = [re.findall(r">(\d+)</text>", str(panel.chart.draw())) for panel in panels]
    assert len(ticks) == 2
    assert ticks[0] == ticks[1]
    assert "30" in ticks[0]


def test_a_leaderboard_is_drawn_and_its_marks_lead_to_lines_of_its_table(names: Names) -> None:
    place: dict[str, object] = {
        "task": "t", "metric": "m", "dataset": "d", "setting": "s", "variant": "v", "goal": "zero", "language": "ja",
        "culture": None, "same_items": True, "doubt": None, "native_entities": 1, "western_entities": 1, "failed": 3,
    }  # fmt: skip
    there = {**place, "estimate": -0.2, "low": -0.3, "high": 0.1, "rank_low": 1, "rank_high": 1, "contexts": 9}
    failed = {**place, "estimate": None, "low": None, "high": None, "contexts": None, "reason": "refused"}
    rows = [{"model": MODELS[0], "reason": None, **there}, {"model": MODELS[1], **failed}]
    (board,) = boards(rows, {}, names)
    assert board.figure is not None
    svg = drawn(board.figure)
    assert {"−0.3", "0.0", "0.3"} <= set(texts_of(svg))  # the scale lies around zero
    (link,) = [link.attrib for link in svg.iter("a")]
    assert link["href"] == f"#{board.groups[0].lines[0].anchor}"
    assert link["aria-label"] == f"{names.model(MODELS[0])}, Japanese, all cultures: −0.20, −0.30 to +0.10; 9 contexts"
    assert boards([rows[1]], {}, names)[0].figure is None


def test_figures_are_files_of_a_columns_width_in_the_pages_colours(run: RunFolder, tmp_path: Path) -> None:
    some = [section for section in OWN_SECTIONS if section.name == "granularity"]
    written = write_figures(run, tmp_path, FigureFormat, 3.3, sections=some)
    by_ending = {ending: [path for path in written if path.suffix == f".{ending}"] for ending in FigureFormat}
    assert len(by_ending["svg"]) == len(by_ending["pdf"]) == len(by_ending["png"]) > 2
    for path in by_ending["svg"]:
        root = ElementTree.parse(path).getroot()
        assert float(root.attrib["width"].removesuffix("pt")) <= 3.3 * 72 + 1, path
        text = path.read_text(encoding="utf-8")
        assert "var(--" not in text
        assert "<a " not in text  # leads nowhere from here
    first = (tmp_path / "granularity-01.svg").read_text(encoding="utf-8")
    assert SERIES[0] in first
    assert "日本語" in first
    assert all(path.read_bytes().startswith(b"%PDF") for path in by_ending["pdf"])
    wide = [struct.unpack(">I", path.read_bytes()[16:20])[0] for path in by_ending["png"]]
    assert max(wide) <= 3.3 * 600 + 1
    lines = (tmp_path / "captions.tsv").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[0] for line in lines[1:]] == [path.stem for path in by_ending["svg"]]


def numbers() -> pd.DataFrame:
    """Two series in two rows: a thin number, one without an interval, a missing one, and hostile names."""
    found = (
        ("a", "one", 0.25, 0.1, 0.4, "", Mark("<b>first", {"model": '"&'})),
        ("a", "two", 0.5, None, None, "", Mark("second", to="part")),
        ("b", "one", 0.75, 0.7, 0.8, "n = 6", Mark("third")),
        ("b", "two", None, None, None, "", Mark("missing")),
    )
    frame = pd.DataFrame(found, columns=["row", "series", "value", "low", "high", "thin", "mark"])
    return frame.astype({"value": float, "low": float, "high": float})


def dot_chart(frame: pd.DataFrame) -> Chart:
    rows = {"a": "<script>日本語 $x$", "b": f"begin {'long' * 20} end"}
    return dots(frame, alternative='<what> it "shows"', rows=rows, series=["one", "two"], label="share", limits=(0, 1))


def test_long_labels_leave_the_room_to_the_numbers() -> None:
    """Beside their rows they took nearly all of a phone's width."""
    svg, longer, short = (
        ElementTree.fromstring(
            str(dots(numbers(), alternative="x", rows=rows, series=["one"], label="", limits=(0, 1)).draw())
        )
        for rows in ({"a": "A" * 25, "b": "B"}, {"a": "A" * 36, "b": "B"}, {"a": "A", "b": "B"})
    )
    assert svg.attrib["width"] == longer.attrib["width"]
    assert float(svg.attrib["width"]) <= float(short.attrib["width"])
    assert float(svg.attrib["height"]) > float(short.attrib["height"])
    assert {"A" * 25, "B"} <= set(texts_of(svg))
    assert svg.attrib["class"] == "wide", "which a narrow screen shows smaller"


def test_chart_in_the_page() -> None:
    """Colours are the page's, texts are texts, marks are links, and nothing can leave its attribute."""
    html = str(dot_chart(numbers()).draw())
    svg = ElementTree.fromstring(html)
    assert svg.attrib["aria-label"] == '<what> it "shows"'
    assert svg.attrib["role"] == "group"
    marks = links(svg)
    assert list(marks) == ["<b>first", "second", "third"]
    assert marks["<b>first"]["data-model"] == '"&'
    assert [mark["href"] for mark in marks.values()] == ["#evidence", "#part", "#evidence"]
    assert [mark.get("tabindex") for mark in marks.values()] == [None, "-1", "-1"]  # one stop of the Tab key
    assert {"<script>日本語 $x$", "n = 6", "share"} <= set(texts_of(svg))
    assert any(text.startswith("begin") and "…" in text and text.endswith("end") for text in texts_of(svg))
    assert "<script" not in html
    assert "font-family" not in html
    assert "var(--series-1)" in html
    assert not [colour for colour in PAGE_COLOURS if colour in html]
    plain = dot_chart(numbers().drop(columns="mark"))
    assert ElementTree.fromstring(str(plain.draw())).attrib["role"] == "img"


def test_points_are_where_their_numbers_are() -> None:
    """The centres of the marks in the page, on the scale from 0 to 1 that is drawn."""
    svg = ElementTree.fromstring(str(dot_chart(numbers()).draw()))
    scale = {text.text: float(text.attrib["x"]) for text in svg.iter("text") if "x" in text.attrib}
    left, right = scale["0.0"], scale["1.0"]
    for mark, value in zip(svg.iter("a"), (0.25, 0.5, 0.75), strict=True):
        (shape,) = [part for part in mark if part.tag in ("path", "use")]
        across = [float(x) for x in re.findall(r"([\d.]+) [\d.]+", shape.attrib.get("d", ""))]
        centre = (min(across) + max(across)) / 2 if across else float(shape.attrib["x"])
        assert (centre - left) / (right - left) == pytest.approx(value, abs=0.005)


@pytest.mark.parametrize("width", [108.0, 238.0, 497.0])
def test_a_picture_is_as_wide_as_its_column(width: float) -> None:
    frame = numbers().rename(columns={"row": "name", "value": "x"}).assign(y=[1.0, 2.0, 3.0, None])
    more = {"alternative": "it", "series": ["one", "two"], "labels": ("across", "up")}
    heat = Heat("it", pd.DataFrame({"row": ["r"] * 30, "column": [str(n) for n in range(30)], "value": [0.5] * 30}),
                plain_heads(["r"]), plain_heads([str(n) for n in range(30)]), (0, 1))  # fmt: skip
    charts = (
        dot_chart(numbers()),
        scatter(frame.dropna(subset=["x"]), limits=((0, 1), (0, 4)), **more),
        lines(frame.dropna(subset=["x"]), ticks={0.5: "half"}, **more),
        heat,
    )
    for chart in charts:
        assert chart.picture(width).get_size_inches()[0] * 72 <= max(width, 150) + 0.1


def test_a_letter_is_drawn_with_any_installed_font_that_has_it_or_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "installed_fonts", lambda: ("DejaVu Sans Mono",))
    fonts, missing = style.fonts_for(frozenset("ab \u2b1f\U0010fffd"))
    assert fonts[0] == "DejaVu Sans Mono"
    assert len(fonts) > 1  # the pentagon: DejaVu Sans, which comes with matplotlib, has it
    assert not any("Last Resort" in font for font in fonts)
    assert missing == ""
    ours = [font for font in style.font_manager.fontManager.ttflist if font.name == "DejaVu Sans Mono"]
    monkeypatch.setattr(style.font_manager.fontManager, "ttflist", ours)
    assert style.fonts_for(frozenset("a\u5bff")) == (("DejaVu Sans Mono",), "\u5bff")


def test_a_font_that_was_installed_after_matplotlibs_first_use_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its list of fonts is that of its first use: Japanese labels were boxes on a machine that has Noto CJK."""
    builder = FontBuilder(1000)
    builder.setupGlyphOrder([".notdef", "longevity"])
    builder.setupCharacterMap({0x5BFF: "longevity"})
    builder.setupGlyf({name: TTGlyphPen(None).glyph() for name in (".notdef", "longevity")})
    builder.setupHorizontalMetrics(dict.fromkeys((".notdef", "longevity"), (1000, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Installed Later", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(tmp_path / "later.ttf")
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    shipped = [font for font in font_manager.fontManager.ttflist if "matplotlib" in font.fname]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", shipped)
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [str(path) for path in tmp_path.iterdir()])
    style.installed_fonts.cache_clear()
    try:
        fonts, missing = style.fonts_for(frozenset("a\u5bff"))
    finally:
        style.installed_fonts.cache_clear()
    assert (fonts, missing) == (("DejaVu Sans", "Installed Later"), "")


def test_texts_whose_file_says_no_kind_of_prompt_have_a_map() -> None:
    """Of an import with countries there was "no figure: no linked mentions", where 600 had linked mentions."""
    manifest = Manifest(
        experiment="x", polyculture="0", models=["imported:a"], languages=["en"], countries=["JP"],
        conditions=["unstated"],
    )  # fmt: skip
    row = {"metric": "specificity", "model": "imported:a", "language": "en", "condition": "unstated", "country": "JP"}
    frame = pd.DataFrame([row | {"estimate": 0.4, "low": 0.3, "high": 0.5, "no_interval": None, "incidences": 90}])
    figure = specificity_maps(frame, manifest, Names(read_catalog(), ("imported:a",)))
    [[panel]] = figure.rows
    assert panel.title == "a: the file does not say what kind of prompt"
    assert "Neutral prompts:" not in figure.caption


def test_no_two_series_of_a_figure_look_alike() -> None:
    keys = [key_of(f"model {number}", number) for number in range(64)]
    assert len({(key.mark, key.number) for key in keys}) == 64
