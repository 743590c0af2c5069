"""The sampling stage against a local server: resumed, topped up, failed, adopted, killed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import EngineError, JobHeldError
from polyculture.cache.store.answers import find_answers
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import CONDITIONS, RESPONSES
from polyculture.cache.store.shards import JobShards
from polyculture.cache.work.outcome import Outcome
from polyculture.generate.engines import Completion, ModelSpec, Request, Sampling, open_engine
from polyculture.generate.engines.models import Wrapper
from polyculture.generate.prompts import build_prompts
from polyculture.generate.request import PromptRequests
from polyculture.generate.sampling import SamplingSettings
from tests.quick_start import begin
from tests.servers import Reply, StubServer, answer_text, failure
from tests.steps import generate_job, missing_samples
from tests.unknown_form import WORDS, in_unknown_form, later_version

CATALOG = read_catalog()
PROMPTS = build_prompts(CATALOG, ["en", "ja"], ["food", "music"], ["JP", "US"], CONDITIONS)
JOB = Job("openai:stub", "ja", "food")
MINE = [p for p in PROMPTS if (p.language, p.topic) == ("ja", "food")]  # 5: neutral, two explicit, two implicit
SAMPLING = SamplingSettings(n=6)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "runs" / "x")


def generate(run: RunFolder, server: StubServer, sampling: SamplingSettings = SAMPLING, **changes: Any) -> Outcome:
    spec = ModelSpec("openai:stub", {"base_url": server.url, "max_retries": 0})
    asked: dict[str, Any] = {"job": JOB, "prompts": PROMPTS, **changes}
    return generate_job(run, spec=spec, sampling=sampling, catalog=CATALOG, **asked)


def rows(run: RunFolder, job: Job = JOB) -> list[dict[str, Any]]:
    with JobShards(run, job, [RESPONSES]) as shards:
        return shards.read("responses").to_pylist()


def test_every_sample_of_the_jobs_prompts_becomes_a_row(run: RunFolder) -> None:
    assert missing_samples(run, JOB, PROMPTS, SAMPLING) == 30
    with StubServer() as server:
        assert generate(run, server) == Outcome(30, 0)
    found = {(row["prompt_id"], row["sample"]): row for row in rows(run)}
    assert set(found) == {(prompt.prompt_id, sample) for prompt in MINE for sample in range(6)}
    for prompt in MINE:
        for sample in range(6):
            row = found[prompt.prompt_id, sample]
            seed = SAMPLING.base_seed(prompt.text) + sample
            assert row["response_id"] == f"{PromptRequests(JOB.model).request_id(prompt.text, SAMPLING)}-{sample}"
            assert (row["seed"], row["text"], row["status"]) == (seed, answer_text(prompt.text, seed), "ok")
            assert (row["condition"], row["country"], row["language"]) == (prompt.condition, prompt.country, "ja")
            assert (row["finish_reason"], row["prompt_tokens"], row["completion_tokens"]) == ("stop", 7, 5)
            assert (row["detected_language"], row["script_share"], row["error"]) == ("ja", 1.0, None)
            assert row["model_version"] == "stub fp_stub"
    assert missing_samples(run, JOB, PROMPTS, SAMPLING) == 0


def test_a_text_that_declines_is_a_response_that_says_so(run: RunFolder) -> None:
    no, yes = "申し訳ありませんが、お手伝いできません。", "ラーメンが好きです。"

    def behave(body: Mapping[str, Any], _before: int) -> Reply:
        said = no if body["messages"][-1]["content"] == MINE[0].text else yes
        choice = {"message": {"content": said}, "finish_reason": "stop"}
        return Reply(body=json.dumps({"model": "stub", "choices": [choice]}).encode())

    with StubServer(behaviour=behave) as server:
        assert generate(run, server, replace(SAMPLING, n=1)) == Outcome(5, 0)
    found = sorted((row["text"], row["status"], row["refused"]) for row in rows(run))
    assert found == [(yes, "ok", False)] * 4 + [(no, "ok", True)]


def test_a_body_in_an_unknown_form_is_kept_and_read_by_a_later_reader(run: RunFolder) -> None:
    """It is bought once: the next version, whose walk knows the form, reads it without a request."""
    once = replace(SAMPLING, n=1)
    with StubServer(behaviour=in_unknown_form(lambda asked: answer_text(asked, 0))) as server:
        assert generate(run, server, once).failed == 5
        asked = len(server.asked)
        unread = rows(run)
        assert all(json.loads(row["body"])["utterance"]["phrase"] for row in unread)
        assert all(WORDS in row["error"] for row in unread)
        assert {row["completion_tokens"] for row in unread} == {5}
        assert missing_samples(run, JOB, PROMPTS, once) == 5, "today's reader would ask again"
        with later_version():
            assert missing_samples(run, JOB, PROMPTS, once) == 0
            assert generate(run, server, once) == Outcome(5, 0, reused=5)
        assert len(server.asked) == asked
    read = [row for row in rows(run) if row["status"] == "ok"]
    assert sorted(row["text"] for row in read) == sorted(answer_text(prompt.text, 0) for prompt in MINE)
    assert {(row["ending"], row["detected_language"]) for row in read} == {("whole", "ja")}
    paid = [row["completion_tokens"] for row in rows(run) if row["purchase"] is not None]
    assert paid == [5] * 5, "what was paid is counted once"


@pytest.mark.parametrize(
    "came",
    [b"Ramen, please.", b'{"choices": [{"message": {"cont', b'data: {"choices": [{"delta": {"content": "R"}}]}\n\n'],
    ids=["a text", "cut JSON", "a stream that breaks off"],
)
def test_a_body_that_cannot_be_parsed_is_kept_too(run: RunFolder, came: bytes) -> None:
    with StubServer(behaviour=lambda _body, _before: Reply(body=came)) as server:
        assert generate(run, server, replace(SAMPLING, n=1)).failed == 5
    assert {row["body"] for row in rows(run)} == {came.decode()}


def test_running_again_asks_nothing_and_needs_no_server(run: RunFolder) -> None:
    with StubServer() as server:
        generate(run, server)
        asked = len(server.asked)
        assert generate(run, server) == Outcome(30, 0, reused=30)
        assert len(server.asked) == asked
    assert generate(run, server) == Outcome(30, 0, reused=30)


def test_a_larger_n_tops_up_and_a_smaller_one_keeps_what_is_there(run: RunFolder) -> None:
    with StubServer() as server:
        generate(run, server, replace(SAMPLING, n=2))
        assert missing_samples(run, JOB, PROMPTS, SAMPLING) == 20
        assert generate(run, server) == Outcome(30, 0, reused=10)
        assert generate(run, server, replace(SAMPLING, n=3)) == Outcome(15, 0, reused=15)
        assert len(server.asked) == len(set(server.asked)) == 30


def test_other_settings_ask_anew_and_leave_the_old_rows(run: RunFolder) -> None:
    with StubServer() as server:
        generate(run, server)
        assert generate(run, server, replace(SAMPLING, temperature=1.0)) == Outcome(30, 0)
        assert len(rows(run)) == 60
        assert generate(run, server) == Outcome(30, 0, reused=30)


def test_failures_are_rows_with_a_reason_and_only_those_that_may_pass_are_asked_again(run: RunFolder) -> None:
    broken = {MINE[0].text: failure(500, "overloaded"), MINE[1].text: failure(400, "too long")}
    with StubServer(behaviour=lambda body, _: broken.get(body["messages"][0]["content"])) as server:
        assert generate(run, server) == Outcome(18, 12)
        failed = [row for row in rows(run) if row["status"] == "failed"]
        assert {(row["prompt_id"], row["error"], row["retryable"]) for row in failed} == {
            (MINE[0].prompt_id, "HTTP 500: overloaded", True),
            (MINE[1].prompt_id, "HTTP 400: too long", False),
        }
        assert all(row["text"] is None and row["detected_language"] is None for row in failed)
        assert missing_samples(run, JOB, PROMPTS, SAMPLING) == 6
        broken.clear()
        asked = len(server.asked)
        assert generate(run, server) == Outcome(24, 6, reused=18)
        assert {text for text, _ in server.asked[asked:]} == {MINE[0].text}
    ids = [row["response_id"] for row in rows(run)]
    assert len(ids) == len(set(ids)) == 30


class Ending(Wrapper):
    """A model that is gone after ten answers."""

    def __init__(self, engine: Sampling) -> None:
        self.engine = engine

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        yield from islice(self.engine.sample(requests), 10)
        raise EngineError("gone")


def test_an_engine_that_ends_the_work_leaves_a_resumable_job(run: RunFolder) -> None:
    with StubServer() as server:
        with open_engine(ModelSpec("openai:stub", {"base_url": server.url})) as engine, pytest.raises(EngineError):
            generate(run, server, engine=Ending(engine))
        kept = {row["response_id"]: row["text"] for row in rows(run)}
        assert 0 < len(kept) < 30
        assert generate(run, server) == Outcome(30, 0, reused=len(kept))
    assert {**{row["response_id"]: row["text"] for row in rows(run)}, **kept} == {
        row["response_id"]: row["text"] for row in rows(run)
    }


def test_answers_of_another_run_are_taken_over_with_this_runs_cells(run: RunFolder, tmp_path: Path) -> None:
    other = RunFolder(tmp_path / "runs" / "earlier")
    with StubServer() as server:
        generate(other, server, replace(SAMPLING, n=4))
        server.behaviour = lambda *_: failure(400)
        mine = [replace(prompt, prompt_id=f"mine-{number}", country="GB") for number, prompt in enumerate(MINE)]
        assert missing_samples(run, JOB, mine, SAMPLING) == 10
        assert missing_samples(run, JOB, mine, replace(SAMPLING, n=4)) == 0
        asked = len(server.asked)
        assert generate(run, server, replace(SAMPLING, n=4), prompts=mine) == Outcome(20, 0, reused=20)
        assert len(server.asked) == asked
    adopted = rows(run)
    assert {row["prompt_id"] for row in adopted} == {prompt.prompt_id for prompt in mine}
    assert {row["country"] for row in adopted} == {"GB"}
    assert {(r["response_id"], r["text"], r["seed"]) for r in adopted} == {
        (r["response_id"], r["text"], r["seed"]) for r in rows(other)
    }


def test_failures_and_other_sampling_settings_are_not_taken_over(run: RunFolder, tmp_path: Path) -> None:
    other = RunFolder(tmp_path / "runs" / "earlier")
    with StubServer(behaviour=lambda *_: failure(400)) as server:
        assert generate(other, server) == Outcome(0, 30)
        server.behaviour = None
        assert generate(run, server, replace(SAMPLING, n=5)) == Outcome(25, 0)
        assert generate(other, server, replace(SAMPLING, seed=9)) == Outcome(30, 0)


def test_an_unreadable_part_of_another_run_is_passed_over(run: RunFolder, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "runs" / "earlier").shards("responses", JOB)
    folder.mkdir(parents=True)
    (folder / "part-00000.parquet").write_bytes(b"no parquet")
    with StubServer() as server:
        assert generate(run, server) == Outcome(30, 0)
    found = find_answers(run, JOB, RESPONSES, JobShards(run, JOB, [RESPONSES]).read("responses"))
    assert found["responses"].num_rows == 0


def test_progress_is_told_at_the_start_and_at_the_end_and_seldom_between(run: RunFolder) -> None:
    told: list[Outcome] = []
    with StubServer() as server:
        generate(run, server, replace(SAMPLING, n=60), progress=told.append)
    assert (told[0], told[-1]) == (Outcome(0, 0), Outcome(300, 0))
    assert len(told) < 50


def test_ctrl_c_leaves_a_resumable_job(run: RunFolder) -> None:
    def interrupt(outcome: Outcome) -> None:
        if outcome.done:
            raise KeyboardInterrupt

    many = replace(SAMPLING, n=60)
    with StubServer(latency=2 * 0.25 / (300 / 64)) as server:  # twice as long as it takes to be told
        with pytest.raises(KeyboardInterrupt):
            generate(run, server, many, progress=interrupt)
        kept = len(rows(run))
        assert 0 < kept < 300
        assert generate(run, server, many) == Outcome(300, 0, reused=kept)


def test_a_job_that_another_process_holds_is_left_to_it(run: RunFolder) -> None:
    with StubServer() as server, JobShards(run, JOB, [RESPONSES]), pytest.raises(JobHeldError):
        generate(run, server)


def sample_in_a_process(run: RunFolder, url: str) -> None:
    spec = ModelSpec("openai:stub", {"base_url": url, "concurrency": 8})
    generate_job(run, JOB, PROMPTS, spec, SamplingSettings(n=100), catalog=CATALOG)


def test_a_job_killed_at_any_moment_resumes_and_ends_as_if_undisturbed(run: RunFolder, tmp_path: Path) -> None:
    sampling = replace(SAMPLING, n=100)
    with StubServer(latency=0.01) as server:
        for answers in (3, 60, 200):
            process = begin(sample_in_a_process, run, server.url)
            goal = len(server.answered) + answers
            while len(server.answered) < goal and process.exitcode is None:
                time.sleep(0.002)
            process.kill()
            process.join()
            kept = {(row["prompt_id"], row["seed"]) for row in _on_disk(run)}
            left = missing_samples(run, JOB, PROMPTS, sampling)
            assert left == 500 - len(kept) > 0
            assert len(server.answered) - len(kept) <= 3 * (8 + 8)  # in flight and waiting to be written, per kill
            seen = len(server.asked)
        assert generate(run, server, sampling) == Outcome(500, 0, reused=500 - left)
        text_of = {prompt.prompt_id: prompt.text for prompt in MINE}
        asked_again = set(server.asked[seen:]) & {(text_of[prompt_id], seed) for prompt_id, seed in kept}
        assert asked_again == set()
    undisturbed = RunFolder(tmp_path / "elsewhere" / "y")
    with StubServer() as server:
        generate(undisturbed, server, sampling)
    assert _answers(run) == _answers(undisturbed)
    assert len(rows(run)) == 500


def _on_disk(run: RunFolder) -> list[dict[str, Any]]:
    """Parts and journal, read without taking the job."""
    shards = JobShards(run, JOB, [RESPONSES])
    journal = [dict(row) for record in shards.read_journal() for row in record["responses"]]
    return shards.read("responses").to_pylist() + journal


def _answers(run: RunFolder) -> dict[str, tuple[str, int, str]]:
    return {row["response_id"]: (row["prompt_id"], row["seed"], row["text"]) for row in rows(run)}
