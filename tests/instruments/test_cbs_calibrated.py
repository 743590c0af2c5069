"""The calibrated rule: what a context adds to an entity's log-probability after nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polyculture.cache.identity import content_id
from polyculture.generate.engines.base import Scored, ScoreRequest, TokenScore
from polyculture.instruments.cbs.context_prompts import EMPTY, NOTHING
from polyculture.instruments.cbs.step import PLAIN, prefixed_contexts, scoring_jobs
from polyculture.instruments.datasets.model import DataSet
from polyculture.instruments.datasets.selection import Selection
from tests.instruments.test_cbs_command import EXPERIMENT, folder  # noqa: F401
from tests.instruments.test_cbs_store import DEMO, EVERY_PAIR, MODEL, ToyEngine, demo, hold, measured, rows, run, score  # noqa: F401
from tests.polyculture.test_command_line import polyculture

FOOD = Selection(types=("food",), cultures=("Indian",), contexts=3, entities=7)


def test_each_entity_is_asked_once_more_and_its_prior_is_taken_off(run, demo: DataSet) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    plain = scoring_jobs(demo, MODEL, FOOD)
    jobs = scoring_jobs(demo, MODEL, FOOD, empty=True)
    asked = {entity.entity_id for _, entities in plain[0].asked for entity in entities}
    assert jobs[0].size == plain[0].size + len(asked)
    hold(run, demo, prefixed_contexts(demo, jobs, PLAIN))
    engine = ToyEngine()
    score(run, jobs, engine)
    found = {(r.rule, r.setting, r.metric): r for r in measured(run) if r.entity_type}
    scores = rows(run, "SELECT setting, context_id, entity_id, native, log_probability FROM scores")
    prior = {entity: value for setting, _, entity, _, value in scores if setting == EMPTY}
    assert set(prior) == asked
    for setting in ("grounded", "neutral"):
        of_setting = [row for row in scores if row[0] == setting]
        shares = []
        for context in {row[1] for row in of_setting}:
            sides = [
                [
                    value - prior[entity]
                    for _, one, entity, native, value in of_setting
                    if one == context and native == side
                ]
                for side in (True, False)
            ]
            shares.append(np.mean([b > a for a in sides[0] for b in sides[1]]))
        assert found["calibrated", setting, "cbs"].estimate == pytest.approx(np.mean(shares))
    assert ("calibrated", EMPTY, "cbs") not in found  # nothing less itself is no score
    assert found["sum", EMPTY, "cbs"].contexts == 1
    assert found["calibrated", "grounded", "cbs_difference"].p is not None
    before = len(rows(run, "FROM scores"))
    hold(run, demo)  # asked without it, the priors count on
    assert len(rows(run, "FROM scores")) == before
    score(run, scoring_jobs(demo, MODEL, FOOD), engine)
    assert engine.asked == before


def test_without_a_prior_there_is_no_calibrated_score(run, demo: DataSet) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    score(run, scoring_jobs(demo, MODEL, FOOD, empty=True), ToyEngine(broken=["pizza"]))
    native = rows(run, "SELECT count(DISTINCT entity) FROM likelihoods WHERE rule = 'calibrated'")
    assert native == rows(
        run, f"SELECT count(DISTINCT entity) FROM scores WHERE status = 'ok' AND context_prefix = '{NOTHING}'"
    )
    assert {r.rule for r in measured(run)} == {"sum", "mean", "probability", "calibrated"}
    # What is a mean over an entity's contexts does not hold the empty one.
    assert rows(run, "SELECT DISTINCT contexts FROM cultural_entities") == [(6,)]
    assert rows(run, "SELECT DISTINCT contexts FROM entity_placements") == [(6,)]


class ContextFree(ToyEngine):
    """A model for which no context adds anything, but `added` to one entity: sums differ by rounding."""

    def __init__(self, added: float) -> None:
        super().__init__()
        self.added = added

    def _scored(self, request: ScoreRequest, index: int, entity: str) -> Scored:
        values = [int(content_id(letter)[:4], 16) / 7e3 - 11 for letter in entity.strip()]
        rounding = int(content_id(request.prefix, entity)[:2], 16) * 1e-15 * abs(sum(values))
        more = self.added if request.prefix.strip() and entity.strip() == "pizza" else 0.0
        return Scored(request.request_id, index, tuple(TokenScore("t", v) for v in (*values, more - rounding)), "clean")


@pytest.mark.parametrize("added", [0.0, 1e-4])
def test_what_differs_by_rounding_alone_ties(run, demo: DataSet, added: float) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    """Sums of which something is taken off have other last digits: these decided pairs, in views and in intervals."""
    score(run, scoring_jobs(demo, MODEL, FOOD, empty=True), ContextFree(added))
    scores = [r for r in measured(run) if r.rule == "calibrated" and r.metric == "cbs" and r.entity_type]
    columns = "setting, cbs, tied, western_won, pairs"
    by_pairs = rows(run, f"SELECT {columns} FROM ({EVERY_PAIR}) WHERE rule = 'calibrated' ORDER BY 1")
    of_rows = sorted((r.setting, pytest.approx(r.estimate), r.tied, r.western_won, r.pairs) for r in scores)
    assert by_pairs == of_rows
    assert {setting for setting, *_ in by_pairs} == {"grounded", "neutral"}
    for row in scores:
        wins = 3 * row.native_entities if added else 0  # of pizza, in three contexts
        assert (row.western_won, row.tied) == (wins, row.pairs - wins)
        assert row.estimate == pytest.approx(wins / row.pairs)
    exact = rows(
        run,
        "SELECT count(DISTINCT s.log_probability - p.log_probability) > 2 FROM scores AS s JOIN scores AS p"
        " USING (entity_id) WHERE p.context_prefix = 'nothing' AND s.context_prefix IS NULL",
    )
    assert exact == [(True,)]


def test_the_command_calibrates_where_a_model_has_a_first_token(folder: Path) -> None:  # noqa: F811
    few = (
        "--data",
        "own",
        "--folder",
        DEMO,
        *["--type", "food", "--culture", "Indian", "--contexts", "3", "--entities", "4"],
    )
    without = polyculture("cbs", "exp.toml", *few, "--rule", "calibrated", cwd=folder)
    assert without.returncode == 0, without.stderr  # its tokenizer puts no token first: its end-of-text stands there
    assert "rule calibrated" in without.stdout
    text = EXPERIMENT.format(model=f"transformers:{folder / 'gpt2'}")
    (folder / "exp.toml").write_text(f"{text}\n[options.transformers]\nbos = true\n", encoding="utf-8")
    done = polyculture("cbs", "exp.toml", *few, "--rule", "calibrated", "--accept-changes", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "rule calibrated" in done.stdout
    assert "grounded" in done.stdout
