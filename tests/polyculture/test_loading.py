"""What a person is told while a model is loaded."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from threading import enumerate as running

import pytest

import polyculture.generate.engines
from polyculture.generate.engines import ModelSpec
from polyculture.running import models

SPEC = ModelSpec("transformers:large")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that were said, soon instead of after ten seconds."""
    lines: list[str] = []
    monkeypatch.setattr(models, "say", lines.append)
    monkeypatch.setattr(models, "PLAIN_EVERY", 0.05)
    return lines


def test_who_waits_long_for_a_model_is_told_for_what(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def slow(spec: ModelSpec) -> Iterator[str]:
        end = time.monotonic() + 60
        while len(told) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        yield spec.model

    monkeypatch.setattr(polyculture.generate.engines, "open_engine", slow)
    with models.load_model(SPEC) as engine:
        assert engine == "transformers:large"
    *waiting, loaded = told
    assert len(waiting) >= 2
    assert set(waiting) == {"transformers:large: 0 s, still being loaded"}
    assert loaded == "transformers:large: loaded in 0 s"


def test_of_a_model_that_is_there_or_cannot_be_loaded_nothing_is_said(
    told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever would say so, in ten minutes, is gone the moment the model is there."""
    monkeypatch.setattr(models, "PLAIN_EVERY", 600.0)
    left = Event()

    @contextmanager
    def quick(spec: ModelSpec) -> Iterator[str]:
        if spec.name == "broken":
            raise OSError("no such file")
        yield spec.model
        left.set()

    monkeypatch.setattr(polyculture.generate.engines, "open_engine", quick)
    with models.load_model(SPEC), pytest.raises(OSError, match="no such file"):
        models.load_model(ModelSpec("transformers:broken")).__enter__()
    for thread in (thread for thread in running() if thread.name == models.TELLER):
        thread.join(60)
        assert not thread.is_alive()
    assert left.is_set()
    assert told == []
