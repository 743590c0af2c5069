"""Every command line that a page shows is one that the program has, and so is every name of a view, column or key."""

from __future__ import annotations

import re
import shlex
from functools import cache
from typing import Any

import pytest
from typer.main import get_command

from polyculture.cli.app import app
from polyculture.cli.options import STAGE
from polyculture.running.tables import all_tables
from tests.docs.test_site import PAGES
from tests.test_house import ROOMS, ROOT

LINE = re.compile(r"^ *(polyculture .*)$", re.MULTILINE)
INLINE = re.compile(r"`(polyculture [a-z][^`\n]*)`")
BLOCK = re.compile(r"^```(?:sh|bash)\n(.*?)^```|^((?: {4}[^\n]*\n)+)", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"`([a-z][a-z0-9]*(?:_[a-z0-9]+)+)`")


@cache
def words_of_the_program() -> set[str]:
    """All that looks like a name in code, SQL and data files."""
    files = [file for room in ROOMS for kind in ("py", "sql", "toml") for file in (ROOT / room).rglob(f"*.{kind}")]
    return {word for file in files for word in re.findall(r"[a-z][a-z0-9_]+", file.read_text(encoding="utf-8"))}


def shown(text: str) -> list[str]:
    """The command lines of a page, in blocks and within sentences."""
    blocks = ["".join(filter(None, found)) for found in BLOCK.findall(text)]
    lines = [line for block in blocks for line in LINE.findall(block.replace("\\\n", " "))]
    return [*lines, *INLINE.findall(BLOCK.sub("", text))]


def mistake(line: str) -> str | None:
    """What the program would not know of a command line; None where it knows all of it."""
    words = shlex.split(line, comments=True)[1:]
    words = words[: words.index("|")] if "|" in words else words
    command: Any = get_command(app)
    context = command.context_class(command, info_name="polyculture")
    while words and hasattr(command, "list_commands") and (child := command.get_command(context, words[0])):
        command, context = child, child.context_class(child, parent=context, info_name=words.pop(0))
    if hasattr(command, "list_commands") and words and not words[0].startswith("-"):
        command = command.get_command(context, STAGE)
        if command is None:
            return f"no command {words[0]!r}"
    elif hasattr(command, "list_commands") and words and (stage := command.get_command(context, STAGE)):
        command = stage
    if context.info_name == "table" and words and words[0] not in {*all_tables(), "NAME"}:
        return f"no table {words[0]!r}"
    known = {name for one in command.get_params(context) for name in (*one.opts, *one.secondary_opts)} | {"--version"}
    unknown = [word for word in words if re.match(r"--?[A-Za-z]", word) and word.partition("=")[0] not in known]
    return f"no option {unknown[0]}" if unknown else None


@pytest.mark.parametrize("page", [*PAGES, "README.md", "CONTRIBUTING.md"])
def test_a_shown_command_exists(page: str) -> None:
    lines = shown((ROOT / page).read_text(encoding="utf-8"))
    assert not [(line, found) for line in lines if (found := mistake(line))]


@pytest.mark.parametrize("page", PAGES)
def test_a_shown_name_exists(page: str) -> None:
    known = words_of_the_program()
    names = {*NAME.findall((ROOT / page).read_text(encoding="utf-8"))}
    stems = {name for name in names if f"{name.rpartition('_')[0]}_" in known}  # f"max_bias_{context}"
    assert sorted(names - known - stems) == []


def test_a_command_that_does_not_exist_is_noticed() -> None:
    assert mistake("polyculture sing exp.toml")
    assert mistake("polyculture run exp.toml --loud")
    assert mistake("polyculture table nothing exp.toml")
    assert mistake("polyculture run exp.toml --job 1/2 | sort -u") is None
