"""What people install: a wheel with every file of the rooms under one name, and an editable checkout of that name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests import servers
from tests.servers import StubServer
from tests.test_end_to_end import TEXTS_BY_SCRIPT, write_experiment
from tests.test_house import ROOMS, ROOT

LINKED = tuple(room for room in ROOMS if room != "polyculture")
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
BUILD = ("--no-deps", "--no-index", "--no-build-isolation")
SDIST = "import setuptools.build_meta as backend, sys; print(backend.build_sdist(sys.argv[1]))"


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints, with nothing of the checkout on Python's search path."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True, timeout=550, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def git(*words: str | Path, cwd: Path = ROOT) -> str:
    return run("git", "-c", "safe.directory=*", *words, cwd=cwd)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working tree without what git ignores: what an earlier build left behind must not be built again."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: nobody can say which files belong to it")
    folder = tmp_path_factory.mktemp("source")
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_symlink() or (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    run(*PIP, "wheel", *BUILD, "--wheel-dir", out, source, cwd=out)
    (built,) = out.glob("*.whl")
    return built


def environment(folder: Path) -> Path:
    """The Python of a new environment that has what the tests' own has installed, but for Polyculture.

    A folder that a `.pth` file names is searched, and the `.pth` files in it are not read: an editable Polyculture in
    the tests' environment stays out of reach.
    """
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    beside = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "beside.pth").write_text("".join(f"{path}\n" for path in sorted(beside)), encoding="utf-8")
    return python


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment in which the wheel is installed."""
    folder = tmp_path_factory.mktemp("installed")
    python = environment(folder)
    run(*PIP, "--python", python, "install", "--no-deps", "--no-index", "--no-compile", wheel, cwd=folder)
    return python


def packaged(source: Path) -> set[str]:
    """The files of the rooms, as they are named in the package."""
    files = (file for room in ROOMS for file in (source / room).rglob("*") if not file.is_symlink() and file.is_file())
    names = (file.relative_to(source).as_posix() for file in files)
    return {name if name.startswith("polyculture/") else f"polyculture/{name}" for name in names}


def owned(names: Iterable[str]) -> set[str]:
    """The files among the names in an archive that are no metadata of the distribution."""
    return {name for name in names if ".dist-info/" not in name and not name.endswith("/")}


def test_the_wheel_holds_every_file_of_the_rooms_under_one_name(wheel: Path, source: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = owned(archive.namelist())
        links = [entry.filename for entry in archive.infolist() if entry.external_attr >> 28 == 0o12]
    assert names == packaged(source)
    assert {name.split("/")[0] for name in names} == {"polyculture"}
    assert {Path(name).suffix for name in names} >= {
        ".py",
        ".sql",
        ".toml",
        ".tsv",
        ".jinja",
        ".css",
        ".js",
        ".rq",
        ".jsonl",
    }
    assert "polyculture/py.typed" in names
    assert not links


@pytest.mark.full
def test_the_source_distribution_builds_the_same_wheel(source: Path, wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-c", SDIST, tmp_path, cwd=source)
    (packed,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path / "unpacked", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    run(*PIP, "wheel", *BUILD, "--wheel-dir", tmp_path, unpacked, cwd=tmp_path)
    with zipfile.ZipFile(tmp_path / wheel.name) as again, zipfile.ZipFile(wheel) as first:
        assert owned(again.namelist()) == owned(first.namelist())


@pytest.mark.slow
def test_an_installed_wheel_runs(installed: Path, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Path(run(installed, "-c", "import polyculture; print(polyculture.__file__)", cwd=tmp_path).strip())
    assert site.is_relative_to(installed.parents[1])
    command = installed.with_name("polyculture")
    assert run(command, "--version", cwd=tmp_path).split()[-1] == wheel.name.split("-")[1]
    assert "plan" in run(command, "--help", cwd=tmp_path)
    monkeypatch.setattr(servers, "answer_text", lambda _prompt, _seed: TEXTS_BY_SCRIPT["ja"][0])
    with StubServer() as server:
        experiment = write_experiment(tmp_path, server.url, languages=("ja",))
        run(command, "run", experiment, cwd=tmp_path)
    found = run(
        command, "sql", experiment, "SELECT DISTINCT surface FROM mention_trail WHERE qid IS NOT NULL", cwd=tmp_path
    )
    assert "ラーメン" in found
    assert (tmp_path / "runs" / "whole" / "report.html").stat().st_size > 100_000


@pytest.mark.full
def test_an_editable_checkout_has_one_name(source: Path, tmp_path: Path) -> None:
    """From an empty folder: the rooms are imported as parts of the package, and by no other name."""
    python = environment(tmp_path / "env")
    run(*PIP, "--python", python, "install", *BUILD, "--editable", source, cwd=tmp_path)
    (tmp_path / "empty").mkdir()
    for room in LINKED:
        asked = f"import importlib.util as u, polyculture.{room} as room; print(u.find_spec('{room}'), room.__name__)"
        assert run(python, "-c", asked, cwd=tmp_path / "empty").split() == ["None", f"polyculture.{room}"]


def test_a_clone_has_the_links(source: Path, tmp_path: Path) -> None:
    """The rooms stand at the root, and `polyculture/` holds a link to each; git keeps it as one."""
    git("clone", "--quiet", ROOT, tmp_path / "clone")
    for room in LINKED:
        link = tmp_path / "clone" / "polyculture" / room
        assert link.is_symlink()
        assert link.readlink() == Path("..") / room
        assert (link / "__init__.py").is_file()
