"""Progress is reported at once, and then a few times a second at most."""

from __future__ import annotations

import pytest

from polyculture.cache.work.outcome import Outcome, throttled


def test_reports_that_come_too_soon_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("polyculture.cache.work.outcome.time.monotonic", lambda: now[0])
    seen: list[int] = []
    report = throttled(lambda outcome: seen.append(outcome.done), every=0.25)
    for done, passed in enumerate([0.0, 0.1, 0.1, 0.1, 0.3, 0.0]):
        now[0] += passed
        report(Outcome(done, 0))
    assert seen == [0, 3, 4]
