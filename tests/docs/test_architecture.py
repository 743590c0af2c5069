"""The walks in `docs/architecture.md`: each file that they name exists, and has the names that they say are in it."""

from __future__ import annotations

import ast
import re

import pytest

from tests.test_house import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
COMPARISON = "A comparison of two runs"
WALKS = (
    "The identity of a response",
    "A number with its interval, back to the responses",
    COMPARISON,
    "A changed experiment file",
)
ROW = re.compile(r"^\| `([^`]+\.(?:py|sql))` \| (.+) \|$", re.MULTILINE)
FILE = re.compile(r"`((?:[a-z_]+/)+(?:[\w.]+)?)`")


def section(title: str) -> str:
    """The text below a heading."""
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def test_a_named_file_or_folder_exists() -> None:
    named = FILE.findall(PAGE)
    assert len(named) > 40
    missing = [name for name in named if not (ROOT / name).exists() and not (ROOT / "polyculture" / name).exists()]
    missing = [name for name in missing if not (ROOT / "cache" / "store" / name).exists() and name != "build/"]
    assert missing == []


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_says_what_is_in_each_file(title: str) -> None:
    """Names such as `_shares`, and views such as `named_items`; names of files are looked for above."""
    rows = ROW.findall(section(title))
    assert len(rows) >= 5
    assert len(rows) == section(title).count("\n| `")
    for file, said in rows:
        text = (ROOT / file).read_text(encoding="utf-8")
        names = [name.rpartition(".")[2] for name in re.findall(r"`([\w.]+)`", said) if not name.endswith(".py")]
        assert [name for name in names if not re.search(rf"\b{name}\b", text)] == [], file


def imported(file: str) -> set[str]:
    """The files that a module imports, within functions, too."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("polyculture."):
            inside = node.module.removeprefix("polyculture.").replace(".", "/")
            found |= {f"{prefix}{inside}.py" for prefix in ("", "polyculture/")}
    return found


def test_the_comparison_goes_down_only() -> None:
    """No file of the walk imports one above it."""
    files = [file for file, _ in ROW.findall(section(COMPARISON))]
    assert [(file, above) for at, file in enumerate(files) for above in files[:at] if above in imported(file)] == []
    below = [sum(other in imported(file) for other in files) for file in files]
    assert below[0] >= 3  # the command imports what it uses: the test finds imports
