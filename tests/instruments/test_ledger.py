"""The difference ledger: a paper's protocol and ours, and each switch between them, against a count of all pairs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from polyculture.cache.identity import content_id
from polyculture.cache.layout import compose
from polyculture.cache.manifest import Manifest, write_manifest
from polyculture.cache.parquet import write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.store import open_store
from polyculture.generate.engines.base import ModelSpec
from polyculture.instruments.cbs.camel_draws import CamelDraws
from polyculture.instruments.cbs.layout import CBS
from polyculture.instruments.cbs.measure import measure_bias
from polyculture.instruments.cbs.selection import scoring_jobs
from polyculture.instruments.datasets.english import in_english
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.present import present_tables
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import Selection
from polyculture.instruments.papers.ledger import COLUMNS, ledger_listing, ledger_steps
from polyculture.instruments.papers.paper import Protocol, ours, papers
from polyculture.instruments.papers.protocol import ScoredContext, protocol_score
from polyculture.instruments.papers.scored import Choice, Place, places, scored_contexts
from tests.instruments.test_cbs_store import ToyEngine
from tests.steps import score_job

MODEL, SEED = "openai:toy", 7
CAMEL = replace(papers()["camel"], protocol=replace(papers()["camel"].protocol, draws=2, entities=2))
HALF = replace(ours(), ties="half")  # so that ties, too, are a switch
Likelihoods = dict[str, tuple[list[tuple[str, float]], list[tuple[str, float]]]]  # by context: native, Western


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return scored_run(tmp_path_factory, ())


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """The same with a context that names of both genders fit."""
    return scored_run(tmp_path_factory, ("en,Japanese,names,neutral,All met [MASK],",))


def scored_run(tmp_path_factory: pytest.TempPathFactory, more: tuple[str, ...]) -> RunFolder:
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
    contexts += more
    contexts += [f"en,Japanese,food,neutral,{word} ate [MASK]," for word in "AB"]
    _table(folder / "entities.csv", "language,culture,type,entity,gender", entities)
    _table(folder / "contexts.csv", "language,culture,type,setting,context,gender", contexts)
    run = RunFolder(tmp_path_factory.mktemp("run"))
    write_manifest(Manifest(experiment="x", polyculture="0", models=[MODEL]), run.manifest)
    dataset = load(rules_of("own"), folder)
    for table, found in present_tables(run, dataset).items():
        write_parquet(found, run.table(table.name))
    for job in scoring_jobs(dataset, MODEL, Selection()):
        score_job(run, job, ModelSpec(MODEL), engine=ToyEngine(["udon"]))
    return run


def placed_contexts(
    store: duckdb.DuckDBPyConnection, choice: Choice, *, as_published: bool
) -> list[tuple[Place, list[ScoredContext]]]:
    """The scored contexts of each place in a reading of the data set."""
    found = [
        (place, scored_contexts(store, place, choice, as_published=as_published)) for place in places(store, choice)
    ]
    return [(place, contexts) for place, contexts in found if contexts]


def _side(number: int) -> str:
    return "Japanese" if number < 3 else "Western"


def _table(file: Path, header: str, lines: list[str]) -> None:
    file.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


def by_column(run: RunFolder, rule: str) -> dict[str, Likelihoods]:
    found: dict[str, Likelihoods] = defaultdict(lambda: defaultdict(lambda: ([], [])))
    value = "log_probability" if rule == "sum" else "log_probability / tokens"
    query = f"SELECT scores.entity_type || coalesce(gender, ''), context_id, entity_id, native, {value} FROM scores JOIN dataset_contexts USING (context_id) WHERE status = 'ok'"  # fmt: skip  # noqa: E501
    with open_store(run, compose(CORE, CBS)) as store:
        for column, context, entity, native, likelihood in store.execute(query).fetchall():
            found[column][context][0 if native else 1].append((entity, likelihood))
    return found


def counted(pairs: list[tuple[float, float]], tie: float) -> float:
    return sum(1 if western > native else tie if western == native else 0 for native, western in pairs) / len(pairs)


def by_hand(run: RunFolder, protocol: Protocol) -> float:
    """The score by a count of all pairs."""
    tie, values = (0.5 if protocol.ties == "half" else 0.0), []
    for draw in range(protocol.draws or 1):
        scores: dict[str, list[float]] = defaultdict(list)
        for column, contexts in by_column(run, protocol.rule).items():
            for native, western in contexts.values():
                sides = [
                    sorted(side, key=lambda one: content_id(SEED, draw, one[0]))[: protocol.entities]
                    for side in (native, western)
                ]
                pairs = [(a, b) for _, a in sides[0] for _, b in sides[1]]
                scores[column].append(counted(pairs, tie))
        every = [score for each in scores.values() for score in each]
        names = [score for column, each in scores.items() for score in each if column.startswith("names")]
        averaged = {"columns": list(scores.values()), "types": [names, scores["food"]], "contexts": [every]}
        means = [sum(each) / len(each) for each in averaged[protocol.average]]
        values.append(sum(means) / len(means))
    return sum(values) / len(values)


def test_a_type_that_is_left_out_and_equal_sides_are_switches(run: RunFolder) -> None:
    chosen = papers()["camellia"].protocol
    protocol = replace(chosen, draws=1, entities=9, leave_out=("en:names", "ja:food"))
    paper = replace(papers()["camellia"], protocol=protocol)
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in ledger_listing(run, paper, HALF, Choice("own"), SEED)]
    assert [row["switch"].partition(":")[0] for row in rows] == [
        "Camellia",
        "rows",
        "types",
        "entities",
        "genders",
        "ties",
        "average",
    ]
    assert (rows[1]["contexts"], rows[1]["columns"], rows[2]["contexts"], rows[2]["columns"]) == (2, 1, 8, 2)
    # udon failed: two native entities, so that two Western ones are drawn
    food = by_column(run, "sum")["food"].values()
    drawn = [(native, sorted(western, key=lambda one: content_id(SEED, 0, one[0]))[:2]) for native, western in food]
    shares = [counted([(a, b) for _, a in native for _, b in western], 0.0) for native, western in drawn]
    assert rows[0]["cbs"] == pytest.approx(sum(shares) / 2)


def test_a_translation_is_left_out_with_the_language_of_its_source(tmp_path: Path) -> None:
    """Otherwise the paper's number in English would be of types that its preset does not ask."""
    people = [
        ("Japanese", "ケン", "Ken"),
        ("Japanese", "ユウ", "Yu"),
        ("Western", "トム", "Tom"),
        ("Western", "ボブ", "Bob"),
    ]
    dishes = [
        ("Japanese", "寿司", "sushi"),
        ("Japanese", "丼", "ramen"),
        ("Western", "ピザ", "pizza"),
        ("Western", "パイ", "pie"),
    ]
    entities = [f"ja,{side},{kind},{name},{english}" for kind, each in (("names", people), ("food", dishes))
                for side, name, english in each]  # fmt: skip
    contexts = [f"ja,Japanese,{kind},neutral,{n}に[MASK],{n} met [MASK]" for kind in ("names", "food") for n in "AB"]
    _table(tmp_path / "entities.csv", "language,culture,type,entity,english", entities)
    _table(tmp_path / "contexts.csv", "language,culture,type,setting,context,english", contexts)
    run = RunFolder(tmp_path / "run")
    write_manifest(Manifest(experiment="x", polyculture="0", models=[MODEL]), run.manifest)
    dataset = in_english(load(rules_of("own"), tmp_path))
    for table, found in present_tables(run, dataset).items():
        write_parquet(found, run.table(table.name))
    for job in scoring_jobs(dataset, MODEL, Selection()):
        score_job(run, job, ModelSpec(MODEL), engine=ToyEngine([]))
    rows = [
        dict(zip(COLUMNS, row, strict=True))
        for row in ledger_listing(run, papers()["camellia"], ours(), Choice("own"), SEED)
    ]
    steps = {row["switch"].partition(":")[0]: (row["language"], row["contexts"], row["columns"]) for row in rows}
    assert (steps["Camellia"], steps["types"]) == (("en", 2, 1), ("en", 4, 2))
    assert {row["lacking"] for row in rows} == {None}
    measure_bias(run, left_out=(("ja", "names"),))
    over_types = "average = 'types' AND entity_type IS NULL AND rule = 'sum' AND ties_count = 'strict'"
    with open_store(run, compose(CORE, CBS)) as store:
        found = store.sql(f"SELECT DISTINCT contexts, columns FROM bias_variants WHERE {over_types}").fetchall()
    assert found == [(2, 1)]


def listed(run: RunFolder, end: Protocol) -> list[dict[str, Any]]:
    rows = ledger_listing(run, CAMEL, end, Choice("own"), SEED)
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def test_each_step_is_the_score_by_a_count_of_all_pairs(run: RunFolder) -> None:
    rows = listed(run, HALF)
    assert [row["switch"].partition(":")[0] for row in rows] == [
        "CAMeL",
        "rows",
        "entities",
        "ties",
        "columns",
        "average",
        "rule",
    ]
    for row, step in zip(rows, ledger_steps(CAMEL, HALF), strict=True):
        assert row["cbs"] == pytest.approx(by_hand(run, step.protocol), abs=1e-12), step
    assert rows[0]["sd_of_draws"] > 0
    assert (rows[0]["columns"], rows[0]["contexts"]) == (3, 8)
    assert sum(row["change"] != 0 for row in rows[2:]) == 5  # the switches are there to be seen
    assert rows[0]["cbs"] + sum(row["change"] for row in rows[1:]) == pytest.approx(rows[-1]["cbs"])


def test_draws_that_take_all_are_none(run: RunFolder) -> None:
    paper = replace(CAMEL, protocol=replace(CAMEL.protocol, draws=5, entities=50))
    rows = ledger_listing(run, paper, HALF, Choice("own"), SEED)
    first, entities = (dict(zip(COLUMNS, rows[number], strict=True)) for number in (0, 2))
    assert "all were taken" in first["switch"]
    assert first["sd_of_draws"] is None
    assert (entities["switch"].partition(":")[0], entities["change"]) == ("entities", 0)


def test_the_last_step_is_the_score_that_cbs_shows(run: RunFolder) -> None:
    [shown] = [
        row
        for row in measure_bias(run)
        if (row.metric, row.rule, row.entity_type) == ("cbs", "sum", None) and row.language == "en"
    ]
    assert listed(run, ours())[-1]["cbs"] == pytest.approx(shown.estimate, abs=1e-12)


@pytest.mark.parametrize("average", ["contexts", "types", "columns", "pairs"])
@pytest.mark.parametrize("genders", ["together", "apart"])
def test_an_average_is_that_of_cbs(mixed: RunFolder, average: str, genders: str) -> None:
    drawing = CamelDraws(3, 2, SEED, genders_apart=genders == "apart")
    measure_bias(mixed, drawing)
    protocol = replace(ours(), average=average, genders=genders)
    with open_store(mixed, compose(CORE, CBS)) as store:
        query = "SELECT estimate, sampled_mean FROM bias_variants WHERE metric = 'cbs' AND rule = 'sum' AND entity_type IS NULL AND ties_count = 'strict' AND language = 'en' AND average = ?"  # fmt: skip  # noqa: E501
        [(estimate, sampled)] = store.execute(query, [average]).fetchall()
        [(_, contexts)] = placed_contexts(store, Choice("own"), as_published=False)
    whole = protocol_score(contexts, protocol, SEED)
    drawn = protocol_score(contexts, replace(protocol, draws=3, entities=2), SEED)
    assert whole is not None
    assert drawn is not None
    assert (whole.value, drawn.value) == (pytest.approx(estimate), pytest.approx(sampled))


def test_a_mean_of_pairs_counts_each_pair_alike(run: RunFolder) -> None:
    with open_store(run, compose(CORE, CBS)) as store:
        [(place, contexts)] = placed_contexts(store, Choice("own", languages=("en",)), as_published=False)
    assert place == Place(MODEL, "own", "any", "en", "Japanese", "neutral")
    found = protocol_score(contexts, replace(HALF, average="pairs"), SEED)
    pairs = [
        (a, b)
        for column in by_column(run, "sum").values()
        for native, western in column.values()
        for _, a in native
        for _, b in western
    ]
    assert found is not None
    assert found.value == pytest.approx(counted(pairs, 0.5))
    assert not list(_places(run, Choice("own", types=("sports",))))


def _places(run: RunFolder, choice: Choice) -> list[Place]:
    with open_store(run, compose(CORE, CBS)) as store:
        return [place for place, _ in placed_contexts(store, choice, as_published=False)]
