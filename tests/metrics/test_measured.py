"""What a measure rests on is unchanged: it is not computed again. Anything else, and it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.store.data_identity import measure_file
from polyculture.cache.store.manifest import TEXTS, CurrentId, require_run, write_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import DIFFERENCES, NUMBERS, PROMPT_REVIEWS
from polyculture.cache.store.schema.measured import Number
from polyculture.cache.store.store import open_store
from polyculture.instruments.cbs.measure import measure_bias
from polyculture.instruments.embeddings.measure import measure_separation
from polyculture.instruments.probe.measure import measure_probe, measure_similarities
from polyculture.instruments.questions.attention.measure import measure_attention
from polyculture.instruments.questions.numbers.measure import measure_questions
from polyculture.instruments.swaps.measure import measure_swaps
from polyculture.metrics import MEASURE, METRICS_LAYOUT, measured
from polyculture.metrics.measure import measure
from polyculture.metrics.measured import read_numbers, renew, renew_table
from tests.report_run import Synthetic
from tests.store_builder import blank


def compute(store: Any, _: Any, inputs: str) -> tuple[Iterator[Number], list[Any]]:
    """One number: how many responses there are."""
    [(count,)] = store.sql("SELECT count(*) FROM responses").fetchall()
    return iter([replace(NUMBER, estimate=float(count), inputs=inputs)]), []


NUMBER = Number(**blank("numbers", measure="entities", metric="answered", facets={"a": "b"}, sizes={"n": 1}))


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return Synthetic(n=1, models=["openai:one"], languages=("en",), topics=("food",)).write(tmp_path / "run")


def renewed(run: RunFolder, **options: Any) -> bool:
    return renew(run, METRICS_LAYOUT, [MEASURE], compute, options) == [MEASURE]


def test_numbers_are_computed_once_and_read_as_they_were_written(run: RunFolder) -> None:
    assert renewed(run)
    written = measure_file(run, NUMBERS, "entities").read_bytes()
    assert not renewed(run)
    assert measure_file(run, NUMBERS, "entities").read_bytes() == written
    [number] = read_numbers(run, "entities")
    assert number.estimate
    assert replace(number, estimate=None, inputs="") == replace(NUMBER, estimate=None, inputs="")


def other_code(run: RunFolder, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(measured, "code_id", lambda *_: "of another version")


def other_data(run: RunFolder, patch: pytest.MonkeyPatch) -> None:
    Synthetic(n=2, models=["openai:one"], languages=("en",), topics=("food",)).write(run.root)


def other_request(run: RunFolder, patch: pytest.MonkeyPatch) -> None:
    manifest = require_run(run)
    asked = {**manifest.asked, TEXTS: [*manifest.asked[TEXTS], CurrentId(what="extract", id="another", reads=True)]}
    write_manifest(manifest.model_copy(update={"asked": asked}), run.manifest)


def no_numbers(run: RunFolder, patch: pytest.MonkeyPatch) -> None:
    measure_file(run, NUMBERS, "entities").unlink()


def no_differences(run: RunFolder, patch: pytest.MonkeyPatch) -> None:
    measure_file(run, DIFFERENCES, "entities").unlink()


@pytest.mark.parametrize("change", [other_code, other_data, other_request, no_numbers, no_differences])
def test_any_change_renews_them(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch, change: Callable[[RunFolder, pytest.MonkeyPatch], None]
) -> None:
    assert renewed(run)
    change(run, monkeypatch)
    assert renewed(run)
    assert not renewed(run)


def test_what_other_instruments_ask_renews_nothing(run: RunFolder) -> None:
    assert renewed(run)
    manifest = require_run(run)
    asked = {
        "setups": {"score openai:one": {"model": "one"}},
        "asked": {**manifest.asked, "swaps": [CurrentId(what="place", id="id", settings={"temperature": 0.0})]},
    }
    write_manifest(manifest.model_copy(update=asked), run.manifest)
    assert not renewed(run)


def test_a_table_is_made_again_where_what_is_asked_or_an_option_has_changed(run: RunFolder) -> None:
    made = []

    def rows(store: Any) -> list[Any]:
        made.append(store)
        return []

    def make(**options: Any) -> int:
        renew_table(run, METRICS_LAYOUT, PROMPT_REVIEWS, rows, options)
        return len(made)

    assert (make(), make()) == (1, 1)
    assert make(encoder="another") == 2
    asked = {"asked": {"probe": [CurrentId(what="question", id="another id")]}}
    write_manifest(require_run(run).model_copy(update=asked), run.manifest)
    assert (make(), make()) == (3, 3)
    run.table(PROMPT_REVIEWS.name).unlink()
    assert make() == 4


def test_other_options_renew_them(run: RunFolder) -> None:
    assert renewed(run, seed=1)
    assert not renewed(run, seed=1)
    assert renewed(run, seed=2)


def test_what_fails_halfway_is_computed_again(run: RunFolder) -> None:
    def fails(*arguments: Any) -> Any:
        compute(*arguments)
        raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        renew(run, METRICS_LAYOUT, [MEASURE], fails)
    assert renewed(run)


@pytest.mark.parametrize(
    "again",
    [
        measure,
        measure_bias,
        measure_attention,
        measure_questions,
        partial(measure_swaps, task="qa"),
        partial(measure_probe, resamples=9, seed=1),
        partial(measure_similarities, encoders={}),
        measure_separation,
    ],
    ids=["entities", "cbs", "attention", "questions", "swaps", "probe", "similarities", "separation"],
)
def test_every_measure_reads_an_unchanged_run_once(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch, again: Callable[[RunFolder], object]
) -> None:
    opened = []

    def counting(*arguments: Any, **named: Any) -> Any:
        opened.append(arguments)
        return open_store(*arguments, **named)

    monkeypatch.setattr(measured, "open_store", counting)
    again(run)
    assert len(opened) == 1
    again(run)
    assert len(opened) == 1
