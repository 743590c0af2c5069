"""Builds in several processes, killed and resumed, give the snapshot of an uninterrupted build."""

from __future__ import annotations

import gzip
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import orjson
import psutil
import pytest
from filelock import FileLock

from polyculture.cache.errors import JobHeldError, SnapshotError, StoreError
from polyculture.cache.files import claim_folder
from polyculture.link.dumps.build import BuildReport, BuildSettings, build_index
from polyculture.link.dumps.dump import DumpReader
from polyculture.link.index.draft import answers_folder, building_folder
from polyculture.link.index.snapshot import open_snapshot
from tests.link_world import Entity, item
from tests.logs import logged
from tests.polyculture.test_command_line import polyculture

LANGUAGES = ["en", "ja"]
ITEMS = 1_200
BLOCK = 40_000  # bytes a chunk, so that a small dump has many

# Builds as the command does, with small chunks and a checkpoint after each.
PROGRAM = f"""
import sys
from pathlib import Path
from polyculture.link.dumps import unpack
from polyculture.link.dumps.build import BuildSettings, build_index
unpack.BLOCK = {BLOCK}
told = lambda *_: print("a checkpoint", flush=True)
settings = BuildSettings(workers=int(sys.argv[3]), seal_every=0.0, progress=told)
build_index(Path(sys.argv[1]), Path(sys.argv[2]), {LANGUAGES}, settings)
"""


def entities(count: int = ITEMS) -> list[Entity]:
    some = [
        item(
            f"Q{number}",
            {"en": f"Thing {number % 700}", "ja": f"もの{number}", "pl": f"rzecz {number}"},
            {"en": [f"the {number}", f"Thing {number % 700}"]},
            sitelinks=number % 5,
            P31=f"Q{1 + number % 40}",
            P279=[f"Q{1 + number % 9}", f"Q{1 + number % 7}"],
        )
        for number in range(1, count + 1)
    ]
    some[5]["redirects"] = {"from": f"Q{count + 7}", "to": "Q6"}
    some[9]["claims"]["P31"] += item("Q1", P31=f"Q{count + 7}")["claims"]["P31"]
    return some


def write_dump(path: Path, some: Iterable[Entity], broken: Iterable[int] = ()) -> Path:
    """A compressed dump with truncated lines at these line numbers."""
    lines = [b"[", *(orjson.dumps(entity) + b"," for entity in some)]
    lines[-1] = lines[-1].removesuffix(b",")
    for number in broken:
        lines[number - 1] = lines[number - 1][:-9]
    path.write_bytes(gzip.compress(b"\n".join([*lines, b"]\n"]), 1))
    return path


def content(snapshot: Path) -> dict[str, Any]:
    """All rows of all tables, in their order."""
    names = ("items", "descriptions", "names", "claims", "redirects", "kinds", "meta")
    with duckdb.connect(str(snapshot), read_only=True) as connection:
        return {name: connection.table(name).fetchall() for name in names}


def start(dump: Path, out: Path, workers: int = 2) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(dump), str(out), str(workers)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def kill_after(build: subprocess.Popen[str], chunks: int) -> None:
    """Kills the build with its processes, as it has read so many chunks: all but the last are in a checkpoint."""
    assert build.stdout
    for _ in range(chunks):
        assert build.stdout.readline() == "a checkpoint\n", build.communicate()
    build.send_signal(signal.SIGKILL)
    build.communicate()


def interrupted(dump: Path, out: Path, chunks: int) -> None:
    """A build in this process that ends after so many chunks; all but the last are in a checkpoint."""
    read: list[int] = []

    def count(position: int, _size: int) -> None:
        read.append(position)
        if len(read) == chunks:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index(dump, out, LANGUAGES, BuildSettings(workers=0, seal_every=0.0, progress=count))


def resumed(dump: Path, out: Path, languages: Sequence[str] = LANGUAGES) -> tuple[BuildReport, list[str]]:
    """The same build once more, and what it tells."""
    with logged() as said:
        return build_index(dump, out, languages, BuildSettings(workers=0)), said


def stop(*_arguments: Any) -> None:
    raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyculture.link.dumps.unpack.BLOCK", BLOCK)


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dump(tmp_path_factory.mktemp("dump") / "dump.json.gz", entities(), broken=[7, 300, 777, 1_200])


@pytest.fixture(scope="module")
def in_one_go(dump: Path, tmp_path_factory: pytest.TempPathFactory) -> BuildReport:
    return build_index(dump, tmp_path_factory.mktemp("whole") / "index.duckdb", LANGUAGES)


def test_several_processes_write_the_same_snapshot(dump: Path, in_one_go: BuildReport, tmp_path: Path) -> None:
    seen: list[int] = []
    settings = BuildSettings(workers=2, progress=lambda read, _size: seen.append(read))
    report = build_index(dump, tmp_path / "index.duckdb", LANGUAGES, settings)
    assert content(report.snapshot.path) == content(in_one_go.snapshot.path)
    assert report.counts == in_one_go.counts
    assert [line for line, _ in report.counts.broken_lines] == [7, 300, 777, 1_200]
    assert report.counts.items == ITEMS - 4
    assert len(seen) > 10
    assert [path.name for path in tmp_path.iterdir()] == ["index.duckdb"]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_killed_build_resumes(dump: Path, in_one_go: BuildReport, tmp_path: Path, workers: int) -> None:
    out = tmp_path / "index.duckdb"
    for _ in range(2):
        kill_after(start(dump, out, workers), 5)
        assert not out.exists()
    (told,) = resumed(dump, out)[1]
    assert (
        int(told.split("line ")[1].partition(",")[0]) > 8 * BLOCK // 1_000
    )  # of both: no item has more than 1,000 bytes
    assert content(out) == content(in_one_go.snapshot.path)
    assert [path.name for path in tmp_path.iterdir()] == ["index.duckdb"]


def test_a_build_that_is_killed_while_it_tidies_up_is_done(
    dump: Path, in_one_go: BuildReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The snapshot is in its place: the dump is not read again."""
    out = tmp_path / "index.duckdb"
    with monkeypatch.context() as patch:
        patch.setattr("polyculture.link.index.draft.remove_folder", stop)
        with pytest.raises(KeyboardInterrupt):
            build_index(dump, out, LANGUAGES)
    assert "was read already" in resumed(dump, out)[1][0]
    assert content(out) == content(in_one_go.snapshot.path)
    assert [path.name for path in tmp_path.iterdir()] == ["index.duckdb"]


@pytest.mark.parametrize("kind", ["build", "pull"])
def test_a_command_killed_as_its_snapshot_is_there_ends_well_the_next_time(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Another file in the snapshot's place is not taken for it."""
    out = tmp_path / "index.duckdb"
    folder = building_folder(out)
    with monkeypatch.context() as patch:
        patch.setattr("polyculture.link.index.draft.remove_folder", stop)
        with pytest.raises(KeyboardInterrupt):
            build_index(dump, out, LANGUAGES)
    command = (
        ("build", dump)
        if kind == "build"
        else ("pull", "--contact", "me@example.org", "--endpoint", "http://127.0.0.1:9")
    )
    if kind == "pull":
        folder = folder.rename(answers_folder(out))
    aside = out.rename(tmp_path / "aside.duckdb")
    out.write_bytes(b"of somebody else")
    refused = polyculture("wikidata", *command, "-o", out, cwd=tmp_path)
    assert (refused.returncode, folder.exists()) == (2, True)
    assert "is there already" in refused.stderr
    aside.replace(out)
    resumed = polyculture("wikidata", *command, "-o", out, cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert "is whole" in resumed.stderr + resumed.stdout
    assert open_snapshot(out).languages == set(LANGUAGES)
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.parametrize(("kills", "workers"), [(3, 0), pytest.param(8, 2, marks=pytest.mark.full)])
def test_it_may_be_killed_at_any_moment(
    dump: Path, in_one_go: BuildReport, tmp_path: Path, kills: int, workers: int
) -> None:
    out, moment = tmp_path / "index.duckdb", random.Random(1)
    started = time.monotonic()
    start(dump, tmp_path / "other.duckdb", workers).communicate()
    usual = time.monotonic() - started
    for _ in range(kills):
        build = start(dump, out, workers)
        time.sleep(moment.uniform(0.2, 1.0) * usual)
        build.kill()
        build.communicate()
    if not out.exists():
        resumed(dump, out)
    assert content(out) == content(in_one_go.snapshot.path)


def test_a_build_killed_while_it_sorts_reads_nothing_again(
    dump: Path, in_one_go: BuildReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "index.duckdb"
    with monkeypatch.context() as patch:
        patch.setattr("polyculture.link.dumps.build.assemble", stop)
        with pytest.raises(KeyboardInterrupt):
            build_index(dump, out, LANGUAGES)
    assert resumed(dump, out)[1] == [f"{dump}: was read already; sorting its items"]
    assert content(out) == content(in_one_go.snapshot.path)


def test_a_changed_dump_is_read_from_the_start(tmp_path: Path) -> None:
    dump, out = write_dump(tmp_path / "dump.json.gz", entities(900)), tmp_path / "index.duckdb"
    interrupted(dump, out, 3)
    write_dump(dump, [item("Q8", "Another world"), *entities(900)[:800]])
    report, said = resumed(dump, out)
    assert "has changed since the build began" in said[0]
    again = build_index(dump, tmp_path / "again.duckdb", LANGUAGES)
    assert content(out) == content(again.snapshot.path)
    assert report.counts.items == 801


def test_a_truncated_dump_that_is_completed_is_read_on(dump: Path, in_one_go: BuildReport, tmp_path: Path) -> None:
    out, part = tmp_path / "index.duckdb", tmp_path / dump.name
    part.write_bytes(dump.read_bytes()[: dump.stat().st_size // 2])
    with pytest.raises(SnapshotError, match="ends too early"):
        build_index(part, out, LANGUAGES, BuildSettings(workers=0, seal_every=0.0))
    assert not out.exists()
    part.write_bytes(dump.read_bytes())
    assert "resuming at line" in resumed(part, out)[1][0]
    assert content(out)["claims"] == content(in_one_go.snapshot.path)["claims"]
    assert {path.name for path in tmp_path.iterdir()} == {out.name, part.name}


def test_other_languages_begin_anew(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "index.duckdb"
    interrupted(dump, out, 3)
    report, said = resumed(dump, out, ["en"])
    assert said == []
    assert report.snapshot.languages == {"en"}
    assert content(out)["names"] == content(build_index(dump, tmp_path / "x.duckdb", ["en"]).snapshot.path)["names"]


@pytest.mark.parametrize("end", [b"]\n", b"]", b"]\n\n"])
def test_a_build_killed_after_the_last_line_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes
) -> None:
    lines = b",\n".join(orjson.dumps(entity) for entity in entities(20))
    (tmp_path / "dump.json").write_bytes(b"[\n" + lines + b"\n" + end)

    settings = BuildSettings(workers=0, seal_every=0.0)
    with monkeypatch.context() as patch:
        patch.setattr(DumpReader, "sha256", property(stop))  # after the last line's checkpoint, before the end's
        with pytest.raises(KeyboardInterrupt):
            build_index(tmp_path / "dump.json", tmp_path / "index.duckdb", LANGUAGES, settings)
    report = build_index(tmp_path / "dump.json", tmp_path / "index.duckdb", LANGUAGES)
    assert (report.counts.items, report.counts.broken) == (20, 0)


def test_a_build_by_another_process_is_refused(dump: Path, tmp_path: Path) -> None:
    folder = tmp_path / "index.duckdb.building"
    claim_folder(folder)
    with FileLock(folder / ".lock"), pytest.raises(JobHeldError, match="another process is making"):
        build_index(dump, tmp_path / "index.duckdb", LANGUAGES)


def test_a_killed_worker_is_reported_and_the_build_resumes(dump: Path, in_one_go: BuildReport, tmp_path: Path) -> None:
    killed = list[int]()

    def kill_one(_read: int, _size: int) -> None:
        if killed:  # it may be a zombie by now, or the others gone, too
            return
        workers = [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]
        workers[0].kill()
        killed.append(workers[0].pid)

    settings = BuildSettings(workers=2, seal_every=0.0, progress=kill_one)
    with pytest.raises(StoreError, match="was killed"):
        build_index(dump, tmp_path / "index.duckdb", LANGUAGES, settings)
    build_index(dump, tmp_path / "index.duckdb", LANGUAGES)
    assert content(tmp_path / "index.duckdb") == content(in_one_go.snapshot.path)


def test_an_old_snapshot_stands_until_the_new_one_is_whole(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "index.duckdb"
    before = build_index(write_dump(tmp_path / "small.json.gz", entities(20)), out, LANGUAGES).snapshot
    interrupted(dump, out, 3)
    assert open_snapshot(out) == before
