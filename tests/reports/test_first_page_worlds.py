"""The first page of small worlds of known truth: what it says of a difference that is there, and of one that is not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import Prompt
from polyculture.metrics import METRICS_LAYOUT
from polyculture.metrics.measure import measure
from polyculture.metrics.text_selections import text_selections
from polyculture.reports.building import open_report
from polyculture.reports.comparisons import told_rows
from polyculture.reports.findings import Findings, findings
from polyculture.reports.reading import SQL
from polyculture.reports.sections import COMPARISONS
from tests.metrics.compared_runs import ITEMS, Random, Says, mention, write_run
from tests.store_builder import StoreBuilder

COUNTRIES = ("DE", "IT", "JP", "MX")
TOPICS = ("book", "food", "music", "clothing", "beverage", "transportation")
ONE, TWO = "openai:one", "openai:two"


def of_the_country(share: dict[str, float]) -> Says:
    """Two things, each with a model's share from the country that the prompt names; else from anywhere."""

    def says(random: Random, model: str, prompt: Prompt) -> list[dict[str, object]]:
        def item() -> int:
            if prompt.country and random.random() < share[model]:
                return COUNTRIES.index(prompt.country) + len(COUNTRIES) * int(random.integers(3))
            return int(random.integers(ITEMS))

        return [mention(item(), bool(random.random() < 0.5)) for _ in range(2)]

    return says


def first_page(run: RunFolder) -> tuple[Findings, dict[str, tuple[int, int]]]:
    """The findings, and the models' ranks in specificity."""
    measure(run)
    with open_report(run, None, METRICS_LAYOUT, ()) as data:
        ranks = {
            row["name"]: (row["rank_low"], row["rank_high"])
            for row in data.reading.rows(SQL / "ranks.sql")
            if (row["dimension"], row["metric"]) == ("model", "specificity")
        }
        return findings(data.frame(COMPARISONS), data.names, text_selections(data.reading.store)), ranks


@pytest.mark.parametrize("topics", [TOPICS[:2], TOPICS[:3], TOPICS])
def test_more_data_takes_no_finding_away(tmp_path: Path, topics: Sequence[str]) -> None:
    """With two topics it was a sentence; with three, "No difference found", and both models "1 to 2 of 2"."""
    says = of_the_country({ONE: 0.6, TWO: 0.1})
    write_run(tmp_path, "world", says, topics=topics, countries=COUNTRIES, languages=("de",), n=15)
    found, ranks = first_page(RunFolder(tmp_path / "runs" / "world"))
    assert found.title == "What was found"
    assert any(one.says.startswith("The things that one names belong to the country more often") for one in found.shown)
    assert ranks == {ONE: (1, 1), TWO: (2, 2)}
    assert all("not testable for new prompts" in one.rests[1] for one in found.shown), "there are four countries"


def test_two_models_alike_are_no_sentence_about_models(tmp_path: Path) -> None:
    says = of_the_country({ONE: 0.3, TWO: 0.3})
    write_run(tmp_path, "world", says, topics=TOPICS[:3], countries=COUNTRIES, languages=("de",), n=15)
    found, ranks = first_page(RunFolder(tmp_path / "runs" / "world"))
    assert not any(" one " in f" {place.says} " and " two" in place.says for place in found.shown)
    assert ranks == {ONE: (1, 2), TWO: (1, 2)}


def test_a_difference_of_texts_that_were_cut_alone_is_no_sentence(tmp_path: Path) -> None:
    """The demo's first sentences were based on texts of which 52 to 89 % were cut, unequally."""
    built = StoreBuilder(tmp_path / "run", models=(ONE, TWO), countries=("JP",), n=30)
    for topic in TOPICS[:3]:
        prompt = built.ask("en", topic, "JP")
        for sample in range(30):
            for model in (ONE, TWO):
                is_cut = sample < 18 and model == TWO
                named = {"surface": "dish", "granularity": int(not is_cut and sample % 2)}
                text, ending = f"{sample} dish of {model}", "cut" if is_cut else "whole"
                built.answer(prompt, [named], model=model, sample=sample, text=text, ending=ending, refused=False)
    built.link("dish", "Q1")
    built.entity("Q1", "dish", JP="P495")
    built.know()
    found, _ = first_page(built.write())
    assert found.title == "What differs depends on which texts count"
    assert "54 texts that were cut" in found.family
    assert not any(word in found.family for word in ("refus", "language", "Nobody knows"))


@pytest.mark.parametrize(("endings", "is_known"), [(("cut", "whole"), True), ((None, "unknown"), False)])
def test_what_no_text_is_left_out_for_is_not_said(
    tmp_path: Path, endings: tuple[str | None, str], is_known: bool
) -> None:
    """A run imported without reasons of endings was "the same without texts that were cut"."""
    built = StoreBuilder(tmp_path / "run", models=(ONE, TWO), countries=("JP",), n=20)
    prompts = [built.ask("en", topic, "JP") for topic in TOPICS[:2]]
    for prompt, sample, model in product(prompts, range(20), (ONE, TWO)):
        named = {"surface": "dish", "granularity": int(sample % 3 > 0 if model == ONE else sample % 9 == 0)}
        ending = endings[sample % 5 > 0]
        built.answer(prompt, [named], model=model, sample=sample, refused=False, ending=ending)
    built.link("dish", "Q1")
    built.entity("Q1", "dish", JP="P495")
    built.know()
    run = built.write()
    found, _ = first_page(run)
    said = [*found.shown[0].rests, found.family]
    assert any("if you leave out" in one or "without 16 texts" in one for one in said) is is_known, said
    assert ("Nobody knows which of the texts were cut" in found.family) is not is_known
    with open_report(run, None, METRICS_LAYOUT, ()) as data:
        [stays] = {row["robust_in"] for row in told_rows(data.frame(COMPARISONS)) if row["verdict"] == "higher"}
        assert stays == ("all, complete" if is_known else "all")
