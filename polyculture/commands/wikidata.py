"""`polyculture wikidata`: local snapshots of Wikidata."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyculture.console import say

app = typer.Typer(
    no_args_is_help=True,
    help="Build a local snapshot of Wikidata, or look into one.",
    epilog="polyculture wikidata build latest-all.json.gz -o wikidata.duckdb",
)

CatalogFolder = Annotated[
    Path | None, typer.Option("--catalog", help="Your own topics/ and languages/, to keep their languages' names too.")
]


@app.command(epilog="polyculture wikidata build latest-all.json.gz -o wikidata-2026-09.duckdb")
def build(
    dump: Annotated[Path, typer.Argument(metavar="DUMP", help="Wikidata's entity JSON: .json, .json.gz, .json.bz2.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The snapshot to write.")],
    catalog: CatalogFolder = None,
    replace: Annotated[bool, typer.Option("--replace", help="Write over a file that is there.")] = False,
) -> None:
    """Build a snapshot from a Wikidata JSON dump, whole or a slice, in one pass.

    A build that was interrupted goes on where it was.
    """
    from cache.catalog import read_catalog
    from cache.errors import SnapshotError
    from cache.outcome import Outcome
    from link.build import BuildSettings, build_index, label_languages
    from polyculture.console import watch

    if output.exists() and not replace:
        raise SnapshotError("is there already", where=output, remedy="Name another file, or write over it: --replace")
    size = dump.stat().st_size if dump.is_file() else 0
    with watch(f"build {output.name}, megabytes of {dump.name}", size // 10**6) as progress:
        languages = label_languages(read_catalog(catalog))
        settings = BuildSettings(progress=lambda read, _size: progress(Outcome(read // 10**6, 0)), tell=say)
        report = build_index(dump, output, languages, settings)
    intake = report.intake
    say(f"Wrote {output}: {intake.items} items, {intake.skipped} lines skipped, {intake.broken} broken")
    for line, reason in intake.broken_lines:
        say(f"  line {line}: {reason}")


@app.command(epilog="polyculture wikidata show Q234646 --snapshot wikidata.duckdb")
def show(
    item: Annotated[str, typer.Argument(metavar="QID", help="A Wikidata item, e.g. Q234646.")],
    snapshot: Annotated[str, typer.Option(help="A snapshot's file, or starter.")] = "starter",
    catalog: CatalogFolder = None,
) -> None:
    """Show what a snapshot knows of an item: names, claims, countries, and its path to each kind's classes."""
    from cache.catalog import read_catalog
    from link.show import describe
    from polyculture.snapshots import find_snapshot
    from polyculture.tables import print_table

    known = describe(find_snapshot(snapshot, Path.cwd()), read_catalog(catalog), item)
    for title, columns, rows in known.tables():
        print_table(columns, rows, title=title)


@app.command(epilog="polyculture wikidata audit starter")
def audit(
    snapshot: Annotated[str, typer.Argument(help="A snapshot's file, or starter.")] = "starter",
    catalog: CatalogFolder = None,
) -> None:
    """Show where a snapshot comes from, and how many items and names it has per topic, kind and language."""
    from cache.catalog import read_catalog
    from link.lexicon import lexicon
    from polyculture.snapshots import find_snapshot
    from polyculture.tables import print_table

    found, known = find_snapshot(snapshot, Path.cwd()), read_catalog(catalog)
    print_table(("what", "value"), list(found.meta.items()), title=str(found.path))
    rows = []
    for topic in known.topics.values():
        for language in known.languages:
            names = lexicon(found, known, topic.code, language)
            counts = names.group_by("kind").aggregate([("qid", "count_distinct"), ("surface", "count")]).to_pylist()
            rows += [(topic.code, r["kind"], language, r["qid_count_distinct"], r["surface_count"]) for r in counts]
    print_table(("topic", "kind", "language", "items", "names"), sorted(rows), title="Items that reach each kind")
