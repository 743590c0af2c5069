"""`polyculture wikidata pull`: a snapshot of what some topics, or an experiment, need, from a SPARQL endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polyculture.cli.options import Contact, Packs, Replace, UsageError
from polyculture.console import say

if TYPE_CHECKING:
    from polyculture.cache.catalog import Catalog
    from polyculture.experiment.workspace import Workspace

ENDPOINT = "https://query.wikidata.org/sparql"
EPILOG = "polyculture wikidata pull exp.toml --contact you@example.org"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be pulled, and into which file."""

    catalog: Catalog
    topics: Sequence[str]
    output: Path
    contact: str
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
    endpoint: Annotated[str, typer.Option(help="A SPARQL endpoint over Wikidata.")] = ENDPOINT,
    requests_per_minute: Annotated[float, typer.Option(min=0.1, help="How many requests to send at most.")] = 60.0,
    deadline: Annotated[float, typer.Option(min=1, help="Seconds for a whole answer.")] = 600.0,
    max_megabytes: Annotated[float, typer.Option(min=1, help="The size of an answer, decompressed.")] = 256.0,
    catalog: Packs = None,
    replace: Replace = False,
) -> None:
    """Build a snapshot of what an experiment or some topics need from a SPARQL endpoint: the Query Service, QLever.

    The endpoint's answers stay on disk until the snapshot is written: the same command resumes a pull that failed or
    was stopped, as one may where it says how many items there are. Items outside the topics are missing: a snapshot of
    a dump has more candidates per name.
    """
    from polyculture.console import watch
    from polyculture.link.pull.client import PullSettings
    from polyculture.link.pull.pull import pull_index
    from polyculture.running.wikidata_requests import link_lines

    wanted = (
        _of_experiment(experiment, output, contact, topic, catalog)
        if experiment
        else _of_topics(output, contact, topic, catalog)
    )
    settings = PullSettings(
        wanted.contact, endpoint, requests_per_minute, deadline=deadline, megabytes=max_megabytes, tell=say
    )
    check_free(wanted.output, replace)
    title = f"pull {wanted.output.name}, items"
    report = pull_index(wanted.catalog, wanted.topics, wanted.output, settings, lambda total: watch(title, total))
    items = report.snapshot.meta["counts"]["items"]
    say(f"Wrote {wanted.output}: {items} items from {report.asked} pages, and {report.reused} that were cached")
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
    from polyculture.running.wikidata_requests import own_file, pulled_catalog

    for option, given in (("--topic", topic), ("--catalog", catalog)):
        if given:
            raise UsageError(f"{option} is for a pull without an experiment: {file} names its own")
    workspace = open_workspace(file)
    of_file = workspace.experiment.link.contact
    if not (contact or of_file):
        raise UsageError(f"{file} has no link.contact: write one, or give --contact you@example.org")
    experiment = workspace.experiment
    return _Wanted(
        pulled_catalog(workspace), experiment.topics, output or own_file(workspace), contact or of_file or "", workspace
    )


def _of_topics(
    output: Path | None, contact: str | None, topic: list[str] | None, catalog: list[Path] | None
) -> _Wanted:
    from polyculture.cache.catalog import read_catalog

    for option, given in (("--output", output), ("--contact", contact)):
        if not given:
            raise UsageError(f"Missing option '{option}', or an experiment file")
    known = read_catalog(*catalog or ())
    return _Wanted(known, topic or list(known.topics), output or Path(), contact or "", None)
