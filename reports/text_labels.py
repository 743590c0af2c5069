"""Texts by the region, or culture, of what they name: a line for each model and topic, a column for each label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from polyculture.cache.catalog.model import NO_REGION
from polyculture.cache.manifest import Manifest
from polyculture.metrics.text_regions import RegionShare, region_shares
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import FormattedEstimate, count, estimate, known, lacking, wordings_interval
from polyculture.reports.texts import SectionTexts

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

MOST_REGIONS = 6  # with more, as those of M49, the section would be a wall of numbers
Row = Mapping[str, Any]
_SHARE = "specificity"  # a metric that is written as a share
_LEFT_OUT = ("refused", "empty", "failed", "unread")


@dataclass(frozen=True, slots=True)
class TextsLine:
    """A model's texts in a language, under a condition, on a topic."""

    place: str
    shares: tuple[FormattedEstimate, ...]
    labelled: str
    left_out: str  # what became of the others, in words
    unplaced: str


@dataclass(frozen=True, slots=True)
class TextLabels:
    """The context of the section."""

    labels: tuple[str, ...]
    models: tuple[tuple[str, str, tuple[TextsLine, ...]], ...]  # model, its name, its lines


def shown_shares(store: duckdb.DuckDBPyConnection) -> list[RegionShare]:
    """The shares, where the regions are few enough for a table; else none, and no text is looked at."""
    found = store.sql("SELECT count(DISTINCT region) FROM known_countries").fetchall()
    return region_shares(store) if 0 < found[0][0] <= MOST_REGIONS else []


def region_names(store: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The regions' names for people, by code."""
    query = "SELECT DISTINCT region, region_name FROM known_countries WHERE region IS NOT NULL"
    return dict(store.sql(query).fetchall())


def shares_frame(shares: Sequence[RegionShare]) -> pd.DataFrame:
    """The table that the section exports: a row is a label's share in a place, with what became of all texts there."""
    import pandas as pd

    rows = [{**{k: v for k, v in asdict(one).items() if k != "counts"}, **asdict(one.counts)} for one in shares]
    return pd.DataFrame(rows)


def text_labels(
    shares: pd.DataFrame, regions: Mapping[str, str], texts: SectionTexts, manifest: Manifest, names: Names
) -> TextLabels | None:
    """The section's context from the rows of `shares_frame`; None where no text is labelled."""
    rows: list[Row] = [{str(k): known(v) for k, v in row.items()} for row in shares.to_dict("records")]
    if not any(row["labelled"] for row in rows):
        return None
    labels = list(dict.fromkeys(row["label"] for row in rows))
    shown = [texts.words["labels"][label] if label in NO_REGION else regions[label] for label in labels]
    several = len({(row["language"], row["condition"]) for row in rows}) > 1
    models = []
    for model in ordered(manifest.models, {row["model"] for row in rows}):
        places = groupby((row for row in rows if row["model"] == model), key=_place)
        lines = tuple(_line(list(group), several, texts, names) for _, group in places)
        models.append((model, names.model(model), lines))
    return TextLabels(tuple(shown), tuple(models))


def _place(row: Row) -> tuple[Any, ...]:
    return row["language"], row["condition"], row["topic"]


def _line(rows: Sequence[Row], several: bool, texts: SectionTexts, names: Names) -> TextsLine:
    one = rows[0]
    topic = texts.words["all"] if one["topic"] is None else names.topic(one["topic"])
    place = [topic, *([names.language(one["language"]), names.condition(one["condition"])] if several else [])]
    left = {**one, "missing": one["asked"] - sum(one[name] for name in ("labelled", *_LEFT_OUT))}
    said = [f"{count(left[name])} {word}" for name, word in texts.words["left_out"].items() if left[name]]
    labelled = f"{count(one['labelled'])} of {count(one['asked'])}"
    return TextsLine(", ".join(place), tuple(map(_estimate, rows)), labelled, ", ".join(said), count(one["unplaced"]))


def _estimate(row: Row) -> FormattedEstimate:
    if row["share"] is None:
        return lacking("unanswered")
    found = estimate(_SHARE, row["share"], row["low"], row["high"], without=row["no_interval"] or "no_interval")
    return replace(found, wordings=wordings_interval(row, _SHARE))
