"""Maps of countries x languages, and of languages x languages, per model; and granularity, a mark a model."""

from __future__ import annotations

from typing import Any

import pandas as pd

from polyculture.cache.store.manifest import UNSTATED, Manifest
from polyculture.metrics.declared import is_count, is_share
from polyculture.reports.figures.figure import (
    Figure,
    Key,
    Panel,
    basis,
    cells,
    extremes,
    lacking_most,
    make_figure,
    model_keys,
    reach,
    tidy,
)
from polyculture.reports.figures.heat import Heat, codes
from polyculture.reports.figures.kinds import dots
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import FEWEST, known
from polyculture.reports.texts import texts

GAIN = "specificity_gain"
FIRST = "explicit"  # the condition whose maps of specificity stand open
SELDOM = ("audience", "implicit_male", "implicit_female")  # conditions that not all runs ask: told only where they were


def specificity_maps(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `sql/specificity.sql`: maps per model; those that name no country stand in a fold."""
    said = texts().figures["specificity"]
    stated = list(dict.fromkeys(panel.split()[1] for panel in said.panels))
    own_conditions = sorted(set(frame["condition"].dropna()) - set(stated))  # of imported texts
    titles = {**said.panels, **{f"specificity {one}": names.condition(one) for one in own_conditions}}
    opened = FIRST if (frame["condition"] == FIRST).any() else next(iter(own_conditions), FIRST)
    found = {
        panel: frame[(frame["metric"] == panel.split()[0]) & (frame["condition"] == panel.split()[1])]
        for panel in titles
    }
    tops = {
        metric: reach(frame.loc[frame["metric"] == metric, "estimate"].astype(float))
        for metric in ("specificity", GAIN)
    }
    panels: dict[bool, list[Panel]] = {True: [], False: []}
    for model in ordered(manifest.models, frame.dropna(subset=["estimate"])["model"]):
        for panel, rows in found.items():
            own = rows[rows["model"] == model]
            metric, condition = panel.split()
            if own["estimate"].notna().any():
                title = f"{names.model(model)}: {titles[panel]}"
                drawn = _country_panel(title, own, metric, condition, tops[metric], manifest, names)
                panels[condition == opened].append(drawn)
    missing = " ".join(filter(None, (_nothing(panel, found[panel], manifest) for panel in said.panels)))
    return make_figure(
        "specificity", [panels[True]], _native_key("specificity"), _missing(manifest), folded=panels[False],
        values={"missing": missing, "dash": _dash(frame), "fewest": str(FEWEST)},
    )  # fmt: skip


def granularity_marks(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `sql/granularity.sql`: a mark per model and language."""
    found = frame.dropna(subset=["estimate"])
    models = ordered(manifest.models, found["model"])
    said = {"extremes": extremes(frame, "granularity", names), "basis": basis(found), "fewest": str(FEWEST)}
    chart = dots(
        tidy(frame, "language", "granularity", ("model", "language"), names).assign(series=frame["model"]),
        alternative=f"{texts().figures['granularity'].title}. {said['extremes']} {said['basis']}",
        rows={code: names.both(code) for code in ordered(manifest.languages, found["language"])},
        series=models,
        label=texts().figures["granularity"].axis,
        limits=(0, 1),
    )
    panels = [Panel("", chart)] if models else []
    return make_figure("granularity", [panels], model_keys(models, names), "unmentioned", values=said)


def country_maps(metric: str, frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from a table of countries and languages, as `sql/diversity.sql`: a map per model, all on one scale."""
    name, top = f"{metric}_map", 1.0 if is_share(metric) else reach(frame["estimate"].astype(float))
    panels = [
        _country_panel(names.model(model), frame[frame["model"] == model], metric, FIRST, top, manifest, names)
        for model in ordered(manifest.models, frame.dropna(subset=["estimate"])["model"])
    ]
    return make_figure(name, [panels], _native_key(name), _missing(manifest), values={"fewest": str(FEWEST)})


def pair_maps(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `sql/consensus.sql`: a map per model over all topics, and one per topic in a fold."""
    said = texts().figures["consensus"]
    found = frame.dropna(subset=["estimate"])
    topics, models = ordered(manifest.topics, found["topic"].dropna()), ordered(manifest.models, found["model"])
    whole = frame[frame["topic"].isna()]
    of_topic = [(names.topic(topic), {"topic": topic}, frame[frame["topic"] == topic]) for topic in topics]
    of_model = [
        (f"{names.model(model)}, {said.panels['whole']}", {"model": model}, whole[whole["model"] == model])
        for model in models
        if len(topics) * len(models) > 1  # one model on one topic needs no second map
    ]
    pairs = ["language", "other_language"]
    means = [own.astype({"estimate": float}).groupby(pairs)["estimate"].mean() for *_, own in (*of_model, *of_topic)]
    top = max(map(reach, means), default=1.0)
    rows = [[_pairs_panel(*one, top, manifest, names) for one in some] for some in (of_model, of_topic)]
    missing = "one_language" if len(manifest.languages) < 2 else "unlinked"
    return make_figure("consensus", [rows[0]], [], missing, folded=rows[1], values={"fewest": str(FEWEST)})


def _country_panel(
    title: str, own: pd.DataFrame, metric: str, condition: str, top: float, manifest: Manifest, names: Names
) -> Panel:
    model = str(own["model"].iloc[0])
    said = extremes(own.drop(columns="model"), metric, names)
    chart = _country_heat(
        f"{texts().metrics[metric].name}, {title}. {said}",
        cells(own, "country", "language", metric),
        {"model": model, "condition": condition},
        manifest,
        names,
        limits=(-top if metric == GAIN else 0.0, top),
        signed=metric == GAIN,
        lacking=lacking_most(own),
        digits=1 if is_count(metric) else 2,
    )
    return Panel(title, chart, model, said)


def _country_heat(
    alternative: str, found: pd.DataFrame, place: dict[str, str], manifest: Manifest, names: Names, **more: Any
) -> Heat:
    """Countries in the order of regions, a line between two of them; a frame where the language is native."""
    countries = ordered(names.by_region(manifest.countries), found["row"])
    languages = ordered(manifest.languages, found["column"])
    framed = [names.native(language, country) for country, language in zip(found["row"], found["column"], strict=True)]
    rows = codes("country", {code: names.country(code) for code in countries}, {c: names.region(c) for c in countries})
    columns = codes("language", {code: code for code in languages})
    return Heat(alternative, found.assign(framed=framed), rows, columns, place=place, **more)


def _pairs_panel(
    title: str, place: dict[str, str], own: pd.DataFrame, top: float, manifest: Manifest, names: Names
) -> Panel:
    mirrored = own.rename(columns={"language": "other_language", "other_language": "language"})
    found = cells(pd.concat([own, mirrored], ignore_index=True), "language", "other_language", "consensus")
    shown = own.groupby(["language", "other_language"])["estimate"].mean().reset_index()  # over models, as in the map
    said = extremes(shown, "consensus", names)
    languages = ordered(manifest.languages, found["row"])
    chart = Heat(
        f"{texts().metrics['consensus'].name}, {title}. {said}",
        found,
        codes("language", {code: names.language(code) for code in languages}),
        codes("other", {code: code for code in languages}),
        (0.0, top),
        place,
        lacking=lacking_most(own),
    )
    return Panel(title, chart, place.get("model", ""), said)


def _native_key(name: str) -> list[Key]:
    return [Key(label, "outline") for label in texts().figures[name].keys]


def _dash(frame: pd.DataFrame) -> str:
    """Why a share may be missing: nothing is linked, and what the rows themselves tell."""
    told = {str(why) for why in frame.loc[frame["estimate"].isna(), "no_estimate"].map(known) if why is not None}
    return ", or ".join([texts().missing["unlinked"], *sorted(told)])


def _missing(manifest: Manifest) -> str:
    return manifest.why_without("explicit") or "unlinked"


def _nothing(panel: str, rows: pd.DataFrame, manifest: Manifest) -> str:
    """A sentence on a panel without a number; empty for others, for a condition that few runs ask, and where a file
    does not say what was asked."""
    if rows["estimate"].notna().any() or (rows.empty and (panel.endswith(SELDOM) or UNSTATED in manifest.conditions)):
        return ""
    no_neutral = manifest.why_without("neutral") if panel.startswith(GAIN) else None
    reason = "not_asked" if rows.empty else no_neutral or "unlinked"
    title = texts().figures["specificity"].panels[panel]
    return f"{title[0].upper()}{title[1:]}: {texts().missing[reason]}."
