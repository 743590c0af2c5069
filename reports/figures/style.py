"""The look of all figures: the page's light colours, letters of 7 points, and a shape for each colour.

Lengths are points of a printed figure; the page shows the same drawing magnified (`ZOOM`).
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager

from polyculture.reports.names import LONGEST_NAME, cut

LETTER = 7.0
ZOOM = 12 / LETTER  # the page's letters are 12 pixels high
_CSS = Path(__file__).parents[1] / "report.css"
_VARIABLE = re.compile(r"--([a-z]+(?:-[0-9]+)?): (#[0-9a-f]{6});")
_LIGHT = dict(_VARIABLE.findall(_CSS.read_text(encoding="utf-8").partition("@media")[0]))
INK, MUTED, RULE, PAPER = (_LIGHT[name] for name in ("ink", "muted", "rule", "paper"))
SERIES = tuple(_LIGHT[f"series-{number}"] for number in range(1, 9))
HEAT, GAIN = (tuple(_LIGHT[f"{name}-{step}"] for step in range(11)) for name in ("heat", "gain"))
# What stands for a colour in the page, where dark and print have colours of their own.
PAGE_COLOURS: Mapping[str, str] = {
    INK: "currentColor",
    **{_LIGHT[name]: f"var(--{name})" for name in ("muted", "rule", "paper", *(f"series-{n}" for n in range(1, 9)))},
}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")  # a series has its own shape, for readers who do not see its colour
SHAPES = dict(zip(MARKERS, "●■▲◆▼✚✖⬟", strict=True))  # the same shapes as letters
# The first comes with Matplotlib: so figures look the same on all machines, but for letters that it lacks.
_FONTS = (
    "DejaVu Sans", "Noto Sans", "Arial", "Helvetica Neue", "Noto Sans Arabic", "Noto Naskh Arabic", "Geeza Pro",
    "Noto Sans Devanagari", "Nirmala UI", "Kohinoor Devanagari", "Noto Sans Thai", "Leelawadee UI", "Thonburi",
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Yu Gothic", "Hiragino Sans", "Microsoft YaHei",
    "PingFang SC", "Malgun Gothic", "Apple SD Gothic Neo", "DejaVu Sans Mono",
)  # fmt: skip


@contextmanager
def style(salt: str, fonts: Sequence[str] = ("DejaVu Sans",)) -> Iterator[None]:
    """Matplotlib's settings for one drawing; `salt` makes the ids of its SVG its own.

    Text stays text: in the page the browser shapes it, so that glyphs which `fonts` lack are no fault there.
    """
    settings: dict[Any, Any] = {
        "text.color": INK, "axes.labelcolor": MUTED, "xtick.color": MUTED, "ytick.color": INK, "grid.color": RULE,
        "font.family": list(fonts), "font.size": LETTER, "axes.labelsize": LETTER, "text.parse_math": False,
        "xtick.labelsize": LETTER, "ytick.labelsize": LETTER, "grid.linewidth": 0.6, "axes.axisbelow": True,
        "hatch.linewidth": 0.5, "svg.fonttype": "none", "svg.hashsalt": salt, "pdf.fonttype": 42,  # TrueType
        **{f"axes.spines.{side}": False for side in ("left", "bottom", "top", "right")},
        "xtick.bottom": False, "ytick.left": False, "xtick.major.pad": 4, "ytick.major.pad": 4,
    }  # fmt: skip
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


@cache
def installed_fonts() -> tuple[str, ...]:
    """The fonts of `_FONTS` that this machine has; a glyph that one lacks is taken from the next."""
    _add_new_fonts()
    there = {font.name for font in font_manager.fontManager.ttflist}
    return tuple(name for name in _FONTS if name in there) or ("DejaVu Sans",)


def _add_new_fonts() -> None:
    """Adds what Matplotlib's list of fonts lacks: it keeps that of its first use, whatever is installed later."""
    listed = {font.fname for font in font_manager.fontManager.ttflist}
    for path in font_manager.findSystemFonts():
        if path not in listed:
            with suppress(OSError, RuntimeError):  # a file that is no font, or one that FreeType cannot read
                font_manager.fontManager.addfont(path)


def fonts_for(letters: frozenset[str]) -> tuple[tuple[str, ...], str]:
    """The installed fonts that are needed for all of the letters, and the letters that none has.

    Those of `installed_fonts` come first; then any other font of the machine, whatever its name is.
    """
    first = installed_fonts()
    # Matplotlib's "Last Resort" has a box for every letter: it is what a missing letter looks like.
    installed = {font.name for font in font_manager.fontManager.ttflist if "Last Resort" not in font.name}
    others = sorted(installed - set(first))
    fonts, missing = [first[0]], {letter for letter in letters if letter.isprintable() and letter != " "}
    missing -= _glyphs(first[0], frozenset(missing))
    for name in (*first[1:], *others):
        if not missing:
            break
        if found := _glyphs(name, frozenset(missing)):
            fonts.append(name)
            missing -= found
    return tuple(fonts), "".join(sorted(missing))


@cache
def _glyphs(name: str, letters: frozenset[str]) -> frozenset[str]:
    """Those of the letters that an installed font has."""
    font = font_manager.get_font(font_manager.findfont(font_manager.FontProperties(family=[name])))
    return frozenset(letter for letter in letters if font.get_char_index(ord(letter)))


def label_width(labels: Sequence[str]) -> float:
    """The approximate width of the longest label, in points."""
    return LETTER * max((sum(map(_em, label)) for label in labels), default=0.0)


def plain(label: str, longest: int = LONGEST_NAME) -> str:
    """A label for a figure: one line, no invisible characters, cut in the middle with an ellipsis."""
    return cut("".join(letter for letter in label if unicodedata.category(letter)[0] != "C"), longest)


def _em(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    return 1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.54


def marker_of(number: int) -> str:
    """The shape of a series. The ninth has the colour of the first and another shape: no two of 64 look alike."""
    return MARKERS[(number + number // len(SERIES)) % len(MARKERS)]
