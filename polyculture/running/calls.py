"""What an experiment asks its models in one go: its texts, or a command of an instrument with its options.

The run keeps the options of each command: `status`, `plan`, job arrays and clusters see no command line.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel

from polyculture.cache.errors import DataSetError, EngineError, Mistakes, PolycultureError, StoreError, UserError
from polyculture.cache.files import replacing
from polyculture.cache.identity import content_id
from polyculture.cache.locks import Lock
from polyculture.cache.log import get_logger
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.work.outcome import Progress
from polyculture.cache.work.worker import Step, Work
from polyculture.experiment.jobs import choose_models
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines import check_can
from polyculture.generate.engines.capabilities import CAPABILITIES
from polyculture.instruments import Entry
from polyculture.instruments.contract import Command, NamesData, Setup, Study
from polyculture.progress import watch
from polyculture.running.linking import fill_with, plan_linking
from polyculture.running.models import loaded_as
from polyculture.running.paper import as_paper
from polyculture.running.validity import PRESENT_LOCK, Proposal, make_valid

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.catalog import Catalog
    from polyculture.cache.store.run_folder import Job, RunFolder
    from polyculture.generate.engines import ModelSpec
    from polyculture.generate.engines.models import Models
    from polyculture.instruments.datasets.presets import PaperPart


_log = get_logger(__name__)
LogRemark = Callable[[int, str], None]  # takes a remark with its level, as of `logging`
WrittenPaths = tuple[tuple[str, Path], ...]  # of an experiment file: by its keys, as instruments.ask.folder


def _silent(_level: int, _line: str) -> None:
    """Somebody only wants to know what is left."""


def once(tell: LogRemark) -> LogRemark:
    """`tell` for lines that it has not had: what several parts of a command have in common is said once."""
    told: set[str] = set()

    def new(level: int, line: str) -> None:
        if line not in told:
            told.add(line)
            tell(level, line)

    return new


@dataclass(frozen=True)
class LeftOutPart(Study):
    """A part that nothing of can be asked, where that is a fault: the command does not end with 0."""

    line: str = ""


@dataclass(frozen=True)
class ExperimentAsked:
    """An experiment as an instrument sees it."""

    workspace: Workspace
    model: str | None = None  # the one that the command line names
    tell: LogRemark = _log.log  # gets the remarks
    able: tuple[str, ...] | None = None  # the models that can do it; None: nobody looked

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
        return self.workspace.setup(use, model)

    def link(self, queries: pa.Table) -> pa.Table:
        from polyculture.link.api.names import NamedMention
        from polyculture.link.linker import Linker

        linking = plan_linking(self.workspace)
        if self.workspace.experiment.link.fill:
            names = [NamedMention(row["language"], row["surface"]) for row in queries.to_pylist()]
            fill_with(self.workspace, names, linking.source.path)
            linking = plan_linking(self.workspace)
        return Linker(self.catalog, linking.source).link(queries)["links"]

    def watch(self, label: str, total: int) -> AbstractContextManager[Progress]:
        return watch(label, total)

    def info(self, line: str) -> None:
        self.tell(logging.INFO, line)

    def warning(self, line: str) -> None:
        self.tell(logging.WARNING, line)


class Call(ABC):
    """What an experiment asks its models in one go: its texts, or a command of an instrument. A list of these is a run.

    A paper is a list of calls, each of a part, which has the paper's call as its `whole`.
    """

    workspace: Workspace
    command: str
    whole: Call | None = None  # the paper that a part belongs to
    part: PaperPart | None = None
    follows: Call | None = None  # the part whose results it asks about: it is asked once these are measured
    tell_settled = False  # whether jobs that were complete before are reported, too

    @property
    @abstractmethod
    def title(self) -> str:
        """What lines call it."""

    @abstractmethod
    def stage(self, step: Step[Any, Any]) -> str:
        """The name of one of its steps among the stages of a run."""

    @abstractmethod
    def study(self, tell: LogRemark | None = None) -> Study:
        """Its steps, and what follows from them. `tell` gets the remarks of whoever makes the study.

        Without `tell`, somebody only wants to know what is left: where no model can be asked, the study is empty.
        Raises `EngineError` there with `tell`; in both cases the instrument's error where there is nothing to ask.
        """

    @abstractmethod
    def proposal(self, study: Study) -> Proposal:
        """What makes the study the run's current one."""

    def make_valid(self, study: Study, *, accept_changes: bool) -> None:
        """Makes the study the run's current one, and stores it there for other processes.

        Raises `ChangedExperimentError` where a model would have to make rows again and that was not accepted.
        """
        make_valid(self.proposal(study), accept_changes=accept_changes)

    @property
    def with_argument(self) -> str:
        """The command as it is typed, without options: 'paper camel'."""
        return self.command

    def unable(self) -> Iterator[tuple[str, EngineError]]:
        """The models that cannot be asked it, each with the reason, by what their engines declare. Opens nothing."""
        return iter(())

    def check_able(self) -> None:  # noqa: B027, whatever has no needs can be asked
        """Raises a `UserError` where it cannot be asked: `EngineError` where no model is able."""

    def refusals(self) -> Iterator[UserError]:
        """What `run` will refuse of it, apart from its models: there is a plan all the same."""
        yield from ()

    @cached_property
    def known(self) -> Study:
        """The study as things are now, without a word: made once, for whoever only counts."""
        return self.study()

    def jobs_of(self, stage: str) -> list[Job]:
        """The jobs of the step of this name, each once."""
        return list(dict.fromkeys(work.job for step, work in self.works() if self.stage(step) == stage))

    def works(self) -> Iterator[tuple[Step[Any, Models], Work[Any]]]:
        """Every work of every step, in a fixed order."""
        for step in self.known.steps:
            for work in step.works():
                yield step, work


@dataclass(frozen=True)
class InstrumentCall(Call):
    """A command of an instrument with its options, on an experiment; or a part of a paper.

    What a part cannot ask is a line, and the other parts go on.
    """

    workspace: Workspace
    command: str
    entry: Entry
    options: BaseModel
    whole: InstrumentCall | None = None
    part: PaperPart | None = None
    follows: InstrumentCall | None = None
    paths: WrittenPaths = ()  # that the experiment file says, and no command line

    @property
    def declared(self) -> Command[Any]:
        """The command as its instrument declares it."""
        return self.entry.commands[self.command]

    @property
    def title(self) -> str:
        """'cbs'; of a part 'paper camel, cbs in English'."""
        if self.whole is None or self.part is None:
            return self.command
        return f"{self.whole.with_argument}, {self.part.title}"

    @property
    def answers_to_each(self) -> int:
        """How many answers a part takes to each question of the part that it follows, at most."""
        paper = as_paper(self.whole.command, self.whole.options) if self.whole else None
        return paper.answers_to_each(self.part) if paper and self.part else 0

    @property
    def with_argument(self) -> str:
        """As of each call."""
        subject = self.declared.subject
        return f"{self.command} {getattr(self.options, subject.option)}" if subject else self.command

    def stage(self, step: Step[Any, Any]) -> str:
        """The command, and its step where that has a name of its own; between them the name of a part."""
        words = [self.command] if self.whole is None or self.part is None else [self.whole.command, self.part.title]
        return " ".join(words if step.name == self.command else [*words, step.name])

    def study(self, tell: LogRemark | None = None) -> Study:
        """As of each call. A part says what it cannot ask, and has an empty study then."""
        try:
            self.check_able()
        except EngineError:
            if tell is not None and self.part is None:
                raise
            return Study()
        except DataSetError as fault:
            return self._left_out(fault, tell)
        try:
            study = self.declared.study(self._able(tell or _silent), self.options)
        except PolycultureError as fault:
            return self._left_out(fault, tell)
        return study if self.part is None else replace(study, shown=())

    def _left_out(self, fault: PolycultureError, tell: LogRemark | None) -> Study:
        """A part of which nothing can be asked; of a whole command it is an error."""
        if self.part is None:
            raise fault
        line = f"{self.title}: left out: {fault}"
        (tell or _silent)(logging.WARNING, line)
        return Study() if self.part.optional else LeftOutPart(line=line)

    def _check_paths(self) -> None:
        """Raises `DataSetError` of a path in the experiment file where there is nothing."""
        file = self.workspace.file
        for key, path in self.paths:
            if not path.exists():
                what = f"{key}: there is no file or folder {path}"
                there = [one.name for one in path.parent.glob("*")]
                near = did_you_mean(path.name, there, otherwise="")
                remedy = f"{near} A path in this file is relative to the file's folder, {file.absolute().parent}."
                raise DataSetError(what, where=file, remedy=remedy.strip())

    def check_able(self) -> None:
        """As of each call; and `DataSetError` of a path in the experiment file where there is nothing, and of a name
        that no data set has. All that is wrong is said at once, the data first."""
        self._check_paths()
        mistakes = Mistakes()
        for check in (self._check_names, self._check_models):
            with mistakes:
                check()
        mistakes.tell()

    def _check_names(self) -> None:
        if isinstance(self.options, NamesData):
            self.options.check_names()

    def _check_models(self) -> None:
        unable = list(self.unable())
        if unable and len(unable) == len(self._every(_silent).models):
            fault = unable[0][1]
            raise EngineError(f"{self.title} can be asked of no model: {fault.what}", remedy=fault.remedy)

    def unable(self) -> Iterator[tuple[str, EngineError]]:
        """As of each call."""
        if not self._uses:
            return
        for model in self._every(_silent).models:
            fault = self._fault(model)
            if fault is not None:
                yield model, fault

    @property
    def _uses(self) -> Sequence[str]:
        """What the command uses a model for, and that whose results it asks about."""
        before = () if self.follows is None else self.follows._uses
        return tuple(dict.fromkeys((*self.declared.uses_of(self.options), *before)))

    @property
    def _model(self) -> str | None:
        """The model that the command line names."""
        return getattr((self.whole or self).options, "model", None)

    def _every(self, tell: LogRemark) -> ExperimentAsked:
        """The experiment with all models, whatever they can do."""
        return ExperimentAsked(self.workspace, self._model, tell)

    def _able(self, tell: LogRemark) -> ExperimentAsked:
        """The experiment as the command sees it: with the models that can be asked."""
        every = self._every(tell)
        if not self._uses:
            return every
        unable = dict(self.unable())
        return replace(every, able=tuple(model for model in every.models if model not in unable))

    def _fault(self, model: str) -> EngineError | None:
        for use in self._uses:
            try:
                check_can(self.workspace.experiment.model_spec(model), CAPABILITIES[use])
            except EngineError as fault:
                return fault
        return None

    def proposal(self, study: Study) -> Proposal:
        return Proposal(self.workspace, self.entry.name, study.validity, study.steps)

    def make_valid(self, study: Study, *, accept_changes: bool) -> None:
        """As of each call. Keeps the command with its options, too."""
        super().make_valid(study, accept_changes=accept_changes)
        kept = self.whole or self
        with Lock(self.workspace.run.root / PRESENT_LOCK, wait=True):
            known = read_kept(self.workspace)
            known[kept.command] = kept.options.model_dump(mode="json")  # all of them: defaults may change
            # Tables of a paper say what each command asked of which data and model: the last stands last.
            asked = {**self.options.model_dump(mode="json"), "model": self._model}
            call = f"{self.title} {content_id(asked)[:8]}"
            known.pop(call, None)
            known[call] = {"command": self.command, "options": asked}
            with replacing(self.workspace.run.instruments) as temporary:
                temporary.write_bytes(orjson.dumps(known, option=orjson.OPT_INDENT_2))


def tell_left_out(calls: Iterable[Call]) -> None:
    """Warns of each model that commands cannot ask, with the reason, and with all parts that it is kept out of."""
    left_out: dict[tuple[str, str, str], list[str]] = {}
    for call in calls:
        title = call.title if call.whole is None else call.whole.with_argument
        for model, fault in call.unable():
            left_out.setdefault((title, model, str(fault)), []).extend([call.part.title] if call.part else [])
    for (title, _, reason), parts in left_out.items():
        _log.warning(f"{', '.join([title, *parts])}: left out: {reason}")


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


def known_calls(calls: Iterable[Call]) -> tuple[list[Call], list[tuple[Call, PolycultureError]]]:
    """The calls whose studies can be made; and the others, each with the reason."""
    known, unknown = list[Call](), list[tuple[Call, PolycultureError]]()
    for call in calls:
        try:
            _ = call.known
        except PolycultureError as fault:
            unknown.append((call, fault))
        else:
            known.append(call)
    return known, unknown
