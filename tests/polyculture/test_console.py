"""What a person sees while it runs."""

from __future__ import annotations

import time

import pytest
from rich.cells import cell_len

from polyculture import console, progress
from polyculture.cache.errors import UserError
from polyculture.cache.work.outcome import Outcome
from polyculture.cli.tables import WIDTH, print_table


@pytest.mark.parametrize(("total", "says"), [(0, "ask: 206, 1 failed"), (900, "ask: 206 of 900, 1 failed")])
def test_a_total_that_nobody_knows_is_not_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, total: int, says: str
) -> None:
    """It said `206 of 0`, and how many seconds were left of that."""
    monkeypatch.setattr(progress, "PLAIN_EVERY", 0.0)
    with console.shown(), progress.watch("ask", total) as tell:
        tell(Outcome(100, 0))
        tell(Outcome(150, 0))
        tell(Outcome(205, 1))
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(says)
    assert (" left" in said) == bool(total)


def test_a_cell_is_printed_and_does_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """A label of Wikidata may hold anything: an escape sequence, or letters that turn the line around."""
    print_table(("label",), [("\x1b[31mred\x07",), ("a\u202eb",), ("two\nlines",), (None,)])
    told = capsys.readouterr().out
    assert "\\x1b[31mred\\x07" in told
    assert "a\\u202eb" in told
    assert told.count("\n") > len(("label", "red", "a", "two", "lines"))
    assert not {"\x1b", "\x07", "\u202e"} & set(told)


@pytest.mark.parametrize("word", ["abcdefghij", "寿司天婦羅"])
@pytest.mark.parametrize("columns", range(2, 13))
def test_no_word_of_a_table_is_broken_and_no_line_too_long(
    capsys: pytest.CaptureFixture[str], word: str, columns: int
) -> None:
    """Of eight columns, and of Chinese letters, less room was counted than they take."""
    heads = [f"{number}{word}"[:10] for number in range(columns)]
    print_table(heads, [[word] * columns, [f"{word} {word}"] * columns])
    said = capsys.readouterr().out
    assert max(map(cell_len, said.splitlines())) <= WIDTH
    assert said.count(word) >= 3 * columns
    assert all(head in said for head in heads)


def test_what_others_say_of_a_fault_becomes_one_line() -> None:
    fault = UserError("is damaged: malformed\n  Page 11: error code 11", where="cache.sqlite", remedy="Delete it.")
    assert str(fault) == "cache.sqlite: is damaged: malformed Page 11: error code 11. Delete it."


def test_what_is_not_nothing_is_never_printed_as_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("p",), [(0.0004,), (-0.0001,), (0.0005,), (0.0,)])
    assert [line.strip() for line in capsys.readouterr().out.splitlines()[3:-1]] == [
        "<0.001",
        ">-0.001",
        "0.001",
        "0.000",
    ]


def test_what_would_steer_a_terminal_is_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    """A server's message goes into our lines."""
    console.say("HTTP 400: \x1b[31mRED\x1b]0;title\x07\x00")
    assert capsys.readouterr().err == "HTTP 400: \\x1b[31mRED\\x1b]0;title\\x07\\x00\n"


def test_nobody_waits_in_silence_for_the_first_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first score came after 118 s, and nothing was said of the second minute."""
    monkeypatch.setattr(progress, "SILENT", 0.1)
    said = ""
    with console.shown(), progress.watch("score", 1_698) as tell:
        tell(Outcome(0, 0))
        end = time.monotonic() + 60
        while said.count("\n") < 2 and time.monotonic() < end:
            time.sleep(0.01)
            said += capsys.readouterr().err
    assert set(said.splitlines()) == {"score: 0 of 1698, still at work"}
    time.sleep(0.3)
    assert capsys.readouterr().err == ""


def on_a_terminal(work: str, columns: int = 80) -> str:
    """What a program writes to a terminal of so many columns, without the signs that steer it."""
    import fcntl
    import os
    import pty
    import re
    import struct
    import sys
    import termios

    process, ours = pty.fork()
    if not process:
        os.execv(sys.executable, [sys.executable, "-c", f"import time; time.sleep(.2)\n{work}"])
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    said = b""
    try:
        while part := os.read(ours, 65536):
            said += part
    except OSError:  # the program has ended
        pass
    os.waitpid(process, 0)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode()).replace("\r", "\n")


def test_the_bar_moves_before_the_first_answer_and_fits_eighty_columns() -> None:
    """It stood still while the first answers were on their way."""
    program = """
from polyculture.cache.work.outcome import Outcome
from polyculture.console import shown
from polyculture.progress import JobPosition, watch
label = "generate vllm:Qwen/Qwen2.5-7B-Instruct-with-a-long-name zh-tw transportation"
with shown(), watch(label, 500, JobPosition(3, 9, 3000)) as p:
    p(Outcome(0, 0))
    time.sleep(2.2)
    for number in (10, 20, 30):
        p(Outcome(number, 2))
        time.sleep(0.3)
"""
    lines = [line.rstrip() for line in on_a_terminal(program).splitlines() if line.strip()]
    waiting = [line for line in lines if " 0/500" in line]
    assert {line[-7:] for line in waiting} >= {"0:00:00", "0:00:01", "0:00:02"}
    assert len({line[0] for line in waiting}) > 3  # the spinner
    assert all("job 3 of 9, generate vllm" in line for line in waiting)
    assert max(map(len, lines)) <= 80
    assert any("2 failed" in line and " left, all jobs at most " in line for line in lines)


def test_lines_of_the_log_stand_whole_above_the_bar() -> None:
    program = """
from polyculture.cache.log import get_logger
from polyculture.cache.work.outcome import Outcome
from polyculture.console import shown
from polyculture.progress import watch
log = get_logger("polyculture.somewhere")
with shown(), watch("generate m", 50) as tell:
    for number in range(3):
        tell(Outcome(number, 0))
        log.warning(f"{number} of the texts are short")
        time.sleep(0.3)
"""
    lines = [line.strip() for line in on_a_terminal(program).splitlines()]
    assert [line for line in lines if "texts" in line] == [f"{number} of the texts are short" for number in range(3)]
    assert any("generate m" in line for line in lines)


def test_lines_say_which_job_it_is_and_how_long_all_take(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PLAIN_EVERY", 0.0)
    with console.shown(), progress.watch("generate m en food", 10, progress.JobPosition(1, 2, 10)) as tell:
        for number in range(3):
            tell(Outcome(number, 0))
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("job 1 of 2, generate m en food: 2 of 10, 0 failed, ")
    assert "all jobs at most" in said
    ticks = iter([0.0, 1.0, 2.0])
    rate = progress.Rate(100, clock=lambda: next(ticks), later=900)
    assert [rate.tell(number) for number in (0, 10, 20)][-1] == "10.0 a second, 8 s left, all jobs at most 1 min 38 s"
