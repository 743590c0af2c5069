"""Claims about runs: in planted worlds each holds, fails or is undecided as it should; files of claims are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.cache.errors import UserError
from polyculture.metrics.claims.claim import Claim, read_claims
from polyculture.metrics.claims.parts import Store
from polyculture.metrics.claims.verdict import Result, Verdict, holm, judge
from tests.metrics.claim_worlds import planted

HOLDS, FAILS, UNDECIDED = Result.HOLDS, Result.FAILS, Result.UNDECIDED
GOOD = """
[[claims]]
name = "mine"
says = "Mine."
metric = "granularity"
contrast = { each = "model" }
expect = "same"
bound = 0.05
"""


def claim(expect: str, contrast: dict[str, object], metric: str = "granularity", **more: object) -> Claim:
    return Claim.model_validate(
        {"name": "x", "says": "X.", "metric": metric, "contrast": contrast, "expect": expect, **more}
    )


def verdict(store: Store, one: Claim) -> Verdict:
    [found] = judge(store, [one])
    return found


@pytest.mark.parametrize(("native", "result"), [(0.1, HOLDS), (-0.1, FAILS), (0.0, UNDECIDED)])
def test_a_direction_holds_fails_or_stays_open_by_the_side_of_its_interval(native: float, result: Result) -> None:
    found = verdict(planted(native=native), claim("higher", {"native": True}, "diversity"))
    effect = found.part.effect if found.part else None
    assert found.result == result
    assert effect is not None
    assert effect.low is not None
    assert effect.high is not None
    assert (effect.low > 0, effect.high < 0) == (result == HOLDS, result == FAILS)
    assert effect.blocks == 80  # topics x countries, over all models and languages
    assert bool(found.why) == (result == UNDECIDED)
    mirrored = verdict(planted(native=native), claim("lower", {"native": True}, "diversity"))
    assert mirrored.result == {HOLDS: FAILS, FAILS: HOLDS}.get(result, UNDECIDED)


@pytest.mark.parametrize(
    ("country", "noise", "result"), [(0.0, 0.02, HOLDS), (0.2, 0.02, FAILS), (0.0, 1.2, UNDECIDED)]
)
def test_the_same_is_shown_by_intervals_within_the_bound(country: float, noise: float, result: Result) -> None:
    found = verdict(planted(country=country, noise=noise), claim("same", {"each": "country"}, bound=0.05))
    assert found.result == result
    assert (found.parts, found.tested) == (4, 4)
    if result == FAILS:
        assert found.part is not None
        assert found.part.a == "US"  # what it turns on
    assert verdict(planted(), claim("same", {"each": "country"}, bound=0.0001)).result == UNDECIDED


@pytest.mark.parametrize(("models", "result"), [(0.3, HOLDS), (0.0, FAILS), (0.074, UNDECIDED)])
def test_different_needs_one_comparison_beyond_the_bound(models: float, result: Result) -> None:
    one = claim("different", {"each": "model"}, bound=0.075)
    found = verdict(planted(models=models), one)
    assert found.result == result
    assert found.part is not None
    if result == HOLDS:
        assert found.part.a == "m:two"
    assert (
        verdict(planted(), claim("different", {"each": "model"})).result == UNDECIDED
    )  # without a bound nothing fails


def test_highest_of_all_means_higher_than_each() -> None:
    contrast = {"a": "en", "against": "each"}
    one = claim("higher", contrast, "specificity_gain", condition="explicit")
    assert verdict(planted(english=0.1), one).result == HOLDS
    assert verdict(planted(english=-0.1), one).result == FAILS
    assert verdict(planted(english=0.1), one).parts == 3
    few = verdict(planted(english=0.1, topics=6), one)
    assert (few.result, few.why) == (UNDECIDED, "too few prompts for an interval: 6 of 18")


@pytest.mark.parametrize(("region", "result"), [(0.05, HOLDS), (-0.05, FAILS), (0.0, UNDECIDED)])
def test_languages_of_a_region_are_set_against_pairs_across(region: float, result: Result) -> None:
    contrast = {"within": [["en", "de"], ["ja", "ko", "zh"]]}
    found = verdict(planted(region=region), claim("higher", contrast, "consensus"))
    assert found.result == result
    assert found.part is not None
    assert found.part.effect is not None
    assert found.part.effect.difference == pytest.approx(region, abs=0.01)


def test_a_claim_about_what_the_run_lacks_is_undecided_and_says_what() -> None:
    store = planted(topics=2)
    assert "no value 'fr'" in verdict(store, claim("higher", {"a": "fr"})).why
    assert "no language 'jaa'. Did you mean" in verdict(store, claim("higher", {"a": "en", "against": "jaa"})).why
    assert (
        verdict(store, claim("same", {"each": "condition"} | {"each": "wording"}, bound=0.1)).why
        == "the run has only one wording"
    )
    assert "no condition 'neutral'" in verdict(store, claim("higher", {"native": True}, condition="neutral")).why
    assert "fewer than two" in verdict(store, claim("higher", {"within": [["en", "de"], ["th"]]}, "consensus")).why


def test_p_is_adjusted_over_the_claims_of_a_file() -> None:
    assert holm([0.01, None, 0.04, 0.03]) == pytest.approx([0.03, None, 0.06, 0.06], nan_ok=True)
    assert holm([]) == []
    store = planted(native=0.0035, noise=0.05)
    near = claim("higher", {"native": True}, "diversity")
    alone = verdict(store, near)
    assert alone.p is not None
    many = judge(store, [near] * 30)
    assert many[0].adjusted == pytest.approx(min(1.0, 30 * alone.p))


def test_the_shipped_claims_are_read_and_tested_on_a_run() -> None:
    shipped = read_claims()
    found = judge(planted(native=0.1, models=0.3, region=0.1), shipped)
    results = {one.claim.name: one.result for one in found}
    assert len(shipped) == 5
    assert results["native-diversity"] == results["regional-consensus"] == results["models-and-granularity"] == HOLDS
    assert all(one.p is not None or one.why for one in found)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("bound = 0.05", "", "claim 1: 'same' needs a bound above 0"),
        ("bound = 0.05", "bound = -1", "claim 1, bound: must be 0 or more, not -1"),
        ("bound = 0.05", "bound = 2", "no difference of granularity is as large as the bound 2"),
        ("bound = 0.05", "bond = 0.05", "claim 1, bond: unknown key. Did you mean 'bound'?"),
        ('"granularity"', '"granulariti"', "there is no metric 'granulariti'"),
        ('"granularity"', '"specificity"', "specificity is per condition: add condition"),
        ('each = "model"', 'each = "modell"', "claim 1, contrast.each: "),
        ('each = "model"', 'each = "model", native = true', "a contrast has one of native, each, a and within"),
        ('each = "model"', 'within = [["en", "de"], ["ja"]]', "within is of consensus"),
        ('"same"', '"equal"', "claim 1, expect: "),
        ('name = "mine"', "", "claim 1, name: Field required"),
        ("[[claims]]", "[[claim]]", "claim"),
        ('says = "Mine."', 'says = "Mine.', "not valid TOML"),
        (GOOD, GOOD + GOOD, "two claims have the name 'mine'"),
        (GOOD, "", "claims: Field required"),
    ],
)
def test_a_mistake_in_a_file_of_claims_is_one_line_with_its_place(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(GOOD.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(UserError) as raised:
        read_claims(file)
    line = str(raised.value)
    assert line.startswith(str(file))
    assert said in line
    assert "\n" not in line
    with pytest.raises(UserError, match="cannot be read"):
        read_claims(tmp_path / "none.toml")
