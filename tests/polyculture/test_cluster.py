"""The same jobs on a real Ray cluster of two nodes: what it meets is told, and a worker and then a node are lost."""

from __future__ import annotations

import contextlib
import math
import os
import re
import signal
import subprocess
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from polyculture.cache.errors import JobHeldError, SystematicFaultError, UserError
from polyculture.cache.locks import is_locked
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import RESPONSES
from polyculture.cache.store.shards import JobShards
from polyculture.cluster.run import RayCluster
from polyculture.experiment.workspace import Workspace
from polyculture.running.call_list import texts_in_file
from polyculture.running.executor import Executor, ask
from polyculture.running.opening import open_workspace
from polyculture.running.outcome import RunOutcome
from polyculture.running.results import measure_run
from polyculture.running.steps import StepRunner
from tests.polyculture import test_instruments_alone
from tests.polyculture.test_command_line import polyculture, polyculture_process, start_polyculture
from tests.polyculture.test_jobs import tables, undisturbed, wait_for, write_experiment
from tests.servers import StubServer, failure
from tests.stages import do_stages, prepare

ray = pytest.importorskip("ray", reason="the package ray is not installed")
cluster_utils = pytest.importorskip("ray.cluster_utils", reason="the package ray is not installed")

# How long Ray's processes take to start depends on what else the machine does: nothing here has a limit of its own.
LONG = 3600  # seconds
pytestmark = pytest.mark.timeout(LONG)
PATIENT = {
    "RAY_raylet_start_wait_time_s": str(LONG),
    "RAY_worker_register_timeout_seconds": str(LONG),
    "RAY_health_check_failure_threshold": str(LONG),
}
NODE = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
ROOT = Path(__file__).parents[2]
CONCURRENCY = 2  # of the experiment's engine


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer(latency=0.01) as server:
        yield server


@pytest.fixture(scope="module")
def nothing_stays() -> Iterator[None]:
    """After the tests no process of Ray's that they started is left: they are known by a variable that all inherit."""
    mark = f"POLYCULTURE_TEST={uuid.uuid4()}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(*mark.split("="))
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        for name, value in PATIENT.items():
            patch.setenv(name, value)
        patch.delenv("PYTHONWARNINGS", raising=False)
        yield
    wait_for(lambda: not inheritors(mark.encode()), LONG)


@pytest.fixture(scope="module")
def cluster(nothing_stays: None) -> Iterator[Any]:
    """A head and a node with a core each, of which the last test loses the node."""
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **NODE})
    try:
        cluster.node = cluster.add_node(num_cpus=1, **NODE)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def inheritors(mark: bytes) -> list[int]:
    """The processes that were started with a variable."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def workers(run: RunFolder, stage: str = "responses") -> list[int]:
    """The processes that hold jobs, alive or not."""
    said = [file.read_text(encoding="utf-8") for file in run.root.glob(f"{stage}/*/*/*/.holder")]
    return [int(match[1]) for words in said if (match := re.match(r"process (\d+) on ", words))]


def nodes_at_work(run: RunFolder, stage: str = "responses") -> dict[int, int]:
    """The raylets whose workers hold jobs now, each with such a worker."""
    locked = [file for file in run.root.glob(f"{stage}/*/*/*/.lock") if is_locked(file)]
    signed = [file for one in locked if (file := one.with_name(".holder")).exists()]  # a moment after the lease
    said = [file.read_text(encoding="utf-8") for file in signed]
    found = [int(match[1]) for words in said if (match := re.match(r"process (\d+) on ", words))]
    return {parent: process for process in found if (parent := parent_of(process)) is not None}


def parent_of(process: int) -> int | None:
    """The process that started another one; None where that has ended."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[1])


def raylet(node: Any) -> int:
    [process] = node.all_processes["raylet"]
    return int(process.process.pid)


def ask_texts(workspace: Workspace, executor: Executor) -> RunOutcome:
    """Asks for all texts of a prepared run."""
    with executor:
        return ask(StepRunner(workspace=workspace), texts_in_file(workspace), executor, accept_changes=True).outcome


def in_background(work: Callable[[], None]) -> Thread:
    thread = Thread(target=work)
    thread.start()
    return thread


@pytest.mark.slow
def test_what_a_cluster_meets_is_told_as_on_one_machine(tmp_path: Path, stub: StubServer, cluster: Any) -> None:
    """A model whose server is broken, a job that another process holds, and an address where nobody is."""
    fault = failure(500, "broken", retry_after="0.01")
    stub.behaviour = lambda body, _: fault if body["model"] == "one" else None
    workspace = prepare(open_workspace(write_experiment(tmp_path, stub.url, n=30)))
    held = Job("openai:two", "ja", "food")
    with JobShards(workspace.run, held, [RESPONSES]):
        outcome = ask_texts(workspace, RayCluster(cluster.address, replicas=1))
    assert list(outcome.held) == [held]
    with pytest.raises(SystematicFaultError, match=r"openai:one.*HTTP 500") as ended:
        outcome.check(workspace)
    assert ended.value.exit_code == 6
    assert "\n" not in str(ended.value)
    asked = Counter(body["model"] for body in stub.bodies)
    assert asked["one"] <= (8 + CONCURRENCY) * 7  # of one job, each of the first answers with six retries
    assert asked["two"] == 3 * 30
    with pytest.raises(JobHeldError, match=f"held by process {os.getpid()} on"):
        replace(outcome, stopped=(), failed=()).check(workspace)
    with pytest.raises(UserError, match=r"--ray 127\.0\.0\.1:1.*cluster"):
        ask_texts(workspace, RayCluster("127.0.0.1:1"))


@pytest.mark.slow
def test_a_worker_and_then_a_node_are_lost_and_the_tables_are_those_of_one_machine(
    tmp_path: Path, stub: StubServer, cluster: Any
) -> None:
    once = write_experiment(tmp_path / "once", stub.url, n=20)
    undisturbed(once)
    asked = Counter(map(key, stub.bodies))
    assert set(asked.values()) == {1}
    many = write_experiment(tmp_path / "many", stub.url, n=20)
    many.write_text(many.read_text(encoding="utf-8") + f"deadline = {LONG}\n", encoding="utf-8")
    workspace = prepare(open_workspace(many))
    stub.most_answers, lost = len(stub.answered), []
    head, node = raylet(cluster.head_node), raylet(cluster.node)
    ended = Event()

    def wait_until(condition: Callable[[], bool]) -> None:
        """Nothing but the run's end ends it: then the condition never comes true."""
        while not condition():
            assert not ended.wait(0.05), "the run ended before"

    def answer_some() -> None:
        """Both workers go on for a while, until whatever they ask waits again."""
        stub.most_answers = len(stub.answered) + 8
        wait_until(lambda: len(stub.answered) >= stub.most_answers)

    def disturb() -> None:
        try:
            wait_until(lambda: nodes_at_work(workspace.run).keys() >= {head, node})
            answer_some()
            os.kill(nodes_at_work(workspace.run)[head], signal.SIGKILL)
            lost.append("a worker")
            answer_some()
            cluster.remove_node(cluster.node)
            lost.append("a node")
        finally:
            stub.most_answers = math.inf

    disturbance = in_background(disturb)
    try:
        ask_texts(workspace, RayCluster(cluster.address)).check(workspace)
    finally:
        ended.set()
        disturbance.join()
    do_stages(many, "link")
    measure_run(workspace.run, workspace.catalog)
    assert lost == ["a worker", "a node"], "the disturbance came too late to show anything"
    assert tables(many) == tables(once)
    twice = Counter(map(key, stub.bodies)) - asked
    assert set(twice) == set(asked), "every answer of the cluster's run was asked for by it"
    again = sum(twice.values()) - len(asked)
    assert again <= 3 * 2 * 2 * CONCURRENCY  # in flight, and waiting to be written, of each worker that was lost


def key(body: Any) -> tuple[str, str, int]:
    return body["model"], body["messages"][-1]["content"], body["seed"]


@pytest.mark.full
@pytest.mark.usefixtures("nothing_stays")
def test_ray_on_this_machine_from_the_command_line(tmp_path: Path, stub: StubServer) -> None:
    once = write_experiment(tmp_path / "once", stub.url, n=1)
    assert polyculture("run", once, cwd=once.parent).returncode == 0
    ours = write_experiment(tmp_path / "ours", stub.url, n=1)
    done = polyculture_process("run", ours, "--ray", "--replicas", "1", cwd=ours.parent)
    assert done.returncode == 0, done.stderr
    assert tables(ours) == tables(once)


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_stays")
def test_a_cluster_asks_instruments_without_texts_and_what_a_lost_worker_leaves(
    tmp_path: Path, stub: StubServer
) -> None:
    stub.latency, stub.behaviour = 0.1, test_instruments_alone.answer
    file = test_instruments_alone.write(tmp_path, stub.url)
    run = RunFolder(tmp_path / "runs" / "alone")
    cluster = start_polyculture("run", file, "--ray", cwd=tmp_path.parent, stderr=subprocess.PIPE)
    wait_for(lambda: len(stub.bodies) > test_instruments_alone.ASKED // 4, LONG)
    lost = next(process for process in workers(run, "answers") if process != cluster.pid)
    os.kill(lost, signal.SIGKILL)
    _, said = cluster.communicate(timeout=LONG)
    assert cluster.returncode == 0, said
    assert b"its worker was lost" in said
    assert len(stub.bodies) - test_instruments_alone.ASKED <= test_instruments_alone.IN_FLIGHT
    test_instruments_alone.is_whole(tmp_path)
