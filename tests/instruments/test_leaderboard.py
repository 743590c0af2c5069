"""Boards of models claim no order that paired differences do not tell. And: do names of many tokens fare worse?"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from polyculture.cache.identity import content_id
from polyculture.cache.store.data_identity import inputs_of
from polyculture.cache.store.layout import Measure
from polyculture.cache.store.manifest import Manifest, read_manifest, write_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema.measured import Number
from polyculture.cache.store.store import open_store
from polyculture.generate.engines.base import Scored, ScoreRequest, TokenScore
from polyculture.instruments.cbs.layout import MEASURE
from polyculture.instruments.cbs.measure import measure_bias
from polyculture.instruments.cbs.step import scoring_jobs
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.model import MaskedContext
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import DataSelection
from polyculture.instruments.differences import ComparedFacets, difference_rows
from polyculture.instruments.swaps.layout import MEASURES as SWAP_MEASURES
from polyculture.metrics import METRICS_LAYOUT
from polyculture.metrics.inference.paired import PairedDifference
from polyculture.metrics.measure import measure
from polyculture.metrics.measured import write_differences, write_numbers
from polyculture.reports.leaderboard import _value
from polyculture.reports.report import write_report
from polyculture.running.layout import report_sections, store_layout
from tests.instruments.test_cbs_store import DEMO, MODEL, SPEC, ToyEngine
from tests.polyculture.test_command_line import polyculture
from tests.report_run import Synthetic, sections_named
from tests.steps import score_job

MODELS = ("openai:a", "openai:b", "openai:c", "openai:d")
SIDES = ("native_entities", "western_entities", "native_fewest", "native_most", "western_fewest", "western_most")
CBS = Number(
    measure="cbs", metric="cbs", level="model, dataset, language, country, condition", model="", dataset="camellia",
    language="ja", country="Japanese", topic="*", condition="grounded", method="sum", facets={"form": "causal"},
    estimate=0.0, no_wide="one wording", unit="context", units=5, n=2000, sizes=dict.fromkeys(SIDES, 20), cells=2,
    inputs="",
)  # fmt: skip
SIZES = {"asked": 200, "answered": 200, "readable": 200, "right": 90, "entities": 20}
RATE = replace(
    CBS, measure="qa", metric="accuracy", condition="qa", method="prompt", facets={"side": "native"}, sizes=SIZES, n=200
)
QA = SWAP_MEASURES["qa"]
Limits = tuple[float | None, float, float | None]  # low, estimate, high


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "runs" / "boards")
    folder.root.mkdir(parents=True)
    write_manifest(Manifest(experiment="boards", polyculture="0", models=[*MODELS, MODEL]), folder.manifest)
    return folder


def write_rates(run: RunFolder, side: str, limits: Sequence[Limits]) -> None:
    """Rates of one side, of each of the first models."""
    manifest = read_manifest(run.manifest)
    assert manifest
    row = replace(RATE, facets={"side": side}, inputs=inputs_of(run, manifest, QA))
    rows = [
        replace(row, model=model, low=low, estimate=estimate, high=high)
        for model, (low, estimate, high) in zip(MODELS, limits, strict=False)
    ]
    write_numbers(run, QA.name, rows)


def write_gaps(run: RunFolder, limits: Sequence[Limits]) -> None:
    """Native less Western rates, which no model has a side's interval of."""
    manifest = read_manifest(run.manifest)
    assert manifest
    inputs = inputs_of(run, manifest, QA)
    rows = [
        replace(
            RATE, model=model, facets={"side": side}, estimate=estimate if side == "western" else None, inputs=inputs
        )
        for model, (_, estimate, _) in zip(MODELS, limits, strict=True)
        for side in ("native", "western")
    ]
    write_numbers(run, QA.name, rows)
    gaps = []
    for model, (low, estimate, high) in zip(MODELS, limits, strict=True):
        sides = replace(RATES, dimension="native", a="native", b="western", facets={})
        sides = replace(sides, shared={**RATES.shared, "model": model})
        found = PairedDifference(estimate, 0.0, low, high, 0.01)
        gaps += difference_rows(sides, found, unit="context x entity", units=5, inputs=inputs)
    write_differences(run, QA.name, gaps)


def write_scores(run: RunFolder, limits: Sequence[Limits], *rows: Number) -> None:
    """A score of each of the first models, and further `rows`."""
    manifest = read_manifest(run.manifest)
    assert manifest
    scores = [
        replace(CBS, model=model, low=low, estimate=estimate, high=high)
        for model, (low, estimate, high) in zip(MODELS, limits, strict=False)
    ]
    inputs = inputs_of(run, manifest, MEASURE)
    write_numbers(run, MEASURE.name, [replace(row, inputs=inputs) for row in (*scores, *rows)])


def write_told(run: RunFolder, measure: Measure, sides: ComparedFacets, told: Mapping[tuple[str, str], str]) -> None:
    """The differences of pairs of models, and what they tell."""
    manifest = read_manifest(run.manifest)
    assert manifest
    inputs = inputs_of(run, manifest, measure)
    rows = []
    for (one, other), verdict in told.items():
        found = PairedDifference(0.5, 0.4, 0.05, 0.15, 0.001)
        made = difference_rows(replace(sides, a=one, b=other), found, unit="context x entity", units=5, inputs=inputs)
        rows += [replace(row, verdict=verdict) for row in made if row.target == "new_prompts"]
    write_differences(run, measure.name, rows)


SCORES = ComparedFacets(
    "cbs", "cbs", "model", "", "",
    {"dataset": "camellia", "language": "ja", "country": "Japanese", "condition": "grounded", "method": "sum"},
    {"form": "causal"},
)  # fmt: skip
RATES = ComparedFacets(
    "qa", "accuracy", "model", "", "",
    {"dataset": "camellia", "language": "ja", "country": "Japanese", "condition": "qa", "method": "prompt"},
    {"side": "native"},
)  # fmt: skip


def ranks(run: RunFolder) -> dict[str, tuple[int, int]]:
    with open_store(run, store_layout()) as store:
        found = store.sql("SELECT model, rank_low, rank_high FROM leaderboard").fetchall()
    return {model: (low, high) for model, low, high in found}


def tell(run: RunFolder) -> None:
    a, b, c, d = MODELS
    told = {
        (a, c): "lower",
        (a, d): "lower",
        (b, d): "lower",
        (c, d): "lower",
        (a, b): "not shown",
        (b, c): "untestable",
    }
    write_told(run, MEASURE, SCORES, told)


def test_ranks_leave_open_what_paired_differences_do_not_tell(run: RunFolder) -> None:
    """Disjoint intervals tell nothing, and overlapping ones hide nothing: the models met the same contexts."""
    write_scores(run, [(0.1, 0.2, 0.3), (0.35, 0.4, 0.45), (0.1, 0.5, 0.9), (0.1, 0.8, 0.9)])
    a, b, c, d = MODELS
    assert ranks(run) == dict.fromkeys(MODELS, (1, 4))
    tell(run)
    assert ranks(run) == {a: (1, 2), b: (1, 3), c: (2, 3), d: (4, 4)}


def test_a_model_that_is_on_no_board_decides_no_rank(run: RunFolder) -> None:
    write_scores(run, [(0.1, 0.2, 0.3), (None, 0.9, None)])
    tell(run)
    assert ranks(run) == {MODELS[0]: (1, 2), MODELS[1]: (1, 2)}


def test_a_difference_is_good_near_zero(run: RunFolder) -> None:
    write_gaps(run, [(-0.5, -0.4, -0.3), (-0.1, 0.0, 0.1), (0.15, 0.2, 0.25), (0.2, 0.4, 0.6)])
    a, b, c, d = MODELS
    assert ranks(run) == {b: (1, 1), c: (2, 3), d: (2, 4), a: (3, 4)}


def test_a_share_is_good_when_it_is_high_and_the_western_side_has_no_board(run: RunFolder) -> None:
    write_rates(run, "native", [(0.7, 0.8, 0.9), (0.1, 0.2, 0.3)])
    write_told(run, QA, RATES, {(MODELS[0], MODELS[1]): "higher"})
    assert ranks(run) == {MODELS[0]: (1, 1), MODELS[1]: (2, 2)}
    write_rates(run, "western", [(0.7, 0.8, 0.9)])
    assert not ranks(run)


def test_neutral_contexts_and_corpora_have_no_board(run: RunFolder) -> None:
    rows = [
        replace(CBS, model=MODELS[0], condition="neutral"),
        replace(CBS, model="ngram:wiki:unsmoothed"),
        replace(CBS, model=MODELS[1]),
    ]
    write_scores(run, [], *rows)
    assert ranks(run) == {MODELS[1]: (None, None)}  # alone: there is nothing to rank


def test_the_command_and_the_report_show_a_board(run: RunFolder, tmp_path: Path) -> None:
    write_scores(run, [(0.1, 0.2, 0.3), (0.25, 0.4, 0.5), (0.45, 0.5, 0.6), (0.7, 0.8, 0.9)])
    tell(run)
    models = ", ".join(f'"{model}"' for model in MODELS)
    experiment = f'name = "boards"\nmodels = [{models}]\nlanguages = ["en"]\ntopics = ["food"]\ncountries = ["JP"]\n'
    (tmp_path / "exp.toml").write_text(experiment, encoding="utf-8")
    shown = polyculture("table", "leaderboard", "exp.toml", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert [line.split()[0] for line in shown.stdout.splitlines() if "openai:" in line] == ["1–2", "1–3", "2–3", "4"]
    written = polyculture("table", "leaderboard", "exp.toml", "--format", "csv", "-o", "board.csv", cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    rows = list(csv.DictReader((tmp_path / "board.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["model"], row["rank_low"], row["rank_high"]) for row in rows][:2] == [
        ("openai:a", "1", "2"),
        ("openai:b", "1", "3"),
    ]
    none = polyculture("table", "leaderboard", "exp.toml", "task=ner", cwd=tmp_path)
    assert none.returncode == 0
    assert "no row with task=ner" in none.stderr


def test_a_model_of_which_nothing_could_be_used_is_there_without_a_rank(run: RunFolder, tmp_path: Path) -> None:
    demo = load(rules_of("own"), DEMO)
    mute = ToyEngine(broken=[entity.surface for entity in demo.entities])
    for model, engine in ((MODEL, ToyEngine()), (MODELS[0], mute)):
        for job in scoring_jobs(demo, model, DataSelection(types=("food",), cultures=("Indian",), entities=4)):
            score_job(run, job, SPEC, engine=engine)
    measure_bias(run)
    with open_store(run, store_layout()) as store:
        columns = "model, rank_low, estimate, models, failed, reason"
        found = store.sql(f"SELECT {columns} FROM leaderboard WHERE variant LIKE '%, sum' ORDER BY ALL").fetchall()
    scores = 8 * len({context.text for context in demo.contexts if _food(context) and context.setting == "grounded"})
    levels = 3  # the type, over types, over all
    assert [row[:2] + row[3:] for row in found if row[0] == MODEL] == [(MODEL, None, 2, None, None)] * levels
    assert [row for row in found if row[0] == MODELS[0]] == [(MODELS[0], None, None, 2, scores, "no tokens")] * levels
    (tmp_path / "exp.toml").write_text(
        f'name = "boards"\nmodels = ["{MODELS[0]}"]\nlanguages = ["en"]\ntopics = ["food"]\ncountries = ["JP"]\n',
        encoding="utf-8",
    )
    shown = polyculture("table", "leaderboard", "exp.toml", cwd=tmp_path)
    assert "no tokens" in shown.stdout
    assert f"all {scores} failed: no tokens" in write_report(
        run, layout=store_layout(), sections=sections_named("leaderboards", "method")
    ).read_text(encoding="utf-8")


def _food(context: MaskedContext) -> bool:
    return (context.culture, context.entity_type) == ("Indian", "food")


def test_the_report_shows_boards_of_two_models_or_more(run: RunFolder) -> None:
    write_rates(run, "native", [(0.1, 0.2, 0.3)])
    assert 'id="leaderboards"' not in write_report(
        run, layout=store_layout(), sections=sections_named("leaderboards", "method")
    ).read_text(encoding="utf-8")
    write_gaps(run, [(-0.5, -0.4, -0.3), (-0.1, 0.0, 0.1), (0.15, 0.2, 0.25), (0.2, 0.4, 0.6)])
    page = write_report(run, layout=store_layout(), sections=report_sections()).read_text(encoding="utf-8")
    assert 'id="leaderboards"' in page
    assert "Question answering: accuracy, native less Western" in page
    assert "2 to 4" in page


@pytest.mark.parametrize("languages", [("en",), ("en", "ja")])
def test_imported_texts_of_unknown_prompts_are_on_the_board_of_culture_specificity(
    tmp_path: Path, languages: tuple[str, ...]
) -> None:
    texts = Synthetic(
        n=10, models=MODELS[:2], languages=languages, topics=("food",), countries=("US",), conditions=("unstated",)
    ).write(tmp_path)
    measure(texts)
    with open_store(texts, METRICS_LAYOUT) as store:
        found = store.sql("SELECT DISTINCT metric, setting, language FROM leaderboard ORDER BY metric").fetchall()
    language = languages[0] if len(languages) == 1 else None  # a board of one language has its name
    assert found == [("diversity", "all prompts", language), ("specificity", "unstated", language)]


def test_a_report_of_scores_whose_likelihoods_are_gone(run: RunFolder) -> None:
    write_scores(run, [(0.1, 0.2, 0.3), (0.25, 0.4, 0.5)])  # TypeError: no count of what failed
    page = write_report(run, layout=store_layout(), sections=sections_named("leaderboards", "probable")).read_text(
        encoding="utf-8"
    )
    assert 'id="leaderboards"' in page
    assert 'id="probable"' not in page


def test_a_number_that_is_withheld_is_a_reason_in_the_table_of_ranks() -> None:
    """A page of a set of which fewer than half of the answers were read ended in a traceback."""
    row = {"reason": "fewer than half of the answers are read", "failed": None, "goal": "high", "metric": "accuracy"}
    assert _value(row).missing == "no number: fewer than half of the answers could be read"
    assert "all 3 failed: no tokens" in str(_value({**row, "failed": 3, "reason": "no tokens"}).missing)


class _Spelling(ToyEngine):
    """A token for every letter, where the toy model reads three."""

    def _scored(self, request: ScoreRequest, index: int, entity: str) -> Scored:
        values = [int(content_id(request.prefix, letter)[:1], 16) / 16 - 1 for letter in entity.strip()]
        return Scored(request.request_id, index, tuple(TokenScore("t", value) for value in values), "clean")


def test_tokens_against_placement_is_spearmans(run: RunFolder) -> None:
    for job in scoring_jobs(load(rules_of("own"), DEMO), MODEL, DataSelection(types=("food",), cultures=("Indian",))):
        score_job(run, job, SPEC, engine=_Spelling())
    with open_store(run, store_layout()) as store:
        effect = store.sql("SELECT * FROM token_effect WHERE rule = 'sum' AND native").df().iloc[0]
        scored = store.sql("SELECT context_id, entity_id, native, log_probability AS p, tokens FROM scores").df()
    placed: dict[str, list[float]] = {}
    for _, rows in scored.groupby("context_id"):
        own, other = rows[rows.native], rows[~rows.native]
        for entity, p in zip(own.entity_id, own.p, strict=True):
            placed.setdefault(entity, []).append(float((other.p > p).mean() + (other.p == p).mean() / 2))
    tokens = scored.groupby("entity_id").tokens.mean()
    expected = spearmanr(
        [tokens[entity] for entity in placed], [round(float(np.mean(each)), 9) for each in placed.values()]
    ).statistic
    assert effect.correlation == pytest.approx(expected)
    assert effect.low < effect.correlation < effect.high
    for job in scoring_jobs(load(rules_of("own"), DEMO), MODEL, DataSelection(types=("names",), entities=6)):
        score_job(run, job, SPEC, engine=_Spelling())
    with open_store(run, store_layout()) as store:
        few = store.sql("SELECT DISTINCT entities, low, high FROM token_effect WHERE entity_type = 'names'").fetchall()
    assert few == [(6, None, None)]
    assert (effect.entities, effect.tokens_per_entity) == (len(placed), pytest.approx(tokens[list(placed)].mean()))
