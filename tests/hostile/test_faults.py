"""Every mode of the fault server against the command line: rows, requests, exit code, bill, and the next run.

No mode ends in a traceback, holds a run, loses an answer, asks for one twice, or stands in the way of a later run.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from polyculture.cache.errors import BudgetError
from polyculture.cache.store.ledger import Ledger
from polyculture.cache.store.model_facts import Price
from polyculture.generate.budget import BudgetedSampling, JobBudget
from polyculture.generate.engines import Completion, Decoding, Message, ModelSpec, Request, open_engine
from tests.hostile.fault_server import TEXT, FaultServer, Mode
from tests.hostile.modes import BROKEN, DEADLINE, ENCODED, MODES, MOST, NONSENSE, SLOW, STATUSES, USELESS, WHOLE
from tests.polyculture.test_command_line import polyculture

# Languages are told by their script: no process loads the models of those in Latin letters.
EXPERIMENT = """
name = "hostile"
models = {models}
languages = ["ja"]
topics = ["food"]
countries = ["JP"]
{limit}
[sampling]
n = {n}
max_tokens = {tokens}
{prices}
[options.openai]
base_url = "{url}"
deadline = {deadline}
max_retries = 1
"""
PRICES = """[prices."openai:told"]
input = 100
output = 1000
"""
PROMPTS = 4  # neutral, explicit, and two implicit ones
MAX_TOKENS = 16
SAMPLES = 16  # of a prompt, where there is a limit
LIMIT = 0.12
RESERVED = 0.06  # for an answer, at most


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture(autouse=True, scope="module")
def _bounds() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("polyculture.cache.work.outage.LONGEST_WAIT", 0.01)
        patch.setattr("polyculture.generate.engines.openai.transport.MOST_BYTES", MOST)
        yield


def write(
    folder: Path,
    server: FaultServer,
    limit: float | None = None,
    n: int = 1,
    models: Sequence[str] = ("told",),
    slow: bool = False,
) -> Path:
    file = folder / "exp.toml"
    text = EXPERIMENT.format(
        url=server.url,
        models=json.dumps([f"openai:{model}" for model in models]),
        limit="" if limit is None else f"max_cost = {limit}",
        prices="" if limit is None else PRICES,
        n=n,
        tokens=MAX_TOKENS,
        # Of a server that is slow on purpose; on a busy machine an honest answer takes longer than that.
        deadline=DEADLINE if slow else 60,
    )
    file.write_text(text, encoding="utf-8")
    return file


def rows(folder: Path) -> list[dict[str, Any]]:
    parts = sorted((folder / "runs" / "hostile" / "responses").rglob("part-*.parquet"))
    found = [row for part in parts for row in pq.ParquetFile(part).read().to_pylist()]
    return [row for row in found if row["status"] != "unusable"]  # paid for, and asked again


def cost(server: FaultServer) -> list[float]:
    return [(prompt * 100 + completion * 1000) / 1e6 for prompt, completion in server.billed]


def ends_cleanly(result: subprocess.CompletedProcess[str], models: int = 1) -> None:
    assert "Traceback" not in result.stderr, result.stderr
    # The models of several modes are one, and every two of them are told to write alike.
    said = [line for line in result.stderr.splitlines() if "under two names" not in line]
    assert sum(map(len, said)) < 5000 + 600 * models, result.stderr


@dataclass
class Outcome:
    """Of a mode: its rows and how often it was asked, in a run and in the next one, whose server is honest."""

    before: list[dict[str, Any]]
    asked: int
    after: list[dict[str, Any]]
    asked_again: int


@pytest.fixture(scope="module")
def outcomes(server: FaultServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Every mode as a model of its own: those that must end alike in one run, and in the one after it."""
    alike: dict[tuple[tuple[int, ...], bool], list[Mode]] = {}
    for mode in MODES.values():
        alike.setdefault((mode.code, mode.name in SLOW), []).append(mode)
    found: dict[str, Outcome] = {}
    for (code, slow), modes in alike.items():
        found |= _outcomes(tmp_path_factory.mktemp("modes"), server, modes, code, slow)
    return found


def _outcomes(
    folder: Path, server: FaultServer, modes: Sequence[Mode], code: tuple[int, ...], slow: bool
) -> dict[str, Outcome]:
    of = {f"mode-{number}": mode for number, mode in enumerate(modes)}
    server.begin(MODES["an honest answer"], of)
    first = polyculture("run", "--only", "generate", write(folder, server, models=list(of), slow=slow), cwd=folder)
    ends_cleanly(first, len(of))
    assert first.returncode in code, first.stderr
    before, asked = rows(folder), server.asked_of
    server.begin(MODES["an honest answer"])
    again = polyculture("run", "--only", "generate", write(folder, server, models=list(of)), cwd=folder)
    ends_cleanly(again, len(of))
    after = rows(folder)
    assert again.returncode == (0 if all(row["status"] == "ok" for row in after) else 4)
    return {
        mode.name: Outcome(of_model(before, model), asked[model], of_model(after, model), server.asked_of[model])
        for model, mode in of.items()
    }


def of_model(found: Sequence[dict[str, Any]], model: str) -> list[dict[str, Any]]:
    return [row for row in found if row["model"] == f"openai:{model}"]


@pytest.mark.timeout(600)  # the first of them runs all modes
@pytest.mark.parametrize("mode", MODES.values(), ids=MODES.keys())
def test_what_becomes_of_an_answer(outcomes: dict[str, Outcome], mode: Mode) -> None:
    outcome = outcomes[mode.name]
    if mode.rows is not None:
        states = [row["status"] for row in outcome.before]
        assert states == [mode.rows] * PROMPTS, [row["error"] for row in outcome.before]
        _check_rows(mode, outcome.before)
    if mode.tries is not None and mode.name not in SLOW:
        assert outcome.asked == PROMPTS * mode.tries
    assert 0 < outcome.asked <= PROMPTS * 2  # none is sent on elsewhere
    if mode.name == "a redirection to nowhere":
        assert all("points to http://127.0.0.1:9/" in row["error"] for row in outcome.before)
    _check_the_next_run(outcome)


def _check_rows(mode: Mode, found: list[dict[str, Any]]) -> None:
    for row in found:
        assert (row["text"] is None) == (mode.rows == "failed")
        assert row["text"] is None or row["text"] == (TEXT if mode.text is None else mode.text)
        assert (row["note"] is None) == (mode.note is None), row["note"]
        assert mode.note is None or mode.note in row["note"]
        assert mode.rows == "ok" or row["retryable"], row["error"]
        assert row["error"] is None or ("\n" not in row["error"] and len(row["error"]) <= 400)


def _check_the_next_run(outcome: Outcome) -> None:
    """Once the server is honest, what may pass is asked once more, and nothing else."""
    before = {row["response_id"]: row for row in outcome.before}
    after = {row["response_id"]: row for row in outcome.after}
    final = {key for key, row in before.items() if row["status"] == "ok" or not row["retryable"]}
    assert outcome.asked_again == PROMPTS - len(final)
    assert len(after) == len(outcome.after) == PROMPTS
    assert all(after[key] == before[key] for key in final)
    assert all(after[key]["status"] == "ok" for key in after.keys() - final)


# Some answers that are whole, some refusals and slow servers, and the first bodies and counts that cannot be read:
# what they cost does not hang on what else is wrong.
_SOME = {
    "an honest answer", "a lone surrogate", "an empty text", "status 429", "status 504",
    "a byte every 50 ms", "no answer", "blanks in chunks", "too many requests, told byte by byte",
}  # fmt: skip
_LATER = {name for group in (BROKEN, ENCODED, USELESS, NONSENSE) for name in list(group)[4:]}
_ALIKE = {*WHOLE, *STATUSES, *SLOW, *_LATER} - _SOME
LIMITED = {name: mode for name, mode in MODES.items() if name not in _ALIKE}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("mode", LIMITED.values(), ids=LIMITED.keys())
def test_what_a_limit_is_passed_by(tmp_path: Path, server: FaultServer, mode: Mode) -> None:
    """The server's own bill: `max_cost`, and at most one answer more."""
    server.begin(mode)
    options = {"base_url": server.url, "deadline": DEADLINE if mode.name in SLOW else 60, "max_retries": 1}
    requests = [
        Request(text, (Message("user", text * 100),), Decoding(max_tokens=MAX_TOKENS), tuple(range(SAMPLES)))
        for text in "春夏秋冬"
    ]
    came, told = list[Completion](), ""
    ledger = Ledger(tmp_path, LIMIT)
    job_budget = JobBudget(ledger, "generate x", lambda: 0.0, batch=False)
    with open_engine(ModelSpec("openai:told", options)) as engine:
        try:
            for answer in BudgetedSampling(engine, Price(100, 1000), job_budget).sample(requests):
                came.append(answer)
        except BudgetError as fault:
            told = str(fault)
    ledger.close()
    bills = cost(server)
    assert sum(bills) <= LIMIT + max(RESERVED, *bills)
    if mode.stops is not None:
        assert mode.stops in told
        assert len(server.asked) == 1
    elif mode.rows == "ok":
        assert len(came) == len(server.asked)
        assert ("stopped by max_cost" in told) == (len(server.asked) < PROMPTS * SAMPLES)


@pytest.mark.parametrize("name", ["an honest answer", "a usage that is empty"])
def test_the_last_line_of_a_run_says_how_its_limit_ended_it(tmp_path: Path, server: FaultServer, name: str) -> None:
    server.begin(MODES[name])
    result = polyculture("run", "--only", "generate", write(tmp_path, server, LIMIT, n=SAMPLES), cwd=tmp_path)
    ends_cleanly(result)
    assert result.returncode == 5
    assert (MODES[name].stops or "stopped by max_cost") in result.stderr.splitlines()[-1]
    assert len(rows(tmp_path)) == len(server.asked)
