"""The stage: resumed, topped up, repeated by another extractor; nothing of a failed response counts."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.identity import content_id
from polyculture.cache.store.answers import wanted_batches
from polyculture.cache.store.manifest import Manifest, read_manifest, write_manifest
from polyculture.cache.store.parquet import objects_to_table, read_rows, rows_to_table, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import (
    EXTRACTIONS,
    MENTIONS,
    PROMPTS,
    RESPONSES,
    WANTED_RESPONSES,
    Prompt,
    Response,
    WantedResponse,
)
from polyculture.cache.store.shards import JobShards
from polyculture.cache.store.store import open_store
from polyculture.cache.work.outcome import Outcome
from polyculture.cache.work.worker import left
from polyculture.extract import text_step
from polyculture.extract.base import Extracted, ResponseText
from polyculture.extract.gazetteer import Gazetteer
from polyculture.extract.llm import LlmExtractor
from polyculture.generate.engines import SAMPLING, open_engine
from polyculture.generate.engines.base import Completion, ModelSpec
from tests.extract_engines import Script, ScriptedEngine, answer
from tests.extracted import extracted_by
from tests.quick_start import begin
from tests.servers import StubServer
from tests.steps import OneModel, do_step, extract_job, extraction_step
from tests.unknown_form import WORDS, in_unknown_form, later_version

ROOT = Path(__file__).parents[2]
FOOD = read_catalog().topic("food")
JOB = Job("stub:model", "en", "food")
PROMPT = Prompt("p1", "en", "food", "neutral", None, None, "Write about food.", "write")


def response(number: int, **columns: Any) -> dict[str, Any]:
    row = Response(
        response_id=f"r{number:05}", request_id="q", prompt_id="p1", model=JOB.model, language="en", topic="food",
        condition="neutral", country=None, sample=number, seed=number, status="ok",
        text=f"Text {number}: ramen and soup.", error=None, retryable=None, finish_reason="stop", prompt_tokens=1,
        completion_tokens=1, detected_language="en", language_confidence=1.0, script="Latn", script_share=1.0,
        model_version="v",
    )  # fmt: skip
    return {**asdict(row), **columns}


def write_run(root: Path, responses: Iterable[dict[str, Any]], n: int = 1_000_000, parts: int = 1) -> RunFolder:
    run = RunFolder(root / "run")  # with no other runs beside it
    write_parquet(objects_to_table(PROMPTS, [PROMPT]), run.table("prompts"))
    rows = list(responses)
    with JobShards(run, JOB, [RESPONSES]) as shards:
        for part in range(parts):
            shards.append_part({"responses": rows_to_table(RESPONSES, rows[part::parts])})
    write_manifest(Manifest(experiment="e", polyculture="0", models=[JOB.model], n=n), run.manifest)
    write_parquet(
        objects_to_table(WANTED_RESPONSES, [WantedResponse("q", n, JOB.model, "p1")]), run.table("wanted_responses")
    )
    return run


def gazetteer(names: tuple[str, ...] = ("ramen", "soup")) -> Gazetteer:
    lexicon = pa.table({"surface": list(names), "kind": ["dish"] * len(names), "qid": ["Q1"] * len(names)})
    return Gazetteer(lexicon, FOOD, "en", content_id(names), {})


def llm(script: Script, model: str = "stub:extractor") -> tuple[LlmExtractor, ScriptedEngine]:
    engine = ScriptedEngine(script)
    return LlmExtractor(engine, model, FOOD), engine


def stored(run: RunFolder, table: str, extractor_id: str) -> list[dict[str, Any]]:
    """The rows of a table for an extractor."""
    manifest = read_manifest(run.manifest)
    current = manifest.model_copy(update=extracted_by({}, {"food": extractor_id}))
    query = f"SELECT * FROM {table} ORDER BY ALL"
    with open_store(run, manifest=current) as store:
        return store.sql(query).to_arrow_table().to_pylist()


def good(text: str, attempt: int) -> str:
    return answer(("ramen", "dish"), ("soup", "dish_category"), ("chopsticks", "ingredient"))


def test_a_gazetteer_writes_its_rows_in_bulk(tmp_path: Path) -> None:
    run = write_run(tmp_path, map(response, range(7)), parts=3)
    extractor = gazetteer()
    assert extract_job(run, JOB, FOOD, extractor) == Outcome(7, 0)
    mentions = stored(run, "mentions", extractor.extractor_id)
    assert len(mentions) == 14
    one = next(row for row in mentions if row["response_id"] == "r00003" and row["surface"] == "soup")
    assert one["extraction_id"] == content_id("r00003", extractor.extractor_id)
    assert (one["ordinal"], one["kind"], one["granularity"], one["counted"], one["start"], one["end"]) == (
        1, "dish", 1, True, 18, 22,
    )  # fmt: skip
    assert [row["mentions"] for row in stored(run, "extractions", extractor.extractor_id)] == [2] * 7
    assert not list(run.shards("extractions", JOB).glob("journal*"))


def test_both_ways_of_writing_give_the_same_rows(tmp_path: Path) -> None:
    class Costly(Gazetteer):
        costly = True

    lexicon = pa.table({"surface": ["ramen"], "kind": ["dish"], "qid": ["Q1"]})
    tables = []
    for number, kind in enumerate((Gazetteer, Costly)):
        run = write_run(tmp_path / str(number), map(response, range(5)))
        extractor = kind(lexicon, FOOD, "en", "snapshot", {})
        extract_job(run, JOB, FOOD, extractor)
        tables.append([stored(run, table, extractor.extractor_id) for table in ("mentions", "extractions")])
    assert tables[0] == tables[1]


def test_equal_texts_are_asked_once_and_each_response_has_its_rows(tmp_path: Path) -> None:
    run = write_run(tmp_path, [response(0), response(1, text=response(0)["text"]), response(2)])
    extractor, engine = llm(good)
    assert extract_job(run, JOB, FOOD, extractor) == Outcome(3, 0)
    assert len(engine.requests) == 2
    found = stored(run, "mentions", extractor.extractor_id)
    assert [sum(row["response_id"] == f"r0000{number}" for row in found) for number in range(3)] == [3, 3, 3]
    with JobShards(run, JOB, [RESPONSES]) as shards:  # another that says the same, later
        shards.append({"responses": [response(3, text=response(2)["text"])]})
    assert extract_job(run, JOB, FOOD, extractor) == Outcome(4, 0, reused=4)
    assert len(engine.requests) == 2
    rows = stored(run, "extractions", extractor.extractor_id)
    assert sorted((row["response_id"], row["purchase"]) for row in rows) == [
        ("r00000", "direct"), ("r00001", None), ("r00002", "direct"), ("r00003", None),
    ]  # fmt: skip


def test_a_failure_of_equal_texts_is_that_of_each_and_asked_once_more(tmp_path: Path) -> None:
    run = write_run(tmp_path, [response(0), response(1, text=response(0)["text"])])
    busy = Completion("r00000", 0, None, error="busy", retryable=True)
    extractor, engine = llm(lambda _text, _attempt: busy)
    assert extract_job(run, JOB, FOOD, extractor) == Outcome(0, 2)
    engine.script = good
    assert extract_job(run, JOB, FOOD, extractor) == Outcome(2, 0)
    assert len(engine.requests) == 2


@pytest.mark.parametrize("reader", [None, "of the next version"])
def test_an_answer_in_an_unknown_form_is_kept_and_read_by_a_later_version(tmp_path: Path, reader: str | None) -> None:
    """Whether or not that version reads lists of mentions by other rules, too."""
    run = write_run(tmp_path, [response(0), response(1, text=response(0)["text"]), response(2)])
    with StubServer(behaviour=in_unknown_form(lambda _text: good("", 0))) as server:
        model = ModelSpec("openai:stub", {"base_url": server.url})
        with open_engine(model, SAMPLING) as engine:
            extractor = LlmExtractor(engine, "openai:stub", FOOD)
            assert extract_job(run, JOB, FOOD, extractor) == Outcome(0, 3)
            unread = stored(run, "extractions", extractor.extractor_id)
            assert {(row["status"], row["raw"], row["retryable"]) for row in unread} == {("failed", None, True)}
            assert all(WORDS in row["error"] and json.loads(row["body"])["closing"] == "stop" for row in unread)
            asked = len(server.asked)
            step = extraction_step(run, JOB, FOOD, extractor)
            step._extractor = replace(step._extractor, reader_id=reader)
            [work] = step.works()
            assert left(run, step, work) == 3, "today's reader would ask again"
            with later_version():
                assert left(run, step, work) == 0
                assert do_step(run, step, model, engine) == Outcome(3, 0, reused=3)
            assert len(server.asked) == asked == 2
    with JobShards(run, JOB, [MENTIONS, EXTRACTIONS]) as shards:
        rows, mentions = shards.read("extractions").to_pylist(), shards.read("mentions").to_pylist()
    read = [row for row in rows if row["status"] == "ok"]
    assert {(row["raw"], row["ending"], row["body"]) for row in read} == {(good("", 0), "whole", None)}
    assert sorted(row["response_id"] for row in mentions if row["surface"] == "ramen") == ["r00000", "r00001", "r00002"]
    assert [row["completion_tokens"] for row in rows if row["purchase"]] == [5, 5], "what was paid is counted once"


def test_another_extractor_reads_all_again_and_the_first_one_counts_when_it_comes_back(tmp_path: Path) -> None:
    run = write_run(tmp_path, map(response, range(5)))
    one, other = gazetteer(("ramen",)), gazetteer(("ramen", "soup"))
    assert extract_job(run, JOB, FOOD, one) == Outcome(5, 0)
    assert extract_job(run, JOB, FOOD, other) == Outcome(5, 0)
    assert len(stored(run, "mentions", one.extractor_id)) == 5
    assert len(stored(run, "mentions", other.extractor_id)) == 10
    assert extract_job(run, JOB, FOOD, one) == Outcome(5, 0, reused=5)


def test_the_journal_of_another_extractor_is_not_lost(tmp_path: Path) -> None:
    """Killed before the journal was sealed, then run with another extractor over the same responses."""
    run = write_run(tmp_path, map(response, range(3)))
    first, _ = llm(good, "stub:first")
    extraction = extraction_step(run, JOB, FOOD, first)
    [work] = extraction.works()
    shards = JobShards(run, JOB, extraction.tables).__enter__()
    for done in extraction.ask(work, work.items(), OneModel(ModelSpec("none:none")), shards):
        *mentions, row = done.rows
        shards.append({"mentions": mentions, "extractions": [row]})
    shards._open_journal().close()
    shards._lock.release()  # as a kill does; the journal stays as it is
    second, _ = llm(good, "stub:second")
    assert extract_job(run, JOB, FOOD, second) == Outcome(3, 0)
    assert len(stored(run, "extractions", first.extractor_id)) == 3
    assert len(stored(run, "extractions", second.extractor_id)) == 3


def test_nothing_of_a_failed_response_counts(tmp_path: Path) -> None:
    run = write_run(tmp_path, map(response, range(4)))
    extractor, _ = llm(lambda text, attempt: good(text, attempt)[:20] if "Text 2" in text else good(text, attempt))
    assert extract_job(run, JOB, FOOD, extractor) == Outcome(3, 1)
    failed = [row for row in stored(run, "extractions", extractor.extractor_id) if row["status"] == "failed"]
    assert [(row["response_id"], row["mentions"], row["attempts"]) for row in failed] == [("r00002", 0, 3)]
    assert failed[0]["raw"] == good("", 0)[:20]
    assert "no list of mentions" in failed[0]["error"]
    mentions = stored(run, "mentions", extractor.extractor_id)
    assert {row["response_id"] for row in mentions} == {"r00000", "r00001", "r00003"}
    flagged = [
        (row["surface"], row["hallucinated"], row["start"]) for row in mentions if row["response_id"] == "r00000"
    ]
    assert sorted(flagged) == [("chopsticks", True, None), ("ramen", False, 8), ("soup", False, 18)]


def test_only_current_answers_are_read(tmp_path: Path) -> None:
    rows = [
        response(0),
        response(1, status="failed", text=None, error="busy"),
        response(2, request_id="other settings"),
        response(3, request_id="another prompt"),
        response(4),
        response(100),
    ]
    run = write_run(tmp_path, rows, n=100)
    extractor = gazetteer()
    assert extract_job(run, JOB, FOOD, extractor) == Outcome(2, 0)
    wanted = read_rows(run.table("wanted_responses"), WANTED_RESPONSES)
    batches = wanted_batches(run, JOB, RESPONSES, wanted, ["response_id"])
    assert [key for batch in batches for key in batch[0].to_pylist()] == ["r00000", "r00001", "r00004"]
    assert not list(wanted_batches(run, JOB, RESPONSES, wanted.slice(0, 0), ["response_id"]))


def extract_in_a_process(run: RunFolder, told: Path) -> None:
    def slowly(text: str, attempt: int) -> str:
        time.sleep(0.01)
        with told.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
        return good(text, attempt)

    extract_job(run, JOB, FOOD, llm(slowly)[0])


def test_killed_it_goes_on_where_it_was(tmp_path: Path) -> None:
    run, told = write_run(tmp_path, map(response, range(60))), tmp_path / "told"
    told.touch()
    writer = begin(extract_in_a_process, run, told)
    while len(told.read_text(encoding="utf-8").splitlines()) < 20 and writer.exitcode is None:
        time.sleep(0.002)
    writer.kill()
    writer.join()
    extractor, engine = llm(good)
    outcome = extract_job(run, JOB, FOOD, extractor)
    assert (outcome.done, outcome.failed) == (60, 0)
    assert outcome.reused >= 15
    assert len(engine.requests) == 60 - outcome.reused
    assert len({row["response_id"] for row in stored(run, "extractions", extractor.extractor_id)}) == 60
    assert len(stored(run, "mentions", extractor.extractor_id)) == 180


class _Counting:
    """An extractor that finds nothing, and records how many responses it takes before its first result."""

    extractor_id, costly = "counting", False

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def extract(self, responses: Iterable[ResponseText]) -> Iterator[Extracted]:
        batch = list(responses)
        self.sizes.append(len(batch))
        return (Extracted(one.response_id, "ok") for one in batch)


def test_small_parts_are_worked_on_together_and_large_ones_in_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_step, "BATCH", 10)
    run = write_run(tmp_path, map(response, range(45)), parts=15)
    extractor = _Counting()
    assert extract_job(run, JOB, FOOD, extractor) == Outcome(45, 0)
    assert extractor.sizes == [10, 10, 10, 10, 5]
