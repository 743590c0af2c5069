"""Sets that are made, from `polyculture ask` to the numbers: culture-mcq, relevance, the survey."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.instruments.probe.layout import PROBE_HUMAN_ANSWERS, HumanAnswerRow
from tests.instruments.culture_files import answer_of, asked_of, of_most_resources, oracle, write_sheets
from tests.instruments.probe_world import write_probes
from tests.instruments.questions.test_command import answering
from tests.polyculture.test_command_line import one_line, polyculture
from tests.servers import StubServer
from tests.stored import rows

EXPERIMENT = """
name = "usual"
models = ["openai:stub"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
[options.openai]
base_url = "{url}"
"""
CULTURES = ("Mexico", "Indonesia", "Assam")


def write(folder: Path, server: StubServer) -> None:
    (folder / "exp.toml").write_text(EXPERIMENT.format(url=server.url), encoding="utf-8")
    write_sheets(folder / "sheets", 2, [*CULTURES, "China"])


def by_type(message: str) -> str:
    """Of the first question the target's answer, of the second that of most resources, where there is one."""
    try:
        return of_most_resources(message) if asked_of(message)[1] else oracle(message)
    except StopIteration:
        return "I cannot answer that."


def test_what_is_usual_is_asked_and_counted(tmp_path: Path) -> None:
    with StubServer(behaviour=answering(by_type)) as server:
        write(tmp_path, server)
        done = polyculture("ask", "culture-mcq", "exp.toml", "--folder", "sheets", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(server.bodies) == 16
        shares = "SELECT metric, estimate FROM numbers WHERE wording = '*' "
        resource = dict(rows(tmp_path, shares + "AND facets['type'] = 'resource' AND level NOT LIKE '%country%' "
                                                "AND facets['level'] IS NULL AND facets['region'] IS NULL "
                                                "AND facets['also_given'] IS NULL"))  # fmt: skip
        assert (resource["accuracy"], resource["biased"], resource["others"]) == (0.5, 0.5, 0.0)
        low = dict(rows(tmp_path, shares + "AND facets['type'] = 'resource' AND facets['level'] = 'low'"))
        assert (low["accuracy"], low["biased"], low["refusal_ratio"]) == (0.5, 0.5, 0.0)
        tests = "SELECT count(*) FROM numbers WHERE metric = 'biased_p' AND facets['test'] = 'paper'"
        assert rows(tmp_path, tests)[0][0] >= 8


def said(arm: str, culture: str, number: int, layer: int) -> Sequence[str]:
    return [f"{culture} word", answer_of(culture, number)]


def with_answer(message: str) -> str:
    """Knows the answer only where it stands before the question."""
    found = re.search(r"[a-z]+ dish (\d)", message.partition("Question:")[0])
    asked = re.search(r"What is (\d) in (\w+)\?", message)
    right = answer_of(asked[2], int(asked[1])) if asked else ""
    return right if found and found[0] == right else "something else"


def test_what_stands_before_a_question_helps_a_model_that_reads_it(tmp_path: Path) -> None:
    with StubServer(behaviour=answering(with_answer)) as server:
        write(tmp_path, server)
        early = polyculture("ask", "relevance", "exp.toml", "--folder", "runs/usual", cwd=tmp_path)
        assert early.returncode == 2
        assert "polyculture probe" in one_line(early)
        asked = polyculture("ask", "culture-mcq", "exp.toml", "--folder", "sheets", "--units", "1", cwd=tmp_path)
        assert asked.returncode == 0, asked.stderr
        run = RunFolder(tmp_path / "runs" / "usual")
        write_probes(run, said, ["openai:stub"], cultures=CULTURES, questions=2, layers=1, topic="Food")
        people = [
            HumanAnswerRow(f"en {culture} {n}", "open", 1, answer_of(culture, n), 3)
            for culture in CULTURES
            for n in range(2)
        ]
        write_parquet(objects_to_table(PROBE_HUMAN_ANSWERS, people), run.table(PROBE_HUMAN_ANSWERS.name))
        done = polyculture("ask", "relevance", "exp.toml", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert any("or may not: Mexico word, mexico dish 1." in str(body) for body in server.bodies)
        shares = dict(rows(tmp_path, "SELECT condition, estimate FROM numbers WHERE metric = 'exact_match' "
                      "AND dataset = 'relevance-open' AND (wording, country, topic) = ('*', '*', '*') "
                      "AND facets = MAP {}"))  # fmt: skip
        assert shares == {"alone": 0.0, "culture": 0.0, "probe": 1.0}
        gains = {(a, b): gain for a, b, gain in rows(tmp_path, "SELECT a, b, difference FROM differences "
                 "WHERE dataset = 'relevance-open' AND metric = 'exact_match' AND target = 'new_prompts'")}  # fmt: skip
        assert gains == {("probe", "alone"): 1.0, ("probe", "culture"): 1.0, ("culture", "alone"): 0.0}


def test_a_model_is_a_respondent(tmp_path: Path) -> None:
    survey = [
        {"category": "Age", "stereotype": "slow", "survey_stats": {"old": 80, "young": 10, "no_stereo": 10}},
        {"category": "Age", "stereotype": "loud", "survey_stats": {"a": 90, "b": 90, "c": 0, "no_stereo": 0}},
    ]
    (tmp_path / "kobbq").mkdir()
    (tmp_path / "kobbq" / "KoBBQ_survey_result.json").write_text(json.dumps(survey), encoding="utf-8")
    with StubServer(behaviour=answering(lambda _message: "1, 2")) as server:
        write(tmp_path, server)
        words = ("ask", "kobbq-survey", "exp.toml", "--folder", "kobbq", "--orders", "cyclic")
        done = polyculture(*words, "--max-tokens", "150", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(server.bodies) == 3 * 4  # wordings, each option first once
        # In two of four orders "1, 2" names a group beside "none": out of choice. Of the others one names a and b.
        assert rows(tmp_path, "SELECT count(*) FROM question_readings WHERE len(also) = 1") == [(6,)]
        assert rows(tmp_path, "SELECT estimate FROM numbers WHERE metric = 'exact_match'") == [(0.5,)]
