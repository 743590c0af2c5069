"""The metrics: SQL views over the store, and their uncertainty, which SQL cannot compute."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.core import CORE
from polyculture.cache.layout import Layer, Layout, Measure, compose
from polyculture.cache.manifest import Manifest


def _settings(_: RunFolder, manifest: Manifest) -> object:
    """What the run asks beside its texts, and which extractions of them count."""
    decided = {"models", "countries", "extractor_ids", "reader_id"}
    return manifest.model_dump(include=decided)


_TABLES = (PROMPTS, WANTED_RESPONSES, RESPONSES, EXTRACTIONS, MENTIONS, LINKS, ENTITIES, ENTITY_COUNTRIES)
MEASURE = Measure("entities", _TABLES, _settings)
METRICS = compose(CORE, Layout(views=VIEWS, measures=(MEASURE,)))
