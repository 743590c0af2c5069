"""The list of calls that are asked: those of the experiment file, of a run, and of a command line with its options.

An experiment that has texts has their call, which is the first. No instrument is imported that nobody asks for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from polyculture.cache.errors import (
    DataSetError,
    ExperimentError,
    Mistakes,
    PolycultureError,
    StoreError,
    together,
)
from polyculture.cache.store.shards import recover_killed
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.validation import describe_fault
from polyculture.cache.written_paths import WrittenOptions
from polyculture.experiment.checks import check_prompted
from polyculture.experiment.jobs import take_share
from polyculture.experiment.workspace import Workspace
from polyculture.instruments import INSTRUMENTS, Entry, command_line
from polyculture.instruments.contract import IN_FILE
from polyculture.running.calls import Call, InstrumentCall, WrittenPaths, known_calls, read_kept
from polyculture.running.executor import shared_works
from polyculture.running.linking import LINK
from polyculture.running.paper import as_paper
from polyculture.running.texts import TextsCall
from polyculture.running.validity import ValidityChange, refuse_redone

MEASURE = "measure"  # the stage that makes numbers of texts

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic_core import ErrorDetails

    from polyculture.cache.store.run_folder import Job
    from polyculture.experiment.file import Experiment
    from polyculture.instruments.datasets.presets import PaperPart


def check_calls(calls: Iterable[Call], *, accept_changes: bool = False) -> list[ValidityChange]:
    """Raises `ChangedExperimentError` where models would have to make rows again that are current, and that was not
    accepted: one error for all calls, since they are accepted as a whole. Returns each beside the last run.

    What killed processes left is committed first: it was paid for, too. Raises `DataSetError` where the file's own
    instruments have nothing to ask about: before texts are paid for.

    A study that cannot be made for another reason, or was asked by hand, says so when it is asked.
    """
    proposals = []
    for asked in calls:
        try:
            study = asked.known
        except DataSetError:
            if asked.command in asked.workspace.experiment.instruments:
                raise
            continue
        except PolycultureError:
            continue
        with suppress(StoreError):  # in a folder that cannot be written, rows of parts are counted alone
            for step in study.steps:
                recover_killed(asked.workspace.run, step.tables)
        proposals.append(asked.proposal(study))
    compared = [proposal.compared(proposal.workspace.before) for proposal in proposals]
    if not accept_changes:
        refuse_redone(compared)
    return compared


def check_asks(workspace: Workspace, calls: Sequence[Call]) -> None:
    """Raises `ExperimentError` where an experiment asks its models nothing."""
    if not calls:
        check_prompted(workspace.experiment, workspace.file)


def check_able(calls: Iterable[Call]) -> None:
    """Raises a `UserError` where calls cannot be asked, as an instrument of which no model is able, or texts whose
    extractor is not there. Parts are lines alone."""
    for asked in calls:
        if asked.part is None:
            asked.check_able()


def in_turns(calls: Iterable[Call]) -> list[list[Call]]:
    """Calls; and, where there are any, those that ask about the results of the others."""
    every = list(calls)
    turns = [[one for one in every if (one.follows is not None) is later] for later in (False, True)]
    return turns if turns[1] else turns[:1]


def jobs_of(calls: Iterable[Call]) -> list[Job]:
    """The jobs of all that is asked at once, each once. Those of a study that cannot be made are nobody's."""
    known, _ = known_calls(in_turns(calls)[0])
    return list(dict.fromkeys(work.job for call in known for _, work in call.works()))


def entry_of(command: str) -> Entry | None:
    """The instrument that a command belongs to."""
    return next((entry for entry in INSTRUMENTS if command in entry.lines), None)


def checked_call(workspace: Workspace, command: str, values: Mapping[str, Any]) -> InstrumentCall:
    """A command with values of its options from the command line, those of the experiment file behind them.

    Raises `ExperimentError` where the file names no such command, or an option is wrong.
    """
    entry, options, paths = checked_options(workspace.experiment, workspace.file, command, values)
    return InstrumentCall(workspace, command, entry, options, paths=paths)


def checked_options(
    experiment: Experiment, file: Path, command: str, values: Mapping[str, Any]
) -> tuple[Entry, BaseModel, WrittenPaths]:
    """The instrument of a command, the command's options, and the paths that the file says among them.

    Of the experiment its instruments' sections are read. Raises as `checked_call`.
    """
    entry = entry_of(command)
    if entry is None:
        known = sorted(name for entry in INSTRUMENTS for name in entry.lines)
        remedy = did_you_mean(command, known) or f"There are {', '.join(known)}."
        raise ExperimentError(f"instruments: there is no {command!r}", where=file, remedy=remedy)
    declared = entry.commands[command]
    places = _places(experiment, command)
    written = WrittenOptions(file.parent, values, experiment.instruments.get(command, {}))
    try:
        options = declared.options.model_validate({**file_values(experiment, command), **values}, context=written)
    except ValidationError as fault:
        raise option_fault(fault, command, file, declared.options, values, places) from fault
    return entry, options, _of_places(written, places)


def _of_places(written: WrittenOptions, places: Mapping[str, str]) -> WrittenPaths:
    """The paths of a file, each with the place in the file that says it."""
    return tuple((places[name], path) for name, paths in written.paths.items() for path in paths if name in places)


def flag(name: str) -> str:
    """A field's flag on the command line."""
    return f"--{name.rstrip('_').replace('_', '-')}"


def _kept_call(workspace: Workspace, command: str, values: Mapping[str, Any]) -> InstrumentCall | None:
    """A command as the user ran it; None if this version no longer understands it."""
    entry = entry_of(command)
    if entry is None:
        return None
    try:
        options = entry.commands[command].options.model_validate(values)
    except ValidationError:
        return None
    return InstrumentCall(workspace, command, entry, options)


def file_values(experiment: Experiment, command: str) -> Mapping[str, Any]:
    """A command's options in the experiment file: under `[NAME]`, and `[instruments.NAME]` over it."""
    return {**experiment.defaults.get(command, {}), **experiment.instruments.get(command, {})}


def _places(experiment: Experiment, command: str) -> Mapping[str, str]:
    """By option, where the experiment file says it, as `file_values` reads it; the section of the command under ""."""
    section = f"instruments.{command}"
    places = {name: f"{command}.{name}" for name in experiment.defaults.get(command, {})}
    if command in experiment.instruments:
        places |= {"": section, **{name: f"{section}.{name}" for name in experiment.instruments[command]}}
    return places


def option_fault(
    fault: ValidationError,
    command: str,
    file: Path,
    options: type[BaseModel],
    said: Collection[str],
    places: Mapping[str, str],
) -> ExperimentError:
    """The wrong options, a line each; `said` are those that the command line names, `places` those in the file."""
    return together(_option_fault(error, command, file, options, said, places) for error in fault.errors())


def _option_fault(
    error: ErrorDetails,
    command: str,
    file: Path,
    options: type[BaseModel],
    said: Collection[str],
    places: Mapping[str, str],
) -> ExperimentError:
    see, (name, *steps) = f"See: {command_line(command)} --help", error["loc"] or ("",)
    option, is_missing = str(name), error["type"] == "missing"
    if (option in said and error["type"] != "extra_forbidden") or (is_missing and (said or "" not in places)):
        typed = _typed(command, option)
        what, remedy = describe_fault(error, [typed, *steps], options.model_fields, see)
        return ExperimentError(f"{command}: {typed} is missing" if is_missing else f"{command}: {what}", remedy=remedy)
    place = f"{places['']}.{option}" if is_missing else places.get(option, command)
    what, remedy = describe_fault(error, [*place.split("."), *steps], options.model_fields, see)
    return ExperimentError(what, where=file, remedy=remedy)


def _typed(command: str, name: str) -> str:
    """How an option is typed: its flag, or the argument that stands without one."""
    entry = entry_of(command)
    subject = entry.commands[command].subject if entry else None
    return name.upper() if subject and subject.option == name else flag(name)


def expanded(asked: InstrumentCall) -> Iterator[InstrumentCall]:
    """A command, and the parts of a paper.

    A part's options stand in the file under `[COMMAND]`, those of the whole over them. What `[instruments.COMMAND]`
    says without a flag belongs to the study, and so to its parts, too. Raises `ExperimentError` where an option of a
    part is wrong.
    """
    yield asked
    found: dict[str, InstrumentCall] = {}
    paper = as_paper(asked.command, asked.options)
    for part, values in paper.commands if paper else ():
        found[part.title] = _part_call(asked, part, values, found.get(part.after))
    yield from found.values()


def _part_call(
    whole: InstrumentCall, part: PaperPart, values: Mapping[str, Any], follows: InstrumentCall | None
) -> InstrumentCall:
    entry = entry_of(part.command)
    if entry is None:
        raise LookupError(f"{whole.command}: no instrument has the command {part.command!r}")
    options, experiment = entry.commands[part.command].options, whole.workspace.experiment
    places = _places(experiment, part.command)
    of_study = {
        name: value
        for name, value in experiment.instruments.get(part.command, {}).items()
        if name in options.model_fields and options.model_fields[name].json_schema_extra == IN_FILE
    }
    written = WrittenOptions(whole.workspace.file.parent, values)
    try:
        checked = options.model_validate(
            {**experiment.defaults.get(part.command, {}), **of_study, **values}, context=written
        )
    except ValidationError as fault:
        raise option_fault(fault, part.command, whole.workspace.file, options, (), places) from fault
    paths = _of_places(written, places)
    return InstrumentCall(whole.workspace, part.command, entry, checked, whole, part, follows, paths)


def texts_in_file(workspace: Workspace) -> list[TextsCall]:
    """The call of an experiment's texts; empty where it has none, as without topics."""
    return [TextsCall(workspace)] if workspace.jobs else []


def calls_in_file(workspace: Workspace) -> list[Call]:
    """What the experiment file asks: its texts, then `[instruments.NAME]`, in order, with the parts of each."""
    mistakes, found = Mistakes(), list[Call](texts_in_file(workspace))
    for command in workspace.experiment.instruments:
        with mistakes:
            found += expanded(checked_call(workspace, command, {}))
    mistakes.tell()
    return found


def calls_of_run(workspace: Workspace) -> list[Call]:
    """What the file asks, as `run` reads it; then the commands run by hand, with their options."""
    in_file = calls_in_file(workspace)
    by_hand = {
        name: values for name, values in read_kept(workspace).items() if name not in workspace.experiment.instruments
    }
    kept = [_kept_call(workspace, name, values) for name, values in by_hand.items()]
    return [*in_file, *(part for one in kept if one is not None for part in expanded(one))]


def call_of_stage(workspace: Workspace, stage: str) -> Call:
    """The call that has a step of a name, as `generate` or `ask`; for `link` the texts.

    Raises `ExperimentError` with all names where there is none, and what is wrong with a call that cannot be made.
    """
    calls = calls_of_run(workspace)
    known, unknown = known_calls(calls)
    stages: dict[str, Call] = {call.stage(step): call for call in known for step in call.known.steps}
    stages.update((LINK, texts) for texts in texts_in_file(workspace))
    if stage in stages:
        return stages[stage]
    for call, fault in unknown:
        call.check_able()
        raise fault
    check_asks(workspace, calls)
    near, names = did_you_mean(stage, [*stages, MEASURE], otherwise=""), ", ".join([*stages, MEASURE])
    remedy = f"{near} The steps of this experiment are {names}.".strip()
    raise ExperimentError(f"--only {stage}: the experiment has no such step", where=workspace.file, remedy=remedy)


def open_shares(workspace: Workspace) -> tuple[list[int], int]:
    """The numbers, from 1, of the shares with pending work, as `--job K/N` shares what the file asks; and N.

    There are as many shares as the step with the most works has, done ones included: a share keeps its number.
    """
    calls, _ = known_calls(in_turns(calls_in_file(workspace))[0])
    steps = [(call, step) for call in calls for step in call.known.steps]
    shares = max((len(list(step.works())) for _, step in steps), default=0)
    pending = set[int]()
    for call, step in steps:
        are_open = {work.job for work in step.works() if step.count(workspace.run, work).is_open}
        for number in range(1, shares + 1) if are_open else ():
            mine = shared_works(call, step, partial(take_share, share=f"{number}/{shares}"))
            pending.update(number for work in mine if work.job in are_open)
    return sorted(pending), shares
