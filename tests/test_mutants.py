"""The tool for mutation testing: its rooms are there, and no change is counted as killed that no test noticed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.mutants import COLUMNS, ROOT, MutatedRoom, read_rooms, rows_of, verdicts


@pytest.mark.parametrize("room", read_rooms().values(), ids=lambda room: room.name)
def test_a_room_names_code_and_tests_that_are_there(room: MutatedRoom) -> None:
    folder = ROOT / "polyculture" / room.name
    assert all((folder / file).is_file() for file in room.code)
    assert any(folder.glob("*.py"))
    assert [name for name in room.tests if not (ROOT / name).exists()] == []


def test_what_no_test_noticed_or_reached_is_never_killed(tmp_path: Path) -> None:
    codes = {"killed": 1, "unnoticed": 0, "unreached": 33, "slow": -24, "crashed": -11, "waiting": None}
    file = tmp_path / "mutants" / "polyculture" / "room" / "module.py.meta"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"exit_code_by_key": codes}))
    module, total = rows_of(verdicts(tmp_path))
    assert dict(zip(COLUMNS, module, strict=True)) == {
        "module": "polyculture/room/module.py",
        "mutants": 6,
        "killed": 1,
        "timed out": 1,
        "survived": 1,
        "not reached": 1,
        "crashed": 1,
        "not tried": 1,
    }
    assert total[1:] == module[1:]
