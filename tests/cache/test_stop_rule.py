"""When a stage stops itself, answer by answer; and that every table whose rows may fail is in the view `failures`."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyculture.cache.faults import StopLimits
from polyculture.cache.run_folder import Job
from polyculture.cache.schema import EXTRACTIONS, RESPONSES
from polyculture.cache.stop_rule import Failure, StopRule, see_rows
from polyculture.running.layout import store_layout

JOB = Job("openai:one", "ja", "food")
BUSY, ODD = "HTTP 500: busy", "HTTP 400: too odd"


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def rule(answers: int = 20, minutes: float = 5, clock: Clock | None = None) -> StopRule:
    return StopRule("generate openai:one", StopLimits(answers, minutes), clock=clock or Clock())


def fail(stage: StopRule, number: int, error: str = BUSY, **more: Any) -> None:
    stage.fail(Failure(JOB, f"key-{number}", f"prompt-{number}", error, **more))


@given(st.integers(1, 40), st.integers(0, 60), st.sampled_from([BUSY, ODD, "HTTP 401: no", "the answer is no JSON: x"]))
def test_it_stops_after_as_many_first_answers_as_it_is_told_and_not_before(most: int, came: int, error: str) -> None:
    stage = rule(answers=most)
    for number in range(came):
        assert (stage.stopped is not None) == (number >= max(most, 2))
        fail(stage, number, error)
    assert (stage.stopped is not None) == (came >= max(most, 2))
    if stage.stopped is not None:
        assert stage.unsettled[JOB] >= {f"key-{number}" for number in range(most)}


@given(st.integers(0, 19))
def test_one_answer_of_use_or_another_reason_ends_the_count(place: int) -> None:
    for other in ("ok", ODD):
        stage = rule()
        for number in range(100):
            if number == place:
                stage.succeed() if other == "ok" else fail(stage, number, ODD)
            else:
                fail(stage, number)
        assert stage.stopped is None


def test_answers_about_one_prompt_end_its_job_and_the_next_prompt_decides() -> None:
    stage = rule()
    for number in range(20):
        stage.fail(Failure(JOB, f"key-{number}", "prompt", BUSY))
    assert stage.is_one_prompt
    assert stage.stopped is None
    fail(stage, 21)
    assert stage.stopped is not None


def test_a_service_that_fails_for_minutes_stops_it_whatever_the_reasons() -> None:
    clock = Clock()
    stage = rule(clock=clock)
    stage.succeed()
    for number in range(60):
        clock.now = 5.0 * number
        fail(stage, number, (BUSY, "no answer in time", "HTTP 429: slow down")[number % 3])
        assert stage.stopped is None
    clock.now = 300.0
    fail(stage, 61)
    assert "no answer was of use in 5 minutes" in str(stage.stopped)


def test_a_success_in_between_or_a_request_s_own_fault_is_no_failing_service() -> None:
    clock = Clock()
    stage, own = rule(clock=clock), rule(clock=clock)
    own.succeed()
    for number in range(200):
        clock.now = 5.0 * number
        fail(own, number, ODD)
        fail(stage, number)
        if number % 50 == 10:
            stage.succeed()
    assert stage.stopped is None
    assert own.stopped is None


def test_rules_that_are_off_stop_nothing() -> None:
    clock = Clock()
    stage = rule(answers=0, minutes=0, clock=clock)
    for number in range(100):
        clock.now = 60.0 * number
        fail(stage, number)
    stage.end()
    assert stage.stopped is None or "all 100 answers" in str(stage.stopped)


@pytest.mark.parametrize(("before", "error", "stops"), [(False, BUSY, True), (True, BUSY, False), (False, ODD, False)])
def test_a_small_stage_that_a_service_answered_nothing_of_is_stopped_too(before: bool, error: str, stops: bool) -> None:
    stage = rule()
    stage.has_rows = before
    for number in range(3):
        fail(stage, number, error)
    stage.end()
    assert (stage.stopped is not None) == stops


def row(status: str, error: str | None = None, **more: Any) -> Any:
    told = {"response_id": "r", "prompt_id": "p", "extraction_id": "e", "purchase": "direct", "ending": None}
    return SimpleNamespace(**{**told, "status": status, "error": error, **more})


def test_refusals_second_attempts_and_what_nobody_was_asked_count_for_nothing() -> None:
    stage = rule()
    for number in range(30):
        refused = row("failed", "refused: I cannot", ending="withheld", response_id=str(number))
        second = row("unusable", "the answer is no JSON: x", attempts=2, response_id=str(number))
        unasked = row("failed", "a token is unknown", purchase=None, response_id=str(number))
        see_rows(stage, JOB, [refused], RESPONSES)
        see_rows(stage, JOB, [second], EXTRACTIONS)
        see_rows(stage, JOB, [unasked], RESPONSES)
    assert stage.stopped is None


def test_the_remedy_and_the_server_stand_in_the_line() -> None:
    stage = rule()
    stage.places = lambda: {"url": "http://x/v1", "key": "Set KEY."}
    for number in range(20):
        fail(stage, number, "HTTP 401: no")
    assert stage.stopped is not None
    line = str(stage.stopped)
    assert line.startswith("http://x/v1: generate openai:one: refuses the API key (HTTP 401: no): the first 20 answers")
    assert line.endswith("Set KEY.")
    assert stage.stopped.exit_code == 6


def test_every_table_whose_rows_may_fail_is_in_the_view_of_failures() -> None:
    layout = store_layout()
    failing = {table.name for table in layout.tables if table.key and {"status", "error"} <= set(table.columns)}
    fed = {source.removeprefix("failed_") for source in layout.current.feeds["failed"]}
    assert failing - {"swap_readings"} == fed, "readings are told in the view of the answers that they read"
