"""Scores in the store: resumable, failures with reasons, SQL equal to Python, joins with generated text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.cache.store.manifest import Manifest, write_manifest
from polyculture.cache.store.parquet import write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.sql_file import read_table
from polyculture.cache.store.store import open_store
from polyculture.generate.engines.base import ModelSpec, Scored, ScoreRequest, TokenScore
from polyculture.instruments.cbs.measure import measure_bias
from polyculture.instruments.cbs.step import ScoringJob, scoring_jobs
from polyculture.instruments.datasets.english import in_english
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.model import DataSet, MaskedContext
from polyculture.instruments.datasets.present import present_tables
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import DataSelection
from polyculture.metrics.measured import read_numbers
from polyculture.running.layout import store_layout
from tests.instruments.test_datasets import write_own
from tests.steps import score_job, settled

MODEL = "openai:toy"
SPEC = ModelSpec(MODEL)
DEMO = Path(__file__).parents[2] / "instruments" / "cbs" / "demo"
SCORES = DEMO.parent / "bias.sql"
# The score by its definition: every native entity of a context beside every Western one.
EVERY_PAIR = """
SELECT
    rule, culture, entity_type, setting, context_prefix, avg(won) AS cbs, sum(tied)::BIGINT AS tied,
    sum(wins)::BIGINT AS western_won, count(*) AS contexts, sum(pairs)::BIGINT AS pairs
FROM (
    SELECT
        n.rule, n.culture, n.entity_type, n.setting, n.context_prefix, n.context_id, count(*) AS pairs,
        avg((w.likelihood > n.likelihood)::INT) AS won, count_if(w.likelihood > n.likelihood) AS wins,
        count_if(w.likelihood = n.likelihood) AS tied
    FROM likelihoods AS n
    INNER JOIN likelihoods AS w
        ON w.model = n.model AND w.rule = n.rule AND w.context_id = n.context_id AND NOT w.native
        AND w.context_prefix IS NOT DISTINCT FROM n.context_prefix
    WHERE n.native AND n.likelihood IS NOT NULL AND w.likelihood IS NOT NULL
    GROUP BY ALL
)
GROUP BY ALL
"""


class ToyEngine:
    """A model whose log-probabilities are a hash of context and entity, a token per letter; it counts what it is asked.

    `broken` entities fail for good, `lost` ones may be asked again; after `power` continuations it dies.
    """

    def __init__(self, broken: Sequence[str] = (), lost: Sequence[str] = (), power: float = math.inf) -> None:
        self.broken, self.lost, self.power, self.asked = broken, lost, power, 0

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        for request in requests:
            for index, entity in enumerate(request.continuations):
                if self.asked >= self.power:
                    raise KeyboardInterrupt
                self.asked += 1
                yield self._scored(request, index, entity)

    def _scored(self, request: ScoreRequest, index: int, entity: str) -> Scored:
        if entity in (*self.broken, *self.lost):
            return Scored(request.request_id, index, error="no tokens", retryable=entity in self.lost)
        # Few distinct values, so that there are ties.
        values = [int(content_id(request.prefix, letter)[:1], 16) / 16 - 2 for letter in entity.strip()[:3]]
        return Scored(request.request_id, index, tuple(TokenScore("t", value) for value in values), "clean")

    def __enter__(self) -> ToyEngine:
        return self

    def __exit__(self, *_: object) -> None: ...


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    folder.root.mkdir()
    write_manifest(Manifest(experiment="x", polyculture="0", models=[MODEL]), folder.manifest)
    return folder


@pytest.fixture(scope="module")
def demo() -> DataSet:
    return load(rules_of("own"), DEMO)


def score(run: RunFolder, jobs: Sequence[ScoringJob], engine: ToyEngine) -> tuple[int, int]:
    outcomes = [score_job(run, job, SPEC, engine=engine) for job in jobs]
    return sum(outcome.done for outcome in outcomes), sum(outcome.failed for outcome in outcomes)


def hold(run: RunFolder, dataset: DataSet, helped: Sequence[MaskedContext] = ()) -> None:
    """Makes a data set the run's present one."""
    for table, found in present_tables(run, dataset, helped).items():
        write_parquet(found, run.table(table.name))


def rows(run: RunFolder, query: str) -> list[tuple[object, ...]]:
    with open_store(run, store_layout()) as store:
        return [tuple(row) for row in store.sql(query).fetchall()]


def measured(run: RunFolder) -> list[SimpleNamespace]:
    """The rows of `cbs_scores`, measured anew: scores and differences, none that says what another one does."""
    measure_bias(run)
    with open_store(run, store_layout()) as store:
        found = store.sql("FROM cbs_scores")
        return [SimpleNamespace(**dict(zip(found.columns, row, strict=True))) for row in found.fetchall()]


def test_every_score_is_that_of_all_its_pairs(run: RunFolder, demo: DataSet) -> None:
    jobs = scoring_jobs(demo, MODEL, DataSelection(types=("food", "names")))
    done, failed = score(run, jobs, ToyEngine(broken=["sushi", "pizza"]))
    assert done + failed == sum(job.size for job in jobs)
    assert failed == 3 * 8 + 8  # pizza in three cultures' food contexts, sushi in one's
    found = {
        (r.rule, r.culture, r.entity_type, r.setting): r for r in measured(run) if r.metric == "cbs" and r.entity_type
    }
    by_pairs = rows(run, f"SELECT rule, culture, entity_type, setting, cbs, tied, contexts, pairs FROM ({EVERY_PAIR})")
    assert len(by_pairs) == len(found) == 3 * 3 * 2 * 2
    for rule, culture, kind, setting, cbs, tied, contexts, pairs in by_pairs:
        row = found[rule, culture, kind, setting]
        assert (cbs, contexts, pairs) == (pytest.approx(row.estimate), row.contexts, row.pairs)
        assert tied == row.tied
        assert row.low <= row.estimate <= row.high


def test_what_is_scored_stays_and_the_rest_is_topped_up(run: RunFolder, demo: DataSet) -> None:
    few = scoring_jobs(demo, MODEL, DataSelection(types=("names",), contexts=1, entities=5))
    every = scoring_jobs(demo, MODEL, DataSelection(types=("names",)))
    engine = ToyEngine()
    score(run, few, engine)
    assert engine.asked == 3 * 2 * 10
    assert all(settled(run, job) for job in few)
    assert not any(settled(run, job) for job in every)
    score(run, every, engine)
    score(run, every, engine)
    assert engine.asked == sum(job.size for job in every) == rows(run, "SELECT count(*) FROM scores")[0][0]


def test_what_a_job_costs_is_said_context_by_context(demo: DataSet) -> None:
    """A million pairs one by one take a plan seconds: each context is read once for each of its entities."""
    (job,) = scoring_jobs(demo, MODEL, DataSelection(types=("food",), cultures=("Indian",)))
    loads = list(job.loads())
    assert sum(load.times for load in loads) == job.size
    assert {load.text for load in loads} == {context.prefix for context, _ in job.asked}
    assert all(len(load.varying) > load.times for load in loads)


def test_a_death_in_the_middle_loses_nothing_that_was_answered(run: RunFolder, demo: DataSet) -> None:
    jobs = scoring_jobs(demo, MODEL, DataSelection(types=("food",), cultures=("Mexican",)))
    dying = ToyEngine(power=101)
    with pytest.raises(KeyboardInterrupt):
        score(run, jobs, dying)
    assert rows(run, "SELECT count(*) FROM scores") == [(101,)]
    engine = ToyEngine()
    assert score(run, jobs, engine) == (jobs[0].size, 0)
    assert engine.asked == jobs[0].size - 101


def test_a_failure_is_a_row_and_only_what_may_pass_is_asked_again(run: RunFolder, demo: DataSet) -> None:
    jobs = scoring_jobs(demo, MODEL, DataSelection(types=("beverage",), cultures=("Japanese",)))
    contexts = len(jobs[0].asked)
    _, failed = score(run, jobs, ToyEngine(broken=["sake"], lost=["matcha"]))
    assert failed == 2 * contexts
    columns = "entity, count(*), any_value(error), count(log_probability)"
    query = f"SELECT {columns} FROM scores WHERE status = 'failed' GROUP BY entity"
    assert sorted(rows(run, query)) == [("matcha", contexts, "no tokens", 0), ("sake", contexts, "no tokens", 0)]
    again = ToyEngine()
    assert score(run, jobs, again) == (jobs[0].size - contexts, contexts)
    assert again.asked == contexts


class Eager(ToyEngine):
    """Takes all requests before it answers, as a server does that is asked many at once."""

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        yield from super().score(list(requests))


def test_retried_failures_do_not_mix_with_new_entities_of_their_context(run: RunFolder, demo: DataSet) -> None:
    """A failure is asked last, so that its context is asked twice: for the new entities, then for that one."""
    few = scoring_jobs(demo, MODEL, DataSelection(types=("beverage",), cultures=("Japanese",), entities=3))
    lost = few[0].asked[0][1][0].surface
    score(run, few, ToyEngine(lost=[lost]))
    every = scoring_jobs(demo, MODEL, DataSelection(types=("beverage",), cultures=("Japanese",)))
    assert score(run, every, Eager()) == (every[0].size, 0)
    expected = {
        (context.context_id, entity.surface): sum(t.log_probability for t in one.tokens)
        for context, entities in every[0].asked
        for entity in entities
        for one in ToyEngine().score([ScoreRequest("", context.prefix, (entity.surface,), "")])
    }
    found = rows(run, "SELECT context_id, entity, log_probability FROM scores")
    assert {(context, entity): value for context, entity, value in found} == pytest.approx(expected)


def test_a_sibling_runs_scores_are_taken_over_and_cost_nothing(run: RunFolder, demo: DataSet, tmp_path: Path) -> None:
    jobs = scoring_jobs(demo, MODEL, DataSelection(types=("beverage",), cultures=("Japanese",)))
    score(run, jobs, ToyEngine(broken=["sake"]))
    other, engine = RunFolder(tmp_path / "other"), ToyEngine()
    other.root.mkdir()
    assert score(other, jobs, engine) == (jobs[0].size, 0)
    assert engine.asked == len(jobs[0].asked), "a failure is asked again"
    values = "SELECT score_id, log_probability FROM scores WHERE entity <> 'sake' ORDER BY ALL"
    assert rows(other, values) == rows(run, values)
    changed = [replace(job, setup={"bos": True}) for job in jobs]
    assert score(other, changed, engine) == (jobs[0].size, 0)
    assert engine.asked == len(jobs[0].asked) + jobs[0].size, "another setup is another request"


def test_what_is_no_longer_in_the_data_set_leaves_the_store(run: RunFolder, tmp_path: Path) -> None:
    before = write_own(tmp_path)
    hold(run, before)
    score(run, scoring_jobs(before, MODEL, DataSelection()), ToyEngine())
    entities = "language,culture,type,entity\nsw,Swahili,food,wali\nsw,Western,food,piza\n"
    after = write_own(tmp_path, **{"entities.csv": entities})
    hold(run, after)
    score(run, scoring_jobs(after, MODEL, DataSelection()), ToyEngine())
    assert rows(run, "SELECT entity FROM scores ORDER BY 1") == [("piza",), ("wali",)]
    hold(run, before)
    engine = ToyEngine()
    score(run, scoring_jobs(before, MODEL, DataSelection()), engine)
    assert engine.asked == 0, "what was there before counts again, and is not asked again"
    assert len(rows(run, "FROM scores")) == sum(job.size for job in scoring_jobs(before, MODEL, DataSelection()))


def test_an_empty_culture_is_told_with_the_contexts_place(tmp_path: Path) -> None:
    alone = write_own(tmp_path, **{"entities.csv": "language,culture,type,entity\nsw,Swahili,food,wali\n"})
    with pytest.raises(
        DataSetError, match=r"contexts.csv row 2: none of 1 contexts can be asked: no Western entity of type"
    ):
        scoring_jobs(alone, MODEL, DataSelection())


@pytest.mark.parametrize(
    ("selection", "told"),
    [
        (DataSelection(languages=("sv",)), "no context of language 'sv'"),
        (DataSelection(types=("fod",)), "no context of type 'fod'.*Did you mean 'food'"),
        (DataSelection(form="masked"), "no context of form 'masked'"),
    ],
)
def test_a_selection_of_nothing_is_told(demo: DataSet, selection: DataSelection, told: str) -> None:
    with pytest.raises(DataSetError, match=told):
        scoring_jobs(demo, MODEL, selection)


def test_differences_and_means_stand_beside_the_scores(run: RunFolder, demo: DataSet) -> None:
    score(run, scoring_jobs(demo, MODEL, DataSelection(entities=8)), ToyEngine())
    found = measured(run)
    differences = [r for r in found if r.metric == "cbs_difference"]
    assert len(differences) == 3 * (3 * (3 + 1) + 1)  # rules; cultures, types and over types; over cultures
    by_key = {(r.rule, r.culture, r.entity_type, r.setting): r for r in found if r.metric == "cbs"}
    for row in differences:
        pair = [by_key[row.rule, row.culture, row.entity_type, setting] for setting in ("grounded", "neutral")]
        assert row.estimate == pytest.approx(pair[0].estimate - pair[1].estimate)
        assert 0 <= row.p <= 1
    assert by_key["sum", "Indian", None, "neutral"].estimate == pytest.approx(_mean(found, "Indian"))
    assert by_key["sum", None, None, "neutral"].contexts == 3 * 10


def test_over_all_languages_a_context_and_its_translation_count_once(run: RunFolder, tmp_path: Path) -> None:
    contexts = "language,culture,type,setting,context,english\nsw,Swahili,food,grounded,Tunakula [MASK],We eat [MASK]\n"
    original = write_own(tmp_path, **{"contexts.csv": contexts})
    score(run, scoring_jobs(in_english(original), MODEL, DataSelection()), ToyEngine())
    measure_bias(run)
    assert {r.units for r in read_numbers(run, "cbs") if r.language == "*"} == {1}
    score(run, scoring_jobs(original, MODEL, DataSelection()), ToyEngine())
    measure_bias(run)
    found = [r for r in read_numbers(run, "cbs") if r.topic == "*"]
    estimates = {(r.method, r.language): r.estimate for r in found}
    assert {r.units for r in found} == {1}
    assert all(estimates[rule, "*"] == estimates[rule, "sw"] for rule in ("sum", "mean"))
    shown_rows = [(r.language, r.entity_type) for r in measured(run) if r.rule == "sum"]
    assert sorted(shown_rows, key=str) == [("en", "food"), ("sw", "food"), (None, None)]  # no line stands twice


def test_a_score_tells_of_contexts_that_rest_on_fewer_entities(run: RunFolder, demo: DataSet) -> None:
    few = DataSelection(types=("food",), cultures=("Indian",), settings=("neutral",), entities=5)
    score(run, scoring_jobs(demo, MODEL, replace(few, contexts=1, entities=20)), ToyEngine())
    before = measured(run)
    assert {(r.native_entities, r.native_fewest, r.native_most) for r in before} == {(20, 20, 20)}
    score(run, scoring_jobs(demo, MODEL, few), ToyEngine())
    found = measured(run)
    assert {(r.native_entities, r.native_fewest, r.native_most) for r in found} == {(20, 5, 20)}
    assert {(r.western_entities, r.western_fewest, r.western_most) for r in found} == {(20, 5, 20)}
    with open_store(run, store_layout()) as store:
        rows = read_table(SCORES).select(store)
        columns = ("entities", "fewest", "most")
        native, western = (
            rows.project(", ".join(f"{side}_{one}" for one in columns)) for side in ("native", "western")
        )
        assert set(native.fetchall()) == set(western.fetchall()) == {(20, 5, 20)}


def _mean(found: Sequence[SimpleNamespace], culture: str) -> float:
    of_types = [
        (r.estimate, r.contexts)
        for r in found
        if (r.metric, r.rule, r.setting, r.culture) == ("cbs", "sum", "neutral", culture) and r.entity_type
    ]
    return sum(value * contexts for value, contexts in of_types) / sum(contexts for _, contexts in of_types)


PARALLEL = "".join(
    f"{language},Swahili,food,{setting},{language} {setting} {number} [MASK],We {setting} {number} [MASK]\n"
    for language in ("sw", "sx")
    for setting in ("grounded", "neutral")
    for number in range(4)
)


def test_differences_are_over_what_both_sides_have(run: RunFolder, tmp_path: Path) -> None:
    """Two models, of which one lacks an entity and a type; a language and English; grounded and neutral contexts."""
    contexts = "language,culture,type,setting,context,english\n" + PARALLEL
    names = [
        ("food", "Swahili", ["wali", "ugali", "chapati", "samaki"]),
        ("food", "Western", ["piza", "baga", "pasta"]),
    ]
    entities = "language,culture,type,entity,english\n" + "".join(
        f"{language},{culture},{kind},{language} {name},{name}\n"
        for language in ("sw", "sx")
        for kind, culture, each in names
        for name in each
    )
    own = write_own(tmp_path, **{"contexts.csv": contexts, "entities.csv": entities})
    other = "openai:other"
    write_manifest(Manifest(experiment="x", polyculture="0", models=[MODEL, other]), run.manifest)
    for model in (MODEL, other):
        score(run, scoring_jobs(own, model, DataSelection()), ToyEngine(broken=["sw piza"] if model == other else []))
    score(run, scoring_jobs(in_english(own), MODEL, DataSelection()), ToyEngine())
    measure_bias(run)
    shown = "FROM differences WHERE method = 'sum' AND target = 'new_prompts' AND topic = '*' AND"
    models = (
        f"SELECT a, b, language, units, cells, left_out, topics {shown} dimension = 'model' AND condition = 'neutral'"
    )
    assert sorted(rows(run, models)) == [
        (other, MODEL, "*", 4, 2, 0, 1), (other, MODEL, "sw", 4, 1, 0, 1), (other, MODEL, "sx", 4, 1, 0, 1),
    ]  # fmt: skip
    pairs = (
        "WITH pairs AS (SELECT o.context_id, o.native, o.log_probability AS p, m.log_probability AS q FROM scores AS o "
        "JOIN scores AS m USING (context_id, entity_id, status) WHERE o.status = 'ok' AND o.language = 'sw' "
        f"AND o.setting = 'neutral' AND o.model = '{other}' AND m.model = '{MODEL}') "
        "SELECT avg(one), avg(other) FROM (SELECT avg((w.p > n.p)::INT) AS one, avg((w.q > n.q)::INT) AS other "
        "FROM pairs AS w JOIN pairs AS n USING (context_id) WHERE n.native AND NOT w.native GROUP BY context_id)"
    )
    of_both = f"SELECT a_estimate, b_estimate {shown} language = 'sw' AND condition = 'neutral' AND dimension = 'model'"
    assert rows(run, of_both) == [pytest.approx(row) for row in rows(run, pairs)]
    english = f"SELECT a, b, country, units {shown} dimension = 'language' AND condition = 'neutral'"
    assert sorted(rows(run, english)) == [("sw", "en", "Swahili", 4), ("sx", "en", "Swahili", 4)]
    settings = f"SELECT a, b, model, units {shown} dimension = 'condition' AND language = 'sw'"
    assert sorted(rows(run, settings)) == [("grounded", "neutral", model, 8) for model in sorted((other, MODEL))]
    exact = "SELECT DISTINCT reason, verdict, low FROM differences WHERE target = 'same_prompts'"
    assert rows(run, exact) == [("no sampling", "untestable", None)]
