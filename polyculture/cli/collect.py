"""`polyculture wikidata collect`: the items of a class, as a first list of entities."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polyculture.cache.files import cache_folder
from polyculture.cli.options import Contact, Format, OutputFile, OutputFormat, Packs, SnapshotName, rows_format
from polyculture.cli.tables import write_rows
from polyculture.console import say

if TYPE_CHECKING:
    import duckdb

    from polyculture.cache.catalog import Catalog
    from polyculture.collect.wikidata.collect import Collection
    from polyculture.link.index.snapshot import Snapshot

# The columns on a terminal; the columns of a CSV file, with each list in one cell.
SHOWN = """
qid, label, english, in_languages AS languages, array_to_string(countries, ' ') AS countries, sitelinks, description
"""
FLAT = """* REPLACE (
    array_to_string(aliases, ' | ') AS aliases,
    array_to_string(countries, ' | ') AS countries,
    array_to_string(country_qids, ' | ') AS country_qids,
    array_to_string(country_properties, ' | ') AS country_properties,
    array_to_string(path, ' > ') AS path,
    array_to_string(list_transform(map_entries(labels), lambda one: one.key || ': ' || one.value), ' | ') AS labels
)"""


class Members(StrEnum):
    """Which items are meant: things, classes of things, or both."""

    ANY = "any"
    INSTANCES = "instances"
    CLASSES = "classes"


def collect(
    published: Annotated[
        str | None,
        typer.Argument(
            metavar="PRESET:TYPE:CULTURE",
            help="What a paper collected: camellia:food:Western. Types: authors, beverage, food, locations, sports, "
            "cricket; cultures: Western (one set for nine languages), Japanese, Korean, ...",
        ),
    ] = None,
    classes: Annotated[
        list[str] | None, typer.Option("--class", metavar="QID", help="A Wikidata class; may be repeated.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="The language of the labels, e.g. ja.")] = None,
    country: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Only this country: JP or Q17; may be repeated.")
    ] = None,
    stop: Annotated[
        list[str] | None, typer.Option(metavar="QID", help="A class that a path may not cross; may be repeated.")
    ] = None,
    members: Annotated[Members, typer.Option(help="Instances, classes (kinds of dish), or any.")] = Members.ANY,
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="One set for more languages: another one of the labels; may be repeated."),
    ] = None,
    at_least: Annotated[
        int | None, typer.Option(min=0, help="Only items with a label in so many of all languages.")
    ] = None,
    most: Annotated[int | None, typer.Option(min=1, help="At most so many items, the best known.")] = None,
    labelled: Annotated[bool, typer.Option("--labelled", help="Only items with a label in the language.")] = False,
    snapshot: SnapshotName = "starter",
    endpoint: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Ask Wikidata's services now, this SPARQL endpoint first, instead of a snapshot."
        ),
    ] = None,
    contact: Contact = None,
    catalog: Packs = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Collect the items of a class with all its subclasses.

    Label, English label, aliases, description, countries and sitelinks of each, best known first.
    """
    from polyculture.cache.catalog import read_catalog
    from polyculture.collect.wikidata.collect import Collection, collected
    from polyculture.collect.wikidata.presets import find_preset
    from polyculture.experiment.snapshots import find_snapshot

    format = rows_format(format, output)
    known = read_catalog(*catalog or ())
    if published is None:
        if not classes or language is None:
            raise typer.BadParameter("give --class and --language, or PRESET:TYPE:CULTURE, as camellia:food:Western")
        wanted = Collection(classes, language, country or (), stop or (), members.value, also=tuple(also or ()))
    else:
        if classes or stop or published.count(":") != 2:
            raise typer.BadParameter(f"{published}: write PRESET:TYPE:CULTURE, and no --class or --stop beside it")
        name, type, culture = published.split(":")
        preset = find_preset(name)
        wanted = preset.collection(type, culture)
        wanted = replace(
            wanted,
            language=language or wanted.language,
            countries=country or wanted.countries,
            also=tuple(also) if also else wanted.also,
        )
    wanted = replace(
        wanted,
        labelled=labelled,
        at_least=wanted.at_least if at_least is None else at_least,
        most=wanted.most if most is None else most,
    )
    source = find_snapshot(snapshot, Path.cwd()) if endpoint is None else _pulled(known, wanted, endpoint, contact)
    with collected(source, known, wanted) as rows:
        write_rows(_as_wanted(rows, format, output), format, output)
        say(f"{len(rows)} items")
        _tell_limits(source, known, wanted, len(rows))


def _tell_limits(source: Snapshot, catalog: Catalog, wanted: Collection, rows: int) -> None:
    """Says what bounded a set: its limit, and languages without names."""
    from polyculture.collect.wikidata.collect import without_names

    if wanted.most is not None:
        say(f"at most {wanted.most} were asked for" + ("; there may be more" if rows == wanted.most else ""))
    if wanted.at_least and (lacking := without_names(source, catalog, wanted)):
        say(f"{source.name} keeps no names in {', '.join(lacking)}: no label counts in them")


def _pulled(catalog: Catalog, wanted: Collection, endpoint: str, contact: str | None) -> Snapshot:
    from polyculture.collect.wikidata.from_service import pulled
    from polyculture.link.api.client import ApiSettings
    from polyculture.link.api.sparql import SparqlSettings

    service = ApiSettings(contact or "")
    return pulled(catalog, wanted, cache_folder(), SparqlSettings(contact or "", endpoint), service)


def _as_wanted(rows: duckdb.DuckDBPyRelation, format: Format, output: Path | None) -> duckdb.DuckDBPyRelation:
    """Lists stay lists where the format supports them; in CSV they are one cell."""
    if format in (Format.JSON, Format.PARQUET):
        return rows
    return rows.select(SHOWN if format is Format.TABLE and output is None else FLAT)
