"""Where what is named comes from: maps of countries x origins, per model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.figure import Figure, Key, Panel, Row, make_figure, reach
from polyculture.reports.figures.heat import Head, Heat, codes
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import count, decimal, known
from polyculture.reports.texts import texts

OTHERS = 12  # countries with a column of their own that no prompt names; the rest share one
REST = "more"  # the column of the rest: it leads to no entities of its own
KINDS = ("several", "former state", "other", "none")
Shares = Mapping[tuple[str, str, str], Row]  # by country, language and origin


def origin_maps(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """Asked about X, answered from Y: from the rows of `sql/origins.sql`, a map per model in the order of regions."""
    said = texts().figures["origins"]
    countries = _countries(frame)
    origin = frame["origin"].where(frame["origin"].isin(countries), REST)
    whole = frame.assign(column=origin.where(frame["origin_kind"] == "country", frame["origin_kind"]))
    sums = whole.groupby(["model", "country", "column"], sort=False)["estimate"].sum().reset_index()
    columns = _columns(countries, sums["column"], {**said.panels, REST: said.panels["rest"]}, names)
    condition = "explicit" if "explicit" in manifest.conditions else "implicit"

    def panel(model: str) -> Panel:
        own = sums[sums["model"] == model]
        shares = {(row.country, row.column): row.estimate for row in own.itertuples()}
        asked = {code: names.country(code) for code in countries if code in set(own["country"])}
        most = _most(frame[frame["model"] == model], names)
        chart = _heat(
            f"{texts().metrics['origins'].name}, {names.model(model)}. {most}", codes("country", asked), columns,
            lambda row, column: {"value": shares.get((row, column), 0.0), "framed": row == column},
            reach(sums["estimate"]), {"model": model, "condition": condition},
        )  # fmt: skip
        return Panel(names.model(model), chart, model, most)

    panels = [[panel(model)] for model in ordered(manifest.models, frame["model"])]
    keys = [Key(label, "outline") for label in said.keys]
    return make_figure("origins", panels, keys, "no_origins", values={"others": str(OTHERS)})


def naming(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """Where the naming goes, from the rows of `reports.naming`: a row of two maps per model, all on one scale."""
    said = texts().figures["naming"]
    countries = names.by_region(sorted(set(frame["origin"]) - {REST, *KINDS}))
    columns = _columns(countries, frame["origin"], said.panels, names)
    order, top = names.by_region(manifest.countries), reach(frame["estimate"].astype(float))

    def panel(model: str, condition: str, shares: Shares, others: Shares) -> Panel:
        pairs = sorted({at[:2] for at in shares}, key=lambda pair: (order.index(pair[0]), pair[1]))
        heads = {
            f"{country} {language}": Head(
                f"{names.country(country)}, {language}",
                {"language": language, **({"country": country} if condition == "explicit" else {})},
                names.region(country),
            )
            for country, language in pairs
        }

        def cell(row: str, column: str) -> dict[str, Any]:
            country, _, language = row.partition(" ")
            at = (country, language, column)
            told = _told(shares[at], _value(others, at), condition) if at in shares else None
            return {"value": _value(shares, at), "framed": column == country, "says": told}

        home = [_value(shares, (country, language, country)) for country, language in pairs]
        mean = decimal(sum(home) / len(home), "naming")
        sentence = f"From the country of the row: {mean}, the mean of {len(home)} rows."
        title = f"{names.model(model)}, {said.panels[condition]}"
        place = {"model": model, "condition": condition}
        return Panel(
            title, _heat(f"{said.title}, {title}. {sentence}", heads, columns, cell, top, place), model, sentence
        )

    rows = []
    for model in ordered(manifest.models, frame["model"]):
        own = frame[frame["model"] == model]
        neutral, explicit = (_by_place(own[own["condition"] == condition]) for condition in ("neutral", "explicit"))
        rows.append([panel(model, "neutral", neutral, explicit), panel(model, "explicit", explicit, neutral)])
    missing = next(filter(None, map(manifest.why_without, ("explicit", "neutral"))), "no_origins")
    return make_figure("naming", rows, [Key(label, "outline") for label in said.keys], missing)


def _heat(
    alternative: str,
    rows: Mapping[str, Head],
    columns: Mapping[str, Head],
    cell: Callable[[str, str], dict[str, Any]],
    top: float,
    place: Mapping[str, str],
) -> Heat:
    found = [{"row": row, "column": column, **cell(row, column)} for row in rows for column in columns]
    return Heat(alternative, pd.DataFrame(found), rows, columns, (0.0, top), place)


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


def _by_place(frame: pd.DataFrame) -> Shares:
    return {(row["country"], row["language"], row["origin"]): row for row in frame.to_dict("records")}


def _value(shares: Shares, at: tuple[str, str, str]) -> float:
    return float(shares[at]["estimate"]) if at in shares else 0.0


def _told(row: Row, other: float, condition: str) -> str:
    low, high = known(row["low"]), known(row["high"])
    told = low is not None and high is not None
    interval = f"{decimal(low, 'naming')} to {decimal(high, 'naming')}" if told else "no interval"
    beside = "country named" if condition == "neutral" else "no country named"
    return f"{interval}; {beside}: {decimal(other, 'naming')}; n = {count(row['incidences'])}"
