"""The page of commands: what `--help` of every command says."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from polyculture.cli.app import app
from polyculture.cli.options import STAGE

HEAD = """# Commands

`make docs` writes this page from `polyculture COMMAND --help`. Exit codes are [at the end](#exit-codes);
[When something is wrong](troubleshooting.md) says what to do after a failure.

An argument in brackets may be left out. `EXPERIMENT` is [the experiment file](experiments.md).

"""
TAIL = """## Exit codes

| exit code | what it says |
| --- | --- |
| 0 | done |
| 2 | something for you to correct: one line says what, where and how |
| 3 | a job is held by another process, which is named; a condition of `compare --fail-if` cannot be tested |
| 4 | some requests failed: running again retries those that may pass, with `--retry-failed` the others, too |
| 5 | `max_cost` would be passed |
| 6 | a stage stopped itself: one fault met eight different prompts in a row; [more](lists.md#kinds-of-faults) |
| 7 | a condition of `compare --fail-if` holds |
| 130 | stopped by Ctrl-C |
"""


def page() -> str:
    """A section a command, in the order of `polyculture --help`, and a list of them before."""
    commands = [(path, command, context) for path, command, context in _commands() if len(path) > 1]
    listed = [f"| [`{_name(path)}`](#{_anchor(path)}) | {_line(command)} |" for path, command, _ in commands]
    overview = "\n".join(["| command | what it does |", "| --- | --- |", *listed])
    sections = "".join(_section(path, command, context) for path, command, context in commands)
    return f"{HEAD}{overview}\n\n{sections}{TAIL}"


def _commands() -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    root = get_command(app)
    yield from _below(("polyculture",), root, root.context_class(root, info_name="polyculture"))


def _below(path: tuple[str, ...], command: Any, context: Any) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """A command, and those of a group after it."""
    yield path, command, context
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        child = command.get_command(context, name)
        if child is not None and not child.hidden:
            yield from _below((*path, name), child, command.context_class(child, parent=context, info_name=name))


def _section(path: tuple[str, ...], command: Any, context: Any) -> str:
    own = command.get_command(context, STAGE) if hasattr(command, "get_command") else None
    told = [f"## {_name(path)}", f"    {_usage(path, command, context)}", _says(command)]
    if own is not None:  # what the group does where an experiment file stands in place of a command
        told += [f"    {_usage(path, own, context)}", _says(own), *_parameters(own, context)]
    told += _parameters(command, context)
    examples = "; ".join(one.epilog for one in (own, command) if one is not None and one.epilog)
    if examples:
        told.append("For example:\n\n" + "\n".join(f"    {line}" for line in dict.fromkeys(examples.split("; "))))
    return "\n\n".join(told) + "\n\n"


def _usage(path: tuple[str, ...], command: Any, context: Any) -> str:
    return " ".join((_name(path), *command.collect_usage_pieces(context)))


def _says(command: Any) -> str:
    return inspect.cleandoc(command.help or command.short_help or "")


def _parameters(command: Any, context: Any) -> list[str]:
    """A table of arguments and one of options, where there are any."""
    parameters = command.get_params(context)
    arguments = [
        _row(record) for one in parameters if one.param_type_name == "argument" if (record := _record(one, context))
    ]
    options = [
        _row(record)
        for one in parameters
        if one.param_type_name == "option" and one.name != "help" and (record := _record(one, context))
    ]
    return [
        f"| {head} | |\n| --- | --- |\n" + "\n".join(rows)
        for head, rows in (("argument", arguments), ("option", options))
        if rows
    ]


def _record(parameter: Any, context: Any) -> tuple[str, str] | None:
    """The name of a parameter with its values, and its help with default and bounds, as `--help` prints them."""
    record: tuple[str, str] | None = parameter.get_help_record(context)
    return record


def _row(record: tuple[str, str]) -> str:
    name, said = (" ".join(text.split()).replace("|", r"\|") for text in record)
    return f"| `{name}` | {said.replace('<', '&lt;')} |"


def _name(path: tuple[str, ...]) -> str:
    return " ".join(path)


def _anchor(path: tuple[str, ...]) -> str:
    return "-".join(path)


def _line(command: Any) -> str:
    """The first sentence of a command's help."""
    said = " ".join(inspect.cleandoc(command.help or "").split("\n\n")[0].split())
    return said.replace("|", r"\|")
