"""What the pages show: their commands run in their order, and print the outputs that stand below them.

On a page with a setting (`tests/docs/settings.py`) each block of `sh` is run in the page's folder, and each block of
`sql` is asked of `exp.toml`. The block of `text` that follows has what is printed. A line `...` in it stands for any
lines, and `...` within a line for any text: they are the marks of what was left out.

    python -m tests.docs.shown [PAGE ...]

writes what the commands print now into the pages, or into those that are named. Lines that were left out stay out.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from polyculture.__main__ import main
from tests.docs.page_parts import Part, parts
from tests.docs.settings import SETTINGS, of_all_pages
from tests.test_house import ROOT

PICTURE = re.compile(r"^!\[[^\]]+\]\((figures/[^)]+\.svg)\)$", re.MULTILINE)  # one that a command of the page draws
EXIT_CODE = re.compile(r"# exit code (\d+)$", re.MULTILINE)
CUT = "..."
TERMINAL = {"COLUMNS": "140", "TERM": "dumb"}  # wide enough for the rows of most tables
LONG_NAME, SHORT_NAME = "llamacpp:qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", f"llamacpp:{CUT}"  # of the recorded model
# How fast a machine is, and what it does at the same time: the lines of jobs that are at work or done.
LOAD = re.compile(r"^(job \d+ of \d+, .*|.*\d+ done, \d+ of them before, 0 failed|.*: still being loaded)$")
# What no page may show: it is another one on another machine or another day.
PRIVATE = re.compile(r"/(tmp|home|root|Users)/|\b20\d\d-\d\d-\d\dT?|\b\d+(\.\d+)? s left|\d a second\b")


def lines_of(printed: str) -> list[str]:
    """The lines of an output, without empty ones and without those of the load."""
    return [line.rstrip() for line in printed.splitlines() if line.strip() and not LOAD.match(line)]


def pattern(line: str) -> re.Pattern[str]:
    """Of a shown line: columns may be wider or narrower."""
    cuts = [r"\s+".join(map(re.escape, re.sub("─+", "─", part).split())) for part in line.split(CUT)]
    return re.compile(r"\s*" + r".*".join(cuts) + r"\s*")


def fits(shown: str, printed: str) -> bool:
    return bool(pattern(shown).fullmatch(re.sub("─+", "─", printed)))


def difference(shown: str, printed: str) -> str | None:
    """The first shown line that is not printed at its place; None where all are."""
    lines, at, loose = lines_of(printed), 0, False
    runs: list[list[str]] = [[]]
    for line in (line for line in shown.splitlines() if line.strip()):
        if line.strip() == CUT:
            runs.append([])
        else:
            runs[-1].append(line)
    for number, run in enumerate(runs):
        last = len(lines) - len(run)
        starts = range(at, last + 1) if loose else range(at, min(at, last) + 1)
        if loose and number == len(runs) - 1:  # up to the end of the output
            starts = range(max(at, last), last + 1)
        place = next((start for start in starts if all(map(fits, run, lines[start:]))), None)
        if place is None:
            return next((line for line in run if not any(fits(line, one) for one in lines)), run[0] if run else "")
        at, loose = place + len(run), True
    open_end = len(runs) > 1 and not runs[-1]
    return None if at == len(lines) or open_end else f"more is printed: {lines[at]}"


def rewritten(shown: str, printed: str) -> str:
    """The shown lines as they are printed now; all that is printed where nothing was shown."""
    lines, at = lines_of(printed), 0
    short = with_short_name(lines)
    chosen: dict[int, str] = {}
    for line in (line for line in shown.splitlines() if line.strip() and line.strip() != CUT):
        later = range(at, len(lines))
        place = next((one for one in later if fits(line, lines[one])), None)
        if place is not None:
            chosen[place] = line
        else:
            alike = {one: difflib.SequenceMatcher(None, line.split(), lines[one].split()).ratio() for one in later}
            place = max(alike, key=lambda one: alike[one], default=None)
            if place is None or alike[place] < 0.4:
                print(f"no longer printed, and left out: {line}", file=sys.stderr)
                continue
            chosen[place] = short[place]
        at = place + 1
    chosen = chosen or dict(enumerate(short))
    told: list[str] = []
    places = iter(range(len(lines)))
    for line in (line for line in printed.splitlines() if line.strip()):
        kept = None if LOAD.match(line) else chosen.get(next(places))
        if kept is not None or told[-1:] != [CUT]:
            told.append(kept or CUT)
    return "".join(f"{line}\n" for line in told)


def with_short_name(lines: list[str]) -> list[str]:
    """Tables without most of the recorded model's long name: its column is as much narrower."""
    start = next((line.index(LONG_NAME) for line in lines if LONG_NAME in line), None)
    if start is None:
        return lines
    end, less = start + len(LONG_NAME), len(LONG_NAME) - len(SHORT_NAME)
    told = []
    for line in lines:
        if LONG_NAME in line:
            told.append(line.replace(LONG_NAME, SHORT_NAME))
        elif "─" in line:
            told.append(line[:-less])
        elif len(line) > end and not line[end - less : end].strip():
            told.append(line[: end - less] + line[end:])
        else:
            told.append(line)
    return told


class Screen(io.StringIO):
    """A terminal, for what is printed; the lines about the work go into the same text, and are as in a file."""

    def isatty(self) -> bool:
        return True


class Beside(io.TextIOBase):
    """Another stream onto a screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def write(self, text: str) -> int:
        return self._screen.write(text)


def run_block(part: Part, folder: Path, experiment: str) -> str:
    """What the commands of a block print, on both streams.

    Raises `AssertionError` at another exit code than the block states.
    """
    if part.sort == "sql":
        return command_line(["sql", experiment, part.text.strip().rstrip(";")], folder, 0)
    expected = int(found.group(1)) if (found := EXIT_CODE.search(part.text)) else 0
    words = [shlex.split(line, comments=True) for line in part.text.replace("\\\n", " ").splitlines()]
    words = [line for line in words if line]
    ours = all(line[0] == "polyculture" and not {"|", ">", "&&", "||"} & {*line} for line in words)
    if ours:  # seconds faster than in a process of its own
        codes = [expected if line is words[-1] else 0 for line in words]
        return "".join(command_line(line[1:], folder, code) for line, code in zip(words, codes, strict=True))
    done = subprocess.run(
        ["bash", "-euc", part.text],
        cwd=folder,
        env=os.environ | environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == expected, done.stdout
    return done.stdout.replace(str(folder), CUT)


def command_line(words: list[str], folder: Path, expected: int) -> str:
    printed = Screen()
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        patch.setattr(sys, "argv", ["polyculture", *words])
        for name, value in (environment(folder) | TERMINAL).items():
            patch.setenv(name, value)
        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(Beside(printed)),
            pytest.raises(SystemExit) as end,
        ):
            main()
    assert int(end.value.code or 0) == expected, printed.getvalue()
    return printed.getvalue().replace(str(folder), CUT)


def environment(folder: Path) -> dict[str, str]:
    """A cache of the pages' own, and `polyculture` and `python` as an activated environment has them."""
    programs = folder.parent / "bin"
    programs.mkdir(exist_ok=True)
    for name, words in (("polyculture", "-m polyculture"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    return {
        "PATH": os.pathsep.join((str(programs), os.environ["PATH"])),
        "PYTHONPATH": str(ROOT),
        "POLYCULTURE_CACHE": str(of_all_pages() / "cache"),
    }


def outputs(page: str, folder: Path, experiment: str = "exp.toml") -> Iterator[tuple[Part, str]]:
    """Runs a page; yields each shown output with what is printed.

    Raises `AssertionError` where a command fails or does not leave what the page says.
    """
    printed = ""
    for part in parts(page):
        match part.sort:
            case "file":
                (folder / part.name).write_text(part.text, encoding="utf-8")
            case "text":
                yield part, printed
            case "there":
                names = re.findall(r"`([^`]+)`", part.text)
                assert not [name for name in names if not filled(folder / name)]
            case _:
                printed = run_block(part, folder, experiment)


def filled(path: Path) -> bool:
    return any(path.iterdir()) if path.is_dir() else path.is_file() and path.stat().st_size > 0


def rewrite(name: str) -> None:
    """Writes the outputs of a page anew, and the pictures that its commands draw."""
    file = ROOT / name
    page = file.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "page"
        SETTINGS[name](folder)
        new = [(part.place, rewritten(part.text, printed)) for part, printed in outputs(page, folder)]
        for picture in PICTURE.findall(page):
            shutil.copyfile(folder / picture, file.parent / picture)
    for place, text in reversed(new):
        page = page[: place.start] + text + page[place.stop :]
    file.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or SETTINGS:
        if name not in SETTINGS:
            sys.exit(f"{name}: has no setting in tests/docs/settings.py. Known: {', '.join(SETTINGS)}.")
        rewrite(name)
