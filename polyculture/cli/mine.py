"""`polyculture corpus mine`: from web-scale text to a list of entities that people have judged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyculture.cache.errors import IncompleteError, StoreError
from polyculture.cli.mining import (
    MEGABYTE,
    as_wanted,
    in_megabytes,
    report_sweep,
    show_agreement,
    tell_counted,
    work_folder,
    write_provenance,
)
from polyculture.cli.options import (
    STAGE,
    Format,
    OutputFile,
    OutputFormat,
    Replace,
    StageGroup,
    many_values,
    rows_format,
)
from polyculture.cli.tables import write_rows, write_sheet
from polyculture.collect.mining.annotators import (
    AGREED_COLUMNS,
    REJECTED,
    SHEET_COLUMNS,
    compare,
    disputed_columns,
    read_sheet,
    sheet_rows,
)
from polyculture.console import say
from polyculture.progress import watch

app = typer.Typer(
    cls=many_values(StageGroup, "--corpus", "--annotators"),
    no_args_is_help=True,
    help="Count the n-grams in the slots of patterns: `polyculture corpus mine --patterns FILE --corpus FILE...`.\n\n"
    "Then `corpus mine export` writes sheets for annotators, and `corpus mine agree` reads them back.",
    epilog="polyculture corpus mine --patterns patterns.toml --corpus web/*.jsonl.gz --language ar -o counts.csv",
)


@app.command(
    STAGE, hidden=True, epilog="polyculture corpus mine --patterns p.toml --corpus web/*.jsonl.gz -o counts.csv"
)
def mine(
    patterns: Annotated[Path, typer.Option(help="The patterns file, see docs/collecting.md.")],
    corpus: Annotated[
        list[Path], typer.Option(help="Text: JSON lines, plain or Parquet, compressed or not; or a folder.")
    ],
    language: Annotated[
        str | None, typer.Option(help="The language of the patterns, where the file has several.")
    ] = None,
    text_field: Annotated[str, typer.Option(help="The field of JSON, or column of Parquet, with the text.")] = "text",
    processes: Annotated[int | None, typer.Option(min=1, help="How many processes. Default: one per core.")] = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Count the n-grams in the patterns' slots, and choose those that may be names."""
    from polyculture.cache.database import cores
    from polyculture.collect.mining.corpus import open_corpus
    from polyculture.collect.mining.count import counted
    from polyculture.collect.mining.patterns import read_patterns
    from polyculture.collect.mining.sweep import sweep

    format = rows_format(format, output)
    if format is Format.PARQUET and output is None:
        raise StoreError("Parquet is not for the terminal", remedy="Name a file with --output FILE.")
    chosen, filters = read_patterns(patterns, language)
    files = open_corpus(corpus, text_field)
    total = sum(file.size for file in files)
    with work_folder(output) as folder:
        with watch("mine, megabytes", total // MEGABYTE) as progress:
            report = in_megabytes(progress)
            swept = sweep(files, chosen, folder, processes or cores(), report)
        report_sweep(swept)
        with counted(swept, chosen, filters, folder) as counts:
            write_rows(as_wanted(counts.rows, format, output), format, output)
            tell_counted(counts)
            if output is not None:
                write_provenance(output, chosen, filters, files, swept, counts)
        if swept.failures:
            left = f"{len(swept.failures)} of {len(files)} files could not be read completely"
            raise IncompleteError(f"{left}; the rest is counted. Repair them and run the same command again")


@app.command(epilog="polyculture corpus mine export counts.csv -o sheet.csv --annotators ana ben")
def export(
    counts: Annotated[Path, typer.Argument(metavar="COUNTS", help="What polyculture corpus mine wrote: a CSV file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="sheet.csv becomes sheet-ana.csv, sheet-ben.csv.")],
    annotators: Annotated[list[str], typer.Option(help="The annotators' names: one sheet each.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N.")] = None,
    replace: Replace = False,
) -> None:
    """Write a sheet per annotator, with an empty column `judgement` and the contexts beside it."""
    if len(set(annotators)) < len(annotators) or any(Path(name).name != name for name in annotators):
        raise StoreError("annotators need distinct names that are valid in a file name", remedy="Name them otherwise.")
    rows = sheet_rows(counts, limit)
    sheets = [output.with_name(f"{output.stem}-{name}{output.suffix}") for name in annotators]
    for sheet in sheets:
        if sheet.exists() and not replace:
            remedy = "It may hold judgements. Name another file, or overwrite it: --replace"
            raise StoreError("is there already", where=sheet, remedy=remedy)
    for sheet in sheets:
        write_sheet(sheet, SHEET_COLUMNS, rows)
    say(f"Wrote {', '.join(map(str, sheets))}: {len(rows)} rows each")


@app.command(epilog="polyculture corpus mine agree sheet-ana.csv sheet-ben.csv -o entities.csv")
def agree(
    sheets: Annotated[list[Path], typer.Argument(metavar="SHEETS", help="Judged sheets, two or more.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file for the agreed list.")],
    reject: Annotated[list[str] | None, typer.Option(help="The judgement that rejects an entity. Default: no.")] = None,
    disagreements: Annotated[Path | None, typer.Option(help="The file for the disputed rows.")] = None,
) -> None:
    """Measure the annotators' agreement, show where they differ, and write the list that all accept."""
    if len(sheets) < 2:
        raise StoreError("agreement needs the sheets of two annotators or more", remedy="Name them all.")
    if len({sheet.resolve() for sheet in sheets}) < len(sheets):
        raise StoreError("a sheet is named twice", remedy="Name each annotator's once.")
    judged = [read_sheet(sheet) for sheet in sheets]
    agreement = compare(judged, reject or REJECTED)
    show_agreement(agreement, disputed_columns(judged))
    write_sheet(output, AGREED_COLUMNS, agreement.agreed)
    if disagreements is not None:
        write_sheet(disagreements, disputed_columns(judged), agreement.disputed)
    rest = f"{agreement.rejected} rejected, {len(agreement.disputed)} disputed, {agreement.unjudged} not judged by all"
    say(f"Wrote {output}: {len(agreement.agreed)} entities; {rest}")
