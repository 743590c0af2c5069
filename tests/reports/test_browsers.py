"""Where the browser of the report's tests comes from, and that nobody misses what was skipped for lack of one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browsers import NAMES, NO_BROWSER
from tests.test_house import ROOT

pytestmark = pytest.mark.full  # of the tests' own tools, not of the program


def run(*words: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Python on a machine that has on its search path what stands in `path`, and no way to download a browser."""
    bare = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST")}
    nowhere = {"PLAYWRIGHT_BROWSERS_PATH": str(path / "none"), "PLAYWRIGHT_DOWNLOAD_HOST": "http://127.0.0.1:9"}
    environment = {**bare, **nowhere, "PATH": str(path), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def write_script(file: Path, *lines: str) -> None:
    file.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    file.chmod(0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="Debian's package is asked for by root alone")
def test_debian_is_asked_where_playwright_can_download_nothing(tmp_path: Path) -> None:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(NO_BROWSER)
    write_script(tmp_path / "package", f'exec {found} "$@"')
    moves = f"{shutil.which('cp')} {tmp_path}/package {tmp_path}/chromium"
    write_script(tmp_path / "apt-get", f'case "$1" in install) {moves} ;; esac')
    installed = run("-m", "tests.browsers", path=tmp_path)
    told = installed.stderr.splitlines()
    assert ["playwright install" in told[0], "apt-get update" in told[1], "apt-get install" in told[2]] == [True] * 3
    assert "done" not in told[0]
    assert len(told) == 3
    assert run("-m", "tests.browsers", path=tmp_path).stderr == ""


def test_a_machine_without_any_is_told_so(tmp_path: Path) -> None:
    assert NO_BROWSER in run("-m", "tests.browsers", path=tmp_path).stderr.splitlines()[-1]


def test_the_last_line_counts_what_was_skipped_for_lack_of_a_browser(tmp_path: Path) -> None:
    """It was one line at the top, which a thousand lines pushed out of sight."""
    words = ("-m", "pytest", "tests/reports/test_browser.py", "-q", "-k", "entity_leads or narrow")
    done = run(*words, path=tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "2 tests were skipped for lack of a browser: install chromium"
