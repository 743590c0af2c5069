"""Maps of entities by t-SNE: a dot per entity, in the colour and shape of its culture."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.instruments.embeddings.layout import EMBEDDINGS
from polyculture.metrics import METRICS
from polyculture.reports.figure_files import FigureFormat, write_figure
from polyculture.reports.figures.chart import Chart
from polyculture.reports.figures.figure import key_of
from polyculture.reports.figures.kinds import scatter
from polyculture.reports.reading import read_store

POSITIONS = Path(__file__).with_name("entity_positions.sql")
MAP_KEY = (
    "model", "dataset", "language", "culture", "entity_type", "gender", "form", "setting", "layer", "contexts",
)  # fmt: skip
KEYS = (key_of("native", 0), key_of("Western", 1))
_SIDE = 204.0  # points: two of them stand side by side in the page
_INCHES = 5.0  # of a file


def entity_map(frame: pd.DataFrame, title: str) -> Chart:
    """A map; `frame` has the columns entity, native, x, y. Names as far as there is room for them."""
    sides = frame["native"].map({True: "native", False: "Western"})
    drawn = frame.sort_values("entity_id").assign(series=sides, name=frame["entity"])
    return scatter(drawn, alternative=f"Map of entities. {title}", series=("native", "Western"), width=_SIDE)


def write_maps(run: RunFolder, folder: Path) -> Iterator[Path]:
    """Writes an SVG file for each map of a run; yields their paths."""
    with read_store(run, compose(METRICS, EMBEDDINGS)) as reading:
        frame = reading.frame(POSITIONS)
    for key, points in frame.groupby(list(MAP_KEY), sort=True):
        named = dict(zip(MAP_KEY, map(str, key), strict=True))
        short = named["model"].rpartition(":")[2].rpartition("/")[2]
        title = f"{short}, {named['language']}, {named['culture']}: {subject(named)}"
        parts = [short, named["dataset"], named["language"], named["culture"], subject(named), named["contexts"]]
        path = folder / f"{_file_name('-'.join(parts))}-contexts.svg"
        write_figure(entity_map(points, title), KEYS, {FigureFormat.SVG: path}, _INCHES, title)
        yield path


def subject(named: Mapping[str, str]) -> str:
    """What a map shows: type, gender, layer, and how its contexts differ from the neutral causal ones."""
    apart = [
        named["form"] if named["form"] == "masked" else "",
        named["setting"] if named["setting"] != "neutral" else "",
    ]
    who = " ".join(filter(None, (named["entity_type"], named["gender"])))
    return ", ".join(filter(None, (who, f"layer {named['layer']}", *apart)))


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text).strip("-").lower()
