"""Same country, two voices: what is named of a country in its own language alone, in English alone, and in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.charts import WIDE
from polyculture.reports.figures.drawing import MUTED, PAPER, SERIES, Margins, canvas, finish_rows, label_width, style
from polyculture.reports.figures.figure import Figure, Key, Panel, caption_of, make_figure
from polyculture.reports.figures.inline import to_svg
from polyculture.reports.figures.mark import Mark
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import count, share
from polyculture.reports.texts import texts

NAME = "voices"
_ROW = 24  # pixels
_INKS = (SERIES[0], MUTED, SERIES[1])
_COLUMNS = ("only_here", "in_both", "only_there")


@dataclass(frozen=True, slots=True)
class Voices:
    """A bar per country and language, in three parts from the left; `marks` has an address for each part."""

    name: str
    alternative: str
    labels: Sequence[str]
    counts: Sequence[tuple[int, int, int]]
    marks: Sequence[tuple[str, str, str]]
    model: str
    axis: str
    width: float = WIDE

    def draw(self) -> Markup:
        """The chart as an `<svg>` element."""
        sums = [f"n = {count(sum(parts))}" for parts in self.counts]
        margins = Margins(left=label_width(self.labels) + 16, top=8, right=label_width(sums) + 14, bottom=48)
        with style():
            figure, axes = canvas(self.width, _ROW * len(self.labels), margins)
            for part, ink in enumerate(_INKS):
                starts = [sum(row[:part]) / sum(row) for row in self.counts]
                wide = [row[part] / sum(row) for row in self.counts]
                bars = axes.barh(
                    range(len(wide)), wide, left=starts, height=0.68, facecolor=ink, edgecolor=PAPER, alpha=0.8
                )
                for bar, marks in zip(bars, self.marks, strict=True):
                    bar.set_url(marks[part])
            for row, said in enumerate(sums):
                axes.text(1.015, row, said, va="center", fontsize=10, color=MUTED)
            finish_rows(axes, self.labels, self.axis, (0.0, 1.0))
            return to_svg(figure, self.name, self.alternative, {"model": self.model, "condition": "explicit"})


def voices(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """A panel per model, from the rows of `sql/voices.sql`: those whose language is native in the country."""
    native = [names.native(*pair) for pair in zip(frame["language"], frame["country"], strict=True)]
    own = frame[pd.Series(native, index=frame.index, dtype=bool)]
    panels = [
        _panel(f"v{number}", own[own["model"] == model], manifest, names)
        for number, model in enumerate(ordered(manifest.models, own["model"]))
    ]
    keys = [
        Key(label, mark, part) for label, mark, part in zip(texts().figures[NAME].keys, "◧▣◨", (1, 0, 2), strict=True)
    ]
    return make_figure(NAME, caption_of(NAME), [panels] if panels else [], keys, "no_pair")


def _panel(name: str, own: pd.DataFrame, manifest: Manifest, names: Names) -> Panel:
    model = str(own["model"].iloc[0])
    order = names.by_region(manifest.countries)
    rows = sorted(own.to_dict("records"), key=lambda row: (order.index(row["country"]), row["language"]))
    counts = [tuple(int(row[column]) for column in _COLUMNS) for row in rows]
    both, every = sum(parts[1] for parts in counts), sum(map(sum, counts))
    said = f"Both languages name {share(both, every)} of what either names."
    chart = Voices(
        name=name,
        alternative=f"{texts().figures[NAME].title}, {names.model(model)}. {said}",
        labels=[f"{names.country(row['country'])}, {names.language(row['language'])}" for row in rows],
        counts=[(parts[0], parts[1], parts[2]) for parts in counts],
        marks=[
            _marks(str(row["country"]), str(row["language"]), str(row["other_language"]), parts, names)
            for row, parts in zip(rows, counts, strict=True)
        ],
        model=model,
        axis=texts().figures[NAME].axis,
    )
    return Panel(names.model(model), chart, model, said)


def _marks(country: str, language: str, other: str, parts: Sequence[int], names: Names) -> tuple[str, str, str]:
    """Where the parts lead: to what the language names, to what both name, to what the other names."""
    here, there = names.language(language), names.language(other)
    words = (f"only in {here}", f"in {here} and in {there}", f"only in {there}")
    places = (
        {"language": language, "country": country},
        {"language": language, "other": other, "country": country},
        {"language": other, "country": country},
    )
    labels = [
        f"{names.country(country)}, {said}: {count(part)} of {count(sum(parts))} items ({share(part, sum(parts))})"
        for said, part in zip(words, parts, strict=True)
    ]
    first, second, third = (Mark(label, place).address() for label, place in zip(labels, places, strict=True))
    return first, second, third
