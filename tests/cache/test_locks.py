"""A job is held by one process, on file systems with the kernel's locks and without, and never for long by the dead."""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from filelock import _unix

from polyculture.cache import locks as hold
from polyculture.cache.errors import JobHeldError
from polyculture.cache.locks import Lock, is_locked
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import RESPONSES
from polyculture.cache.store.shards import JobShards
from tests import servers
from tests.cache.store.test_shards import JOB, response
from tests.polyculture.test_command_line import polyculture
from tests.servers import StubServer
from tests.test_nothing_is_lost import say, write_experiment

ROOT = Path(__file__).parents[2]

HOLDER = """
import sys, time
from pathlib import Path
from filelock import _unix
from polyculture.cache import locks as hold
hold.LEASE, hold.BEAT = 1.5, 0.25
def refuse(*_):
    raise OSError(38, "flock is not implemented")
if sys.argv[2] == "without kernel locks":
    _unix.fcntl.flock = refuse
held = hold.Lock(Path(sys.argv[1]) / ".lock", "job x")
held.acquire()
print("held", flush=True)
while True:
    time.sleep(0.02)
    held.check()
"""


@pytest.fixture(autouse=True)
def short_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hold, "LEASE", 1.5)
    monkeypatch.setattr(hold, "BEAT", 0.25)


@contextmanager
def holder(folder: Path, locks: str = "with kernel locks") -> Iterator[subprocess.Popen[str]]:
    """A process that holds the folder, and gives up when it was taken over."""
    command = [sys.executable, "-c", HOLDER, str(folder), locks]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def no_kernel_locks(monkeypatch: pytest.MonkeyPatch, reason: int = errno.ENOSYS) -> None:
    def refuse(*_: object) -> None:
        raise OSError(reason, "no kernel locks here")

    monkeypatch.setattr(_unix.fcntl, "flock", refuse)


def test_a_second_process_is_told_who_holds_it_since_when(tmp_path: Path) -> None:
    with holder(tmp_path) as process, pytest.raises(JobHeldError) as fault:
        Lock(tmp_path / ".lock", "job x").acquire()
    said = rf"job x is held by process {process.pid} on {re.escape(socket.gethostname())} since \d{{4}}-\d\d-\d\d \d\d:"
    assert re.match(said, str(fault.value))


def test_what_a_process_of_this_machine_held_is_free_when_it_is_killed(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        assert is_locked(tmp_path / ".lock")
        process.kill()
        process.wait()
    mine = Lock(tmp_path / ".lock", "job x")
    mine.acquire()
    mine.check()
    mine.release()
    assert not is_locked(tmp_path / ".lock")


@pytest.mark.parametrize("reason", [errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK])
def test_a_file_system_without_kernel_locks_is_safe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    with holder(tmp_path, "without kernel locks"):
        no_kernel_locks(monkeypatch, reason)
        with pytest.raises(JobHeldError, match="held by process"):
            Lock(tmp_path / ".lock", "job x").acquire()


def write_lease_of_another_machine(folder: Path) -> Path:
    """What a holder leaves behind whose machine lost its power."""
    marker = folder / ".lease"
    marker.write_text(f"filelock/2\npid=7\nhost=node17\nmode=lease\ntoken=abc\nduration={hold.LEASE!r}\nstart=1\n")
    (folder / ".holder").write_text("process 7 on node17 since 2026-11-21 12:00:00 UTC")
    return marker


def test_a_holder_that_died_on_another_machine_holds_no_longer_than_its_lease(tmp_path: Path) -> None:
    write_lease_of_another_machine(tmp_path)
    mine = Lock(tmp_path / ".lock", "job x")
    started = time.monotonic()
    mine.acquire()
    assert time.monotonic() - started >= hold.LEASE * 0.9
    mine.check()
    mine.release()


def test_a_holder_that_lives_on_another_machine_is_named_at_its_next_sign_of_life(tmp_path: Path) -> None:
    marker, done = write_lease_of_another_machine(tmp_path), Event()

    def beat() -> None:
        while not done.wait(hold.BEAT):
            os.utime(marker)

    heart = Thread(target=beat)
    heart.start()
    try:
        with pytest.raises(JobHeldError, match=r"process 7.*node17.*since 2026"):
            Lock(tmp_path / ".lock", "job x").acquire()
        assert is_locked(tmp_path / ".lock")
    finally:
        done.set()
        heart.join()
    assert marker.read_text().startswith("filelock/2\npid=7\nhost=node17")


def test_whoever_stood_still_and_was_taken_over_notices_before_it_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with holder(tmp_path, "without kernel locks") as process:
        process.send_signal(signal.SIGSTOP)
        no_kernel_locks(monkeypatch)
        mine = Lock(tmp_path / ".lock", "job x")
        mine.acquire()
        process.send_signal(signal.SIGCONT)
        told = process.stderr.read()
    assert f"job x was taken over by process {os.getpid()}" in told
    mine.check()
    mine.release()


def test_a_job_that_was_taken_over_is_not_written_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunFolder(tmp_path / "runs" / "x")

    def work() -> None:
        with JobShards(run, JOB, [RESPONSES]) as shards:
            shards.append(response(1))
            write_lease_of_another_machine(run.shards("responses", JOB))
            monkeypatch.setattr(hold, "BEAT", 1e-6)
            shards.append(response(2))

    with pytest.raises(JobHeldError, match="was taken over"):
        work()
    assert not list(run.shards("responses", JOB).glob("part-*"))
    assert len(JobShards(run, JOB, [RESPONSES]).read_journal()) == 1


def test_a_lease_whose_writer_was_killed_before_it_wrote_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / ".lease").touch()
    lock = Lock(tmp_path / ".lock", "job x")
    lock.acquire()
    assert is_locked(tmp_path / ".lock")
    lock.release()
    assert [file.name for file in tmp_path.iterdir() if "unwritten" in file.name] == []


def test_a_lease_that_is_written_a_moment_after_it_was_created_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a process on another machine is between the two."""
    monkeypatch.setattr(hold, "SIGNED_WITHIN", 0.5)
    with holder(tmp_path / "other") as other:
        written = (tmp_path / "other" / ".lease").read_bytes()
        other.kill()
    written = written.replace(socket.gethostname().encode(), b"elsewhere")
    marker = tmp_path / ".lease"
    marker.touch()

    def write() -> None:
        for _ in range(20):
            time.sleep(0.1)
            marker.write_bytes(written)

    writer = Thread(target=write)
    writer.start()
    with pytest.raises(JobHeldError, match="elsewhere"):
        Lock(tmp_path / ".lock", "job x").acquire()
    writer.join()


def test_a_process_that_has_not_signed_yet_is_known_by_its_lease(tmp_path: Path) -> None:
    """Two processes that start in the same second: the first has the lock, and its name is not written yet."""
    with holder(tmp_path) as process:
        (tmp_path / ".holder").write_text(
            "process 1 on another-machine since 2026-01-01 00:00:00 UTC", encoding="utf-8"
        )
        with pytest.raises(JobHeldError, match=f"held by process {process.pid} on {socket.gethostname()}"):
            Lock(tmp_path / ".lock", "job x").acquire()
        process.send_signal(signal.SIGSTOP)  # else it sees that its signature is gone, and gives up
        (tmp_path / ".holder").unlink()
        with pytest.raises(JobHeldError, match=f"held by process {process.pid} on {socket.gethostname()}"):
            Lock(tmp_path / ".lock", "job x").acquire()


@pytest.mark.parametrize("fault", ["ENOLCK", "EOPNOTSUPP"])
def test_a_whole_run_where_the_file_system_cannot_lock_files(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NFS without lockd and Samba: all texts were asked for, and then every try ended in a traceback."""
    number = getattr(errno, fault)

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(_unix.fcntl, "flock", refuse)
    monkeypatch.setenv("POLYCULTURE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(servers, "answer_text", say)
    asked = []
    with StubServer(latency=0) as stub:
        file = write_experiment(tmp_path, stub.url, n=2)
        for command in (["run", file], ["run", file], ["sql", file, "SELECT count(*) FROM responses"]):
            done = polyculture(*command, cwd=tmp_path, report=True)
            assert done.returncode == 0, done.stderr
            assert "Traceback" not in done.stderr
            asked.append(len(stub.bodies))
    assert asked == [asked[0]] * 3
    assert not list(tmp_path.glob("runs/*/.*.lease"))
