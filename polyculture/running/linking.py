"""The linking stage of an experiment: its snapshot, filled from the live service where the experiment says so."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import ExperimentError, JobHeldError, SnapshotError, WikidataError
from polyculture.cache.log import get_logger
from polyculture.cache.store.manifest import require_run
from polyculture.cache.store.parquet import read_rows
from polyculture.cache.store.schema import PUBLISHED_ITEMS
from polyculture.cache.work.outcome import Outcome
from polyculture.experiment.sections import PUBLISHED
from polyculture.experiment.snapshots import STARTER, find_snapshot
from polyculture.experiment.workspace import Workspace
from polyculture.progress import watch

if TYPE_CHECKING:
    from polyculture.cache.store.manifest import Manifest
    from polyculture.link.api.client import ApiSettings
    from polyculture.link.api.names import NamedMention
    from polyculture.link.api.sparql import SparqlSettings
    from polyculture.link.index.snapshot import Snapshot
    from polyculture.link.polite_client import ServiceSettings
    from polyculture.link.published import PublishedLinker

_log = get_logger(__name__)
_Settings = TypeVar("_Settings", bound="ServiceSettings")
LINK = "link"  # the stage


@dataclass(frozen=True, slots=True)
class LinkingStage:
    """The snapshot that an experiment names, ready for queries."""

    workspace: Workspace
    source: Snapshot
    settings: Mapping[str, Any]  # what the manifest says of the linker

    @property
    def linker_id(self) -> str:
        from polyculture.link.linker import linker_id

        if (published := self._published) is not None:
            return published.identity
        experiment = self.workspace.experiment
        return linker_id(
            self.source, self.workspace.catalog, experiment.languages, experiment.topics, experiment.link.forms
        )

    @property
    def provenance(self) -> dict[str, Any]:
        """This stage's part of the manifest."""
        return {"linker": self.settings, "linker_id": self.linker_id, "snapshot": dict(self.source.provenance)}

    @property
    def summary(self) -> str:
        return ", ".join(f"{key} {value}" for key, value in self.settings.items())

    def link(self, manifest: Manifest) -> Outcome:
        from polyculture.link.index.snapshot import verify
        from polyculture.link.stage import link_run

        verify(self.source)
        return link_run(
            self.workspace.run,
            manifest,
            self.workspace.catalog,
            self.source,
            self.workspace.experiment.link.forms,
            self._published,
        )

    @property
    def _published(self) -> PublishedLinker | None:
        """The links that the texts came with, where the experiment takes those."""
        from polyculture.link.published import PublishedLinker, published_links

        workspace = self.workspace
        if workspace.experiment.link.source != PUBLISHED:
            return None
        path = workspace.run.table(PUBLISHED_ITEMS.name)
        if not path.exists():
            remedy = "Import a file with items, or name another link.source."
            raise ExperimentError("link.source: no imported text came with links", where=workspace.file, remedy=remedy)
        return PublishedLinker(workspace.catalog, self.source, published_links(read_rows(path, PUBLISHED_ITEMS)))


def plan_linking(workspace: Workspace, *, contact_needed: bool = True) -> LinkingStage:
    """The linking that the experiment configures. Raises a `UserError` that names the experiment file.

    Without a contact nothing can be asked of the live service: only a plan can do without (`contact_needed`).
    """
    section = workspace.experiment.link
    if contact_needed:
        require_contact(workspace)
    elif workspace.experiment.link.fill:
        api_settings(workspace)  # a contact that is there must be one, for a plan, too
    snapshot = _snapshot(workspace)
    settings = {
        "source": section.source,
        "snapshot": section.snapshot,
        "identity": snapshot.identity,
        **({"fill": True} if section.fill else {}),
        **({"forms": section.forms} if section.forms == "paper" else {}),
    }
    return LinkingStage(workspace, snapshot, settings)


def require_contact(workspace: Workspace) -> None:
    """Raises `ExperimentError` where the live service is to be asked, and nobody can be written to about it."""
    if workspace.experiment.link.fill and not api_settings(workspace).contact:
        raise ExperimentError(
            "link.contact is missing: Wikimedia asks every client for an address that it can write to",
            where=workspace.file,
            remedy='Write contact = "you@example.org" under [link].',
        )


def _snapshot(workspace: Workspace) -> Snapshot:
    """The snapshot of the experiment; an empty one where it is to be filled and there is none yet.

    Raises `ExperimentError` for one that cannot be used, or not be filled.
    """
    from polyculture.link.index.snapshot import FILLED, Snapshot

    section = workspace.experiment.link
    file = workspace.file.parent / section.snapshot
    if section.fill and not file.exists():
        languages = sorted(workspace.catalog.label_languages)
        source = {"kind": FILLED}
        return Snapshot(file, {"languages": languages, "identity": "nothing yet", "complete": False, "source": source})
    try:
        found = find_snapshot(section.snapshot, workspace.file.parent)
        if section.fill:
            from polyculture.link.api.fill import check_base

            chains = (workspace.catalog.language(code).label_languages for code in workspace.experiment.languages)
            check_base(found, section.endpoint, {code for chain in chains for code in chain})
        return found
    except SnapshotError as fault:
        what = f"link.snapshot: {fault.where}: {fault.what}"
        raise ExperimentError(what, where=workspace.file, remedy=fault.remedy) from fault


def check_topics(workspace: Workspace, source: Snapshot) -> None:
    """Reports classes of a user's own topics that the snapshot lacks; raises `CatalogError` where it lacks all."""
    from polyculture.link.index.classes import check_classes

    if not workspace.experiment.link.fill:  # else it has the classes of the names so far
        for line in check_classes(source, workspace.catalog, workspace.experiment.topics):
            _log.warning(line)


def tell_lacking(workspace: Workspace, source: Snapshot) -> None:
    """Reports what the snapshot lacks of the experiment's languages and topics."""
    from polyculture.link.linker import lacking

    experiment = workspace.experiment
    for line in lacking(source, workspace.catalog, experiment.languages, experiment.topics):
        _log.warning(f"link.snapshot holds for {line}")


def tell_uncovered_countries(workspace: Workspace, source: Snapshot) -> None:
    """Reports the asked countries of which the snapshot holds no item: their shares are no numbers."""
    from polyculture.link.origins import uncovered_topics

    experiment, catalog = workspace.experiment, workspace.catalog
    uncovered = uncovered_topics(source, catalog, experiment.topics)
    for topic in experiment.topics:
        codes = [code for code in experiment.countries if topic in uncovered.get(code, ())]
        if codes:
            names = ", ".join(catalog.country(code).name for code in codes)
            _log.warning(f"{topic}: link.snapshot holds no item of {names}, whose specificity will have no number")


def link_with(workspace: Workspace, name: str) -> None:
    """Links the run's mentions with another snapshot, beside the run's own links, and says so.

    Where [link] says `fill`, the names of the run are filled in first, if the file is new or was filled before. Else a
    line says of how many mentions a filled file lacks the names.
    """
    from polyculture.link.api.fill import names_to_ask
    from polyculture.link.index.snapshot import verify
    from polyculture.link.stage import current_items, current_names, link_beside

    manifest, file = require_run(workspace.run), Path.cwd() / name
    names = current_names(workspace.run, manifest)
    if (
        workspace.experiment.link.fill
        and name != STARTER
        and (not file.exists() or find_snapshot(name, Path.cwd()).filled)
    ):
        fill_with(workspace, names, file, current_items(workspace.run, manifest))
    snapshot = find_snapshot(name, Path.cwd())
    verify(snapshot)
    if snapshot.filled and (unasked := names_to_ask(workspace.catalog, names, file).mentions):
        _log.warning(
            f"{snapshot.name} was filled without the names of {unasked:,} of the run's mentions, which count as not"
            " found: set fill = true under [link], or name a new file"
        )
    outcome = link_beside(workspace.run, manifest, workspace.catalog, snapshot, workspace.experiment.link.forms)
    _log.info(f"snapshot_links: {outcome.done} queries linked with {snapshot.name}; `links` are as they were")


def fill_with(workspace: Workspace, mentions: Iterable[NamedMention], out: Path, linked: Iterable[str] = ()) -> None:
    """Fills the snapshot `out` with what `mentions` may mean, asked as [link] says, and reports how much was asked.

    Items that are `linked` with another snapshot are asked for, too: they may have been merged since.

    Raises what `fill_snapshot` raises.
    """
    from polyculture.link.api.fill import fill_snapshot

    endpoint, service, search = sparql_settings(workspace), api_settings(workspace), workspace.experiment.link.search
    with watch(f"fill {out.name}, names and items", 0) as progress:
        report = fill_snapshot(
            workspace.catalog, mentions, out, endpoint, service, search=search, linked=linked, progress=progress
        )
    if report.queries or report.requests:
        items = report.snapshot.meta["counts"]["items"]
        asked = f"{report.queries:,} queries and {report.requests:,} requests for {report.mentions:,} mentions"
        _log.info(f"Wrote {out}: {items:,} items; {asked}")


def api_settings(workspace: Workspace, contact: str | None = None) -> ApiSettings:
    """How the Action API is asked, as [link] says. Raises `ExperimentError` for settings that cannot be sent.

    A contact that nobody gave is missed only where something is to be asked: a plan needs none.
    """
    from polyculture.link.api.client import REQUESTS_PER_MINUTE, ApiSettings

    section = workspace.experiment.link
    rate = section.requests_per_minute or REQUESTS_PER_MINUTE
    return _checked(workspace, ApiSettings(contact or section.contact or "", section.endpoint, rate))


def sparql_settings(workspace: Workspace, contact: str | None = None) -> SparqlSettings:
    """How the SPARQL endpoint is asked, as [link] says. Raises as `api_settings`."""
    from polyculture.link.api.sparql import QUERIES_PER_MINUTE, SparqlSettings

    section = workspace.experiment.link
    rate = min(section.requests_per_minute or QUERIES_PER_MINUTE, QUERIES_PER_MINUTE)
    return _checked(workspace, SparqlSettings(contact or section.contact or "", section.sparql, rate))


def _checked(workspace: Workspace, settings: _Settings) -> _Settings:
    try:
        if settings.contact:
            settings.check()
    except WikidataError as fault:
        where = f" ({fault.where})" if fault.where else ""
        raise ExperimentError(f"[link]: {fault.what}{where}", where=workspace.file, remedy=fault.remedy) from fault
    return settings


# Assumed: the study has 20 million mentions in 6.0 million responses, and of m mentions in a language and topic some
# 5 m^0.6 are distinct: people's answers on food (BLEnD, five languages) have 4 to 6 times m^0.6, on drinks 2 to 3.
MENTIONS_A_RESPONSE = 3
_DISTINCT, _GROWTH = 5.0, 0.6


def request_rows(workspace: Workspace, manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Rows for `plan`: what the live service would be asked, and what a pull would be. None with an own index.

    `manifest` is the run's as it will be: it says which extractions are current.
    """
    section = workspace.experiment.link
    if section.fill:
        from polyculture.link.api.fill import assumed_names, expected_requests, names_to_ask

        stored, extracted = _stored_names(workspace, manifest)
        try:
            asked = names_to_ask(workspace.catalog, stored, workspace.file.parent / section.snapshot)
        except JobHeldError as held:
            yield "link asks", f"what is left is not known: {held}"
            return
        assumed = assumed_mentions(workspace, extracted)
        services = (sparql_settings(workspace), api_settings(workspace))
        yield "link asks", expected_requests(asked + assumed_names(assumed), *services, search=section.search)
        said = []
        if texts := extracted.total():
            said.append(
                f"for {asked.mentions:,} of the {len(stored):,} distinct mentions of {texts:,} extracted texts: the"
                " file was asked for the names of the others"
            )
        if assumed:
            said.append(
                f"for {assumed:,} distinct mentions of texts without an extraction; nothing for names that the file was"
                f" asked for. Assumed: {MENTIONS_A_RESPONSE} mentions a response, of m in a language and topic"
                f" {_DISTINCT:g} m^{_GROWTH:g} distinct"
            )
        yield from (("", line) for line in said)
    if section.fill or section.snapshot == STARTER:
        yield "or pull", pull_line(workspace)


def assumed_mentions(workspace: Workspace, extracted: Mapping[tuple[str, str], int] = MappingProxyType({})) -> int:
    """How many distinct mentions the texts, generated or imported ones, are assumed to hold beside those that are
    `extracted`, of which there are so many by language and topic."""
    texts = Counter[tuple[str, str]]()
    for job in workspace.jobs:
        texts[job.language, job.topic] += workspace.extracted_of(job)
    return round(sum(max(0.0, _distinct(size) - _distinct(extracted.get(of, 0))) for of, size in texts.items()))


def _distinct(texts: int) -> float:
    mentions = float(texts * MENTIONS_A_RESPONSE)
    return min(mentions, _DISTINCT * math.pow(mentions, _GROWTH))


def _stored_names(workspace: Workspace, manifest: Manifest) -> tuple[list[NamedMention], Counter[tuple[str, str]]]:
    """The names of the mentions that the run has, and of how many texts of each language and topic they are."""
    from polyculture.cache.store.store import open_store
    from polyculture.link.stage import current_names

    if not workspace.run.manifest.exists():
        return [], Counter()
    with open_store(workspace.run, manifest=manifest) as store:
        texts = store.sql("SELECT language, topic, count(*) FROM extractions GROUP BY ALL").fetchall()
    extracted = Counter({(language, topic): count for language, topic, count in texts})
    return (current_names(workspace.run, manifest) if extracted else []), extracted


def own_file(workspace: Workspace) -> Path:
    """The snapshot that `wikidata pull EXPERIMENT` writes, and that is filled where [link] names none."""
    return workspace.file.parent / f"{workspace.experiment.name}-wikidata.duckdb"


def pulled_catalog(workspace: Workspace) -> Catalog:
    """The catalogue with the experiment's languages alone, so that no other names are pulled."""
    catalog = workspace.catalog
    chosen = {code: catalog.language(code) for code in workspace.experiment.languages}
    return catalog.model_copy(update={"languages": chosen})


def link_lines(workspace: Workspace, snapshot: Path) -> str:
    """What stands in the experiment file for linking with a snapshot."""
    folder, file = workspace.file.resolve().parent, snapshot.resolve()
    name = file.relative_to(folder) if file.is_relative_to(folder) else file
    return f'[link] snapshot = "{name.as_posix()}"'


def pull_line(workspace: Workspace) -> str:
    """The command that gets all items of the experiment's topics, or what is written where it was given."""
    file = own_file(workspace)
    if file.exists():
        return f"{file.name} is there: {link_lines(workspace, file)}"
    return f"polyculture wikidata pull {workspace.file.name}: all items of the topics; it says first how many"
