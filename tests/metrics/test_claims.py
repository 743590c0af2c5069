"""Claims about runs: each holds, fails or is undecided as its intervals say; files of claims are checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import cast, get_args

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import ExperimentError, UserError
from polyculture.cache.store.parquet import objects_to_table
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import DIFFERENCES, NUMBERS, Condition
from polyculture.cache.store.schema.measured import EVERY
from polyculture.cache.store.store import open_store
from polyculture.instruments.questions.layout import EMPTY
from polyculture.metrics import KEPT
from polyculture.metrics.claims.claim import PAPERS, Claim, read_claims
from polyculture.metrics.claims.parts import ClaimedRun, check_values
from polyculture.metrics.claims.verdict import ClaimResult, Verdict, holm, judge
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import ComparisonRow
from polyculture.running.layout import store_layout
from tests.metrics.compared_runs import specific_with, write_run
from tests.metrics.test_gate import made

HOLDS, FAILS, UNDECIDED = ClaimResult.HOLDS, ClaimResult.FAILS, ClaimResult.UNDECIDED
GOOD = """
[[claims]]
name = "mine"
says = "Mine."
metric = "granularity"
contrast = { each = "model" }
expect = "same"
bound = 0.05
target = "new_prompts"
"""


class Rows:
    """A run whose comparisons are given."""

    selections = ("answered",)

    def __init__(self, *rows: ComparisonRow, answered: Sequence[ComparisonRow] | None = None) -> None:
        self.found = {"all": list(rows), "answered": list(answered or rows)}

    def rows(self, claim: Claim, selections: object) -> dict[str, list[ComparisonRow]]:
        del claim, selections
        return self.found


def claim(expect: str, contrast: dict[str, object], metric: str = "granularity", **more: object) -> Claim:
    given = {
        "name": "x",
        "says": "X.",
        "metric": metric,
        "contrast": contrast,
        "expect": expect,
        "target": "new_prompts",
    }
    return Claim.model_validate(given | more)


def verdict(run: Rows | ClaimedRun, one: Claim) -> Verdict:
    [found] = judge(cast("ClaimedRun", run), [one])
    return found


@pytest.mark.parametrize(("value", "result"), [(0.3, HOLDS), (-0.3, FAILS), (0.01, UNDECIDED)])
def test_a_direction_holds_fails_or_stays_open_by_the_side_of_its_interval(value: float, result: ClaimResult) -> None:
    found = verdict(Rows(made(value, 0.05)), claim("higher", {"native": True}))
    assert (found.result, bool(found.why)) == (result, result == UNDECIDED)
    mirrored = verdict(Rows(made(value, 0.05)), claim("lower", {"native": True}))
    assert mirrored.result == {HOLDS: FAILS, FAILS: HOLDS}.get(result, UNDECIDED)


@pytest.mark.parametrize(("value", "error", "result"), [(0.0, 0.01, HOLDS), (0.2, 0.01, FAILS), (0.0, 0.2, UNDECIDED)])
def test_the_same_is_shown_by_intervals_within_the_bound(value: float, error: float, result: ClaimResult) -> None:
    rows = [made(value, error), made(0.0, error)]
    found = verdict(Rows(*rows), claim("same", {"each": "country"}, bound=0.05))
    assert (found.result, found.parts, found.tested) == (result, 2, 2)
    if result == FAILS:
        assert found.row is rows[0]  # what it turns on


@pytest.mark.parametrize(("value", "result"), [(0.3, HOLDS), (0.0, FAILS), (0.074, UNDECIDED)])
def test_different_needs_one_comparison_beyond_the_bound(value: float, result: ClaimResult) -> None:
    rows = Rows(made(0.0, 0.01), made(value, 0.01))
    assert verdict(rows, claim("different", {"each": "model"}, bound=0.075)).result == result
    open_end = claim("different", {"each": "model"})
    assert verdict(Rows(made(0.0, 0.01)), open_end).result == UNDECIDED  # without a bound nothing fails


def test_all_comparisons_must_be_so_and_one_that_is_missing_leaves_it_open() -> None:
    one = claim("higher", {"a": "en", "against": "each"})
    assert verdict(Rows(made(0.3, 0.02), made(0.2, 0.02)), one).result == HOLDS
    assert verdict(Rows(made(0.3, 0.02), made(-0.2, 0.02)), one).result == FAILS
    few = verdict(Rows(made(0.3, 0.02), made(0.2, None)), one)
    assert (few.result, few.tested) == (UNDECIDED, 1)
    assert "1 of 2" in few.why
    none = verdict(Rows(made(0.2, None)), one)
    assert "5 topics and 5 countries" in none.why


def test_a_claim_that_refusals_make_says_that_it_is_not_so_without_them() -> None:
    found = verdict(Rows(made(0.3, 0.05), answered=[made(0.0, 0.05)]), claim("higher", {"a": "en"}))
    assert (found.result, found.not_in) == (HOLDS, ("answered",))


def test_p_is_adjusted_over_the_claims_of_a_file() -> None:
    assert holm([0.01, None, 0.04, 0.03]) == pytest.approx([0.03, None, 0.06, 0.06], nan_ok=True)
    assert holm([]) == []
    near = claim("higher", {"native": True})
    rows = Rows(made(0.12, 0.05))
    many = judge(cast("ClaimedRun", rows), [near] * 30)
    assert many[0].adjusted == pytest.approx(min(1.0, 30 * (verdict(rows, near).p or 0)))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClaimedRun]:
    folder = tmp_path_factory.mktemp("claimed")
    says = specific_with({"m:one": 0.9, "m:two": 0.4})
    topics, countries = ("beverage", "book", "clothing", "food", "music"), ("DE", "IT", "JP", "MX", "US")
    write_run(folder, "run", says, ("m:one", "m:two"), ("de", "en", "ja"), topics, countries, n=3)
    with closing(open_store(RunFolder(folder / "runs" / "run"), store_layout(), KEPT)) as store:
        yield ClaimedRun(ComparedRun(store), (("de", "DE"), ("ja", "JP")), {})


def test_each_contrast_compares_what_it_says(run: ClaimedRun) -> None:
    def sides(contrast: dict[str, object], metric: str = "granularity", **more: object) -> list[tuple[str, str]]:
        rows = run.rows(claim("higher", contrast, metric, **more), ["all"])["all"]
        return [(row.difference.a, row.difference.b) for row in rows]

    assert sides({"each": "model"}) == [("m:one", "m:two")]
    assert sides({"each": "language"}) == [("de", "the rest"), ("en", "the rest"), ("ja", "the rest")]
    assert sides({"a": "en", "against": "each"}) == [("en", "de"), ("en", "ja")]
    assert sides({"a": "en", "against": ["ja"]}) == [("en", "ja")]
    assert sides({"a": "explicit", "against": "neutral"}, "specificity") == [("explicit", "neutral")]
    assert sides({"native": True}, "specificity", where={"condition": "explicit"}) == [
        ("native language", "other languages")
    ]
    assert len(sides({"within": [["en", "de"], ["ja"]]}, "consensus")) == 1
    found = verdict(run, claim("different", {"each": "model"}, bound=0.1, target="same_prompts"))
    assert (found.result, found.row and found.row.difference.unit) == (HOLDS, "response")


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (claim("higher", {"a": "yo"}), "no value 'yo'"),
        (claim("higher", {"a": "en", "against": "jaa"}), "no language 'jaa'"),
        (claim("higher", {"a": "en", "against": ["ja", "tr"]}), "no language 'tr'"),
        (claim("same", {"each": "wording"}, bound=0.1), "the run has only one wording"),
        (claim("higher", {"native": True}, where={"condition": "implicit_male"}), "no condition 'implicit_male'"),
        (claim("higher", {"within": [["en", "de"], ["th"]]}, "consensus"), "fewer than two"),
        (claim("higher", {"a": "en"}, "specificity"), "specificity is per condition"),
        (claim("higher", {"a": "en"}, where={"language": "en"}), "leave language out"),
        (claim("higher", {"than": 0.5}, "cbs", measure="cbs"), "no such number of cbs"),
        (claim("higher", {"a": "native"}, "f1", measure="ner", where={"side": "x"}), "no such comparison of ner f1"),
    ],
)
def test_a_claim_about_what_the_run_lacks_is_undecided_and_says_what(run: ClaimedRun, one: Claim, said: str) -> None:
    found = verdict(run, one)
    assert found.result == UNDECIDED
    assert said in found.why


def test_the_studys_nine_claims_name_section_and_target_and_are_tested_on_a_run(run: ClaimedRun) -> None:
    shipped = read_claims(Path("makieval"))
    assert len(shipped) == 9
    assert all((one.source or "").startswith("MAKIEval, section 6.") for one in shipped)
    assert {one.target for one in shipped} == {"same_prompts", "new_prompts"}
    found = judge(run, shipped)
    assert all(one.p is not None or one.why for one in found)
    assert sum(one.p is not None for one in found) >= 4


@pytest.fixture
def kept(run: ClaimedRun) -> Iterator[ClaimedRun]:
    """What instruments wrote of two models: scores and contrasts, of all types and of one, plain and of a phrasing."""
    told = replace(made(0.2, 0.02).difference, measure="cbs", metric="cbs", dimension="condition", a="grounded",
                   b="neutral", target="new_prompts", dataset="camel", method="sum", freedom=10.0)  # fmt: skip
    score = replace(EMPTY, measure="cbs", metric="cbs", dataset="camel", method="sum", condition="grounded",
                    estimate=0.4, low=0.35, high=0.45, units=11)  # fmt: skip
    facets = {"model": ("m:one", "m:two"), "topic": (EVERY, "food"),
              "facets": ({"form": "masked"}, {"form": "masked", "phrasing": "pro-drop"})}  # fmt: skip
    places = [dict(zip(facets, values, strict=True)) for values in product(*facets.values())]
    store = run.run.store
    for table, row in ((DIFFERENCES, told), (NUMBERS, score)):
        store.register(table.name, objects_to_table(table, [replace(row, **place) for place in places]))
    yield ClaimedRun(run.run, (), {})
    for table in (DIFFERENCES, NUMBERS):
        store.unregister(table.name)


def of_cbs(contrast: dict[str, object], **more: object) -> Claim:
    return claim("lower", contrast, "cbs", measure="cbs", **more)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (claim("higher", {"native": True}, where={"condition": "explcit"}), "'explcit'. Did you mean 'explicit'?"),
        (claim("higher", {"native": True}, where={"country": "ZZ"}), "there is no country 'ZZ'"),
        (claim("higher", {"a": "en", "against": "neutrall"}), "no value 'neutrall'. Did you mean 'neutral'?"),
    ],
)
def test_a_value_that_nothing_has_is_a_mistake(run: ClaimedRun, one: Claim, said: str) -> None:
    catalog = read_catalog()
    known = {"condition": get_args(Condition), "language": catalog.languages, "country": catalog.countries}
    absent = claim("higher", {"a": "th"}, where={"condition": "implicit_male", "country": "TH"})
    check_values(run.run, [absent, of_cbs({"a": "x"}, where={"condition": "grunded"})], known)
    check_values(run.run, [of_paper for file in PAPERS.values() for of_paper in read_claims(file)], known)
    with pytest.raises(ExperimentError, match=re.escape(said)):
        check_values(run.run, [absent, one], known)


def test_what_instruments_wrote_is_judged_at_its_coarsest_level(kept: ClaimedRun) -> None:
    def found(contrast: dict[str, object], **more: object) -> list[tuple[str, str, str, float | None]]:
        rows = kept.rows(of_cbs(contrast, **more), ["all"])["all"]
        told = [row.difference for row in rows]
        assert all(one.facets == more.get("facets", {"form": "masked"}) for one in told)
        return [(one.model, one.topic, one.a, one.difference) for one in told]

    whole = [("m:one", EVERY, "grounded", 0.2), ("m:two", EVERY, "grounded", 0.2)]
    assert found({"each": "condition"}) == whole
    assert found({"a": "neutral", "against": "grounded"}) == [(*one[:2], "neutral", -0.2) for one in whole]
    assert [one[1] for one in found({"a": "grounded"}, by=["topic"])] == ["food", "food"]
    [named] = kept.rows(of_cbs({"a": "grounded"}, where={"phrasing": "pro-drop", "model": "m:one"}), ["all"])["all"]
    assert named.difference.facets["phrasing"] == "pro-drop"
    [these, _] = kept.rows(of_cbs({"a": "grounded"}, target="same_prompts"), ["all"])["all"]
    assert (these.contrast, these.difference.reason) == (None, "new prompts alone")


def test_a_number_is_judged_against_a_stated_one_in_each_model(kept: ClaimedRun) -> None:
    found = verdict(kept, of_cbs({"than": 0.5}, where={"dataset": "camel"}))
    assert (found.result, found.parts, found.row and found.row.difference.a) == (HOLDS, 2, "m:one")
    told = found.row and found.row.difference
    assert (told.difference, told.low, told.high) == pytest.approx((-0.1, -0.15, -0.05))
    ends = [verdict(kept, of_cbs({"than": than})).p for than in (0.45, 0.46)]
    assert ends[0] == pytest.approx(0.05)  # where the interval ends
    assert (ends[1] or 1) < 0.05
    assert verdict(kept, of_cbs({"than": 0.3})).result == FAILS


@pytest.mark.parametrize("paper", [paper for paper in PAPERS if paper != "makieval"])
def test_the_claims_of_the_papers_name_a_section_that_the_paper_has(paper: str, shared_data: Path) -> None:
    text = (shared_data.parent / "papers" / f"{paper}.txt").read_text(encoding="utf-8")
    for one in read_claims(Path(paper)):
        section = (one.source or "").partition(";")[0].rpartition(" ")[2]
        assert re.search(rf"^[#* ]*{re.escape(section)}\b", text, re.MULTILINE), one.source


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("bound = 0.05", "", "claim 1: 'same' needs a bound above 0"),
        ("bound = 0.05", "bound = -1", "claim 1, bound: must be 0 or more, not -1"),
        ("bound = 0.05", "bound = 2", "no difference of granularity is as large as the bound 2"),
        ("bound = 0.05", "bond = 0.05", "unknown key 'claim 1, bond'. Did you mean 'bound'?"),
        ('"granularity"', '"granulariti"', "there is no metric 'granulariti'"),
        ('"granularity"', '"specificity"', "specificity is per condition"),
        ('each = "model"', 'each = "modell"', "claim 1, contrast.each: "),
        ('each = "model"', 'each = "model", native = true', "a contrast has one of native, each"),
        ('each = "model"', 'within = [["en", "de"], ["ja"]]', "within is of consensus"),
        ('"same"', '"equal"', "claim 1, expect: "),
        ('target = "new_prompts"', "", "the key 'claim 1, target' is missing"),
        ('name = "mine"', "", "the key 'claim 1, name' is missing"),
        ("[[claims]]", "[[claim]]", "claim"),
        ('says = "Mine."', 'says = "Mine.', "not valid TOML"),
        (GOOD, GOOD + GOOD, "two claims have the name 'mine'"),
        (GOOD, "", "the key 'claims' is missing"),
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
