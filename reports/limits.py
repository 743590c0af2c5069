"""What a run's sources rule out, and how far its extractor errs: to be read before the numbers.

Intervals hold the chance of sampling. They hold neither the names that a snapshot lacks nor the errors of an extractor.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from polyculture.cache.manifest import Manifest
from polyculture.reports.texts import texts

_FOLDER = Path(__file__).parent
GAZETTEER = "gazetteer"
STARTER = "starter"


class Limit(BaseModel):
    """A limit in words: what it is, what it does to each metric, and what removes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    says: str
    remedy: str
    metrics: Mapping[str, str]  # by the metric's name in `texts.toml`

    @property
    def effects(self) -> tuple[tuple[str, str], ...]:
        """The metrics' names as printed, each with what the limit does to it."""
        return tuple((texts().metrics[metric].name, effect) for metric, effect in self.metrics.items())


class GoldScores(BaseModel):
    """An extractor's counts on gold texts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    texts: int
    languages: tuple[str, ...]
    marked: int
    found: int
    both: int
    precision_limits: tuple[float, float]
    recall_limits: tuple[float, float]


@dataclass(frozen=True, slots=True)
class ExtractionError:
    """A sentence on the extractor's measured error, and the command that measures it on the run itself."""

    says: str
    command: str


def limits(manifest: Manifest) -> tuple[Limit, ...]:
    """The limits that apply to a run: of the gazetteer, and of the starter snapshot."""
    found = _read_limits()
    return tuple(found[name] for name in _applying(manifest))


def limit_lines(manifest: Manifest) -> Iterator[str]:
    """The limits as lines for a terminal: each with its four effects and its remedy, then the extractor's error."""
    for limit in limits(manifest):
        yield f"Mind: {limit.says}"
        for name, effect in limit.effects:
            yield f"  {name} {effect}."
        yield f"  {limit.remedy}"
    if manifest.extractor:
        yield f"Mind: {extraction_error(manifest).says}"


def extraction_error(manifest: Manifest) -> ExtractionError:
    """What is known of the extractor's errors where nobody has judged the run."""
    if manifest.extractor.get("with") != GAZETTEER:
        model = manifest.extractor.get("with")
        says = f"Nobody has measured how far {model} errs in finding mentions; no interval holds that."
    elif _by_starter(manifest):
        says = f"{_gold_sentence(read_gold_scores())} No interval holds that."
    else:
        says = "Nobody has measured how far the gazetteer errs with this snapshot; no interval holds that."
    return ExtractionError(says, "polyculture audit export EXPERIMENT -o JUDGE.csv")


def by_construction(manifest: Manifest) -> bool:
    """Whether all mentions of a run are linked by construction: the extractor looks for linkable names only."""
    return manifest.extractor.get("with") == GAZETTEER


@cache
def read_gold_scores() -> GoldScores:
    """The counts of the gazetteer with the starter snapshot."""
    return GoldScores.model_validate(_toml("gold_scores"))


@cache
def _read_limits() -> Mapping[str, Limit]:
    return {name: Limit.model_validate(row) for name, row in _toml("limits").items()}


def _toml(name: str) -> dict[str, object]:
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def _applying(manifest: Manifest) -> Iterator[str]:
    if by_construction(manifest):
        yield GAZETTEER
    if _links_to_starter(manifest) or (by_construction(manifest) and _by_starter(manifest)):
        yield STARTER


def _links_to_starter(manifest: Manifest) -> bool:
    source = manifest.snapshot.get("source")
    return isinstance(source, Mapping) and source.get("kind") == STARTER


def _by_starter(manifest: Manifest) -> bool:
    """Whether the gazetteer's names are the starter's, as they are where the linker has no snapshot of its own."""
    return _links_to_starter(manifest) or bool(manifest.linker.get("fill"))


def _gold_sentence(scores: GoldScores) -> str:
    precision = _share(scores.both, scores.found, scores.precision_limits)
    recall = _share(scores.both, scores.marked, scores.recall_limits)
    return (
        f"On {scores.texts} gold texts in {len(scores.languages)} languages, precision of this extractor was "
        f"{precision} and recall {recall} (95 % intervals)."
    )


def _share(hits: int, of: int, limits: tuple[float, float]) -> str:
    low, high = limits
    return f"{hits / of:.2f} [{low:.2f}, {high:.2f}]"
