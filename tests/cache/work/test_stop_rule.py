"""When a stage stops itself, answer by answer; and that every table whose rows may fail is in the view `failures`."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyculture.cache.store.run_folder import Job
from polyculture.cache.store.schema import EXTRACTIONS, RESPONSES
from polyculture.cache.work.faults import StopLimits
from polyculture.cache.work.stop_rule import Failure, StoppedStage, StopRule, StopRules, see_rows, whole
from polyculture.running.layout import store_layout

JOB = Job("openai:one", "ja", "food")
BUSY, BUDGET = "HTTP 500: busy", "HTTP 400: Budget has been exceeded! Current cost: 10.2"


def rule(answers: int = 8) -> StopRule:
    return StopRule("generate openai:one", StopLimits(answers, 5))


def fail(stage: StopRule, number: int, error: str = BUDGET, prompt: str | None = None, **more: Any) -> None:
    stage.fail(Failure(JOB, f"key-{number}", prompt or f"prompt-{number}", error, **more))


FAULTS = [
    BUSY,
    BUDGET,
    "HTTP 401: no",
    "HTTP 404: gone",
    "HTTP 400: maximum context length is 8",
    "the answer is no JSON: x",
    "HTTP 503: Loading model",
]


@given(st.integers(1, 40), st.integers(0, 60), st.sampled_from(FAULTS))
def test_one_fault_stops_it_after_as_many_prompts_as_it_is_told_and_not_before(
    most: int, came: int, error: str
) -> None:
    stage = rule(answers=most)
    for number in range(came):
        assert (stage.stopped is not None) == (number >= max(most, 2))
        fail(stage, number, error)
    assert (stage.stopped is not None) == (came >= max(most, 2))
    if stage.stopped is not None:
        assert stage.unsettled[JOB] >= {f"key-{number}" for number in range(most)}
        assert error in str(stage.stopped)


@given(
    st.lists(st.integers(0, 63), min_size=64, max_size=64),
    st.sampled_from([fault for fault in FAULTS if fault != BUSY]),
)
def test_a_fault_that_begins_with_64_requests_in_flight_stops_it_and_settles_nothing(
    late: list[int], error: str
) -> None:
    """Answers of use that were on their way come between the failures; at most 64 of them."""
    stage = rule()
    for number in range(30):
        stage.succeed(f"good-{number}")
    for number, other in enumerate(late):
        fail(stage, number, error)
        if other < 8 and stage.stopped is None:
            stage.succeed(f"late-{number}")
    for number in range(64, 64 + 200):
        if stage.stopped is None:
            fail(stage, number, error)
    assert stage.stopped is not None
    assert stage.unsettled[JOB] >= {f"key-{number}" for number in range(8)}, "those before a late answer, too"


@given(st.integers(0, 7))
def test_an_answer_of_use_ends_the_count(place: int) -> None:
    stage = rule()
    for number in range(100):
        stage.succeed(f"prompt-{number}") if number % 8 == place else fail(stage, number)
    assert stage.stopped is None
    assert sum(map(len, stage.unsettled.values())) < 8, "rejections between good answers are settled"


def test_another_fault_in_between_does_not_end_the_count() -> None:
    stage = rule()
    for number in range(15):
        fail(stage, number, (BUDGET, "HTTP 403: no")[number % 2])
    assert stage.stopped is not None
    assert stage.unsettled == {JOB: {f"key-{number}" for number in range(0, 15, 2)}}


def test_one_rejected_prompt_between_good_ones_is_settled_alone_however_often_it_is_asked() -> None:
    stage = rule()
    stage.succeed("before")
    for number in range(160):
        fail(stage, number, prompt="odd")
    assert stage.stopped is None
    stage.succeed("behind")
    stage.end()
    assert (stage.stopped, stage.unsettled) == (None, {})


def test_a_prompt_that_was_answered_before_is_not_to_blame() -> None:
    """Few prompts and many samples: eight prompts in a row never come."""
    stage = rule()
    for _ in range(30):
        stage.succeed("prompt")
    for number in range(7):
        fail(stage, number, "HTTP 404: gone", prompt="prompt")
    assert stage.stopped is None
    fail(stage, 7, "HTTP 404: gone", prompt="prompt")
    assert "8 answers in a row" in str(stage.stopped)


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3])
def test_a_model_that_fails_now_and_then_is_asked_to_the_end(share: float) -> None:
    stopped = 0
    for seed in range(40):
        draw, stage = random.Random(seed), rule()
        stage.succeed("first")
        for number in range(1000):
            fail(stage, number, "no answer behind it") if draw.random() < share else stage.succeed(f"prompt-{number}")
        stopped += stage.stopped is not None
    assert stopped <= 2


def test_answers_about_one_prompt_end_its_job_and_the_next_prompt_decides() -> None:
    stage = rule()
    for number in range(8):
        fail(stage, number, BUSY, prompt="prompt")
    assert stage.is_one_prompt
    assert stage.stopped is None
    fail(stage, 21, BUSY)
    assert stage.stopped is not None


def test_rules_that_are_off_stop_nothing_and_settle_rejections() -> None:
    stage = rule(answers=0)
    for number in range(100):
        fail(stage, number)
    stage.end()
    assert (stage.stopped, stage.unsettled) == (None, {})


@pytest.mark.parametrize(
    ("before", "error", "stops"),
    [
        (False, BUSY, True),
        (True, BUSY, False),
        (False, BUDGET, True),
        (False, "HTTP 400: flagged by moderation", False),
    ],
)
def test_a_small_stage_that_a_service_answered_nothing_of_is_stopped_too(before: bool, error: str, stops: bool) -> None:
    stage = rule()
    stage.has_rows = before
    for number in range(3):
        fail(stage, number, error)
    stage.end()
    assert (stage.stopped is not None) == stops


def test_rejections_at_the_end_are_not_settled_where_they_meet_several_prompts() -> None:
    """An account that runs out five prompts before the end: no answer after them says that it was the prompts."""
    stage = rule()
    stage.succeed("before")
    for number in range(5):
        fail(stage, number)
    stage.end()
    assert stage.stopped is None
    assert stage.unsettled == {JOB: {f"key-{number}" for number in range(5)}}


@pytest.mark.parametrize("failed", [5, 8])
def test_what_is_unsettled_is_a_copy_that_later_failures_of_other_jobs_leave_alone(failed: int) -> None:
    """A thread that reopened rows met "dictionary changed size during iteration"."""
    stage = rule()
    for number in range(failed):
        fail(stage, number)
    first = stage.unsettled
    fail(stage, failed)
    stage.fail(Failure(Job("openai:one", "ko", "food"), "other", "prompt-other", BUDGET))
    assert first == {JOB: {f"key-{number}" for number in range(failed)}}
    assert len(stage.unsettled) == 2


def row(status: str, error: str | None = None, **more: Any) -> Any:
    told = {"response_id": "r", "prompt_id": "p", "extraction_id": "e", "purchase": "direct", "ending": None}
    return SimpleNamespace(**{**told, "status": status, "error": error, **more})


def test_refusals_second_attempts_and_what_nobody_was_asked_count_for_nothing() -> None:
    stage = rule()
    for number in range(30):
        refused = row("failed", "refused: I cannot", ending="withheld", response_id=str(number))
        second = row("unusable", "the answer is no JSON: x", attempts=2, response_id=str(number))
        unasked = row("failed", "a token is unknown", purchase=None, response_id=str(number))
        grows = row("unusable", "the answer was cut", attempts=1, ending="cut", response_id=str(number))
        see_rows(stage, JOB, [refused], RESPONSES)
        see_rows(stage, JOB, [second], EXTRACTIONS)
        see_rows(stage, JOB, [unasked], RESPONSES)
        see_rows(stage, JOB, [grows], EXTRACTIONS)  # it is asked for again with more room
    assert stage.stopped is None


def test_the_remedy_and_the_server_stand_in_the_line() -> None:
    stage = rule()
    stage.places = lambda: {"url": "http://x/v1", "key": "Set KEY."}
    for number in range(8):
        fail(stage, number, "HTTP 401: no")
    line = str(stage.stopped)
    assert line.startswith("http://x/v1: generate openai:one: refuses the API key (HTTP 401: no): 8 prompts in a row")
    assert line.endswith("Set KEY.")
    assert stage.stopped.exit_code == 6


def test_every_table_whose_rows_may_fail_is_in_the_view_of_failures() -> None:
    layout = store_layout()
    failing = {table.name for table in layout.tables if table.key and {"status", "error"} <= set(table.columns)}
    fed = {source.removeprefix("failed_") for source in layout.current.feeds["failed"]} - {"unusable_extractions"}
    fed |= {table.name for table in layout.tables if table.wanted and "error" in table.columns}
    assert failing == fed


def test_the_fault_of_a_service_stops_the_next_stage_of_its_model_at_once() -> None:
    rules, key = StopRules(), "HTTP 401: wrong"
    texts = rules.of(["one"], rule())
    for number in range(8):
        fail(texts, number, key)
    assert texts.stopped is not None
    rules.note([texts.as_stopped(("one",), texts.stopped)])
    other, again = rules.of(["two"], StopRule("ask two")), rules.of(["one"], StopRule("ask one"))
    for stage in (other, again):
        fail(stage, 9, key)
    assert (other.stopped, again.stopped is None) == (None, False)
    assert "ask one" in str(again.stopped)
    assert texts.name in str(again.stopped)
    assert [len(list(some)) for some in again.rounds(range(30), whole)] == [0], "nothing more is asked"


def test_after_a_fault_of_the_service_one_request_is_sent_and_if_it_is_answered_all_others() -> None:
    rules = StopRules()
    rules.note([StoppedStage("generate one", "", ("one",), "key")])
    stage = rules.of(["one"], StopRule("ask one"))
    rounds = stage.rounds(range(30), whole)
    assert list(next(rounds)) == [0]
    stage.succeed()
    assert list(next(rounds)) == list(range(1, 30))
    for number in range(7):
        fail(stage, number, "HTTP 401: wrong")
    assert stage.stopped is None, "an answer of use ended the row"


@pytest.mark.parametrize("error", ["HTTP 400: unknown parameter", "HTTP 400: content_filter: filtered"])
def test_a_fault_of_what_is_asked_is_no_sign_for_another_stage(error: str) -> None:
    rules = StopRules()
    texts = rules.of(["one"], rule())
    for number in range(8):
        fail(texts, number, error)
    assert texts.stopped is not None
    rules.note([texts.as_stopped(("one",), texts.stopped)])
    assert rules.before(["one"]) is None
