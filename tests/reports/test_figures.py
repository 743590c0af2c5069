"""Charts, boxes and maps in the page, and as files."""

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
from matplotlib.figure import Figure as Canvas

from polyculture.cache.catalog import read_catalog
from polyculture.cache.store.manifest import Manifest, read_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.reports.figure_files import FigureFormat, write_figures
from polyculture.reports.figures import style
from polyculture.reports.figures.by_country import country_boxes
from polyculture.reports.figures.chart import Chart, Links, Mark
from polyculture.reports.figures.figure import key_of
from polyculture.reports.figures.heat import Heat, plain_heads
from polyculture.reports.figures.kinds import dots, lines, points, scatter
from polyculture.reports.figures.maps import country_maps, specificity_maps
from polyculture.reports.figures.origins import origin_maps
from polyculture.reports.figures.style import PAGE_COLOURS, SERIES
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


def test_a_map_of_counts_has_no_grey_cell_and_frames_native_languages(manifest: Manifest, names: Names) -> None:
    values = {("IN", "hi"): 10.5, ("IN", "en"): 0.5, ("JP", "ja"): 3.0}
    [[panel]] = country_maps("diversity", rows(values, incidences=3), manifest, names).rows
    cells = {cell["text"]: cell["class"] for cell in cells_of(panel.chart) if cell["text"]}
    assert cells == {"3.0": "h3 native", "10.5": "h10 native", ".5": "h0"}
    assert panel.chart.place == {"model": MODEL, "condition": "explicit"}


def test_a_box_of_other_languages_stands_beside_the_native_one(manifest: Manifest, names: Names) -> None:
    """Below five there are no quartiles: each is a mark, without an interval that would cover those of others."""
    languages = ("ar", "en", "es", "hi", "th")
    japan = {("JP", language): float(place) for place, language in enumerate(languages)}
    [[panel]] = country_boxes(
        rows({**japan, ("JP", "ja"): 3.0, ("IN", "hi"): 1.0, ("IN", "th"): 2.0}, 3), manifest, names
    ).rows
    svg = ElementTree.fromstring(str(panel.chart.draw()))
    assert [text for text in texts_of(svg) if text in ("Japan", "India")] == ["Japan", "India"]  # by region
    assert svg.attrib["data-condition"] == "explicit"
    marks = links(svg)
    assert set(marks) == {
        "Japan, 5 other languages: from 0.0 (Arabic) to 4.0 (Thai), median 2.0",
        "Japan, Japanese: 3.0, 2.9 to 3.1",
        "India, Hindi: 1.0, 0.9 to 1.1",
        "India, Thai: 2.0, 1.9 to 2.1",
    }
    assert marks["Japan, Japanese: 3.0, 2.9 to 3.1"]["data-language"] == "ja"
    assert "1 of 2 countries" in panel.says
    assert panel.says in panel.chart.alternative


def test_boxes_of_a_country_without_a_native_language_and_of_a_native_one_alone(
    manifest: Manifest, names: Names
) -> None:
    """What is not drawn has no line in the legend."""
    for values, drawn, keys in (
        ({("JP", language): 2.0 for language in ("ar", "en", "es", "hi", "th")}, 1, ["outline"]),
        ({("JP", "ja"): 2.0}, 1, ["●"]),
        ({("JP", "th"): 2.0}, 1, ["■"]),
    ):
        figure = country_boxes(rows(values), manifest, names)
        assert figure.rows[0][0].says == ""
        assert len(links(ElementTree.fromstring(str(figure.rows[0][0].chart.draw())))) == drawn
        assert [key.mark for key in figure.keys] == keys


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
    frame = pd.DataFrame(
        [row | {"estimate": 0.4, "low": 0.3, "high": 0.5, "no_interval": None, "no_estimate": None, "incidences": 90}]
    )
    figure = specificity_maps(frame, manifest, Names(read_catalog(), ("imported:a",)))
    [[panel]] = figure.rows
    assert panel.title == "a: kind of prompt not stated in the file"
    assert "Neutral prompts:" not in figure.caption


def test_a_single_number_is_told_and_not_taken_for_one_that_was_not_asked() -> None:
    manifest = Manifest(experiment="x", polyculture="0", models=["a:m"], languages=["en"], countries=["US"],
                        conditions=["explicit"])  # fmt: skip
    row = {"metric": "specificity", "model": "a:m", "language": "en", "condition": "explicit", "country": "US"}
    row |= {"estimate": 0.4, "low": 0.3, "high": 0.5, "no_interval": None, "no_estimate": None, "incidences": 6}
    nothing = {"estimate": None, "no_estimate": "snapshot holds no item of XK"}
    frame = pd.DataFrame([row, row | {"metric": "specificity_gain", **nothing}])
    figure = specificity_maps(frame, manifest, Names(read_catalog(), ("a:m",)))
    [[panel]] = figure.rows
    assert panel.says == "0.40, English, United States, n = 6, and no other."
    assert "Neutral prompts: not asked." in figure.caption
    assert "Gain when the prompt names the country: no neutral prompts." in figure.caption
    assert "no linked mentions, or snapshot holds no item of XK" in figure.caption


def test_no_two_series_of_a_figure_look_alike() -> None:
    keys = [key_of(f"model {number}", number) for number in range(64)]
    assert len({(key.mark, key.number) for key in keys}) == 64


def test_no_interval_runs_through_the_number_of_items() -> None:
    """It stood right of the dot, where the interval's line is."""
    axes = Canvas().subplots()
    axes.set_xlim(0, 1)
    ends = [(0.1, 0.6), (0.4, 0.98), (float("nan"), float("nan"))]
    frame = pd.DataFrame(
        [
            {"series": "m", "x": 0.5, "y": at, "low": low, "high": high, "thin": "n = 6"}
            for at, (low, high) in enumerate(ends)
        ]
    )
    points(axes, frame, ["m"], Links(followed=False), axes.hlines, "y")
    assert [(text.xy[0], text.get_ha()) for text in axes.texts] == [(0.6, "left"), (0.4, "right"), (0.5, "left")]
