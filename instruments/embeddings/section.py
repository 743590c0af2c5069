"""The report's section on hidden states: the separation of two cultures' entities, and maps of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.reports.names import Names, short
from polyculture.reports.numbers import FormattedEstimate, Row, count, decimal, known, lacking, probability
from polyculture.reports.section import ReportData, ReportTable, Section
from polyculture.reports.table_section import Column, PageTable, page_table

if TYPE_CHECKING:
    import pandas as pd

    from polyculture.reports.figures.figure import Key, Panel

_FOLDER = Path(__file__).parent
_SEPARATIONS, _POSITIONS = _FOLDER / "separations.sql", _FOLDER / "entity_positions.sql"
SHOWN_MAPS = 12  # a page holds no more; the table entity_positions has all
MAP_KEY = (
    "model", "dataset", "language", "culture", "entity_type", "gender", "form", "setting", "layer", "contexts",
)  # fmt: skip
_SIDE = 204.0  # points: two maps stand side by side in the page


@dataclass(frozen=True, slots=True)
class HiddenStates:
    """The context of the section: the table, and the maps."""

    table: PageTable
    maps: tuple[Panel, ...]
    keys: tuple[Key, ...]  # of the maps


def _build(data: ReportData) -> HiddenStates | None:
    from polyculture.reports.figures.figure import key_of

    rows = data.reading.lines(_SEPARATIONS)
    if not rows:
        return None
    caption = "Davies-Bouldin index per type and layer"
    table = page_table(data, rows, _COLUMNS, title="Davies-Bouldin index", caption=caption, label=_label)
    maps = _maps(data.reading.frame(_POSITIONS), data.names)
    return HiddenStates(table, maps, (key_of("native", 0), key_of("Western", 1)))


def _maps(frame: pd.DataFrame, names: Names) -> tuple[Panel, ...]:
    """A panel per map from the rows of `entity_positions.sql`, at most `SHOWN_MAPS`: a dot per entity."""
    from polyculture.reports.figures.figure import Panel
    from polyculture.reports.figures.kinds import scatter

    panels: list[Panel] = []
    for key, points in frame.groupby(list(MAP_KEY), sort=True):
        row = dict(zip(MAP_KEY, (short(str(part)) for part in key), strict=True))
        who = " ".join(filter(None, (row["entity_type"], row["gender"])))
        shown = ", ".join((who, f"layer {row['layer']}", *_contexts_apart(row)))
        title = f"{names.model(row['model'])}, {names.language(row['language'])}, {row['culture']}: {shown}"
        alternative = f"Map of entities. {title} ({row['dataset']}, {row['contexts']} contexts)"
        sides = points["native"].map({True: "native", False: "Western"})
        drawn = points.sort_values("entity_id").assign(series=sides, name=points["entity"])
        panels.append(Panel(title, scatter(drawn, alternative=alternative, series=("native", "Western"), width=_SIDE)))
        if len(panels) == SHOWN_MAPS:
            break
    return tuple(panels)


def _label(row: Row, names: Names) -> str:
    """The type with its gender, and how its contexts differ from the neutral causal ones."""
    who = known(row["entity_type"]) or f"mean of {row['types']:.0f} types"
    parts = ", ".join(filter(None, (who, known(row["gender"]), *_contexts_apart(row))))
    return f"{names.language(row['language'])}, {row['culture']}: {parts}"


def _contexts_apart(row: Row) -> list[str]:
    """How its contexts differ from the neutral causal ones."""
    setting = known(row["setting"])
    return [
        one for one in ("masked" if row["form"] == "masked" else "", setting if setting != "neutral" else "") if one
    ]


def _layer(row: Row) -> str:
    return str(row["layer"]) + (f" ({row['layer_name']})" if known(row["layer_name"]) else "")


def _index(row: Row) -> FormattedEstimate:
    """The index of these entities, which has no interval."""
    if known(row["estimate"]) is None:
        return lacking("no index")
    return FormattedEstimate(decimal(row["estimate"], "index"), None, None)


def _contexts(row: Row) -> str:
    """The number of contexts, and per entity where not all fit each."""
    every, fewest = count(row["contexts"]), known(row["contexts_fewest"])
    if known(row["entity_type"]) is None or fewest is None or fewest == row["contexts"]:
        return every
    return f"{every} ({count(fewest)} to {count(row['contexts_most'])} an entity)"


def _told(write: Callable[[float], str], column: str) -> Callable[[Row], str]:
    """A number as it is written; nothing where there is none."""
    return lambda row: "" if known(row[column]) is None else write(row[column])


_COLUMNS = (
    Column("Layer", _layer),
    Column("Index", _index),
    Column("By chance", _told(lambda value: decimal(value, "index"), "by_chance")),
    Column("p", _told(probability, "p")),
    Column("Contexts", _contexts),
    Column("Native", _told(count, "native_entities")),
    Column("Western", _told(count, "western_entities")),
    Column("Failed", _told(count, "failed")),
)
SECTIONS = (
    Section(
        "apart",
        _build,
        _FOLDER / "section.html.jinja",
        _FOLDER / "section.toml",
        tables=(ReportTable(_SEPARATIONS), ReportTable(_POSITIONS)),
    ),
)
