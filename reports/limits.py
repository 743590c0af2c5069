"""What a run's sources rule out, in words, and how far its extractor errs: to be read before the numbers.

Intervals hold the chance of sampling. They hold neither the names that a snapshot lacks nor the errors of an extractor.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from polyculture.cache.store.manifest import Manifest
from polyculture.cache.validation import ClosedModel
from polyculture.metrics.limits import PUBLISHED, Limit, by_construction, by_starter, limits
from polyculture.reports.names import short_name
from polyculture.reports.texts import texts


class GoldScores(ClosedModel):
    """An extractor's counts on gold texts."""

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


def effects(limit: Limit) -> tuple[tuple[str, str], ...]:
    """The metrics' names as printed, each with what the limit does to it."""
    return tuple((texts().metrics[metric].name, effect) for metric, effect in limit.metrics.items())


def limit_line(manifest: Manifest, place: str) -> str:
    """The limits in one line for a terminal; `place` says where the reader finds what they do to each number."""
    said = [limit.briefly for limit in limits(manifest)]
    if not said and manifest.extractor:
        said = [f"nobody has measured the errors of {short_name(extractor_name(manifest))}"]
    return f"Note: {'; '.join(said)}: {place}" if said else ""


def extractor_name(manifest: Manifest) -> str:
    """Who found the mentions, for a sentence."""
    name = str(manifest.extractor.get("with") or "")
    return "whoever marked the imported mentions" if name == PUBLISHED else name


def extraction_error(manifest: Manifest) -> ExtractionError:
    """What is known of the extractor's errors where nobody has judged the run."""
    if not by_construction(manifest):
        who = extractor_name(manifest)
        says = f"Nobody has measured how far {who} errs in finding mentions; no interval holds that."
    elif by_starter(manifest):
        says = f"{_gold_sentence(read_gold_scores())} The intervals do not include this error."
    else:
        says = "Nobody has measured how far the gazetteer errs with this snapshot; no interval holds that."
    return ExtractionError(says, "polyculture view EXPERIMENT")


@cache
def read_gold_scores() -> GoldScores:
    """The counts of the gazetteer with the starter snapshot."""
    file = Path(__file__).with_name("gold_scores.toml")
    return GoldScores.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))


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
