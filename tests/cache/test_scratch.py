"""Temporary folders of killed processes are removed; those of living ones, and of others, are not."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from polyculture.cache.errors import JobHeldError
from polyculture.cache.files import scratch_folder
from polyculture.cache.locks import Lock

ROOT = Path(__file__).parents[2]
KEPT = """
import tempfile, time
from polyculture.cache.files import scratch_folder
with scratch_folder("test") as folder:
    (folder / "spill").mkdir()
    (folder / "spill" / "data").write_text("x")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def start() -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen([sys.executable, "-c", KEPT], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    return process, Path(process.stdout.readline().strip())


def test_a_killed_process_leaves_nothing_for_long(tmp_path: Path) -> None:
    killed, abandoned = start()
    living, used = start()
    others = [tmp_path / "polyculture-test-without-a-lock", tmp_path / "polyculture-other-1", tmp_path / "notes"]
    for other in others:
        other.mkdir()
        (other / "data").write_text("not ours")
    link = tmp_path / "polyculture-test-link"
    link.symlink_to(used)
    try:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert (abandoned / "spill" / "data").exists()
        with scratch_folder("test") as own:
            assert not abandoned.exists()
            assert (used / "spill" / "data").exists()
            assert all((other / "data").exists() for other in others)
            assert link.is_symlink()
        assert not own.exists()
    finally:
        living.kill()
        living.communicate()
        killed.communicate()


@pytest.mark.parametrize("held", [False, True])
def test_a_folder_that_is_swept_before_it_is_locked_is_made_anew(held: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may sweep it between its lock's file and its lock: that process has the lock, or is done."""
    acquire, swept = Lock.acquire, list[Path]()

    def late(lock: Lock, *, wait: bool = False) -> None:
        folder = Path(lock._kernel.lock_file).parent
        if not swept and held:
            swept.append(folder)
            raise JobHeldError("is held", where=folder)
        acquire(lock, wait=wait)
        if not swept:
            swept.append(folder)
            shutil.rmtree(folder)

    monkeypatch.setattr(Lock, "acquire", late)
    with scratch_folder("test") as folder:
        assert folder.is_dir()
        assert folder not in swept
    assert len(swept) == 1
    assert not folder.exists()
