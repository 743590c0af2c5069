"""The batch API against a local provider that speaks its protocol, and misbehaves; with kills at the worst moments."""

from __future__ import annotations

import contextlib
import json
import signal
import time
from collections.abc import Iterator, Mapping
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from threading import Event
from typing import Any

import psutil
import pytest

from polyculture.cache.errors import EngineError
from polyculture.cache.store.ledger import Ledger
from polyculture.cache.store.model_facts import Price
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.generate.budget import BudgetedSampling, JobBudget
from polyculture.generate.engines import Completion, Decoding, Message, ModelSpec, Request
from polyculture.generate.engines.batch_records import BatchRecords, waiting
from polyculture.generate.engines.openai import batch_api, batches
from polyculture.generate.engines.openai.batches import ATTEMPTS, BatchEngine
from polyculture.generate.engines.openai.engine import OpenAIEngine
from tests.batch_server import EXPIRED, BatchServer, completion_body, status_line
from tests.polyculture.test_command_line import one_line, polyculture
from tests.quick_start import begin_polyculture
from tests.servers import HTML, Reply, failure

REQUESTS = [Request(text, (Message("user", text),), Decoding(), tuple(range(5, 9))) for text in ("food", "music")]
# Languages that are told by their scripts: no process loads the models of those in Latin letters, three seconds each.
EXPERIMENT = """
name = "batched"
models = ["openai:stub"]
languages = ["ja", "ko"]
topics = ["food"]
countries = ["IT", "JP"]
{more}
[sampling]
n = 4
max_tokens = 16
[options.openai]
base_url = "{url}"
batch = {batch}
batch_poll = 0.05
batch_requests = 15
"""
PER_JOB = 20  # 5 prompts: two batches


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer() as provider:
        yield provider


def engine(server: BatchServer, folder: Path, stop: Event | None = None, **options: Any) -> BatchEngine:
    quick = {"base_url": server.url, "batch": True, "batch_poll": 0.02, "max_retries": 2, **options}
    return BatchEngine(ModelSpec("openai:stub", quick), folder, stop or Event())


def ask(server: BatchServer, folder: Path, **options: Any) -> list[Completion]:
    with engine(server, folder, **options) as opened:
        return list(opened.sample(REQUESTS))


def key(answer: Completion) -> tuple[str, int]:
    return answer.request_id, answer.seed


def test_answers_are_those_of_single_calls_but_for_how_they_were_bought(server: BatchServer, tmp_path: Path) -> None:
    batched = sorted(ask(server, tmp_path), key=key)
    with OpenAIEngine(ModelSpec("openai:stub", {"base_url": server.url})) as single:
        called = sorted(single.sample(REQUESTS), key=key)
    assert {answer.purchase for answer in batched} == {"batch"}
    assert [(a.text, a.seed, a.prompt_tokens, a.model_version, a.error) for a in batched] == [
        (a.text, a.seed, a.prompt_tokens, a.model_version, a.error) for a in called
    ]
    assert not list(tmp_path.iterdir())


def test_batches_keep_to_the_providers_limits(
    server: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(ask(server, tmp_path / "a", batch_requests=3)) == 8
    assert len(server.batches) == 3
    monkeypatch.setattr(batches, "MOST_BYTES", 500)
    assert len(ask(server, tmp_path / "b")) == 8
    assert len(server.batches) > 3 + 3
    assert all(len(server.files[batch["input_file_id"]]) <= 750 for batch in server.batches.values())


def test_each_failed_line_is_a_row_of_its_own(server: BatchServer, tmp_path: Path) -> None:
    server.fate = lambda body, _: status_line(400, "too long") if body["seed"] == 6 else None
    found = {key(answer): answer for answer in ask(server, tmp_path)}
    assert len(found) == 8
    for (_, seed), answer in found.items():
        assert (answer.error, answer.retryable) == (("HTTP 400: too long", False) if seed == 6 else (None, False))
    assert set(server.paid.values()) == {1}


def test_a_line_is_read_as_a_direct_answer_is(server: BatchServer, tmp_path: Path) -> None:
    """Its modes stand in tests/hostile/modes.py."""

    def fate(body: Mapping[str, Any], _: int) -> dict[str, Any]:
        made: Any = completion_body(body) | {"model": [1]}
        return {"response": {"status_code": 200, "body": made if body["seed"] > 5 else {"choices": [{"message": 5}]}}}

    server.fate = fate
    found = ask(server, tmp_path)
    assert len(found) == 8
    for answer in found:
        assert (answer.text is None) == (answer.seed == 5)
        assert answer.retryable == (answer.seed == 5)
        assert answer.seed == 5 or "model: no text" in str(answer.note)


STRANGE: list[tuple[str, Any]] = [("id", 5), ("id", ""), ("metadata", [1]), ("created_at", "yesterday"), ("status", 5)]


@pytest.mark.parametrize(("field", "value"), STRANGE)
def test_a_batch_with_a_strange_field_ends_in_one_line(
    server: BatchServer, tmp_path: Path, field: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = server.create

    def create(asked: Mapping[str, Any]) -> dict[str, Any]:
        return whole(asked) | {field: value}

    monkeypatch.setattr(server, "create", create)
    with contextlib.suppress(EngineError):  # no other exception
        assert len(ask(server, tmp_path)) == 8


def test_a_file_of_answers_has_a_size_and_a_deadline(
    server: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(batch_api, "MOST_BYTES", 100)
        with pytest.raises(EngineError, match=r"answer.*larger"):
            ask(server, tmp_path / "size")

    def sleep(call: str, _: bool) -> None:
        time.sleep(2.0 if call == "download" else 0.0)

    server.trouble = sleep
    monkeypatch.setattr(batch_api, "FILE_DEADLINE", 0.3)
    with pytest.raises(EngineError, match=r"answer.*0\.3 seconds"):
        ask(server, tmp_path / "time", max_retries=0)


def test_what_expired_is_sent_again_and_what_came_is_used(server: BatchServer, tmp_path: Path) -> None:
    server.ending = "expired"
    server.fate = lambda body, before: EXPIRED if body["seed"] == 7 and before == 0 else None
    assert all(answer.error is None for answer in ask(server, tmp_path))
    assert {seed: count for (_, seed), count in server.paid.items()} == {5: 1, 6: 1, 7: 2, 8: 1}


@pytest.mark.parametrize("call", ["poll", "download"])
def test_a_batch_that_is_gone_fails_its_rows_for_good_and_blocks_no_other(
    server: BatchServer, tmp_path: Path, call: str
) -> None:
    lost: list[str] = []

    def trouble(now: str, finished: bool) -> Reply | None:
        """The first batch is lost."""
        if now != call or finished:
            return None
        lost.append(now)
        return failure(404, "No such object") if len(lost) == 1 else None

    server.trouble = trouble
    found = ask(server, tmp_path, batch_requests=5)
    failures = [answer for answer in found if answer.error]
    assert (len(found), len(failures)) == (8, 5)
    assert all(not answer.retryable and answer.bill_unknown for answer in failures)
    assert all("--retry-failed" in str(answer.error) for answer in failures)
    assert set(server.paid.values()) == {1}
    assert not list(waiting(tmp_path)), "nothing waits any more"
    # Asked again, as `--retry-failed` does: it is looked for once more, and is there.
    server.trouble = None
    assert all(answer.error is None for answer in ask(server, tmp_path, batch_requests=5))
    assert set(server.paid.values()) == {1, 2}, "those that came are asked for anew by this test alone"


def test_a_lost_batch_that_stays_lost_is_bought_again_when_it_is_asked_for(server: BatchServer, tmp_path: Path) -> None:
    def trouble(now: str, finished: bool) -> Reply | None:
        return failure(404, "No such batch") if now == "poll" and not finished and len(server.batches) == 1 else None

    server.trouble = trouble
    assert {answer.retryable for answer in ask(server, tmp_path)} == {False}
    assert all(answer.error is None for answer in ask(server, tmp_path))
    assert set(server.paid.values()) == {2}
    assert not list(tmp_path.iterdir())


def test_others_are_fetched_before_a_fault_of_one_batch_is_told(server: BatchServer, tmp_path: Path) -> None:
    polled: list[str] = []

    def trouble(now: str, finished: bool) -> Reply | None:
        if now != "poll" or finished:
            return None
        polled.append(now)
        return failure(403, "not your batch") if len(polled) == 1 else None

    server.trouble = trouble
    with engine(server, tmp_path, batch_requests=5) as opened:
        answers = opened.sample(REQUESTS)
        came = [next(answers) for _ in range(3)]
        with pytest.raises(EngineError, match=r"nothing.*batch"):
            next(answers)
    assert [answer.error for answer in came] == [None] * 3
    server.trouble = None
    assert all(answer.error is None for answer in ask(server, tmp_path, batch_requests=5))


def test_an_answer_is_preferred_to_an_error_of_the_same_request(server: BatchServer, tmp_path: Path) -> None:
    def twice(call: str, done: bool) -> Reply | None:
        if call != "download" or not done:
            return None
        lines = server.files["file-1"].splitlines()
        errors = [{"custom_id": json.loads(line)["custom_id"], **EXPIRED} for line in lines]
        content = b"".join(
            json.dumps(error).encode() + b"\n" + line + b"\n" for error, line in zip(errors, lines, strict=True)
        )
        return Reply(body=content)

    server.trouble = twice
    assert [answer.error for answer in ask(server, tmp_path)] == [None] * 8
    assert set(server.paid.values()) == {1}


def test_what_never_comes_is_reported_after_some_batches(server: BatchServer, tmp_path: Path) -> None:
    server.fate = lambda body, _: EXPIRED if body["seed"] == 7 else None
    found = ask(server, tmp_path)
    assert [(a.seed, a.retryable, a.error) for a in found if a.error] == [
        (7, True, "batch_expired: could not be executed in time")
    ] * 2
    assert max(server.paid.values()) == ATTEMPTS


@pytest.mark.parametrize(
    ("fate", "billed"),
    [(status_line(500, "broken"), True), (EXPIRED, False), (status_line(400, "too long"), False)],
    ids=["500", "expired", "400"],
)
def test_a_line_that_failed_is_booked_at_its_bound_unless_the_service_says_that_it_is_free(
    server: BatchServer, tmp_path: Path, fate: Mapping[str, Any], billed: bool
) -> None:
    """Lines with HTTP 500 were booked as free, and sent three times. OpenAI bills completed requests of a batch."""
    server.fate = lambda body, _: fate if body["seed"] == 7 else None
    ledger = Ledger(tmp_path / "ledger", 100.0)
    options = {"base_url": server.url, "batch": True, "batch_poll": 0.02, "max_retries": 2}
    with BatchEngine(ModelSpec("openai:stub", options), tmp_path / "batches", Event()) as engine:
        job_budget = JobBudget(ledger, "generate x", lambda: 0.0, batch=True)
        wanted = Request("a", (Message("user", "prompt"),), Decoding(max_tokens=16), (5, 6, 7, 8))
        found = list(BudgetedSampling(engine, Price(0, 1000, batch_discount=0), job_budget).sample([wanted]))
    [failed] = [answer for answer in found if answer.error]
    good = sum(answer.completion_tokens or 0 for answer in found) * 1000 / 1e6
    assert ledger.spent() == pytest.approx(good + (0.016 if billed else 0.0))
    assert max(server.paid.values()) == (ATTEMPTS if failed.error.startswith("batch_expired") else 1)
    ledger.close()


def test_an_answer_in_no_known_form_is_bought_no_more_often_than_by_direct_calls(
    server: BatchServer, tmp_path: Path
) -> None:
    odd = {"response": {"status_code": 200, "body": {"result": "ramen"}}}
    server.fate = lambda body, _: odd if body["seed"] == 7 else None
    found = ask(server, tmp_path)
    assert [(a.seed, a.retryable) for a in found if a.error] == [(7, True)] * 2
    assert sorted(server.paid.values()) == [1] * 6 + [2] * 2


def test_a_batch_that_ends_without_some_lines_is_not_believed_whole(server: BatchServer, tmp_path: Path) -> None:
    def cut(call: str, done: bool) -> Reply | None:
        # The first download of an output lacks its end.
        if call != "download" or not done or server.calls.count("download") > 1:
            return None
        return Reply(body=server.files["file-1"][:-60])

    server.trouble = cut
    assert all(answer.error is None for answer in ask(server, tmp_path))
    assert sorted(server.paid.values()) == [1] * 7 + [2]


@pytest.mark.parametrize("call", ["upload", "create", "poll", "download"])
@pytest.mark.parametrize("done", [False, True])
def test_a_fault_that_passes_is_retried_and_no_batch_is_made_twice(
    server: BatchServer, tmp_path: Path, call: str, done: bool
) -> None:
    troubled: list[str] = []

    def trouble(now: str, finished: bool) -> Reply | None:
        if now == call and finished == done and not troubled:
            troubled.append(now)
            return failure(502, retry_after="0.01")
        return None

    server.trouble = trouble
    assert all(answer.error is None for answer in ask(server, tmp_path))
    assert troubled
    assert set(server.paid.values()) == {1}


REFUSED = [
    (failure(401, "no"), "refuses the API key (HTTP 401: no)"),
    (failure(404, "no such path"), "has no batch API (HTTP 404: no such path). Remove batch = true"),
    (HTML, "answers with a web page (HTML)"),
    (failure(500, "broken", retry_after="0.01"), "the batch API fails: HTTP 500: broken"),
]


@pytest.mark.parametrize(("reply", "told"), REFUSED)
def test_what_every_call_meets_is_one_line(server: BatchServer, tmp_path: Path, reply: Reply, told: str) -> None:
    server.trouble = lambda *_: reply
    with pytest.raises(EngineError) as error:
        ask(server, tmp_path)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_batch_that_is_refused_is_one_line_and_made_anew_next_time(server: BatchServer, tmp_path: Path) -> None:
    server.refusal = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}
    with pytest.raises(EngineError, match=r"token_limit_exceeded: Enqueued.*batches_at_once = 1"):
        ask(server, tmp_path)
    server.refusal = None
    assert all(answer.error is None for answer in ask(server, tmp_path))


def test_waiting_can_be_called_off_and_taken_up_again(server: BatchServer, tmp_path: Path) -> None:
    stop = Event()
    server.polls = 1_000_000

    def trouble(call: str, done: bool) -> None:
        if call == "poll" and server.calls.count("poll") == 3:
            stop.set()

    server.trouble = trouble  # type: ignore[assignment]
    with engine(server, tmp_path, stop) as opened, pytest.raises(KeyboardInterrupt):
        list(opened.sample(REQUESTS))
    assert [len(record.ids) for record in waiting(tmp_path)] == [8]
    server.polls = 0
    assert len(ask(server, tmp_path)) == 8
    assert len(server.batches) == 1


def test_what_is_asked_besides_is_sent_in_a_batch_of_its_own(server: BatchServer, tmp_path: Path) -> None:
    with engine(server, tmp_path) as opened:
        first = opened.sample(REQUESTS[:1])
        next(first)
        first.close()  # type: ignore[attr-defined]
    # The answers are on disk: what is left of them is not asked again.
    assert [record.downloaded for record in BatchRecords(tmp_path).all()] == [True]
    assert len(ask(server, tmp_path)) == 8
    assert set(server.paid.values()) == {1}


def write(folder: Path, server: BatchServer, batch: bool = True, more: str = "") -> Path:
    file = folder / "exp.toml"
    text = EXPERIMENT.format(url=server.url, batch=str(batch).lower(), more=more)
    file.write_text(text, encoding="utf-8")
    return file


def responses(folder: Path) -> list[dict[str, Any]]:
    with open_store(RunFolder(folder / "runs" / "batched")) as store:
        query = "SELECT * EXCLUDE (purchase) FROM responses ORDER BY response_id"
        return store.sql(query).to_arrow_table().to_pylist()


def test_a_run_in_batches_has_the_rows_of_the_ordinary_way(server: BatchServer, tmp_path: Path) -> None:
    for name, batch in (("batched", True), ("ordinary", False)):
        (tmp_path / name).mkdir()
        result = polyculture("run", "--only", "generate", write(tmp_path / name, server, batch), cwd=tmp_path)
        assert result.returncode == 0, result.stderr
    assert responses(tmp_path / "batched") == responses(tmp_path / "ordinary")
    assert len(server.batches) == 4
    with open_store(RunFolder(tmp_path / "batched" / "runs" / "batched")) as store:
        assert store.sql("SELECT DISTINCT purchase FROM spending").fetchall() == [("batch",)]


MOMENTS = [("upload", True), ("create", False), ("create", True), ("poll", False), ("download", True)]


def generate_until(server: BatchServer, file: Path, call: str, done: bool) -> None:
    """Kills the stage at the second of such calls: another batch of the run stands somewhere else then."""
    killed: list[ForkServerProcess] = []

    def kill(now: str, finished: bool) -> Reply | None:
        if (now, finished) == (call, done) and server.calls.count(now) == 2:
            process = psutil.Process(killed[0].pid)
            process.kill()
            process.wait(60)
            return Reply()
        return None

    server.trouble = kill
    with server.lock:
        killed.append(begin_polyculture("run", "--only", "generate", file, "--language", "ja", cwd=file.parent))
    killed[0].join()
    assert killed[0].exitcode == -signal.SIGKILL
    server.trouble = None


@pytest.mark.parametrize(("call", "done"), MOMENTS)
def test_killed_at_the_worst_moment_no_batch_is_paid_twice(
    server: BatchServer, tmp_path: Path, call: str, done: bool
) -> None:
    file = write(tmp_path, server)
    generate_until(server, file, call, done)
    result = polyculture("run", "--only", "generate", file, "--language", "ja", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    found = responses(tmp_path)
    assert len(found) == PER_JOB
    assert all(row["status"] == "ok" for row in found)
    assert set(server.paid.values()) == {1}
    assert len(server.batches) == 2
    assert not list(waiting(tmp_path / "runs"))


def test_a_lost_batch_is_bought_again_by_retry_failed_alone(server: BatchServer, tmp_path: Path) -> None:
    server.trouble = lambda call, done: failure(404, "No such batch") if call == "poll" and not done else None
    file = write(tmp_path, server)
    words = ("run", "--only", "generate", file, "--language", "ja")
    assert polyculture(*words, cwd=tmp_path).returncode == 4
    assert sum(server.paid.values()) == PER_JOB
    server.trouble = None
    assert polyculture(*words, cwd=tmp_path).returncode == 4
    assert sum(server.paid.values()) == PER_JOB
    assert polyculture(*words, "--retry-failed", "lost batch", cwd=tmp_path).returncode == 0
    assert sum(server.paid.values()) == PER_JOB, "it was looked for once more, and is there"


def test_a_budget_holds_in_batches_and_across_a_kill(server: BatchServer, tmp_path: Path) -> None:
    prices = '[prices."openai:stub"]\ninput = 0\noutput = 2000'
    # At worst an answer costs 0.016 in a batch, at last 0.005.
    file = write(tmp_path, server, more="max_cost = 0.17")
    file.write_text(file.read_text() + prices)
    result = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    assert result.returncode == 5, result.stderr
    assert len(server.paid) * 0.005 <= 0.17
    assert len(server.paid) > 0.17 / 0.016
    assert set(server.paid.values()) == {1}


def test_what_waits_in_a_batch_is_not_asked_one_by_one_and_waits_for_its_server(
    server: BatchServer, tmp_path: Path
) -> None:
    generate_until(server, write(tmp_path, server), "poll", done=False)
    sent = len(server.calls)
    told = one_line(polyculture("run", "--only", "generate", write(tmp_path, server, batch=False), cwd=tmp_path))
    assert f"{PER_JOB} requests of generate" in told
    assert "batch = true again" in told
    assert len(server.calls) == sent
    held = sum(len(record.ids) for record in waiting(tmp_path / "runs"))
    words = ("--language", "ja", "--accept-changes")
    with BatchServer() as other:
        result = polyculture("run", "--only", "generate", write(tmp_path, other), *words, cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        assert sum(other.paid.values()) == PER_JOB
    assert sum(len(record.ids) for record in waiting(tmp_path / "runs")) == held == PER_JOB
    result = polyculture("run", "--only", "generate", write(tmp_path, server), *words, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert set(server.paid.values()) == {1}
    assert not list(waiting(tmp_path / "runs"))
    with open_store(RunFolder(tmp_path / "runs" / "batched")) as store:
        found = store.sql("SELECT count(*), (SELECT count(*) FROM stored_responses) FROM responses").fetchall()
    assert found == [(PER_JOB, 2 * PER_JOB)]


def test_lines_that_are_rejected_between_others_that_are_answered_settle(server: BatchServer, tmp_path: Path) -> None:
    """Their file comes as one piece: they were "in a row", none was settled, and every run sent them again."""
    refused = status_line(400, "content policy")
    server.fate = lambda body, _: refused if body["seed"] % 4 < 2 else None
    file = write(tmp_path, server, more="[stop]\nanswers = 3")
    words = ("run", "--only", "generate", file, "--language", "ja")
    assert polyculture(*words, cwd=tmp_path).returncode == 4
    failed = [row for row in responses(tmp_path) if row["status"] == "failed"]
    assert (len(failed), {row["retryable"] for row in failed}) == (PER_JOB // 2, {False})
    sent = len(server.batches)
    assert polyculture(*words, cwd=tmp_path).returncode == 4
    assert len(server.batches) == sent, "what is settled is not sent again"


@pytest.mark.parametrize("answered", [0, 1])
def test_a_batch_of_which_hardly_a_line_was_answered_stops_the_stage_and_settles_nothing(
    server: BatchServer, tmp_path: Path, answered: int
) -> None:
    good = set[str]()

    def fate(body: Mapping[str, Any], _: int) -> dict[str, Any] | None:
        if len(good) < answered:
            good.add(str(body))
        return None if str(body) in good else status_line(400, "content policy")

    server.fate = fate
    file = write(tmp_path, server)
    words = ("run", "--only", "generate", file, "--language", "ja")
    result = polyculture(*words, cwd=tmp_path)
    assert result.returncode == 6
    assert "nothing of it is settled" in result.stderr
    assert sorted(str(row["retryable"]) for row in responses(tmp_path)) == ["None"] * answered + ["True"] * (
        PER_JOB - answered
    )
    server.fate = None
    assert polyculture(*words, cwd=tmp_path).returncode == 0
    assert {row["status"] for row in responses(tmp_path)} == {"ok"}
    assert sum(server.paid.values()) == 2 * PER_JOB - answered, "what was answered is not sent again"


@pytest.mark.parametrize("bad", [1, 4, 7])
def test_failures_and_answers_of_a_batch_take_turns_and_the_last_is_an_answer(
    server: BatchServer, tmp_path: Path, bad: int
) -> None:
    sent: list[int] = []

    def fate(body: Mapping[str, Any], _: int) -> dict[str, Any] | None:
        sent.append(body["seed"])
        return status_line(400, "content policy") if len(sent) <= bad else None

    server.fate = fate
    found = [answer.error is None for answer in ask(server, tmp_path)]
    assert (found.count(False), found[-1]) == (bad, True)
    rows = "".join("x" if good else "." for good in found).split("x")
    assert max(map(len, rows)) == -(-bad // (8 - bad)), "as short as can be"


def test_what_a_job_beside_the_one_that_stopped_the_stage_failed_for_is_not_settled_either(
    server: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is held by its own thread, which waits for its next batch, when the other job reopens rows."""
    server.fate = lambda *_: status_line(400, "content policy")
    whole = server.poll

    def poll(ident: str) -> dict[str, Any]:
        """Japanese batches end once a Korean one was fetched; the other Korean one does not end."""
        lines = server.files[server.batches[ident]["input_file_id"]].splitlines()
        prompt = json.loads(lines[0])["body"]["messages"][-1]["content"]
        japanese = any("ぁ" <= letter <= "ヿ" for letter in prompt)
        fetched = "download" in server.calls
        return whole(ident) if (fetched if japanese else len(lines) == 15) else server.batches[ident]

    monkeypatch.setattr(server, "poll", poll)
    assert polyculture("run", "--only", "generate", write(tmp_path, server), cwd=tmp_path).returncode == 6
    failed = [(row["language"], row["retryable"]) for row in responses(tmp_path)]
    assert sorted(set(failed)) == [("ja", True), ("ko", True)]
    assert len(failed) == PER_JOB + 15
