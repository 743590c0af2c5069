"""What is wrong with an instrument's options is said of the place in the experiment file where they are written."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import ExperimentError
from polyculture.instruments import INSTRUMENTS
from polyculture.running.call_list import calls_in_file, checked_call
from polyculture.running.opening import open_workspace

HEAD = 'name = "x"\nmodels = ["mock:a"]\n'
COMMANDS = [command for entry in INSTRUMENTS for command in entry.lines]
PLACE = re.compile(r"^\S*exp\.toml: (?:unknown key '(.+?)'|the key '(.+?)' is missing|([\w.]+): )")


def refused(file: Path, text: str, command: str | None = None) -> list[str]:
    """The lines of the refusal of a file: of what it asks itself, or of a command typed without options."""
    file.write_text(HEAD + text, encoding="utf-8")
    workspace = open_workspace(file)
    with pytest.raises(ExperimentError) as fault:
        calls_in_file(workspace) if command is None else checked_call(workspace, command, {})
    return str(fault.value).splitlines()


def place_of(line: str) -> str:
    """The place that a line names."""
    found = PLACE.match(line)
    assert found, line
    return next(filter(None, found.groups()))


def is_written(place: str, text: str) -> bool:
    value: Any = tomllib.loads(text)
    for step in place.split("."):
        if not isinstance(value, dict) or step not in value:
            return False
        value = value[step]
    return True


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("section", ["instruments.{}", "{}"])
def test_a_wrong_value_and_an_unknown_key_have_the_place_where_they_are_written(
    command: str, section: str, tmp_path: Path
) -> None:
    entry = next(entry for entry in INSTRUMENTS if command in entry.lines)
    above, typed = section.format(command), None if section.startswith("instruments") else command
    for name in entry.commands[command].options.model_fields:
        text = f"[{above}]\n{name} = {{ nonsense = 1 }}\nno_such_option = 1\n"
        lines = refused(tmp_path / "exp.toml", text, typed)
        of_file = [line for line in lines if "is missing" not in line]
        assert {place_of(line) for line in of_file} == {f"{above}.{name}", f"{above}.no_such_option"}
        assert all(is_written(place_of(line), text) for line in of_file)


def test_what_is_missing_is_said_of_its_section_and_of_a_command_line_as_it_is_typed(tmp_path: Path) -> None:
    (line,) = refused(tmp_path / "exp.toml", "[instruments.ask]\nunits = 2\n")
    assert place_of(line) == "instruments.ask.set"
    (line,) = refused(tmp_path / "exp.toml", "[ask]\nunits = 2\n", "ask")
    assert line.startswith("ask: SET is missing")


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ('[instruments.ask]\nset = "kobbq"\nmetod = 1\n', {"instruments.ask.metod"}),
        ('[instruments.ask]\nset = "kobbq"\n[ask]\nmetod = 1\nunits = 0\n', {"ask.metod", "ask.units"}),
        ('[instruments.ask]\nset = "kobbq"\nunits = 0\n[ask]\nunits = 2\nn = "x"\n',
         {"instruments.ask.units", "ask.n"}),
        ('[instruments.ask]\nset = "kobbq"\nn = 3\n', {"instruments.ask.n"}),
        ('[instruments.ask]\nset = "kobbq"\nmethod = ["generated", "x"]\n', {"instruments.ask.method.1"}),
        ('[instruments.paper]\nname = "camel"\nparts = ["nosuch"]\n', {"instruments.paper.parts"}),
        ('[instruments.paper]\nname = "camel"\n[cbs]\nentities = "x"\n', {"cbs.entities"}),
        ('[instruments.ask]\nunits = 0\n[instruments.cbs]\ndraw = 1\n',
         {"instruments.ask.units", "instruments.ask.set", "instruments.cbs.draw"}),
    ],
)  # fmt: skip
def test_all_places_of_one_file(text: str, places: set[str], tmp_path: Path) -> None:
    lines = refused(tmp_path / "exp.toml", text)
    assert {place_of(line) for line in lines} == places, json.dumps(lines, indent=1)
