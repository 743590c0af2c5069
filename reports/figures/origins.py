"""Asked about X, answered from Y: a map of countries that prompts name x origins of what is named, per model."""

from __future__ import annotations

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.figure import Figure, Key, Panel, caption_of, make_figure, reach
from polyculture.reports.figures.heat import Heat
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import decimal
from polyculture.reports.texts import texts

NAME = "origins"
OTHERS = 12  # countries with a column of their own that no prompt names; the rest share one
REST = ""  # the column of the rest: it leads to no entities of its own
KINDS = ("several", "former state", "other", "none")


def origins(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `sql/origins.sql`: a map per model, rows and columns in the order of regions."""
    columns = _columns(frame)
    pairs = zip(frame["origin_kind"], frame["origin"], strict=True)
    whole = frame.assign(column=[_column(kind, origin, columns) for kind, origin in pairs])
    shares = whole.groupby(["model", "country", "column"], sort=False)["estimate"].sum().reset_index()
    top = reach(shares["estimate"])
    panels = [
        _panel(model, shares[shares["model"] == model], columns, frame, top, manifest, names)
        for model in ordered(manifest.models, frame["model"])
    ]
    caption = caption_of(NAME, others=str(OTHERS))
    keys = [Key(label, "outline") for label in texts().figures[NAME].keys]
    return make_figure(NAME, caption, [[panel] for panel in panels], keys, "no_origins")


def _columns(frame: pd.DataFrame) -> list[str]:
    """The countries with a column: those that prompts name, and the most frequent others, in the order of regions."""
    from_country = frame.dropna(subset=["origin"])
    asked = set(frame["country"])
    sums = from_country[~from_country["origin"].isin(asked)].groupby("origin")["estimate"].sum()
    most = sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))[:OTHERS]
    places = {**_places(from_country, "origin", "origin_place"), **_places(frame, "country", "place")}
    wanted = asked | {str(country) for country, _ in most}
    return sorted(wanted, key=lambda country: (places.get(country, len(places) + 1e6), country))


def _places(frame: pd.DataFrame, country: str, place: str) -> dict[str, float]:
    known = frame.dropna(subset=[country, place])
    return dict(zip(known[country], known[place].astype(float), strict=True))


def _column(kind: str, origin: str, columns: list[str]) -> str:
    """The column of a row: the origin, the column of the rest, or the kind where it is not one country."""
    if kind != "country":
        return kind
    return origin if origin in columns else REST


def _panel(
    model: str,
    own: pd.DataFrame,
    columns: list[str],
    frame: pd.DataFrame,
    top: float,
    manifest: Manifest,
    names: Names,
) -> Panel:
    asked = [country for country in columns if country in set(own["country"])]
    kinds = [kind for kind in KINDS if (frame["origin_kind"] == kind).any()]
    rest = [REST] if (own["column"] == REST).any() else []
    table = own.pivot_table(index="country", columns="column", values="estimate", aggfunc="sum")
    table = table.reindex(index=asked, columns=[*columns, *rest, *kinds]).fillna(0.0)
    labels = texts().figures[NAME].panels
    title = names.model(model)
    said = _most(frame[frame["model"] == model], names)
    chart = Heat(
        caption=f"{texts().metrics[NAME].name}, {title}. {said}",
        table=table.rename(columns={code: names.country(code) for code in columns}),
        rows=[names.country(code) for code in asked],
        columns=[labels.get(column or "rest", column) for column in table.columns],
        limits=(0.0, top),
        axes=("country", "origin"),
        cell={"model": model, "condition": "explicit" if "explicit" in manifest.conditions else "implicit"},
        outlined=frozenset((code, names.country(code)) for code in asked),
    )
    return Panel(title, chart, model, said)


def _most(frame: pd.DataFrame, names: Names) -> str:
    """A sentence on the largest share that comes from another country than the one that is named."""
    other = frame[frame["origin"].notna() & (frame["origin"] != frame["country"])]
    if other.empty:
        return ""
    row = other.sort_values(["estimate", "model", "country", "origin"], ascending=[False, True, True, True]).iloc[0]
    share = decimal(row["estimate"], NAME)
    return (
        f"The largest share from another country: {share}, from {names.country(row['origin'])} "
        f"in answers about {names.country(row['country'])}."
    )
