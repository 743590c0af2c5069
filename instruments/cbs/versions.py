"""Finds models with scores from several versions. Versions are known only after the models open."""

from __future__ import annotations

from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.store import open_store
from polyculture.instruments.cbs.layout import CBS

_VERSIONS = """
SELECT model, list(DISTINCT model_version ORDER BY model_version) AS versions
FROM scores WHERE model_version IS NOT NULL GROUP BY model HAVING len(versions) > 1 ORDER BY model
"""


def mixed_versions(run: RunFolder) -> list[tuple[str, list[str]]]:
    """The models with several versions among their present scores, each with these."""
    with open_store(run, compose(CORE, CBS), asked=_VERSIONS) as store:
        return store.sql(_VERSIONS).fetchall()
