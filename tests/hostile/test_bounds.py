"""Time and memory: no service that is asked can hold a run, or fill the memory of the machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import WikidataError
from polyculture.link.api.client import ApiClient, ApiSettings
from polyculture.link.api.kept import kept_answers
from polyculture.link.api.sparql import SparqlClient, SparqlSettings
from tests.hostile.fault_server import FaultServer
from tests.hostile.modes import LARGE, MODES, SLOW
from tests.hostile.test_faults import PROMPTS, rows, write
from tests.polyculture.test_command_line import polyculture
from tests.quick_start import begin

MEGABYTES = 150.0  # that answers without end may take, four at once: each is read up to 16
RETURNED = [*SLOW, *LARGE]


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", RETURNED)
def test_the_wikidata_api_is_left_within_moments(server: FaultServer, name: str) -> None:
    server.begin(MODES[name])
    settings = ApiSettings(
        "you@example.org",
        f"{server.url}/w/api.php",
        requests_per_minute=1e6,
        deadline=0.05,  # passed in each of eight attempts
        megabytes=0.25,
        sleep=lambda _: None,
    )
    started = time.monotonic()
    with ApiClient(settings) as client, pytest.raises(WikidataError):
        client.search("en", "ramen")
    assert time.monotonic() - started < 30
    assert len(server.asked) <= 60


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", RETURNED)
def test_a_sparql_endpoint_is_left_within_moments(server: FaultServer, name: str, tmp_path: Path) -> None:
    server.begin(MODES[name])
    settings = SparqlSettings(
        "you@example.org",
        f"{server.url}/sparql",
        requests_per_minute=1e6,
        deadline=0.05,
        megabytes=0.25,
        sleep=lambda _: None,
    )
    started = time.monotonic()
    with (
        kept_answers(tmp_path / "out.duckdb", {}, ["en"], read_catalog()) as kept,
        SparqlClient(settings, kept) as client,
        pytest.raises(WikidataError),
    ):
        list(client.pairs("below", [5]))
    assert time.monotonic() - started < 30


def run_measured(folder: Path, told: Path) -> None:
    """The command line, with the bounds as they are; tells the kilobytes by which its memory grew."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # else the peak is that of the process before it
    before = memory("VmRSS")
    polyculture("run", "--only", "generate", "exp.toml", cwd=folder)
    told.write_text(str(memory("VmHWM") - before), encoding="utf-8")


def memory(name: str) -> int:
    """A number of kilobytes that the system tells of this process."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{name}:"))


def growth(folder: Path, server: FaultServer) -> float:
    """By how many megabytes the memory of a run of the command line grows."""
    text = write(folder, server).read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not line.startswith("deadline")]
    (folder / "exp.toml").write_text("\n".join(kept), encoding="utf-8")
    process = begin(run_measured, folder, folder / "told")
    process.join()
    return int((folder / "told").read_text(encoding="utf-8")) / 1024


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="this system does not tell the peak of a process"
)
@pytest.mark.timeout(300)
def test_answers_without_end_take_little_memory(tmp_path: Path, server: FaultServer) -> None:
    """A body of 800 MB once took 2.9 GB."""
    found = {}
    for name in ("an honest answer", "a body without a length", "a gzip bomb"):
        server.begin(MODES[name])
        (tmp_path / name).mkdir()
        found[name] = growth(tmp_path / name, server)
        assert len(rows(tmp_path / name)) == PROMPTS
    print(found)
    honest = found.pop("an honest answer")
    assert honest > 0
    assert max(found.values()) < honest + MEGABYTES
