"""Each error line that `docs/troubleshooting.md` quotes is still in the code, and each of its sections has some."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.test_house import ROOMS, ROOT

PAGE = ROOT / "docs" / "troubleshooting.md"
SAID = "No error, and yet"  # the section of what no line says


def quoted(text: str) -> list[str]:
    """The lines that the first columns of a page's tables quote."""
    return re.findall(r"^\| `([^`]+)` \|", text.split(f"## {SAID}")[0], flags=re.MULTILINE)


@cache
def strings() -> str:
    """All code and texts, with what stands in the braces of an f-string left open, and literals that follow joined."""
    files = [file for room in ROOMS for kind in ("py", "toml") for file in (ROOT / room).rglob(f"*.{kind}")]
    text = "\n".join(Path(file).read_text(encoding="utf-8") for file in files)
    return re.sub(r"\"\s*\n\s*f?\"", "", text)


def there(line: str) -> bool:
    parts = [re.escape(part) for part in line.split("...")]
    return bool(re.search(r"[^\"\n]{0,60}".join(parts), strings()))


@pytest.mark.parametrize("line", quoted(PAGE.read_text(encoding="utf-8")))
def test_the_line_is_in_the_code(line: str) -> None:
    assert there(line)


def test_a_line_that_is_in_no_code_is_noticed() -> None:
    assert len(quoted(PAGE.read_text(encoding="utf-8"))) > 25
    assert not there("no code says this ... sentence")
