"""Killed while the cut answers of an extractor are asked for again, a stage ends in the same tables: nothing is lost or
counted twice, and the server is asked for nothing that it has answered and the run has kept."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import EXTRACTIONS
from polyculture.cache.store.shards import JobShards
from polyculture.cache.store.store import open_store
from polyculture.extract.answer import CUT_SHORT
from tests import servers
from tests.polyculture.test_command_line import polyculture
from tests.quick_start import begin_polyculture
from tests.servers import Reply, StubServer
from tests.test_nothing_is_lost import UNWRITTEN, run_folder, say, tables, write_experiment

ROOM = 50  # tokens of the first answer about a text; too few for every list
KILLS = (3, 20)  # answers with more room, of the second and of the third attempt, behind which it is killed


def cut_or_whole(body: Mapping[str, Any], _: int) -> Reply | None:
    """What the limit leaves of an extractor's answer: a whole one needs four times the room that is asked for first."""
    prompt, room = body["messages"][-1]["content"], body["max_tokens"]
    if not prompt.startswith("She loves"):
        return None
    whole, share = say(prompt, None), min(1.0, room / (4 * ROOM))
    cut = share < 1
    choice = {"finish_reason": "length" if cut else "stop", "message": {"content": whole[: int(len(whole) * share)]}}
    usage = {"prompt_tokens": 7, "completion_tokens": room if cut else 3 * ROOM}
    return Reply(body=json.dumps({"choices": [{"index": 0, **choice}], "usage": usage}).encode())


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    monkeypatch.setattr(servers, "answer_text", say)
    with StubServer(latency=0.02, behaviour=cut_or_whole) as server:
        yield server


def asked_for(server: StubServer) -> Counter[tuple[str, int]]:
    """How often each text was asked about with each room."""
    bodies = [(body["messages"][-1]["content"], body["max_tokens"]) for body in list(server.bodies)]
    return Counter((text, room) for text, room in bodies if text.startswith("She loves"))


def kept(run: RunFolder) -> Counter[str]:
    """How many answers about each request the run has, its journal included."""
    shards = JobShards(run, Job("openai:any", "en", "food"), [EXTRACTIONS])
    rows = shards.read("extractions").to_pylist()
    rows += [row for record in shards.read_journal() for row in record.get("extractions", ())]
    return Counter(row["asked_id"] for row in rows if row["prompt_tokens"] is not None)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_between_a_cut_answer_and_the_next_one_nothing_is_lost_or_counted_twice(
    tmp_path: Path, stub: StubServer
) -> None:
    made = write_experiment(tmp_path / "made", stub.url, n=12)
    words = made.read_text(encoding="utf-8").replace(
        'with = "openai:reader"', f'with = "openai:reader"\nmax_tokens = {ROOM}'
    )
    made.write_text(words, encoding="utf-8")
    assert polyculture("run", "--only", "generate", made, cwd=made.parent).returncode == 0
    calm, killed = (shutil.copytree(made.parent, tmp_path / name) / made.name for name in ("calm", "killed"))
    assert polyculture("run", "--only", "extract", calm, cwd=calm.parent).returncode == 0
    questions = asked_for(stub)
    assert set(questions.values()) == {1}
    assert {room for _, room in questions} == {ROOM, 2 * ROOM, 4 * ROOM}
    for number, more in enumerate(KILLS):
        before, rooms = kept(run_folder(killed)), [2 * ROOM, 4 * ROOM][number:]
        start = sum(body["max_tokens"] in rooms for body in list(stub.bodies))
        process = begin_polyculture("run", "--only", "extract", killed, cwd=killed.parent)
        try:
            while process.exitcode is None and sum(b["max_tokens"] in rooms for b in list(stub.bodies)) < start + more:
                time.sleep(0.002)
            assert process.exitcode is None, "it ended before it was killed"
        finally:
            process.kill()
            process.join()
        after = kept(run_folder(killed))
        assert before <= after
        assert after.total() < questions.total(), "the kill came too late to show anything"
    assert polyculture("run", "--only", "extract", killed, cwd=killed.parent).returncode == 0
    assert tables(run_folder(killed), "extract") == tables(run_folder(calm), "extract")
    again = asked_for(stub) - questions - questions  # each is asked once for the calm run, and once for the other
    assert again.total() <= len(KILLS) * UNWRITTEN
    for experiment in (calm, killed):
        with open_store(run_folder(experiment)) as store:
            unusable = store.sql(
                f"SELECT asked_id, attempts, count(*) FROM stored_extractions WHERE error = '{CUT_SHORT}' GROUP BY ALL"
            ).fetchall()
            whole = store.sql("SELECT count(*), min(mentions), max(mentions) FROM extractions WHERE status = 'ok'")
            assert {times for *_, times in unusable} == {1}
            assert len(unusable) == 2 * len({text for text, _ in questions})
            assert whole.fetchall() == [(36, 2, 2)]
