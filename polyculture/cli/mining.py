"""The messages and files of `polyculture corpus mine`, except its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture import __version__
from polyculture.cache.errors import StoreError
from polyculture.cache.files import claim_folder, remove_folder, replacing, scratch_folder, store_faults
from polyculture.cache.work.outcome import Outcome, Progress
from polyculture.cli.options import Format
from polyculture.cli.tables import print_table
from polyculture.console import say

if TYPE_CHECKING:
    import duckdb

    from polyculture.collect.mining.annotators import Agreement
    from polyculture.collect.mining.corpus import CorpusFile
    from polyculture.collect.mining.count import CountedNgrams
    from polyculture.collect.mining.patterns import Filters, PatternSet
    from polyculture.collect.mining.sweep import SweepReport

MEGABYTE = 10**6
SHOWN_DISPUTES = 20  # rows on a terminal
# The columns on a terminal; the columns of a CSV file, with lists as cells.
SHOWN = "entity, count, documents, contexts[1] AS context"
FLAT = """* EXCLUDE (patterns, contexts),
    array_to_string(list_transform(patterns, lambda one: one.pattern || ': ' || one.count), ' | ') AS patterns,
    coalesce(contexts[1], '') AS context_1,
    coalesce(contexts[2], '') AS context_2,
    coalesce(contexts[3], '') AS context_3"""


@contextmanager
def work_folder(output: Path | None) -> Iterator[Path]:
    """A work folder beside the output, kept until the work is complete; a temporary one without output."""
    if output is None:
        with scratch_folder("mine") as passing:
            yield passing
        return
    folder = output.with_name(f".{output.name}.mining")
    with store_faults(folder):
        claim_folder(folder)
    yield folder
    remove_folder(folder)


def in_megabytes(progress: Progress) -> Callable[[int], None]:
    """Converts a progress in bytes to one in megabytes."""
    return lambda read: progress(Outcome(read // MEGABYTE, 0))


def as_wanted(rows: duckdb.DuckDBPyRelation, format: Format, output: Path | None) -> duckdb.DuckDBPyRelation:
    """Lists stay lists where the format supports them; in CSV they are cells."""
    if format in (Format.JSON, Format.PARQUET):
        return rows
    return rows.select(SHOWN) if format is Format.TABLE and output is None else rows.select(FLAT)


def report_sweep(swept: SweepReport) -> None:
    """Reports the amount of corpus read, and broken lines and files. `StoreError` where nothing could be read."""
    read = f"{swept.text / MEGABYTE:,.0f} MB of text, {swept.documents:,} documents in {swept.files} files"
    say(f"Read {read}; {swept.broken} of {swept.lines:,} lines broken; {swept.hits:,} places with a pattern")
    for path, line, reason in swept.broken_lines:
        say(f"  {path}, line {line}: {reason}")
    if rest := swept.broken - len(swept.broken_lines):
        say(f"  and {rest} more")
    for path, failure in swept.failures.items():
        say(f"  {path}: {failure}")
    if swept.lines and not swept.documents:
        remedy = "Give JSON lines, plain text or Parquet, and the field of the text with --text-field."
        raise StoreError("not one line of the corpus could be read", remedy=remedy)


def tell_counted(counted: CountedNgrams) -> None:
    """Reports the number of n-grams kept."""
    say(f"{counted.hits:,} places in different documents: {counted.ngrams:,} n-grams, {counted.kept:,} frequent enough")


def write_provenance(
    output: Path,
    chosen: PatternSet,
    filters: Filters,
    files: Sequence[CorpusFile],
    swept: SweepReport,
    counted: CountedNgrams,
) -> None:
    """Writes the provenance beside the output: corpus, patterns, filters, counts."""
    import orjson

    corpus = [{"file": str(file.path), "bytes": file.size} for file in files]
    numbers = {name: value for name, value in asdict(swept).items() if name != "parts"}
    counts = {name: getattr(counted, name) for name in ("hits", "ngrams", "kept")}
    patterns = {
        "language": chosen.language,
        "patterns": [pattern.text for pattern in chosen.patterns],
        "unit": chosen.unit,
        "longest": chosen.longest,
        "stop_words": sorted(chosen.stop_words),
    }
    told = {
        "polyculture": __version__,
        "mined_from": corpus,
        "mined_with": patterns,
        "filters": filters.model_dump(),
        "intake": numbers,
        "counted": counts,
    }
    with replacing(output.with_name(f"{output.name}.provenance.json")) as temporary:
        temporary.write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n")


def show_agreement(agreement: Agreement, columns: Sequence[str]) -> None:
    """Prints kappa per pair of annotators, their judgements, and their disagreements."""
    rows = [
        (" and ".join(pair.annotators), pair.kappa.n, pair.kappa.observed, pair.kappa.kappa, _interval(pair.kappa))
        for pair in agreement.pairs
    ]
    titles = ("annotators", "judged by both", "agreement", "Cohen's kappa", "95 % interval")
    print_table(titles, rows, title="Agreement")
    for pair in agreement.pairs:
        print_table((*pair.annotators, "rows"), pair.judgements, title="Judgements")
    if agreement.disputed:
        shown = [row[:-2] for row in agreement.disputed[:SHOWN_DISPUTES]]
        left = len(agreement.disputed) - len(shown)
        print_table(columns[:-2], shown, title="Where they disagree" + (f" (and {left} more rows)" if left else ""))


def _interval(kappa: Any) -> str | None:
    return None if kappa.kappa is None else f"{kappa.low:.3f} to {kappa.high:.3f}"
