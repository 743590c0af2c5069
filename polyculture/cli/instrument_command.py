"""A command of an instrument, generated from its options. The command line stands over the experiment file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from inspect import Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from polyculture.cache.errors import UserError
from polyculture.cache.files import store_faults
from polyculture.cache.log import get_logger
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cli.declared import print_tables
from polyculture.cli.option_flags import flag_of, parameters_of
from polyculture.cli.options import retry_failed
from polyculture.console import say
from polyculture.experiment.own import add_models, check_models, is_experiment, own_file
from polyculture.instruments.contract import NamesData
from polyculture.running.paper import as_paper

NAMES_DATA = ("data", "set", "folder")  # options that name what is asked about, which a demo brings

if TYPE_CHECKING:
    from pydantic import BaseModel

    from polyculture.instruments.contract import Command, Demo, Subject
    from polyculture.running.calls import InstrumentCall
    from polyculture.running.estimate import StageEstimate


def instrument_command(name: str, command: Command[Any]) -> Callable[..., None]:
    """A function for typer that asks what the command line says."""

    def run(context: typer.Context, **given: Any) -> None:
        demo = given.pop("demo", False)
        runs, file = given.pop("runs"), given.pop("experiment")
        accept_changes = given.pop("accept_changes")
        retry = given.pop("retry_failed")
        subject = command.subject
        if file is None and subject and _is_experiment(given[subject.option]):
            file = _present(Path(given.pop(subject.option)), command, subject)  # one word alone is the experiment
        values = {key: _plain(value) for key, value in given.items() if _said(context, key)}
        if demo and command.demo:
            file = _demo_file(command.demo, context, subject)
            values = {**command.demo.options, **values}
        if file is None and subject and values.get("model") and subject.option in values:
            file = _own_experiment(name, command, subject, values)
        if file is None:
            _check_names(name, command, values)
            model = ", or a model with --model" if subject else ""
            raise typer.BadParameter(f"name an experiment file{model}" + (", or try --demo" if command.demo else ""))
        _ask(name, file, runs, values, retry, accept_changes=accept_changes)

    parameters = list(parameters_of(command))
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = command.options.__doc__
    run.__name__ = name
    return run


def _is_experiment(word: str | None) -> bool:
    """Is the word before the experiment the experiment itself? A rules file ends in .toml, too, and has no models."""
    if word is None or not word.endswith(".toml"):
        return False
    return not Path(word).is_file() or is_experiment(Path(word))


def _present(file: Path, command: Command[Any], subject: Subject) -> Path:
    """The file; raises `UserError` with both that it may be where there is none, and the command takes either."""
    takes_rules = command.options.model_fields[subject.option].annotation is str
    if not takes_rules or file.exists():
        return file
    known = [one.name for one in file.absolute().parent.glob("*.toml")]
    otherwise = "Write an experiment with: polyculture init. docs/question-sets.md says what a rules file holds."
    what = f"there is no such file, neither the rules that {subject.option.upper()} names nor an experiment"
    raise UserError(what, where=file, remedy=did_you_mean(file.name, known, otherwise=otherwise))


def _check_names(name: str, command: Command[Any], values: Mapping[str, Any]) -> None:
    """Raises what is wrong with options that no experiment stands behind: a misspelt name before a missing file."""
    if values and isinstance(options := _checked(name, command, Path(), values), NamesData):
        options.check_names()


def _own_experiment(name: str, command: Command[Any], subject: Subject, values: Mapping[str, Any]) -> Path:
    """The experiment file of a command that names its model itself: nothing is written of what cannot be asked."""
    file = own_file(name, values[subject.option])
    check_models(file, [values["model"]])
    options = _checked(name, command, file, values)
    if not file.exists():
        subject.check(options)
    paper = as_paper(name, options)
    add_models(file, [values["model"]], name, paper.preset.experiment_text if paper else "")
    return file


def _checked(name: str, command: Command[Any], file: Path, values: Mapping[str, Any]) -> BaseModel:
    from pydantic import ValidationError

    from polyculture.running.call_list import option_fault

    try:
        options: BaseModel = command.options.model_validate(values)
    except ValidationError as fault:
        raise option_fault(fault, name, file, command.options, values, {}) from fault
    return options


def _ask(
    name: str,
    file: Path,
    runs: Path | None,
    values: Mapping[str, Any],
    retry: str | None,
    *,
    accept_changes: bool = False,
) -> None:
    from polyculture.running.call_list import check_able, check_calls, checked_call, expanded, in_turns
    from polyculture.running.calls import tell_left_out
    from polyculture.running.estimate import estimates
    from polyculture.running.executor import CallsOutcome, ThisProcess, ask
    from polyculture.running.opening import open_workspace
    from polyculture.running.start import ask_later
    from polyculture.running.steps import StepRunner

    workspace = open_workspace(file, runs)
    asked = checked_call(workspace, name, values)
    paper = as_paper(name, asked.options)
    if paper and paper.preset.experiment:  # it asks for texts, as `polyculture run` does
        _ask_texts(asked, retry, accept_changes=accept_changes)
        return
    runner = StepRunner(workspace=workspace, retry=retry_failed(retry))
    answered, every = CallsOutcome(), list(expanded(asked))
    check_able(every)
    check_calls(every, accept_changes=accept_changes)  # what is refused says nothing of costs
    for turn, _ in enumerate(in_turns(every)):
        calls = in_turns(expanded(asked))[turn]  # what is known of the results of an earlier turn is known now
        _say_costs(estimates(workspace, calls, runner.retry))
        if turn == 0:
            tell_left_out(every)
        answered += (ask_later if turn else ask)(runner, calls, ThisProcess(), accept_changes=accept_changes)
        for study in answered.studies:  # of earlier turns again: what is asked about their results is data of some, too
            study.derive()
    print_tables(workspace, answered.studies)
    answered.outcome.check(workspace)


def _say_costs(counted: Iterable[StageEstimate]) -> None:
    """Prints what is about to be asked of each model, as `plan` counts it: nobody needs to plan a command like this."""
    for one in list(counted):  # a command that cannot be counted says so, and nothing else
        if one.left:
            say(one.line)


def _ask_texts(asked: InstrumentCall, retry: str | None, *, accept_changes: bool) -> None:
    """All that `polyculture run` does, of the model that is named; then the command's tables."""
    from polyculture.experiment.jobs import JobSelection, choose_jobs
    from polyculture.running.call_list import calls_in_file, check_able, check_calls
    from polyculture.running.estimate import estimates
    from polyculture.running.start import run_experiment

    part, workspace = JobSelection(model=getattr(asked.options, "model", None)), asked.workspace
    part, _ = choose_jobs(workspace.jobs, part, workspace.file)
    calls = calls_in_file(workspace)
    check_able(calls)
    check_calls(calls, accept_changes=accept_changes)  # what is refused says nothing of costs
    _say_costs(estimates(workspace, calls, retry_failed(retry), part))
    finished = run_experiment(workspace, part, accept_changes=accept_changes, retry=retry_failed(retry))
    print_tables(workspace, [asked.study(get_logger(__name__).log)])
    finished.check()


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_plain, value))
    return value.value if isinstance(value, StrEnum) else value


def _said(context: typer.Context, option: str) -> bool:
    """Is the option given on the command line itself?"""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _demo_file(demo: Demo, context: typer.Context, subject: Subject | None) -> Path:
    """The demo's experiment file, copied into its folder.

    A usage error where the command line names another experiment or other texts beside --demo.
    """
    import shutil

    for option in ("experiment", *NAMES_DATA):
        if _said(context, option):
            spelt = (
                option.upper()
                if option == "experiment" or (subject and option == subject.option)
                else f"--{flag_of(option)}"
            )
            raise typer.BadParameter(f"--demo has models and texts of its own: leave out {spelt}, or --demo")
    folder = Path(demo.folder)
    file = folder / demo.experiment.name
    with store_faults(file):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(demo.experiment, file)
    return file
