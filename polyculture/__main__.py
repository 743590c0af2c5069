"""`polyculture` and `python -m polyculture`."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys

from polyculture import UNSUPPORTED

TYPE_CHECKING = False  # as in `polyculture/__init__.py`
if TYPE_CHECKING:
    from types import FrameType, TracebackType

INTERRUPTED = 130  # what a shell expects after Ctrl-C
# Arrow would load pandas, half a second's work, to look for frames in lists of ours. What reads a little has no use for
# numpy either; what opens no store loads no Arrow, or does it itself.
WITHOUT_NUMPY = ("sql", "status", "prompts")
WITHOUT_ARROW = ("data", "init", "pack", "wikidata", "extract", "link")
# Commands that only read a little and print. To look for garbage, and to take down what a process has loaded, takes
# Python an eighth of their time.
ENDED_AT_ONCE = ("link show", "sql", "status")
STOPPED = "polyculture: stopped; the same command resumes"
_signals: list[int] = []  # that asked this process to stop


def main() -> None:
    """Runs the command line. Errors of Polyculture end in one line and an exit code, without a traceback."""
    if sys.platform == "win32":
        sys.stderr.write(f"polyculture: {UNSUPPORTED}\n")
        sys.exit(2)
    _signals.clear()
    _stop_at_once()
    _write_any_text()
    gc.set_threshold(50_000)  # imports make much that stays: looking through it costs a tenth of a short command
    # pydantic looks for plugins in the metadata of every package that is installed, at each start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from polyculture.cache.errors import PolycultureError
    from polyculture.console import say

    sys.excepthook = _print_traceback
    try:
        _run()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except BaseException as fault:
        # Whatever was at work when Ctrl-C came may say so in an error of its own: DuckDB says "Query interrupted".
        if isinstance(fault, KeyboardInterrupt) or (_signals and not _is_success(fault)):
            say(STOPPED)
            sys.exit(INTERRUPTED)
        if isinstance(fault, PolycultureError):
            for line in str(fault).splitlines() or [""]:
                say(f"polyculture: {line}")
            sys.exit(fault.exit_code)
        if not isinstance(fault, Exception):
            raise
        from polyculture.cache.store.damage import damaged_file
        from polyculture.running.layout import store_layout

        damaged = damaged_file(fault, store_layout())
        if damaged is None:
            raise
        say(f"polyculture: {damaged}")
        sys.exit(damaged.exit_code)


def _is_success(fault: BaseException) -> bool:
    return isinstance(fault, SystemExit) and not fault.code


def _stop_at_once() -> None:
    """Has Ctrl-C end the process while it is starting: an import that it interrupts may say so in many lines.

    There is nothing to put in order yet. Who ignores Ctrl-C, or has a handler of their own, keeps that.
    """
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _stop)
    except ValueError:  # this is not the main thread, which alone hears of Ctrl-C
        return


def _stop(_number: int, _frame: object) -> None:
    os.write(2, f"{STOPPED}\n".encode())
    os._exit(INTERRUPTED)


def _write_any_text() -> None:
    """Has a terminal or a file that cannot hold a letter (cp1252, ASCII) get '?' in its place, rather than an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _started() -> None:
    """Has Ctrl-C raise `KeyboardInterrupt` from now on: whoever is at work puts things in order. A second one ends."""
    if signal.getsignal(signal.SIGINT) is _stop:
        signal.signal(signal.SIGINT, _interrupt)


def _ignore_signals() -> None:
    """Has Ctrl-C do nothing from now on, at the end of a process whose command succeeded.

    While Python ends, it takes its own handlers away, and the process would die by the signal though all is done.
    """
    if signal.getsignal(signal.SIGINT) in (_interrupt, _stop):
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupt(number: int, frame: FrameType | None) -> None:
    _signals.append(number)
    if len(_signals) > 1:
        _stop(number, frame)
    signal.default_int_handler(number, frame)


def _print_traceback(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
    """What nobody foresaw, without keys and passwords."""
    import traceback

    from polyculture.console import say

    say("".join(traceback.format_exception(kind, fault, trace)).rstrip())


def _run() -> None:
    """Imports the commands, which takes long enough for a Ctrl-C, and runs the requested one."""
    from typer.exceptions import TyperException

    from polyculture.cli.app import app
    from polyculture.cli.arrow_alone import load_arrow_alone
    from polyculture.cli.options import help_for, message_of
    from polyculture.console import say, shown

    command = "".join(sys.argv[1:2])
    if command not in WITHOUT_ARROW and not command.startswith("-") and "--help" not in sys.argv:
        # Here, where the process is the command's alone.
        load_arrow_alone(without=("pandas", "numpy") if command in WITHOUT_NUMPY else ("pandas",))
    _started()
    try:
        with shown():
            code = app(standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        sys.stdout.flush()  # here a reader that has gone, or a full disk, is still an error of the command
        sys.exit(code if isinstance(code, int) else 0)
    except TyperException as error:
        message = message_of(error)
        asked_for_help = message.startswith("Usage:")  # a group that was called without a command
        ended = message if message.endswith("?") else f"{message.rstrip('.')}."
        say(message if asked_for_help else f"polyculture: {ended} See: {help_for(error)}")
        sys.exit(2)


def command() -> None:
    """`main` as a process of its own."""
    _read_arguments_as_text()
    if sys.argv[1:2] == ["sql"] and sys.platform != "win32":
        _watched_query()
        return
    _command()


def _read_arguments_as_text() -> None:
    """Starts this process anew with UTF-8 where the locale is ASCII (`LC_ALL=C`), and an argument is not.

    A name of a file may be any bytes; of any other argument that is no text a line says so, and the process ends.
    """
    strange = [one for one in sys.argv[1:] if not one.isascii() and any("\udc80" <= sign <= "\udcff" for sign in one)]
    if strange and sys.getfilesystemencoding() == "ascii" and os.environ.get("PYTHONUTF8") != "1":
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606
    for one in strange:
        if not os.access(one, os.F_OK):
            shown = os.fsencode(one).decode("utf-8", "backslashreplace")
            sys.stderr.write(f"polyculture: an argument is no text in UTF-8: {shown}. Write it in UTF-8.\n")
            sys.exit(2)


def _watched_query() -> None:
    """Asks somebody's query in a process of its own: it is killed where it takes more time or memory than it may."""
    _stop_at_once()
    import tempfile
    from pathlib import Path

    from polyculture.cache.guard import OverLimitError, watched

    try:
        code = watched(_command)
        if code >= 0:
            sys.exit(code)
        code, why = 2, "polyculture: the system ended the query: most often it had no memory left. Ask for less."
    except KeyboardInterrupt:
        code, why = INTERRUPTED, STOPPED
    except OverLimitError as over:
        from polyculture.cache.store.queries import over_limit

        code, why = 2, f"polyculture: {over_limit(over.limit, over.most, '--timeout SECONDS')}"
    from polyculture.cache.files import sweep_scratch

    sys.stderr.write(f"{why}\n")
    sweep_scratch(Path(tempfile.gettempdir()), "polyculture-sql-")
    sys.exit(code)


def _command() -> None:
    """`main`, which ends at once where all is printed."""
    short = " ".join(sys.argv[1:3]).startswith(ENDED_AT_ONCE)
    if short:
        gc.disable()
    try:
        main()
    except SystemExit as ended:
        if short and ended.code == 0 and not sys.stderr.closed:
            sys.stderr.flush()
            os._exit(0)
        if not ended.code:
            _ignore_signals()
        raise


if __name__ == "__main__":
    command()
