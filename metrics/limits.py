"""What a run's sources rule out, whatever its texts say: the gazetteer, and the starter snapshot."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from polyculture.cache.store.manifest import Manifest
from polyculture.cache.validation import ClosedModel
from polyculture.metrics.declared import DECLARED

GAZETTEER = "gazetteer"
PUBLISHED = "published"  # mentions, and links, that imported texts came with
STARTER = "starter"
BY_CONSTRUCTION = "constant by construction"  # why a disqualified metric tells no difference


class Limit(ClosedModel):
    """A limit in words: what it is, what it does to each metric, and what removes it."""

    says: str
    briefly: str  # the same in a few words, for a line
    remedy: str
    metrics: Mapping[str, str]
    fixes_labels: bool = False  # then no difference of a metric of mentions' labels says anything of models


def limits(manifest: Manifest) -> tuple[Limit, ...]:
    """The limits that apply to a run."""
    found = _read_limits()
    return tuple(found[name] for name in _applying(manifest))


def disqualified(manifest: Manifest) -> dict[str, str]:
    """The metrics in which no difference can be told, each with the reason."""
    fixed = any(one.fixes_labels for one in limits(manifest))
    return {metric.name: BY_CONSTRUCTION for metric in DECLARED if fixed and metric.labels_known}


def by_construction(manifest: Manifest) -> bool:
    """Whether all mentions of a run are linked by construction: the extractor looks for linkable names only."""
    return manifest.extractor.get("with") == GAZETTEER


def by_starter(manifest: Manifest) -> bool:
    """Whether the gazetteer's names are the starter's, as they are where the linker has no snapshot of its own."""
    return _links_to_starter(manifest) or bool(manifest.linker.get("fill"))


def _applying(manifest: Manifest) -> Iterator[str]:
    if by_construction(manifest):
        yield GAZETTEER
    if _links_to_starter(manifest) or (by_construction(manifest) and by_starter(manifest)):
        yield STARTER


def _links_to_starter(manifest: Manifest) -> bool:
    source = manifest.snapshot.get("source")
    return isinstance(source, Mapping) and source.get("kind") == STARTER


@cache
def _read_limits() -> Mapping[str, Limit]:
    told = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {name: Limit.model_validate(row) for name, row in told.items()}
