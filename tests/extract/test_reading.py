"""Reading an extractor's answer is a step apart from asking for it: mended rules buy nothing again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.store.manifest import read_manifest
from polyculture.cache.store.parquet import read_rows
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import WANTED_RESPONSES
from polyculture.cache.store.store import open_store
from polyculture.cache.work.outcome import Outcome
from polyculture.extract import answer as answer_module
from polyculture.extract import reading
from polyculture.extract.answer import ReadAnswer, read_answer
from polyculture.extract.llm import LlmExtractor, llm_extractor_id
from polyculture.extract.step import ExtractionStep
from polyculture.extract.text_step import ExtractorChoice
from polyculture.generate.engines.base import Completion, ModelSpec
from polyculture.generate.engines.endings import ending_of
from polyculture.metrics import METRICS_LAYOUT
from tests.extract.test_stage import FOOD, JOB, good, response, write_run
from tests.extract_engines import ScriptedEngine, answer
from tests.extracted import extracted_by
from tests.steps import do_step

MODEL = "stub:extractor"
COLUMNS = "response_id, status, attempts, mentions, purchase, error"


def script(text: str, attempt: int) -> str | Completion:
    """Of text 0 a good answer, of text 1 an unknown kind at first, of text 2 always, of text 3 none at all."""
    if "Text 3" in text:
        return Completion("r00003", attempt, None, error="never", retryable=False)
    kind = "meal" if "Text 2" in text or ("Text 1" in text and not attempt) else "dish"
    return good(text, attempt) if "Text 0" in text else answer(("ramen", kind))


def extract(run: RunFolder, engine: ScriptedEngine) -> Outcome:
    wanted = read_rows(run.table("wanted_responses"), WANTED_RESPONSES)
    extractor = LlmExtractor(engine, MODEL, FOOD)
    ids = {FOOD.code: extractor.extractor_id}
    choice = ExtractorChoice(MODEL, ids, lambda _job, _models: extractor, reading.present_reader())
    extraction = ExtractionStep(run, [(JOB, 4)], wanted, read_catalog(), choice)
    return do_step(run, extraction, ModelSpec(MODEL), engine)


def rows(run: RunFolder, query: str) -> list[tuple[Any, ...]]:
    """What the store says under the present reader."""
    manifest = read_manifest(run.manifest)
    now = extracted_by({}, {"food": llm_extractor_id(MODEL, FOOD)}, reading.present_reader())
    with open_store(run, METRICS_LAYOUT, manifest=manifest.model_copy(update=now)) as store:
        return [tuple(row) for row in store.sql(query).fetchall()]


def mend(patch: pytest.MonkeyPatch) -> None:
    """A reader for whom a meal is a dish, and soup is nothing."""

    def mended(text: str, *rest: Any) -> ReadAnswer:
        entities = read_answer(text.replace("meal", "dish"), *rest).entities
        return ReadAnswer(tuple(one for one in entities if one.text != "soup"))

    patch.setattr(reading, "read_answer", mended)
    patch.setattr(reading, "VERSION", reading.VERSION + 1)


def test_a_mended_reader_reads_what_is_stored_and_asks_nothing(tmp_path: Path) -> None:
    run, engine = write_run(tmp_path, map(response, range(4))), ScriptedEngine(script)
    assert extract(run, engine) == Outcome(2, 2)
    asked = len(engine.requests)
    assert asked == 1 + 2 + 3 + 1
    bought_tokens = "SELECT count(*), sum(completion_tokens) FROM bought WHERE stage = 'extract'"
    states, found = f"SELECT {COLUMNS} FROM extractions ORDER BY 1", "SELECT surface, count(*) FROM mentions GROUP BY 1"
    numbers = rows(run, states), sorted(rows(run, found))
    assert [row[:4] for row in numbers[0]] == [
        ("r00000", "ok", 1, 3),
        ("r00001", "ok", 2, 1),
        ("r00002", "failed", 3, 0),
        ("r00003", "failed", 1, 0),
    ]
    with pytest.MonkeyPatch.context() as patch:
        mend(patch)
        assert extract(run, engine) == Outcome(3, 1, reused=3)
        assert rows(run, states) == [
            ("r00000", "ok", 1, 2, None, None),
            ("r00001", "ok", 1, 1, None, None),
            ("r00002", "ok", 1, 1, None, None),
            ("r00003", "failed", 1, 0, None, "never"),
        ]
        assert sorted(rows(run, found)) == [("chopsticks", 1), ("ramen", 3)]
        assert extract(run, engine) == Outcome(3, 1, reused=3)
        [(bought, tokens)] = rows(run, bought_tokens)
    assert extract(run, engine) == Outcome(2, 2, reused=2)
    assert (rows(run, states), sorted(rows(run, found))) == numbers
    assert [(bought, tokens)] == rows(run, bought_tokens)
    assert len(engine.requests) == asked


def test_what_is_still_to_be_asked_is_asked_and_what_can_be_read_is_not(tmp_path: Path) -> None:
    """Stopped after answers of no use: a reader that understands them needs no other, one that does not asks on."""
    run = write_run(tmp_path, map(response, range(2)))

    class Stops(ScriptedEngine):
        def _complete(self, request: Any) -> Completion:
            if len(self.requests) > 2:
                raise KeyboardInterrupt
            return super()._complete(request)

    def first(text: str, attempt: int) -> str:
        return "no JSON" if "Text 1" in text and not attempt else answer(("ramen", "dish" if attempt else "meal"))

    with pytest.raises(KeyboardInterrupt):
        extract(run, Stops(first))
    with pytest.MonkeyPatch.context() as patch:
        mend(patch)
        engine = ScriptedEngine(first)
        assert extract(run, engine) == Outcome(2, 0, reused=1)
        assert [request.seeds for request in engine.requests] == [(1,)]
        assert rows(run, "SELECT response_id, attempts FROM extractions ORDER BY 1") == [("r00000", 1), ("r00001", 2)]


def test_an_answer_that_was_cut_stays_so(tmp_path: Path) -> None:
    run = write_run(tmp_path, map(response, range(1)))
    cut = Completion("r00000", 0, answer(("ramen", "dish"))[:20], finish_reason="length")
    engine = ScriptedEngine(lambda _text, _attempt: cut)
    assert extract(run, engine) == Outcome(0, 1)
    with pytest.MonkeyPatch.context() as patch:
        mend(patch)
        assert extract(run, engine) == Outcome(0, 1)
        assert rows(run, "SELECT error, finish_reason FROM extractions") == [(answer_module.CUT_SHORT, "length")]


def test_rules_of_reading_are_in_the_readers_id_and_not_in_the_extractors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = llm_extractor_id(MODEL, FOOD)
    present = reading.present_reader()
    monkeypatch.setattr(reading, "rules_hash", lambda *_: "other rules")
    assert reading.present_reader() != present
    assert llm_extractor_id(MODEL, FOOD) == before


def test_what_an_extractor_lost_is_counted(tmp_path: Path) -> None:
    """Text by text: whole at once; cut, then whole; cut to the end; an unknown kind, no names; the form given back."""
    named = '{"text": "ramen", "kind": "dish", "name": "ramen", "english": "ramen"}'
    whole, cut = f'{{"declined": true, "mentions": [{named}]}}', f'{{"mentions": [{named}, {{"text": "so'
    unnamed = answer(("ramen", "dish"), ("fork", "utensil"), ("sushi", "dish"))
    form = '{"mentions": [{"text": "...", "kind": "...", "name": "...", "english": "..."}]}'

    def script(text: str, attempt: int) -> Completion:
        number = int(text.split()[1].strip(":"))
        raw = [whole, whole if attempt else cut, cut, unnamed, form][number]
        ends = "length" if raw is cut else "stop"
        return Completion(f"r{number:05}", attempt, raw, ending_of(ends), ends, None, None if raw is cut else 9)

    run = write_run(tmp_path, map(response, range(5)))
    assert extract(run, ScriptedEngine(script)) == Outcome(4, 1)
    columns = (
        "answers_read, cut_answers, asked_again, unknown_kinds, unreadable, listed, not_in_the_text, unnamed, "
        "unread_answers, echoed, declined_texts, declined_alone, declined_in_doubt"
    )
    [counts] = rows(run, f"SELECT {columns} FROM extraction_losses")
    assert dict(zip(columns.split(", "), counts, strict=True)) == {
        "answers_read": 4, "cut_answers": 1, "asked_again": 2, "unknown_kinds": 1, "unreadable": 0, "listed": 5,
        "not_in_the_text": 1, "unnamed": 2, "unread_answers": 1, "echoed": 1, "declined_texts": 2,
        "declined_alone": 2, "declined_in_doubt": 0,
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:  # a mended reader reads the same, and buys nothing
        patch.setattr(reading, "VERSION", reading.VERSION + 1)
        assert extract(run, ScriptedEngine(lambda *_: "never")) == Outcome(4, 1, reused=4)
        assert rows(run, "SELECT cut_answers, unknown_kinds, unnamed, echoed FROM extraction_losses") == [(1, 1, 2, 1)]
