"""Where what is named comes from: maps of countries x origins, per model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def origin_maps(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """Asked about X, answered from Y: from the rows of `sql/origins.sql`, a map per model in the order of regions."""
    countries = _countries(frame)
    is_country = frame["origin_kind"] == "country"
    origin = frame["origin"].where(frame["origin"].isin(countries), REST)
    whole = frame.assign(column=origin.where(is_country, frame["origin_kind"]))
    shares = whole.groupby(["model", "country", "column"], sort=False)["estimate"].sum().reset_index()
    rest = [kind for kind in (REST, *KINDS) if (shares["column"] == kind).any()]
    top = reach(shares["estimate"])
    panels = [
        _origins_panel(model, shares[shares["model"] == model], countries, rest, frame, top, manifest, names)
        for model in ordered(manifest.models, frame["model"])
    ]
    keys = [Key(label, "outline") for label in texts().figures["origins"].keys]
    return make_figure("origins", [[panel] for panel in panels], keys, "no_origins", values={"others": str(OTHERS)})


def naming(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """Where the naming goes, from the rows of `reports.naming`: a row of two maps per model, all on one scale."""
    said = texts().figures["naming"]
    found = set(frame["origin"])
    kinds = [kind for kind in (REST, *KINDS) if kind in found]
    columns = {code: _head(code, names) for code in names.by_region(sorted(found - {REST, *KINDS}))}
    columns |= {kind: _kind(kind, said.panels) for kind in kinds}
    top = reach(frame["estimate"].astype(float))
    rows = []
    for model in ordered(manifest.models, frame["model"]):
        own = frame[frame["model"] == model]
        halves = {
            condition: {
                (str(row["country"]), str(row["language"]), str(row["origin"])): row
                for row in own[own["condition"] == condition].to_dict("records")
            }
            for condition in ("neutral", "explicit")
        }
        rows.append([_naming_panel(model, condition, halves, columns, top, manifest, names) for condition in halves])
    keys = [Key(label, "outline") for label in said.keys]
    missing = next(filter(None, map(manifest.why_without, ("explicit", "neutral"))), "no_origins")
    return make_figure("naming", rows, keys, missing)


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


def _origins_panel(
    model: str,
    own: pd.DataFrame,
    countries: Sequence[str],
    rest: Sequence[str],
    frame: pd.DataFrame,
    top: float,
    manifest: Manifest,
    names: Names,
) -> Panel:
    asked = [country for country in countries if country in set(own["country"])]
    labels = texts().figures["origins"].panels
    columns = {code: _head(code, names) for code in countries}
    columns |= {kind: _kind(kind, {**labels, REST: labels["rest"]}) for kind in rest}
    shares = {(row.country, row.column): row.estimate for row in own.itertuples()}
    found = [
        {"row": row, "column": column, "value": shares.get((row, column), 0.0), "framed": row == column}
        for row in asked
        for column in columns
    ]
    said = _most(frame[frame["model"] == model], names)
    condition = "explicit" if "explicit" in manifest.conditions else "implicit"
    chart = Heat(
        f"{texts().metrics['origins'].name}, {names.model(model)}. {said}",
        pd.DataFrame(found),
        codes("country", {code: names.country(code) for code in asked}),
        columns,
        (0.0, top),
        {"model": model, "condition": condition},
    )
    return Panel(names.model(model), chart, model, said)


def _head(code: str, names: Names) -> Head:
    """The column of a country: the evidence is searched for its name."""
    return Head(code, {"origin": names.country(code)})


def _kind(kind: str, labels: Mapping[str, str]) -> Head:
    return Head(labels.get(kind, kind), {"origin": "" if kind == REST else kind})


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


def _naming_panel(
    model: str,
    condition: str,
    halves: Mapping[str, Mapping[tuple[str, str, str], Row]],
    columns: Mapping[str, Head],
    top: float,
    manifest: Manifest,
    names: Names,
) -> Panel:
    said = texts().figures["naming"]
    shares, other = halves[condition], halves["explicit" if condition == "neutral" else "neutral"]
    order = names.by_region(manifest.countries)
    pairs = sorted({(country, language) for country, language, _ in shares}, key=lambda p: (order.index(p[0]), p[1]))
    found = [
        {
            "row": f"{country} {language}",
            "column": column,
            "value": _value(shares.get((country, language, column))),
            "framed": column == country,
            "says": _told(shares, other, (country, language, column), condition),
        }
        for country, language in pairs
        for column in columns
    ]
    title = f"{names.model(model)}, {said.panels[condition]}"
    home = [_value(shares.get((country, language, country))) for country, language in pairs]
    sentence = f"From the country of the row: {decimal(sum(home) / len(home), 'naming')}, the mean of {len(home)} rows."
    rows = {
        f"{country} {language}": Head(
            f"{names.country(country)}, {language}",
            {"language": language, **({"country": country} if condition == "explicit" else {})},
            names.region(country),
        )
        for country, language in pairs
    }
    place = {"model": model, "condition": condition}
    chart = Heat(f"{said.title}, {title}. {sentence}", pd.DataFrame(found), rows, columns, (0.0, top), place)
    return Panel(title, chart, model, sentence)


def _value(row: Row | None) -> float:
    return float(row["estimate"]) if row else 0.0


def _told(
    shares: Mapping[tuple[str, str, str], Row],
    other: Mapping[tuple[str, str, str], Row],
    at: tuple[str, str, str],
    condition: str,
) -> str | None:
    row = shares.get(at)
    if row is None:
        return None
    low, high = known(row["low"]), known(row["high"])
    interval = (
        "no interval" if low is None or high is None else f"{decimal(low, 'naming')} to {decimal(high, 'naming')}"
    )
    beside = "country named" if condition == "neutral" else "no country named"
    return f"{interval}; {beside}: {decimal(_value(other.get(at)), 'naming')}; n = {count(row['incidences'])}"
