"""One loop asks what calls ask; an executor says where. A cluster is another executor (`cluster/run.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Protocol, Self

from polyculture.cache.errors import EngineError, MissingDependencyError, UserError, together
from polyculture.cache.log import get_logger
from polyculture.cache.store.shards import recover_killed, recover_lost, remove_rows_about_lost
from polyculture.cache.store.store import open_store
from polyculture.cache.work.worker import Step, Work, models_of
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines.models import Models
from polyculture.instruments.contract import Study
from polyculture.running.calls import Call, LeftOutPart, LogRemark, known_calls, once
from polyculture.running.layout import store_layout
from polyculture.running.models import unready_models
from polyculture.running.outcome import RunOutcome
from polyculture.running.steps import StepRunner, places_of

_log = get_logger(__name__)

Share = Callable[[list[Work[Any]]], list[Work[Any]]]


def whole(works: list[Work[Any]]) -> list[Work[Any]]:
    """All of them."""
    return works


@dataclass(frozen=True)
class AskedWork:
    """A work of a step of a call."""

    call: Call
    step: Step[Any, Models]
    work: Work[Any]

    @property
    def stage(self) -> str:
        return self.call.stage(self.step)

    @property
    def models(self) -> tuple[str, ...]:
        return models_of(self.work)


class Executor(Protocol):
    """A place where a run's questions to models are asked. It is open while a `with` block lasts."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def run(self, runner: StepRunner, works: Sequence[AskedWork]) -> RunOutcome:
        """Does what is left of works, of which none reads what another makes.

        Missing work, jobs that others hold and steps that stopped are in the outcome. Raises the fault that ends the
        run, with its exit code.
        """


class ThisProcess:
    """The executor of a run without a cluster: one model after the other, as many requests at once as engines allow."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def run(self, runner: StepRunner, works: Sequence[AskedWork]) -> RunOutcome:
        """As an executor does. Each model is loaded once for all steps."""
        steps = list(dict.fromkeys(id(one.step) for one in works))
        ordered = sorted(works, key=lambda one: (one.models, steps.index(id(one.step)), _topic(one)))
        of_step: dict[int, list[Work[Any]]] = {}
        for one in ordered:
            of_step.setdefault(id(one.step), []).append(one.work)
        placed = {key: iter(places_of(works)) for key, works in of_step.items()}
        outcome = RunOutcome()
        for _, of_models in groupby(ordered, key=lambda one: one.models):
            with runner.models():
                for _, group in groupby(of_models, key=lambda one: id(one.step)):
                    first, *others = group
                    mine = [next(placed[id(first.step)]) for _ in (first, *others)]
                    try:
                        outcome += runner.run_placed(first.step, mine, tell_settled=first.call.tell_settled)
                    except (EngineError, MissingDependencyError) as fault:
                        if first.call.part is None:
                            raise
                        # A model that cannot be asked a part ends that part, and the others go on.
                        line = f"{first.stage} {' '.join(first.models)}: not asked: {fault}".rstrip(".")
                        _log.warning(line)
                        outcome += RunOutcome(failed=(line,))
        return outcome


def _topic(one: AskedWork) -> tuple[str, ...]:
    """Of a work without a model its topic and language: the names of a topic are read once for all models."""
    return () if one.models else (one.work.job.topic, one.work.job.language)


@dataclass(frozen=True)
class CallsOutcome:
    """What came of some calls: their studies, whose `derive` the caller starts, and what is missing."""

    studies: tuple[Study, ...] = ()
    outcome: RunOutcome = field(default_factory=RunOutcome)

    def __add__(self, other: CallsOutcome) -> CallsOutcome:
        return CallsOutcome(self.studies + other.studies, self.outcome + other.outcome)

    def has_rows(self, workspace: Workspace) -> bool:
        """Whether the run has a row of use in a table that no other step of the studies reads."""
        steps = [step for study in self.studies for step in study.steps]
        read = {table.name for step in steps for table in step.reads}
        return any(has_rows(workspace, step.tables[-1].name) for step in steps if step.tables[-1].name not in read)


def ask(
    runner: StepRunner,
    calls: Sequence[Call],
    executor: Executor,
    share: Share = whole,
    *,
    stage: str | None = None,
    accept_changes: bool = False,
) -> CallsOutcome:
    """Asks what is missing of some calls, of a share of their works, or of one stage; call by call.

    The parts of one command are asked together. Raises a `UserError` before anything is asked where something is left
    for a model that cannot be asked, such as one whose key is not set, and `ChangedExperimentError` where a model has
    changed and that was not accepted.
    """
    _check_ready(runner, calls, share, stage)
    answered = CallsOutcome()
    for _, group in groupby(calls, key=lambda call: id(call.whole or call)):
        answered += _ask_together(runner, list(group), executor, share, stage, accept_changes=accept_changes)
    return answered


def _check_ready(runner: StepRunner, calls: Sequence[Call], share: Share, stage: str | None) -> None:
    """Raises the faults of models that cannot be asked, where something is left for them to answer, and with them
    whatever else the calls would refuse.

    Else the other models would be asked first, for hours perhaps.
    """
    faults = unready_models(runner.workspace.experiment)
    if not faults:
        return
    known, _ = known_calls(calls)
    needed = dict[str, UserError]()
    for call in known:
        for step in call.known.steps:
            for work in shared_works(call, step, share) if stage in (None, call.stage(step)) else ():
                unready = [model for model in models_of(work) if model in faults and model not in needed]
                if unready and step.remaining(runner.workspace.run, work, runner.retry).settled < work.size:
                    needed |= {model: faults[model] for model in unready}
    if needed:
        raise together([*(fault for call in calls for fault in call.refusals()), *needed.values()])


def _ask_together(
    runner: StepRunner,
    calls: Sequence[Call],
    executor: Executor,
    share: Share,
    stage: str | None,
    *,
    accept_changes: bool,
) -> CallsOutcome:
    """Asks the calls of one command: first all steps that read nothing of this run, then what reads their rows."""
    tell = once(_log.log)
    begun = [(call, begin(call, tell, accept_changes=accept_changes)) for call in calls]
    outcome = RunOutcome(missing=tuple(study.line.rstrip(".") for _, study in begun if isinstance(study, LeftOutPart)))
    for call, study in begun:
        for step in study.steps:
            runner.recover(step, shared_works(call, step, share))  # one step may read what another keeps
    for turn in _turns(begun):
        chosen = [(call, step) for call, step in turn if stage in (None, call.stage(step))]
        if outcome.stopped and not _reads_anything(runner.workspace, [step for _, step in chosen]):
            break
        works = [
            AskedWork(call, step, work)
            for call, step in chosen
            for work in shared_works(call, step, share)
            if work.job not in outcome.held
        ]
        if works:
            came = executor.run(runner, works)
            runner.rules.note(came.stopped)  # of other processes, too
            _say_empty(runner.workspace, works, came)
            outcome += replace(came, empty=())
    return CallsOutcome(tuple(followed(begun)), outcome)


def shared_works(call: Call, step: Step[Any, Models], share: Share) -> list[Work[Any]]:
    """The works of a step that are in a share: what reads rows of a job belongs to the share that makes these."""
    works = list(step.works())
    read = {table.name for table in step.reads}
    makers = [one for one in call.known.steps if read & {table.name for table in one.tables}]
    if not makers:
        return share(works)
    made = {work.job for maker in makers for work in maker.works()}
    mine = {work.job for maker in makers for work in shared_works(call, maker, share)}
    others = share([work for work in works if work.job not in made])  # an earlier command made their rows
    return [*(work for work in works if work.job in mine), *others]


def begin(call: Call, tell: LogRemark, *, accept_changes: bool) -> Study:
    """The study of a call, which is the run's current one from now on.

    What is gone from the run's folder is asked for again, and so is what steps made of it. Raises what the study
    raises, and `ChangedExperimentError` as `Call.make_valid`.
    """
    study, run = call.study(tell), call.workspace.run
    read = [(table, step.tables) for step in study.steps for table in step.reads]
    for table, made in read:
        remove_rows_about_lost(run, table, made)
    for tables in [*((table,) for table, _ in read), *(step.tables for step in study.steps)]:
        recover_lost(run, tables)
        recover_killed(run, tables)  # what is counted below are rows of parts
    if study.steps:
        call.make_valid(study, accept_changes=accept_changes)
    return study


def _turns(begun: Sequence[tuple[Call, Study]]) -> list[list[tuple[Call, Step[Any, Models]]]]:
    """The steps of some studies: those that read no rows of others, those that read rows of these, and so on."""
    turns: list[list[tuple[Call, Step[Any, Models]]]] = []
    for call, study in begun:
        made: dict[str, int] = {}  # table -> the turn in which the study makes it
        for step in study.steps:
            turn = max([made[table.name] + 1 for table in step.reads if table.name in made], default=0)
            made.update((table.name, turn) for table in step.tables)
            turns += [[] for _ in range(turn + 1 - len(turns))]
            turns[turn].append((call, step))
    return turns


def _reads_anything(workspace: Workspace, steps: Sequence[Step[Any, Any]]) -> bool:
    """Whether steps read nothing, or there is a row of use for one of them."""
    tables = {table.name: table for step in steps for table in step.reads}
    return not tables or any(has_rows(workspace, name) for name in tables)


def has_rows(workspace: Workspace, view: str) -> bool:
    """Whether a view of the run has a row of use."""
    with open_store(workspace.run, store_layout()) as store:
        return bool(store.table(view).filter("status = 'ok'").limit(1).fetchall())


def _say_empty(workspace: Workspace, works: Sequence[AskedWork], outcome: RunOutcome) -> None:
    """A line for all jobs of a step that have nothing to do, and why."""
    for step, number in _numbers(works).items():
        empty = [label for label in outcome.empty if label.startswith(f"{step} ")]
        if empty:
            imported = workspace.experiment.imported
            why = "the imported files have no text of them" if imported else "there is nothing to ask about them"
            of = f"{len(empty)} of {number} combinations of model, language and topic"
            _log.warning(f"{step}: {of} have nothing to do, such as {empty[0].removeprefix(step).strip()}: {why}")


def _numbers(works: Sequence[AskedWork]) -> dict[str, int]:
    """How many works each step has, by its name."""
    numbers: dict[str, int] = {}
    for one in works:
        numbers[one.step.name] = numbers.get(one.step.name, 0) + 1
    return numbers


def followed(begun: Sequence[tuple[Call, Study]]) -> Iterator[Study]:
    """The studies, of which the last of each command does what follows: it is done for the whole run."""
    last = {call.command: study for call, study in begun if study.steps}
    for call, study in begun:
        yield study if last.get(call.command) in (None, study) else replace(study, derive=lambda: None)
