"""The flags of an instrument's command: one per field of its options, but for those of experiment files alone.

Tuples become options that may be repeated. Bounds that typer cannot express are checked by pydantic.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from enum import StrEnum
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from annotated_types import Ge
from pydantic.fields import FieldInfo
from typer.core import TyperCommand

from polyculture.cli.options import AcceptChanges, RetryCommand, RetryOption, Runs, many_values
from polyculture.instruments.contract import IN_FILE

if TYPE_CHECKING:
    from polyculture.instruments.contract import Command

EXPERIMENT = typer.Argument(metavar="EXPERIMENT", help="The experiment file; its models are asked.")


def command_class(command: Command[Any]) -> type[TyperCommand]:
    """The command class; its path options accept several values each."""
    fields = command.options.model_fields.items()
    many = [f"--{flag_of(name)}" for name, field in fields if (field.json_schema_extra or {}) == {"many_values": True}]
    return many_values(RetryCommand, *many)


def parameters_of(command: Command[Any]) -> Iterator[Parameter]:
    """The parameters of the function that typer calls."""
    fields = command.options.model_fields
    kind = Parameter.KEYWORD_ONLY
    yield Parameter("context", kind, annotation=typer.Context)
    argument = command.subject.option if command.subject else None
    if argument is not None:
        yield _argument(argument, fields[argument])
    # Without a default typer would ask for the file before a misspelt name is told.
    yield Parameter("experiment", kind, default=None, annotation=Annotated[Path | None, EXPERIMENT])
    for name, field in fields.items():
        if name != argument and field.json_schema_extra != IN_FILE:
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
    flag = f"--{flag_of(name)}"
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


def flag_of(name: str) -> str:
    """A field's flag; a field may end in _ where pydantic has taken its name."""
    return name.rstrip("_").replace("_", "-")
