"""`max_cost` over processes that are killed at any moment: the server's own bill passes it by one answer at most."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from polyculture.cache.store.ledger import Ledger
from polyculture.cache.store.model_facts import Price
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.generate.budget import BudgetedSampling, JobBudget
from polyculture.generate.engines import Decoding, Message, ModelSpec, Request, open_engine
from polyculture.generate.engines.openai.limiter import START
from polyculture.running.layout import store_layout
from tests.hostile.fault_server import FaultServer, Mode, answer, dumps
from tests.hostile.modes import MODES, SPENDERS, Does, body
from tests.polyculture.test_command_line import polyculture
from tests.quick_start import begin_polyculture

# Languages that are told by their script: no process loads the models of those in Latin letters.
EXPERIMENT = """
name = "killed"
models = ["openai:told"]
languages = ["ja", "ko", "th", "hi"]
topics = ["food"]
countries = ["JP"]
max_cost = {limit}
[sampling]
n = 100
max_tokens = 16
[prices."openai:told"]
input = 100
output = 1000
[options.openai]
base_url = "{url}"
"""
LIMIT = 1.5
RESERVED = 0.06  # for an answer, at most
PROCESSES = 4


def write(folder: Path, url: str, limit: float = LIMIT) -> Path:
    file = folder / "exp.toml"
    file.write_text(EXPERIMENT.format(url=url, limit=limit), encoding="utf-8")
    return file


def bill(server: FaultServer) -> float:
    return sum(prompt * 100 + completion * 1000 for prompt, completion in server.billed) / 1e6


def booked(folder: Path) -> float:
    ledger = Ledger(folder / "runs" / "killed" / "ledger", LIMIT)
    try:
        return ledger.spent()
    finally:
        ledger.close()


def stored(folder: Path) -> tuple[int, float]:
    """Answers in the store, and what they cost."""
    with open_store(RunFolder(folder / "runs" / "killed"), store_layout()) as store:
        found = store.sql("SELECT coalesce(sum(answers), 0), coalesce(sum(cost), 0) FROM spending").fetchall()
    return int(found[0][0]), float(found[0][1])


def kill_while_at_work(server: FaultServer, file: Path, randomness: random.Random) -> int:
    """Starts all processes, and kills each once it is asking; returns how many were still there."""
    asked = len(server.asked)
    running = [
        begin_polyculture("run", "--only", "generate", file, "--job", f"{k}/{PROCESSES}", cwd=file.parent)
        for k in range(1, 5)
    ]
    enough, deadline = asked + randomness.randint(2, 30), time.monotonic() + 60
    while len(server.asked) < enough and time.monotonic() < deadline and any(p.exitcode is None for p in running):
        time.sleep(0.002)
    killed = 0
    for process in randomness.sample(running, PROCESSES):
        time.sleep(randomness.uniform(0, 0.03))
        killed += process.exitcode is None
        process.kill()
        process.join()
    return killed


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("rounds", [2, pytest.param(5, marks=pytest.mark.full)])
def test_kills_of_four_processes_pass_the_limit_by_one_answer_at_most(tmp_path: Path, rounds: int) -> None:
    """14 kills once let the server bill 0.601 of 0.50: what was on its way was free again."""
    randomness = random.Random(5)
    with FaultServer(MODES["an honest answer"], latency=0.05) as server:
        file = write(tmp_path, server.url)
        killed = sum(kill_while_at_work(server, file, randomness) for _ in range(rounds))
        done = polyculture("run", "--only", "generate", file, cwd=tmp_path)
        assert done.returncode == 5, done.stderr
        assert "stopped by max_cost" in done.stderr
    assert killed >= 2 * rounds - 2, "the kills came too late to show anything"
    assert bill(server) <= LIMIT + RESERVED
    # What the ledger booked covers the bill.
    assert bill(server) <= booked(tmp_path) + 1e-6 <= LIMIT + RESERVED
    answers, cost = stored(tmp_path)
    assert 0 < len(server.asked) - answers <= killed * 64, "no answer is asked for twice but those on their way"
    # No phantom: only what was on its way is booked at its reservation.
    assert booked(tmp_path) - cost <= (len(server.asked) - answers + killed) * RESERVED


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["a thousand times max_tokens", "now and then ten times max_tokens"])
def test_a_server_that_writes_too_much_passes_the_limit_by_what_is_in_flight(tmp_path: Path, name: str) -> None:
    does, billed = SPENDERS[name]
    with FaultServer(Mode(name=name, does=does, bill=billed), latency=0.05) as server:
        file = write(tmp_path, server.url, 1.0)
        running = [
            begin_polyculture("run", "--only", "generate", file, "--job", f"{k}/4", cwd=tmp_path) for k in range(1, 5)
        ]
        for process in running:
            process.join(120)
        assert [process.exitcode for process in running] == [5] * PROCESSES
    beyond = sorted(max(0.0, (p * 100 + c * 1000) / 1e6 - RESERVED) for p, c in server.billed)
    assert bill(server) <= 1.0 + sum(beyond[-4 * PROCESSES :]), "each process asks one at first"


@pytest.mark.timeout(300)
def test_what_answers_cost_beyond_their_bound_is_reserved_once_it_is_known(tmp_path: Path) -> None:
    """Hidden reasoning, a hundred times `max_tokens`: 1.6 an answer."""
    usage = {"prompt_tokens": 7, "completion_tokens": 1600}
    dear = Mode(name="dear", does=body(dumps(answer(usage=usage))), bill=lambda _call: (7, 1600))
    with FaultServer(dear, latency=0.05) as server:
        told = polyculture("run", "--only", "generate", write(tmp_path, server.url, 64.0), cwd=tmp_path)
    assert told.returncode == 5
    assert "the next answer may cost 1.6007" in told.stderr
    assert 64.0 - 1.7 < bill(server) <= 64.0


def test_a_server_that_writes_too_much_later_passes_the_limit_by_little(tmp_path: Path) -> None:
    """It counts honestly ten times, then writes a hundred times what it was asked for."""

    def does(number: int) -> Does:
        return body(dumps(answer(usage={"prompt_tokens": 7, "completion_tokens": 5 if number < 10 else 1600})))

    late = Mode(
        name="late",
        does=lambda call: does(call.number)(call),
        bill=lambda call: (7, 5 if call.number < 10 else 1600),
        hangs_up=False,
    )
    with FaultServer(late, latency=0.05) as server:
        assert polyculture("run", "--only", "generate", write(tmp_path, server.url, 1.0), cwd=tmp_path).returncode == 5
    assert len(server.asked) <= 2 * 10 + START, "what was in flight"


def test_an_interrupted_run_has_booked_what_was_on_its_way(tmp_path: Path) -> None:
    with FaultServer(MODES["an honest answer"], latency=0.2) as server:
        file = write(tmp_path, server.url)
        process = begin_polyculture("run", "--only", "generate", file, cwd=tmp_path)
        while len(server.asked) < 8:
            time.sleep(0.01)
        process.terminate()
        process.join(60)
        polyculture("status", file, cwd=tmp_path)
        ledger = Ledger(tmp_path / "runs" / "killed" / "ledger", LIMIT)
        ledger.refresh({f"generate openai:told {code} food": lambda: 0.0 for code in ("ja", "ko", "th", "hi")})
        ledger.close()
    assert bill(server) <= booked(tmp_path) + 1e-6


def test_who_leaves_off_pays_for_what_was_on_its_way(tmp_path: Path) -> None:
    with FaultServer(MODES["an honest answer"], latency=0.05) as server:
        ledger = Ledger(tmp_path, 1.0)
        job_budget = JobBudget(ledger, "generate x", lambda: 0.0, batch=False)
        request = Request("a", (Message("user", "prompt"),), Decoding(max_tokens=16), tuple(range(200)))
        with open_engine(ModelSpec("openai:told", {"base_url": server.url})) as engine:
            answers = BudgetedSampling(engine, Price(100, 1000), job_budget).sample([request])
            for _ in range(20):
                next(answers)
            answers.close()  # type: ignore[attr-defined]
        spent = ledger.spent()
        ledger.close()
        again = Ledger(tmp_path, 1.0)
        assert again.spent() == pytest.approx(spent)
        again.close()
        assert bill(server) <= spent <= bill(server) + 64 * RESERVED
