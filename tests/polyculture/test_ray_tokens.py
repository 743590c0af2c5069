"""The cluster page's own commands, with two nodes and a head that asks for a token; and what a wrong token says."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.polyculture.test_command_line import polyculture, polyculture_process
from tests.polyculture.test_jobs import tables, write_experiment
from tests.servers import StubServer

pytest.importorskip("ray", reason="the package ray is not installed")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "clusters.md"
NODE = ("--num-cpus=1", f"--object-store-memory={80 * 2**20}")  # a machine of this test is a part of one
RAY = f"{sys.executable} -m ray.scripts.scripts"


def page_commands() -> list[str]:
    """The commands of the page's section on Ray, without their comments."""
    section = PAGE.read_text(encoding="utf-8").partition("## Ray")[2].partition("\n## ")[0]
    lines = [line.strip().partition("  #")[0].strip() for line in section.splitlines() if line.startswith("    ")]
    return [line for line in lines if not line.startswith("pip ")]


class Machines:
    """A head and a node on this machine, each started by the page's lines, with a home folder of their own."""

    def __init__(self, home: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        home.mkdir()
        self.environment = {"HOME": str(home), "RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": str(ROOT)}
        self.nodes: list[subprocess.Popen[str]] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def do(self, line: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs a line of the page that is about Ray, with this machine for HEAD."""
        words = shlex.split(line.replace("HEAD:6379", self.address))
        assert words[0] == "ray"
        return subprocess.run(
            [*shlex.split(RAY), *words[1:]],
            env={**os.environ, **self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def start(self, line: str, **environment: str) -> None:
        """Starts a node by a line of the page. It stays in the foreground of a process of ours, to be ended with it."""
        words = shlex.split(line.replace("HEAD:6379", self.address))[1:]
        if "--head" in words:
            words += [f"--port={self.port}", "--include-dashboard=false"]
        node = subprocess.Popen(
            [*shlex.split(RAY), *words, *NODE, "--block"],
            env={**os.environ, **self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.nodes.append(node)
        said = []
        assert node.stdout is not None
        for text in node.stdout:
            said.append(text)
            if "Ray runtime started" in text:
                return
        raise AssertionError("".join(said[-20:]))

    def stop(self) -> None:
        for node in reversed(self.nodes):
            node.terminate()
        for node in self.nodes:
            node.communicate(timeout=60)
        self.nodes = []


@contextmanager
def started(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Machines]:
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_ADDRESS", "PYTHONWARNINGS"):
        patch.delenv(name, raising=False)
    machines = Machines(folder / "home")
    try:
        yield machines
    finally:
        machines.stop()


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    with started(tmp_path, monkeypatch) as machines:
        yield machines


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """A head that asks for its token: one is there, and it asks for it without `RAY_AUTH_MODE`, too."""
    with pytest.MonkeyPatch.context() as patch, started(tmp_path_factory.mktemp("guarded"), patch) as machines:
        token = (
            Path(machines.environment["HOME"]) / ".ray" / "auth_token"
        )  # as `ray get-auth-token --generate` writes it
        token.parent.mkdir()
        token.write_text("1" * 64)
        machines.start("ray start --head")
        yield machines


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer(latency=0.01) as server:
        yield server


def run_on(machines: Machines, experiment: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    said = {**machines.environment, **environment}
    return polyculture_process("run", experiment, "--ray", machines.address, cwd=experiment.parent, **said)


@pytest.mark.full
def test_the_pages_commands_make_a_cluster_of_two_nodes(tmp_path: Path, machines: Machines, stub: StubServer) -> None:
    _, export, generate, head, node, run, *_ = page_commands()
    assert run == "polyculture run exp.toml --ray HEAD:6379"
    mode = dict([export.removeprefix("export ").split("=")])
    assert mode == {"RAY_AUTH_MODE": "token"}
    made = machines.do(generate, **mode)
    assert made.returncode == 0, made.stderr
    machines.start(head, **mode)
    machines.start(node, **mode)
    once = write_experiment(tmp_path / "once", stub.url)
    assert polyculture("run", once, cwd=once.parent).returncode == 0
    many = write_experiment(tmp_path / "many", stub.url)
    done = run_on(machines, many, **mode)
    assert done.returncode == 0, done.stderr
    assert "cluster: 2 nodes, 2 CPUs" in done.stderr
    assert tables(many) == tables(once)
    told = Counter(line for line in done.stderr.splitlines() if re.match(r"(generate|extract) .* done", line))
    assert len(told) == 8, done.stderr  # two models, two languages, two stages
    assert set(told.values()) == {1}, "no line is printed twice"


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment",
    [
        {"HOME": "/nowhere"},
        pytest.param({"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64}, marks=pytest.mark.full),
    ],
)
def test_a_missing_or_wrong_token_is_refused_with_the_remedy(
    tmp_path: Path, guarded: Machines, stub: StubServer, environment: dict[str, str]
) -> None:
    refused = run_on(guarded, write_experiment(tmp_path, stub.url), **environment)
    assert refused.returncode == 2
    assert "set RAY_AUTH_MODE=token here" in refused.stderr.splitlines()[-1]
    assert "Traceback" not in refused.stderr
    assert not stub.asked
