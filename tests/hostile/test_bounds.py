"""Time and memory: no service that is asked can hold a run, or fill the memory of the machine."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from polyculture.cache.errors import WikidataError
from polyculture.link.api.client import ApiClient, ApiSettings
from polyculture.link.pull.client import SparqlClient, SparqlSettings
from polyculture.link.pull.client import TooLargeError as QueryTooLargeError
from tests.hostile.fault_server import FaultServer
from tests.hostile.modes import LARGE, MODES, SLOW
from tests.hostile.test_faults import PROMPTS, rows, write
from tests.polyculture.test_command_line import ROOT

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
def test_a_sparql_endpoint_is_left_within_moments(server: FaultServer, name: str) -> None:
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
    with SparqlClient(settings) as client, pytest.raises((WikidataError, QueryTooLargeError)):
        client.query("SELECT * {}")
    assert time.monotonic() - started < 30


def peak(folder: Path, server: FaultServer) -> float:
    """The most memory, in megabytes, that a run of the command line had, with the options as they are."""
    text = write(folder, server).read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not line.startswith("deadline")]
    (folder / "exp.toml").write_text("\n".join(kept), encoding="utf-8")
    command = [sys.executable, "-m", "polyculture", "run", "--only", "generate", "exp.toml"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL, env=environment)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_maxrss / 1024


@pytest.mark.timeout(300)
def test_answers_without_end_take_little_memory(tmp_path: Path, server: FaultServer) -> None:
    """A body of 800 MB once took 2.9 GB."""
    found = {}
    for name in ("an honest answer", "a body without a length", "a gzip bomb"):
        server.begin(MODES[name])
        (tmp_path / name).mkdir()
        found[name] = peak(tmp_path / name, server)
        assert len(rows(tmp_path / name)) == PROMPTS
    print(found)
    honest = found.pop("an honest answer")
    assert max(found.values()) < honest + MEGABYTES
