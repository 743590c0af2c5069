"""The tables of `polyculture bbq --table`: tests, the people's votes, published figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import DataSetError
from polyculture.instruments.bbq.comparison_table import comparison_rows
from polyculture.instruments.bbq.kobbq import load_templates
from polyculture.instruments.bbq.listings import beside_published, bias_against_votes, significance_rows
from polyculture.instruments.bbq.opened import Opened
from polyculture.instruments.bbq.options import TableName
from polyculture.instruments.bbq.paper_tables import count_table, result_table
from polyculture.instruments.bbq.published_scores import differences
from polyculture.instruments.bbq.rows import AnswerRow
from polyculture.instruments.bbq.significance import false_discovery
from polyculture.instruments.bbq.table_option import check_table
from polyculture.instruments.bbq.votes import template_votes
from polyculture.instruments.contract import Listing
from tests.instruments.bbq.chosen import answer, designed, opened, right_role

MODELS = ["m"]


def lines(listing: Listing, **wanted: object) -> list[dict[str, Any]]:
    found = [dict(zip(listing.columns, row, strict=True)) for row in listing.rows]
    return [row for row in found if all(row[name] == value for name, value in wanted.items())]


def one_in(times: int, otherwise: str) -> Callable[[str, str], str]:
    """Right but for every so many templates, which choose otherwise."""
    return lambda context, template: otherwise if int(template[1:]) % times == 0 else right_role(context)


def test_categories_and_labels_are_tested_with_q_over_the_whole_table() -> None:
    rows = list(designed(one_in(6, "biased"), templates=24))  # all odd ones in category c0
    listing = significance_rows(opened(rows), "kobbq", MODELS)
    (whole,) = lines(listing, number="diff_bias_a", test="ANOVA", one="2 of category")
    assert whole["p"] < 0.05
    assert whole["templates"] == 24
    (pair,) = lines(listing, number="diff_bias_a", test="Tukey", one="c0", other="c1")
    assert pair["difference"] == pytest.approx(4 / 12)
    assert pair["p"] == pytest.approx(whole["p"], abs=1e-6)  # of two groups both are one test
    raw = [row["p"] for row in lines(listing)]
    assert [row["q"] for row in lines(listing)] == false_discovery(raw)
    assert lines(listing, test="Wilcoxon") == []
    assert lines(significance_rows(opened(rows), "kobbq", ["another"])) == []


def test_two_data_sets_of_a_run_are_ranked() -> None:
    rows = [answer(f"t{number}", reading="C", dataset="kobbq") for number in range(5)]
    rows += [answer(f"t{number}", reading="A", dataset="bbq") for number in range(5)]
    (row,) = lines(significance_rows(opened(rows), "kobbq", MODELS), number="acc_a", test="Wilcoxon")
    assert (row["one"], row["other"], row["statistic"], row["templates"]) == ("kobbq", "bbq", 25, 10)
    assert row["note"].endswith("1.000")


def test_arms_of_one_data_set_are_no_two_data_sets() -> None:
    rows = [
        answer(f"t{number}", reading="C", dataset=name) for number in range(5) for name in ("kobbq", "kobbq+warning")
    ]
    assert lines(significance_rows(opened(rows), "kobbq", MODELS), test="Wilcoxon") == []


def test_bias_that_is_the_peoples_margin_follows_their_votes(shared_data: Path) -> None:
    templates = shared_data / "kobbq" / "data"
    votes, _ = template_votes(load_templates(templates)[0])
    rows: list[AnswerRow] = []
    for one in votes:
        biased = round(100 * (one.margin or 0))
        rows += [
            answer(one.template_id, reading="A" if number < abs(biased) else "C", number=number,
                   shown="bou" if biased > 0 else "obu")
            for number in range(100)
        ]  # fmt: skip
    listing, told = bias_against_votes(opened(rows), "kobbq", MODELS, templates)
    (row,) = lines(listing)
    assert (row["number"], told) == ("diff_bias_a", [])
    assert row["spearman"] > 0.99
    assert row["stereotypes"] > 200


def test_the_papers_figures_stand_beside_those_of_the_run() -> None:
    rows = list(designed(one_in(4, "biased"), templates=8, prompts=("1", "2", "3", "4", "5")))
    found = lines(beside_published(opened(rows), "kobbq", MODELS, []))
    assert {row["source"] for row in found} == {"Jin et al. 2024", "this run"}
    mine = {(row["context"], row["measure"]): row for row in found if row["source"] == "this run"}
    assert mine["ambiguous", "accuracy"]["value"] == pytest.approx(0.75)
    assert mine["ambiguous", "max diff-bias"]["value"] == pytest.approx(0.25)
    assert mine["ambiguous", "diff-bias"]["deviation"] == 0
    assert all(not row["same protocol"] for row in mine.values())  # a part of the questions
    assert "64 questions, 2,144 in the paper" in mine["ambiguous", "accuracy"]["note"]


def test_a_protocol_is_the_papers_or_says_where_it_differs() -> None:
    asked = {"answer_method": "generated", "own_prompts": 5, "other_prompts": 0, "orders": ["021", "102", "210"],
             "questions": 2280}  # fmt: skip
    assert differences(asked, []) == ([], ["2,280 questions, 2,144 in the paper"])
    assert differences({**asked, "questions": 2144}, []) == ([], [])
    for changed, told in (
        ({"answer_method": "letter"}, "by likelihood"),
        ({"own_prompts": 2}, "2 of 5 prompts"),
        ({"other_prompts": 1}, "5 of 5 prompts and 1 others"),
        ({"orders": ["012", "120", "201"]}, "orders 012 120 201"),
        ({"questions": 100}, "a part of the questions"),
    ):
        assert differences({**asked, **changed}, [])[0] == [told]
    assert differences(asked, ["temperature 1"])[0] == ["temperature 1"]


def test_results_are_printed_as_in_the_paper() -> None:
    rows = list(designed(one_in(4, "biased"), templates=8))
    listing = result_table(opened(rows), "kobbq", MODELS, "ambiguous", [])
    paper, mine = lines(listing)
    assert [paper[name] for name in ("model", "accuracy", "diff-bias", "max diff-bias")] == [
        "GPT-4", ".9650 ± .0245", ".0256 ± .0152", ".0350"
    ]  # fmt: skip
    assert [mine[name] for name in ("model", "accuracy", "max diff-bias")] == ["m", ".7500 ± .0000", ".2500"]
    assert "64 questions, 2,144 in the paper" in mine["protocol"]


def test_labels_stand_beside_those_of_another_data_set() -> None:
    rows = list(designed(one_in(4, "biased"), templates=8))
    alone = comparison_rows(opened(rows), "kobbq", MODELS)
    assert {row["label"] for row in lines(alone)} == {"L0", "L1", "all"}
    assert {(row["other data set"], row["p"]) for row in lines(alone)} == {(None, None)}
    (first,) = lines(alone, label="L0", context="ambiguous", measure="accuracy")
    assert (first["kobbq"], first["templates"]) == (".5000 ± .0000", "4")  # t0 and t4 of t0, t1, t4 and t5
    other = [replace(row, dataset="mtbbq", answer_id=f"other {row.answer_id}") for row in designed(one_in(1, "biased"))]
    both = comparison_rows(opened(rows + other), "kobbq", MODELS)
    (row,) = lines(both, label="L0", context="ambiguous", measure="diff-bias")
    assert (row["other data set"], row["kobbq"], row["its number"]) == ("mtbbq", ".5000 ± .0000", "1.0000 ± .0000")
    assert (row["higher here"], row["templates"]) == (0.25, "4 and 2")
    tested = significance_rows(opened(rows + other), "kobbq", MODELS)
    (whole,) = lines(tested, number="diff_bias_a", test="Wilcoxon")
    (all_of,) = lines(both, label="all", context="ambiguous", measure="diff-bias")
    assert all_of["p"] == whole["p"]
    assert [one["q"] for one in lines(both)] == false_discovery([one["p"] for one in lines(both)])
    bare = [replace(row, label=None) for row in other]
    (row,) = lines(comparison_rows(opened(rows + bare), "kobbq", MODELS), label="L0", context="ambiguous",
                   measure="diff-bias")  # fmt: skip
    assert row["templates"] == "4 and 4"  # without labels all of it


def test_templates_are_counted_as_in_the_papers_first_table(shared_data: Path) -> None:
    listing = count_table(shared_data / "kobbq" / "data")
    (total,) = lines(listing, category="all")
    assert (total["simply-transferred"], total["target-modified"], total["newly-created"]) == (107, 43, 119)
    assert (total["templates"], total["samples"], total["paper's samples"]) == (269, 76568, 76048)
    (race,) = lines(listing, category="Race_ethnicity_nationality")
    assert (race["templates"], race["paper's templates"]) == (44, 43)


@pytest.mark.parametrize("name", ["published", "votes", "ambiguous", "disambiguated"])
def test_tables_of_kobbq_are_of_no_other_data_set(name: TableName, tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match="'bbq'"):
        check_table(name, Opened("bbq", "en", tmp_path, (), {}, ()))
