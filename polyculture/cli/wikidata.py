"""`polyculture wikidata`: local snapshots of Wikidata."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polyculture.cache.errors import SnapshotError, install_line
from polyculture.cache.extras import DUMPS
from polyculture.cache.work.outcome import Outcome
from polyculture.cli.collect import collect
from polyculture.cli.options import Contact, Packs, Replace, SnapshotName, UsageError
from polyculture.cli.tables import print_table
from polyculture.console import say
from polyculture.progress import watch

if TYPE_CHECKING:
    from polyculture.cache.catalog import Catalog
    from polyculture.experiment.workspace import Workspace
    from polyculture.link.api.client import ApiSettings

ENDPOINT = "https://query.wikidata.org/sparql"
EPILOG = "polyculture wikidata pull exp.toml --contact you@example.org"


@dataclass(frozen=True, slots=True)
class _PullRequest:
    """What is to be pulled, and into which file."""

    catalog: Catalog
    topics: Sequence[str]
    output: Path
    service: ApiSettings
    workspace: Workspace | None


def pull(
    experiment: Annotated[
        Path | None,
        typer.Argument(
            metavar="[EXPERIMENT]",
            help="An experiment file: its topics, with names in its languages, go to NAME-wikidata.duckdb next to it.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The snapshot to write; must be said without an experiment.")
    ] = None,
    contact: Contact = None,
    topic: Annotated[list[str] | None, typer.Option(help="A topic; may be given several times. Default: all.")] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(
            help=f"A SPARQL endpoint, which says what belongs to the topics. Default: [link] sparql, {ENDPOINT}."
        ),
    ] = None,
    requests_per_minute: Annotated[
        float | None,
        typer.Option(min=0.1, help="How many to send to either service at most. Default: 60 queries; 200 for items."),
    ] = None,
    catalog: Packs = None,
    replace: Replace = False,
) -> None:
    """Build a snapshot of all items of some topics: which these are, an endpoint says; the items, Wikidata's API.

    The endpoint may be the Query Service or QLever; the API is that of [link]. All answers stay on disk until the
    snapshot is written: the same command resumes a pull that failed or was stopped, as one may where it says how many
    items there are. Items outside the topics are missing: a snapshot of a dump has more candidates per name.
    """
    from polyculture.link.api.sparql import SparqlSettings
    from polyculture.link.pull.pull import pull_index
    from polyculture.running.linking import link_lines

    wanted = (
        _of_experiment(experiment, output, contact, topic, catalog)
        if experiment
        else _of_topics(output, contact, topic, catalog)
    )
    of_file = wanted.workspace.experiment.link.sparql if wanted.workspace else ENDPOINT
    settings = SparqlSettings(wanted.service.contact, endpoint or of_file)
    service = wanted.service
    if requests_per_minute is not None:
        settings = dataclasses.replace(settings, requests_per_minute=requests_per_minute)
        service = dataclasses.replace(service, requests_per_minute=requests_per_minute)
    if _is_done(wanted.output, replace):
        return
    title = f"pull {wanted.output.name}, items"
    report = pull_index(
        wanted.catalog,
        wanted.topics,
        wanted.output,
        settings,
        service,
        lambda total: watch(title, total),
    )
    items, sent = report.snapshot.meta["counts"]["items"], f"{report.asked:,} queries, {report.requests:,} requests"
    say(f"Wrote {wanted.output}: {items:,} items; {sent}")
    say("  It has no items outside the topics, so fewer links are ambiguous")
    if wanted.workspace:
        say(f"  To link with it, write in {experiment}: {link_lines(wanted.workspace, wanted.output)}")


def check_free(output: Path, replace: bool) -> None:
    """Raises `SnapshotError` where there is such a file, and it is not to be overwritten."""
    if output.exists() and not replace:
        raise SnapshotError("is there already", where=output, remedy="Name another file, or overwrite it: --replace")


def _is_done(output: Path, replace: bool) -> bool:
    """Whether a command that was killed had written the snapshot already. Raises what `check_free` raises."""
    from polyculture.link.index.draft import tidied_after_kill

    if not replace and tidied_after_kill(output):
        say(f"{output} is whole: the command that was killed had written it")
        return True
    check_free(output, replace)
    return False


def _of_experiment(
    file: Path, output: Path | None, contact: str | None, topic: list[str] | None, catalog: list[Path] | None
) -> _PullRequest:
    from polyculture.running.linking import api_settings, own_file, pulled_catalog
    from polyculture.running.opening import open_workspace

    for option, given in (("--topic", topic), ("--catalog", catalog)):
        if given:
            raise UsageError(f"{option} is for a pull without an experiment: {file} names its own")
    workspace = open_workspace(file)
    of_file = workspace.experiment.link.contact
    if not (contact or of_file):
        raise UsageError(f"{file} has no link.contact: write one, or give --contact you@example.org")
    experiment = workspace.experiment
    service = api_settings(workspace, contact)
    return _PullRequest(pulled_catalog(workspace), experiment.topics, output or own_file(workspace), service, workspace)


def _of_topics(
    output: Path | None, contact: str | None, topic: list[str] | None, catalog: list[Path] | None
) -> _PullRequest:
    from polyculture.cache.catalog import read_catalog
    from polyculture.link.api.client import ApiSettings

    for option, given in (("--output", output), ("--contact", contact)):
        if not given:
            raise UsageError(f"Missing option '{option}', or an experiment file")
    known = read_catalog(*catalog or ())
    return _PullRequest(known, topic or list(known.topics), output or Path(), ApiSettings(contact or ""), None)


app = typer.Typer(
    no_args_is_help=True,
    help="Build, pull or inspect a local snapshot of Wikidata.",
    epilog="polyculture wikidata build latest-all.json.gz -o wikidata.duckdb",
)

Output = Annotated[Path, typer.Option("--output", "-o", help="The snapshot to write.")]


@app.command(epilog="polyculture wikidata build latest-all.json.gz -o wikidata-2026-09.duckdb")
def build(
    dump: Annotated[
        Path,
        typer.Argument(metavar="DUMP", help="Wikidata's entity JSON: .json, .json.gz (fastest), .json.bz2, .json.zst."),
    ],
    output: Output,
    catalog: Packs = None,
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Keep names in this language of Wikidata's, too; may be repeated."),
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Reading processes. Default: one per processor.")] = None,
    replace: Replace = False,
) -> None:
    """Build a snapshot from a Wikidata JSON dump, whole or a slice.

    The same command resumes a build that was killed.
    """
    if _is_done(output, replace):
        return
    _build_from_dump(dump, output, _kept_languages(catalog, also), workers)


app.command(epilog=EPILOG)(pull)


def _kept_languages(catalog: list[Path] | None, also: list[str] | None) -> frozenset[str]:
    """The languages of the catalogue, and further ones of Wikidata's. Raises `UsageError` for what is no code."""
    import re

    from polyculture.cache.catalog import read_catalog

    if wrong := [code for code in also or () if not re.fullmatch(r"[a-z]{2,}(-[a-z0-9]+)*", code)]:
        raise UsageError(f"--also {wrong[0]!r} is no language of Wikidata's; write its code, such as vi")
    return read_catalog(*catalog or ()).label_languages | set(also or ())


def _build_from_dump(dump: Path, output: Path, languages: frozenset[str], workers: int | None) -> None:
    from polyculture.link.dumps.build import BuildSettings, build_index

    if dump.suffix == ".gz" and DUMPS.missing:
        say(f"Without {DUMPS.missing[0]} it is decompressed at half the speed: {install_line(DUMPS.name)}")
    size = dump.stat().st_size if dump.is_file() else 0
    with watch(f"build {output.name}, megabytes of {dump.name}", size // 10**6) as progress:
        settings = BuildSettings(workers, lambda read, _size: progress(Outcome(read // 10**6, 0)))
        report = build_index(dump, output, languages, settings)
    counts, items = report.counts, report.snapshot.meta["counts"]["items"]
    say(f"Wrote {output}: {items} items, {counts.skipped} entities of other kinds, {counts.broken} broken")
    if counts.items > items:
        say(f"  {counts.items - items} occurred more than once: the names of all occurrences are kept")
    for line, reason in counts.broken_lines:
        say(f"  line {line}: {reason}")
    if rest := counts.broken - len(counts.broken_lines):
        say(f"  and {rest} more")


@app.command(epilog="polyculture wikidata starter wikidata-2026-09.duckdb -o my-starter")
def starter(
    snapshot: Annotated[Path, typer.Argument(metavar="SNAPSHOT", help="A snapshot's file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")],
    languages: Annotated[
        int, typer.Option(min=1, help="In how many of the catalogue's languages an item must have a name.")
    ] = 3,
    items: Annotated[int, typer.Option(min=1, help="How many items of the topics at most.")] = 10_000,
    catalog: Packs = None,
    replace: Replace = False,
) -> None:
    """Make a starter from a snapshot: the topics' best-known items, with names, classes, creators and countries.

    A folder of Parquet tables with a manifest; [link] snapshot = "FOLDER" links with it. The same
    snapshot gives the same bytes.
    """
    from polyculture.cache.catalog import read_catalog
    from polyculture.link.index.snapshot import open_snapshot, verify
    from polyculture.link.select.selection import MANIFEST, StarterRules, write_starter_folder

    check_free(output / MANIFEST, replace)
    index = open_snapshot(snapshot)
    verify(index)
    manifest = write_starter_folder(index, read_catalog(*catalog or ()), output, StarterRules(languages, items))
    size = sum(manifest["bytes"].values()) / 1e6
    say(f"Wrote {output}: {manifest['items']['entity']} items, {size:.2f} MB")
    for topic, count in manifest["by_topic"].items():
        say(f"  {topic}: {count} items")
    for reason, count in manifest["left_out"].items():
        say(f"  left out, {reason}: {count}")


@app.command(epilog="polyculture wikidata show Q234646 --snapshot wikidata.duckdb")
def show(
    item: Annotated[str, typer.Argument(metavar="QID", help="A Wikidata item, e.g. Q234646.")],
    snapshot: SnapshotName = "starter",
    catalog: Packs = None,
) -> None:
    """Show an item of a snapshot: names, claims, countries, and its path to each kind's classes."""
    from polyculture.cache.catalog import read_catalog
    from polyculture.experiment.snapshots import find_snapshot
    from polyculture.link.index.snapshot import verify
    from polyculture.link.show.items import describe

    index = find_snapshot(snapshot, Path.cwd())
    verify(index)
    known = describe(index, read_catalog(*catalog or ()), item)
    for title, columns, rows in known.tables():
        print_table(columns, rows, title=title)


@app.command(epilog="polyculture wikidata audit starter")
def audit(
    snapshot: Annotated[str, typer.Argument(help="A snapshot's file, or starter.")] = "starter",
    catalog: Packs = None,
) -> None:
    """Show the provenance of a snapshot, and its items and names per topic, kind and language.

    A language's names are its own: English ones that a text in another script may have instead are not counted.
    """
    from polyculture.cache.catalog import read_catalog
    from polyculture.experiment.snapshots import find_snapshot
    from polyculture.link.index.lexicon import lexicons

    index, known = find_snapshot(snapshot, Path.cwd()), read_catalog(*catalog or ())
    told = [(key, value) for key, value in index.meta.items() if key != "scopes"]  # numbers by hashes, for the linker
    print_table(("what", "value"), told, title=index.name)
    rows = []
    for topic in known.topics.values():
        for language, names in lexicons(index, known, topic.code, known.languages, own_only=True).items():
            counts = names.group_by("kind").aggregate([("qid", "count_distinct"), ("surface", "count")]).to_pylist()
            rows += [(topic.code, r["kind"], language, r["qid_count_distinct"], r["surface_count"]) for r in counts]
    print_table(
        ("topic", "kind", "language", "items", "names"),
        sorted(rows),
        title="Items that reach each kind, with a name of the language's own",
    )


app.command(epilog="polyculture wikidata collect --class Q746549 --country JP --language ja -o dishes.csv")(collect)
