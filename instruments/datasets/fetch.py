"""Fetches a data set from its publisher: one commit of a git repository.

A commit's hash covers every byte of every file (git checks it while it receives them), so the pinned commit is also the
checksum. What was received is written down in `SHA256SUMS`, so that a later change on this machine is found, too.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.cache.files import store_faults
from polyculture.cache.identity import file_sha256
from polyculture.instruments.datasets.rules import DatasetRules

SUMS = "SHA256SUMS"
SOURCE = "SOURCE"
TIMEOUT = 600  # seconds for one step of git


def fetch(rules: DatasetRules, folder: Path, commit: str | None = None, repository: str | None = None) -> str:
    """Puts the data set's files at the pinned commit, or at `commit`, into `folder`; returns the commit.

    `folder` is whole or absent. Raises `DataSetError` where nothing is published, no commit is known, the repository
    cannot be reached or does not hold the commit, or where git is not installed.
    """
    origin, wanted = repository or rules.repository, commit or rules.commit
    if origin is None:
        raise DataSetError(f"{rules.title} is published nowhere", remedy="Name its folder with --folder.")
    if wanted is None or not re.fullmatch(r"[0-9a-f]{40}", wanted):
        remedy = "Name the commit that you want with --commit, all 40 digits."
        raise DataSetError(f"no commit of {rules.title} is pinned" if wanted is None else f"{wanted!r} is no commit",
                           where=origin, remedy=remedy)  # fmt: skip
    arriving = folder.with_name(f".{folder.name}.arriving")
    with store_faults(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(arriving, ignore_errors=True)
        try:
            _receive(origin, wanted, arriving)
            (arriving / SOURCE).write_text(f"{origin} {wanted}\n", encoding="utf-8")
            (arriving / SUMS).write_text("".join(_sums(arriving)), encoding="utf-8")
            if folder.exists():
                shutil.rmtree(folder)
            arriving.rename(folder)
        finally:
            shutil.rmtree(arriving, ignore_errors=True)
    return wanted


def check_as_received(folder: Path) -> None:
    """Raises `DataSetError` where files were changed or removed since they were fetched. Other folders are
    not checked. Data sets have a few megabytes: all are read, in milliseconds."""
    sums = folder / SUMS
    if not sums.exists():
        return
    told = [line.split("  ", 1) for line in sums.read_text(encoding="utf-8").splitlines()]
    changed = [name for digest, name in told if not (folder / name).exists() or file_sha256(folder / name) != digest]
    if changed:
        raise DataSetError(
            f"{len(changed)} of {len(told)} files have changed since they were fetched: {', '.join(changed[:3])}"
            + (", ..." if len(changed) > 3 else ""),
            where=folder,
            remedy=f"Fetch it again with `polyculture data fetch`, or, if the change is meant, delete {SUMS} there.",
        )


def fetched_commit(folder: Path) -> str | None:
    """The commit that a folder was fetched at; None where it was not."""
    source = folder / SOURCE
    return source.read_text(encoding="utf-8").split()[-1] if source.exists() else None


def _receive(origin: str, commit: str, folder: Path) -> None:
    _git(["init", "--quiet", str(folder)], origin)
    _git(["-C", str(folder), "fetch", "--quiet", "--depth", "1", origin, commit], origin)
    _git(["-C", str(folder), "-c", "core.symlinks=false", "checkout", "--quiet", "--detach", commit], origin)
    shutil.rmtree(folder / ".git")


def _git(arguments: list[str], origin: str) -> None:
    git = shutil.which("git")
    if git is None:
        raise DataSetError("git is not installed, and data sets are fetched with it", remedy="Install git.")
    try:
        subprocess.run([git, *arguments], check=True, capture_output=True, text=True, timeout=TIMEOUT)  # noqa: S603
    except subprocess.CalledProcessError as fault:
        said = (fault.stderr or "").strip().splitlines() or [f"git ended with {fault.returncode}"]
        remedy = "Check the connection and the commit, or name a folder that you have with --folder."
        raise DataSetError(f"cannot be fetched: {said[-1]}", where=origin, remedy=remedy) from fault
    except subprocess.TimeoutExpired as fault:
        remedy = "Try again, or name a folder that you have with --folder."
        raise DataSetError(f"no answer within {TIMEOUT} s", where=origin, remedy=remedy) from fault


def _sums(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield f"{file_sha256(path)}  {path.relative_to(folder).as_posix()}\n"
