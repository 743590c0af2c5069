"""Runs, and exports of others' runs, as one leaderboard: which may stand on it, and what it comes to.

with joined_runs([Path("runs/one"), Path("export-of-another")]) as found:
    found.boards
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain, count
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.errors import StoreError
from polyculture.cache.files import scratch_folder
from polyculture.cache.store.joined import JoinedRun, join_runs
from polyculture.cache.store.manifest import Manifest, require_run
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import Store, open_store
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.experiment.run_place import stored_run
from polyculture.instruments.questions.layout import QUESTIONS, SCORED
from polyculture.instruments.questions.ranked import ANSWERED
from polyculture.metrics import KEPT
from polyculture.metrics.comparison.study import NOT_RECORDED, NOT_SAID, RunStudy
from polyculture.metrics.leaderboard import (
    TEXTS,
    Excluded,
    Leaderboard,
    LeaderboardModel,
    RankedData,
    boards,
    unranked_metrics,
)
from polyculture.metrics.model_health import MOST_MISSING, ModelHealth, SharedAnswers, model_health, shared_answers
from polyculture.reports.export.every_eval_ever import RecordFacts
from polyculture.reports.export.read import check_export, is_export
from polyculture.reports.numbers import bound, share_beyond
from polyculture.running.models import is_hosted

_NOT_KNOWN = "how imported texts or answers were sampled is not known: temperature and limits may differ between runs"


@dataclass
class _Opened:
    """A run that was named, and what of it may enter."""

    label: str
    data: RankedData
    manifest: Manifest
    store: Store
    study: RunStudy
    health: dict[str, ModelHealth] = field(default_factory=dict)


def read_bounds(given: Sequence[str]) -> Mapping[str, float]:
    """The bounds of health that are given as `cut=1`.

    Raises `StoreError` for another share, and for a value that is none from 0 to 1.
    """
    known = dict.fromkeys(name for data in (TEXTS, ANSWERED) for name in data.soundness.bounds)
    bounds: dict[str, float] = {}
    for one in given:
        name, _, value = one.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if name not in known:
            raise StoreError(f"--most {one}: there is no share {name!r}", remedy=did_you_mean(name, list(known)))
        if not 0 <= number <= 1:
            raise StoreError(f"--most {one}: {value!r} is no share", remedy="Write a number from 0 to 1: cut=0.8.")
        bounds[name] = number
    return bounds


def ranked_data(manifest: Manifest) -> RankedData:
    """What the models of a run are ranked by."""
    return TEXTS if manifest.topics else ANSWERED


def study_of_run(manifest: Manifest, store: Store) -> str | None:
    """The id of the study of a run's texts, or of its answers to questions and scores; None where it has neither."""
    study = ranked_data(manifest).study(manifest, store)
    return study.id if study.parts else None


# Imported scores are from 0 to 1: others are scaled.
RECORD_FACTS = RecordFacts(is_hosted, study_of_run, {SCORED: (0.0, 1.0)})


@contextmanager
def joined_runs(
    places: Sequence[Path], most: Mapping[str, float] = MappingProxyType({}), sets: Sequence[str] = ()
) -> Iterator[Leaderboard]:
    """The leaderboard of runs and exports: a run by its folder or its experiment file. Nothing is written into them.

    All must be of the first one's study. `most` are bounds in the place of the usual ones. With `sets` models are
    ranked by these question sets alone, whatever else the runs asked. Raises a `UserError` for a
    place that is neither, for a bound that its models have no share of, and where fewer than two models remain.
    """
    with ExitStack() as stack:
        excluded: list[Excluded] = []
        doubts: list[str] = []
        opened = list(_opened(stack, places, sets, most, excluded, doubts))
        data = opened[0].data
        bounds = _bounds(opened, most)
        shared = shared_answers([run.store for run in opened], data.soundness)
        own = _without_copies(opened, shared, excluded)
        # What is missing is what models lack of that which sound ones have: first without, then with absent rows.
        sound = [(run, model) for run, model in own if not _is_unsound(run, model, bounds, excluded)]
        doubts += _count_absent(stack, opened, sound)
        sound = [(run, model) for run, model in sound if not _is_unsound(run, model, bounds, excluded)]
        if len(sound) < 2:
            what = f"{'1 model remains' if sound else 'no models remain'} to rank"
            why = "".join(f"; left out: {one}" for one in excluded)
            remedy = "Name runs or exports of one study with two models or more; --most SHARE=VALUE moves a bound."
            raise StoreError(f"{what}{why}", remedy=remedy)
        models = _named_models(sound)
        dependent = dict(_dependent(opened, models, shared))
        doubts += dependent.values()
        folder = stack.enter_context(scratch_folder("leaderboard"))
        run = join_runs(list({id(one.joined): one.joined for one in models}.values()), folder, data.tables)
        data.compare(run, dependent)
        joined = stack.enter_context(open_store(run, data.layout, KEPT))
        manifest = require_run(run)
        doubts += data.doubts(joined, manifest)
        found = boards(joined)
        unranked = unranked_metrics(joined, found)
        study = reduce(RunStudy.joined, (one.study for one in opened))
        if len(opened) > 1 and (manifest.imported or NOT_SAID in study.parts.values()):
            doubts.append(_NOT_KNOWN)
        yield Leaderboard(data, run, manifest, study, models, excluded, doubts, found, unranked, bounds)


def _bounds(opened: Sequence[_Opened], most: Mapping[str, float]) -> Mapping[str, float]:
    """The bounds of the shares that any model has."""
    there = {name for run in opened for health in run.health.values() for name in health.shares}
    known = {name: bound for name, bound in opened[0].data.soundness.bounds.items() if name in there}
    if others := [name for name in most if name not in known]:
        raise StoreError(f"--most {others[0]}: no model has such a share", remedy=did_you_mean(others[0], list(known)))
    return {**known, **most}


def _opened(
    stack: ExitStack,
    places: Sequence[Path],
    sets: Sequence[str],
    most: Mapping[str, float],
    excluded: list[Excluded],
    doubts: list[str],
) -> Iterator[_Opened]:
    """The runs that are of the first one's study, open."""
    first: _Opened | None = None
    study: RunStudy | None = None  # with what is stated of it by the runs until now
    most_missing = most.get("missing", MOST_MISSING)
    runs = [_run_of(place) for place in places]
    labels = _labels([run.root.resolve().name for run in runs])
    for label, run in zip(labels, runs, strict=True):
        try:
            changed = check_export(run, ANSWERED.layout) if is_export(run.root) else ()
            manifest = require_run(run)
            data = first.data if first is not None else ANSWERED if sets else ranked_data(manifest)
            rows = _questions_of(run, manifest, sets) if sets else {}
            store = stack.enter_context(open_store(run, data.layout, KEPT, manifest=manifest, rows=rows))
            one = _Opened(label, data, manifest, store, data.study(manifest, store))
        except StoreError as fault:
            if first is None:  # the study is not known without it
                raise
            excluded.append(Excluded(label, str(fault)))
            continue
        if first is not None and not _has_what_ranks(one):
            lacks = "it asked for no texts" if data is TEXTS else "it has neither answers to a question set nor scores"
            excluded.append(Excluded(label, f"{lacks}, and models are ranked by those of {first.label}"))
            continue
        if study is not None and first is not None and (differ := study.differing(one.study, most_missing)):
            remedies = "".join(f". {remedy}" for remedy in dict.fromkeys(map(_remedy, (first, one))) if remedy)
            excluded.append(Excluded(label, f"its study is not that of {first.label}: {', '.join(differ)}{remedies}"))
            continue
        if changed:
            doubts.append(f"{label}: somebody changed {', '.join(changed)} after the export was written")
        one.health |= model_health(store, data.soundness)
        first, study = first or one, study.joined(one.study) if study else one.study
        yield one


def _remedy(run: _Opened) -> str:
    """What to do about imported texts or answers whose file does not say what was asked; empty of all others."""
    if NOT_RECORDED not in run.study.parts.values():
        return ""
    lacks = f"The file of {run.label} does not say what was asked: import it again with prompt=COLUMN, or with"
    if run.data is ANSWERED:
        return f"{lacks} prompt==NAME of a prompt of the set, and another --as (docs/question-sets.md)"
    again = "prompt==TEXT if all texts answer one prompt, and --replace (docs/importing.md)"
    return f"{lacks} {again}" if run.manifest.imported else ""


def _has_what_ranks(run: _Opened) -> bool:
    """Whether a run has anything of what the first one's models are ranked by."""
    return bool(run.manifest.topics) if run.data is TEXTS else bool(run.study.items)


def _questions_of(run: RunFolder, manifest: Manifest, sets: Sequence[str]) -> Mapping[str, pa.Table]:
    """The questions of some sets in the place of all of a run. Raises `StoreError` for a set that it does not have."""
    with open_store(run, ANSWERED.layout, manifest=manifest) as store:
        found = store.table(QUESTIONS.name).to_arrow_table().cast(QUESTIONS.schema)
    known = pc.unique(found["set"]).to_pylist()
    for name in sets:
        if name not in known:
            remedy = did_you_mean(name, known, otherwise="It asked no question set.")
            raise StoreError(f"--set {name}: the run asked no such set", where=run.root, remedy=remedy)
    return {QUESTIONS.name: found.filter(pc.is_in(found["set"], pa.array(sets)))}


def _run_of(place: Path) -> RunFolder:
    """The run that a folder or an experiment file names. Raises `StoreError` where there is neither."""
    if not place.exists():
        remedy = "Name the folder of a run (runs/NAME), its experiment file, or a folder that `export` wrote."
        raise StoreError("there is no such run or export", where=place, remedy=remedy)
    if place.is_file():
        return stored_run(place)
    run = RunFolder(place)
    if not run.manifest.exists() and not is_export(place):
        remedy = "Name the folder of a run (runs/NAME), its experiment file, or a folder that `export` wrote."
        raise StoreError("is neither a run nor an export", where=place, remedy=remedy)
    return run


def _labels(names: Sequence[str]) -> list[str]:
    """A label for each name, no two alike: a repeated name gets the first number that makes it new."""
    labels: list[str] = []
    for name in names:
        numbered = (f"{name} ({number})" for number in count(2))
        labels.append(next(label for label in chain([name], numbered) if label not in labels))
    return labels


def _without_copies(
    opened: Sequence[_Opened], shared: Sequence[SharedAnswers], excluded: list[Excluded]
) -> list[tuple[_Opened, str]]:
    """The models, each once: without those whose answers are largely those of a model of an earlier run."""
    copies: dict[tuple[int, str], str] = {}
    for one in shared:
        if one.is_one_model and one.earlier not in copies:
            number, name = one.earlier
            said = f"{one.shared} of its {one.answers} answers are those of {name} in {opened[number].label}"
            copies.setdefault(one.model, f"{said}: it is counted once")
    found = []
    for at, run in enumerate(opened):
        for model in run.health:
            if (at, model) in copies:
                excluded.append(Excluded(f"{model} in {run.label}", copies[at, model]))
            else:
                found.append((run, model))
    return found


def _count_absent(stack: ExitStack, opened: Sequence[_Opened], models: Sequence[tuple[_Opened, str]]) -> Iterator[str]:
    """Counts as missing what other runs have, and a run has no row of; with a line for each model."""
    asked = {run.health[model].asked for run, model in models}
    if len(asked) < 2 and all(run.study.items == opened[0].study.items for run in opened):
        return
    named = _named_models(models)
    folder = stack.enter_context(scratch_folder("leaderboard"))
    joined = join_runs(list({id(one.joined): one.joined for one in named}.values()), folder, opened[0].data.tables)
    with open_store(joined, opened[0].data.layout, KEPT) as store:
        healths = model_health(store, opened[0].data.soundness)
    for (run, model), one in zip(models, named, strict=True):
        health = healths[one.name]
        absent = health.asked - one.health.asked
        if absent > 0:
            run.health[model] = health
            yield f"{one.name}: its run has no row of {absent} of the {health.asked} answers: counted as missing"


def _is_unsound(run: _Opened, model: str, bounds: Mapping[str, float], excluded: list[Excluded]) -> bool:
    health = run.health[model]
    beyond = health.beyond(bounds)
    if beyond:
        shares = ((name, share_beyond(health.shares[name], bounds[name])) for name in beyond)
        said = ", ".join(f"{found} {name} (at most {bound(bounds[name])})" for name, found in shares)
        excluded.append(Excluded(f"{model} in {run.label}", said))
    return bool(beyond)


def _named_models(models: Sequence[tuple[_Opened, str]]) -> list[LeaderboardModel]:
    """The models under names that differ: where two runs have one of a name, with the label of its run."""
    often = Counter(model for _, model in models)
    names: dict[str, dict[str, str]] = {}
    runs: dict[str, _Opened] = {}
    for run, model in models:
        runs[run.label] = run
        names.setdefault(run.label, {})[model] = model if often[model] == 1 else f"{model} ({run.label})"
    joined = {
        label: JoinedRun(run.store, run.manifest, names[label], str(number))
        for number, (label, run) in enumerate(runs.items(), start=1)
    }
    return [
        LeaderboardModel(names[run.label][model], model, run.label, run.health[model], joined[run.label])
        for run, model in models
    ]


def _dependent(
    opened: Sequence[_Opened], models: Sequence[LeaderboardModel], shared: Sequence[SharedAnswers]
) -> Iterator[tuple[frozenset[str], str]]:
    """The pairs of models whose answers are too often the same for a test of their difference, each with a line."""
    names = {(one.run, one.model): one.name for one in models}
    for one in shared:
        pair = [names.get((opened[run].label, model)) for run, model in (one.model, one.earlier)]
        if one.are_dependent and pair[0] and pair[1]:
            said = f"{one.shared} of the {one.answers} answers of {pair[0]} are those of {pair[1]}"
            yield frozenset(filter(None, pair)), f"{said}: the difference between the two is not tested"
