"""`polyculture relevance` as a user runs it: the same questions with and without what the probe read out."""

from __future__ import annotations

import csv
import io
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from polyculture.cache.errors import DataSetError
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.instruments.cultures.cultures import read_cultures
from polyculture.instruments.relevance import layout
from polyculture.instruments.relevance.numbers import flipped, gain_rows, study_rows
from polyculture.instruments.relevance.source_table import read_source
from polyculture.running.layout import store_layout
from tests.instruments.bbq.made_up import answering
from tests.instruments.culture_mcq.made_up import answer_of, asked_of, options_of, write_sheets
from tests.instruments.probe_world import write_probes
from tests.polyculture.test_command_line import one_line, polyculture, start_polyculture
from tests.servers import StubServer

EXPERIMENT = """
name = "useful"
models = ["openai:stub"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
[instruments.relevance]
sheets = "sheets"
type = ["resource"]
[prices."openai:stub"]
input = 100
output = 1000
[options.openai]
base_url = "{url}"
"""
CULTURES = ("Mexico", "Indonesia", "Assam")
QUESTIONS = 2
PROBED = QUESTIONS * len(CULTURES)
WORDS = "Some words that may help, or may not: "
GAINS = 'SELECT condition, "over", gain FROM relevance_gains'


def said(arm: str, culture: str, number: int, layer: int) -> Sequence[str]:
    """What the made-up layers hold: the answer once, a word of the culture in every layer, an echo."""
    if (culture, number) == ("Assam", 1):
        return ()  # nothing is kept of it
    own = [f"{culture} word"]
    return [*own, answer_of(culture, number), "water"] if layer == 2 else own


def with_answer(message: str) -> str:
    """Knows the answer only where it stands before the question; else takes the first wrong option."""
    target, number = asked_of(message)
    right, options = answer_of(target, number), options_of(message)
    before = message.partition("Question:")[0]
    return right if right in before else next(one for one in options if one != right)


@pytest.fixture(scope="module")
def serving() -> Iterator[StubServer]:
    with StubServer(behaviour=answering(with_answer)) as stub:
        yield stub


@pytest.fixture
def server(serving: StubServer) -> StubServer:
    serving.bodies.clear()
    serving.latency = 0.0
    return serving


@pytest.fixture(scope="module")
def probed(serving: StubServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment whose run has been probed; before that, asking is refused."""
    folder = tmp_path_factory.mktemp("probed")
    write_sheets(folder / "sheets", QUESTIONS, [*CULTURES, "China"])
    (folder / "exp.toml").write_text(EXPERIMENT.format(url=serving.url), encoding="utf-8")
    refused = polyculture("relevance", "exp.toml", cwd=folder)
    assert refused.returncode == 2
    assert "has read nothing of openai:stub" in one_line(refused)
    assert "polyculture probe" in one_line(refused)
    assert not serving.bodies
    write_probes(RunFolder(folder / "runs" / "useful"), said, ["openai:stub"], cultures=CULTURES, questions=QUESTIONS,
                 layers=2, ids="Al-en-{:02}")  # fmt: skip
    return folder


@pytest.fixture
def here(probed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(probed, tmp_path / "here"))


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with open_store(RunFolder(folder / "runs" / "useful"), store_layout()) as store:
        return [tuple(row) for row in store.sql(query).fetchall()]


def table(folder: Path, name: str) -> list[dict[str, str]]:
    done = polyculture("table", name, "exp.toml", "--format", "csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_what_the_answer_gives_away_is_told_from_what_helps(here: Path, server: StubServer) -> None:
    (here / "concepts.tsv").write_text(
        "culture\ttopic\tconcepts\n" + "".join(f"{one}\tFood\tbread, salt, {one} herb\n" for one in CULTURES), "utf-8"
    )
    plan = polyculture("plan", "exp.toml", cwd=here)
    assert plan.returncode == 0, plan.stderr
    assert "what is asked under each condition" in plan.stdout
    done = polyculture("relevance", "exp.toml", "--concepts", "concepts.tsv", cwd=here)
    assert done.returncode == 0, done.stderr
    assert "2 of 8 questions were not probed" in done.stderr  # those about China
    assert "probe: 1 of 6 not asked: the probe kept nothing of the question: 1" in done.stderr
    assert "6 of 6 questions name their culture themselves" in done.stderr
    found = {row[0]: row[1:] for row in rows(
        here, "SELECT condition, asked, accuracy, gives_away FROM relevance_metrics WHERE basis = 'shared'"
    )}  # fmt: skip
    kept = PROBED - 1
    assert found == {
        "alone": (kept, 0.0, 0.0), "culture": (kept, 0.0, 0.0), "probe": (kept, 1.0, 1.0), "source": (kept, 0.0, 0.0),
        "other-culture": (kept, 0.0, 0.0), "no-answer": (kept, 0.0, 0.0),
    }  # fmt: skip
    gains = {(one, over): gain for one, over, gain in rows(here, GAINS)}
    assert gains["probe", "alone"] == gains["probe", "no-answer"] == gains["probe", "other-culture"] == 1.0
    assert gains["no-answer", "alone"] == gains["other-culture", "alone"] == 0.0
    own = dict(rows(here, "SELECT condition, asked FROM relevance_metrics WHERE basis = 'own'"))
    assert own == {"alone": 6, "culture": 6, "probe": 5, "source": 6, "other-culture": 6, "no-answer": 5}
    shown = rows(here, "SELECT concepts, repeating, echoing, from_culture, origin FROM relevance_contexts "
                       "WHERE condition = 'probe' AND target = 'Mexico' AND source_id = 'Al-en-01'")  # fmt: skip
    answer = answer_of("Mexico", 1)
    origin = "probe of open, patched, filter none"
    assert shown == [(["Mexico word", answer, "water"], [answer], ["water"], "Mexico", origin)]
    message = next(
        body["messages"][0]["content"] for body in server.bodies if answer in str(body).partition("Quest")[0]
    )
    assert f"{WORDS}Mexico word, {answer}, water.\nQuestion: " in message
    again = polyculture("relevance", "exp.toml", "--concepts", "concepts.tsv", cwd=here)
    assert again.returncode == 0, again.stderr
    answered = len(server.bodies)
    assert rows(here, "SELECT count(*) FROM relevance_answers") == [(answered,)]  # nothing twice
    without = polyculture("relevance", "exp.toml", "--without-echoes", cwd=here)
    assert without.returncode == 0, without.stderr
    asked = [body["messages"][0]["content"] for body in server.bodies[answered:]]
    assert asked
    assert not any("water" in message for message in asked)
    report = polyculture("report", "exp.toml", cwd=here)
    assert report.returncode == 0, report.stderr
    page = (here / "runs" / "useful" / "report.html").read_text(encoding="utf-8")
    assert "Whether what its layers hold helps it" in page
    assert "the probe's items − items without the answer" in page.replace("&#39;", "'")


def test_tables_list_what_was_shown_and_what_was_not_asked(here: Path, server: StubServer) -> None:
    assert polyculture("relevance", "exp.toml", "--draws", "2", "--questions", "1", cwd=here).returncode == 0
    contexts = table(here, "relevance_contexts")
    others = [row for row in contexts if row["condition"] == "other-culture"]
    drawn = {(row["target"], row["from_culture"]) for row in others}
    assert all(target != culture for target, culture in drawn)
    assert {row["draw"] for row in others} == {"1", "2"}
    assert not any(row["condition"] == "source" for row in contexts)  # no table, no condition
    assert len({row["source_id"] for row in contexts}) == 1
    assert polyculture("relevance", "exp.toml", cwd=here).returncode == 0
    missing = table(here, "relevance_not_asked")
    assert {(row["condition"], row["reason"], row["not_asked"]) for row in missing} == {
        ("probe", "the probe kept nothing of the question", "1"),
        ("no-answer", "the probe kept nothing of the question", "1"),
    }
    shares = table(here, "relevance")
    assert [row["condition"] for row in shares] == ["alone", "culture", "probe", "other-culture", "no-answer"]
    gains = table(here, "relevance_gains")
    [one] = [row for row in gains if (row["condition"], row["over"]) == ("probe", "no-answer")]
    assert (one["gain"], one["questions"], one["asked"]) == ("1.0", "2", "5")
    assert one["lacking"] == "few questions"
    assert float(one["p"]) == 0.5  # two question ids: four ways to flip their signs, two of which are as far


def test_a_killed_command_goes_on_where_it_was(here: Path, server: StubServer) -> None:
    server.latency = 0.1
    process = start_polyculture("relevance", "exp.toml", cwd=here)
    while len(server.bodies) < 8:
        time.sleep(0.01)
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    server.latency = 0.0
    done = polyculture("relevance", "exp.toml", cwd=here)
    assert done.returncode == 0, done.stderr
    [(answers,)] = rows(here, "SELECT count(*) FROM relevance_answers")
    assert rows(here, "SELECT count(DISTINCT answer_id) FROM stored_relevance_answers") == [(answers,)]
    assert rows(here, "SELECT gain FROM relevance_gains WHERE condition = 'probe' AND \"over\" = 'alone'") == [(1.0,)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("question_id\tculture\nQ\tMexico\n", "line 1: has no column concepts"),
        ("culture\tconcepts\nMexico\tbread\n", "line 1: has no column question_id or topic"),
        ("question_id\tculture\tconcepts\nAl-en-00\t\tbread\n", "line 2: culture is empty"),
        ("question_id\tculture\tconcepts\nAl-en-00\tMexico\t, ;\n", "line 2: concepts holds no concept"),
        ("question_id\tculture\tconcepts\nAl-en-00\tMexico\tbread\tsalt\n", "line 2 has more cells"),
        ("question_id\tculture\tconcepts\n", "line 2: there is no row"),
    ],
)
def test_a_table_that_is_malformed_names_its_line(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "concepts.tsv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataSetError, match=told) as fault:
        read_source(file, read_cultures())
    assert str(file) in str(fault.value)
    assert fault.value.remedy


def test_mistakes_are_one_line_each(here: Path, server: StubServer) -> None:
    (here / "foreign.tsv").write_text("question_id\tculture\tconcepts\nX\tMexico\tbread\n", encoding="utf-8")
    (here / "wording.toml").write_text('culture = "x"\nconcepts = "{concepts}"\nseparator = ", "\n', encoding="utf-8")
    for words, told in (
        (("--concepts", "foreign.tsv"), "foreign.tsv: line 2: no question that is asked has concepts"),
        (("--wording", "wording.toml"), "culture lacks the place {culture}"),
        (("--filter", "paper"), "no similarities for the filter paper"),
        (("--probed", "opne"), "no probe of the data set 'opne'"),
    ):
        done = polyculture("relevance", "exp.toml", *words, cwd=here)
        assert done.returncode == 2, words
        assert told in one_line(done), words
    assert not server.bodies


ANSWERS = ("answer_id", "answer_method", "model", "dataset", "question_type", "reader", "prompt", "question_id",
           "shown_id", "reading", "ground", "role", "status")  # fmt: skip
CONTEXTS = ("model", "dataset", "language", "question_type", "question_id", "source_id", "target", "condition",
            "shown_id", "reason")  # fmt: skip


def store_of(answers: Mapping[tuple[str, str, int], tuple[str, str | None]]) -> Any:
    """A store with nothing but contexts and answers: (question, condition, draw) -> status and role."""
    store = duckdb.connect()
    for table, columns, more in (
        ("relevance_answers", ANSWERS, ""),
        ("relevance_readings", ("answer_id", "reader", "reading", "ground", "role"), ""),
        ("relevance_contexts", CONTEXTS, ", draw BIGINT, concepts VARCHAR[], repeating VARCHAR[]"),
    ):
        store.execute(f"CREATE TABLE {table} ({', '.join(f'{name} VARCHAR' for name in columns)}{more})")
    for (question, condition, draw), (status, role) in answers.items():
        shown, reason = (None, "nothing") if status == "no" else (f"{condition} {draw}", None)
        about = ("m", "d", "en", "resource", question, question[0], "US", condition, shown, reason, draw)
        store.execute(f"INSERT INTO relevance_contexts VALUES ({', '.join('?' * 11)}, ['x'], [])", about)
        if shown:
            key, said = f"{question} {shown}", "1" if role else "refusal"
            asked = ("generated", "m", "d", "resource", "words", "house", question, shown, said, "term", role, status)
            store.execute(f"INSERT INTO relevance_answers VALUES ({', '.join('?' * 13)})", (key, *asked))
    store.execute((Path(layout.__file__).parent / "views.sql").read_text(encoding="utf-8"))
    return store


def test_gains_are_those_of_a_case_by_hand() -> None:
    """'a1' and 'a2' are one id about two targets. c1 lacks the probe, d1 failed: neither is compared."""
    answers: dict[tuple[str, str, int], tuple[str, str | None]] = {}
    for question, alone, probe, others in (
        ("a1", "other", "right", ("right", "other", None)),
        ("a2", "right", "right", ("right", "right", "right")),
        ("b1", "biased", "right", ("biased", "biased", "right")),
    ):
        answers[question, "alone", 1] = ("ok", alone)
        answers[question, "probe", 1] = ("ok", probe)
        answers |= {(question, "other-culture", draw): ("ok", role) for draw, role in enumerate(others, 1)}
    answers |= {("c1", "alone", 1): ("ok", "right"), ("c1", "probe", 1): ("no", None)}
    answers |= {("d1", "alone", 1): ("ok", "right"), ("d1", "probe", 1): ("failed", None)}
    answers |= {(one, "other-culture", 1): ("ok", "right") for one in ("c1", "d1")}
    store = store_of(answers)
    shares = {
        row[0]: row[1:]
        for row in store.execute(
            "SELECT condition, asked, questions, accuracy, biased, others, refusal, out_of_choice "
            "FROM relevance_metrics WHERE basis = 'shared'"
        ).fetchall()
    }
    assert shares["alone"] == pytest.approx((3, 2, 1 / 3, 1 / 3, 1 / 6, 0, 0))
    assert shares["probe"] == pytest.approx((3, 2, 1, 0, 0, 0, 0))
    assert shares["other-culture"] == pytest.approx((3, 2, 5 / 9, 2 / 9, 1 / 18, 1 / 9, 0))
    own = "SELECT asked, accuracy, failed FROM relevance_metrics WHERE basis = 'own' AND condition = 'alone'"
    assert store.execute(own).fetchone() == pytest.approx((5, 3 / 5, 0))
    assert store.execute("SELECT condition, reason, not_asked FROM relevance_not_asked").fetchall() == [
        ("probe", "nothing", 1)
    ]
    found = {(row.condition, row.over): row for row in gain_rows(study_rows(store))}
    assert found.keys() == {("probe", "alone"), ("other-culture", "alone"), ("probe", "other-culture")}
    assert found["probe", "alone"].gain == pytest.approx(2 / 3)
    assert found["probe", "other-culture"].gain == pytest.approx(4 / 9)
    assert found["probe", "alone"].p == 0.5  # both ids differ by 1: of four ways to flip signs, two are as far
    assert {(row.questions, row.asked, row.lacking) for row in found.values()} == {(2, 3, "few questions")}


def test_p_of_flipped_signs_is_that_of_all_ways() -> None:
    assert flipped(np.array([0.0, 0.0])) is None
    assert flipped(np.array([1.0])) == 1.0
    assert flipped(np.array([1.0, 1.0, 1.0, -1.0, 0.0])) == pytest.approx(10 / 16)
    many = flipped(np.array([1.0] * 40 + [-1.0] * 20))
    assert many == pytest.approx(0.0135, abs=0.005)  # the exact sign test
