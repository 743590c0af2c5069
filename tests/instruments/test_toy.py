"""One more instrument is one folder and one line: it runs, resumes, is priced, shows, and nothing else is edited."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from polyculture.generate.engines.base import Completion
from polyculture.instruments.contract import InstrumentPrompt
from polyculture.instruments.declared import text_instrument
from polyculture.instruments.text_step import PromptedStep, prompted_jobs
from tests.instruments.toy import instrument as toy
from tests.servers import StubServer, failure

ROOT = Path(__file__).parents[2]
ROOMS = ("cache", "collect", "extract", "generate", "link", "metrics", "published", "reports")
TOY = Path(__file__).with_name("toy")
LINE = '    Entry("toy", {"toy": "How long answers about words are."}),\n'
EXPERIMENT = """
name = "toys"
models = ["openai:one", "openai:two"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
conditions = ["neutral"]
max_cost = 10.0
[sampling]
n = 1
[instruments.toy]
words = {words}
[prices."openai:one"]
input = 1.0
output = 2.0
[prices."openai:two"]
input = 1.0
output = 2.0
[options.openai]
base_url = "{url}"
concurrency = 1
"""
SERVE = """
import json, sys
from tests.polyculture.test_command_line import polyculture
for line in sys.stdin:
    words, folder = json.loads(line)
    done = polyculture(*words, cwd=folder, report=True)
    print(json.dumps([done.returncode, done.stdout, done.stderr]), flush=True)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The product with the toy: links to everything, and an instruments' folder that has one more, and a line."""
    tree = tmp_path_factory.mktemp("tree")
    package, instruments = tree / "polyculture", tree / "instruments"
    package.mkdir()
    instruments.mkdir()
    for room in ROOMS:
        (package / room).symlink_to(ROOT / room)
    (package / "instruments").symlink_to(instruments)
    for own in (ROOT / "polyculture").iterdir():
        if own.name not in (*ROOMS, "instruments", "__pycache__"):
            (package / own.name).symlink_to(own)
    for own in (ROOT / "instruments").iterdir():
        if own.name not in ("__init__.py", "__pycache__"):
            (instruments / own.name).symlink_to(own)
    (instruments / "toy").symlink_to(TOY)
    before = (ROOT / "instruments" / "__init__.py").read_text(encoding="utf-8")
    head = "INSTRUMENTS: tuple[Entry, ...] = (\n"
    assert head in before
    (instruments / "__init__.py").write_text(before.replace(head, head + LINE), encoding="utf-8")
    return tree


@pytest.fixture(scope="module")
def commands(tree: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has loaded the product with the toy once, and runs one command after the other."""
    environment = {**_env(tree), "PYTHONPATH": f"{tree}{os.pathsep}{ROOT}"}
    words = [sys.executable, "-c", SERVE]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True) as process:
        yield process


def command(commands: subprocess.Popen[str], folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    commands.stdin.write(json.dumps([words, str(folder)]) + "\n")
    commands.stdin.flush()
    return subprocess.CompletedProcess(words, *json.loads(commands.stdout.readline()))


def _env(tree: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1", "COLUMNS": "200", "OPENAI_API_KEY": "sk-test"}


def write(folder: Path, url: str, words: int = 3) -> None:
    (folder / "exp.toml").write_text(EXPERIMENT.format(url=url, words=words), encoding="utf-8")


def sql(commands: subprocess.Popen[str], folder: Path, query: str) -> list[str]:
    return command(commands, folder, "sql", "exp.toml", query, "--format", "csv").stdout.splitlines()[1:]


def test_it_is_small() -> None:
    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in TOY.iterdir() if file.is_file()) < 70


def test_it_runs_is_priced_shows_and_has_views_a_section_and_a_command(
    commands: subprocess.Popen[str], tmp_path: Path
) -> None:
    with StubServer() as stub:
        write(tmp_path, stub.url)
        assert "How long answers about words are." in command(commands, tmp_path, "--help").stdout
        assert "--words" in command(commands, tmp_path, "toy", "--help").stdout
        planned = command(commands, tmp_path, "plan", "exp.toml")
        assert [line.split()[2] for line in planned.stdout.splitlines() if "toy ask" in line][:2] == [
            "openai:one",
            "openai:two",
        ], planned
        assert not stub.asked
        ran = command(commands, tmp_path, "run", "exp.toml")
        assert ran.returncode == 0, ran.stderr
        asked = len(stub.asked)
        assert sql(commands, tmp_path, "SELECT model, count(*) FROM toy_lengths GROUP BY ALL ORDER BY 1") == [
            "openai:one,3",
            "openai:two,3",
        ]
        assert sql(commands, tmp_path, "SELECT sum(answers) FROM spending WHERE stage = 'toy_lengths'") == ["6"]
        status = command(commands, tmp_path, "status", "exp.toml").stdout
        assert "toy ask" in status
        assert "3 done" in status
        page = (tmp_path / "runs" / "toys" / "report.html").read_text(encoding="utf-8")
        assert "How long answers are" in page
        assert "Mean letters of an answer" in page
        again = command(commands, tmp_path, "toy", "exp.toml", "--words", "5")
        assert again.returncode == 0, again.stderr
        assert "openai:two" in again.stdout
        assert len(stub.asked) == asked + 4  # two models, two words more
        status = command(commands, tmp_path, "status", "exp.toml", "--format", "csv").stdout
        assert "openai:two,en,toy,toy ask,3,3,0,0,0" in status, status  # the file asks for three
        write(tmp_path, stub.url, words=7)
        status = command(commands, tmp_path, "status", "exp.toml", "--format", "csv").stdout
        assert "openai:two,en,toy,toy ask,7,5,0,0,2" in status, status
        assert "--job 1/2" in command(commands, tmp_path, "plan", "exp.toml", "--jobs").stdout
        wrong = command(commands, tmp_path, "toy", "exp.toml", "--words", "0")
        assert wrong.returncode == 2
        assert "--words" in wrong.stderr
        (tmp_path / "exp.toml").write_text(EXPERIMENT.format(url=stub.url, words="'many'"), encoding="utf-8")
        wrong = command(commands, tmp_path, "status", "exp.toml")
        assert wrong.returncode == 2
        assert "exp.toml: instruments.toy.words: must be a whole number" in wrong.stderr


def test_killed_it_resumes(tree: Path, commands: subprocess.Popen[str], tmp_path: Path) -> None:
    with StubServer(latency=0.2) as stub:
        write(tmp_path, stub.url)
        words = [sys.executable, "-m", "polyculture", "toy", "exp.toml", "--words", "30"]
        process = subprocess.Popen(words, cwd=tmp_path, env=_env(tree), stderr=subprocess.DEVNULL)
        while len(stub.asked) < 8:
            time.sleep(0.01)
            assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        ended = command(commands, tmp_path, "toy", "exp.toml", "--words", "30")
        assert ended.returncode == 0, ended.stderr
        assert sql(commands, tmp_path, "SELECT count(*), count(DISTINCT request_id) FROM stored_toy_lengths") == [
            "60,60"
        ]
        assert len(stub.asked) <= 62  # what was in flight is asked again


@pytest.mark.full
def test_it_works_on_a_cluster(tree: Path, commands: subprocess.Popen[str], tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    with StubServer() as stub:
        write(tmp_path, stub.url)
        words = [sys.executable, "-m", "polyculture", "run", "exp.toml", "--ray", "--replicas", "1"]
        ran = subprocess.run(words, cwd=tmp_path, env=_env(tree), capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        assert sql(commands, tmp_path, "SELECT model, count(*) FROM toy_lengths GROUP BY ALL ORDER BY 1") == [
            "openai:one,3",
            "openai:two,3",
        ]


def test_its_stage_stops_itself_where_all_answers_of_a_model_fail(
    commands: subprocess.Popen[str], tmp_path: Path
) -> None:
    fault = failure(402, "no credit")
    with StubServer(behaviour=lambda body, _: fault if body["model"] == "one" else None) as server:
        write(tmp_path, server.url, words=60)
        stopped = command(commands, tmp_path, "toy", "exp.toml")
        assert stopped.returncode == 6, stopped.stderr
        assert "ask openai:one: the account's quota is used up (HTTP 402: no credit)" in stopped.stderr.splitlines()[-1]
        asked = [body["model"] for body in server.bodies]
        assert (asked.count("one"), asked.count("two")) == (8, 60)
        server.behaviour = None
        done = command(commands, tmp_path, "toy", "exp.toml")
        assert done.returncode == 0, done.stderr
        assert len(server.bodies) == 8 + 60 + 60


def test_a_layout_reaches_another_process_with_rows_that_were_declared() -> None:
    """`view` asks the store in a process of its own, which failed: a row that follows from another has no module."""
    command = (
        "import pickle, sys; print([row.row.__annotations__ for row in pickle.loads(sys.stdin.buffer.read()).tables])"
    )
    done = subprocess.run(
        [sys.executable, "-c", command], input=pickle.dumps(toy.LAYOUT), cwd=ROOT, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "{'word': <class 'str'>}" in done.stdout.decode()


def test_a_name_that_is_no_column_is_refused_where_the_instrument_is_declared() -> None:
    with pytest.raises(TypeError, match=r"of: Length has no column land; there are .*letters"):
        text_instrument(
            "toy_lengths", toy.Length, ("word", "land"), toy.ToyOptions, toy.prompts, "polyculture toy", max_tokens=1,
            read=lambda _text: {}, tables=(),
        )  # fmt: skip


def test_a_fault_of_the_reader_of_texts_is_a_failure_that_keeps_the_text() -> None:
    def read(text: str) -> dict[str, int]:
        return {"letters": int(text)}

    prompts = [InstrumentPrompt("en", "toy", "a word", {"word": "a word"})]
    jobs = prompted_jobs(prompts, 20, toy.TOY.asked[0].row)
    job = jobs[0].of_model("mock:a", {})
    step = PromptedStep(toy.TOY.answers, read, [job])
    (ask,) = job.asks()
    row = step.row(job.job, ask, **step.came(Completion(ask.answer_id, 0, text="many")))
    assert (row.status, row.letters, row.raw, row.retryable) == ("failed", None, "many", False)
    assert row.error.startswith("the text was not read: ValueError: invalid literal")
    assert step.row(job.job, ask, **step.came(Completion(ask.answer_id, 0, text="7"))).letters == 7
