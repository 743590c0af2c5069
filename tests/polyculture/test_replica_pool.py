"""A pool whose cluster has no place for its workers, or where they end before they begin, says so, again and again."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from polyculture.cache.store.run_folder import Job
from polyculture.cluster import replica_pool
from polyculture.cluster.replica import JobOrder, OrderResult
from polyculture.cluster.replica_pool import Need, ReplicaPool
from polyculture.running.outcome import RunOutcome

exceptions = pytest.importorskip("ray", reason="the package ray is not installed").exceptions


class Cluster:
    """What a pool uses of Ray. A future is what comes of it: a value, an error, or None as long as nothing does."""

    exceptions = exceptions

    def __init__(self, begins: list[Any], free: dict[str, float] | None = None) -> None:
        self._begins, self._free = begins, free or {"CPU": 2.0}
        self.killed = 0

    def remote(self, **_: Any) -> Any:
        return lambda _kind: SimpleNamespace(remote=self._hired)

    def _hired(self, _lines: Any) -> Any:
        begun = self._begins.pop(0) if self._begins else None
        done = OrderResult(outcome=RunOutcome())
        kinds = {"ready": begun, "work": done, "close": None}
        return SimpleNamespace(
            **{name: SimpleNamespace(remote=lambda *_, of=of: SimpleFuture(of)) for name, of in kinds.items()}
        )

    def wait(self, futures: Any, **_: Any) -> Any:
        done = [one for one in futures if one.of is not None][:1]
        return done, [one for one in futures if one not in done]

    def get(self, future: Any) -> Any:
        if isinstance(future.of, Exception):
            raise future.of
        return future.of

    def kill(self, _replica: Any) -> None:
        self.killed += 1

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def available_resources(self) -> dict[str, float]:
        return self._free


class SimpleFuture:
    def __init__(self, of: Any) -> None:
        self.of = of


def orders(number: int) -> list[JobOrder]:
    jobs = [Job("mock:a", "ja", f"topic{k}") for k in range(number)]
    return [JobOrder(Path("exp.toml"), Path("runs"), "generate", job) for job in jobs]


@pytest.mark.parametrize(
    ("free", "gpus", "said"),
    [
        ({"CPU": 0.0}, 0.0, "2 CPUs (0 free)"),
        ({"CPU": 2.0}, 1.0, "0 GPUs (0 free). Add a machine"),
        ({"CPU": 2.0}, 0.0, "RAY_AUTH_MODE"),
    ],
)
def test_without_a_place_it_says_again_and_again_what_it_waits_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, free: dict[str, float], gpus: float, said: str
) -> None:
    monkeypatch.setattr(replica_pool, "PLACE_WITHIN", 0.0)
    pool = ReplicaPool(Cluster([], free), orders(3), Need(gpus, None), None)
    assert all(pool.step() for _ in range(4))
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 3, "from its second look on, again and again"
    assert all("generate mock:a ja topic0" in line and said in line for line in lines)


def test_where_no_worker_begins_the_run_ends_with_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    cluster = Cluster([exceptions.RayActorError(error_msg="No module named 'polyculture'")] * 100)
    pool = ReplicaPool(cluster, orders(5), Need(0.0, 2), None)
    steps = 0
    while pool.step():
        steps += 1
        assert steps < 50
    [failed] = pool.outcome.failed
    assert "5 jobs were not begun" in failed
    assert "No module named 'polyculture'" in failed
    assert caplog.records


def test_a_worker_that_ends_before_it_begins_is_replaced() -> None:
    cluster = Cluster([exceptions.RayActorError(error_msg="lost with its machine"), 1, 1, 1])
    pool = ReplicaPool(cluster, orders(5), Need(0.0, 2), None)
    while pool.step():
        pass
    assert not pool.outcome.failed
