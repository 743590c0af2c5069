"""Which rows of a run count, and what a changed experiment file makes stale.

Rows of other settings stay on disk, out of every view, and count again when the settings come back. Where a model would
have to make rows again, nothing is asked unless that is accepted; what costs nothing is made again with a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import ChangedExperimentError
from polyculture.cache.files import store_faults
from polyculture.cache.identity import content_id
from polyculture.cache.locks import Lock
from polyculture.cache.log import get_logger
from polyculture.cache.store.manifest import Manifest, read_manifest, require_run, setup_id, write_manifest
from polyculture.cache.store.parquet import is_stored, read_rows, write_parquet
from polyculture.cache.store.schema import PROMPTS, WANTED_RESPONSES, tables_of_setups
from polyculture.cache.store.store import open_store
from polyculture.cache.work.worker import left
from polyculture.experiment.setups import EXTRACT
from polyculture.generate.engines import ENGINES
from polyculture.generate.request import SAMPLE
from polyculture.running.layout import store_layout

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.store.run_folder import RunFolder
    from polyculture.experiment.workspace import Workspace
    from polyculture.instruments.contract import Validity

_log = get_logger(__name__)

PRESENT_LOCK = ".present.lock"  # of whoever changes what is the run's present
READER = "reader "  # how the keys of readers begin among what is asked
Kind = tuple[str, str]  # a view and a model
_COUNT = "SELECT model, count(*) FROM {view} WHERE status = 'ok' GROUP BY ALL"
_SAMPLING_TOPS_UP = "n"  # more samples are added to the existing ones
_ADDRESS = "base_url"  # of a server, in a setup
_EXTRACT = "extract"  # the section, and the stage


class _NotSet:
    def __repr__(self) -> str:
        return "not set"


_NOT_SET = _NotSet()


@dataclass(frozen=True, slots=True)
class Change:
    """One setting that differs from the last run's, and the first stage whose rows it makes stale."""

    setting: str
    before: Any
    now: Any
    stage: str = ""  # 'generate' | 'extract' | 'link'; none of an instrument
    line: str = ""  # what is said of it, where two values would say less

    def __str__(self) -> str:
        return self.line or f"{self.setting} was {self.before!r} and is now {self.now!r}"


def check_texts(workspace: Workspace, now: Manifest, *, accept_changes: bool) -> None:
    """Says what has changed of a run's texts under `now`, and that their rows are made again.

    Raises `ChangedExperimentError` where a model would have to make them, unless that is accepted.
    """
    changes = _text_changes(workspace, now)
    if changes and not accept_changes:
        redone = _costly_rows(workspace, now)
        costly = [change for change in changes if redone.get(change.stage)]
        work = {"generate": "responses sampled again", "extract": "responses extracted again"}
        what = [f"{redone[stage]} {work[stage]}" for stage in dict.fromkeys(change.stage for change in costly)]
        if what:
            raise _refusal(workspace, costly, ", ".join(what))
    for change in changes:
        _log.warning(f"{change}: the rows of {change.stage} and of later stages are stale and are made again")


def check_setups(workspace: Workspace, validity: Validity) -> None:
    """Raises `ChangedExperimentError` where a model has changed whose numbers would have to be made again."""
    before = workspace.before
    if before is None:
        return
    known = [(key, before.setups.get(key), dict(setup)) for key, setup in validity.setups.items()]
    changed = {key: setup for key, was, setup in known if was is not None and setup_id(was) != setup_id(setup)}
    models = [key for key in changed if key.partition(" ")[2].partition(":")[0] in ENGINES]  # others cost nothing
    if not models:
        return
    now = before.model_copy(update={"setups": {**before.setups, **changed}})
    lost = _in_words(_counted(workspace.run, before) - _counted(workspace.run, now))
    if lost:
        changes = [one for key in models for one in _changes_of_setup(key, before.setups[key], changed[key])]
        raise _refusal(workspace, changes, lost)


def make_valid(workspace: Workspace, instrument: str, validity: Validity) -> None:
    """Makes the experiment and the instrument's prompts the run's present ones.

    Invalidated rows stay on disk; one line reports their number and the reason.
    """
    run = workspace.run
    with store_faults(run.root):
        run.root.mkdir(parents=True, exist_ok=True)
    with Lock(run.root / PRESENT_LOCK, wait=True):  # others may do the same for other models of the run
        before = read_manifest(run.manifest)
        kept = before is not None and before.models == list(workspace.experiment.models)
        manifest = before if before is not None and kept else _with_texts_of(before, workspace.manifest())
        setups = {key: dict(setup) for key, setup in validity.setups.items()}
        readers = {f"{READER}{key}": reader for key, reader in validity.readers.items()}
        ids = {**manifest.asked.get(instrument, {}), **validity.ids, **readers}
        asked = {**manifest.asked, instrument: ids} if ids else manifest.asked
        present = {"setups": {**manifest.setups, **setups}, "asked": asked}
        manifest = manifest.model_copy(update=present)
        manifest = manifest if before is None else manifest.following(before)
        present_rows = validity.tables().items()
        tables = {table: rows for table, rows in present_rows if not is_stored(rows, run.table(table.name))}
        counted = _counted(run, before) if tables or manifest != before else Counter()
        if not kept:
            workspace.write(manifest)
        elif manifest != before:
            write_manifest(manifest, run.manifest)
        for table, rows in tables.items():
            run.table(table.name).parent.mkdir(exist_ok=True)
            write_parquet(rows, run.table(table.name))
    if before is not None and counted:
        lost = counted - _counted(run, manifest)
        _tell(lost, list(_reasons(before, manifest, lost, validity.reason)))


def changed_lines(workspace: Workspace) -> list[str]:
    """A line per change of the experiment file's sampling since the run: its numbers are of what was asked before."""
    changes = _text_changes(workspace, workspace.manifest())
    told = [change for change in changes if change.stage == "generate"]
    return [f"{workspace.file}: {change}; these numbers are of the last run" for change in told]


def warn_of_changes(workspace: Workspace) -> None:
    """Warns where the run has other sampling settings than the experiment file has now."""
    for line in changed_lines(workspace):
        _log.warning(line)


def amend_manifest(workspace: Workspace, changes: Mapping[str, Any]) -> Manifest:
    """Changes some fields of the run's manifest, and keeps what others have written there meanwhile."""
    with Lock(workspace.run.root / PRESENT_LOCK, wait=True):
        manifest = require_run(workspace.run)
        amended = manifest.model_copy(update=dict(changes))
        if amended != manifest:
            write_manifest(amended, workspace.run.manifest)
    return amended


def record_facts(workspace: Workspace) -> None:
    """Records what the experiment file says of its models in the run, where it has changed: nothing else does."""
    facts = workspace.experiment.facts_of_models
    if require_run(workspace.run).model_facts != facts:
        amend_manifest(workspace, {"model_facts": facts})


def _refusal(workspace: Workspace, costly: Sequence[Change], what: str) -> ChangedExperimentError:
    """The error for changes that were not accepted; `what` would have to be redone."""
    return ChangedExperimentError(
        f"changed since its last run: {'; '.join(map(str, costly))}. To be redone: {what}, "
        "and everything that depends on them",
        where=workspace.file,
        remedy="Run with --accept-changes, or change the name to keep both; the present rows stay on disk and count "
        f"again when the setting comes back.{_moved(costly)}",
    )


def _moved(changes: Sequence[Change]) -> str:
    """How the same server may move to another address."""
    if not any(change.setting.endswith(f" {_ADDRESS}") for change in changes):
        return ""
    return " If it is the same server at another address, write its former one as `deployment` into the options."


def _text_changes(workspace: Workspace, now: Manifest) -> list[Change]:
    """The settings that make rows of the last run's texts stale, if it had any.

    More samples, models, languages, topics, countries or conditions make nothing stale: their rows are added.
    """
    before = workspace.before
    if before is None or not before.topics:
        return []
    reworded = _reworded(workspace)
    changes = [*_of_text_setups(before, now), *_of_sentences(before, now)]
    if before.sampling:
        changes += _differences("sampling", before.sampling, now.sampling, "generate", besides=_SAMPLING_TOPS_UP)
    if reworded:
        changes += _differences("prompts", before.prompts, now.prompts, "generate")
        line = "1 prompt has another text" if reworded == 1 else f"{reworded} prompts have another text"
        changes.append(Change("prompts", _NOT_SET, reworded, "generate", line))
    changes += _of_extraction(before, now, changes)
    if before.linker_id and before.linker_id != now.linker_id:
        changes += _differences("link", before.linker, now.linker, "link")
    return changes


def _of_text_setups(before: Manifest, now: Manifest) -> Iterator[Change]:
    """What of a model's setup differs, where it makes texts that the last run has, too."""
    extractor = before.extractor.get("with")
    keys = {f"sample {model}": "generate" for model in before.models} | {f"extract {extractor}": "extract"}
    for key, stage in keys.items():
        if key in before.setups and key in now.setups:
            yield from _changes_of_setup(key, before.setups[key], now.setups[key], stage)


def _of_extraction(before: Manifest, now: Manifest, others: Sequence[Change]) -> list[Change]:
    """What of the extraction differs. What no setting shows, as the text of a prompt or a topic, has its own line."""
    topics = [topic for topic, made in now.extractor_ids.items() if before.extractor_ids.get(topic, made) != made]
    if not topics:
        return []
    changes = _differences(_EXTRACT, before.extractor, now.extractor, _EXTRACT)
    if all(change.setting == f"{_EXTRACT}.sample" for change in changes) and _EXTRACT not in {c.stage for c in others}:
        line = (
            f"the extractor is asked otherwise about {', '.join(topics)}: another instruction, topic or limit of tokens"
        )
        changes.append(Change(f"{_EXTRACT} of topics", _NOT_SET, topics, _EXTRACT, line))
    return changes


def _of_sentences(before: Manifest, now: Manifest) -> Iterator[Change]:
    """The sentences that stand behind the prompts of some models alone, where they are others."""
    languages = [language for language in before.languages if language in now.languages]
    for model in filter(now.models.__contains__, before.models):
        was, is_now = ({lang: m.appended.get(model, {}).get(lang) for lang in languages} for m in (before, now))
        for language in languages:
            if was[language] != is_now[language]:
                yield Change(
                    f"{model}: answer_in_language", was[language] or _NOT_SET, is_now[language] or _NOT_SET, "generate"
                )
                break


def _changes_of_setup(key: str, was: Mapping[str, Any], now: Mapping[str, Any], stage: str = "") -> Iterator[Change]:
    """What differs between two setups of a model, by the key of its use."""
    for name in {**was, **now}:
        if content_id(was.get(name)) != content_id(now.get(name)):
            model = key.partition(" ")[2]
            yield Change(f"{model}: {name}", was.get(name, _NOT_SET), now.get(name, _NOT_SET), stage)


def _differences(
    section: str, before: Mapping[str, Any], now: Mapping[str, Any], stage: str, besides: str = ""
) -> list[Change]:
    keys = [key for key in {**before, **now} if key != besides and before.get(key) != now.get(key)]
    values = [(key, before.get(key, _NOT_SET), now.get(key, _NOT_SET)) for key in keys]
    return [Change(f"{section}.{key}", was, is_now, stage) for key, was, is_now in values]


def _reworded(workspace: Workspace) -> int:
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


# The extracted responses that none of the given extractors has processed.
UNREAD = """
SELECT DISTINCT response_id FROM extractions AS e WHERE NOT EXISTS (
    FROM stored_extractions AS s WHERE s.response_id = e.response_id AND s.status <> 'unusable'
        AND list_contains($extractors, s.extractor_id))
"""
# By model: how many texts the last run has. Failures are lost to nobody.
ANSWERED = "SELECT model, count(*) FROM responses WHERE status = 'ok' GROUP BY model"


def _costly_rows(workspace: Workspace, now: Manifest) -> dict[str, int]:
    """By stage, the number of the last run's rows that a model would have to make again under `now`.

    Rows on disk from an earlier run with these settings are reused.
    """
    before = workspace.before
    if before is None:
        return {}
    wanted = WANTED_RESPONSES.name
    with open_store(workspace.run, manifest=before) as store:
        was = _requests(store.table(wanted).to_arrow_table())
        answered = dict(store.sql(ANSWERED).fetchall())
        unread = len(store.sql(UNREAD, params={"extractors": list(now.extractor_ids.values())}))
    is_now = _requests(workspace.wanted(now))
    otherwise = {model for model, prompt in is_now.keys() & was.keys() if is_now[model, prompt] != was[model, prompt]}
    stale = [model for model in answered if _reworded(workspace) or model in otherwise]
    responses = sum(min(answered[model], _unasked(workspace, before, model)) for model in stale)
    by_model = ":" in workspace.experiment.extract.with_  # the new extractor decides whether it costs anything
    return {"generate": responses, "extract": unread if by_model else 0}


def _requests(wanted: pa.Table) -> dict[tuple[str, str], str]:
    """The request that each model is sent for each prompt."""
    return {(row["model"], row["prompt_id"]): row["request_id"] for row in wanted.to_pylist()}


def _unasked(workspace: Workspace, before: Manifest, model: str) -> int:
    """The number of samples of a model's last jobs without a stored answer under the present settings."""
    sampling = replace(workspace.sampling, n=min(workspace.sampling.n, before.n))
    step = workspace.sampling_step([job for job in workspace.jobs if job.model == model], sampling)
    return sum(left(workspace.run, step, work) for work in step.works())


def _with_texts_of(before: Manifest | None, now: Manifest) -> Manifest:
    """The present experiment; texts that the run has stay as they are: a change in these is for `run` to refuse."""
    if before is None:
        return now
    texts = before.model_dump(include={"sampling", "n", "appended"})
    return now.model_copy(update={**texts, "setups": {**now.setups, **before.setups}})


def _counted(run: RunFolder, manifest: Manifest | None) -> Counter[Kind]:
    """How many rows of each kind are current under a manifest, without failures."""
    if manifest is None:
        return Counter()
    there = [table for table in tables_of_setups(store_layout()) if (run.root / table.name).exists()]
    if not there:
        return Counter()
    counts = {table.name: _COUNT.format(view=table.name) for table in there}
    with open_store(run, store_layout(), manifest=manifest) as store:
        found = {view: store.sql(query).fetchall() for view, query in counts.items()}
    return Counter({(view, model): number for view, rows in found.items() for model, number in rows})


def _reasons(before: Manifest, now: Manifest, lost: Iterable[Kind], otherwise: str) -> Iterator[str]:
    """Why rows are invalidated: a changed setup or prompt; else the instrument's own reason."""
    models = {model for _, model in lost}
    for key, setup in _of_instruments(now).items():
        model, known = key.partition(" ")[2], before.setups.get(key)
        if model in models and known is not None and known != setup:
            yield from map(str, _changes_of_setup(key, known, setup))
    for instrument, ids in now.asked.items():
        known_ids = before.asked.get(instrument, {})
        for key, prompt_id in ids.items():
            if known_ids.get(key, prompt_id) != prompt_id and not key.startswith(READER):  # nothing is asked for that
                yield f"{key}: another prompt, temperature, seed or limit of tokens"
    if _of_instruments(before) == _of_instruments(now) and before.asked == now.asked and otherwise:
        yield otherwise


def _of_instruments(manifest: Manifest) -> dict[str, dict[str, Any]]:
    return {key: setup for key, setup in manifest.setups.items() if not key.startswith((SAMPLE, EXTRACT))}


def _tell(lost: Counter[Kind], reasons: Sequence[str]) -> None:
    told = _in_words(lost)
    if told:
        _log.warning(
            f"{'; '.join(reasons)}. {told} of the last run are no longer valid: they stay on disk, and are valid "
            "again when that comes back"
        )


def _in_words(lost: Counter[Kind]) -> str:
    """How many rows of each unit: '12 scores, 4 answers'; empty where there are none."""
    by_unit = Counter[str]()  # several tables may have one unit
    for table in tables_of_setups(store_layout()):
        by_unit[table.unit] += sum(lost[kind] for kind in lost if kind[0] == table.name)
    return ", ".join(f"{number} {unit}" for unit, number in by_unit.items() if number)
