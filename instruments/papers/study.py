"""The work of `polyculture paper`: its parts ask, then its tables are printed with a run's numbers."""

from __future__ import annotations

from collections.abc import Iterator

from polyculture.cache.store.layout import compose
from polyculture.cache.store.manifest import read_manifest, require_run
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.instruments import INSTRUMENTS
from polyculture.instruments.contract import AskedExperiment, Listing, Study
from polyculture.instruments.datasets.load import ANY
from polyculture.instruments.datasets.opened import open_data_set
from polyculture.instruments.datasets.presets import read_preset
from polyculture.instruments.datasets.selection import DataSelection, unknown_word
from polyculture.instruments.papers.answer import answer
from polyculture.instruments.papers.files import notes_of, with_names
from polyculture.instruments.papers.join import JoinedTable, join, stopped
from polyculture.instruments.papers.options import DATA_PARTS, AsPaper, PaperOptions, chosen_parts
from polyculture.instruments.papers.own import own_numbers
from polyculture.instruments.papers.protocol import AskedProtocol
from polyculture.instruments.papers.readable import listing, readable
from polyculture.instruments.papers.tables import paper_tables
from polyculture.metrics import METRICS_LAYOUT
from polyculture.published.cells import published
from polyculture.reports.names import Names

_OURS = AsPaper()
MOST_LINES = 60  # of what a paper shows in a figure alone, on the terminal


def paper_study(asked: AskedExperiment, options: PaperOptions) -> Study:
    """The parts ask; afterwards the tables are printed. Raises `DataSetError` of a choice that the data set lacks."""
    preset = options.preset
    if any(one.command in DATA_PARTS for one in chosen_parts(options)):
        chosen = DataSelection(options.language, options.culture, options.type, form=ANY)
        if error := unknown_word(open_data_set(options.data or preset.data, options.folder), chosen):
            raise error
    asked.info(f"{preset.title} ({preset.source})")
    return Study(shown=_listings(asked, options))


def _listings(asked: AskedExperiment, options: PaperOptions) -> Iterator[Listing]:
    preset = options.preset
    if not asked.run.manifest.exists():  # no part could be asked, each with its reason
        asked.warning(f"Nothing was asked, so there is no number to compare with those of {preset.title}")
        return
    found, without = joined_tables(asked.run, options.name, asked.seed, options.data, options.counting)
    names, long = Names(asked.catalog, require_run(asked.run).models), []
    for one in found:
        table = readable(preset, with_names(one, names.model))
        if one.table.where and table.size > MOST_LINES:
            long.append(f"{one.table.name} ({table.size:,} numbers)")
        else:
            yield listing(table)
    if long:
        asked.info(f"Too long for the terminal: {', '.join(long)}")
    files = f"polyculture report --paper {options.name}"
    asked.info(f"As CSV and LaTeX, and on a page in the paper's layout: {files}")
    if without:
        asked.warning(notes_of(without))
    yield answer(asked.run, options.name, preset, asked.catalog, options.data)


def joined_tables(
    run: RunFolder, name: str, seed: int, data: str | None = None, counting: AsPaper = _OURS
) -> tuple[list[JoinedTable], dict[str, str]]:
    """A paper's tables with a run's numbers; and the names and titles of those that have no number of the run.

    Raises `StoreError` where there is no run.
    """
    preset = read_preset(name)
    manifest = read_manifest(run.manifest)
    extractor = str((manifest and manifest.extractor.get("with")) or "extractor")
    tables = list(paper_tables(name, published(name)))
    measures = frozenset(measure for table in tables for measure in table.measures)
    with open_store(run, compose(METRICS_LAYOUT, *(entry.layout for entry in INSTRUMENTS))) as store:
        own = list(own_numbers(store, preset, measures, data, seed, counting, extractor))
        stale = {measure for (measure,) in store.execute("SELECT measure FROM stale_measures").fetchall()}
    protocol = AskedProtocol(run, name, preset, data)
    found, without = [], {}
    for table in tables:
        joined = join(table, own, protocol.differences)
        if joined is None:
            called = f"table {table.name}" if table.name[0].isdigit() else table.name
            lacking = ", ".join(f"{model}: {why}" for model, why in stopped(table, own).items())
            old = "its numbers are of other data than the run has now: ask again" if table.measures & stale else ""
            without[called] = "; ".join(filter(None, (table.title, f"incomplete: {lacking}" if lacking else "", old)))
        else:
            found.append(joined)
    return found, without
