"""Figures that put models, cultures and types beside one another: heat maps, slopes, vocabularies, and rates of
wrong sentiments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from polyculture.cache.store.manifest import Manifest
from polyculture.instruments.cbs.measure import GROUNDED, NEUTRAL
from polyculture.instruments.cbs.section import RULE
from polyculture.reports.figures.figure import Key, Panel, key_of
from polyculture.reports.figures.heat import Head, Heat, plain_heads
from polyculture.reports.figures.kinds import NARROW, axis_limits, dots, lines, scatter
from polyculture.reports.names import Names, ordered, short
from polyculture.reports.numbers import Row, known
from polyculture.reports.texts import section_texts

WORDS = section_texts(Path(__file__).with_name("section.toml")).words
SIDES = ("native", "western")
_APART = 0.05  # of the distance of the two conditions: so far apart are the models, that intervals can be told apart


def plain_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Of the rows of `bias.sql` those of whole entities in plain contexts of one culture, for a type or over all."""
    is_plain = (scores["metric"] == "cbs") & (scores["rule"] == RULE) & scores["culture"].notna()
    for name in ("phrasing", "context_prefix"):
        is_plain &= scores[name].isna()
    return _with_all_types(scores[is_plain], ["model", "dataset", "form", "language", "culture", "setting"])


def sentiment_rates(rates: pd.DataFrame) -> pd.DataFrame:
    """Of the rows of `swaps.sql` the rates of wrong sentiments in one culture, over all types: a row for each side."""
    wrong = rates[
        (rates["task"] == "sentiment") & rates["metric"].isin(list(WORDS["metrics"])) & rates["culture"].notna()
    ]
    place = ["model", "answer_method", "dataset", "language", "culture", "setting", "metric"]
    whole = _with_all_types(wrong, place)
    whole = whole[whole["entity_type"].isna()]
    names = {"{}": "estimate", "{}_low": "low", "{}_high": "high"}
    sides = [
        whole[[*place, *(name.format(side) for name in names)]]
        .rename(columns={name.format(side): column for name, column in names.items()})
        .assign(side=side)
        for side in SIDES
    ]
    return pd.concat(sides, ignore_index=True)


def _with_all_types(frame: pd.DataFrame, place: list[str]) -> pd.DataFrame:
    """The rows, and that over all types of a place which has one type alone: the tables leave it out."""
    of_place = frame.groupby(place)["entity_type"]
    alone = frame[of_place.transform("size") == 1].dropna(subset=["entity_type"])
    return pd.concat([frame, alone.assign(entity_type=None)], ignore_index=True) if len(alone) else frame


def score_maps(frame: pd.DataFrame, manifest: Manifest, names: Names) -> tuple[tuple[Panel, ...], ...]:
    """A row of heat maps per data set, form and model, one per setting: a row per culture, a column per type."""
    found: list[tuple[Panel, ...]] = []
    for (dataset, form), own in frame.groupby(["dataset", "form"], sort=True):
        types = [*sorted(own["entity_type"].dropna().unique()), WORDS["all_types"]]
        for model in _models_of(own, manifest):
            of_model = own[own["model"] == model]
            settings = of_model.groupby("setting", sort=True)
            found.append(
                tuple(
                    _score_map(f"{model}: {dataset}, {setting} contexts, {form}", part, types, names)
                    for setting, part in settings
                )
            )
    return tuple(found)


def _score_map(title: str, own: pd.DataFrame, types: list[str], names: Names) -> Panel:
    rows = own.assign(
        line=own["language"] + "\t" + own["culture"], column=own["entity_type"].fillna(WORDS["all_types"])
    )
    cells = [
        {"row": row["line"], "column": row["column"], "value": row["estimate"], "note": _interval(row)}
        for row in rows.to_dict("records")
    ]
    chart = Heat(
        f"{WORDS['scores']}, {title}: 0 where native entities are always more probable, 1 where Western are",
        pd.DataFrame(cells).astype({"value": float}),
        {line: Head(_line_label(line, names)) for line in sorted(rows["line"].unique())},
        plain_heads(types),
        (0.0, 1.0),
    )
    return Panel(title, chart)


def _interval(row: Row) -> str:
    low, high = known(row["low"]), known(row["high"])
    return "" if low is None or high is None else f"{_hundredth(low)} to {_hundredth(high)}"


def _hundredth(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1) if f"{value:.2f}" != "0.00" else "0"


def _line_label(line: str, names: Names) -> str:
    language, culture = line.split("\t")
    return _place_of(language, culture, names)


def _place_of(language: str, culture: str, names: Names) -> str:
    """'Japanese' where language and culture have one name, or 'Chinese (Simplified)'; else 'English, Japanese'."""
    spoken = names.language(language)
    return short(spoken if culture in (spoken, spoken.partition(" (")[0]) else f"{spoken}, {culture}")


def slope_panels(frame: pd.DataFrame, manifest: Manifest, names: Names) -> tuple[Panel, ...]:
    """A panel per data set, form, language and culture with scores in both settings: a line per model."""
    places = {NEUTRAL: 0.0, GROUNDED: 1.0}
    whole = frame[frame["entity_type"].isna() & frame["setting"].isin(list(places))]
    models = _models_of(frame, manifest)
    shift = {model: (number - (len(models) - 1) / 2) * _APART for number, model in enumerate(models)}
    panels = []
    for key, own in whole.groupby(["dataset", "form", "language", "culture"], sort=True):
        dataset, form, language, culture = (str(part) for part in key)
        if set(own["setting"]) != set(places):
            continue
        title = f"{_place_of(language, culture, names)} ({dataset}, {form})"
        drawn = own.rename(columns={"model": "series", "estimate": "y"}).astype(
            {"y": float, "low": float, "high": float}
        )
        chart = lines(
            drawn.assign(x=own["setting"].map(places) + own["model"].map(shift)),
            alternative=f"{WORDS['slopes']}: {title}. {_slopes_in_words(own, manifest, names)}",
            series=models,
            labels=("", WORDS["axis"]),
            ticks={place: setting for setting, place in places.items()},
            top=1.0,
            beside=0.25,
            width=111.0,
        )
        panels.append(Panel(title, chart))
    return tuple(panels)


def _slopes_in_words(own: pd.DataFrame, manifest: Manifest, names: Names) -> str:
    said = []
    for model in _models_of(own, manifest):
        of_model = own[own["model"] == model].set_index("setting")["estimate"]
        if {NEUTRAL, GROUNDED} <= set(of_model.index):
            said.append(f"{names.model(model)}: {of_model[NEUTRAL]:.2f} to {of_model[GROUNDED]:.2f}")
    return "; ".join(said)


def model_keys(frame: pd.DataFrame, manifest: Manifest) -> tuple[Key, ...]:
    """The legend of the models with a score, by their full names."""
    return tuple(key_of(model, number) for number, model in enumerate(_models_of(frame, manifest)))


def _models_of(frame: pd.DataFrame, manifest: Manifest) -> list[str]:
    """The models of a frame, in the order of the experiment."""
    return ordered(manifest.models, frame["model"])


def side_keys() -> tuple[Key, ...]:
    """The legend of the two sides."""
    return tuple(key_of(WORDS["sides"][side], number) for number, side in enumerate(SIDES))


def vocabulary_panels(frame: pd.DataFrame, scores: pd.DataFrame, manifest: Manifest, names: Names) -> tuple[Panel, ...]:
    """A panel per data set, form, setting and way to count: a point per model, language and culture.

    `frame` is that of `culture_vocabularies.sql`; the models have the colours and shapes that they have among `scores`.
    """
    by_panel = frame.groupby(["dataset", "form", "setting", "characters"], sort=True)
    return tuple(_panel(tuple(map(str, key)), own, _models_of(scores, manifest), names) for key, own in by_panel)


def _panel(key: tuple[str, ...], own: pd.DataFrame, models: list[str], names: Names) -> Panel:
    dataset, form, setting, characters = key
    title = f"{dataset}, {setting} contexts, {form}"
    places = [_place_of(str(row.language), str(row.culture), names) for row in own.itertuples()]
    points = own.assign(name=places, x=own["share"] * 100).rename(columns={"model": "series", "estimate": "y"})
    points = points[["series", "name", "x", "y", "low", "high"]].astype(
        {"x": float, "y": float, "low": float, "high": float}
    )
    said = f"{WORDS['vocabulary']} ({WORDS['characters'][characters]}): {title}. {_in_words(points, models, names)}"
    chart = scatter(
        points,
        alternative=said,
        series=models,
        labels=(WORDS["characters"][characters], WORDS["axis"]),
        limits=(axis_limits(points[["x"]]), (0.0, 1.0)),
    )
    return Panel(title, chart)


def _in_words(points: pd.DataFrame, models: list[str], names: Names) -> str:
    """All points as text, for those who do not see them."""
    return "; ".join(
        f"{names.model(model)}, {row.name}: {row.x:.2f} %, {row.y:.2f}"
        for model in models
        for row in points[points["series"] == model].itertuples()
    )


@dataclass(frozen=True, slots=True)
class PanelRow:
    """Panels that stand side by side, and what they have in common."""

    title: str
    panels: tuple[Panel, ...]


def sentiment_panels(frame: pd.DataFrame, manifest: Manifest, names: Names) -> tuple[PanelRow, ...]:
    """A row of panels per data set, setting and model, one per rate: a row per culture, native beside Western."""
    known = frame.dropna(subset=["estimate"])
    found: list[PanelRow] = []
    for (dataset, setting, method), own in known.groupby(["dataset", "setting", "answer_method"], sort=True):
        where = f"{dataset}, {setting} contexts{'' if method == 'prompt' else f', {method}'}"
        for model in _models_of(own, manifest):
            placed = own.assign(row=own["language"] + "\t" + own["culture"])[own["model"] == model]
            some = sorted(placed["row"].unique())  # the same in each panel, so that they can be read across
            said = {metric: f"{model}: {WORDS['metrics'][metric]} ({where})" for metric in placed["metric"].unique()}
            panels = (
                _sentiment_panel(said[metric], part, some, names)
                for metric, part in placed.groupby("metric", sort=True)
            )
            found.append(PanelRow(f"{model}: {where}", tuple(panels)))
    return tuple(found)


def _sentiment_panel(alternative: str, own: pd.DataFrame, rows: list[str], names: Names) -> Panel:
    drawn = own.rename(columns={"side": "series", "estimate": "value"})
    chart = dots(
        drawn[["row", "series", "value", "low", "high"]].astype({"value": float, "low": float, "high": float}),
        alternative=alternative,
        rows={row: _line_label(row, names) for row in rows},
        series=SIDES,
        label=WORDS["rate"],
        limits=(0.0, 1.0),
        width=NARROW,
    )
    return Panel(WORDS["metrics"][own["metric"].iloc[0]], chart)
