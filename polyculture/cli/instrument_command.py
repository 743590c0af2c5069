"""A command of an instrument, generated from its options: a flag per field, but for those of experiment files alone.

Tuples become options that may be repeated. The command line takes precedence over the experiment file. Bounds that
typer cannot express are checked by pydantic.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from annotated_types import Ge
from pydantic.fields import FieldInfo
from typer.core import TyperCommand

from polyculture.cli.options import (
    AcceptChanges,
    Format,
    RetryCommand,
    RetryOption,
    Runs,
    repeated,
    retry_failed,
)
from polyculture.experiment.own import add_models, check_models, is_experiment, own_file
from polyculture.instruments.contract import IN_FILE

if TYPE_CHECKING:
    from pydantic import BaseModel

    from polyculture.experiment.workspace import Workspace
    from polyculture.instruments.contract import Command, Demo, Shown, Study
    from polyculture.running.instrument_calls import InstrumentCall

EXPERIMENT = typer.Argument(metavar="EXPERIMENT", help="The experiment file; its models are asked.")


def instrument_command(name: str, command: Command) -> Callable[..., None]:
    """A function for typer that asks what the command line says."""
    fields = command.options.model_fields

    def run(context: typer.Context, **given: Any) -> None:
        demo = given.pop("demo", False)
        runs, file = given.pop("runs"), given.pop("experiment")
        accept_changes = given.pop("accept_changes")
        retry = given.pop("retry_failed")
        if file is None and command.argument and _is_experiment(given[command.argument], command):
            file = Path(given.pop(command.argument))  # one word alone is the experiment
        values = {key: _plain(value) for key, value in given.items() if _said(context, key)}
        if demo and command.demo:
            file = _demo_file(command.demo, context, command.argument)
            values = {**command.demo.options, **values}
        if file is None and command.own_experiment and values.get("model") and command.argument in values:
            file = _own_experiment(name, command, values)
        if file is None:
            model = ", or a model with --model" if command.own_experiment else ""
            raise typer.BadParameter(f"name an experiment file{model}" + (", or try --demo" if command.demo else ""))
        _ask(name, file, runs, values, retry, accept_changes=accept_changes)

    parameters = list(_parameters(fields, command))
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = command.options.__doc__
    run.__name__ = name
    return run


def many_values(command: Command) -> type[TyperCommand]:
    """The command class; its path options accept several values each, as a shell expands *."""
    fields = command.options.model_fields.items()
    names = tuple(
        f"--{_flag(name)}" for name, field in fields if (field.json_schema_extra or {}) == {"many_values": True}
    )
    if not names:
        return RetryCommand

    class ManyValues(RetryCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, repeated(args, names))

    return ManyValues


def _is_experiment(word: str | None, command: Command) -> bool:
    """Is the word before the experiment the experiment itself? A rules file ends in .toml, too, and has no models."""
    if word is None or not word.endswith(".toml"):
        return False
    return not (command.own_experiment and Path(word).is_file()) or is_experiment(Path(word))


def _own_experiment(name: str, command: Command, values: Mapping[str, Any]) -> Path:
    """The experiment file of a command that names its model itself: nothing is written of what cannot be asked."""
    file = own_file(name, values[command.argument or ""])
    check_models(file, [values["model"]])
    options = _checked(name, command, file, values)
    if command.own_experiment and not file.exists():
        command.own_experiment(options)
    add_models(file, [values["model"]], name, command.experiment(options))
    return file


def _checked(name: str, command: Command, file: Path, values: Mapping[str, Any]) -> BaseModel:
    from pydantic import ValidationError

    from polyculture.running.studies import option_fault

    try:
        return command.options.model_validate(values)
    except ValidationError as fault:
        raise option_fault(fault, name, file, values, command.options) from fault


def _ask(
    name: str,
    file: Path,
    runs: Path | None,
    values: Mapping[str, Any],
    retry: str | None,
    *,
    accept_changes: bool = False,
) -> None:
    from polyculture.experiment.workspace import open_workspace
    from polyculture.running.steps import StepRunner
    from polyculture.running.studies import ask_all, checked_call, expanded

    workspace = open_workspace(file, runs)
    asked = checked_call(workspace, name, values)
    if asked.instrument.commands[name].texts(asked.options):
        _ask_texts(asked, retry, accept_changes=accept_changes)
        return
    runner = StepRunner(workspace=workspace, retry=retry_failed(retry))
    studies = ask_all(runner, expanded(asked), accept_changes=accept_changes)
    for study in studies:
        study.derive()
    print_tables(workspace, studies)
    runner.finish(", ".join(dict.fromkeys(study.view for study in studies if study.view)) or "failures")


def _ask_texts(asked: InstrumentCall, retry: str | None, *, accept_changes: bool) -> None:
    """All that `polyculture run` does, of the model that is named; then the command's tables."""
    from polyculture.running.start import Part, run_experiment

    part = Part(model=getattr(asked.options, "model", None))
    pipeline, _ = run_experiment(asked.workspace, part, accept_changes=accept_changes, retry=retry_failed(retry))
    print_tables(asked.workspace, [asked.study()])
    pipeline.finish()


def _parameters(fields: Mapping[str, FieldInfo], command: Command) -> Iterator[Parameter]:
    kind = Parameter.KEYWORD_ONLY
    yield Parameter("context", kind, annotation=typer.Context)
    if command.argument is not None:
        yield _argument(command.argument, fields[command.argument])
    if command.demo or command.argument is not None:
        yield Parameter("experiment", kind, default=None, annotation=Annotated[Path | None, EXPERIMENT])
    else:
        yield Parameter("experiment", kind, annotation=Annotated[Path, EXPERIMENT])
    for name, field in fields.items():
        if name != command.argument and field.json_schema_extra != IN_FILE:
            yield _parameter(name, field)
    if demo := command.demo:
        yield Parameter("demo", kind, default=False, annotation=Annotated[bool, typer.Option("--demo", help=demo.help)])
    yield Parameter("retry_failed", kind, default=None, annotation=RetryOption)
    yield Parameter("runs", kind, default=None, annotation=Runs)
    yield Parameter("accept_changes", kind, default=False, annotation=AcceptChanges)


def _argument(name: str, field: FieldInfo) -> Parameter:
    """An option without a flag: optional, since the experiment file may say it."""
    shown = _help(field) if field.is_required() else f"{field.description}  [default: {field.default}]"
    argument = typer.Argument(metavar=name.upper(), help=shown)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, argument])


def _parameter(name: str, field: FieldInfo) -> Parameter:
    plain, many, least = _shape(field.annotation, field.metadata)
    flag = f"--{_flag(name)}"
    bounds: dict[str, Any] = {} if least is None else {"min": least}
    shown = ", ".join(map(str, field.default)) if many and not field.is_required() and field.default else True
    option = typer.Option(flag, help=_help(field), show_default=shown, **bounds)
    default = None if field.is_required() or many else field.default
    wanted: Any = list[plain] | None if many else plain if default is not None else plain | None  # type: ignore[valid-type]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[wanted, option])


def _help(field: FieldInfo) -> str:
    """The field's description. Typer cannot require an option, because the experiment file may set it."""
    return f"{field.description}{'  [required]' if field.is_required() else ''}"


def _shape(annotation: Any, metadata: list[Any]) -> tuple[Any, bool, float | None]:
    """The type of one value, whether several are allowed, and the lower bound."""
    least = next((cast("float", one.ge) for one in metadata if isinstance(one, Ge)), None)
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        annotation = next(arm for arm in typing.get_args(annotation) if arm is not types.NoneType)
    if typing.get_origin(annotation) is Annotated:
        annotation, *more = typing.get_args(annotation)
        inner = [bound for one in more if isinstance(one, FieldInfo) for bound in one.metadata]
        return _shape(annotation, [*metadata, *inner, *more])
    if typing.get_origin(annotation) is tuple:
        return _choice(_shape(typing.get_args(annotation)[0], metadata)[0]), True, None
    return annotation, False, least


def _choice(annotation: Any) -> Any:
    """A choice of literals as an enumeration: typer accepts no list of literals."""
    if typing.get_origin(annotation) is not typing.Literal:
        return annotation
    return StrEnum("Choice", {str(word): str(word) for word in typing.get_args(annotation)})


def _flag(name: str) -> str:
    """A field's flag; a field may end in _ where pydantic has taken its name."""
    return name.rstrip("_").replace("_", "-")


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_plain, value))
    return value.value if isinstance(value, StrEnum) else value


def _said(context: typer.Context, option: str) -> bool:
    """Is the option given on the command line itself?"""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _demo_file(demo: Demo, context: typer.Context, argument: str | None) -> Path:
    """The demo's experiment file, copied into its folder.

    A usage error where the command line names another experiment or other texts beside --demo.
    """
    import shutil

    from polyculture.cache.files import store_faults

    for option in ("experiment", *demo.replaces):
        if _said(context, option):
            spelt = option.upper() if option in ("experiment", argument) else f"--{_flag(option)}"
            raise typer.BadParameter(f"--demo has models and texts of its own: leave out {spelt}, or --demo")
    folder = Path(demo.folder)
    file = folder / demo.experiment.name
    with store_faults(file):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(demo.experiment, file)
    return file


def print_tables(workspace: Workspace, studies: Sequence[Study]) -> None:
    """Prints what studies list, then their tables."""
    from polyculture.cli.tables import print_table, write_values
    from polyculture.console import say

    if own := [study.tables for study in studies if study.tables]:
        for table in (table for tables in own for table in tables()):
            print_table(table.columns, table.rows, table.title)
            for note in table.notes:
                say(note)
        return
    for study in studies:
        if study.listing and (listing := study.listing()).columns:
            write_values(listing.columns, listing.rows, Format.TABLE, None)
    shown = [table for study in studies for table in study.shown]
    _print(workspace, [table for number, table in enumerate(shown) if table not in shown[:number]])


def _print(workspace: Workspace, shown: Sequence[Shown]) -> None:
    from polyculture.cache.sql_file import read_table
    from polyculture.cache.store import open_store
    from polyculture.cli.tables import print_declared
    from polyculture.console import say
    from polyculture.running.layout import store_layout

    tables = [(read_table(one.file), one.values) for one in shown]
    if not workspace.run.manifest.is_file():  # nothing could be asked
        for table, _ in tables:
            say(table.header.no_rows or f"the table {table.name} has no rows")
    elif tables:
        asked = "\n".join(table.sql for table, _ in tables)
        with open_store(workspace.run, store_layout(), asked=asked) as store:
            for table, values in tables:
                print_declared(table, table.select(store, values), values)
