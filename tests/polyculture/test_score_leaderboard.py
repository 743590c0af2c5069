"""`polyculture leaderboard` of runs, and exports of runs, that hold imported scores of items."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyculture.cache.store.store import open_store
from polyculture.running.standings import joined_runs
from tests.polyculture.test_command_line import one_line, polyculture
from tests.reports.test_every_eval_ever import record_faults
from tests.sources.test_item_scores import helm, inspect, lm_eval, sample, scored, stats
from tests.stored import rows

ITEMS = 150
SKILLS = {"large": 0.25, "twin": 0.24, "small": -0.1}
DIRECTIONS = {"acc": True, "loss": False}


def imported(folder: Path, name: str, *words: str | Path) -> None:
    done = polyculture("import", "--scores", *words, "--as", f"{name}.toml", cwd=folder)
    assert done.returncode == 0, done.stderr


def log(folder: Path, model: str, scores: dict[str, list[float]], better: dict[str, bool] | None = None) -> Path:
    """A log of lm-evaluation-harness, and its results, which say what is good."""
    records = [sample(at, **{name: own[at] for name, own in scores.items()}) for at in range(len(scores["acc"]))]
    lm_eval(folder / model, model, records, higher_is_better=better)
    return folder / model


def drawn(seed: int, skill: float, items: int = ITEMS) -> dict[str, list[float]]:
    hard = np.random.default_rng(0).normal(0.5, 0.2, items)
    random = np.random.default_rng(seed)
    right = (random.random(items) < np.clip(hard + skill, 0, 1)).astype(float)
    return {"acc": right.tolist(), "loss": np.clip(0.6 - 0.4 * right + random.normal(0, 0.05, items), 0, 1).tolist()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run for each of three models on the same items, an export of the second, and a run of all three."""
    place = tmp_path_factory.mktemp("scores")
    for seed, (model, skill) in enumerate(SKILLS.items(), 1):
        imported(place, model, log(place / "logs", model, drawn(seed, skill), DIRECTIONS))
    imported(place, "together", place / "logs")
    done = polyculture("export", "twin.toml", "--to", "export-twin", "--licence", "CC0-1.0", cwd=place)
    assert done.returncode == 0, done.stderr
    return place


def written(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def board(folder: Path, *places: str, **where: str) -> dict[str, Any]:
    done = polyculture("leaderboard", *places, "-f", "csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = [row for row in written(done.stdout) if all(row[name] == value for name, value in where.items())]
    return {row["model"]: row for row in found} | {"": " ".join(done.stderr.split())}


def test_models_of_several_runs_and_an_export_are_ranked_in_groups(folder: Path) -> None:
    found = board(folder, "large.toml", "export-twin", "runs/small", metric="acc")
    said = found.pop("")
    assert {name: (row["group"], row["run"]) for name, row in found.items()} == {
        "imported:large": ("1", "large"), "imported:twin": ("1", "export-twin"), "imported:small": ("2", "small"),
    }  # fmt: skip
    assert {(row["dataset"], row["better"]) for row in found.values()} == {("gsm8k", "higher")}
    assert "3 models of 3 runs" in said
    assert "at most 5 % missing" in said


def test_a_file_without_ranks_has_its_columns(tmp_path: Path) -> None:
    """All models are right in the same items: no metric has ranks."""
    for name in ("one", "two"):
        imported(tmp_path, name, log(tmp_path / f"log-{name}", name, {"acc": [float(at % 3 == 0) for at in range(40)]}))
    done = polyculture("leaderboard", "one.toml", "two.toml", "-f", "csv", cwd=tmp_path)
    assert (done.returncode, written(done.stdout)) == (0, [])
    assert done.stdout.startswith("metric,prompts,")
    assert "no ranks by acc" in " ".join(done.stderr.split())


def test_the_numbers_and_differences_are_those_of_one_run(folder: Path) -> None:
    """One run of all three logs has the same differences: what several runs are joined to is that run."""
    columns = "metric, a, b, a_estimate, b_estimate, difference, low, high, p, tipping, units"
    query = f"SELECT {columns} FROM differences WHERE measure = 'questions' ORDER BY metric, a, b"
    expected = rows(folder, query, "together")
    assert len(expected) == 6
    places = [folder / "runs" / "large", folder / "export-twin", folder / "runs" / "small"]
    with joined_runs(places) as found, open_store(found.run, found.data.layout) as store:
        assert {one.where for one in found.boards} == {"gsm8k, new items"}
        own = store.execute(query).fetchall()
    by_pair = {(row[0], *sorted(row[1:3])): row for row in own}
    for row in expected:
        other = by_pair[row[0], *sorted(row[1:3])]
        assert abs(other[5]) == pytest.approx(abs(row[5]))
        assert other[8:] == pytest.approx(row[8:])


@pytest.mark.parametrize("changed", [1, 2])
def test_a_second_evaluation_is_a_row_of_its_own_though_as_many_items_are_right(tmp_path: Path, changed: int) -> None:
    """It was the first one's where an even number of items differed: the hash of all had lost which."""
    first = [float(at % 3 == 0) for at in range(40)]
    second = [1 - score if at in (0, 10)[:changed] else score for at, score in enumerate(first)]  # one right, one wrong
    for name, scores in (("one", first), ("two", second)):
        imported(tmp_path, name, log(tmp_path / f"log-{name}", "model", {"acc": scores}))
    found = board(tmp_path, "one.toml", "two.toml", metric="acc")
    assert "is counted once" not in found.pop("")
    assert len(found) == 2


def test_where_lower_is_better_the_lowest_is_the_first(folder: Path) -> None:
    found = board(folder, "large.toml", "twin.toml", "small.toml", metric="loss")
    found.pop("")
    assert [(row["model"], row["group"], row["better"]) for row in found.values()][-1] == (
        "imported:small", "2", "lower",
    )  # fmt: skip
    estimates = [float(row["estimate"]) for row in found.values()]
    assert estimates == sorted(estimates)
    done = polyculture("table", "leaderboard", "together.toml", "metric=loss", "-f", "json", cwd=folder)
    ranks = {one["model"]: (one["rank"], one["goal"]) for one in map(json.loads, done.stdout.splitlines())}
    assert ranks == {
        "imported:large": ("1–2", "low"), "imported:twin": ("1–2", "low"), "imported:small": ("3", "low"),
    }  # fmt: skip
    assert "Lower is better." in page(folder, "together")


def page(folder: Path, name: str) -> str:
    done = polyculture("report", f"{name}.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    return (folder / "runs" / name / "report.html").read_text(encoding="utf-8")


def test_a_run_of_other_items_groups_metrics_or_ranges_is_left_out_with_what_differs(
    folder: Path, tmp_path: Path
) -> None:
    imported(tmp_path, "less", log(tmp_path, "less", {n: v[:-15] for n, v in drawn(9, 0.0).items()}))
    imported(tmp_path, "dropped", log(tmp_path, "dropped", {n: v[:-1] for n, v in drawn(9, 0.0).items()}))
    imported(tmp_path, "alone", "cluster==item", log(tmp_path, "alone", drawn(9, 0.0)))
    imported(tmp_path, "other", log(tmp_path, "other", {"acc": drawn(9, 0.0)["acc"]}))
    imported(tmp_path, "wide", "range=acc=0..2", log(tmp_path, "wide", drawn(9, 0.0)))
    names = ("less", "alone", "other", "wide", "dropped")
    places = [f"runs/{name}" for name in SKILLS] + [str(tmp_path / "runs" / name) for name in names]
    said = board(folder, *places)[""]
    for name, differs in {
        "less": "items of gsm8k (150 in 75 clusters, ", "alone": "items of gsm8k (150 in 75 clusters, ",
        "other": "metric loss of gsm8k (0 to 1 against not set)",
        "wide": "metric acc of gsm8k (0 to 1 against 0 to 2 as 0 to 1)",
    }.items():  # fmt: skip
        assert f"left out: {name}: its study is not that of large: {differs}" in said
    # The items are named by their ids in the log.
    lines = {line.split(":")[0].strip(): line for line in said.split("left out: ")}
    assert "): it lacks 135, 136, 137 and 12 more" in lines["less"]
    assert "imported:dropped: its run has no row of 1 of the 150 answers: counted as missing" in said
    assert "): with another cluster: 0, 1, 2 and 147 more" in lines["alone"]


def test_a_baseline_is_compared_as_if_its_scores_were_in_the_run(folder: Path) -> None:
    words = ("compare", "together.toml", "imported:small", "imported:large", "-f", "json")
    within = [json.loads(line) for line in polyculture(*words, cwd=folder).stdout.splitlines()]
    models = ("small.toml", "imported:small", "imported:large")
    done = polyculture("compare", *models, "--baseline", "large.toml", "-f", "json", cwd=folder)
    assert done.returncode == 0, done.stderr
    between = [json.loads(line) for line in done.stdout.splitlines()]
    columns = ("metric", "target", "a_estimate", "b_estimate", "difference", "low", "high", "p", "units")
    numbers = [[[row[name] for name in columns] for row in rows] for rows in (within, between)]
    assert len(numbers[0]) >= 2
    assert sorted(numbers[0], key=str) == sorted(numbers[1], key=str)
    assert {(row["a"], row["b"]) for row in between} == {("imported:small (small)", "imported:large (large)")}
    gate = ("--target", "new_prompts", "--fail-if", "acc lower")
    assert polyculture("compare", *models, "--baseline", "large.toml", *gate, cwd=folder).returncode == 7


def test_a_baseline_of_other_items_clusters_or_ranges(folder: Path, tmp_path: Path) -> None:
    scores = drawn(9, 0.0)
    imported(tmp_path, "less", log(tmp_path, "less", {name: values[:100] for name, values in scores.items()}))
    imported(tmp_path, "alone", "cluster==item", log(tmp_path, "alone", scores))
    imported(tmp_path, "wide", "range=acc=0..2", log(tmp_path, "wide", scores))
    baseline = ("--baseline", str(folder / "runs" / "large"))

    def compared(name: str, *more: str) -> Any:
        return polyculture(
            "compare", f"{name}.toml", f"imported:{name}", "imported:large", *baseline, *more, cwd=tmp_path
        )

    done = compared("less")
    assert done.returncode == 0, done.stderr
    assert "it lacks 100, 101, 102 and 47 more" in " ".join(done.stderr.split())
    assert compared("less", "--target", "new_prompts", "--fail-if", "acc lower").returncode == 3
    for name, differs in {"alone": "the clusters of items of gsm8k: 0, 1, 2", "wide": "metric acc of gsm8k"}.items():
        refused = compared(name)
        assert refused.returncode == 2
        assert differs in one_line(refused)


@pytest.fixture(scope="module")
def records(folder: Path) -> list[dict[str, Any]]:
    """The records of Every Eval Ever of two runs."""
    found = []
    for name in ("large", "small"):
        to = folder / f"records-{name}"
        done = polyculture("export", f"{name}.toml", "--to", to, "--every-eval-ever", cwd=folder)
        assert done.returncode == 0, done.stderr
        (file,) = (to / "data").rglob("*.json")
        found.append(json.loads(file.read_text(encoding="utf-8")))
    return found


def test_records_of_scores_have_the_study_and_the_range(folder: Path, records: list[dict[str, Any]]) -> None:
    studies = {one["source_metadata"]["additional_details"]["study_id"] for one in records}
    assert len(studies) == 1
    done = polyculture("leaderboard", "large.toml", "small.toml", cwd=folder)
    assert f"study {studies.pop()};" in " ".join(done.stderr.split())
    configs = [one["metric_config"] for record in records for one in record["evaluation_results"]]
    assert {(one["min_score"], one["max_score"]) for one in configs} == {(0.0, 1.0)}


def test_the_schema_of_every_eval_ever_accepts_records_of_scores(records: list[dict[str, Any]]) -> None:
    assert [record_faults(record) for record in records] == [[], []]


def test_items_of_other_texts_are_named(folder: Path, tmp_path: Path) -> None:
    scores = drawn(9, 0.0)
    records = [sample(at, **{name: own[at] for name, own in scores.items()}) for at in range(ITEMS)]
    for at in (20, 3):
        records[at]["doc"] = {**records[at]["doc"], "question": "another one"}
        records[at]["doc_hash"] = f"other {at}"
    lm_eval(tmp_path / "new", "new", records)
    imported(tmp_path, "new", tmp_path / "new")
    said = board(folder, *(f"runs/{name}" for name in SKILLS), str(tmp_path / "runs" / "new"))[""]
    assert "): with another text: 3, 20" in said


def test_clusters_of_fractional_scores_that_are_alike_have_intervals(tmp_path: Path) -> None:
    """Few of them were said to differ, though no two are the same."""
    random = np.random.default_rng(5)
    for model, mean in (("one", 0.6), ("two", 0.62), ("three", 0.5)):
        documents = random.normal(mean, 0.02, 30).repeat(4)
        f1 = np.clip(documents + random.normal(0, 0.05, 120), 0, 1)
        lines = [f"{at},{at // 4},{score:.6f}" for at, score in enumerate(f1)]
        (tmp_path / f"{model}.csv").write_text("\n".join(["item,document,f1", *lines]), encoding="utf-8")
        words = ("score=f1", "item=item", "cluster=document", f"model=={model}", "dataset==docs")
        imported(tmp_path, model, f"{model}.csv", *words)
    found = board(tmp_path, "one.toml", "two.toml", "three.toml", metric="f1")
    assert "few units differ" not in found.pop("")
    widths = [float(row["high"]) - float(row["low"]) for row in found.values()]
    assert len(widths) == 3
    assert all(0.01 < width < 0.05 for width in widths)  # Student's, of 30 means with a deviation of .03, has .024


def test_contradicting_directions_are_refused(folder: Path, tmp_path: Path) -> None:
    opposite = log(tmp_path, "opposite", drawn(8, 0.0), {"acc": True, "loss": True})
    imported(tmp_path, "opposite", opposite)
    places = ("runs/large", "runs/small", str(tmp_path / "runs" / "opposite"))
    assert (
        "left out: opposite: its study is not that of large: what is good in loss of gsm8k (low against high)"
        in (board(folder, *places)[""])
    )
    first = folder / "logs" / "large"
    done = polyculture("import", "--scores", first, opposite, "--as", "both.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "gsm8k: higher loss is better here, and lower in" in one_line(done)
    imported(tmp_path, "both", first)
    done = polyculture("import", "--scores", opposite, "--as", "both.toml", cwd=tmp_path)
    assert done.returncode == 2
    said = "gsm8k: higher loss is better here, and lower in the scores that are there"
    assert said in " ".join(done.stderr.split())
    imported(tmp_path, "both", log(tmp_path, "silent", drawn(7, 0.0)))  # and what was said of it is still known
    done = polyculture("table", "leaderboard", "both.toml", "metric=loss", "-f", "json", cwd=tmp_path)
    assert {json.loads(line)["goal"] for line in done.stdout.splitlines()} == {"low"}


def test_a_model_that_lacks_scores_is_left_out_with_its_share(tmp_path: Path) -> None:
    for model, failed in (("a", 0), ("b", 3), ("c", 30)):
        own = [scored(at, 1, "C" if at % (2 + failed % 7) else "I") for at in range(100 - failed)]
        own += [scored(at, 1, None, error={"message": "timeout"}) for at in range(100 - failed, 100)]
        inspect(tmp_path / f"{model}.json", model, own)
        imported(tmp_path, model, f"{model}.json")
    found = board(tmp_path, "a.toml", "b.toml", "c.toml")
    assert "left out: imported:c in c: 30 % missing (at most 5 %)" in found.pop("")
    assert set(found) == {"imported:a", "imported:b"}
    done = polyculture("leaderboard", "a.toml", "c.toml", "--most", "missing=.5", "-f", "csv", cwd=tmp_path)
    assert {row["model"] for row in written(done.stdout)} == {"imported:a", "imported:c"}
    done = polyculture("leaderboard", "a.toml", "c.toml", "--most", "cut=.5", cwd=tmp_path)
    assert "no model has such a share. Known: missing." in one_line(done)


def test_one_log_in_two_runs_is_one_model_and_a_second_evaluation_is_another(tmp_path: Path) -> None:
    imported(tmp_path, "first", log(tmp_path, "a", drawn(1, 0.0)))
    imported(tmp_path, "again", tmp_path / "a")
    imported(tmp_path, "anew", log(tmp_path / "anew", "a", drawn(2, 0.0)))
    found = board(tmp_path, "first.toml", "again.toml", "anew.toml", metric="acc")
    said = found.pop("")
    assert "left out: imported:a in again: 150 of its 150 answers are those of imported:a in first" in said
    assert set(found) == {"imported:a (first)", "imported:a (anew)"}
    assert {row["group"] for row in found.values()} == {"1"}


def test_the_page_the_table_and_latex_have_the_same_groups(folder: Path) -> None:
    places = ("large.toml", "export-twin", "small.toml")
    done = polyculture("leaderboard", *places, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "acc (gsm8k, new items): 2 groups; 3 of 3 pairs could be tested" in done.stdout
    done = polyculture("leaderboard", *places, "-f", "latex", cwd=folder)
    assert "label{tab:leaderboard-gsm8k-loss}" in done.stdout
    done = polyculture("leaderboard", *places, "-o", "board.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    text = " ".join((folder / "board.html").read_text(encoding="utf-8").split())
    assert "answered the same items, which other harnesses scored" in text
    assert "gsm8k by acc, loss" in text
    assert "Higher is better." in text
    assert "Lower is better." in text
    assert "prompts" not in text.partition("<main")[2].partition("<script")[0]


def test_runs_of_helm_and_of_inspect_are_ranked_without_a_direction(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    for model, skill in (("a", 0.9), ("b", 0.4)):
        right = (random.random(80) < skill).astype(float)
        helm(tmp_path / "helm" / model, f"org/{model}", [stats(f"id{at}", 0, em=right[at]) for at in range(80)])
        imported(tmp_path, model, tmp_path / "helm" / model)
    found = board(tmp_path, "a.toml", "b.toml", metric="em")
    found.pop("")
    assert {name: (row["group"], row["better"]) for name, row in found.items()} == {
        "imported:org/a": ("1", ""), "imported:org/b": ("2", ""),
    }  # fmt: skip


def test_compare_prints_how_few_items_reverse_a_difference(folder: Path) -> None:
    done = polyculture(
        "compare", "together.toml", "imported:large", "imported:small", "--target", "new_prompts", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert "reversed at" in done.stdout
    assert "the smallest share of questions, or of their clusters" in " ".join(done.stderr.split())
