"""The words for what a changed experiment file or command has changed: settings, before and now.

A change names the table whose rows it makes stale; the rows that depend on these follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyculture.cache.identity import content_id
from polyculture.cache.log import get_logger
from polyculture.cache.store.layout import Table
from polyculture.cache.store.linked import LINKS
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.parquet import read_rows
from polyculture.cache.store.schema import PROMPTS, RESPONSES
from polyculture.generate.engines.options import SYSTEM

if TYPE_CHECKING:
    from polyculture.cache.work.worker import Step
    from polyculture.experiment.workspace import Workspace

_log = get_logger(__name__)

_SAMPLING_TOPS_UP = "n"  # more samples are added to the existing ones
_TOLD_APART = ("texts", SYSTEM)  # of the prompts: by a number, and with the setup of each model
_NOT_ASKED = "it is not asked any more"
# What is said of settings that are hashes.
_HASHES = {
    "prompt": "the prompt has another text",
    "rules": "the topic or the rules of the gazetteer have changed",
}
_SHOWN = 3  # of what is asked, in a line


class _NotSet:
    def __repr__(self) -> str:
        return "not set"


_NOT_SET = _NotSet()


@dataclass(frozen=True, slots=True)
class Change:
    """One setting that differs from the last run's."""

    setting: str
    before: Any
    now: Any
    table: Table[Any] | None = None  # whose rows it makes stale; None: all that follows from what is asked so
    line: str = ""  # what is said of it, where two values would say less

    def __str__(self) -> str:
        return self.line or f"{self.setting} was {self.before!r} and is now {self.now!r}"


def changed_lines(workspace: Workspace, so: str = "these numbers are of the last run") -> list[str]:
    """A line per change of the experiment file's sampling since the run, and for what it does not name any more: the
    numbers of the run are of what was asked before."""
    before = workspace.before
    if before is None or not before.topics:  # it has no texts
        return []
    now = workspace.manifest()
    changes = changes_between(before, now, reworded(workspace), made_under([workspace.sampling_step(())]))
    told = [*(change for change in changes if change.table is RESPONSES), *_left_out(before, now)]
    return [f"{workspace.file}: {change}; {so}" for change in told]


def warn_of_changes(workspace: Workspace) -> None:
    """Warns where the run has other sampling settings than the experiment file has now."""
    for line in changed_lines(workspace):
        _log.warning(line)


def made_under(steps: Iterable[Step[Any, Any]]) -> dict[str, Table[Any] | None]:
    """By use of models, the table of the rows that steps make under its setups; None where there are several."""
    found: dict[str, Table[Any] | None] = {}
    for step in steps:
        if step.use is not None:
            table = step.tables[-1]
            found[step.use] = table if found.get(step.use, table) is table else None
    return found


def changes_between(
    before: Manifest, now: Manifest, other_texts: int, tables: Mapping[str, Table[Any] | None]
) -> list[Change]:
    """The settings that differ between two manifests of a run and make rows stale, where `other_texts` prompts have
    another text. What only adds rows is not among them. `tables` has those made under setups, as `made_under` says it.
    """
    of_setups = list(_of_setups(before, now, tables))
    changes = [*of_setups, *_of_sentences(before, now)]
    if before.sampling:
        changes += _differences("sampling", before.sampling, now.sampling, RESPONSES, besides=(_SAMPLING_TOPS_UP,))
    if other_texts:
        changes += _differences("prompts", before.prompts, now.prompts, RESPONSES, besides=_TOLD_APART)
        line = "1 prompt has another text" if other_texts == 1 else f"{other_texts} prompts have another text"
        changes.append(Change("prompts", _NOT_SET, other_texts, RESPONSES, line))
    if before.linker_id and before.linker_id != now.linker_id:
        changes += _differences("link", before.linker, now.linker, LINKS)
    return [*changes, *_of_asked(before, now, has_line=bool(of_setups))]


def _left_out(before: Manifest, now: Manifest) -> Iterator[Change]:
    """What the run has texts of and the experiment file does not name any more. It makes no row stale until `run`."""
    for name in ("models", "languages", "topics", "countries", "conditions"):
        was, is_now = getattr(before, name), getattr(now, name)
        if gone := [value for value in was if value not in is_now]:
            line = f"{name}: {', '.join(gone)} {'is' if len(gone) == 1 else 'are'} not named any more"
            yield Change(name, was, is_now, line=line)


def _of_setups(before: Manifest, now: Manifest, tables: Mapping[str, Table[Any] | None]) -> Iterator[Change]:
    """What differs between the setups of a model for a use."""
    for key, setup in now.setups.items():
        use, _, model = key.partition(" ")
        if (known := before.setups.get(key)) is not None:
            yield from _differences(f"{model}: ", known, setup, tables.get(use))


def _of_sentences(before: Manifest, now: Manifest) -> Iterator[Change]:
    """The sentences that stand behind the prompts of some models alone, where they are others."""
    languages = [language for language in before.languages if language in now.languages]
    for model in filter(now.models.__contains__, before.models):
        was, is_now = ({lang: m.appended.get(model, {}).get(lang) for lang in languages} for m in (before, now))
        for language in languages:
            if was[language] != is_now[language]:
                yield Change(
                    f"{model}: answer_in_language", was[language] or _NOT_SET, is_now[language] or _NOT_SET, RESPONSES
                )
                break


def _of_asked(before: Manifest, now: Manifest, *, has_line: bool) -> Iterator[Change]:
    """What instruments ask otherwise, and what extracts mentions otherwise: each difference once, with what is asked
    so. `has_line`: whether a setup differs, which has a line of its own."""
    places: dict[str, list[str]] = {}
    found: dict[str, Change] = {}
    for instrument, ids in now.asked.items():
        known = {one.key: one for one in before.asked.get(instrument, [])}
        for key in sorted(known.keys() - {one.key for one in ids}):
            if known[key].prompt:
                found[_NOT_ASKED] = Change("", _NOT_SET, _NOT_SET)
                places.setdefault(_NOT_ASKED, []).append(str(known[key]))
        for asked in ids:
            if known.get(asked.key, asked).id == asked.id or asked.reads:
                continue
            was, is_now = known[asked.key].settings, asked.settings
            changes = _differences("", was, is_now) if was and is_now else []
            # A text that one side has not is no other text: what is asked otherwise has a change of its own.
            alike = [one for one in changes if one.setting not in _HASHES or _NOT_SET not in (one.before, one.now)]
            changes = alike or changes
            if was and is_now and not changes and has_line:
                continue
            for change in changes or [Change("", _NOT_SET, _NOT_SET, line="it is asked otherwise")]:
                told = _HASHES.get(change.setting) or str(change)
                found[told] = change
                places.setdefault(told, []).append(str(asked))
    for told, change in found.items():
        keys = places[told]
        more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
        yield Change(change.setting, change.before, change.now, line=f"{', '.join(keys[:_SHOWN])}{more}: {told}")


def _differences(
    section: str,
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    table: Table[Any] | None = None,
    besides: Sequence[str] = (),
) -> list[Change]:
    keys = [key for key in {**before, **now} if key not in besides]
    values = [(key, before.get(key), now.get(key)) for key in keys]
    head = f"{section}." if section and not section.endswith(" ") else section
    return [
        Change(f"{head}{key}", before.get(key, _NOT_SET), now.get(key, _NOT_SET), table)
        for key, was, is_now in values
        if content_id(was) != content_id(is_now)
    ]


def reworded(workspace: Workspace) -> int:
    """The number of prompts whose text took the place of another one since the last run, in their cells."""
    path = workspace.run.table("prompts")
    if not path.exists():
        return 0
    rows = read_rows(path, PROMPTS, ["language", "topic", "condition", "country", "prompt_id"]).to_pylist()
    cells = ("language", "topic", "condition", "country")
    before = _by_cell((tuple(row[key] for key in cells), row["prompt_id"]) for row in rows)
    now = _by_cell(((p.language, p.topic, p.condition, p.country), p.prompt_id) for p in workspace.prompts)
    # Prompts that a cell gains or loses are more or fewer wordings and names: they make no row stale.
    return sum(min(len(old - now[cell]), len(now[cell] - old)) for cell, old in before.items() if cell in now)


def _by_cell(prompts: Iterable[tuple[tuple[str | None, ...], str]]) -> dict[tuple[str | None, ...], set[str]]:
    found: dict[tuple[str | None, ...], set[str]] = {}
    for cell, prompt_id in prompts:
        found.setdefault(cell, set()).add(prompt_id)
    return found
