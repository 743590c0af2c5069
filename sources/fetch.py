"""Fetches a data set from its publisher: one commit of a git repository.

A commit's hash covers every byte of every file (git checks it while it receives them), so the pinned commit is also the
checksum. `SHA256SUMS` records the received files, which reveals later changes on this machine.

git, kept from everything but receiving one commit: no configuration of anybody, no hooks, https and folders only.

Git's arguments come from a rules file or a command line, and its input from an untrusted server. Options:
https://git-scm.com/docs/git-config (protocol.allow, core.hooksPath), https://git-scm.com/docs/git (environment).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from polyculture.cache.errors import DataSetError
from polyculture.cache.files import arriving_folder, cache_folder, exchange, is_folder_name, store_faults
from polyculture.cache.identity import file_sha256
from polyculture.cache.text.sanitize import replace_control_chars
from polyculture.sources.places import Source

TIMEOUT = 600  # seconds for one step of git
_SAFE = (
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.file.allow=always",
    "core.hooksPath=/dev/null",
    "core.symlinks=false",
    "core.fsmonitor=false",
    "credential.helper=",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
)
_KEPT = ("GIT_SSL_CAINFO", "GIT_SSL_CAPATH")  # which certificates are trusted on this machine


def git_address(text: str) -> str:
    """An address that git may read: an https URL without a password, or an existing folder, as an absolute path.

    Raises `DataSetError` for anything else: other protocols run commands, and what begins with '-' is an option.
    """
    path = Path(text.removeprefix("file://"))
    if not text.startswith("-") and path.is_dir():
        return str(path.resolve())
    try:
        address = urlsplit(text)
        _ = address.port  # raises for a port that is none
    except ValueError:
        address = urlsplit("")
    if address.username or address.password:
        remedy = "Remove it, or clone the repository yourself and name that folder with --repository."
        raise DataSetError("the repository's address holds a user or a password", remedy=remedy)
    if address.scheme != "https" or not address.hostname or not re.fullmatch(r"[!-~]+", text):
        remedy = "Give an address that begins with https://, or a folder that exists."
        raise DataSetError(f"{replace_control_chars(text)!r} is no address of a repository", remedy=remedy)
    return text


def receive(origin: str, commit: str, folder: Path, paths: Sequence[str] = ()) -> None:
    """Puts the files of one commit of `origin`, an address of `git_address`, into `folder`, which is empty.

    Of `paths`, folders and files, only those that the commit has; without any, all files. Symbolic links arrive as
    plain files. Raises `DataSetError` where git is not installed, does not get the commit, or finds none of the paths.
    """
    _git(["init", "--quiet", "--template=", "--", str(folder)], origin)
    within = ["-C", str(folder)]
    _git([*within, "fetch", "--quiet", "--depth", "1", "--no-tags", "--no-recurse-submodules", "--", origin, commit],
         origin)  # fmt: skip
    if paths:
        there = _git([*within, "ls-tree", "-z", "--name-only", commit, "--", *paths], origin).split("\0")
        kept = [path for path in paths if path in there]
        if not kept:
            what = f"commit {commit[:12]} holds none of {', '.join(paths)}"
            raise DataSetError(what, where=origin, remedy="Name another commit with --commit.")
        _git(["--literal-pathspecs", *within, "checkout", "--quiet", commit, "--", *kept], origin)
    else:
        _git([*within, "checkout", "--quiet", "--no-recurse-submodules", "--detach", commit, "--"], origin)
    shutil.rmtree(folder / ".git")


def _environment() -> dict[str, str]:
    """The environment without variables that steer git: they could name a command, configuration or repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    return {
        **kept,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
    }


def _git(arguments: list[str], origin: str) -> str:
    """What git writes. Raises `DataSetError` with its last line where it fails."""
    git = shutil.which("git")
    if git is None:
        raise DataSetError("git is not installed, and data sets are fetched with it", remedy="Install git.")
    command = [git, *(part for setting in _SAFE for part in ("-c", setting)), *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - no shell, addresses checked, "--" before whatever somebody else wrote
            command, check=True, capture_output=True, stdin=subprocess.DEVNULL, env=_environment(),
            encoding="utf-8", errors="replace", timeout=TIMEOUT,
        )  # fmt: skip
    except subprocess.CalledProcessError as fault:
        said = (fault.stderr or "").strip().splitlines() or [f"git ended with {fault.returncode}"]
        remedy = "Check the connection and the commit, or name a folder that you have with --folder."
        raise DataSetError(
            f"cannot be fetched: {replace_control_chars(said[-1])}", where=origin, remedy=remedy
        ) from fault
    except subprocess.TimeoutExpired as fault:
        remedy = "Try again, or name a folder that you have with --folder."
        raise DataSetError(f"no answer within {TIMEOUT} s", where=origin, remedy=remedy) from fault
    return done.stdout


SUMS = "SHA256SUMS"
SOURCE = "SOURCE"
_ORIGIN = re.compile(r"\S.* ([0-9a-f]{40})\n")
_SUM = re.compile(r"([0-9a-f]{64})  (.+)")


def fetch(source: Source, folder: Path, commit: str | None = None, repository: str | None = None) -> str:
    """Puts the data set's files at the pinned commit, or at `commit`, into `folder`; returns the commit.

    `folder` is whole or absent. One that was fetched before is replaced; any other that is not empty is left as it is.
    Raises `DataSetError` for such a folder, where nothing is published, no commit is known, the address is neither
    https nor a folder, the repository cannot be reached or does not hold the commit, or where git is not installed.
    """
    named, wanted = repository or source.repository, commit or source.commit
    if named is None:
        if source.published_at:
            remedy = "Download it there, and name the folder of its files with --folder."
            raise DataSetError(f"{source.title} is not fetched by git", where=source.published_at, remedy=remedy)
        raise DataSetError(f"{source.title} is published nowhere", remedy="Name its folder with --folder.")
    origin = git_address(named)
    if wanted is None or not re.fullmatch(r"[0-9a-f]{40}", wanted):
        remedy = "Name the commit that you want with --commit, all 40 digits."
        raise DataSetError(f"no commit of {source.title} is pinned" if wanted is None else f"{wanted!r} is no commit",
                           where=origin, remedy=remedy)  # fmt: skip
    _check_replaceable(folder)
    with store_faults(folder), arriving_folder(folder) as passing:
        arriving = passing / "new"
        receive(origin, wanted, arriving, source.paths)
        (arriving / SOURCE).write_text(f"{origin} {wanted}\n", encoding="utf-8")
        (arriving / SUMS).write_text("".join(_sums(arriving)), encoding="utf-8")
        if folder.exists():
            _check_replaceable(folder)
            exchange(folder, arriving)  # the former files are removed with `passing`
        else:
            arriving.rename(folder)
    return wanted


def check_as_received(folder: Path) -> None:
    """Raises `DataSetError` where files were changed or removed since they were fetched. Other folders are
    not checked. Data sets have a few megabytes: all are read, in milliseconds."""
    if not (folder / SUMS).exists():
        return
    told = _told(folder)
    changed = [name for name, digest in told.items() if not _is_file(folder, name, digest)]
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
    found = _ORIGIN.fullmatch(source.read_text(encoding="utf-8", errors="replace")) if source.is_file() else None
    return found[1] if found else None


def _check_replaceable(folder: Path) -> None:
    """Raises `DataSetError` unless all that is in `folder` was fetched: our `SOURCE` and `SHA256SUMS` are the marker.

    They agree with each other, and every file is one of theirs. Files that were changed since are replaced.
    """
    if not folder.exists() and not folder.is_symlink():
        return
    remedy = "Move it away, or name another folder with --folder; nothing in it was touched."
    if folder.is_symlink() or not folder.is_dir():
        raise DataSetError("is there, and is no folder that was fetched", where=folder, remedy=remedy)
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or path.is_file()}
    if not there and not any(folder.iterdir()):
        return
    told = _told(folder) if (folder / SUMS).is_file() else {}
    if fetched_commit(folder) is None or SOURCE not in told or not _is_file(folder, SOURCE, told[SOURCE]):
        raise DataSetError("holds files that `data fetch` did not put there", where=folder, remedy=remedy)
    foreign = sorted(there - {*told, SUMS})
    if foreign:
        raise DataSetError(f"holds {foreign[0]!r}, which was not fetched", where=folder, remedy=remedy)


def _told(folder: Path) -> dict[str, str]:
    """Names and digests of the files as they were received."""
    lines = (folder / SUMS).read_text(encoding="utf-8", errors="replace").split("\n")
    found = [_SUM.fullmatch(line) for line in lines if line]
    if not all(found):
        remedy = f"Delete {SUMS} there if the folder was not fetched."
        raise DataSetError(f"its {SUMS} was not written by `polyculture data fetch`", where=folder, remedy=remedy)
    return {match[2]: match[1] for match in found if match}


def _is_file(folder: Path, name: str, digest: str) -> bool:
    """Is the file there, within the folder, with this digest?"""
    path = folder / name
    within = path.resolve().is_relative_to(folder.resolve())
    return within and path.is_file() and file_sha256(path) == digest


def _sums(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield f"{file_sha256(path)}  {path.relative_to(folder).as_posix()}\n"


def data_folder(name: str) -> Path:
    """Where `polyculture data fetch` puts a data set: in the user's cache folder.

    Raises `DataSetError` where `name`, which a rules file says, cannot be a folder's.
    """
    if not is_folder_name(name):
        remedy = "Give it one of letters, digits, '.', '_' and '-'."
        raise DataSetError(f"{name!r} is no name for a data set", remedy=remedy)
    return cache_folder() / "data" / name
