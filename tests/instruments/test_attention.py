"""Attention to options, from a model to the store and its tests."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.generate.engines.base import Completion, Request
from polyculture.instruments.questions.asking import message
from polyculture.instruments.questions.asking_step import contribution
from polyculture.instruments.questions.attention.measure import (
    AttentionStudy,
    WeighedOption,
    attention_differences,
    contrasts,
    paired_units,
    paper_tests,
    student_p,
)
from polyculture.instruments.questions.rules.opened import open_set
from polyculture.instruments.questions.section import SECTIONS
from polyculture.metrics.inference.paired import paired_means
from polyculture.reports.report import write_report
from polyculture.running.layout import store_layout
from tests.instruments.culture_files import asked_of, of_most_resources, oracle, write_sheets
from tests.polyculture.test_command_line import one_line, polyculture
from tests.quick_start import begin_polyculture
from tests.servers import StubServer
from tests.stored import rows
from tests.tiny_models import save_causal

TARGETS = ("Mexico", "Indonesia", "Assam")
QUESTIONS = 2
EXPERIMENT = """
name = "usual"
models = ["{model}"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
[instruments.ask]
set = "culture-mcq"
folder = "{sheets}"
only = ["type=resource"]
max_tokens = 3
method = ["generated", "attention"]
[options.openai]
base_url = "{url}"
"""
TEMPLATE = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"


def write(folder: Path, model: str, url: str = "", questions: int = QUESTIONS) -> None:
    sheets = write_sheets(folder / "sheets", questions, TARGETS)
    (folder / "exp.toml").write_text(EXPERIMENT.format(sheets=sheets, url=url, model=model), encoding="utf-8")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("torch", reason="the extra 'transformers' is not installed")
    folder = save_causal("llama", tmp_path_factory.mktemp("llama"))
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    return f"transformers:{folder}"


def test_attention_is_read_beside_what_was_chosen(tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made-up weights choose no option: the first question is answered rightly, the other as the biased do."""
    from polyculture.generate.engines.transformers.engine import TransformersEngine

    def sample(_: Any, requests: Iterable[Request]) -> Iterator[Completion]:
        for request in requests:
            text = request.messages[-1].content
            said = of_most_resources(text) if asked_of(text)[1] else oracle(text)
            yield from (Completion(request.request_id, seed, said, "told") for seed in request.seeds)

    monkeypatch.setattr(TransformersEngine, "sample", sample)
    write(tmp_path, model)
    planned = polyculture("plan", "exp.toml", cwd=tmp_path)
    assert "ask attend" in planned.stdout, planned.stdout + planned.stderr
    asked = polyculture("ask", "culture-mcq", "exp.toml", "--method", "generated", cwd=tmp_path)
    assert asked.returncode == 0, asked.stderr
    assert not rows(tmp_path, "SELECT 1 FROM numbers WHERE measure = 'attention'")
    done = polyculture("ask", "culture-mcq", "exp.toml", "--method", "attention", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    size = QUESTIONS * len(TARGETS)
    found = "SELECT method, status, count(*), count(DISTINCT question_id), min(len(scores)) FROM answers GROUP BY ALL"
    assert sorted(rows(tmp_path, found), key=str) == [
        ("attention", "ok", size, size, 4),
        ("generated", "ok", size, size, None),
    ]
    # No reader makes an option of attention, and no number of answers is of it.
    assert rows(tmp_path, "SELECT DISTINCT method FROM question_readings") == [("generated",)]
    assert rows(tmp_path, "SELECT DISTINCT method FROM numbers WHERE measure = 'questions'") == [("generated",)]
    assert "Attention (z) to some options against others" in done.stdout

    query = "SELECT facets['level'], a, b FROM differences WHERE measure = 'attention' AND facets['level'] IS NOT NULL"
    compared = set(rows(tmp_path, query))
    levels = ("high", "low", "mid")
    assert compared <= {(one, one, other) for one in levels for other in levels if one != other}
    assert compared
    both = polyculture("ask", "exp.toml", cwd=tmp_path)  # by the methods of the file
    assert both.returncode == 0, both.stderr
    assert " done" not in both.stderr  # the model is not even opened
    tests = polyculture("table", "attention_tests", "exp.toml", "--format", "csv", cwd=tmp_path)
    assert re.search(r",low,(right|wrong),low,high,", tests.stdout)
    run = RunFolder(tmp_path / "runs" / "usual")
    page = write_report(run, layout=store_layout(), sections=SECTIONS).read_text(encoding="utf-8")
    assert all(part in page for part in ("p, as the study", "low less high, low targets", "Mean z of attention"))
    _check_weights(tmp_path, model)
    _check_z(tmp_path)
    _check_map(tmp_path)


def test_what_runs_beside_it_have_read_is_taken_over(
    tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    write(tmp_path, model)
    words = ("--method", "attention", "--units", "1")
    assert polyculture("ask", "culture-mcq", "exp.toml", *words, cwd=tmp_path).returncode == 0
    read = rows(tmp_path, "FROM answers ORDER BY answer_id")
    text = (tmp_path / "exp.toml").read_text(encoding="utf-8")
    (tmp_path / "other.toml").write_text(text.replace('"usual"', '"other"'), encoding="utf-8")
    monkeypatch.setattr(transformers.PreTrainedModel, "from_pretrained", None)  # no model can be loaded any more
    done = polyculture("ask", "culture-mcq", "other.toml", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with open_store(RunFolder(tmp_path / "runs" / "other"), store_layout()) as store:
        assert store.sql("FROM answers ORDER BY answer_id").fetchall() == read


def _check_weights(folder: Path, model: str) -> None:
    """Against the whole attention of a plain pass over the message in the model's template."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place = model.partition(":")[2]
    loaded: Any = AutoModelForCausalLM.from_pretrained(place, attn_implementation="eager")
    tokenizer: Any = AutoTokenizer.from_pretrained(place)
    asked = open_set("culture-mcq", folder / "sheets")
    by_text = {question.text: question for question in asked.questions if question.facets["type"] == "resource"}
    query = """SELECT q.text, a.scores FROM answers AS a JOIN questions AS q USING (question_id)
        WHERE method = 'attention'"""
    found = rows(folder, query)
    assert len(found) == QUESTIONS * len(TARGETS)
    for question, weights in found:
        one = by_text[question]
        text = f"[user]{message(one, asked.prompts[0], one.options, ())}[assistant]"
        read = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)
        with torch.inference_mode():
            whole = loaded(torch.tensor([read["input_ids"]]), output_attentions=True).attentions
        row = torch.stack([one[0, :, -1] for one in whole]).mean((0, 1)).numpy()
        for choice, weight in zip(one.options, weights, strict=True):
            start = text.index(f"- {choice}\n") + 2
            under = [n for n, (a, b) in enumerate(read["offset_mapping"]) if a < start + len(choice) and start < b]
            assert weight == pytest.approx(float(row[under].max()), abs=1e-6)


def _check_z(folder: Path) -> None:
    query = """SELECT list(weight ORDER BY option), list(z ORDER BY option), list(chosen ORDER BY option),
            list(option_role ORDER BY option), any_value(answers)
        FROM option_attention
        GROUP BY reader, question_id"""
    found = rows(folder, query)
    for weights, scores, chosen, roles, answers in found:
        np.testing.assert_allclose(scores, stats.zscore(weights), atol=1e-6)
        assert sorted(roles) == ["biased", "other", "other", "right"]
        assert sum(chosen) == 1
        assert answers == ("right" if roles[chosen.index(True)] == "right" else "wrong")


def _check_map(folder: Path) -> None:
    """The cells of the map are the means of z by the groups of target and option, and add up to the whole."""
    cells = """SELECT reader, condition, facets['options'], facets['level'], facets['other'], estimate, n
        FROM numbers WHERE measure = 'attention' AND metric = 'contribution'"""
    by_hand = """SELECT reader, answers, options, target_group, option_group, avg(z), count(*)
        FROM (FROM option_attention SELECT *,
            unnest(CASE WHEN chosen THEN ['all', 'chosen'] ELSE ['all'] END) AS options)
        WHERE answers IS NOT NULL GROUP BY ALL"""
    found, known = ({row[:5]: row[5:] for row in rows(folder, query)} for query in (cells, by_hand))
    assert found == {place: pytest.approx(values) for place, values in known.items()}
    assert {place[3] for place in found} == {"high", "mid", "low"} == {place[4] for place in found}


def test_killed_it_goes_on_and_reads_nothing_twice(tmp_path: Path, model: str) -> None:
    write(tmp_path, model, questions=40)
    words = ("ask", "culture-mcq", "exp.toml", "--method", "attention")
    killed = begin_polyculture(*words, cwd=tmp_path)
    deadline, kept = time.monotonic() + 120, set[str]()
    while len(kept) < 5 and time.monotonic() < deadline and killed.is_alive():
        time.sleep(0.01)
        kept = journalled(tmp_path)
    killed.kill()
    killed.join()
    kept = journalled(tmp_path)
    size = 40 * len(TARGETS)
    assert 5 <= len(kept) < size, "killed too early or too late to show anything"
    done = polyculture(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    before = [int(each) for each in re.findall(r"attend .* done, (\d+) of them before", done.stderr)]
    assert sum(before) >= len(kept)
    stored = "SELECT count(*), count(DISTINCT answer_id), count(DISTINCT request_id) FROM stored_answers"
    assert rows(tmp_path, stored) == [(size, size, size)]
    weights = "SELECT concat(question_id, ' ', option), weight FROM option_attention"
    resumed = dict(rows(tmp_path, weights))
    shutil.rmtree(tmp_path / "runs")
    assert polyculture(*words, cwd=tmp_path).returncode == 0
    # In other batches the last digits of single precision differ.
    assert dict(rows(tmp_path, weights)) == pytest.approx(resumed, rel=1e-5)


def journalled(folder: Path) -> set[str]:
    """The requests whose weights are on disk, in the journals of jobs."""
    lines = [line for file in (folder / "runs").rglob("journal.jsonl") for line in file.read_bytes().splitlines()]
    found: set[str] = set()
    for line in lines:
        with suppress(ValueError):  # the last line of one that is being written
            found.update(row["request_id"] for row in json.loads(line)["answers"])
    return found


def test_a_model_that_hides_its_attention_is_one_line_before_it_is_asked(tmp_path: Path) -> None:
    with StubServer() as server:
        write(tmp_path, "openai:stub", server.url)
        done = polyculture("ask", "culture-mcq", "exp.toml", "--method", "attention", cwd=tmp_path)
        assert done.returncode == 2
        assert "Models of 'transformers' can." in one_line(done)
        assert server.bodies == []


def test_what_is_too_long_is_a_row_with_its_reason(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra 'transformers' is not installed")
    folder = save_causal("gpt2", tmp_path / "short")  # reads 128 tokens, most of them letters
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    write(tmp_path, f"transformers:{folder}")
    done = polyculture("ask", "culture-mcq", "exp.toml", "--method", "attention", cwd=tmp_path)
    assert done.returncode != 0
    found = rows(tmp_path, "SELECT DISTINCT error FROM failed WHERE stage = 'ask'")
    assert len(found) >= 1
    assert all("are more than the 128 that the model reads" in error for (error,) in found)


def test_the_contribution_is_the_largest_of_the_means_over_layers() -> None:
    assert contribution(np.array([[0.1, 0.9, 0.2], [0.3, 0.1, 0.6]], np.float32)) == pytest.approx(0.5)


def _question(source: str, target: str, z: Sequence[float], chosen: int) -> list[WeighedOption]:
    """Options in the order right, biased, other, other."""
    answers = "right" if chosen == 0 else "wrong"
    roles = ("right", "biased", "other", "other")
    return [
        WeighedOption(answers, source, f"{source} {target}", role, place == chosen, value)
        for place, (role, value) in enumerate(zip(roles, z, strict=True))
    ]


def test_differences_are_of_questions_and_the_study_s_test_of_options_by_hand() -> None:
    """Wrong options of the target's own level against those of another; the right one is on neither side."""
    roles, groups = ("right", "biased", "other", "other"), ("low", "high", "mid", "low")
    z = {"a": (1.0, 0.7, -0.4, -1.3), "b": (0.2, 1.3, -0.5, -1.0), "c": (-0.3, 1.4, 0.2, -1.3)}
    data = [
        WeighedOption("wrong", unit, unit, role, place == 1, value, group, "low")
        for unit, values in z.items()
        for place, (role, group, value) in enumerate(zip(roles, groups, values, strict=True))
    ]
    data += [one._replace(target="", unit="d", question_id="d") for one in data[:4]]  # of no known level
    found = {(one.target, one.a, one.b): one for one in contrasts(data) if one.answers == "wrong"}
    assert set(found) == {("low", "low", "high"), ("low", "low", "mid"), ("", "biased", "others")}
    low, high = ([values[place] for values in z.values()] for place in (3, 1))
    one = found["low", "low", "high"]
    assert student_p(one) == pytest.approx(stats.ttest_ind(low, high).pvalue)
    assert paired_means(*paired_units(one)).p == pytest.approx(stats.ttest_rel(low, high).pvalue)
    study = AttentionStudy("m", "d", "en", "ours", "house", "resource")
    tested = {row.facets["other"]: row.estimate for row in paper_tests([(study, data)], "")}
    assert tested == {"high": student_p(one), "mid": student_p(found["low", "low", "mid"])}


def test_a_question_of_several_targets_counts_once() -> None:
    data = [
        *_question("a", "x", (1.5, -0.5, -0.4, -0.6), 0),
        *_question("a", "y", (1.1, -1.1, 0.7, -0.7), 0),
        *_question("b", "x", (0.2, 1.3, -0.5, -1.0), 0),
        *_question("c", "x", (-1.0, 1.6, -0.3, -0.3), 1),
    ]
    one = next(each for each in contrasts(data) if each.answers == "right")
    paired = paired_means(*paired_units(one))
    apart = [(0.0 - 1.1) / 2, 1.3 + 0.75]
    error = np.std(apart, ddof=1) / np.sqrt(2)
    assert paired.value == pytest.approx(np.mean(apart))
    assert paired.p == pytest.approx(2 * stats.t.sf(np.mean(apart) / error, 1))
    assert paired.low == pytest.approx(np.mean(apart) - stats.t.ppf(0.975, 1) * error)


def test_one_question_has_no_paired_test_and_rates_are_of_their_kind() -> None:
    study = AttentionStudy("m", "d", "en", "ours", "house", "resource")
    few = attention_differences([(study, _question("a", "x", (1.5, -0.5, -0.4, -0.6), 0))], "")
    assert {row.p for row in few} == {None}
    assert {row.reason for row in few if row.target == "new_prompts"} == {"few units"}
    rng = np.random.default_rng(1)
    many = [one for n in range(40) for one in _question(str(n), "x", rng.normal(size=4).tolist(), n % 4)]
    both = [(study, many), (study._replace(type="region"), many)]
    own = [row for row in attention_differences(both, "") if row.target == "new_prompts"]
    assert len(own) == 4
    assert [row.q for row in own] == pytest.approx(stats.false_discovery_control([row.p for row in own]))


def test_under_the_null_the_paired_test_rejects_five_percent() -> None:
    """Options are attended to at random, alike for all targets of a question, which the independent test ignores."""
    rng = np.random.default_rng(2)
    rejected = {"paper": 0, "paired": 0}
    for _ in range(200):
        data: list[WeighedOption] = []
        for source in range(30):
            z = stats.zscore(rng.normal(size=4)).tolist()
            data += [one for target in range(5) for one in _question(str(source), str(target), z, 0)]
        one = next(each for each in contrasts(data) if (each.a, each.answers) == ("biased", "right"))
        rejected["paper"] += (student_p(one) or 1) < 0.05
        rejected["paired"] += (paired_means(*paired_units(one)).p or 1) < 0.05
    assert 2 <= rejected["paired"] <= 19  # 10 expected, within three deviations
    assert rejected["paper"] > 40
