"""What commands of instruments ask of an experiment: one command with its options, or a part of one that asks several.

The run keeps the options of each command: `status`, `plan`, job arrays and clusters see no command line.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import orjson
from pydantic import BaseModel

from polyculture.cache.errors import EngineError, PolycultureError, StoreError
from polyculture.cache.files import replacing
from polyculture.cache.identity import content_id
from polyculture.cache.locks import Lock
from polyculture.cache.log import get_logger
from polyculture.cache.work.outcome import Progress
from polyculture.cache.work.worker import Step, Work
from polyculture.experiment.jobs import choose_models
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines import check_can
from polyculture.generate.engines.capabilities import CAPABILITIES
from polyculture.instruments import Entry
from polyculture.instruments.contract import Command, Part, Setup, Study
from polyculture.progress import watch
from polyculture.running.models import loaded_as
from polyculture.running.validity import make_valid, setup_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from polyculture.cache.catalog import Catalog
    from polyculture.cache.store.run_folder import RunFolder
    from polyculture.generate.engines import ModelSpec
    from polyculture.generate.engines.models import Models
    from polyculture.generate.engines.options import Use

_log = get_logger(__name__)


@dataclass(frozen=True)
class ExperimentAsked:
    """An experiment as an instrument sees it."""

    workspace: Workspace
    model: str | None = None  # the one that the command line names
    quiet: bool = False  # says nothing: somebody only wants to know what is left
    able: tuple[str, ...] | None = None  # the models that can do it; None: nobody looked
    told: set[str] = field(default_factory=set)  # lines that were said, once each

    @property
    def run(self) -> RunFolder:
        return self.workspace.run

    @property
    def catalog(self) -> Catalog:
        return self.workspace.catalog

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Those that an instrument asks: a system prompt is for texts alone, so its variants are no more models.

        A variant that the command line names, or that differs in other options, is asked.
        """
        if self.able is not None:
            return self.able
        chosen = choose_models(self.workspace, self.model)
        spec, base = self.workspace.experiment.model_spec, self.workspace.experiment.base_of
        alike = [
            m for m in chosen if base(m) != m and base(m) in chosen and loaded_as(spec(m)) == loaded_as(spec(base(m)))
        ]
        if alike:
            self.info(f"{', '.join(alike)}: not asked by instruments; a system prompt is for texts alone")
        return tuple(model for model in chosen if model not in alike)

    @property
    def seed(self) -> int:
        return self.workspace.experiment.sampling.seed

    def spec(self, model: str) -> ModelSpec:
        return self.workspace.experiment.model_spec(model)

    def setup(self, model: str, use: str) -> Setup:
        return setup_of(self.workspace, model, cast("Use", use))

    def link(self, queries: pa.Table) -> Mapping[str, pa.Table]:
        from polyculture.link.api.names import Named
        from polyculture.link.linker import Linker
        from polyculture.running.linking import fill_with, plan_linking

        linking = plan_linking(self.workspace)
        if self.workspace.experiment.link.fill:
            names = [Named(row["language"], row["surface"]) for row in queries.to_pylist()]
            fill_with(self.workspace, names, linking.source.path)
            linking = plan_linking(self.workspace)
        return Linker(self.catalog, linking.source).link(queries)

    def watch(self, label: str, total: int) -> AbstractContextManager[Progress]:
        return watch(label, total)

    def info(self, line: str) -> None:
        self._tell(logging.INFO, line)

    def warning(self, line: str) -> None:
        self._tell(logging.WARNING, line)

    def _tell(self, level: int, line: str) -> None:
        if not self.quiet and line not in self.told:
            self.told.add(line)
            _log.log(level, line)


@dataclass(frozen=True)
class InstrumentCall:
    """A command of an instrument with its options, on an experiment."""

    workspace: Workspace
    command: str
    entry: Entry
    options: BaseModel

    @property
    def declared(self) -> Command:
        """The command as its instrument declares it."""
        return self.entry.commands[self.command]

    @property
    def kept(self) -> tuple[str, BaseModel]:
        """The command and the options by which other processes find it again."""
        return self.command, self.options

    @property
    def title(self) -> str:
        """How lines call it."""
        return self.command

    @property
    def later(self) -> bool:
        """Whether it asks about another part's results: it is asked once these are measured."""
        return False

    def asked(self, *, quiet: bool = False) -> ExperimentAsked:
        """The experiment as the command sees it: with the models that can be asked; a line names each other one."""
        return self._able(self._every(quiet=quiet))

    def study(self, *, quiet: bool = False) -> Study:
        """The study. Without anything to query, raises the instrument's error.

        Where no model can be asked, raises `EngineError`; quietly, it is an empty study.
        """
        try:
            self.check_able()
        except EngineError:
            if quiet:
                return Study()
            raise
        return self.declared.study(self.asked(quiet=quiet), self.options)

    @cached_property
    def known(self) -> Study:
        """The same as things are now, without a word: made once, for whoever only counts."""
        return self.study(quiet=True)

    def check_able(self) -> None:
        """Raises `EngineError` where no model can be asked it."""
        unable = list(self.unable())
        if unable and len(unable) == len(self._every(quiet=True).models):
            fault = unable[0][1]
            raise EngineError(f"{self.title} can be asked of no model: {fault.what}", remedy=fault.remedy)

    def unable(self) -> Iterator[tuple[str, EngineError]]:
        """The models that cannot be asked it, each with the reason, by what their engines declare. Opens nothing."""
        if not self._needs:
            return
        for model in self._every(quiet=True).models:
            fault = self._fault(model)
            if fault is not None:
                yield model, fault

    def _every(self, *, quiet: bool) -> ExperimentAsked:
        """The experiment with all models, whatever they can do."""
        return ExperimentAsked(self.workspace, getattr(self.options, "model", None), quiet)

    @property
    def _needs(self) -> Sequence[str]:
        return self.declared.needs(self.options)

    def _able(self, every: ExperimentAsked) -> ExperimentAsked:
        """With the models alone that can be asked it; a line names each other one."""
        if not self._needs:
            return every
        faults = dict(self.unable())
        self._tell_left_out(every, faults)
        return replace(every, able=tuple(model for model in every.models if model not in faults))

    def _tell_left_out(self, every: ExperimentAsked, faults: Mapping[str, EngineError]) -> None:
        for fault in faults.values():
            every.warning(f"{self.title}: left out: {fault}")

    def _fault(self, model: str) -> EngineError | None:
        for need in self._needs:
            try:
                check_can(self.workspace.experiment.model_spec(model), CAPABILITIES[need])
            except EngineError as fault:
                return fault
        return None

    def make_valid(self, study: Study) -> None:
        """Makes the study the run's current one, and stores it there for other processes."""
        make_valid(self.workspace, self.entry.name, study.validity)
        path = self.workspace.run.instruments
        name, options = self.kept
        with Lock(self.workspace.run.root / ".present.lock", wait=True):
            known = read_kept(self.workspace)
            known[name] = options.model_dump(mode="json")  # all of them: defaults may change
            # Tables of a paper say what each command asked of which data and model: the last stands last.
            asked = {**self.options.model_dump(mode="json"), "model": getattr(options, "model", None)}
            call = f"{self.title} {content_id(asked)[:8]}"
            known.pop(call, None)
            known[call] = {"command": self.command, "options": asked}
            with replacing(path) as temporary:
                temporary.write_bytes(orjson.dumps(known, option=orjson.OPT_INDENT_2))

    def stage(self, step: Step[Any, Any]) -> str:
        """The name of this command's step among the stages of a run."""
        return step.name if step.name == self.command else f"{self.command} {step.name}"

    def works(self) -> Iterator[tuple[Step[Any, Models], Work[Any]]]:
        """Every work of every step, in a fixed order."""
        for step in self.known.steps:
            for work in step.works():
                yield step, work


@dataclass(frozen=True)
class PartCall(InstrumentCall):
    """A part of a command that asks several: what cannot be asked is a line, and the other parts go on."""

    suite: InstrumentCall
    part: Part
    told: set[str]  # lines that a part said: what several have in common is said once
    before: PartCall | None = None  # the part that it asks about
    parts: list[PartCall] = field(default_factory=list, repr=False)  # all of the command

    @property
    def kept(self) -> tuple[str, BaseModel]:
        return self.suite.kept

    @property
    def title(self) -> str:
        return f"{self._whole}, {self.part.name}"

    @property
    def _whole(self) -> str:
        argument = self.suite.declared.argument
        return f"{self.suite.title} {getattr(self.suite.options, argument)}" if argument else self.suite.title

    def _tell_left_out(self, every: ExperimentAsked, faults: Mapping[str, EngineError]) -> None:
        """A line for each model and reason, with all parts that it keeps the model out of: the first part says it."""
        for model, fault in faults.items():
            told = (model, str(fault))
            alike = [one.part.name for one in self.parts if told in ((name, str(why)) for name, why in one.unable())]
            every.warning(f"{self._whole}, {', '.join(alike)}: left out: {fault}")

    @property
    def later(self) -> bool:
        return bool(self.part.after)

    @property
    def _needs(self) -> Sequence[str]:
        """What the command takes, and that whose results it asks about."""
        before = () if self.before is None else self.before._needs
        return tuple(dict.fromkeys((*super()._needs, *before)))

    def study(self, *, quiet: bool = False) -> Study:
        """The study of the models that can be asked; an empty one, and a line with the reason, without any.

        What a model cannot do is no fault; data of which a part can ask nothing is one, unless the part is optional.
        """
        asked = self.asked(quiet=quiet)
        try:
            found = self.declared.study(asked, self.options) if asked.models else Study()
        except PolycultureError as fault:
            told = f"{self.title}: left out: {fault}"
            asked.warning(told)
            return Study(missing="" if self.part.optional else told)
        return found

    def stage(self, step: Step[Any, Any]) -> str:
        own = self.part.name if step.name == self.command else f"{self.part.name} {step.name}"
        return f"{self.suite.command} {own}"

    def _every(self, *, quiet: bool) -> ExperimentAsked:
        return replace(self.suite.asked(quiet=quiet), told=self.told)


def read_kept(workspace: Workspace) -> dict[str, Any]:
    """The options of commands that the run keeps, by command. Raises `StoreError` where they cannot be read."""
    path = workspace.run.instruments
    if not path.exists():
        return {}
    try:
        found: dict[str, Any] = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as fault:
        remedy = "Move it away: the commands write it anew."
        raise StoreError("cannot be read", where=path, remedy=remedy) from fault
    return found
