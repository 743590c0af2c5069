"""Records the models' versions: from the responses into the manifest."""

from __future__ import annotations

from polyculture.cache.manifest import Manifest
from polyculture.cache.store import current_store
from polyculture.experiment.workspace import Workspace

VERSIONS = """
SELECT model, string_agg(DISTINCT model_version, ' | ' ORDER BY model_version)
FROM responses WHERE model_version IS NOT NULL GROUP BY model ORDER BY model
"""


def add_model_versions(workspace: Workspace, manifest: Manifest) -> Manifest:
    """The manifest with the version that each engine reports; it keeps several versions of one model."""
    with current_store(workspace.run, manifest) as store:
        versions = dict(store.sql(VERSIONS).fetchall())
    if versions == manifest.model_versions:
        return manifest
    complete = manifest.model_copy(update={"model_versions": versions})
    workspace.write(complete)
    return complete
