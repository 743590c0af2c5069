"""`polyculture import LOG... --scores`: from logs to numbers, comparisons, gates and ranks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats as tests

from polyculture.cache.errors import UserError
from polyculture.instruments.questions.scored import scored_rows
from polyculture.running.importing_scores import read_ranges
from polyculture.sources.item_scores import ItemScore
from tests.polyculture.test_command_line import one_line, polyculture
from tests.sources.test_item_scores import helm, inspect, lines, lm_eval, sample, scored, stats
from tests.stored import rows

A, B = "org/a", "org/b"
COLUMNS = "a_estimate, b_estimate, difference, low, high, p, freedom, units"
NEW = ("--target", "new_prompts")


def imported(folder: Path, *words: str | Path) -> str:
    """What the command says of the logs in a folder."""
    done = polyculture("import", "--scores", *words, "--as", "mine.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stderr


def difference(folder: Path, metric: str) -> dict[str, Any]:
    query = f"SELECT {COLUMNS} FROM differences WHERE target = 'new_prompts' AND metric = '{metric}'"
    [found] = rows(folder, query, "mine")
    return dict(zip(COLUMNS.split(", "), found, strict=True))


def standard_error(found: dict[str, Any]) -> float:
    """What the interval was made of."""
    return float((found["high"] - found["low"]) / 2 / tests.t.ppf(0.975, found["freedom"]))


def two_models(folder: Path, scores: dict[str, list[float]], **more: Any) -> None:
    """Logs of lm-evaluation-harness in which items stand alone, unless `more` says what joins them."""
    for model, own in scores.items():
        records = [sample(number, acc=score) for number, score in enumerate(own)]
        for number, record in enumerate(records):
            record["doc"] = {name: values[number] for name, values in more.items()}
        lm_eval(folder / "logs", model, records)


def test_a_difference_is_that_of_a_paired_t_test_over_items(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    hard = random.normal(0.5, 0.1, 200)
    one, other = (np.clip(hard + random.normal(shift, 0.05, 200), 0, 1) for shift in (0.02, 0.0))
    two_models(tmp_path, {A: one.tolist(), B: other.tolist()})
    said = imported(tmp_path, "logs")
    assert "imported:org/a, gsm8k: 200 items, scored by acc" in said
    found, oracle = difference(tmp_path, "acc"), tests.ttest_rel(one, other)
    assert found["difference"] == pytest.approx(one.mean() - other.mean(), abs=1e-12)
    assert standard_error(found) == pytest.approx(float(tests.sem(one - other)), rel=1e-6)
    interval = oracle.confidence_interval()
    assert (found["low"], found["high"]) == pytest.approx((interval.low, interval.high), rel=0.02)
    assert found["p"] == pytest.approx(oracle.pvalue, rel=0.1)


def test_items_of_one_document_are_one_witness(tmp_path: Path) -> None:
    """Documents of four items each: statsmodels' clustered regression of the differences."""
    random = np.random.default_rng(2)
    documents = np.repeat(np.arange(50), 4)
    own = random.normal(0, 0.15, 50)[documents]
    one = np.clip(0.5 + own + random.normal(0, 0.05, 200), 0, 1)
    other = np.full(200, 0.5)
    two_models(tmp_path, {A: one.tolist(), B: other.tolist()}, document=[f"d{one}" for one in documents])
    assert "gsm8k: 200 items in 50 clusters, by doc.document; cluster==item" in imported(tmp_path, "logs")
    found = difference(tmp_path, "acc")
    frame = pd.DataFrame({"change": one - other, "document": documents})
    fitted = smf.ols("change ~ 1", frame).fit(cov_type="cluster", cov_kwds={"groups": documents})
    assert found["units"] == 50
    assert standard_error(found) == pytest.approx(float(fitted.bse.iloc[0]), rel=0.02)
    imported(tmp_path, "logs", "cluster==item")
    assert difference(tmp_path, "acc")["units"] == 200
    assert standard_error(difference(tmp_path, "acc")) < 0.6 * standard_error(found)


def test_models_are_paired_on_the_means_of_items_however_often_each_answered(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    easy = random.uniform(0.2, 0.9, 60)
    draws = {
        "a": [random.random(1 + number % 4) < p for number, p in enumerate(easy)],
        "b": [random.random(3) < p for p in easy],
    }
    for model, answers in draws.items():
        samples = [
            scored(number, epoch, "C" if right else "I")
            for number, own in enumerate(answers)
            for epoch, right in enumerate(own, 1)
        ]
        inspect(tmp_path / f"{model}.json", model, samples)
    assert "imported:a, arc: 60 items, up to 4 scores each, scored by match" in imported(tmp_path, "a.json", "b.json")
    one, other = (np.array([np.mean(own) for own in draws[model]]) for model in ("a", "b"))
    found = difference(tmp_path, "match")
    assert (found["a_estimate"], found["b_estimate"]) == pytest.approx((one.mean(), other.mean()))
    assert standard_error(found) == pytest.approx(float(tests.sem(one - other)), rel=1e-6)


def test_scores_that_take_the_place_of_others_have_a_line(tmp_path: Path) -> None:
    """Items and metrics of an earlier log were no longer counted, and nobody said so."""
    lm_eval(tmp_path / "first", A, [sample(number, acc=number % 2, f1=0.5) for number in range(20)])
    lm_eval(tmp_path / "second", A, [sample(number, acc=number % 2) for number in range(15)])
    assert "replace" not in imported(tmp_path, "first")
    assert "replace" not in imported(tmp_path, "first")
    said = " ".join(imported(tmp_path, "second").split())
    assert "these scores replace the earlier ones, which also had 5 of 20 items, f1; name both logs" in said
    assert rows(tmp_path, "SELECT count(*) FROM answers", "mine") == [(15,)]


def table(folder: Path, name: str, model: str, records: list[str], head: str = "item,grade,passage") -> None:
    lines = [f"{head},model", *(f"{record},{model}" for record in records)]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


GRADES = ("score=grade", "item=item", "model=model", "dataset==judged")


def test_scores_of_another_range_cannot_stand_beside_those_of_a_model(tmp_path: Path) -> None:
    """The first model's number was gone without a word."""
    for model in "ab":
        table(tmp_path, f"{model}.csv", model, [f"i{number},{number % 9 + 1},p" for number in range(20)])
    imported(tmp_path, "a.csv", *GRADES, "range=grade=1..10", "cluster==item")
    words = ("import", "--scores", "b.csv", *GRADES, "range=grade=0..10", "--as", "mine.toml")
    refused = polyculture(*words, cwd=tmp_path)
    assert refused.returncode == 2
    said = "judged: grade of imported:a was imported with another range. Name the logs of all models"
    assert said in refused.stderr
    assert "imported:b" not in (tmp_path / "mine.toml").read_text(encoding="utf-8"), "nothing was changed"
    said = imported(tmp_path, "b.csv", *GRADES, "range=grade=1..10", "cluster==item")
    assert "imported:b, judged: 20 items, scored by grade" in said
    assert len(rows(tmp_path, "SELECT DISTINCT model FROM question_scores", "mine")) == 2


def test_items_keep_the_groups_in_which_other_models_have_them(tmp_path: Path) -> None:
    """A second log regrouped the items of the first one's model, and its interval changed."""
    records = [f"i{number},0.{number % 9},p{number // 4}" for number in range(40)]
    table(tmp_path, "a.csv", "a", records)
    table(tmp_path, "b.csv", "b", [record if number else "i0,0.1," for number, record in enumerate(records)])
    assert "40 items in 10 clusters, by passage" in imported(tmp_path, "a.csv", *GRADES)
    refused = polyculture("import", "--scores", "b.csv", *GRADES, "--as", "mine.toml", cwd=tmp_path)
    assert refused.returncode == 2
    assert re.search(r"judged: item i\d+ belongs to i\d+ here, and to passage p\d+ for imported:a", refused.stderr)
    table(tmp_path, "alone.csv", "a", ["i0,0.1,", *records[1:]])
    assert "passage is known of 39 of 40 items" in imported(tmp_path, "alone.csv", *GRADES)


def test_options_of_texts_are_refused(tmp_path: Path) -> None:
    lm_eval(tmp_path / "logs", A, [sample(0, acc=1.0)])
    done = polyculture("import", "--scores", "logs", "--set", "bbq", "--replace", "--as", "mine.toml", cwd=tmp_path)
    assert "--replace, --set: not with --scores" in one_line(done)


def test_ranks_are_of_the_items_themselves_and_not_of_their_perturbations(tmp_path: Path) -> None:
    """Models that differ under a perturbation alone were ranked apart, and some had a rank above 1."""
    for model, robust in (("org/a", 1.0), ("org/b", 0.0)):
        own = [stats(f"id{number}", 0, exact_match=float(number % 2)) for number in range(40)]
        own += [
            stats(f"id{number}", 0, "robustness", exact_match=robust if number % 9 else 0.5) for number in range(40)
        ]
        helm(tmp_path / "runs of helm" / model.replace("/", "_"), model, own)
    imported(tmp_path, "runs of helm")
    ranks = "SELECT model, rank_low, rank_high, goal FROM leaderboard ORDER BY model"
    assert rows(tmp_path, ranks, "mine") == [("imported:org/a", 1, 2, "more"), ("imported:org/b", 1, 2, "more")]


def test_a_repeat_that_failed_is_told_with_its_reason(tmp_path: Path) -> None:
    own = [scored(number, epoch, "C" if number % 3 else "I") for number in range(12) for epoch in (1, 2)]
    own.append(scored(4, 3, None, error={"message": "timeout"}))
    inspect(tmp_path / "log.json", "a", own)
    said = " ".join(imported(tmp_path, "log.json").split())
    assert "a, arc: 1 x no score of an item that has one in another repeat, whose mean is without it: timeout" in said


def test_gates_comparisons_ranks_and_the_report_work_on_scores(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    hard = random.random(300)
    skills = {A: 0.25, B: 0.0, "org/c": 0.0}
    for model, skill in skills.items():
        right = {word: (random.random(300) < np.clip(hard + skill, 0, 1)).astype(float) for word in ("strict", "loose")}
        records = [sample(at, word, exact_match=own[at]) for at in range(300) for word, own in right.items()]
        for record in records:
            record["doc"] = {}
        lm_eval(tmp_path / "logs", model, records)
    said = imported(tmp_path, "logs")
    assert "not read" not in said
    names = ("imported:org/b", "imported:org/a")
    done = polyculture("compare", "mine.toml", *names, *NEW, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.count("gsm8k") == 2
    done = polyculture("compare", "mine.toml", *names, *NEW, "--fail-if", "exact_match,strict lower", cwd=tmp_path)
    assert done.returncode == 7
    assert "exact_match,strict lower" in done.stderr
    same = ("imported:org/b", "imported:org/c", *NEW)
    assert polyculture(
        "compare", "mine.toml", *same, "--pass-if", "exact_match,strict not lower by more than .2", cwd=tmp_path
    ).returncode == 0  # fmt: skip
    claim = """
[[claims]]
name = "a-better"
says = "A scores higher than each other model."
measure = "questions"
metric = "exact_match,strict"
contrast = { a = "imported:org/a", against = "imported:org/b" }
expect = "higher"
target = "new_prompts"
"""
    (tmp_path / "claims.toml").write_text(claim)
    done = polyculture("compare", "mine.toml", "--claims", "claims.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "holds" in done.stdout
    done = polyculture("table", "leaderboard", "mine.toml", "--format", "json", cwd=tmp_path)
    ranked = [one for one in map(json.loads, done.stdout.splitlines()) if one["metric"] == "exact_match,strict"]
    assert {one["model"][-1]: one["rank"] for one in ranked} == {"a": "1", "b": "2–3", "c": "2–3"}
    done = polyculture("report", "mine.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "runs" / "mine" / "report.html").read_text(encoding="utf-8")
    assert "Another harness scored the answers" in page
    assert "exact_match,strict" in page


def test_a_log_of_another_model_joins_the_run_and_the_same_log_changes_nothing(tmp_path: Path) -> None:
    two_models(tmp_path, {A: [0.0, 1.0] * 10, B: [1.0, 1.0, 0.0, 1.0, 0.0] * 4})
    logs = sorted((tmp_path / "logs").glob("*/samples*"))
    imported(tmp_path, logs[0])
    imported(tmp_path, logs[1])
    imported(tmp_path, logs[1])
    counted = "SELECT model, count(*), (SELECT count(*) FROM stored_answers) FROM answers GROUP BY 1 ORDER BY 1"
    assert rows(tmp_path, counted, "mine") == [("imported:org/a", 20, 40), ("imported:org/b", 20, 40)]
    assert difference(tmp_path, "acc")["difference"] == pytest.approx(-0.1)
    two_models(tmp_path, {A: [1.0] * 20})
    imported(tmp_path, logs[0])
    assert difference(tmp_path, "acc")["difference"] == pytest.approx(0.4)  # its former scores do not count


def test_failed_items_are_rows_with_a_reason_in_no_mean(tmp_path: Path) -> None:
    samples = [scored(number, 1, "C") for number in range(18)]
    samples += [scored(18, 1, None, error={"message": "timeout"}), scored(19, 1, "N")]
    inspect(tmp_path / "log.json", "m", samples)
    said = imported(tmp_path, "log.json")
    assert "imported:m, arc: 1 item without a score: timeout" in said
    query = "SELECT estimate, n, failed FROM question_scores WHERE part = 'all' AND prompt IS NULL AND metric = 'match'"
    assert rows(tmp_path, query, "mine") == [(pytest.approx(18 / 19), 19, 1)]
    assert rows(tmp_path, "SELECT status, error FROM answers WHERE status <> 'ok'", "mine") == [("failed", "timeout")]


def test_variants_of_items_are_counted_apart(tmp_path: Path) -> None:
    rows_of = [stats(f"id{at}", 0, exact_match=1.0) for at in range(10)]
    rows_of += [stats(f"id{at}", 0, "typos", exact_match=float(at < 5)) for at in range(10)]
    helm(tmp_path / "run", "org/model", rows_of)
    imported(tmp_path, "run")
    query = "SELECT condition, estimate, n FROM question_scores WHERE part = 'all' AND prompt IS NULL"
    assert set(rows(tmp_path, query, "mine")) == {(None, 1.0, 10), ("typos", 0.5, 10)}


def item(number: int, value: float | None, metric: str = "acc", model: str = "m", **more: Any) -> ItemScore:
    known = {"language": "und", "same": "", "repeat": "", "version": "", **more}
    return ItemScore(f"log:{number}", "task", model, known["language"], f"i{number}", known["same"], known["repeat"],
                     known["version"], metric, value, "" if value is not None else "no score")  # fmt: skip


def test_a_metric_outside_0_to_1_is_left_out_or_scaled_by_the_stated_range() -> None:
    scores = [item(1, 0.5), item(2, 1.0), item(1, 7.0, "judge"), item(2, 1.0, "judge")]
    found = scored_rows(scores, {})
    assert list(found.metrics) == ["acc"]
    [line] = [line for line in found.lines if line.startswith("left out")]
    assert "judge: its scores are 1 to 7, outside 0 to 1" in line
    assert "'range=judge=LOW..HIGH'" in line
    found = scored_rows(scores, read_ranges(["judge=1..10"]))
    readings = [one for some in found.readings.values() for one in some if one.reader == "judge"]
    assert sorted(one.matched or 0.0 for one in readings) == pytest.approx([0, 6 / 9])
    assert {one.ground for one in readings} == {"score, 1 to 10 as 0 to 1"}


def test_the_same_item_twice_counts_once() -> None:
    found = scored_rows([item(1, 1.0), item(1, 1.0), item(2, 0.0), item(2, 1.0)], {})
    assert sorted(one.matched or 0.0 for some in found.readings.values() for one in some) == [0.0, 1.0]
    assert "1 x the same score of the same answer again" in found.lines
    [line] = [line for line in found.lines if "otherwise" in line]
    assert "log:2 (item i2, acc; log:2 has 0.0)" in line


def test_items_that_differ_between_logs_are_not_paired() -> None:
    """An item of the same number but another content, as after another version of a data set."""
    scores = [item(1, 1.0, model="a", same="x"), item(1, 1.0, model="b", same="y")]
    scores += [item(2, 1.0, model="a"), item(2, 0.0, model="b")]
    found = scored_rows(scores, {})
    assert "task: 1 of 3 items are the same in the logs of all 2 models" in found.lines


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "there is no such file"),
        (("logs", "range=acc=0.5..1"), "range=acc=0.5..1: in gsm8k it is 0 to 1"),
        (("logs", "range=ac=0..2"), "Did you mean 'acc'?"),
        (("logs", "range=acc=2..0"), "is no range=METRIC=LOW..HIGH"),
        (("logs", "scor=acc"), "Did you mean 'score'?"),
        (("logs", "--format", "lm_eval"), "Did you mean 'lm-eval'?"),
        (("logs", "score=none"), "score=none: no row has this column"),
        (("other",), "holds no log with scores of items"),
    ],
)
def test_a_mistake_ends_in_one_line_with_the_remedy(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    two_models(tmp_path, {A: [0.0, 1.0]})
    lines(tmp_path / "other" / "log.jsonl", [{"a": 1}])
    done = polyculture("import", "--scores", *words, "--as", "mine.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert said in one_line(done)
    assert not (tmp_path / "runs").exists()


def test_without_a_name_for_the_experiment_nothing_is_done(tmp_path: Path) -> None:
    two_models(tmp_path, {A: [0.0, 1.0]})
    done = polyculture("import", "--scores", "logs", cwd=tmp_path)
    assert done.returncode == 2
    assert "name the experiment file with --as" in done.stderr


def test_a_metric_without_numbers_is_left_out() -> None:
    with pytest.raises(UserError, match="bleu: it is not one number for each item"):
        scored_rows([item(1, None, "bleu")], {})
