"""Prices and max_cost: what is spent is in the store, and no process spends more than the limit."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.resources import files
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any

import duckdb
import orjson
import pytest

from polyculture.cache.errors import BudgetError, ExperimentError
from polyculture.cache.store.ledger import Ledger
from polyculture.cache.store.model_facts import Price
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import RESPONSES
from polyculture.cache.store.shards import JobShards
from polyculture.cache.store.store import open_store
from polyculture.generate.budget import BudgetedSampling, JobBudget
from polyculture.generate.engines import Decoding, Message, ModelSpec, Request, open_engine
from polyculture.running.layout import store_layout
from polyculture.running.opening import open_workspace
from tests.logs import logged
from tests.polyculture.test_command_line import polyculture
from tests.quick_start import begin_polyculture
from tests.servers import RESET, TRUNCATED, Reply, StubServer, failure

# A stub's answer has 7 tokens of prompt and 5 of answer: it costs 0.0057. The languages are told by their scripts: no
# process loads the models of those in Latin letters, three seconds each.
EXPERIMENT = """
name = "paid"
models = ["openai:stub"]
languages = ["ja", "ko"]
topics = ["food"]
countries = ["IT", "JP"]
{limit}
[sampling]
n = 10
max_tokens = 16
[extract]
with = "{extractor}"
[prices."openai:stub"]
input = 100
output = 1000
[options.openai]
base_url = "{url}"
"""
ANSWER = 0.0057
JOB_SAMPLES = 50


def write(folder: Path, url: str, limit: float | None = None, extractor: str = "gazetteer") -> Path:
    file = folder / "exp.toml"
    text = EXPERIMENT.format(url=url, extractor=extractor, limit="" if limit is None else f"max_cost = {limit}")
    # These servers fail every answer for one reason, on purpose: no stage stops itself for that.
    file.write_text(f"{text}\n[stop]\nanswers = 0\n", encoding="utf-8")
    return file


def spending(folder: Path) -> list[dict[str, Any]]:
    with open_store(RunFolder(folder / "runs" / "paid"), store_layout()) as store:
        return store.sql("SELECT * FROM spending ORDER BY ALL").to_arrow_table().to_pylist()


def extracting(body: Mapping[str, Any], before: int) -> Reply | None:
    """To an extractor's question no answer that it can use the first two times, then an empty list."""
    if "response_format" not in body:
        return None
    content = '{"mentions": []}' if body["seed"] == 2 else "no JSON"
    answer = {
        "model": "stub",
        "choices": [{"message": {"content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 5},
    }
    return Reply(body=json.dumps(answer).encode())


@pytest.fixture
def server() -> Iterator[StubServer]:
    with StubServer() as stub:
        yield stub


def test_spending_holds_what_was_bought_and_what_it_cost(tmp_path: Path, server: StubServer) -> None:
    result = polyculture("run", "--only", "generate", write(tmp_path, server.url), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    rows = spending(tmp_path)
    assert [(row["stage"], row["language"], row["asked"], row["purchase"]) for row in rows] == [
        ("generate", "ja", "openai:stub", "direct"),
        ("generate", "ko", "openai:stub", "direct"),
    ]
    for row in rows:
        assert (row["answers"], row["failed"], row["prompt_tokens"]) == (JOB_SAMPLES, 0, 7 * JOB_SAMPLES)
        assert row["cost"] == pytest.approx(JOB_SAMPLES * ANSWER)


def test_costs_are_the_same_to_the_last_digit_whatever_the_order_of_rows() -> None:
    """Two exports of one run once differed: threads add up in another order each time."""
    views = files("polyculture.cache.store").joinpath("purchases.sql").read_text(encoding="utf-8")
    costs = set()
    for order in ("tokens", "tokens DESC", "hash(tokens)"):
        with duckdb.connect() as store:
            store.execute(f"""
                CREATE TABLE run_prices AS SELECT 'm' AS model, 0.15 AS input, 0.6 AS output, 0.5 AS batch_discount;
                CREATE TABLE run_charges (
                    stage TEXT, model TEXT, language TEXT, topic TEXT, charged DOUBLE, unknown_bills BIGINT
                );
                CREATE TABLE bought AS
                SELECT 'generate' AS stage, 'm' AS model, 'en' AS language, 'food' AS topic, 'm' AS asked,
                    'direct' AS purchase, 'ok' AS status, tokens AS prompt_tokens, tokens % 37 AS completion_tokens,
                    NULL::DOUBLE AS named_cost
                FROM range(5000) AS t(tokens) ORDER BY {order};
                {views}
            """)
            costs.update(store.sql("SELECT cost FROM spending").fetchall())
    assert len(costs) == 1


def test_answers_of_no_use_are_in_the_store_before_the_next_attempt(tmp_path: Path, server: StubServer) -> None:
    """They were once kept in memory until the last attempt, and lost from the costs when that was killed."""
    held = True

    def behave(body: Mapping[str, Any], before: int) -> Reply | None:
        reply = extracting(body, before)
        return replace(reply, slow=600) if reply and held and body["seed"] == 1 else reply

    server.behaviour = behave
    file = write(tmp_path, server.url, extractor="openai:stub")
    assert polyculture("run", "--only", "generate", file, "--language", "ja", cwd=tmp_path).returncode == 0
    killed = begin_polyculture("run", "--only", "extract", file, "--language", "ja", cwd=tmp_path)
    deadline = time.monotonic() + 120
    while not any(seed == 1 for _, seed in server.asked) and time.monotonic() < deadline:
        time.sleep(0.05)
    killed.kill()
    killed.join()
    held = False
    done = polyculture("run", "--only", "extract", file, "--language", "ja", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [seed for _, seed in server.asked].count(0) == JOB_SAMPLES  # a first attempt each, and never again
    extraction = spending(tmp_path)[0]
    assert (extraction["answers"], extraction["failed"], extraction["unusable"]) == (JOB_SAMPLES, 0, 2 * JOB_SAMPLES)
    assert extraction["cost"] == pytest.approx(3 * JOB_SAMPLES * ANSWER)
    question = "select sum(extracted)::int as extracted, sum(extraction_failed)::int as failed from health"
    counted = polyculture("sql", file, question, "--format", "csv", cwd=tmp_path)
    assert counted.stdout.splitlines() == ["extracted,failed", f"{JOB_SAMPLES},0"], counted


def test_answers_without_a_text_cost_too(tmp_path: Path, server: StubServer) -> None:
    refusal = b'{"choices": [{"message": {"refusal": "no"}}], "usage": {"prompt_tokens": 7, "completion_tokens": 5}}'
    server.behaviour = lambda *_: Reply(body=refusal)
    assert polyculture("run", "--only", "generate", write(tmp_path, server.url), cwd=tmp_path).returncode == 4
    assert [(row["answers"], row["failed"]) for row in spending(tmp_path)] == [(0, JOB_SAMPLES)] * 2
    assert sum(row["cost"] for row in spending(tmp_path)) == pytest.approx(2 * JOB_SAMPLES * ANSWER)


def test_a_run_stops_before_max_cost_is_passed_and_goes_on_when_it_is_raised(
    tmp_path: Path, server: StubServer
) -> None:
    stopped = polyculture("run", write(tmp_path, server.url, limit=0.3), cwd=tmp_path)
    assert stopped.returncode == 5, stopped.stderr
    assert "stopped by max_cost = 0.3:" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    paid = len(server.asked)
    # At worst an answer costs 16 tokens more than it does: that much may be left.
    assert 0.3 - 0.05 < paid * ANSWER <= 0.3
    assert sum(row["cost"] for row in spending(tmp_path)) == pytest.approx(paid * ANSWER)
    again = polyculture("run", "--only", "generate", write(tmp_path, server.url, limit=0.3), cwd=tmp_path)
    assert again.returncode == 5
    assert len(server.asked) == paid
    done = polyculture("run", "--only", "generate", write(tmp_path, server.url, limit=3), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(server.asked) == len(set(server.asked)) == 2 * JOB_SAMPLES


def test_where_a_server_counts_no_tokens_no_limit_is_kept_and_the_run_says_so(
    tmp_path: Path, server: StubServer
) -> None:
    server.behaviour = lambda *_: Reply(body=b'{"choices": [{"message": {"content": "ramen"}}]}')
    stopped = polyculture("run", "--only", "generate", write(tmp_path, server.url, limit=3), cwd=tmp_path)
    assert stopped.returncode == 5
    assert "max_cost = 3 cannot be kept: the server does not say how many tokens" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert 0 < len(server.asked) < 2 * JOB_SAMPLES
    with open_store(RunFolder(tmp_path / "runs" / "paid"), store_layout()) as store:
        kept = store.sql("SELECT count(text) FROM responses").fetchall()
    assert kept == [(len(server.asked),)]


def test_extraction_stops_at_the_limit_and_forgets_nothing_that_it_paid_for(tmp_path: Path, server: StubServer) -> None:
    server.behaviour = extracting
    file = write(tmp_path, server.url, limit=1.8, extractor="openai:stub")
    result = polyculture("run", file, "--language", "ja", cwd=tmp_path)
    assert result.returncode == 5, result.stderr
    paid = len(server.asked)
    assert paid > JOB_SAMPLES
    assert sum(row["cost"] for row in spending(tmp_path)) == pytest.approx(paid * ANSWER)
    assert paid * ANSWER <= 1.8


@pytest.mark.parametrize("limit", [None, 1.0])
def test_what_a_kill_charged_and_no_row_has_is_said(tmp_path: Path, server: StubServer, limit: float | None) -> None:
    server.latency = 0.5
    file = write(tmp_path, server.url, limit)
    killed = begin_polyculture("run", "--only", "generate", file, "--language", "ja", cwd=tmp_path)
    deadline = time.monotonic() + 120
    while not server.asked and time.monotonic() < deadline:
        time.sleep(0.05)
    killed.kill()
    killed.join()
    server.latency = 0.0
    done = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = spending(tmp_path)
    assert sum(row["cost"] for row in rows if row["purchase"]) == pytest.approx(2 * JOB_SAMPLES * ANSWER)
    again = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    ledger = Ledger(tmp_path / "runs" / "paid" / "ledger")
    in_rows = ledger.spent() - ledger.lost()
    assert in_rows == pytest.approx(2 * JOB_SAMPLES * ANSWER)
    assert ledger.unknown() >= 1
    [told] = [line for line in done.stderr.splitlines() if line.startswith("spent: ")]
    assert f"{in_rows:.4f} is known, {ledger.lost():.4f} is of {ledger.unknown()} request" in told
    assert again.returncode == 0
    assert sum(row["cost"] for row in rows) == pytest.approx(ledger.spent())
    ledger.close()


def test_status_says_which_answers_are_not_in_its_money_yet(tmp_path: Path, server: StubServer) -> None:
    """A killed process leaves its last answers in journals, which no view reads until a command commits them."""
    server.latency = 0.2
    file = write(tmp_path, server.url, None)
    run = RunFolder(tmp_path / "runs" / "paid")
    killed = begin_polyculture("run", "--only", "generate", file, "--language", "ja", cwd=tmp_path)

    def waiting() -> int:
        (job,) = (job for job in open_workspace(file).jobs if job.language == "ja")
        return sum(len(record[RESPONSES.name]) for record in JobShards(run, job, [RESPONSES]).read_journal())

    deadline = time.monotonic() + 120
    while not waiting() and time.monotonic() < deadline:
        time.sleep(0.05)
    killed.kill()
    killed.join()
    assert waiting()
    said = f"{waiting()} of the last answers are not in it yet"
    assert said in polyculture("status", file, cwd=tmp_path).stdout
    assert polyculture("plan", file, cwd=tmp_path).returncode == 0
    assert "of the last answers" not in polyculture("status", file, cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('[prices."openai:stub"]', '[prices."openai:stab"]', "max_cost is set, and [prices] does not name openai:stub"),
        ("max_cost = 1", "max_cost = 0", "max_cost: must be more than 0"),
        ("max_cost = 1", 'max_cost = "1"', "max_cost: must be a number"),
    ],
)
def test_a_mistake_in_prices_is_one_line(tmp_path: Path, before: str, after: str, said: str) -> None:
    file = write(tmp_path, "http://127.0.0.1:9/v1", limit=1)
    assert before in file.read_text()
    file.write_text(file.read_text().replace(before, after, 1))
    with pytest.raises(ExperimentError) as told:
        open_workspace(file)
    assert "\n" not in str(told.value)
    assert said in str(told.value)
    assert str(file) in str(told.value)


def test_an_extractor_without_a_price_is_named_too(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="does not name openai:other"):
        open_workspace(write(tmp_path, "http://127.0.0.1:9/v1", limit=1, extractor="openai:other"))


def request(count: int, text: str = "prompt") -> Request:
    return Request(text, (Message("user", text),), Decoding(max_tokens=16, top_k=None), tuple(range(count)))


def test_who_could_pay_if_others_gave_back_waits_for_them(tmp_path: Path, server: StubServer) -> None:
    price = Price(0, 1000)
    with open_engine(ModelSpec("openai:stub", {"base_url": server.url})) as engine:
        other, mine = Ledger(tmp_path, 0.1), Ledger(tmp_path, 0.1)
        other.begin("generate other", 0.0, batch=False)
        flight = other.reserve("generate other", 0.09)

        job_budget = JobBudget(mine, "generate mine", lambda: 0.0, batch=False)
        with logged(then=Thread(target=other.book, args=(flight, 0.01)).start) as told:
            answers = list(BudgetedSampling(engine, price, job_budget).sample([request(8)]))
        assert len(answers) == 8
        assert re.search(r"generate mine: waits .* generate other 0\.0900", told[0])
        with pytest.raises(BudgetError):
            list(BudgetedSampling(engine, price, job_budget).sample([request(100)]))
    assert mine.spent() == pytest.approx(len(server.asked) * 0.005 + 0.01)
    assert mine.spent() <= 0.1
    mine.close()
    other.close()


def test_failures_give_back_what_was_reserved_for_them(tmp_path: Path, server: StubServer) -> None:
    server.behaviour = lambda *_: failure(400)
    ledger = Ledger(tmp_path, 0.05)
    with open_engine(ModelSpec("openai:stub", {"base_url": server.url})) as engine:
        job_budget = JobBudget(ledger, "generate x", lambda: 0.0, batch=False)
        assert len(list(BudgetedSampling(engine, Price(0, 1000), job_budget).sample([request(200)]))) == 200
    assert ledger.spent() == 0
    ledger.close()


def named(cost: float | str) -> Reply:
    """An answer of 2 + 3 tokens for which the server names what it bills."""
    usage = {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5, "cost": cost}
    choice = {"index": 0, "message": {"role": "assistant", "content": "Tea."}, "finish_reason": "stop"}
    return Reply(body=orjson.dumps({"choices": [choice], "usage": usage}))


ERROR_WITHIN_200 = {"error": {"code": 502, "message": "Provider returned error"}}
OVERLOADED = Reply(body=orjson.dumps({"error": {"code": 429, "message": "Slow down."}}))


@pytest.mark.parametrize(
    ("reply", "worked_on"),
    [
        *((failure(status), True) for status in (408, 500, 502, 503, 504, 520, 524, 529)),
        *((failure(status), False) for status in (400, 401, 402, 403, 404, 413, 422, 429)),
        (failure(503, "Loading model"), False),
        (Reply(body=orjson.dumps(ERROR_WITHIN_200)), True),
        (OVERLOADED, False),
        (Reply(502, b"<html>Bad gateway</html>", content_type="text/html"), True),
        (TRUNCATED, True),
        (RESET, True),
    ],
    ids=str,
)
def test_a_failure_that_a_service_may_have_worked_on_is_booked_at_its_bound(
    reply: Reply, worked_on: bool, tmp_path: Path
) -> None:
    """Such failures were booked as free, and a bill came to 3.7 times the cap."""
    price, limit = Price(0, 1000), 0.05
    ledger = Ledger(tmp_path, limit)
    options = {"max_retries": 0, "concurrency": 4, "outage_minutes": 0.0001}
    with StubServer(behaviour=lambda *_: reply) as failing:
        with open_engine(ModelSpec("openai:stub", {"base_url": failing.url, **options})) as opened:
            job_budget = JobBudget(ledger, "generate x", lambda: 0.0, batch=False)
            engine = BudgetedSampling(opened, price, job_budget)
            if worked_on:
                with pytest.raises(BudgetError, match=r"is booked for the failures"):
                    list(engine.sample([request(200)]))
            else:
                assert len(list(engine.sample([request(5)]))) == 5
        bound = 16 * 1000 / 1e6
        if worked_on:
            assert ledger.spent() == pytest.approx(len(failing.asked) * bound)
        assert ledger.spent() <= limit
        assert (ledger.spent() > 0) == worked_on
    ledger.close()


def test_the_cost_that_a_server_names_is_booked(tmp_path: Path) -> None:
    """A server billed 36 times what the file's prices made of its tokens."""
    ledger = Ledger(tmp_path, 1.0)
    with StubServer(behaviour=lambda *_: named(0.108)) as dear:
        with open_engine(ModelSpec("openai:stub", {"base_url": dear.url, "concurrency": 8})) as engine:
            job_budget = JobBudget(ledger, "generate x", lambda: 0.0, batch=False, model="openai:stub")
            with pytest.raises(BudgetError):
                list(BudgetedSampling(engine, Price(0, 1000), job_budget).sample([request(200)]))
        assert ledger.spent() == pytest.approx(len(dear.asked) * 0.108)
        assert ledger.lost() == 0
        assert len(dear.asked) == 9
    assert ledger.spent() <= 1.0
    ledger.close()


def test_a_named_cost_is_booked_where_the_file_says_that_the_model_costs_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, 1.0)
    with StubServer(behaviour=lambda *_: named(0.3)) as dear:
        with open_engine(ModelSpec("openai:stub", {"base_url": dear.url})) as engine:
            job_budget = JobBudget(ledger, "generate x", lambda: 0.0, batch=False, model="openai:stub")
            with pytest.raises(BudgetError):
                list(BudgetedSampling(engine, Price(0, 0), job_budget).sample([request(200)]))
        assert ledger.spent() == pytest.approx(len(dear.asked) * 0.3)
        assert len(dear.asked) == 3
    ledger.close()


@pytest.mark.parametrize("limit", [None, 20.0])
@pytest.mark.parametrize("share", [1, 2])
def test_what_a_server_names_is_what_was_spent_and_the_difference_is_said_everywhere(
    tmp_path: Path, limit: float | None, share: int
) -> None:
    """`spending` said .013 where the server billed 3.00; without `max_cost` nobody was told."""
    dear = StubServer(behaviour=lambda _body, _before: named(0.108) if next(turn) % share == 0 else None)
    turn = count()
    with dear:
        file = write(tmp_path, dear.url, limit)
        done = polyculture("run", "--only", "generate", file, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        told = [line for line in done.stderr.splitlines() if "names a cost of 0.108000" in line]
        assert len(told) == 1
        assert "openai:stub" in told[0]
        assert "correct the prices" in told[0]
        billed = len(dear.asked) - len(dear.answered)
        costs, others = billed * 0.108, len(dear.answered) * ANSWER
        rows = spending(tmp_path)
        assert sum(row["cost"] for row in rows) == pytest.approx(costs + others)
        assert sum(row["named_cost"] for row in rows) == pytest.approx(costs)
        assert sum(row["by_prices"] for row in rows) == pytest.approx(billed * 0.0032 + others)
        if limit is not None:
            ledger = Ledger(tmp_path / "runs" / "paid" / "ledger", limit)
            assert ledger.spent() == pytest.approx(costs + others)
            ledger.close()
        status = polyculture("status", file, cwd=tmp_path).stdout
        assert f"spent     {costs + others:.4f}\n" in status
        assert f"{costs:.4f} for {billed} answers that [prices] put at {billed * 0.0032:.4f}" in status
        file.write_text(file.read_text().replace("n = 10", "n = 20"))
        plan = polyculture("plan", file, cwd=tmp_path)
        assert f"{costs:.4f} for {billed} answers that [prices] put at {billed * 0.0032:.4f}" in plan.stderr


def test_a_named_cost_that_is_no_amount_of_money_is_said_once(tmp_path: Path) -> None:
    with StubServer(behaviour=lambda *_: named("-0.108")) as odd:
        done = polyculture("run", "--only", "generate", write(tmp_path, odd.url), "--language", "ja", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [told] = [line for line in done.stderr.splitlines() if "no amount of money" in line]
    assert "openai:stub" in told
    assert "-0.108" in told
    assert "[prices]" in told
    assert sum(row["cost"] for row in spending(tmp_path)) == pytest.approx(JOB_SAMPLES * 0.0032)


def test_a_plan_says_that_max_cost_is_below_its_estimate(tmp_path: Path, server: StubServer) -> None:
    enough = polyculture("plan", write(tmp_path, server.url, limit=1000), cwd=tmp_path)
    assert "max_cost =" not in enough.stderr
    least = polyculture("plan", write(tmp_path, server.url, limit=0.01), cwd=tmp_path)
    assert "max_cost = 0.01 will end the run before it is complete: 0.00 is spent" in least.stderr


def test_at_the_limit_a_server_that_fails_is_named_and_its_failures_are_rows(tmp_path: Path) -> None:
    """The remedy was to raise `max_cost`, and `failures` was empty."""
    with StubServer(behaviour=lambda *_: failure(500, "disk full")) as dead:
        file = write(tmp_path, dead.url, limit=0.15)
        stopped = polyculture("run", "--only", "generate", file, cwd=tmp_path)
        assert stopped.returncode == 5, stopped.stderr
        last = stopped.stderr.splitlines()[-1]
        sent = len(dead.asked)
        assert f"{sent} x HTTP 500; the last one: HTTP 500: disk full" in last
        assert "no request was answered" in last
        rows = spending(tmp_path)
        charged = sum(row["cost"] for row in rows if row["purchase"] is None)
        assert f"{charged:.4f} is booked" in last
        assert 0 < charged <= 0.15
        assert last.index("why the requests fail") < last.index("raise it and run")
        with open_store(RunFolder(tmp_path / "runs" / "paid"), store_layout()) as store:
            [(reason, failed)] = store.sql('SELECT reason, sum("rows") FROM failures GROUP BY ALL').fetchall()
        assert reason == "HTTP 500: disk full"
        assert failed > 0
        again = polyculture("run", "--only", "generate", file, cwd=tmp_path)
        assert again.returncode == 5
        assert len(dead.asked) == sent
        assert "HTTP 500: disk full" in again.stderr.splitlines()[-1], "a run that cannot ask anything says it, too"


def test_a_stage_that_stops_under_a_limit_says_what_was_booked_and_asks_few(tmp_path: Path) -> None:
    """After `max_cost` was raised, 56 more requests were sent to a dead server before its stage stopped."""
    with StubServer(behaviour=lambda *_: failure(500, "disk full", retry_after="0.01")) as dead:
        file = write(tmp_path, dead.url, limit=5)
        file.write_text(file.read_text(encoding="utf-8").replace("[stop]\nanswers = 0\n", ""), encoding="utf-8")
        stopped = polyculture("run", "--only", "generate", file, cwd=tmp_path)
        assert stopped.returncode == 6, stopped.stderr
        assert 8 <= len(dead.asked) <= 21
        booked = sum(row["cost"] for row in spending(tmp_path))
        assert f"{booked:.4f} is of {len(dead.asked)} requests that may be billed" in stopped.stderr
        assert booked > 0


@pytest.mark.parametrize("limit", [None, 20.0])
@pytest.mark.parametrize("reply", [failure(529, "overloaded", retry_after="0"), RESET], ids=["529", "reset"])
def test_failures_that_may_be_billed_are_counted_with_and_without_a_limit(
    tmp_path: Path, reply: Reply, limit: float | None
) -> None:
    """Without `max_cost` they were booked as nothing, and nobody was told."""
    turn = count(1)
    with StubServer(behaviour=lambda *_: reply if next(turn) % 10 == 0 else None) as failing:
        file = write(tmp_path, failing.url, limit)
        done = polyculture("run", "--only", "generate", file, "--language", "ja", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        failed, known = len(failing.asked) - JOB_SAMPLES, JOB_SAMPLES * ANSWER
        assert failed >= 5
        rows = spending(tmp_path)
        assert sum(row["unknown_bills"] for row in rows) == failed
        unsure = sum(row["cost"] for row in rows if row["purchase"] is None)
        # The most that a request may cost: a token for each byte of its prompt and its turn, and 16 of an answer.
        assert failed * 16 * 1000 / 1e6 < unsure < failed * (16 * 1000 + 500 * 100) / 1e6
        said = f"{known + unsure:.4f} at most: {known:.4f} is known, {unsure:.4f} is of {failed} requests that may be"
        assert f"spent: {said}" in done.stderr
        assert said in polyculture("status", file, cwd=tmp_path).stdout


def test_without_a_limit_a_server_that_counts_no_tokens_is_asked_everything(tmp_path: Path, server: StubServer) -> None:
    server.behaviour = lambda *_: Reply(body=b'{"choices": [{"message": {"content": "ramen"}}]}')
    file = write(tmp_path, server.url)
    done = polyculture("run", "--only", "generate", file, "--language", "ja", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"0.0000 is known, {spending(tmp_path)[-1]['cost']:.4f} is of {JOB_SAMPLES} requests" in done.stderr
