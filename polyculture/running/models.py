"""The models of a command: loaded on first use by a step, within the budget, freed at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from polyculture.cache.errors import EngineError
from polyculture.cache.identity import content_id
from polyculture.cache.log import get_logger
from polyculture.cache.work.stop_rule import StopRule
from polyculture.cache.work.worker import Step, Work
from polyculture.experiment.file import Experiment
from polyculture.experiment.sections import GAZETTEER
from polyculture.experiment.workspace import Workspace
from polyculture.generate.admission import admitted
from polyculture.generate.engines import ModelSpec, find_kind, find_offer, open_engine, read_options
from polyculture.generate.engines.imported import PREFIX
from polyculture.generate.engines.models import MODEL
from polyculture.generate.engines.options import OF_TEXTS
from polyculture.progress import brief, never_silent
from polyculture.running.batching import batch_folder, check_nothing_waits, in_batches, open_batches
from polyculture.running.budget import Budget, open_budget

if TYPE_CHECKING:
    from polyculture.generate.engines import Capability, Sampling
    from polyculture.generate.engines.capabilities import E_co

_log = get_logger(__name__)


@contextmanager
def load_model(spec: ModelSpec, needs: Capability[Any]) -> Iterator[Any]:
    """A model, loaded for a capability; where that takes long, a line says so from time to time.

    Raises what `generate.engines.open_engine` and the engine raise; where the capability is missing, before anything is
    loaded.
    """
    with ExitStack() as stack:
        with never_silent(lambda: _log.info(f"{brief(spec.model)}: still being loaded")):
            engine = stack.enter_context(open_engine(spec, needs))
        yield engine


class LoadedModels:
    """The open models; each is loaded once. `stop` ends the waiting for batches."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.stop = Event()
        self._stack = ExitStack()
        self._engines: dict[tuple[str, Callable[..., Any] | str], Any] = {}  # by model and by what opened it
        self._budget: Budget | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, value, trace)

    def engine(self, spec: ModelSpec, needs: Capability[E_co]) -> E_co:
        """A model that answers directly; opened once for all its capabilities."""
        key = loaded_as(spec), find_offer(spec, needs).open
        if key not in self._engines:
            self._engines[key] = self._stack.enter_context(load_model(self._patient(spec), needs))
        engine: E_co = self._engines[key]
        return engine

    def _patient(self, spec: ModelSpec) -> ModelSpec:
        """The model with the limits of the experiment's `[stop]`, where its engine asks a service."""
        stop = self.workspace.experiment.stop
        limits = {"outage_faults": stop.answers, "outage_minutes": stop.minutes}
        if not limits.keys() <= find_kind(spec).options.model_fields.keys():
            return spec
        return replace(spec, options={**limits, **spec.options})

    def batches(self, spec: ModelSpec, folder: Path) -> Sampling:
        """A model in batch mode; the folder keeps the batches' ids."""
        return self._stack.enter_context(open_batches(spec, folder, self.stop))

    @property
    def budget(self) -> Budget:
        """The experiment's budget, opened when the first model is."""
        if self._budget is None:
            self._budget = self._stack.enter_context(open_budget(self.workspace))
        return self._budget


@dataclass(frozen=True)
class WorkModels:
    """The models of one work of a step, which `rule` may stop, as the step opens them."""

    loaded: LoadedModels
    step: Step[Any, Any]
    work: Work[Any]
    rule: StopRule | None = None

    def spec(self, role: str = MODEL) -> ModelSpec:
        """The model of a role with its options."""
        return self.loaded.workspace.experiment.model_spec(self.work.models[role])

    def open(self, needs: Capability[E_co], role: str = MODEL) -> E_co:
        """The model of a role with a capability, within the budget where its answers are paid."""
        spec, step, job = self.spec(role), self.step, self.work.job
        batch, stage = in_batches(step, spec), step.tables[-1].stage
        folder = batch_folder(self.loaded.workspace, step, job, spec.model) if step.in_batches else None
        if folder is not None and batch:
            engine = cast("E_co", self.loaded.batches(spec, folder))  # what comes in batches is sampled
        else:
            if folder is not None:
                check_nothing_waits(folder, step.name, job)
            engine = self.loaded.engine(spec, needs)
        limited = engine
        if stage is not None:
            limited = self.loaded.budget.engine(engine, needs, spec.model, stage, job, batch=batch)
        return limited if self.rule is None else admitted(limited, needs, self.rule)


def asked_models(experiment: Experiment) -> list[str]:
    """All models that an experiment asks, each once."""
    return [model for model in dict.fromkeys(experiment.asked) if model != GAZETTEER]


def unready_models(experiment: Experiment) -> dict[str, EngineError]:
    """The models that cannot be asked as things are, such as one whose key is not set, and why. Asks no service."""
    faults = dict[str, EngineError]()
    for model in asked_models(experiment):
        spec = experiment.model_spec(model)
        kind = find_kind(spec)
        options = read_options(kind.options, spec)
        try:
            kind.places(spec, options)
        except EngineError as fault:
            faults[model] = fault
    return faults


def is_hosted(model: str) -> bool | None:
    """Whether a model's engine asks a paid service; None where nobody knows which engine answered."""
    try:
        return None if model.startswith(PREFIX) else find_kind(ModelSpec(model)).paid
    except EngineError:
        return None


def loaded_as(spec: ModelSpec) -> str:
    """Equal of variants that one loaded model answers: a system prompt and a seed are parts of what is asked."""
    options = {name: value for name, value in spec.options.items() if name not in OF_TEXTS}
    return content_id(spec.engine, spec.name, options)
