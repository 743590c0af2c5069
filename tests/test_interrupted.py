"""Ctrl-C in the middle of a stage: one line, exit code 130, and the same command goes on where it was."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from polyculture.link.api.fill import fill_snapshot
from polyculture.link.api.names import NamedMention
from polyculture.running.linking import api_settings, sparql_settings
from polyculture.running.opening import open_workspace
from tests import servers
from tests.link_world import CLASSES, item
from tests.polyculture.test_command_line import polyculture, start_polyculture
from tests.servers import StubServer
from tests.sparql_server import SparqlServer
from tests.test_nothing_is_lost import DISHES, UNWRITTEN, run_folder, say, tables, write_experiment
from tests.wikidata_server import WikidataServer

LAST_WORDS = "polyculture: stopped; the same command resumes"
LIVE = """
[link]
snapshot = "filled.duckdb"
fill = true
contact = "nobody@example.org"
requests_per_minute = 60000
sparql = "{sparql}"
endpoint = "{url}"
"""


class SlowWikidata(WikidataServer):
    """Answers from the `patience`-th request on only when it is let go."""

    def __init__(self, *world: Any, patience: int = 3) -> None:
        super().__init__(*world)
        self.patience, self.let_go = patience, Event()

    def answer(self, params: dict[str, str]) -> dict[str, Any]:
        if len(self.requests) >= self.patience:
            self.let_go.wait(600)
        return super().answer(params)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    monkeypatch.setattr(servers, "answer_text", say)
    with StubServer() as server:
        yield server


def interrupt(stage: str, experiment: Path, at_work: Callable[[], bool]) -> None:
    """Starts a stage, and presses Ctrl-C once it is at work."""
    process = start_polyculture("run", "--only", stage, experiment, cwd=experiment.parent, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while not at_work() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    lines = said.decode().splitlines()
    assert process.returncode == 130, lines
    assert lines[-1] == LAST_WORDS
    assert "Traceback" not in said.decode()


@pytest.mark.parametrize("stage", ["generate", "extract"])
def test_a_stage_that_asks_a_model(tmp_path: Path, stub: StubServer, stage: str) -> None:
    calm, stopped = (write_experiment(tmp_path / name, stub.url, n=10) for name in ("calm", "stopped"))
    assert polyculture("run", "--only", "generate", calm, cwd=calm.parent).returncode == 0
    assert polyculture("run", "--only", stage, calm, cwd=calm.parent).returncode == 0
    if stage == "extract":
        assert polyculture("run", "--only", "generate", stopped, cwd=stopped.parent).returncode == 0
    before = len(stub.asked)
    stub.behaviour = lambda *_: stub_waits(stub, before + 15)
    interrupt(stage, stopped, lambda: len(stub.asked) > before + 15)
    stub.behaviour = None
    assert polyculture("run", "--only", stage, stopped, cwd=stopped.parent).returncode == 0
    assert tables(run_folder(stopped), stage) == tables(run_folder(calm), stage)
    assert len(stub.asked) - before <= 30 + UNWRITTEN


def stub_waits(stub: StubServer, answers: int) -> servers.Reply | None:
    """From so many questions on an answer takes for ever."""
    return None if len(stub.asked) <= answers else servers.Reply(slow=600)


def test_linking_in_front_of_the_live_service(
    tmp_path: Path, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    dishes = [item(f"Q{number}", dish, P31="Q746549") for number, dish in enumerate(DISHES, 1000)]
    experiment = write_experiment(tmp_path / "stopped", stub.url, n=10)
    wikidata = SlowWikidata([*CLASSES, *dishes])
    with SparqlServer([*CLASSES, *dishes], items=wikidata) as endpoint:
        with experiment.open("a", encoding="utf-8") as file:
            file.write(LIVE.format(url=wikidata.url, sparql=endpoint.url))
        monkeypatch.setenv("POLYCULTURE_CACHE", str(tmp_path / "cache"))
        for stage in ("generate", "extract"):
            assert polyculture("run", "--only", stage, experiment, cwd=experiment.parent).returncode == 0
        interrupt("link", experiment, lambda: len(wikidata.requests) >= wikidata.patience)
        wikidata.let_go.set()
        asked = wikidata.requests[: wikidata.patience - 1]
        assert polyculture("run", "--only", "link", experiment, cwd=experiment.parent).returncode == 0
        assert not [request for request in asked if wikidata.requests.count(request) > 1]
        before = len(wikidata.requests)
        assert polyculture("run", "--only", "link", experiment, cwd=experiment.parent).returncode == 0
        assert (len(wikidata.requests), len(endpoint.queries)) == (before, 1)
        again = polyculture("link", experiment, "--snapshot", "new.duckdb", cwd=experiment.parent)
        assert again.returncode == 0, again.stderr  # the second snapshot is made by the command that links with it
        assert (experiment.parent / "new.duckdb").is_file()
        assert len(endpoint.queries) == 2
        drift = polyculture("compare", experiment, "--snapshot", "new.duckdb", cwd=experiment.parent)
        assert drift.returncode == 0, drift.stderr
        assert "new.duckdb changes no link" in drift.stdout + drift.stderr
    first, *others = dishes
    merged = {**first, "id": "Q9999"}
    later = WikidataServer([*CLASSES, *others, merged], {"Q1000": "Q9999"})
    with SparqlServer([*CLASSES, *others, merged], items=later) as endpoint:
        text = experiment.read_text("utf-8").split("[link]")[0]
        experiment.write_text(text + LIVE.format(url=later.url, sparql=endpoint.url).lstrip(), "utf-8")
        assert polyculture("link", experiment, "--snapshot", "later.duckdb", cwd=experiment.parent).returncode == 0
        assert sum("Q1000" in request["ids"].split("|") for request in later.requests) == 1
        asked = len(later.requests), len(endpoint.queries)
        assert polyculture("link", experiment, "--snapshot", "later.duckdb", cwd=experiment.parent).returncode == 0
        assert (len(later.requests), len(endpoint.queries)) == asked
        drift = polyculture("compare", experiment, "--snapshot", "later.duckdb", cwd=experiment.parent)
        workspace = open_workspace(experiment)
        partial, services = (
            experiment.with_name("partial.duckdb"),
            (sparql_settings(workspace), api_settings(workspace)),
        )
        fill_snapshot(workspace.catalog, [NamedMention("en", DISHES[1])], partial, *services)  # before the run grew
        experiment.write_text(experiment.read_text("utf-8").replace("fill = true", "fill = false"), "utf-8")
        unfilled = polyculture("link", experiment, "--snapshot", partial.name, cwd=experiment.parent)
        assert f"without the names of {len(DISHES) - 1} of the run's mentions" in unfilled.stderr
        experiment.write_text(experiment.read_text("utf-8").replace("fill = false", "fill = true"), "utf-8")
        grown = polyculture("link", experiment, "--snapshot", partial.name, cwd=experiment.parent)
        assert "without the names" not in grown.stderr
        changes = polyculture("compare", experiment, "--snapshot", partial.name, cwd=experiment.parent)
    assert re.search(r"merged +1 ", changes.stdout), changes.stdout + changes.stderr
    assert "not found" not in changes.stdout
    assert re.search(r"merged +1 ", drift.stdout), drift.stdout + drift.stderr
    assert "another item" not in drift.stdout
    linked = {(row[4], row[8]) for row in tables(run_folder(experiment), "link")["links"]}
    assert linked == {(dish, f"Q{number}") for number, dish in enumerate(DISHES, 1000)}
