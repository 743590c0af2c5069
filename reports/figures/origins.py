"""Where what is named comes from: maps of countries x origins, per model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from polyculture.cache.store.manifest import Manifest
from polyculture.reports.figures.figure import Figure, Key, Panel, make_figure, reach
from polyculture.reports.figures.heat import Head, Heat, codes
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import decimal
from polyculture.reports.texts import texts

OTHERS = 12  # countries with a column of their own that no prompt names; the rest share one
REST = "more"  # the column of the rest: it leads to no entities of its own
KINDS = ("several", "former state", "other", "none")


def origin_maps(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """Asked about X, answered from Y: from the rows of `sql/origins.sql`, a map per model in the order of regions."""
    said = texts().figures["origins"]
    countries = _countries(frame)
    origin = frame["origin"].where(frame["origin"].isin(countries), REST)
    whole = frame.assign(column=origin.where(frame["origin_kind"] == "country", frame["origin_kind"]))
    sums = whole.groupby(["model", "country", "column"], sort=False)["estimate"].sum().reset_index()
    columns = _columns(countries, sums["column"], {**said.panels, REST: said.panels["rest"]}, names)
    condition = "explicit" if "explicit" in manifest.conditions else "implicit"

    top = reach(sums.loc[~sums["column"].isin(KINDS), "estimate"])

    def panel(model: str) -> Panel:
        own = sums[sums["model"] == model]
        shares = {(row.country, row.column): row.estimate for row in own.itertuples()}
        asked = {code: names.country(code) for code in countries if code in set(own["country"])}
        most = _most(frame[frame["model"] == model], names)
        cells = [
            {"row": row, "column": column, "value": shares.get((row, column), 0.0), "framed": row == column,
             "uncoloured": column in KINDS}
            for row in asked
            for column in columns
        ]  # fmt: skip
        alternative = f"{texts().metrics['origins'].name}, {names.model(model)}. {most}"
        place = {"model": model, "condition": condition}
        chart = Heat(alternative, pd.DataFrame(cells), codes("country", asked), columns, (0.0, top), place)
        return Panel(names.model(model), chart, model, most)

    panels = [[panel(model)] for model in ordered(manifest.models, frame["model"])]
    keys = [Key(label, "outline") for label in said.keys]
    return make_figure("origins", panels, keys, "no_origins", values={"others": str(OTHERS)})


def _columns(countries: Sequence[str], found: pd.Series, labels: Mapping[str, str], names: Names) -> dict[str, Head]:
    """The origins: countries, whose names the evidence is searched for, then the kinds that are found."""
    own = {code: Head(code, {"origin": names.country(code)}) for code in countries}
    kinds = [kind for kind in (REST, *KINDS) if kind in set(found)]
    return own | {kind: Head(labels.get(kind, kind), {"origin": "" if kind == REST else kind}) for kind in kinds}


def _countries(frame: pd.DataFrame) -> list[str]:
    """The countries with a column: those that prompts name, and the most frequent others, in the order of regions."""
    from_country = frame.dropna(subset=["origin"])
    asked = set(frame["country"])
    sums = from_country[~from_country["origin"].isin(asked)].groupby("origin")["estimate"].sum()
    most = sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))[:OTHERS]
    places: dict[str, float] = {}
    for country, place in (("origin", "origin_place"), ("country", "place")):
        known_places = frame.dropna(subset=[country, place])
        places |= dict(zip(known_places[country], known_places[place].astype(float), strict=True))
    wanted = asked | {str(country) for country, _ in most}
    return sorted(wanted, key=lambda country: (places.get(country, len(places) + 1e6), country))


def _most(frame: pd.DataFrame, names: Names) -> str:
    """A sentence on the largest share that comes from another country than the one that is named."""
    other = frame[frame["origin"].notna() & (frame["origin"] != frame["country"])]
    if other.empty:
        return ""
    row = other.sort_values(["estimate", "model", "country", "origin"], ascending=[False, True, True, True]).iloc[0]
    share = decimal(row["estimate"], "origins")
    return (
        f"The largest share from another country: {share}, from {names.country(row['origin'])} "
        f"in answers about {names.country(row['country'])}."
    )
