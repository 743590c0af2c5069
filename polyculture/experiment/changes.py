"""The changes in an experiment since its last run, and the rows that they make stale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyculture.cache.errors import ChangedExperimentError
from polyculture.cache.identity import content_id
from polyculture.cache.store.manifest import Manifest

SAMPLING_TOPS_UP = "n"  # more samples are added to the existing ones
ADDRESS = "base_url"  # of a server, in a setup
TEXTS = "the text of prompts"


class _NotSet:
    def __repr__(self) -> str:
        return "not set"


NOT_SET = _NotSet()


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
    changes = [*_of_setups(before, now), *_of_sentences(before, now)]
    if before.sampling:
        changes += _differences("sampling", before.sampling, now.sampling, "generate", besides=SAMPLING_TOPS_UP)
    if reworded:
        changes += _differences("prompts", before.prompts, now.prompts, "generate")
        changes.append(Change(TEXTS, "another", f"new in {reworded} of them", "generate"))
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
    work = {"generate": "responses sampled again", "extract": "responses extracted again"}
    what = [f"{redone[stage]} {work.get(stage, stage)}" for stage in dict.fromkeys(change.stage for change in costly)]
    if what:
        raise refusal(costly, ", ".join(what), file)


def refusal(costly: Sequence[Change], what: str, file: Path) -> ChangedExperimentError:
    """The error for changes that were not accepted; `what` would have to be redone."""
    return ChangedExperimentError(
        f"changed since its last run: {'; '.join(map(str, costly))}. To be redone: {what}, "
        "and everything that depends on them",
        where=file,
        remedy="Run with --accept-changes, or change the name to keep both; the present rows stay on disk and count "
        f"again when the setting comes back.{_moved(costly)}",
    )


def _moved(changes: Sequence[Change]) -> str:
    """How the same server may move to another address."""
    if not any(change.setting.endswith(f" {ADDRESS}") for change in changes):
        return ""
    return " If it is the same server at another address, write its former one as `deployment` into the options."


def _of_setups(before: Manifest, now: Manifest) -> Iterator[Change]:
    """What of a model's setup differs, where it makes texts that the last run has, too."""
    extractor = before.extractor.get("with")
    keys = {f"sample {model}": "generate" for model in before.models} | {f"extract {extractor}": "extract"}
    for key, stage in keys.items():
        if key in before.setups and key in now.setups:
            yield from changes_of_setup(key, before.setups[key], now.setups[key], stage)


def _of_sentences(before: Manifest, now: Manifest) -> Iterator[Change]:
    """The sentences that stand behind the prompts of some models alone, where they are others."""
    languages = [language for language in before.languages if language in now.languages]
    for model in filter(now.models.__contains__, before.models):
        was, is_now = ({lang: m.appended.get(model, {}).get(lang) for lang in languages} for m in (before, now))
        for language in languages:
            if was[language] != is_now[language]:
                yield Change(
                    f"{model}: answer_in_language", was[language] or NOT_SET, is_now[language] or NOT_SET, "generate"
                )
                break


def changes_of_setup(key: str, was: Mapping[str, Any], now: Mapping[str, Any], stage: str) -> Iterator[Change]:
    """What differs between two setups of a model, by the key of its use."""
    for name in {**was, **now}:
        if content_id(was.get(name)) != content_id(now.get(name)):
            model = key.partition(" ")[2]
            yield Change(f"{model}: {name}", was.get(name, NOT_SET), now.get(name, NOT_SET), stage)


def _differences(
    section: str, before: Mapping[str, Any], now: Mapping[str, Any], stage: str, besides: str = ""
) -> list[Change]:
    keys = [key for key in {**before, **now} if key != besides and before.get(key) != now.get(key)]
    return [Change(f"{section}.{key}", before.get(key), now.get(key), stage) for key in keys]
