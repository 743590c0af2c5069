"""Who uses Polyculture from Python hears nothing, or what they ask `logging` for; the command line prints it all."""

from __future__ import annotations

import ast
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from polyculture.cache.log import POLYCULTURE, get_logger, handled_by
from polyculture.cache.text.sanitize import learn
from polyculture.console import shown
from tests.polyculture.test_command_line import polyculture as command
from tests.quick_start import begin
from tests.test_house import ROOMS, ROOT

EXPERIMENT = """
name = "small"
models = ["mock:a", "mock:b"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
sampling.n = 8
"""
DONE = "generate mock:a en food: 32 done, 0 of them before, 0 failed"  # of level INFO
ALIKE = "mock:a and mock:b: 32 of 32 texts are the same, word for word, under the same prompts. Is it one model"
RUN = "import polyculture\npolyculture.run('exp.toml'{})\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    return tmp_path


def python(program: str, folder: Path) -> tuple[str, str]:
    """What a program prints on standard output, and on standard error."""
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def forked(program: str, folder: Path) -> tuple[str, str]:
    """The same of a program whose process begins with all that it imports."""
    process = begin(_run_program, program, str(folder))
    process.join(550)
    printed = (folder / "stdout").read_text(encoding="utf-8"), (folder / "stderr").read_text(encoding="utf-8")
    assert process.exitcode == 0, printed
    return printed


def _run_program(program: str, folder: str) -> None:
    os.chdir(folder)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), number)
    exec(program, {"__name__": "__main__"})


def test_a_library_user_who_configures_nothing_hears_nothing(folder: Path) -> None:
    assert python(RUN.format(""), folder) == ("", "")


def test_a_library_user_routes_lines_by_level_and_by_logger(folder: Path) -> None:
    program = f"""
import logging
logging.basicConfig(filename="all.log", level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
warnings = logging.FileHandler("warnings.log")
warnings.setLevel(logging.WARNING)
logging.getLogger("polyculture").addHandler(warnings)
logging.getLogger("polyculture.running.results").setLevel(logging.ERROR)
{RUN.format("")}"""
    assert forked(program, folder) == ("", "")
    lines = (folder / "all.log").read_text(encoding="utf-8").splitlines()
    assert f"INFO polyculture.running.steps {DONE}" in lines
    assert any(re.match(rf"WARNING polyculture\.running\.\w+ {ALIKE}", line) for line in lines)
    assert not [line for line in lines if "measure:" in line], "a part of the names is silent"
    assert {line.split()[1].split(".")[0] for line in lines} == {"polyculture"}
    warned = (folder / "warnings.log").read_text(encoding="utf-8").splitlines()
    assert warned == [line.split(maxsplit=2)[2] for line in lines if line.startswith("WARNING")]


def test_the_command_line_prints_all_lines_and_no_more(folder: Path) -> None:
    """On standard error, without level and name; and the same ones that Python prints with `progress`."""
    done = command("run", "exp.toml", cwd=folder)
    assert done.returncode == 0
    assert DONE not in done.stdout
    lines = done.stderr.splitlines()
    assert lines.count(DONE) == 1
    assert len([line for line in lines if line.startswith(ALIKE)]) == 1
    assert not [line for line in lines if re.search(r"INFO|WARNING|polyculture\.", line)]
    logged = forked(RUN.format(", runs='others', progress=True"), folder)[1].splitlines()
    assert logged == [line for line in lines if "report.html#before" not in line], "the command's own remark"


def test_lines_that_are_printed_are_not_printed_twice_and_still_reach_a_file(folder: Path) -> None:
    """A handler of the root logger takes all records, whatever the root's level: it gets what it got before."""
    program = f"""
import logging
logging.basicConfig(filename="root.log", format="%(levelname)s %(message)s")
{RUN.format(", progress=True")}"""
    _, printed = forked(program, folder)
    kept = (folder / "root.log").read_text(encoding="utf-8").splitlines()
    assert printed.count(DONE) == 1
    assert printed.count(ALIKE) == 1
    assert [line for line in kept if ALIKE in line]
    assert {line.split()[0] for line in kept} == {"WARNING"}


def test_no_handler_gets_a_key_or_what_steers_a_terminal(caplog: pytest.LogCaptureFixture) -> None:
    learn("a-secret-that-nobody-may-read")
    log = get_logger("polyculture.generate.some_engine")
    log.warning("the server says %s \x1b[31m", "a-secret-that-nobody-may-read")
    try:
        raise ValueError("https://me:a-secret-that-nobody-may-read@server")
    except ValueError:
        log.exception("a request failed")
    assert caplog.messages == ["the server says *** \\x1b[31m", "a request failed"]
    assert "ValueError: https://server" in caplog.text
    assert "a-secret" not in caplog.text


def test_a_block_that_prints_leaves_logging_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    log, before = get_logger("polyculture.some"), (list(POLYCULTURE.handlers), POLYCULTURE.level, POLYCULTURE.propagate)
    with shown():
        log.info("printed")
        log.debug("too much")
    with pytest.raises(ZeroDivisionError), handled_by(logging.NullHandler()):
        raise ZeroDivisionError
    log.info("not printed")
    assert capsys.readouterr().err == "printed\n"
    assert (list(POLYCULTURE.handlers), POLYCULTURE.level, POLYCULTURE.propagate) == before


def test_only_the_command_line_prints() -> None:
    """All others have the logger of their module, whose records hold no key."""
    # Python with `progress=True`, and replicas whose terminal was lost with its machine, print as the command line.
    may_print = re.compile(r"polyculture/(cli/|__main__|api/start|cluster/replica)")
    for file in (file for room in ROOMS for file in (ROOT / room).rglob("*.py")):
        place = file.relative_to(ROOT).as_posix()
        text = file.read_text(encoding="utf-8")
        assert "logging.getLogger(" not in text or place == "cache/log.py", place
        names = {node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
        assert "polyculture.console" not in names or may_print.match(place), place
