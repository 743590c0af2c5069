"""The Cultural Bias Score of pairs that are alike in tokens or priors: by hand, its intervals, and the command."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyculture.cache.identity import content_id
from polyculture.generate.engines.base import Scored, ScoreRequest, TokenScore
from polyculture.instruments.cbs.bias import HALF, Numbers
from polyculture.instruments.cbs.context_prompts import PrefixOptions
from polyculture.instruments.cbs.matched_rows import measure_matched
from polyculture.instruments.cbs.matching import Matching, all_pairs, matched_score, matching_of, width
from polyculture.instruments.cbs.score_interval import mean_score
from polyculture.instruments.cbs.selection import prefixed_contexts, scoring_jobs
from polyculture.instruments.cbs.uncertainty import ScoreMatrix, bias
from polyculture.instruments.datasets.model import DataSet
from polyculture.instruments.datasets.selection import Selection
from tests.instruments.test_cbs_command import EXPERIMENT, folder, rows  # noqa: F401
from tests.instruments.test_cbs_store import DEMO, MODEL, ToyEngine, demo, hold, run, score  # noqa: F401
from tests.instruments.test_datasets import write_own
from tests.polyculture.test_command_line import one_line, polyculture

TOY = Selection(types=("food", "beverage"), cultures=("Indian",), contexts=3, entities=9)


def matrices(random: np.random.Generator, contexts: int, native: int, western: int) -> tuple[ScoreMatrix, ...]:
    """Likelihoods with ties, and entities that have none in a context; numbers of tokens; priors."""
    known = [random.random((contexts, size)) < 0.9 for size in (native, western)]
    values = [random.normal(size=each.shape).round(1) for each in known]
    tokens = [random.integers(1, 4, each.shape[1]) * np.ones(each.shape) for each in known]
    priors = [random.normal(size=each.shape[1]) * np.ones(each.shape) for each in known]
    ids = tuple(f"n{number}" for number in range(native)), tuple(f"w{number}" for number in range(western))
    of_each = [[np.where(there, side, np.nan) for there, side in zip(known, sides, strict=True)]
               for sides in (values, tokens, priors)]  # fmt: skip
    names = tuple(f"c{number}" for number in range(contexts))
    return tuple(ScoreMatrix(*sides, names, names, *ids) for sides in of_each)


def by_hand(found: tuple[ScoreMatrix, ...], nats: float | None, *, tokens: bool, tie: float) -> tuple[float, int]:
    """The mean over contexts of the share of pairs that are alike, and how many these are."""
    matrix, lengths, priors = found
    shares, pairs = [], 0
    for row in range(len(matrix.native)):
        won = [
            1.0 if b > a else tie if b == a else 0.0
            for n, a in enumerate(matrix.native[row])
            for w, b in enumerate(matrix.western[row])
            if not (math.isnan(a) or math.isnan(b))
            and (not tokens or lengths.native[row, n] == lengths.western[row, w])
            and (nats is None or abs(priors.native[row, n] - priors.western[row, w]) <= nats)
        ]
        shares += [sum(won) / len(won)] if won else []
        pairs += len(won)
    return sum(shares) / len(shares), pairs


@pytest.mark.parametrize("matched", ["tokens", "prior", "both"])
@pytest.mark.parametrize("ties", ["strict", "half"])
def test_a_matched_score_is_that_of_a_count_of_alike_pairs(matched: Any, ties: Any) -> None:
    found = matrices(np.random.default_rng(3), 5, 12, 9)
    matching = Matching(matched, 0.5)
    nats = width(found[2], 0.5)
    deviations = [np.nanvar(np.nanmax(side, axis=0), ddof=1) for side in (found[2].native, found[2].western)]
    assert nats == pytest.approx(0.5 * math.sqrt(sum(deviations) / 2))
    matrix = replace(found[0], ties=ties)
    got = matched_score(
        matrix, found[1] if matching.of_tokens else None, found[2] if matching.of_priors else None, nats or 0.0
    )
    assert got is not None
    expected = by_hand(
        found, nats if matching.of_priors else None, tokens=matching.of_tokens, tie=0.5 if ties == HALF else 0.0
    )
    assert (got.estimate.value, got.pairs) == (pytest.approx(expected[0]), expected[1])
    assert got.pairs < all_pairs(matrix)[1]
    assert got.tied > 0
    assert got.won <= got.pairs


def test_where_all_pairs_are_alike_score_and_interval_are_those_of_cbs() -> None:
    matrix, tokens, priors = matrices(np.random.default_rng(4), 6, 10, 14)
    alike = replace(tokens, native=0 * tokens.native, western=0 * tokens.western)
    whole = bias(matrix)
    assert whole is not None
    for got in (matched_score(matrix, alike, None), matched_score(matrix, None, priors, 1e9)):
        assert got is not None
        assert (got.estimate.value, got.unmatched) == (pytest.approx(whole.value), pytest.approx(whole.value))
        assert (got.estimate.variance, got.estimate.freedom) == (
            pytest.approx(whole.variance),
            pytest.approx(whole.freedom),
        )
        assert (got.estimate.contexts, got.estimate.entities) == (whole.contexts, whole.entities)


def test_nothing_alike_is_no_number() -> None:
    matrix, tokens, priors = matrices(np.random.default_rng(5), 3, 4, 4)
    apart = replace(tokens, western=tokens.western + 9)
    assert matched_score(matrix, apart, None) is None
    nowhere = replace(priors, native=np.full(priors.native.shape, -np.inf))  # a corpus that holds none of them
    assert matched_score(matrix, None, nowhere, 1.0) is None
    assert width(nowhere, 0.2) is None


def world(random: np.random.Generator, contexts: int, native: int, western: int) -> tuple[ScoreMatrix, Numbers]:
    """Names of more tokens are less probable, and Western ones have more: all of their score is of tokens."""
    sides, lengths = [], []
    level = random.normal(0, 0.5, (contexts, 1))
    for size, chance in ((native, (0.6, 0.3, 0.1)), (western, (0.1, 0.3, 0.6))):
        tokens = random.choice(3, size, p=chance)
        noise = random.normal(0, 0.7, size) + random.normal(0, 0.7, (contexts, size))
        sides.append(noise - 1.0 * tokens + (level if size == western else 0))
        lengths.append(tokens * np.ones((contexts, size)))
    return ScoreMatrix(*sides), lengths  # type: ignore[return-value]


def test_the_intervals_cover_the_score_of_pairs_that_are_alike() -> None:
    """One half, where tokens are all that differs; the score over all pairs is far from it."""
    random, covered, whole, runs = np.random.default_rng(6), 0, [], 250
    for _ in range(runs):
        matrix, lengths = world(random, 8, 20, 26)
        got = matched_score(matrix, ScoreMatrix(*lengths), None)
        assert got is not None
        found = mean_score([(got.estimate, 1.0)])
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.5 <= found.high
        whole.append(got.unmatched)
    assert np.mean(whole) < 0.35
    assert covered / runs >= 0.92


class Letters(ToyEngine):
    """A token for each letter, so that names differ in length."""

    def _scored(self, request: ScoreRequest, index: int, entity: str) -> Scored:
        values = [int(content_id(request.prefix, entity, str(n))[:2], 16) / 99 - 3 for n in range(len(entity.strip()))]
        return Scored(request.request_id, index, tuple(TokenScore("t", value) for value in values), "clean")


def test_rows_know_what_stays_and_are_made_again_after_new_scores(run, demo: DataSet) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    jobs = scoring_jobs(demo, MODEL, TOY, empty=True)
    hold(run, demo, prefixed_contexts(demo, jobs, PrefixOptions()))
    assert measure_matched(run) == []  # nobody asked for any
    score(run, jobs[:1], Letters())
    before = measure_matched(run, [Matching("both", 1.0), Matching("tokens")])
    assert {(row.matched, row.caliper, row.entity_type) for row in before} == {
        (matched, caliper, kind)
        for matched, caliper in (("both", 1.0), ("tokens", None))
        for kind in ("beverage", None)
    }
    score(run, jobs[1:], Letters())
    after = measure_matched(run)
    assert {row.matched for row in after} == {"both", "tokens"}
    assert {row.entity_type for row in after} == {"beverage", "food", None}
    for row in after:
        assert 0 < row.pairs < row.all_pairs
        assert row.contexts + row.contexts_without == (
            3 if row.entity_type and row.setting != "empty" else row.contexts
        )
        assert (row.caliper_nats is None) == (row.matched == "tokens" or row.entity_type is None)
    [food, drinks, mean] = [
        next(r for r in after if (r.matched, r.rule, r.ties_count, r.setting, r.entity_type) == ("tokens", "sum", "half", "neutral", kind))  # noqa: E501
        for kind in ("food", "beverage", None)
    ]  # fmt: skip
    assert mean.estimate == pytest.approx((3 * food.estimate + 3 * drinks.estimate) / 6)
    assert mean.pairs == food.pairs + drinks.pairs


def test_each_gender_of_a_type_is_a_row_over_its_own_entities(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    sides = {
        "Swahili": ("Asha", "Zuri", "Neema", "Juma", "Baraka"),
        "Western": ("Anna", "Mary", "Grace", "John", "Peter"),
    }
    entities = [
        f"sw,{culture},names,{name},{'female' if place < 3 else 'male'}"
        for culture, names in sides.items()
        for place, name in enumerate(names)
    ]
    contexts = [f"sw,Swahili,names,neutral,{number} ni [MASK]" for number in range(3)]
    data = write_own(
        tmp_path,
        **{
            "entities.csv": "\n".join(["language,culture,type,entity,gender", *entities]),
            "contexts.csv": "\n".join(["language,culture,type,setting,context", *contexts]),
        },
    )
    jobs = scoring_jobs(data, MODEL, Selection())
    hold(run, data)
    score(run, jobs, Letters())
    found = {
        (row.entity_type, row.gender): row
        for row in measure_matched(run, [Matching("tokens")])
        if (row.rule, row.ties_count) == ("sum", "strict")
    }
    assert set(found) == {("names", None), ("names", "female"), ("names", "male"), (None, None)}
    # As many letters: Asha and Zuri with Anna and Mary, Neema with Grace; Juma with John.
    assert {gender: row.pairs for (kind, gender), row in found.items() if kind} == {
        None: 3 * (3 * 3 + 2),  # Juma with Anna and Mary, too; Neema with Peter; nobody with Baraka
        "female": 3 * (2 * 2 + 1),
        "male": 3,
    }
    assert found["names", "female"].all_pairs == 27
    assert found[None, None].pairs == found["names", None].pairs  # genders are in it already


def test_the_command_prints_a_second_table_and_asks_priors_once(folder: Path) -> None:  # noqa: F811
    few = ("--data", "own", "--folder", DEMO, "--type", "food", "--culture", "Indian", "--contexts", "3")
    few = (*few, "--entities", "6")
    text = EXPERIMENT.format(model=f"transformers:{folder / 'gpt2'}")
    (folder / "exp.toml").write_text(f"{text}\n[options.transformers]\nbos = true\n", encoding="utf-8")
    done = polyculture("cbs", "exp.toml", *few, "--matched", "tokens", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Cultural Bias Scores of pairs that are alike in tokens or priors" in _plain(done.stdout)
    [(asked,)] = rows(folder, "SELECT count(*) FROM scores")
    done = polyculture("cbs", "exp.toml", *few, "--matched", "both", "--caliper", "0.5", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert rows(folder, "SELECT count(*) FROM scores") == [(asked + 12,)]  # each entity once more, after nothing
    found = rows(folder, "SELECT matched, caliper, entity_type, setting, pairs, all_pairs, lacking FROM matched_bias WHERE rule = 'sum' AND ties_count = 'strict' AND setting <> 'empty' ORDER BY ALL")  # fmt: skip  # noqa: E501
    assert {row[:3] for row in found} == {
        (m, c, k) for m, c in (("both", 0.5), ("tokens", None)) for k in ("food", None)
    }
    assert all(row[5] == 3 * 36 and row[4] <= row[5] for row in found)
    assert matching_of("tokens", 3.0) == Matching("tokens")  # where priors do not count, a caliper does not
    again = polyculture("cbs", "exp.toml", *few, "--matched", "prior", "--rule", "mean", cwd=folder)
    assert "Loading weights" not in again.stderr
    assert "0.200" in again.stdout  # the caliper
    assert "108" in again.stdout  # all pairs
    assert one_line(polyculture("cbs", "exp.toml", *few, "--matched", "prior", "--caliper", "-1", cwd=folder), 2)


def _plain(text: str) -> str:
    return " ".join(text.split())
