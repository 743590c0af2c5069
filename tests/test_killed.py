"""Killed at any moment and run again, a stage ends in the same tables, and nothing that was paid for is asked again."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import RESPONSES
from polyculture.cache.store.shards import JobShards
from tests import servers
from tests.polyculture.test_command_line import polyculture
from tests.quick_start import begin_polyculture
from tests.servers import StubServer
from tests.test_nothing_is_lost import STAGE_TABLES, UNWRITTEN, run_folder, say, tables, write_experiment

JOB = Job("openai:any", "qaa", "food")
SHORTER = 0.8  # what the longest wait is cut by when the run was over first: the machine is faster than it was
# A language of a private code, which no detector knows (XX): to load their models takes longer than the kills here.
SCOTS = """
code = "qaa"
name = "Scots"
endonym = "Scots"
direction = "ltr"
scripts = ["Latn"]
first_country = "GB"
native_countries = ["GB"]
detector = "XX"
label_languages = ["qaa", "mul", "en"]
[wording]
language = "qaa"
answer_in_language = "Please answer in Scots."
[wording.countries]
IT = { name = "Italy", form = "Italy" }
JP = { name = "Japan", form = "Japan" }
[wording.topics.food]
neutral = "Scrieve a wee bit anent a body an the meat this body likes."
explicit = "Scrieve a wee bit anent a body that bides in {country} an the meat this body likes."
implicit_male = "Scrieve a wee bit anent {name} an the meat he likes."
implicit_female = "Scrieve a wee bit anent {name} an the meat she likes."
"""


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    monkeypatch.setattr(servers, "answer_text", say)
    with StubServer(latency=0.02) as server:
        yield server


def kept(run: RunFolder, stage: str) -> set[tuple[str, int]]:
    """What the server need not be asked again, as it sees it: the last message, and the seed."""
    shards = JobShards(run, JOB, STAGE_TABLES[stage])
    table = STAGE_TABLES[stage][-1].name
    rows = shards.read(table).to_pylist() + [row for record in shards.read_journal() for row in record[table]]
    if stage == "generate":
        texts = {row["prompt_id"]: row["text"] for row in pq.read_table(run.table("prompts")).to_pylist()}
        return {(texts[row["prompt_id"]], row["seed"]) for row in rows}
    texts = {row["response_id"]: row["text"] for row in JobShards(run, JOB, [RESPONSES]).read("responses").to_pylist()}
    return {(texts[row["response_id"]], 0) for row in rows}


class Killer:
    """Runs one stage again and again, each time until a random moment, and begins anew with what was finished.

    Every other time the moment lies anywhere in the run, its start included; else in the work, counted in answers of
    the server, so that neither a slow machine nor a fast one puts all of them before it or behind it.
    """

    def __init__(self, stage: str, begin: Callable[[str], Path], server: StubServer) -> None:
        self.stage, self.begin, self.server = stage, begin, server
        self.randomness = random.Random(stage)
        calm, asked = begin("calm"), len(server.asked)
        process = begin_polyculture("run", "--only", stage, calm, cwd=calm.parent)
        started = time.monotonic()
        process.join()
        assert process.exitcode == 0
        self.seconds = time.monotonic() - started
        self.expected, self.questions = tables(run_folder(calm), stage), Counter(server.asked[asked:])
        self.in_the_middle = 0  # kills that left some of the work done, and some not

    def kill(self, times: int) -> None:
        kills, number = 0, 0
        experiment = self.begin("0")
        while kills < times:
            killed = self._disturbed(experiment, at_work=kills % 2 == 0 and bool(self.questions))
            kills += killed
            if not killed:
                self.seconds *= SHORTER
                assert tables(run_folder(experiment), self.stage) == self.expected
                number += 1
                experiment = self.begin(str(number))
        assert polyculture("run", "--only", self.stage, experiment, cwd=experiment.parent).returncode == 0
        assert tables(run_folder(experiment), self.stage) == self.expected

    def _disturbed(self, experiment: Path, at_work: bool) -> bool:
        """Whether it was killed before it ended by itself."""
        run, asked, answered = run_folder(experiment), len(self.server.asked), len(self.server.answered)
        before = kept(run, self.stage) if self.questions and run.manifest.exists() else set()
        process = begin_polyculture("run", "--only", self.stage, experiment, cwd=experiment.parent)
        try:
            if at_work:
                left = max(len(self.questions) - len(before), 1)
                self._wait_for_answers(process, self.randomness.randint(1, left))
            process.join(self.randomness.uniform(0, 0.05 if at_work else self.seconds))
            code = process.exitcode
        finally:
            process.kill()
            process.join()
        assert not before & set(self.server.asked[asked:]), "what was paid for is asked again"
        if code is None and self.questions and run.manifest.exists():
            after = kept(run, self.stage)
            assert len(set(self.server.answered[answered:]) - after) <= UNWRITTEN
            self.in_the_middle += 0 < len(after) < len(self.questions)
        assert code in (None, 0)
        return code is None

    def _wait_for_answers(self, process: BaseProcess, more: int) -> None:
        enough = len(self.server.answered) + more
        while len(self.server.answered) < enough and process.exitcode is None:
            time.sleep(0.002)


def write_experiment_in_scots(folder: Path, url: str) -> Path:
    (folder / "mine" / "languages").mkdir(parents=True)
    (folder / "mine" / "languages" / "qaa.toml").write_text(SCOTS, encoding="utf-8")
    experiment = write_experiment(folder, url, language="qaa")
    experiment.write_text('catalog = "mine"\n' + experiment.read_text(encoding="utf-8"), encoding="utf-8")
    return experiment


@pytest.mark.slow
@pytest.mark.timeout(1800)  # some fifty processes are started, one after the other
@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.full)])
@pytest.mark.parametrize("stage", list(STAGE_TABLES))
def test_killed_at_random_moments_a_stage_ends_in_the_same_tables(
    tmp_path: Path, stub: StubServer, stage: str, kills: int
) -> None:
    made = write_experiment_in_scots(tmp_path / "made", stub.url)
    for earlier in list(STAGE_TABLES)[: list(STAGE_TABLES).index(stage)]:
        assert polyculture("run", "--only", earlier, made, cwd=made.parent).returncode == 0

    def begin(name: str) -> Path:
        return shutil.copytree(made.parent, tmp_path / name) / made.name

    killer = Killer(stage, begin, stub)
    killer.kill(kills)
    assert killer.in_the_middle >= max(1, kills // 6) or not killer.questions, (
        "the kills came too early or too late to show anything"
    )
