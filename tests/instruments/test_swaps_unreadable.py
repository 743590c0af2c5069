"""Answers that cannot be read: what they count as, and that none of them vanishes; contexts and their translations."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.store.layout import Table
from polyculture.cache.store.manifest import CurrentId, Manifest, setup_id, write_manifest
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema.measured import Number
from polyculture.cache.store.shards import JobShards
from polyculture.cache.store.store import open_store
from polyculture.instruments.datasets.layout import DATASET_CONTEXTS, DATASET_ENTITIES, DatasetContext, DatasetEntity
from polyculture.instruments.swaps.layout import (
    SWAP_QUESTIONS,
    SWAP_READINGS,
    SWAP_RESPONSES,
    WANTED_SWAPS,
    SwapQuestion,
    SwapReading,
    SwapResponse,
    WantedSwap,
)
from polyculture.instruments.swaps.measure import health_lines, measure_swaps
from polyculture.metrics.measured import read_numbers
from polyculture.running.layout import store_layout
from tests.instruments.test_swaps_command import (  # noqa: F401, fixtures
    NATIVE,
    own,
    rows,
    says,
    says_in_file,
    server,
)
from tests.polyculture.test_command_line import polyculture
from tests.servers import Reply, StubServer
from tests.store_builder import blank

MODEL = "transformers:t"
SAID = {"ramen": '{"answer": "ramen"}', "onigiri": "{", "takoyaki": '{"other": 1}', "pizza": '{"answer": "pizza"}'}


def answering(body: Mapping[str, Any], before: int) -> Reply:
    asked = body["messages"][-1]["content"]
    return says(next((said for name, said in SAID.items() if name in asked), '{"answer": "a boat"}'))


def readings_of(folder: Path) -> dict[Path, bytes]:
    """The files of what was read of answers."""
    return {file: file.read_bytes() for file in (folder / "runs").rglob("swap_readings/**/*.parquet")}


def test_an_unreadable_answer_is_a_wrong_one(
    tmp_path: Path,
    server: StubServer,  # noqa: F811
    own: tuple[Path, ...],  # noqa: F811
) -> None:
    """Of three native dishes one is named and two answers are no JSON; of two Western ones one is named wrongly."""
    server.behaviour = answering
    done = polyculture("swap", "qa", *own, "--draws", "1", cwd=tmp_path)
    assert done.returncode == 4, done.stderr
    assert "qa: openai:stub, own, qa: 10 asked, 10 answered, 6 readable, 4 right" in done.stderr
    assert "4 failed" in done.stderr
    of_side = "{0}, {0}_answers, {0}_asked, {0}_readable, {0}_right"
    columns = f"{of_side.format('native')}, {of_side.format('western')}, difference, failed"
    query = f"SELECT {columns} FROM swap_rates WHERE entity_type = 'food' AND metric = 'accuracy' AND reading = "
    native, western = (pytest.approx(1 / 3), 6, 6, 2, 2), (0.5, 4, 4, 4, 2)
    assert rows(tmp_path, f"{query}'normalised'") == [(*native, *western, pytest.approx(1 / 3 - 1 / 2), 4)]
    assert rows(tmp_path, f"{query}'readable'") == [(1.0, 2, 6, 2, 2, *western, 0.5, 4)]
    says_in_file(own[0], "qa", unreadable="left-out")
    asked, read = len(server.bodies), readings_of(tmp_path)
    again = polyculture("swap", "qa", *own, "--draws", "1", "--retry-failed", cwd=tmp_path)
    assert len(server.bodies) == asked, "what cannot be read stays as it is"
    assert readings_of(tmp_path) == read != {}, "the same rules read the same answer alike"
    for told in (done.stderr, again.stderr):
        assert "no model is asked again" in told
        assert "--retry-failed" not in told
    assert "0.333" in done.stdout
    assert "0.333" not in again.stdout
    for printed in (done.stdout, again.stdout):
        assert "4+0" in printed


def test_a_side_of_which_nothing_can_be_read_stands_there_with_its_failures(
    tmp_path: Path,
    server: StubServer,  # noqa: F811
    own: tuple[Path, ...],  # noqa: F811
) -> None:
    def answer(body: Mapping[str, Any], before: int) -> Reply:
        native = any(name in body["messages"][-1]["content"] for name in NATIVE)
        return says(json.dumps({"sentiment": "positive"}) if native else "{")

    server.behaviour = answer
    done = polyculture("swap", "sentiment", *own, "--draws", "1", cwd=tmp_path)
    assert done.returncode == 4
    assert "sentiment: openai:stub, own, neutral: 20 asked, 20 answered, 12 readable, 6 right" in done.stderr
    columns = "native, western, difference, no_interval, native_asked, western_asked, failed"
    query = f"SELECT {columns} FROM swap_rates WHERE metric = 'accuracy' AND entity_type = 'food'"
    assert rows(tmp_path, query) == [(0.5, None, None, "no answer counts", 12, 8, 8)]
    counted = "SELECT native, asked, texts, unreadable, false_negatives, false_positives FROM sentiment_counts"
    assert rows(tmp_path, f"{counted} ORDER BY 1") == [(False, 8, 0, 8, 0, 0), (True, 12, 12, 0, 0, 6)]
    assert "0+8" in done.stdout


@dataclass(frozen=True)
class Told:
    """A tagger's answer about a text; the entity is found where it is read."""

    context: str = "c"
    entity: str = "e"
    language: str = "ja"
    source: str | None = None
    matched: int = 1
    status: str = "ok"  # of the reading
    came: bool = True


def measured(folder: Path, answers: list[Told]) -> list[Number]:
    """The rates of answers that are in a run's tables as the steps write them."""
    run = RunFolder(folder / "run")
    keys = dict.fromkeys(f"ner tagger {one.language}" for one in answers)
    asked = [CurrentId(what=key, id="r" if reads else "a", reads=reads) for key in keys for reads in (False, True)]
    manifest = Manifest(experiment="x", polyculture="0", models=[], setups={f"answer {MODEL}": {}})
    write_manifest(manifest.model_copy(update={"asked": {"swaps": asked}}), run.manifest)
    by_table: dict[Table[Any], list[Any]] = defaultdict(list)
    questions, wanted = (table.of_measure("ner") for table in (SWAP_QUESTIONS, WANTED_SWAPS))
    by_table[questions].append(SwapQuestion("a", "ner", "tagger", None, None, 1))
    place = {"dataset": "made", "culture": "Japanese", "entity_type": "names"}
    for number, one in enumerate(answers):
        ids = (f"q{number}", one.context, one.entity)
        by_table[wanted].append(WantedSwap(ids[0], MODEL, setup_id({}), *ids[1:], 0, 0, 1, "a"))
        context = blank(
            "dataset_contexts", **place, context_id=one.context, language=one.language, unit=one.source or one.context
        )
        by_table[DATASET_CONTEXTS].append(
            DatasetContext(**{**context, "setting": "neutral", "source_context_id": one.source})
        )
        entity = blank("dataset_entities", **place, entity_id=one.entity, entity=one.entity, language=one.language)
        by_table[DATASET_ENTITIES].append(DatasetEntity(**entity))
        status = "ok" if one.came else "failed"
        response = blank(
            "swap_responses", answer_id=str(number), request_id=ids[0], context_id=ids[1], entity_id=ids[2]
        )
        more = {
            "model": MODEL,
            "language": one.language,
            "topic": "ner-x",
            "status": status,
            "raw": "x" if one.came else None,
        }
        by_table[SWAP_RESPONSES].append(SwapResponse(**{**response, **more}))
        if one.came:
            found = one.matched if one.status == "ok" else None
            reading = (one.status, None, "e", found, 1, 0, None, found, 1)
            by_table[SWAP_READINGS].append(SwapReading(f"r{number}", str(number), "r", *reading))
    for table, rows_of in by_table.items():
        if table.sharded:
            with JobShards(run, Job(MODEL, "ja", "ner-x"), (table,)) as shards:
                shards.append_part({table.name: objects_to_table(table, rows_of)})
        else:
            run.table(table.name).parent.mkdir(exist_ok=True)
            write_parquet(objects_to_table(table, list(dict.fromkeys(rows_of))), run.table(table.name))
    with open_store(run, store_layout()) as store:
        assert store.sql("SELECT count(*) FROM swap_answers").fetchall() == [(len(answers),)]
    measure_swaps(run, "ner")
    return read_numbers(run, "ner")


def test_one_right_answer_of_four_is_no_perfect_recall(tmp_path: Path) -> None:
    unread = [Told(entity=f"e{number}", status="failed") for number in range(3)]
    found = measured(tmp_path, [Told(), *unread, Told(entity="none", came=False)])
    by_metric = {(row.metric, row.facets["reading"]): row for row in found if row.level == "cell"}
    right = {"precision": 1.0, "recall": 0.25, "f1": pytest.approx(2 / 5)}
    expected = {(name, reading): value for name, value in right.items() for reading in ("normalised", "strict")}
    expected |= {(name, "readable"): 1.0 for name in right}
    assert {name: row.estimate for name, row in by_metric.items()} == expected
    became = {(row.sizes["asked"], row.sizes["answered"], row.sizes["readable"]) for row in by_metric.values()}
    assert became == {(5, 4, 1)}
    assert {row.facets["side"] for row in found} == {"native"}  # nobody asked about Western ones
    [line] = health_lines(found, "ner", [MODEL])
    assert line.endswith("5 asked, 4 answered, 1 readable, 1 right")


def is_recall(row: Number) -> bool:
    return (row.metric, row.facets["reading"]) == ("recall", "normalised")


def test_a_context_and_its_translation_are_one_over_all_languages(tmp_path: Path) -> None:
    """Four contexts, one of them in English, too: over all languages there are four."""
    contexts = [Told(f"c{number}", matched=number % 2) for number in range(4)]
    english = Told("t1", language="en", source="c1", matched=0, entity="f")
    alone = Told("t9", language="en", source="c9", matched=0, entity="f")  # c9 was not asked
    found = measured(tmp_path, [*contexts, english])
    recall = {row.language: row for row in found if is_recall(row) and row.topic == "*"}
    assert (recall["ja"].units, recall["en"].units, recall["*"].units) == (4, 1, 4)
    assert recall["*"].estimate == recall["ja"].estimate == 0.5
    (tmp_path / "more").mkdir()
    more = measured(tmp_path / "more", [*contexts, english, alone])
    assert [row.units for row in more if is_recall(row) and row.language == "*"] == [5]
