"""Scores of items in the logs of harnesses, as those write them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import UserError
from polyculture.sources.item_scores import ItemScore, Log, LogReader, number_of

INSPECT_LOGS = Path(__file__).parents[1] / "imports" / "logs"


def lines(file: Path, records: Sequence[Mapping[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    return file


def sample(doc: int, filter: str = "none", **scores: Any) -> dict[str, Any]:
    """A line of `samples_TASK_DATE.jsonl` as lm-evaluation-harness writes it."""
    return {
        "doc_id": doc, "doc": {"question": "?", "passage_id": doc // 2, "answer": 7}, "target": 7,
        "arguments": {"gen_args_0": {"arg_0": "?"}}, "resps": [["7"]], "filtered_resps": ["7"], "filter": filter,
        "metrics": list(scores), "doc_hash": f"hash {doc}", "prompt_hash": "p", "target_hash": "t", **scores,
    }  # fmt: skip


def lm_eval(
    folder: Path,
    model: str,
    records: Sequence[Mapping[str, Any]],
    task: str = "gsm8k",
    higher_is_better: Mapping[str, bool | None] | None = None,
) -> Path:
    """A log of lm-evaluation-harness, and its results."""
    date = "2025-01-01T00-00-00.000000"
    file = lines(folder / model.replace("/", "__") / f"samples_{task}_{date}.jsonl", records)
    results = {"model_name": model, "results": {}, "higher_is_better": {task: higher_is_better or {}}}
    file.with_name(f"results_{date}.json").write_text(json.dumps(results))
    return file


def inspect(
    file: Path, model: str, samples: Sequence[Mapping[str, Any]], *, archive: bool = False, status: str = "success"
) -> Path:
    """A log of Inspect, as JSON or as an archive."""
    header = {"version": 2, "status": status, "eval": {"task": "arc", "model": model, "dataset": {"name": "arc"}}}
    if not archive:
        file.write_text(json.dumps({**header, "samples": samples}))
        return file
    with zipfile.ZipFile(file, "w") as members:
        members.writestr("header.json", json.dumps(header))
        for one in samples:
            members.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
    return file


def scored(id: int, epoch: int, value: Any, **more: Any) -> dict[str, Any]:
    scores = {"match": {"value": value, "answer": "A"}} if value is not None else {}
    return {"id": id, "epoch": epoch, "input": f"Question {id}", "target": "A", "scores": scores, **more}


def helm(folder: Path, model: str, stats: Sequence[Mapping[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    name = f"mmlu:subject=anatomy,model={model.replace('/', '_')}"
    (folder / "run_spec.json").write_text(json.dumps({"name": name, "adapter_spec": {"model": model}}))
    file = folder / "per_instance_stats.json"
    file.write_text(json.dumps(stats))
    return file


def stats(id: str, trial: int, perturbation: str | None = None, **means: float) -> dict[str, Any]:
    """An element of HELM's `per_instance_stats.json`."""
    known = {"perturbation": {"name": perturbation}} if perturbation else {}
    own = [
        {"name": {"name": name, "split": "test", **known}, "count": 1, "sum": mean, "mean": mean}
        for name, mean in means.items()
    ]
    return {"instance_id": id, "train_trial_index": trial, **known, "stats": own}


def read(*paths: Path, **told: str) -> list[ItemScore]:
    logs = [log for path in paths for log in LogReader(told).read(path)]
    return [score for log in logs if isinstance(log, Log) for score in log.scores]


def short(scores: Sequence[ItemScore]) -> list[tuple[str, str, str, float | None]]:
    return [(one.item, one.repeat, one.metric, one.value) for one in scores]


def test_lm_evaluation_harness_scores_a_sample_by_each_metric_and_filter(tmp_path: Path) -> None:
    records = [sample(0, "strict-match", exact_match=1.0), sample(0, "flexible-extract", exact_match=0.0),
               sample(1, acc=True, acc_norm=0)]  # fmt: skip
    found = read(lm_eval(tmp_path, "org/model", records))
    assert short(found) == [
        ("0", "", "exact_match,strict-match", 1.0), ("0", "", "exact_match,flexible-extract", 0.0),
        ("1", "", "acc", 1.0), ("1", "", "acc_norm", 0.0),
    ]  # fmt: skip
    assert {(one.model, one.dataset, one.language) for one in found} == {("org/model", "gsm8k", "und")}
    assert found[0].clusters == {"doc.passage_id": "0"}
    assert found[0].same == found[1].same != found[2].same


def test_older_samples_do_not_name_their_metrics(tmp_path: Path) -> None:
    """Before 0.4.5: the numbers beside the known columns are the metrics; a target may be a number, too."""
    record = {name: value for name, value in sample(3, acc=1.0).items() if name not in ("metrics", "filter")}
    assert short(read(lm_eval(tmp_path, "org/model", [record]))) == [("3", "", "acc", 1.0)]


@pytest.mark.parametrize("archive", [False, True], ids=["json", "eval"])
def test_letters_and_epochs_of_inspect(tmp_path: Path, archive: bool) -> None:
    values = ["C", "I", "P", "N"]
    samples = [scored(1, epoch, value) for epoch, value in enumerate(values, 1)]
    samples += [scored(2, 1, {"form": 0.5, "facts": True}), scored(3, 1, None, error={"message": "timeout"})]
    found = read(inspect(tmp_path / f"log.{'eval' if archive else 'json'}", "openai/gpt", samples, archive=archive))
    assert short(found) == [
        ("1", "1", "match", 1.0), ("1", "2", "match", 0.0), ("1", "3", "match", 0.5), ("1", "4", "match", 0.0),
        ("2", "1", "match.form", 0.5), ("2", "1", "match.facts", 1.0), ("3", "1", "", None),
    ]  # fmt: skip
    assert found[-1].reason == "timeout"
    assert {(one.model, one.dataset) for one in found} == {("openai/gpt", "arc")}


def test_statistics_of_helm_by_trial_and_perturbation(tmp_path: Path) -> None:
    rows = [stats("id1", 0, exact_match=1.0, num_prompt_tokens=80, inference_runtime=0.2),
            stats("id1", 1, exact_match=0.0), stats("id1", 0, "typos", exact_match=0.0)]  # fmt: skip
    rows.append(
        {"instance_id": "id2", "train_trial_index": 0, "stats": [{"name": {"name": "exact_match"}, "count": 0}]}
    )
    found = read(helm(tmp_path / "run", "org/model", rows))
    assert short(found) == [
        ("id1", "0", "exact_match", 1.0), ("id1", "1", "exact_match", 0.0), ("id1", "0", "exact_match", 0.0),
        ("id2", "0", "exact_match", None),
    ]  # fmt: skip
    assert [one.version for one in found] == ["", "", "typos", ""]
    assert found[-1].reason == "the log has no score by exact_match"
    assert {(one.model, one.dataset) for one in found} == {("org/model", "mmlu:subject=anatomy")}


def test_records_of_every_eval_ever(tmp_path: Path) -> None:
    record = {"schema_version": "0.2", "evaluation_id": "e", "model_id": "org/model", "evaluation_name": "MGSM",
              "evaluation_result_id": "acc:none", "sample_id": "s1", "sample_hash": "h",
              "evaluation": {"score": 0.5, "is_correct": False}, "metadata": {"language": "de"}}  # fmt: skip
    [found] = read(lines(tmp_path / "samples.jsonl", [record]))
    assert (found.model, found.dataset, found.language) == ("org/model", "MGSM", "de")
    assert short([found]) == [("s1", "", "acc:none", 0.5)]


def test_what_is_good_is_read_where_a_log_says_it(tmp_path: Path) -> None:
    """lm-evaluation-harness says it by task and metric, whatever the filter; null where tasks contradict each other."""
    known = {"acc": True, "wer": False, "f1": None}
    file = lm_eval(tmp_path, "org/model", [sample(0, "strict", acc=1.0, wer=0.5, f1=0.5)], higher_is_better=known)
    [log] = LogReader().read(file)
    assert isinstance(log, Log)
    assert log.better == {("gsm8k", "acc,strict"): "high", ("gsm8k", "wer,strict"): "low"}
    [log] = LogReader({"metric": "=own", "score": "acc"}).read(file)
    assert isinstance(log, Log)
    assert log.better == {}, "of another metric the log says nothing"


def test_a_direction_that_a_converter_guessed_is_none(tmp_path: Path) -> None:
    """The schema of Every Eval Ever 0.3.0 asks for one, so that false is also what converters write of the unknown."""
    unknown = {"polarity": "unknown"}  # as the converter leaves it beside a direction that lm-evaluation-harness states
    directions = {"acc": (False, {}), "loss": (True, {}), "ppl": (True, unknown), "odd": (False, unknown)}
    results = [
        {"evaluation_name": "MGSM", "evaluation_result_id": name,
         "metric_config": {"lower_is_better": lower, "additional_details": details}}
        for name, (lower, details) in directions.items()
    ]  # fmt: skip
    (tmp_path / "u.json").write_text(json.dumps({"evaluation_id": "e", "evaluation_results": results}))
    record = {"evaluation_id": "e", "model_id": "org/model", "evaluation_name": "MGSM", "sample_id": "s1",
              "evaluation": {"score": 0.5}}  # fmt: skip
    lines(tmp_path / "u_samples.jsonl", [{**record, "evaluation_result_id": name} for name in directions])
    [log] = LogReader().read(tmp_path)  # the record of the evaluation is no log that is not read
    assert isinstance(log, Log)
    assert log.better == {("MGSM", "acc"): "high", ("MGSM", "loss"): "low", ("MGSM", "ppl"): "low"}


def test_a_table_says_what_it_is_by_its_columns(tmp_path: Path) -> None:
    file = tmp_path / "judged.csv"
    file.write_text("question,system,grade,run\nq1,m1,7,1\nq1,m1,NA,2\n", encoding="utf-8")
    found = read(file, score="grade", item="question", model="system", repeat="run", dataset="=judged")
    assert short(found) == [("q1", "1", "grade", 7.0), ("q1", "2", "grade", None)]


def test_a_broken_file_beside_logs_is_named_and_leaves_them_readable(tmp_path: Path) -> None:
    """As the `stats.json` of a HELM run in the repository of Every Eval Ever is."""
    lm_eval(tmp_path, "org/model", [sample(0, acc=1.0)])
    (tmp_path / "stats.json").write_text('[{"a": 1}, {b: 2}]', encoding="utf-8")
    (tmp_path / "cut.jsonl").write_text('{"doc_id": 1, "doc"', encoding="utf-8")
    [line] = [one for one in LogReader().read(tmp_path) if isinstance(one, str)]
    assert "stats.json (is no JSON" in line
    assert "cut.jsonl (row 1: no JSON" in line
    assert "results_" not in line, "the model is read from it"
    assert len(read(tmp_path)) == 1


def test_the_real_logs_of_inspect_have_scores() -> None:
    for file in sorted(INSPECT_LOGS.glob("*.eval")):
        found = read(file)
        assert {one.value for one in found} <= {0.0, 1.0}
        assert found


def test_a_record_that_failed_has_no_score_whatever_it_says(tmp_path: Path) -> None:
    record = {"model_id": "org/model", "evaluation_name": "MGSM", "evaluation_result_id": "acc", "sample_id": "s1",
              "evaluation": {"score": 0.0}, "metadata": {"epoch": 2}, "error": "timeout"}  # fmt: skip
    records = [record, {**record, "metadata": {"epoch": 1}, "error": None, "evaluation": {"score": 1.0}}]
    found = read(lines(tmp_path / "samples.jsonl", records))
    assert short(found) == [("s1", "2", "", None), ("s1", "1", "acc", 1.0)]
    assert found[0].reason == "timeout"


def test_a_line_that_is_cut_is_refused_unless_it_may_be_left_out(tmp_path: Path) -> None:
    file = lm_eval(tmp_path, "org/model", [sample(number, acc=1.0) for number in range(3)])
    file.write_text(file.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    with pytest.raises(UserError, match=r"row 3 is no JSON") as refused:
        read(file)
    assert "--skip-rows" in (refused.value.remedy or "")
    [log] = LogReader(skip_rows=True).read(file)
    assert isinstance(log, Log)
    assert len(log.scores) == 2
    assert sum(log.left_out.values()) == 1


def test_items_whose_numbers_cannot_be_read_exactly_are_refused(tmp_path: Path) -> None:
    """Two of them were one item: JSON has no whole numbers beyond 2^64."""
    file = tmp_path / "samples.jsonl"
    file.write_text('{"id": 18446744073709551617, "s": 1}\n{"id": 18446744073709551618, "s": 0}\n', encoding="utf-8")
    with pytest.raises(UserError, match="item is a number too large"):
        read(file, score="s", item="id", model="=m")


@pytest.mark.parametrize("archive", [False, True], ids=["json", "eval"])
def test_an_evaluation_that_did_not_end_is_told(tmp_path: Path, archive: bool) -> None:
    name = f"log.{'eval' if archive else 'json'}"
    file = inspect(tmp_path / name, "openai/gpt", [scored(1, 1, "C")], archive=archive, status="error")
    [log] = LogReader().read(file)
    assert isinstance(log, Log)
    assert log.broken_off == "error"


def test_a_status_in_a_table_is_no_status_of_an_evaluation(tmp_path: Path) -> None:
    file = tmp_path / "judged.csv"
    file.write_text("item,grade,model,status\nq1,1,m,error\n", encoding="utf-8")
    [log] = LogReader({"score": "grade", "item": "item", "model": "model"}).read(file)
    assert isinstance(log, Log)
    assert not log.broken_off


def test_chats_are_the_same_item_whatever_ids_their_messages_have(tmp_path: Path) -> None:
    """Inspect draws the ids of messages anew in each evaluation: no items of two models were the same."""
    both = []
    for model in "ab":
        chat = [{"id": f"{model}1", "role": "user", "content": "Where from?", "source": "input"}]
        both += read(inspect(tmp_path / f"{model}.json", model, [{**scored(1, 1, "C"), "input": chat}]))
    chat = [{"id": "a1", "role": "user", "content": "Where to?"}]
    both += read(inspect(tmp_path / "c.json", "c", [{**scored(1, 1, "C"), "input": chat}]))
    assert both[0].same == both[1].same != both[2].same


def test_of_two_logs_of_a_task_the_later_one_counts(tmp_path: Path) -> None:
    first = lm_eval(tmp_path, "org/model", [sample(0, acc=0.0)])
    later = first.with_name(first.name.replace("2025-01-01", "2025-04-01"))
    lines(later, [sample(0, acc=1.0)])
    found = list(LogReader().read(tmp_path))
    assert [score.value for log in found if isinstance(log, Log) for score in log.scores] == [1.0]
    assert any(f"left out, as {later.name} beside it is a later log" in one for one in found if isinstance(one, str))


def test_a_column_that_no_row_has_is_refused(tmp_path: Path) -> None:
    """It was ignored, and the interval was one of items that stand alone."""
    file = tmp_path / "judged.csv"
    file.write_text("item,grade,model,passage\nq1,1,m,p\n", encoding="utf-8")
    told = {"score": "grade", "item": "item", "model": "model", "cluster": "passages"}
    with pytest.raises(UserError, match="cluster=passages: no row has this column") as refused:
        read(file, **told)
    with pytest.raises(UserError, match=r"doc.pasage_id: no row has this column. Did you mean 'doc.passage_id'"):
        read(lm_eval(tmp_path, "org/model", [sample(0, acc=1.0)]), cluster="doc.pasage_id")
    assert "passage" in (refused.value.remedy or "")


def test_numbers_are_those_of_json() -> None:
    assert [number_of(one) for one in ("1_0", "10", " 0.5", True, "C", float("nan"))] == [None, 10, 0.5, 1, 1, None]


@pytest.mark.parametrize(
    ("content", "told", "said"),
    [
        ('{"a": 1}\n', {}, "is no log with scores of items"),
        ('{"a": 1, "s": 1}\n', {"score": "s", "item": "a"}, "names no model"),
        ('{"a": 1, "s": 1, "b": null}\n', {"score": "s", "item": "b", "model": "=m"}, "names no item"),
    ],
)
def test_what_is_no_log_is_refused_with_its_place(
    content: str, told: dict[str, str], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=said) as raised:
        read(file, **told)
    assert str(file) in str(raised.value)
    assert "=" in str(raised.value)  # the remedy names a column
