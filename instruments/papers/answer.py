"""What a paper asks, answered by a run: its findings as claims, each with the difference that it turns on."""

from __future__ import annotations

from polyculture.cache.catalog import Catalog
from polyculture.cache.store.layout import compose
from polyculture.cache.store.manifest import require_run
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.instruments import INSTRUMENTS
from polyculture.instruments.contract import Listing
from polyculture.instruments.datasets.presets import PaperPreset
from polyculture.metrics import KEPT, METRICS_LAYOUT
from polyculture.metrics.claims.claim import PAPERS, read_claims
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.reports.claims import claim_rows

_HEADS = ("finding", "here it", "compared", "difference", "95 % interval", "why")


def answer(run: RunFolder, name: str, preset: PaperPreset, catalog: Catalog, data: str | None = None) -> Listing:
    """A line for each of the paper's claims that the run measured; the others are counted below.

    Claims about the paper's data set are of `data`, where that stands in its place.
    """
    manifest = require_run(run)
    stated = [
        one.model_copy(update={"where": {**one.where, "dataset": data}})
        if data is not None and one.where.get("dataset") == preset.data
        else one
        for one in read_claims(PAPERS[name])
    ]
    with open_store(run, compose(METRICS_LAYOUT, *(entry.layout for entry in INSTRUMENTS)), KEPT) as store:
        native = catalog.native_pairs(manifest.languages)
        found = claim_rows(ComparedRun(store, manifest.deterministic), native, manifest, stated)
    rows, unmeasured = [], 0
    for row in found:
        if not row["comparisons"]:
            unmeasured += 1
            continue
        place = f" ({row['place']})" if row["place"] else ""
        sides = f"{row['a']} less {row['b']}{place}" if row["a"] else ""
        numbers = [None if row[one] is None else f"{row[one]:+.3f}" for one in ("difference", "low", "high")]
        interval = f"{numbers[1]} to {numbers[2]}" if numbers[1] and numbers[2] else ""
        rows.append((f"{row['says']} [{row['source']}]", row["result"], sides, numbers[0] or "", interval, row["why"]))
    notes = ["decided where p by Holm over these findings is below 5 %"] if rows else []
    if unmeasured:
        number = "1 finding is" if unmeasured == 1 else f"{unmeasured} findings are"
        notes.append(f"{number} not listed: this run measured nothing that could be compared")
    return Listing(_HEADS, rows, f"{preset.title}: what it found, on this run", notes)
