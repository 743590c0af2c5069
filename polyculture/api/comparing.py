"""Comparisons as frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from polyculture.cache.database import memory_limit
from polyculture.cache.errors import StoreError
from polyculture.cache.files import scratch_folder
from polyculture.cache.store import open_store
from polyculture.experiment.workspace import Workspace
from polyculture.metrics import KEPT
from polyculture.metrics.comparison.blocks import Blocks
from polyculture.metrics.comparison.compare import COMPANIONS, METRICS, compare_all, values_of
from polyculture.metrics.comparison.equivalence import read_margins
from polyculture.metrics.comparison.lines import Terms, as_table, lines_of, remarks_of, unit_of
from polyculture.running.layout import store_layout
from polyculture.running.sides import Asked, choose_sides

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Wanted:
    """A comparison that is asked for: see `Run.compare`."""

    a: str | None
    b: str | None
    rest: bool
    group: str | None
    native: bool
    by: tuple[str, ...]
    metrics: tuple[str, ...] | None
    margins: tuple[str, ...]
    blocks: str
    selection: str


def compared_frame(workspace: Workspace, wanted: Wanted) -> pd.DataFrame:
    """The lines of `polyculture compare` with the unit of each; `attrs["remarks"]` has its remarks."""
    metrics = METRICS if wanted.metrics is None else wanted.metrics
    _check("metric", metrics, (*METRICS, *COMPANIONS))
    _check("kind of blocks", (wanted.blocks,), tuple(Blocks))
    terms = Terms(Blocks(wanted.blocks), read_margins(wanted.margins, metrics), metrics)
    by = wanted.by or (("country",) if wanted.native else ())
    remarks: list[str] = []
    with (
        scratch_folder("compare") as folder,
        open_store(
            workspace.run,
            store_layout(),
            KEPT,
            wanted.selection,
            at=folder / "store.duckdb",
            memory=memory_limit(),
        ) as store,
    ):
        a, b = (wanted.a, wanted.b) if wanted.group else _spelled(store, wanted.a, wanted.b)
        asked = Asked(a, b, wanted.native, wanted.rest, wanted.group)
        sides = choose_sides(store, workspace, asked, remarks.append)
        compared = compare_all(store, sides, by, metrics, terms.blocks, terms.margins)
    frame: pd.DataFrame = as_table(lines_of(compared, sides, terms)).to_pandas()
    frame.insert(list(frame.columns).index("difference"), "unit", [unit_of(metric) for metric in frame["metric"]])
    frame.attrs["remarks"] = [*remarks, *remarks_of(sides, [row for _, row in compared], terms)]
    return frame


def _spelled(store: duckdb.DuckDBPyConnection, *names: str | None) -> list[str | None]:
    """Sides as the run writes them: codes may be in any case, where it is clear what they are of.

    'es' is a language and 'ES' a country: of two sides, that which the other is, too.
    """
    given = [name for name in names if name is not None]
    for same in (str, str.lower):
        for values in values_of(store).values():
            found = {name: next((v for v in sorted(values) if same(v) == same(name)), None) for name in given}
            if given and all(found.values()):
                return [name if name is None else found[name] for name in names]
    return list(names)


def _check(what: str, names: tuple[str, ...], known: tuple[str, ...]) -> None:
    for name in names:
        if name not in known:
            raise StoreError(f"there is no {what} {name!r}", remedy=f"Known: {', '.join(known)}.")
