"""git, kept from everything but receiving one commit: no configuration of anybody, no hooks, https and folders only.

Git's arguments come from a rules file or a command line, and its input from an untrusted server. Options:
https://git-scm.com/docs/git-config (protocol.allow, core.hooksPath), https://git-scm.com/docs/git (environment).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from polyculture.cache.errors import DataSetError
from polyculture.cache.sanitize import replace_control_chars

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
