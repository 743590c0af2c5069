"""`polyculture wikidata pull`: a snapshot of what some topics, or an experiment, need, from Wikidata's services."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyculture.cli.options import Contact, Packs, Replace, UsageError
from polyculture.console import say

if TYPE_CHECKING:
    from polyculture.cache.catalog import Catalog
    from polyculture.experiment.workspace import Workspace
    from polyculture.link.api.settings import ApiSettings

ENDPOINT = "https://query.wikidata.org/sparql"
EPILOG = "polyculture wikidata pull exp.toml --contact you@example.org"


@dataclass(frozen=True, slots=True)
class _Wanted:
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
            help="An experiment file: its topics, with names in its languages, go to NAME-wikidata.duckdb beside it.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The snapshot to write; must be said without an experiment.")
    ] = None,
    contact: Contact = None,
    topic: Annotated[list[str] | None, typer.Option(help="A topic; may be given several times. Default: all.")] = None,
    endpoint: Annotated[
        str, typer.Option(help="A SPARQL endpoint over Wikidata, which says what belongs to the topics.")
    ] = ENDPOINT,
    requests_per_minute: Annotated[
        float | None,
        typer.Option(min=0.1, help="How many to send to either service at most. Default: 60 queries; 200 for items."),
    ] = None,
    deadline: Annotated[float, typer.Option(min=1, help="Seconds for a whole answer.")] = 600.0,
    max_megabytes: Annotated[float, typer.Option(min=1, help="The size of an answer, decompressed.")] = 256.0,
    catalog: Packs = None,
    replace: Replace = False,
) -> None:
    """Build a snapshot of all items of some topics: which these are, an endpoint says; the items, Wikidata's API.

    The endpoint may be the Query Service or QLever; the API is that of [link]. All answers stay on disk until the
    snapshot is written: the same command resumes a pull that failed or was stopped, as one may where it says how many
    items there are. Items outside the topics are missing: a snapshot of a dump has more candidates per name.
    """
    from polyculture.console import watch
    from polyculture.link.pull.client import SparqlSettings
    from polyculture.link.pull.pull import pull_index
    from polyculture.running.wikidata_requests import link_lines

    wanted = (
        _of_experiment(experiment, output, contact, topic, catalog)
        if experiment
        else _of_topics(output, contact, topic, catalog)
    )
    bounds: dict[str, Any] = {"deadline": deadline, "megabytes": max_megabytes}
    if requests_per_minute is not None:
        bounds["requests_per_minute"] = requests_per_minute
    settings = SparqlSettings(wanted.service.contact, endpoint, tell=say, **bounds)
    check_free(wanted.output, replace)
    title = f"pull {wanted.output.name}, items"
    report = pull_index(
        wanted.catalog,
        wanted.topics,
        wanted.output,
        settings,
        dataclasses.replace(wanted.service, **bounds),
        lambda total: watch(title, total),
    )
    items, sent = report.snapshot.meta["counts"]["items"], f"{report.asked:,} queries, {report.requests:,} requests"
    say(f"Wrote {wanted.output}: {items:,} items; {sent}; {report.reused:,} answers of earlier queries")
    say("  It has no items outside the topics, so fewer links are ambiguous")
    if wanted.workspace:
        say(f"  To link with it, write in {experiment}: {link_lines(wanted.workspace, wanted.output)}")


def check_free(output: Path, replace: bool) -> None:
    """Raises `SnapshotError` where there is such a file, and it is not to be overwritten."""
    from polyculture.cache.errors import SnapshotError

    if output.exists() and not replace:
        raise SnapshotError("is there already", where=output, remedy="Name another file, or overwrite it: --replace")


def _of_experiment(
    file: Path, output: Path | None, contact: str | None, topic: list[str] | None, catalog: list[Path] | None
) -> _Wanted:
    from polyculture.experiment.opening import open_workspace
    from polyculture.running.linking import api_settings
    from polyculture.running.wikidata_requests import own_file, pulled_catalog

    for option, given in (("--topic", topic), ("--catalog", catalog)):
        if given:
            raise UsageError(f"{option} is for a pull without an experiment: {file} names its own")
    workspace = open_workspace(file)
    of_file = workspace.experiment.link.contact
    if not (contact or of_file):
        raise UsageError(f"{file} has no link.contact: write one, or give --contact you@example.org")
    experiment = workspace.experiment
    service = api_settings(workspace, contact)
    return _Wanted(pulled_catalog(workspace), experiment.topics, output or own_file(workspace), service, workspace)


def _of_topics(
    output: Path | None, contact: str | None, topic: list[str] | None, catalog: list[Path] | None
) -> _Wanted:
    from polyculture.cache.catalog import read_catalog
    from polyculture.link.api.settings import ApiSettings

    for option, given in (("--output", output), ("--contact", contact)):
        if not given:
            raise UsageError(f"Missing option '{option}', or an experiment file")
    known = read_catalog(*catalog or ())
    return _Wanted(known, topic or list(known.topics), output or Path(), ApiSettings(contact or "", tell=say), None)
