"""A protocol's score, a paper's and every mixture of them and ours, against a count of all pairs."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.identity import content_id
from polyculture.cache.store.layout import compose
from polyculture.cache.store.manifest import Manifest, write_manifest
from polyculture.cache.store.parquet import write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.store import open_store
from polyculture.generate.engines.base import ModelSpec
from polyculture.instruments.cbs.layout import CBS
from polyculture.instruments.cbs.measure import measure_bias
from polyculture.instruments.cbs.options import CbsOptions
from polyculture.instruments.cbs.protocol import ALL, COLUMNS, ScoreProtocol, protocol_rows
from polyculture.instruments.cbs.step import asked_tables, scoring_jobs
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import DataSelection, untold
from polyculture.metrics.measured import read_numbers
from tests.instruments.test_cbs_store import ToyEngine
from tests.steps import score_job

MODEL, SEED = "openai:toy", 7
Likelihoods = dict[str, tuple[list[tuple[str, float]], list[tuple[str, float]]]]  # by context: native, Western
VALUES = {"sum": "log_probability", "mean": "log_probability / tokens",
          "probability": "ln(list_avg(list_transform(token_log_probabilities, lambda one: exp(one))))"}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Names of two genders and food in one language, scored by a toy whose likelihoods have ties."""
    folder = tmp_path_factory.mktemp("own")
    names = {
        "female": ("Annam", "Yu", "Hana", "Anna", "Mary", "Jo"),
        "male": ("Ken", "Jun", "Taro", "Tom", "Bob", "Jim"),
    }
    entities = [f"en,{_side(n)},names,{name},{gender}" for gender, each in names.items() for n, name in enumerate(each)]
    entities += [
        f"en,{_side(n)},food,{name}," for n, name in enumerate(("ramen", "sushi", "udon", "pizza", "pasta", "pie"))
    ]
    contexts = [f"en,Japanese,names,neutral,{word} met [MASK],{gender}" for word in "ABC" for gender in names]
    contexts += [f"en,Japanese,food,neutral,{word} ate [MASK]," for word in "AB"]
    _table(folder / "entities.csv", "language,culture,type,entity,gender", entities)
    _table(folder / "contexts.csv", "language,culture,type,setting,context,gender", contexts)
    run = RunFolder(tmp_path_factory.mktemp("run"))
    write_manifest(Manifest(experiment="x", polyculture="0", models=[MODEL]), run.manifest)
    dataset = load(rules_of("own"), folder)
    jobs = scoring_jobs(dataset, MODEL, DataSelection())
    for table, found in asked_tables(run, dataset, jobs).items():
        write_parquet(found, run.table(table.name))
    for job in jobs:
        score_job(run, job, ModelSpec(MODEL), engine=ToyEngine(["udon"]))
    return run


def _side(number: int) -> str:
    return "Japanese" if number < 3 else "Western"


def _table(file: Path, header: str, lines: list[str]) -> None:
    file.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


def by_column(run: RunFolder, rule: str) -> dict[str, Likelihoods]:
    found: dict[str, Likelihoods] = defaultdict(lambda: defaultdict(lambda: ([], [])))
    query = f"SELECT scores.entity_type || coalesce(', ' || gender, ''), context_id, entity_id, native, {VALUES[rule]} FROM scores JOIN dataset_contexts USING (context_id) WHERE status = 'ok'"  # fmt: skip  # noqa: E501
    with open_store(run, compose(CORE, CBS)) as store:
        for column, context, entity, native, likelihood in store.execute(query).fetchall():
            found[column][context][0 if native else 1].append((entity, round(likelihood, 12)))
    return found


def by_hand(run: RunFolder, protocol: ScoreProtocol) -> dict[str, float]:
    """The score of each column, and of all, by a count of all pairs."""
    runs: dict[str, list[float]] = defaultdict(list)
    for draw in range(protocol.draws or 1):
        scores: dict[str, list[float]] = defaultdict(list)
        for column, contexts in by_column(run, protocol.rule).items():
            for native, western in contexts.values():
                sides = [
                    sorted(side, key=lambda one: content_id(SEED, draw, one[0]))[: protocol.entities]
                    for side in (native, western)
                ]
                pairs = [(a, b) for _, a in sides[0] for _, b in sides[1]]
                scores[column].append(sum(b > a for a, b in pairs) / len(pairs))
        if protocol.average != "columns":
            names = [score for column in sorted(scores) for score in scores[column] if column.startswith("names")]
            scores = {"food": scores["food"], "names": names}
        every = [score for each in scores.values() for score in each]
        means = {column: sum(each) / len(each) for column, each in scores.items()}
        over_all = sum(every) / len(every) if protocol.average == "contexts" else sum(means.values()) / len(means)
        for column, value in {**means, ALL: over_all}.items():
            runs[column].append(value)
    return {column: sum(each) / len(each) for column, each in runs.items()}


def listed(run: RunFolder, protocol: ScoreProtocol) -> list[dict[str, Any]]:
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in protocol_rows(run, protocol, SEED, untold)]
    return [{**row, "type": row["place"].removeprefix("en Japanese, ")} for row in rows]


@pytest.mark.parametrize(
    "protocol",
    [
        CbsOptions.model_validate({"preset": "camellia"}).protocol,
        ScoreProtocol("probability", "columns", 2, 2),  # CAMeL's, of fewer
        ScoreProtocol("mean", "contexts"),
        ScoreProtocol("sum", "types", 3, 2),
    ],
)
def test_each_number_is_that_of_a_count_of_all_pairs(run: RunFolder, protocol: ScoreProtocol) -> None:
    rows = listed(run, protocol)
    expected = by_hand(run, protocol)
    assert {row["type"]: row["cbs"] for row in rows} == pytest.approx(expected, abs=1e-9)
    assert all((row["sd"] is not None) == bool(protocol.draws) for row in rows if row["type"] == ALL)
    [whole] = [row for row in rows if row["type"] == ALL]
    assert whole["contexts"] == 8
    assert whole["ours"] == pytest.approx(by_hand(run, ScoreProtocol())[ALL])


def test_a_score_that_rests_on_less_than_was_asked_is_marked(run: RunFolder) -> None:
    marked = {row["type"]: row["incomplete"] for row in listed(run, ScoreProtocol())}
    assert marked == {"names": None, **dict.fromkeys(("food", ALL), "2 scores failed")}  # udon, in two contexts


def test_ours_is_what_stands_in_numbers(run: RunFolder) -> None:
    measure_bias(run)
    numbers = {(row.topic, row.language): row.estimate for row in read_numbers(run, "cbs") if row.method == "sum"}
    assert {row["type"].replace(ALL, "*"): row["cbs"] for row in listed(run, ScoreProtocol())} == pytest.approx(
        {topic: estimate for (topic, language), estimate in numbers.items() if language == "en"}
    )
