"""The tutorial's commands run in their order in an empty folder on the embedded model, and give what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.settings import SETTINGS
from tests.docs.shown import difference, outputs, parts
from tests.test_house import ROOT

PAGE = ROOT / "docs" / "tutorial.md"


@pytest.mark.full
@pytest.mark.timeout(1800)  # a small model on cores that others use
def test_the_tutorial_runs_as_it_stands(tmp_path: Path) -> None:
    folder = tmp_path / "kitchens"  # a folder without a project: what a user types, found on the path
    SETTINGS["docs/tutorial.md"](folder)
    for part, printed in outputs(PAGE.read_text(encoding="utf-8"), folder):
        assert difference(part.text, printed) is None, printed
    assert (folder / "figure.pdf").read_bytes().startswith(b"%PDF")


def test_the_page_has_files_commands_outputs_and_results() -> None:
    sorts = [part.sort for part in parts(PAGE.read_text(encoding="utf-8"))]
    assert {sort: sorts.count(sort) for sort in ("file", "there")} == {"file": 2, "there": 3}
    assert sorts.count("sh") >= 8
    assert sorts.count("text") >= 4


def test_its_install_commands_are_those_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(r"^    make (\w+)", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert named
    assert not [target for target in named if not re.search(rf"^{target}:", makefile, flags=re.MULTILINE)]
