"""The changes in an experiment since its last run, and the rows that they make stale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyculture.cache.errors import ChangedExperimentError
from polyculture.cache.manifest import Manifest

SAMPLING_TOPS_UP = "n"  # more samples are added to the existing ones


@dataclass(frozen=True, slots=True)
class Change:
    """One setting that differs from the last run's, and the first stage whose rows it makes stale."""

    setting: str
    before: Any
    now: Any
    stage: str  # 'generate' | 'extract' | 'link'

    def __str__(self) -> str:
        return f"{self.setting} was {self.before!r} and is now {self.now!r}"


def find_changes(before: Manifest, now: Manifest, reworded: int) -> list[Change]:
    """The settings that make rows of the last run stale; `reworded` counts prompts with a new text.

    More samples, models, languages, topics, countries or conditions make nothing stale: their rows are added.
    """
    changes = []
    if before.sampling_id and before.sampling_id != now.sampling_id:
        changes += _differences("sampling", before.sampling, now.sampling, "generate", besides=SAMPLING_TOPS_UP)
    if reworded:
        changes.append(Change("the wording of prompts", "another", f"new in {reworded} of them", "generate"))
    if any(before.extractor_ids.get(topic, now_id) != now_id for topic, now_id in now.extractor_ids.items()):
        changes += _differences("extract", before.extractor, now.extractor, "extract")
    if before.linker_id and before.linker_id != now.linker_id:
        changes += _differences("link", before.linker, now.linker, "link")
    return changes


def refuse_costly(changes: list[Change], redone: Mapping[str, int], file: Path) -> None:
    """Raises `ChangedExperimentError` where model answers would have to be sampled again.

    `redone` has the number of rows of each stage that would become stale.
    """
    costly = [change for change in changes if redone.get(change.stage)]
    if not costly:
        return
    work = {"generate": "responses sampled again", "extract": "responses extracted again"}
    what = ", ".join(f"{redone[stage]} {work[stage]}" for stage in dict.fromkeys(change.stage for change in costly))
    raise ChangedExperimentError(
        f"changed since its last run: {'; '.join(map(str, costly))}. To be redone: {what}, "
        "and everything that depends on them",
        where=file,
        remedy="Run with --accept-changes, or change the name to keep both; the present rows stay on disk and count "
        "again when the setting comes back.",
    )


def _differences(
    section: str, before: Mapping[str, Any], now: Mapping[str, Any], stage: str, besides: str = ""
) -> list[Change]:
    keys = [key for key in {**before, **now} if key != besides and before.get(key) != now.get(key)]
    return [Change(f"{section}.{key}", before.get(key), now.get(key), stage) for key in keys]
