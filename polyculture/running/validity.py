"""What counts from now on: the setups of the models, and the data set as it is; and what counts no more for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from polyculture.cache.files import store_faults
from polyculture.cache.manifest import Manifest, read_manifest, write_manifest
from polyculture.cache.parquet import write_parquet
from polyculture.cache.store import current_store
from polyculture.console import say
from polyculture.generate.engines.setup import WEIGHTS, Use, model_setup
from polyculture.running.layout import store_layout

if TYPE_CHECKING:
    from polyculture.cache.run_folder import RunFolder
    from polyculture.experiment.workspace import Workspace
    from polyculture.instruments.datasets.model import DataSet, MaskedContext

Setups = Mapping[str, Mapping[str, Any]]  # model -> which one it is, exactly, and what decides its numbers
Kind = tuple[str, str, str]  # a view, a model, a data set
_COUNT = "SELECT model, dataset, count(*) FROM {view} WHERE status = 'ok' GROUP BY ALL"
_COUNTED = {"scores": "scores", "swap_answers": "answers", "representations": "vectors"}  # view -> what its rows are


def setups_of(workspace: Workspace, models: Sequence[str], use: Use) -> dict[str, dict[str, Any]]:
    """The setup of each model. Weights that are not on this machine are taken for those of the last run."""
    setups = {model: model_setup(workspace.experiment.model_spec(model), use) for model in models}
    before = workspace.before.setups if workspace.before else {}
    for model, setup in setups.items():
        known = before.get(f"{use} {model}", {})
        if WEIGHTS in known:
            setup.setdefault(WEIGHTS, known[WEIGHTS])
    return setups


def make_present(
    workspace: Workspace,
    use: Use,
    setups: Setups,
    dataset: DataSet,
    helped: Iterable[MaskedContext] = (),
    swap_prompts: Mapping[str, str] | None = None,
) -> None:
    """Makes the experiment, the setups, the prompts and the data set the run's present ones.

    Rows that count no more for it stay on disk; one line says how many they are, and why.
    """
    from polyculture.instruments.datasets.present import present_tables

    run = workspace.run
    with store_faults(run.root):
        run.root.mkdir(parents=True, exist_ok=True)
    with FileLock(run.root / ".present.lock"):  # others may do the same for other models of the run
        before = read_manifest(run.manifest)
        kept = before is not None and before.models == list(workspace.experiment.models)
        manifest = before if before is not None and kept else workspace.manifest()
        asked = {f"{use} {model}": dict(setup) for model, setup in setups.items()}
        prompts = {**manifest.asked, "swaps": {**manifest.asked.get("swaps", {}), **(swap_prompts or {})}}
        manifest = manifest.model_copy(update={"setups": {**manifest.setups, **asked}, "asked": prompts})
        tables = present_tables(run, dataset, helped)
        counted = _counted(run, before) if tables or manifest != before else Counter()
        if not kept:
            workspace.write(manifest)
        elif manifest != before:
            write_manifest(manifest, run.manifest)
        for table, rows in tables.items():
            write_parquet(rows, run.table(table.name))
    if before is not None and counted:
        lost = counted - _counted(run, manifest)
        _tell(lost, list(_reasons(before, manifest, lost, dataset)))


def _counted(run: RunFolder, manifest: Manifest | None) -> Counter[Kind]:
    """How many rows of each kind, failures left out, count under a manifest."""
    if manifest is None:
        return Counter()
    with current_store(run, manifest, store_layout()) as store:
        found = {view: store.sql(_COUNT.format(view=view)).fetchall() for view in _COUNTED}
    return Counter({(view, model, data): number for view, rows in found.items() for model, data, number in rows})


def _reasons(before: Manifest, now: Manifest, lost: Iterable[Kind], dataset: DataSet) -> Iterator[str]:
    """Why rows count no more: what became of a model's setup, of a prompt, of the data set."""
    models, data = {model for _, model, _ in lost}, {name for _, _, name in lost}
    for key, setup in now.setups.items():
        model, known = key.partition(" ")[2], before.setups.get(key)
        if known is None and model in models:
            yield f"{model}: what decided its earlier numbers was not kept"
        elif known is not None and known != setup:
            yield f"{model}: {', '.join(_differences(known, setup))}"
    for instrument, ids in now.asked.items():
        known_ids = before.asked.get(instrument, {})
        for key, prompt_id in ids.items():
            if known_ids.get(key, prompt_id) != prompt_id:
                yield f"{key}: another prompt, temperature or seed"
    if before.setups == now.setups and before.asked == now.asked and dataset.name in data:
        yield (
            f"data set {dataset.name!r}: not all that was asked about is in {dataset.folder} (a second data set needs "
            "a name of its own: --data own:NAME)"
        )


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in {**before, **now}:
        was, is_now = (repr(setup[name]) if name in setup else "not set" for setup in (before, now))
        if was != is_now:
            yield f"{name} was {was} and is now {is_now}"


def _tell(lost: Counter[Kind], reasons: Sequence[str]) -> None:
    by_view = {view: sum(lost[kind] for kind in lost if kind[0] == view) for view in _COUNTED}
    told = ", ".join(f"{number} {_COUNTED[view]}" for view, number in by_view.items() if number)
    if told:
        say(f"{'; '.join(reasons)}. {told} of the last run count no more: they stay on disk, and count again when "
            "that comes back. What is asked now is made anew")  # fmt: skip
