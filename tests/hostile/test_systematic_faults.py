"""A systematic fault is not paid for to the end: what servers with such faults are asked, and what is left to ask."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.work.faults import fault_table
from tests.instruments.questions.test_command import answering, oracle
from tests.instruments.questions.test_command import write as write_set
from tests.instruments.test_swaps_command import write as write_swaps
from tests.polyculture.test_command_line import polyculture
from tests.servers import HTML, TRUNCATED, Reply, StubServer, failure
from tests.stored import rows

EXPERIMENT = """
name = "faults"
models = ["openai:one", "openai:two"]
languages = ["ja", "ko"]
topics = ["food"]
countries = ["IT", "JP"]
conditions = ["neutral", "explicit"]
[sampling]
n = {n}
[extract]
with = "{extractor}"
[options.openai]
base_url = "{url}"
max_retries = 1
{more}
"""
FIRST = fault_table().stop.answers
SAMPLES = 12
EACH = 3 * SAMPLES  # of a job: three prompts
GAZETTEER = "gazetteer"


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer() as server:
        yield server


def write(folder: Path, url: str, extractor: str = GAZETTEER, more: str = "", n: int = SAMPLES) -> Path:
    file = folder / "exp.toml"
    file.write_text(EXPERIMENT.format(url=url, extractor=extractor, more=more, n=n), encoding="utf-8")
    return file


def asked(stub: StubServer) -> Counter[str]:
    return Counter(body["model"] for body in stub.bodies)


def of_one(reply: Callable[[Mapping[str, Any], int], Reply | None]) -> Any:
    return lambda body, before: reply(body, before) if body["model"] == "one" else None


def number(body: Mapping[str, Any]) -> str:
    return f"{body['seed']:x}-af09"


# Faults that differ in how they are recognised; what every status means is asked in test_fault_table. Each with the
# attempts that an answer takes.
SYSTEMATIC: dict[str, tuple[Callable[..., Reply], int]] = {
    "key": (lambda *_: failure(401, "wrong"), 1),
    "quota": (lambda *_: failure(429, "quota", code="insufficient_quota"), 1),
    "web-page": (lambda *_: HTML, 1),
    "400": (lambda *_: failure(400, "max_tokens is not supported"), 1),
    "any-words": (lambda body, _: failure(400, f"{number(body)} at {body['messages'][0]['content']}"), 1),
    "budget": (lambda *_: failure(400, "Budget has been exceeded! Current cost: 10.2"), 1),
    "a-list": (lambda *_: Reply(400, b'[{"error": {"code": 400, "message": "API key expired"}}]'), 1),
    "content-policy": (lambda *_: failure(400, "filtered", code="content_filter"), 1),
    "500-with-ids": (lambda body, _: failure(500, f"trace {number(body)}", retry_after="0.01"), 2),
    "rate-limit": (lambda *_: failure(429, "slow down", retry_after="0.01"), 2),
    "truncated": (lambda *_: TRUNCATED, 2),
    "another-shape": (lambda *_: Reply(body=b'{"text": "hello"}'), 2),
}


def test_the_stage_of_each_model_with_a_fault_stops_and_that_of_another_goes_on(
    tmp_path: Path, stub: StubServer
) -> None:
    stub.behaviour = lambda body, before: SYSTEMATIC[body["model"]][0](body, before) if body["model"] != "two" else None
    file, each = write(tmp_path, stub.url, n=8), 2 * 3 * 8
    models = json.dumps([f"openai:{name}" for name in (*SYSTEMATIC, "two")])
    text = file.read_text(encoding="utf-8").replace('["openai:one", "openai:two"]', models)
    file.write_text(text, encoding="utf-8")
    result = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    assert result.returncode == 6, result.stderr
    assert asked(stub)["two"] == each
    for name, (_, attempts) in SYSTEMATIC.items():
        assert asked(stub)[name] <= attempts * FIRST, name
        (line,) = (line for line in result.stderr.splitlines() if f"generate openai:{name}: " in line)
        assert f"{FIRST} answers in a row failed" in line
        assert "FROM failures" in line
    failed = rows(file, "SELECT model, count(*), bool_and(retryable) FROM responses WHERE status = 'failed' GROUP BY 1")
    assert sorted(failed) == sorted((f"openai:{name}", FIRST, True) for name in SYSTEMATIC)
    wrong = len(SYSTEMATIC) * FIRST
    assert rows(file, 'SELECT sum("rows"), sum(retryable) FROM failures') == [(wrong, wrong)]
    stub.behaviour, before = None, asked(stub)
    done = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert asked(stub) - before == dict.fromkeys(SYSTEMATIC, each), "all of it is asked: nothing counted as settled"
    counts = "SELECT count(*), count(DISTINCT response_id) FROM responses WHERE status = 'ok'"
    assert rows(file, counts) == [((len(SYSTEMATIC) + 1) * each,) * 2]
    assert rows(file, "FROM failures") == []


def test_a_run_with_a_stopped_stage_reports_the_other_models_and_says_why(tmp_path: Path, stub: StubServer) -> None:
    stub.behaviour = of_one(lambda *_: failure(500, "<b>out</b> of disk", retry_after="0.01"))
    file = write(tmp_path, stub.url)
    result = polyculture("run", file, cwd=tmp_path, report=True)
    assert result.returncode == 6, result.stderr
    report = (tmp_path / "runs" / "faults" / "report.html").read_text(encoding="utf-8")
    assert "Why answers are missing" in report
    assert "HTTP 500: …" in report
    assert "<b>out" not in report
    shown = polyculture("status", file, cwd=tmp_path).stdout
    assert f"{FIRST} x HTTP 500" in shown
    assert "FROM failures" in shown


def mentions(body: Mapping[str, Any], key: str) -> Reply:
    content = json.dumps({key: [] if key == "mentions" else "as asked"})
    answer = {"choices": [{"finish_reason": "stop", "message": {"content": content}}], "model": "x",
              "usage": {"prompt_tokens": 7, "completion_tokens": 5}}  # fmt: skip
    return Reply(body=json.dumps(answer).encode())


def test_an_extractor_with_a_wrong_key_is_paid_for_a_few_texts(tmp_path: Path, stub: StubServer) -> None:
    """720 texts failed for good after 2,160 paid requests, and after the repair nothing was asked again."""
    key = "items"
    stub.behaviour = lambda body, _: mentions(body, key) if body["model"] == "x" else None
    file = write(tmp_path, stub.url, "openai:x")
    texts = 4 * EACH
    result = polyculture("run", file, cwd=tmp_path, report=True)
    assert result.returncode == 6, result.stderr
    assert asked(stub)["x"] == FIRST
    last = result.stderr.splitlines()[-1]
    assert "the answer has no list of mentions" in last
    assert "extract audit" in last
    assert "FROM failures" in last
    [(stage, reason, count)] = rows(file, 'SELECT stage, reason, "rows" FROM failures')
    assert (stage, count) == ("extract", FIRST)
    assert "the answer has no list of mentions" in reason
    assert not (tmp_path / "runs" / "faults" / "report.html").exists()
    [(paid, unusable)] = rows(file, "SELECT sum(prompt_tokens), sum(unusable) FROM spending WHERE stage = 'extract'")
    assert (paid, unusable) == (7 * FIRST, FIRST)
    still = polyculture("run", "--only", "extract", file, cwd=tmp_path)
    assert still.returncode == 6
    assert asked(stub)["x"] == 2 * FIRST
    key = "mentions"
    done = polyculture("run", "--only", "extract", file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert asked(stub)["x"] == 2 * FIRST + texts
    assert rows(file, "SELECT count(*), count(*) FILTER (status = 'ok'), max(attempts) FROM extractions") == [
        (texts, texts, 1)
    ]
    [(paid,)] = rows(file, "SELECT sum(prompt_tokens) FROM spending WHERE stage = 'extract'")
    assert paid == 7 * (2 * FIRST + texts), "what was paid for nothing stays in the spending"


def test_one_prompt_that_always_fails_does_not_end_the_stage(tmp_path: Path, stub: StubServer) -> None:
    stub.behaviour = lambda body, _: failure(403, "no") if "日本" in body["messages"][0]["content"] else None
    file = write(tmp_path, stub.url)
    result = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    assert result.returncode == 4, result.stderr
    assert f"{2 * SAMPLES} x HTTP 403: no (generate)" in result.stderr.splitlines()[-1]
    assert rows(file, "SELECT count(*) FROM responses WHERE status = 'ok'") == [(4 * EACH - 2 * SAMPLES,)]
    assert rows(file, 'SELECT reason, sum("rows"), sum(retryable) FROM failures GROUP BY ALL') == [
        ("HTTP 403: no", 2 * SAMPLES, 2 * SAMPLES)
    ]


def test_a_job_of_one_prompt_that_fails_leaves_the_others(tmp_path: Path, stub: StubServer) -> None:
    """It is the only prompt of its job: the job ends after as many answers, and the next one shows that it is alone."""
    stub.behaviour = lambda body, _: failure(500, "x", retry_after="0.01") if _is_ja(body) else None
    file = write(tmp_path, stub.url)
    text = file.read_text(encoding="utf-8").replace('conditions = ["neutral", "explicit"]', 'conditions = ["neutral"]')
    file.write_text(text, encoding="utf-8")
    result = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    assert result.returncode == 4, result.stderr
    assert rows(file, "SELECT language, status, count(*) FROM responses GROUP BY ALL ORDER BY ALL") == [
        ("ja", "failed", 2 * FIRST),
        ("ko", "ok", 2 * SAMPLES),
    ]


def _is_ja(body: Mapping[str, Any]) -> bool:
    return any("ぁ" <= letter <= "ヿ" for letter in body["messages"][0]["content"])


def test_failures_of_several_reasons_are_rows(tmp_path: Path, stub: StubServer) -> None:
    """A model that fails now this way, now that, and answers in between, is asked to the end."""
    replies = [failure(400, "too odd"), failure(403, "no"), failure(422, "too even"), None]
    stub.behaviour = of_one(lambda body, _: replies[body["seed"] % 4])
    file = write(tmp_path, stub.url)
    result = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    assert result.returncode == 4, result.stderr
    assert asked(stub) == {"one": 2 * EACH, "two": 2 * EACH}
    last = result.stderr.splitlines()[-1]
    assert last.count(" x HTTP 4") == 3


def test_the_rule_can_be_turned_off_and_moved(tmp_path: Path, stub: StubServer) -> None:
    stub.behaviour = of_one(lambda *_: failure(400, "no"))
    few, off = (tmp_path / name for name in ("few", "off"))
    for folder, answers in ((few, 3), (off, 0)):
        folder.mkdir()
        file = write(folder, stub.url, more=f"[stop]\nanswers = {answers}")
        before = asked(stub)["one"]
        result = polyculture("run", "--only", "generate", file, cwd=folder)
        assert result.returncode == (6 if answers else 4), result.stderr
        assert asked(stub)["one"] - before == (answers or 2 * EACH)


def test_a_server_that_is_gone_ends_its_model_s_stage(tmp_path: Path, stub: StubServer) -> None:
    with StubServer() as other:
        gone = other.url
    file = write(tmp_path, stub.url, more=f'[options."openai:one"]\nbase_url = "{gone}"')
    result = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    assert result.returncode == 6, result.stderr
    assert (
        f"{gone}: cannot be reached: the port is closed. Is the server running there" in result.stderr.splitlines()[-1]
    )
    assert asked(stub) == {"two": 2 * EACH}


GOOD = 30
MID_RUN = {
    "key": failure(401, "bad key"),
    "404": failure(404, "no such model"),
    "budget": failure(400, "Budget has been exceeded! Current cost: 10.2"),
}


def test_a_fault_in_mid_run_is_not_paid_to_the_end_and_settles_nothing(tmp_path: Path, stub: StubServer) -> None:
    """After good answers, with 64 allowed in flight: "Budget has been exceeded!" once settled 90 prompts for good."""
    given = Counter[str]()

    def behaviour(body: Mapping[str, Any], _: int) -> Reply | None:
        given[body["model"]] += 1
        return MID_RUN[body["model"]] if given[body["model"]] > GOOD else None

    stub.behaviour, stub.latency = behaviour, 0.05
    file = write(tmp_path, stub.url, n=30)
    models = json.dumps([f"openai:{name}" for name in MID_RUN])
    text = file.read_text(encoding="utf-8").replace('["openai:one", "openai:two"]', models)
    file.write_text(text, encoding="utf-8")
    result = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    assert result.returncode == 6, result.stderr
    assert result.stderr.count("in a row failed for this reason, and nothing of it is settled") >= len(MID_RUN)
    assert all(asked(stub)[name] <= GOOD + 64 for name in MID_RUN), "no more than were in flight"
    assert rows(file, "SELECT count(*) FROM responses WHERE status = 'failed' AND NOT retryable") == [(0,)]
    stub.behaviour, stub.latency = None, 0.0
    assert polyculture("run", "--only", "generate", file, cwd=tmp_path).returncode == 0
    assert rows(file, "SELECT count(*) FROM responses WHERE status = 'ok'") == [(len(MID_RUN) * 2 * 3 * 30,)]


def test_a_rejected_prompt_between_good_ones_is_settled_alone(tmp_path: Path, stub: StubServer) -> None:
    rejected = failure(400, "This prompt is not allowed here")
    stub.behaviour = of_one(lambda body, _: rejected if "日本" in body["messages"][0]["content"] else None)
    file = write(tmp_path, stub.url)
    assert polyculture("run", "--only", "generate", file, cwd=tmp_path).returncode == 4
    assert rows(file, "SELECT retryable, count(*) FROM responses WHERE status = 'failed' GROUP BY ALL") == [
        (False, SAMPLES)
    ]
    before = asked(stub)["one"]
    assert polyculture("run", "--only", "generate", file, cwd=tmp_path).returncode == 4
    assert asked(stub)["one"] == before


def test_a_time_that_the_server_names_outranks_every_word(tmp_path: Path, stub: StubServer) -> None:
    """A quota per minute: 40 answers, then a refusal until the time that it names has passed."""
    window: dict[str, float] = {"began": 0.0, "given": 0.0}

    def quota(_body: Mapping[str, Any], _: int) -> Reply | None:
        now = time.monotonic()
        if now - window["began"] > 0.2:
            window.update(began=now, given=0.0)
        window["given"] += 1
        return (
            Reply(429, b'[{"error": {"message": "You exceeded your quota. Please retry in 0.2s."}}]')
            if window["given"] > 40
            else None
        )

    stub.behaviour = quota
    file = write(tmp_path, stub.url)
    file.write_text(file.read_text(encoding="utf-8").replace("max_retries = 1", "max_retries = 6"), encoding="utf-8")
    result = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert rows(file, "SELECT count(*) FROM responses WHERE status = 'ok'") == [(4 * EACH,)]


ASKED_LATER = """
[instruments.ask]
set = "made-up.toml"
units = 2
[instruments.sentiment]
data = "own"
folder = "."
draws = 1
entities = 2
"""
STAGES = ("texts", "ask", "sentiment")


def stage_of(body: Mapping[str, Any]) -> str:
    """What a request belongs to: the texts, or an instrument."""
    message = body["messages"][-1]["content"]
    return "sentiment" if '"sentiment"' in message else "ask" if "\nA: " in message else "texts"


def asked_by_stage(stub: StubServer, model: str) -> list[int]:
    found = Counter(stage_of(body) for body in stub.bodies if body["model"] == model)
    return [found[stage] for stage in STAGES]


def answering_all(fault: Reply | None, *stages: str) -> Any:
    """Model two answers; model one fails in these stages."""

    def behave(body: Mapping[str, Any], before: int) -> Reply | None:
        stage = stage_of(body)
        if body["model"] == "one" and stage in stages and fault is not None:
            return fault
        rule = {"texts": None, "ask": oracle, "sentiment": lambda _: '{"sentiment": "neutral"}'}[stage]
        return None if rule is None else answering(rule)(body, before)

    return behave


@pytest.fixture
def with_instruments(tmp_path: Path, stub: StubServer) -> Path:
    """Texts, then two instruments, of the same two models on the same server."""
    write_swaps(tmp_path, stub.url)
    write_set(tmp_path, stub.url)
    return write(tmp_path, stub.url, more=ASKED_LATER, n=4)


WHOLE = (2 * 3 * 4, 12, 16)  # of a model: texts, questions, contexts with entities


def test_the_service_that_stopped_the_texts_is_asked_once_more_by_each_instrument(
    with_instruments: Path, stub: StubServer
) -> None:
    stub.behaviour = answering_all(failure(401, "wrong"), *STAGES)
    result = polyculture("run", with_instruments, cwd=with_instruments.parent)
    assert result.returncode == 6, result.stderr
    assert asked_by_stage(stub, "one") == [FIRST, 1, 1], "eight show that the service is at fault, not eight a step"
    assert asked_by_stage(stub, "two") == list(WHOLE), "another model is asked everything"
    last = result.stderr.splitlines()[-1]
    assert last.count("refuses the API key") == 1, "it is said once"
    assert "the same fault then stopped ask openai:one, sentiment openai:one" in last
    stub.behaviour = answering_all(None)
    stub.bodies.clear()
    assert polyculture("run", with_instruments, cwd=with_instruments.parent).returncode == 0
    assert asked_by_stage(stub, "one") == list(WHOLE), "nothing of it was settled"
    assert asked_by_stage(stub, "two") == [0, 0, 0]


def test_a_service_that_answers_an_instrument_is_asked_all_of_it(with_instruments: Path, stub: StubServer) -> None:
    stub.behaviour = answering_all(failure(403, "no texts for you"), "texts")
    result = polyculture("run", with_instruments, cwd=with_instruments.parent)
    assert result.returncode == 6, result.stderr
    assert asked_by_stage(stub, "one") == [FIRST, *WHOLE[1:]]


def test_a_fault_of_what_is_asked_says_nothing_of_another_instrument(with_instruments: Path, stub: StubServer) -> None:
    stub.behaviour = answering_all(failure(400, "top_k is not supported"), "texts", "sentiment")
    result = polyculture("run", with_instruments, cwd=with_instruments.parent)
    assert result.returncode == 6, result.stderr
    assert asked_by_stage(stub, "one") == [FIRST, WHOLE[1], FIRST]


def test_an_instrument_that_stopped_is_a_sign_for_the_next_one(with_instruments: Path, stub: StubServer) -> None:
    stub.behaviour = answering_all(failure(401, "wrong"), "ask", "sentiment")
    result = polyculture("run", with_instruments, cwd=with_instruments.parent)
    assert result.returncode == 6, result.stderr
    texts, questions, contexts = asked_by_stage(stub, "one")
    assert (texts, contexts) == (WHOLE[0], 1)
    # Six of the first job, and of the second one those that are on their way when the eighth answer has failed.
    assert FIRST <= questions <= WHOLE[1]


def test_the_line_of_a_job_says_how_many_answers_have_tokens_that_do_not_add_up(
    tmp_path: Path, stub: StubServer
) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 12}
    content = {"role": "assistant", "content": "寿司"}
    odd = Reply(body=json.dumps({"choices": [{"finish_reason": "stop", "message": content}], "usage": usage}).encode())
    stub.behaviour = lambda body, _: odd if (body["model"], body["seed"] % 2) == ("one", 0) else None
    file = write(tmp_path, stub.url)
    done = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    noted = rows(file, "SELECT language, count(*) FROM responses WHERE note LIKE 'usage: 3%' GROUP BY 1 ORDER BY 1")
    assert noted
    for language, number in noted:
        (line,) = (line for line in done.stderr.splitlines() if f"openai:one {language} food: " in line)
        assert f"the tokens of {number} of these answers do not add up" in line
    assert done.stderr.count("do not add up") == len(noted)
    again = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    assert "do not add up" not in again.stderr, "it is said of new answers"
