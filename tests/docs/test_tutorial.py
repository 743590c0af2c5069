"""The tutorial's commands run in their order in an empty folder on the embedded model, and give what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.test_house import ROOT

PAGE = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```|^You now have:\n\n((?:- `[^`]+`\n)+)", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"[Ss]ave this as `([^`]+)`:\n\n\Z")


@dataclass(frozen=True)
class Part:
    """A block of the page: a file to save, commands to run, what they print, or what is there then."""

    sort: str  # 'file', 'sh', 'text' or 'there'
    text: str
    name: str = ""  # of a file


def parts(page: str) -> Iterator[Part]:
    """The blocks of a page in their order. Raises `ValueError` where one is neither saved nor run."""
    for found in BLOCK.finditer(page):
        sort, text, there = found.groups()
        saved = SAVED.search(page[: found.start()])
        if there:
            yield Part("there", there)
        elif sort in {"sh", "text"}:
            yield Part(sort, text)
        elif saved:
            yield Part("file", text, saved.group(1))
        else:
            raise ValueError(f"a block of {sort} that nobody saves or runs")


def unprinted(shown: str, printed: str) -> list[str]:
    """The lines of a shown output that are not in what was printed; `...` stands for anything on the line."""
    flat = "\n".join(" ".join(line.split()) for line in printed.splitlines())
    lines = [" ".join(line.split()) for line in shown.splitlines() if line.strip()]
    return [
        line for line in lines if not re.search(".*".join(re.escape(part.strip()) for part in line.split("...")), flat)
    ]


@pytest.mark.full
@pytest.mark.timeout(1800)  # a small model on cores that others use
def test_the_tutorial_runs_as_it_stands(tmp_path: Path) -> None:
    # A folder without a project: what a user types, found on the path.
    path = os.pathsep.join((str(commands(tmp_path / "bin")), os.environ["PATH"]))
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "POLYCULTURE_CACHE": str(tmp_path / "cache")}
    folder = tmp_path / "kitchens"
    folder.mkdir()
    printed = ""
    for part in parts(PAGE.read_text(encoding="utf-8")):
        match part.sort:
            case "file":
                (folder / part.name).write_text(part.text, encoding="utf-8")
            case "text":
                assert not unprinted(part.text, printed), printed
            case "there":
                names = re.findall(r"`([^`]+)`", part.text)
                assert not [name for name in names if not filled(folder / name)]
            case _:
                done = subprocess.run(
                    ["bash", "-euc", part.text],
                    cwd=folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert done.returncode == 0, done.stderr
                printed = done.stdout
    assert (folder / "figure.pdf").read_bytes().startswith(b"%PDF")


def commands(folder: Path) -> Path:
    """A folder with `polyculture` and `python` as an activated environment has them."""
    folder.mkdir()
    for name, words in (("polyculture", "-m polyculture"), ("python", "")):
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n', encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def filled(path: Path) -> bool:
    return any(path.iterdir()) if path.is_dir() else path.is_file() and path.stat().st_size > 0


def test_the_page_has_files_commands_outputs_and_results() -> None:
    sorts = [part.sort for part in parts(PAGE.read_text(encoding="utf-8"))]
    assert {sort: sorts.count(sort) for sort in ("file", "there")} == {"file": 2, "there": 3}
    assert sorts.count("sh") >= 8
    assert sorts.count("text") >= 4


def test_a_block_that_nobody_runs_is_noticed() -> None:
    with pytest.raises(ValueError, match=r"nobody.*saves"):
        list(parts("Look:\n\n```toml\na = 1\n```\n"))
    assert unprinted("a ... c\n", "b\n") == ["a ... c"]
    assert not unprinted("a ... c\n", "x\n  a  b   c\n")


def test_its_install_commands_are_those_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(r"^    make (\w+)", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert named
    assert not [target for target in named if not re.search(rf"^{target}:", makefile, flags=re.MULTILINE)]
