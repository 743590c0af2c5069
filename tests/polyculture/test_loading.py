"""What a person is told while a model is loaded."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from polyculture import progress
from polyculture.generate.engines import SAMPLING, ModelSpec
from polyculture.running import models


def test_who_waits_long_for_a_model_is_told_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []

    @contextmanager
    def slow(spec: ModelSpec, _needs: object) -> Iterator[str]:
        end = time.monotonic() + 60
        while len(lines) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        yield spec.model

    monkeypatch.setattr(models._log, "info", lines.append)
    monkeypatch.setattr(progress, "SILENT", 0.05)
    monkeypatch.setattr(models, "open_engine", slow)
    with models.load_model(ModelSpec("transformers:large"), SAMPLING) as engine:
        assert engine == "transformers:large"
        told = len(lines)
        time.sleep(0.1)
    assert set(lines) == {"transformers:large: still being loaded"}
    assert len(lines) == told >= 2, "nothing more once it is there"
