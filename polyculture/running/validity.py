"""Makes setups and prompts of an instrument the run's present ones, and reports invalidated rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from polyculture.cache.files import store_faults
from polyculture.cache.locks import Lock
from polyculture.cache.log import get_logger
from polyculture.cache.store.manifest import Manifest, read_manifest, setup_id, write_manifest
from polyculture.cache.store.parquet import is_stored, write_parquet
from polyculture.cache.store.schema import tables_of_setups
from polyculture.cache.store.store import asked_store
from polyculture.experiment.changes import changes_of_setup, refusal
from polyculture.experiment.setups import EXTRACT
from polyculture.generate.engines import ENGINES
from polyculture.generate.engines.options import Use
from polyculture.generate.engines.setup import model_setup
from polyculture.generate.request import SAMPLE
from polyculture.running.layout import store_layout

if TYPE_CHECKING:
    from polyculture.cache.store.run_folder import RunFolder
    from polyculture.experiment.workspace import Workspace
    from polyculture.instruments.contract import Validity

_log = get_logger(__name__)

READER = "reader "  # how the keys of readers begin among what is asked
Kind = tuple[str, str]  # a view and a model
_COUNT = "SELECT model, count(*) FROM {view} WHERE status = 'ok' GROUP BY ALL"


def setup_of(workspace: Workspace, model: str, use: Use) -> dict[str, Any]:
    """The setup of a model. Weights that are not on this machine are assumed to be those of the last run."""
    known = workspace.before.setups.get(f"{use} {model}", {}) if workspace.before else {}
    return model_setup(workspace.experiment.model_spec(model), use, known)


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
        changes = [one for key in models for one in changes_of_setup(key, before.setups[key], changed[key], "")]
        raise refusal(changes, lost, workspace.file)


def make_valid(workspace: Workspace, instrument: str, validity: Validity) -> None:
    """Makes the experiment and the instrument's prompts the run's present ones.

    Invalidated rows stay on disk; one line reports their number and the reason.
    """
    run = workspace.run
    with store_faults(run.root):
        run.root.mkdir(parents=True, exist_ok=True)
    with Lock(run.root / ".present.lock", wait=True):  # others may do the same for other models of the run
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
    with asked_store(run, " ".join(counts.values()), store_layout(), manifest=manifest) as store:
        found = {view: store.sql(query).fetchall() for view, query in counts.items()}
    return Counter({(view, model): number for view, rows in found.items() for model, number in rows})


def _reasons(before: Manifest, now: Manifest, lost: Iterable[Kind], otherwise: str) -> Iterator[str]:
    """Why rows are invalidated: a changed setup or prompt; else the instrument's own reason."""
    models = {model for _, model in lost}
    for key, setup in _of_instruments(now).items():
        model, known = key.partition(" ")[2], before.setups.get(key)
        if model in models and known is not None and known != setup:
            yield from map(str, changes_of_setup(key, known, setup, ""))
    for instrument, ids in now.asked.items():
        known_ids = before.asked.get(instrument, {})
        for key, prompt_id in ids.items():
            if known_ids.get(key, prompt_id) != prompt_id and not key.startswith(READER):  # nothing is asked for that
                yield f"{key}: another prompt, temperature or seed"
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
