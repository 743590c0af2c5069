"""The first screen: findings in sentences, the dot plot, the quoted sentence, and the strip of trust."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.manifest import Manifest
from polyculture.cache.run_folder import RunFolder
from polyculture.metrics.comparison.compare import METRICS, PER_CONDITION
from polyculture.reports.comparisons import COLUMNS
from polyculture.reports.dots import dots
from polyculture.reports.findings import findings, wanted
from polyculture.reports.headline import model_lines
from polyculture.reports.names import Names
from polyculture.reports.quote import quote
from polyculture.reports.trust import trust
from tests.report_run import MODELS, kitchens
from tests.reports.test_page import Page, evidence, parsed

NAMES = Names(read_catalog(), MODELS)
A, B = MODELS
FOUND = {"finding": 1, "finding_low": 0.08, "finding_high": 0.16, "finding_level": 0.9993, "q_report": 0.001}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return kitchens(tmp_path_factory)


@pytest.fixture(scope="module")
def page(run: RunFolder) -> Page:
    return parsed(run)


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    common = {"difference": 0.12, "mean_a": 0.61, "mean_b": 0.49, "pairs": 900, "blocks": 132, "p": 1e-5}
    return pd.DataFrame([common | row for row in rows], columns=list(COLUMNS))


def of_models(**more: Any) -> dict[str, Any]:
    return {"family": "models", "a": A, "b": B, "metric": "granularity", **FOUND, **more}


def native(by: str, **more: Any) -> dict[str, Any]:
    return {"family": f"native by {by}", "a": "native", "b": "others", "metric": "diversity", by: A, **FOUND, **more}


def test_a_finding_is_a_sentence_with_effect_interval_n_and_places() -> None:
    [found] = findings(frame(of_models(metric="specificity", condition="explicit")), NAMES).shown
    assert found.says == (
        "What Qwen2.5-7B-Instruct names belongs to the country more often than what smollm2 names, "
        "where the prompt names it"
    )
    assert (found.above, found.below, found.effect, found.interval) == ("0.61", "0.49", "+0.12", "+0.08 to +0.16")
    assert (found.prompts, found.notes) == ("132 prompts", "")
    assert [place.label for place in found.places] == ["Qwen2.5-7B-Instruct", "smollm2"]
    assert found.places[1].address == "#evidence&model=llamacpp%3Asmollm2&condition=explicit"


def test_two_models_stand_in_the_order_of_their_numbers() -> None:
    turned = of_models(difference=-0.12, finding_low=-0.16, finding_high=-0.08, mean_a=0.49, mean_b=0.61)
    [found] = findings(frame(turned), NAMES).shown
    assert found.says.startswith("smollm2 names specific things more often than Qwen")
    assert (found.above, found.below, found.effect, found.interval) == ("0.61", "0.49", "+0.12", "+0.08 to +0.16")
    assert wanted(frame(turned)) == {"model": B}


def test_a_native_language_may_have_less_and_an_open_sign_is_said() -> None:
    less = {"difference": -1.5, "finding_low": -2.0, "finding_high": -1.0, "lowest": -3.0, "highest": 2.0}
    [found] = findings(frame(native("country", country="JP", **less)), NAMES).shown
    assert found.says == (
        "Asked about Japan, fewer different things are named in its own language than in other languages"
    )
    assert (found.effect, found.interval) == ("\u22121.5", "\u22122.0 to \u22121.0")
    assert "unlinked mentions could turn it" in found.notes
    assert found.places[0].address == "#evidence&country=JP"
    assert wanted(frame(native("country", country="JP", **less))) == {"country": "JP"}


def test_every_family_metric_and_condition_has_a_sentence() -> None:
    conditions = ("neutral", "explicit", "implicit_male", "implicit_female", "audience", "of my own")
    for metric in METRICS:
        for condition in conditions if metric in PER_CONDITION else (None,):
            for row in (of_models(), native("model", model=A), native("country", country="JP")):
                if metric == "consensus" and row["family"] != "models":
                    continue
                for sign in (1, -1):
                    told = row | {"metric": metric, "condition": condition, "difference": 0.1 * sign}
                    [found] = findings(frame(told), NAMES).shown
                    assert "{" not in found.says
                    assert condition is None or ", where " in found.says or condition in found.says


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [{"q_report": 0.3}, {"q_report": 0.21}],
            "none survives q < 0.05 (Benjamini and Hochberg); the smallest q is 0.210",
        ),
        ([{"q_report": 0.04}, {"q_report": 0.6}], "1 survives q < 0.05 (smallest q 0.040). Once it is picked"),
        ([{"q_report": None, "pairs": 4}], "no comparison has an interval, which needs 18 prompts"),
        ([{"q_report": None, "pairs": 0}], "the run has neither two models nor"),
        ([], "the run has neither two models nor"),
    ],
)
def test_where_nothing_is_found_the_page_says_why(rows: list[dict[str, Any]], said: str) -> None:
    nothing = dict.fromkeys(FOUND)
    found = findings(frame(*(of_models(**{**nothing, **row}) for row in rows)), NAMES)
    assert found.shown == ()
    assert said in found.family
    assert wanted(frame(*(of_models(**{**nothing, **row}) for row in rows))) == {}


def test_the_level_has_as_many_digits_as_it_needs() -> None:
    others = [of_models(**dict.fromkeys(FOUND) | {"q_report": 0.5}) for _ in range(3)]
    assert "of level 99.93\u00a0%" in findings(frame(of_models(), *others), NAMES).family
    assert "of level 95.00\u00a0%" in findings(frame(of_models(finding_level=0.95)), NAMES).family


def test_the_first_screen_holds_findings_plot_sentence_and_strip(page: Page) -> None:
    header = page.all("header")[0]
    said = " ".join(header.text.split())
    assert "What was found" in said
    assert "All comparisons" in said
    cells = [e for e in page.all("td") if "header" in e.inside and "tabindex" in e.attributes]
    assert len(cells) == len(MODELS) * 5
    assert [e.attributes["tabindex"] for e in cells].count("0") == 1  # one stop of the Tab key
    assert all(" to " in e.text and "n = " in e.text for e in cells)
    places = [e.attributes for e in page.all("i") if "header" in e.inside]
    assert {place["class"] for place in places} >= {"dot", "range"}
    for name in ("Linked", "Off-language", "Refused", "Thinnest number", "Extractor", "Snapshot"):
        assert name in [e.text for e in page.all("dt") if "header" in e.inside]


def test_the_sentence_is_of_the_page_and_its_entity_is_marked(page: Page, run: RunFolder) -> None:
    [said] = [e for e in page.all("blockquote") if "header" in e.inside]
    [marked] = [e for e in page.all("mark") if "header" in e.inside]
    data = evidence(page)
    texts = [response["text"] for response in data["responses"]]
    assert any(said.text in text for text in texts)
    labels = {
        label for item in data["items"] for label in (item["label"], *(pair[1] for pair in item.get("labels", ())))
    }
    assert marked.text in labels
    assert 0 < len(marked.text) < len(said.text)


def shown(text: str, start: int, end: int, **more: Any) -> dict[str, Any]:
    item = {"status": "linked", "label": "sushi", "qid": "Q1", "from": "Japan"}
    names = {"model": "m", "language": "en", "topic": "food", "condition": "explicit", "country": "JP"}
    return {
        "axes": {axis: [[code, code.upper()]] for axis, code in names.items()} | {"country": [["JP", "Japan"]]},
        "items": [item],
        "cells": [[0, 0, 0, 0, 0]],
        "prompts": ["Write"],
        "responses": [{"text": text, "marks": [start, end, 0], "cell": 0, "sample": 3, "prompt": 0}],
        **more,
    }


def test_a_sentence_is_cut_where_sentences_end_or_where_it_is_very_long() -> None:
    text = "Rin is tall. At 3.5 she ate sushi with Ken! He left."
    found = quote(shown(text, text.index("sushi"), text.index("sushi") + 5), {})
    assert found is not None
    assert (found.before, found.marked, found.after) == ("At 3.5 she ate ", "sushi", " with Ken!")
    assert found.address.startswith(
        "#evidence&model=m&language=en&topic=food&condition=explicit&country=JP&item=Q1&sentence=3."
    )
    japanese = "朝です。彼は寿司を食べた。夜です。"
    found = quote(shown(japanese, 6, 8), {})
    assert found is not None
    assert found.before + found.marked + found.after == "彼は寿司を食べた。"
    long = "a" * 900 + "sushi" + "b" * 900
    found = quote(shown(long, 900, 905), {})
    assert found is not None
    assert found.marked == "sushi"
    assert len(found.before + found.after) < 260
    assert quote(shown(long, 900, 905, items=[{"status": "ambiguous", "label": "x", "qid": "Q1"}]), {}) is None
    assert quote(shown("cut", 900, 905), {}) is None  # the mention lies behind what the page shows


def test_a_plot_has_one_scale_a_metric_and_a_dot_only_where_there_is_a_number() -> None:
    manifest = Manifest(experiment="x", polyculture="0", models=list(MODELS), languages=["en", "ja"])
    common = {"language": None, "no_interval": None, "cells": 1, "missing": 0, "incidences": 1234}
    common |= dict.fromkeys(("wordings_low", "wordings_high", "no_wordings_interval"))
    numbers = [
        {"model": A, "metric": "granularity", "estimate": 0.62, "low": 0.55, "high": 0.7, **common},
        {"model": B, "metric": "granularity", "estimate": 0.31, "low": None, "high": None, **common},
        {"model": A, "metric": "specificity_gain", "estimate": -0.02, "low": -0.1, "high": 0.06, **common},
    ]
    plot = dots(numbers, model_lines(numbers, [], manifest), NAMES)
    first, second = (line.marks for line in plot.lines)
    assert (plot.scales[0].least, plot.scales[0].most, plot.scales[0].zero) == ("0.30", "0.70", None)
    assert (first[0].at, first[0].low, first[0].width) == (80.0, 62.5, 37.5)
    assert (second[0].low, second[0].width, second[0].rests) == (None, None, "n = 1,234")
    assert (second[1].at, second[1].found.value) == (None, None)
    assert plot.scales[3].zero is not None
    narrow = [{"model": A, "metric": "granularity", "estimate": 1.0, "low": 0.999, "high": 1.0, **common}]
    scale = dots(narrow, model_lines(narrow, [], manifest), NAMES).scales[0]
    assert (scale.least, scale.most) == ("0.90", "1.00")
    low = [{"model": A, "metric": "consensus", "estimate": 0.01, "low": 0.0, "high": 0.02, **common}]
    scale = dots(low, model_lines(low, [], manifest), NAMES).scales[4]
    assert (scale.least, scale.most) == ("0.00", "0.10")


def test_trust_says_the_share_and_where_it_is_worst() -> None:
    counts = {"asked": 10, "answered": 10, "mentions": 10, "refused": 0}
    health = [
        {"model": A, "language": "en", **counts, "linked": 9, "off_language": 0},
        {"model": A, "language": "ja", **counts, "linked": 5, "off_language": 2},
    ]
    thin = [{"incidences": 3, "language": "ja", "other_language": None, "country": None, "condition": None, "model": A}]
    manifest = Manifest(experiment="x", polyculture="0", models=[A], extractor={"with": "openai:m"})
    countryless = [
        {"topic": "food", "items": 38, "without_country": 13},
        {"topic": "music", "items": 12, "without_country": 2},
    ]
    facts = trust(health, countryless, thin, manifest, Names(read_catalog(), [A]))
    found = {fact.name: (fact.value, fact.says) for fact in facts}
    assert found["Without a country"] == ("30\u00a0%", "of linked items; 13 of 38 in Food")
    assert found["Linked"] == ("70\u00a0%", "of mentions; 50\u00a0% in Japanese")
    assert found["Off-language"] == ("10\u00a0%", "of texts; 20\u00a0% in Japanese")
    assert found["Refused"] == ("0\u00a0%", "of what was asked")
    assert found["Thinnest number"] == ("3", "linked items: Japanese; 1 below 10")
    assert found["Extractor"][0] == "openai:m"
    assert "Snapshot" not in found
