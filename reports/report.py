"""Writes a run's report: one HTML file that needs nothing else, and is the same bytes for the same store.

The evidence of a large run does not fit into one file: what is left lies in parts in a folder beside it, which the page
loads as scripts, so that it works from disk, too.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.errors import StoreError
from polyculture.cache.files import replacing
from polyculture.cache.layout import Layout
from polyculture.cache.manifest import Manifest, read_manifest
from polyculture.cache.run_folder import RunFolder
from polyculture.metrics import METRICS
from polyculture.reports import headline, health, method
from polyculture.reports.bias import bias_tables
from polyculture.reports.bias_contrasts import contrast_tables
from polyculture.reports.comparisons import comparison_frame, comparison_sql, comparisons
from polyculture.reports.diversity_estimators import companions
from polyculture.reports.escaping import packed
from polyculture.reports.evidence import read_evidence, read_parts
from polyculture.reports.figures.consensus import consensus
from polyculture.reports.figures.diversity import diversity
from polyculture.reports.figures.figure import table_csv
from polyculture.reports.figures.granularity import granularity
from polyculture.reports.figures.saturation import saturation
from polyculture.reports.figures.specificity import specificity
from polyculture.reports.leaderboard import boards
from polyculture.reports.names import Names
from polyculture.reports.reading import Reading, query, read_store
from polyculture.reports.resolution import resolution
from polyculture.reports.separation import apart_lines, entity_maps
from polyculture.reports.swaps import swap_tables
from polyculture.reports.texts import words

_FOLDER = Path(__file__).parent
_SCRIPT = ("state", "words", "parts", "filters", "table", "detail", "figures", "start")


def write_report(run: RunFolder, catalog: Catalog | None = None, layout: Layout = METRICS) -> Path:
    """Writes `report.html` from what is in the store, and its parts where it needs any; returns its path.

    `catalog` names languages, countries and topics; without it those that come along are used. Raises `StoreError`
    where there is no run, or where the file cannot be written.
    """
    manifest = read_manifest(run.manifest)
    if manifest is None:
        raise StoreError("holds no run", where=run.root, remedy="Run `polyculture run` on an experiment file first.")
    names = Names(catalog or read_catalog(), tuple(manifest.models))
    with read_store(run, layout) as reading:
        evidence = read_evidence(reading, manifest, names)
        page = _render({**_contents(reading, manifest, names, layout), "evidence": packed(evidence)})
        _write_parts(run.report_data, read_parts(reading, evidence, names))
    with replacing(run.report) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return run.report


def _write_parts(folder: Path, parts: Iterator[tuple[str, dict[str, Any]]]) -> None:
    """The parts as scripts that leave their data where the page's script looks for it; those of another time go."""
    written = set()
    for name, part in parts:
        with replacing(folder / name) as temporary:
            temporary.write_text(f'window.polyculturePart = "{packed(part)}";\n', encoding="utf-8")
        written.add(name)
    for path in folder.glob("*.js"):
        if path.name not in written:
            path.unlink()
    if folder.is_dir() and not written:
        folder.rmdir()


def _contents(reading: Reading, manifest: Manifest, names: Names, layout: Layout) -> dict[str, Any]:
    numbers, facts = reading.rows("headline"), reading.rows("health")
    totals = headline.totals(facts)
    compared = comparison_frame(reading, manifest, names)
    return {
        "manifest": manifest,
        "names": names,
        "words": words(),
        "lead": headline.lead(totals, reading.rows("entities")[0]["entities"]),
        "totals": totals,
        "metrics": headline.METRICS,
        "models": headline.model_lines(numbers, facts, manifest, names),
        "models_csv": table_csv(reading.frame("headline")),
        "models_sql": query("headline"),
        "measured": reading.rows("methods"),
        "comparisons": comparisons(compared, manifest, names),
        "comparisons_csv": table_csv(compared),
        "comparisons_sql": comparison_sql(),
        "health_table": health.health_table(facts, manifest, names),
        "health_csv": table_csv(reading.frame("health")),
        "health_sql": query("health"),
        "companions": companions(reading.rows("companions"), manifest, names),
        "companions_csv": table_csv(reading.frame("companions")),
        "companions_sql": query("companions"),
        "resolution": resolution(reading.rows("resolution"), manifest, names),
        "resolution_csv": table_csv(reading.frame("resolution")),
        "resolution_sql": query("resolution"),
        "notices": health.notices(facts, names),
        "figures": {
            "granularity": granularity(reading, manifest, names),
            "diversity": diversity(reading, manifest, names),
            "saturation": saturation(reading, manifest, names),
            "specificity": specificity(reading, manifest, names),
            "consensus": consensus(reading, manifest, names),
        },
        "scored": reading.rows("scored")[0],
        "bias": bias_tables(reading.lines("bias"), manifest, names),
        "bias_contrasts": contrast_tables(reading.lines("bias"), manifest, names),
        "apart": apart_lines(reading.lines("separations"), names),
        "apart_csv": table_csv(reading.frame("separations")),
        "apart_sql": query("separations"),
        "maps": entity_maps(reading.frame("entity_positions"), names),
        "maps_csv": table_csv(reading.frame("entity_positions")),
        "maps_sql": query("entity_positions"),
        "boards": boards(reading.lines("leaderboard"), names),
        "boards_csv": table_csv(reading.frame("leaderboard")),
        "boards_sql": query("leaderboard"),
        "bias_csv": table_csv(reading.frame("bias")),
        "bias_sql": query("bias"),
        "swaps": swap_tables(reading.lines("swaps"), manifest, names),
        "swaps_csv": table_csv(reading.frame("swaps")),
        "swaps_sql": query("swaps"),
        "facts": method.facts(manifest, names),
        "views": method.store_views(layout),
    }


def _render(contents: dict[str, Any]) -> str:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    style = (_FOLDER / "report.css").read_text(encoding="utf-8")
    script = _script()
    return environment.get_template("report.html.jinja").render(
        **contents,
        style=Markup(style),  # noqa: S704  our own file
        script=Markup(script),  # noqa: S704  our own file
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _script() -> str:
    """The page's script: the files of `script/`, in one scope of their own."""
    files = [(_FOLDER / "script" / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPT]
    return "\n".join(['"use strict";', "(() => {", *files, "})();"])
