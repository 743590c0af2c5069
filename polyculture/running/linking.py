"""The linking stage of an experiment: a snapshot, or the live service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import ExperimentError, SnapshotError, WikidataError
from polyculture.cache.files import cache_folder
from polyculture.cache.outcome import Outcome, Progress
from polyculture.console import say
from polyculture.experiment.sections import PUBLISHED, LinkSection
from polyculture.experiment.snapshots import find_snapshot
from polyculture.experiment.workspace import Workspace
from polyculture.link.forms import FORMS

if TYPE_CHECKING:
    from polyculture.cache.manifest import Manifest
    from polyculture.link.api.client import ApiSettings
    from polyculture.link.published import PublishedLinker
    from polyculture.link.rules import LinkRules
    from polyculture.link.source import Source

API_CACHE = "wikidata-cache.sqlite"


@dataclass(frozen=True, slots=True)
class LinkingStage:
    """The entity source that an experiment names, ready for queries."""

    workspace: Workspace
    source: Source
    settings: Mapping[str, Any]  # what the manifest says of the linker

    @property
    def linker_id(self) -> str:
        from polyculture.link.rules import linker_id

        if (published := self._published) is not None:
            return published.identity
        experiment = self.workspace.experiment
        return linker_id(self.source, self.workspace.catalog, experiment.topics, self._rules)

    @property
    def provenance(self) -> dict[str, Any]:
        """This stage's part of the manifest."""
        return {"linker": self.settings, "linker_id": self.linker_id, "snapshot": dict(self.source.provenance)}

    @property
    def summary(self) -> str:
        return ", ".join(f"{key} {value}" for key, value in self.settings.items())

    def link(self, manifest: Manifest, progress: Progress) -> Outcome:
        from polyculture.link.index.snapshot import verify
        from polyculture.link.index.source import IndexSource
        from polyculture.link.stage import link_run

        if isinstance(self.source, IndexSource):
            verify(self.source.snapshot)
        return link_run(
            self.workspace.run, manifest, self.workspace.catalog, self.source, progress, self._rules, self._published
        )

    @property
    def _published(self) -> PublishedLinker | None:
        """The links that the texts came with, where the experiment takes those."""
        from polyculture.cache.parquet import read_rows
        from polyculture.cache.schema import PUBLISHED_ITEMS
        from polyculture.link.published import PublishedLinker, published_links

        workspace = self.workspace
        if workspace.experiment.link.source != PUBLISHED:
            return None
        path = workspace.run.table(PUBLISHED_ITEMS.name)
        if not path.exists():
            remedy = "Import a file with items, or name another link.source."
            raise ExperimentError("link.source: no imported text came with links", where=workspace.file, remedy=remedy)
        return PublishedLinker(workspace.catalog, self.source, published_links(read_rows(path, PUBLISHED_ITEMS)))

    @property
    def _rules(self) -> LinkRules:
        from polyculture.link.rules import LinkRules

        return LinkRules(forms=self.workspace.experiment.link.chosen_forms)


def plan_linking(workspace: Workspace, *, contact_needed: bool = True) -> LinkingStage:
    """The linking that the experiment configures. Raises a `UserError` that names the experiment file.

    Without a contact nothing can be asked of the live service: only a plan can do without (`contact_needed`).
    """
    section = workspace.experiment.link
    if section.source == "api":
        settings = {"source": "api", "endpoint": section.endpoint, **_forms(section)}
        return LinkingStage(workspace, _api_source(workspace, contact_needed), settings)
    from polyculture.link.index.source import IndexSource

    try:
        snapshot = find_snapshot(section.snapshot, workspace.file.parent)
    except SnapshotError as fault:
        what = f"link.snapshot: {fault.where}: {fault.what}"
        raise ExperimentError(what, where=workspace.file, remedy=fault.remedy) from fault
    settings = {
        "source": section.source,
        "snapshot": section.snapshot,
        "identity": snapshot.identity,
        **_forms(section),
    }
    return LinkingStage(workspace, IndexSource(snapshot), settings)


def _forms(section: LinkSection) -> dict[str, str]:
    """What the manifest says of the forms, where they are not all of them."""
    chosen = section.chosen_forms
    return {} if chosen == FORMS else {"forms": ", ".join(chosen) or "labels and aliases alone"}


def check_topics(workspace: Workspace, source: Source) -> None:
    """Reports classes of a user's own topics that the snapshot lacks; raises `CatalogError` where it lacks all."""
    from polyculture.link.index.classes import check_classes
    from polyculture.link.index.source import IndexSource

    if isinstance(source, IndexSource):
        for line in check_classes(source.snapshot, workspace.catalog, workspace.experiment.topics):
            say(line)


def tell_languages_without_names(workspace: Workspace, source: Source) -> None:
    """Reports languages whose names the snapshot lacks: little will be linked in them."""
    from polyculture.link.linker import languages_without_names

    catalog = workspace.catalog
    for code in languages_without_names(source, catalog, workspace.experiment.languages):
        name = catalog.language(code).name
        say(f"{name}: link.snapshot holds no names in it, so only other languages' match; its numbers will say little")


def _api_source(workspace: Workspace, contact_needed: bool) -> Source:
    section = workspace.experiment.link
    if section.contact is None and contact_needed:
        raise ExperimentError(
            "link.contact is missing: Wikimedia asks every client for an address that it can write to",
            where=workspace.file,
            remedy='Write contact = "you@example.org" under [link].',
        )
    try:
        return open_api(section, workspace.catalog)
    except WikidataError as fault:
        where = f" ({fault.where})" if fault.where else ""
        raise ExperimentError(f"[link]: {fault.what}{where}", where=workspace.file, remedy=fault.remedy) from fault


def open_api(section: LinkSection, catalog: Catalog) -> Source:
    """The live service as `section` says, remembered in the user's cache folder. Raises `WikidataError`."""
    from polyculture.link.api.source import ApiSource

    return ApiSource(api_settings(section), cache_folder() / API_CACHE, catalog.label_languages)


def api_settings(section: LinkSection) -> ApiSettings:
    """How the live service is asked."""
    from polyculture.link.api.client import ApiSettings

    return ApiSettings(
        contact=section.contact or "",
        endpoint=section.endpoint,
        requests_per_minute=section.requests_per_minute,
        connections=section.connections,
        deadline=section.deadline,
        megabytes=section.max_megabytes,
        token_env=section.token_env,
        tell=say,
    )
