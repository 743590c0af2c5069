"""The first screen: findings in sentences, the dot plot, and the strip of trust."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.metrics.declared import COMPARED, is_per_country
from polyculture.reports.dots import Dots, dots
from polyculture.reports.findings import findings
from polyculture.reports.headline import model_lines
from polyculture.reports.names import Names
from polyculture.reports.trust import trust
from tests.extracted import extracted_by
from tests.report_run import MODELS, kitchens
from tests.reports.test_page import Page, parsed

NAMES = Names(read_catalog(), MODELS)
A, B = MODELS


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return kitchens(tmp_path_factory)


@pytest.fixture(scope="module")
def page(run: RunFolder) -> Page:
    return parsed(run)


TOLD = {
    "verdict": "higher",
    "robust_in_all": True,
    "p": 1e-5,
    "q": 0.001,
    "reason": None,
    "lacking": None,
    "same_is_exact": False,
}
COLUMNS = (
    "family", "a", "b", "model", "country", "metric", "condition", "target", "a_estimate", "b_estimate", "difference",
    "low", "high", "p", "q", "verdict", "reason", "lacking", "robust_in", "robust_in_all", "unit", "units", "cells",
    "left_out", "without_largest", "topics", "topics_same_sign", "countries", "countries_same_sign", "tipping",
    "a_model", "b_model", "a_language", "b_language", "new_low", "new_high", "new_verdict", "new_freedom", "naming",
    "a_items", "b_items", "same_is_exact",
)  # fmt: skip


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    common = {"difference": 0.12, "a_estimate": 0.61, "b_estimate": 0.49, "low": 0.08, "high": 0.16, "cells": 900}
    rests = {
        "target": "same_prompts",
        "unit": "response",
        "units": 2558,
        "naming": 1200,
        "a_items": 700,
        "b_items": 500,
        "robust_in": "all",
        "left_out": 0,
        "without_largest": 0.07,
    }
    parts = {"topics": 6, "topics_same_sign": 5, "countries": 12, "countries_same_sign": 11, "tipping": 0.31}
    parts |= {"new_low": 0.02, "new_high": 0.22, "new_verdict": "higher", "new_freedom": 5.0}
    return pd.DataFrame([common | rests | parts | TOLD | row for row in rows], columns=list(COLUMNS))


def of_models(**more: Any) -> dict[str, Any]:
    return {"family": "model", "a": A, "b": B, "metric": "granularity", **more}


def native(by: str, **more: Any) -> dict[str, Any]:
    sides = {"a": "native language", "b": "other languages"}
    return {"family": f"native by {by}", **sides, "metric": "diversity", by: A, **more}


def test_a_finding_is_a_sentence_with_what_it_rests_on() -> None:
    [found] = findings(frame(of_models(metric="specificity", condition="explicit")), NAMES).shown
    assert found.says == (
        "The things that Qwen2.5-7B-Instruct names belong to the country more often than those that smollm2 names, "
        "where the prompt names it, on the prompts that were asked and on new ones like them"
    )
    assert (found.above, found.below, found.effect, found.interval) == ("0.61", "0.49", "+0.12", "+0.08 to +0.16")
    rests = "; ".join(found.rests)
    for part in (
        "1,200 responses that name a linked item, of 2,558",
        "also shown for new prompts like these: +0.02 to +0.22",
        "5 of 6 topics, 11 of 12 countries",
        "+0.07 without",
    ):
        assert part in rests
    assert "31\u00a0% of the unlinked mentions" in rests
    assert [place.label for place in found.places] == ["Qwen2.5-7B-Instruct", "smollm2"]
    assert found.places[1].address == "#evidence&model=llamacpp%3Asmollm2&condition=explicit"
    assert "cells that both" not in rests
    [fewer] = findings(frame(of_models(cells=12, left_out=36)), NAMES).shown
    assert any(one.startswith("12 cells that both sides") and "; 36 cells" in one for one in fewer.rests)


def test_a_finding_of_one_model_or_language_alone_says_so() -> None:
    """ "Texts in Japanese name fewer different things": of the only one of two models that wrote any."""
    japanese = {"family": "language", "a": "ja", "b": "the rest", "metric": "diversity"}
    [found] = findings(frame({**japanese, "a_model": A, "b_model": A}), NAMES).shown
    assert "than those in the other languages, for Qwen2.5-7B-Instruct only, on" in found.says
    assert "model=" in found.places[0].address
    [found] = findings(frame({**japanese, "b_language": "en"}), NAMES).shown
    assert "in the other languages, with English as the only other language, on" in found.says
    [found] = findings(frame(of_models(a_language="en", b_language="en")), NAMES).shown
    assert found.says.startswith("Qwen2.5-7B-Instruct names specific things more often than smollm2, in English only,")
    assert "language=en" in found.places[1].address
    [found] = findings(frame(native("model", a_language="ja")), NAMES).shown
    assert ", with Japanese as the only own language, on" in found.says
    country = native("country", country="JP", model=None, a_language="ja", a_model=A, b_model=A)
    assert "than in other languages, for Qwen2.5-7B-Instruct only, on" in findings(frame(country), NAMES).shown[0].says


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (
            {"new_low": -0.05, "new_high": 0.31, "new_verdict": "not shown"},
            ("not shown for new prompts like these: \u22120.05 to +0.31", "a difference of 0.24 would be found"),
        ),
        (
            {"new_low": None, "new_high": None, "new_verdict": "untestable", "lacking": "few topics"},
            ("not testable for new prompts like these: too few topics",),
        ),
    ],
)
def test_a_finding_of_the_same_prompts_alone_says_so(new: dict[str, Any], said: tuple[str, ...]) -> None:
    """With three topics an enormous difference read "No difference found": it was tested for new prompts alone."""
    [found] = findings(frame(of_models(**new, tipping=None)), NAMES).shown
    assert found.says.endswith(", on the prompts that were asked")
    assert all(part in found.rests[1] for part in said), found.rests
    assert not any("unlinked" in part for part in found.rests), "no tipping point is no claim that nothing turns it"


def test_what_new_prompts_show_comes_before_what_is_clearer_on_the_same_ones() -> None:
    alone = of_models(metric="diversity", p=1e-60, new_low=None, new_high=None, new_verdict=None, lacking="few topics")
    both = findings(frame(alone, of_models()), NAMES)
    assert [one.says.rpartition(", on ")[2] for one in both.shown] == [
        "the prompts that were asked and on new ones like them",
        "the prompts that were asked",
    ]


def test_where_nothing_was_sampled_a_finding_is_about_new_prompts() -> None:
    exact = of_models(target="new_prompts", unit="topic x country", units=72, naming=None)
    [found] = findings(frame(exact), NAMES).shown
    assert found.says.endswith(", on new prompts like these")
    assert found.rests[0] == "72 pairs of a topic and a country"


@pytest.mark.parametrize(
    ("row", "title"),
    [
        ({"robust_in_all": False}, "What differs depends on which texts count"),
        ({"a_items": 9}, "A difference was found"),
        (
            {"verdict": "untestable", "q": None, "p": None, "same_is_exact": True, "reason": "no sampling"},
            "The differences on these prompts are",
        ),
        ({"verdict": "not shown", "q": 0.3}, "No difference found"),
        ({"verdict": "untestable", "q": None, "p": None, "reason": "few responses"}, "No difference could be tested"),
    ],
)
def test_no_difference_is_said_only_where_none_is_shown_and_something_was_tested(
    row: dict[str, Any], title: str
) -> None:
    found = findings(frame(of_models(**row)), NAMES)
    assert (found.shown, found.title.startswith(title)) == ((), True), found.title


def test_no_difference_found_is_no_title_where_some_could_not_be_tested_or_a_sentence_says_otherwise() -> None:
    """One of three comparisons could be tested, and the picture's sentence said 48 % against 13 %, q < 0.001."""
    tested = of_models(metric="diversity", verdict="not shown", q=0.3)
    lacking = of_models(verdict="untestable", q=None, p=None, reason="too few in common")
    assert "some comparisons could not be tested" in findings(frame(tested, lacking), NAMES).title
    for rows in ((tested,), (tested, lacking)):
        assert findings(frame(*rows), NAMES, within=True).title.startswith("Over all countries together")
    assert findings(frame(lacking), NAMES, within=True).title == "No difference could be tested"


def test_a_small_difference_is_written_with_as_many_decimals_as_tell_it() -> None:
    """ "0.01 against 0.01, 0.00 [0.00 to 0.00]" was a finding."""
    small = of_models(a_estimate=0.0121, b_estimate=0.0084, difference=0.0037, low=0.0021, high=0.0052)
    [found] = findings(frame(small), NAMES).shown
    assert (found.above, found.below, found.effect, found.interval) == ("0.012", "0.008", "+0.004", "+0.002 to +0.005")


def test_two_models_stand_in_the_order_of_their_numbers() -> None:
    less = {"verdict": "lower", "difference": -0.12, "low": -0.16, "high": -0.08, "without_largest": -0.07}
    turned = of_models(**less, a_estimate=0.49, b_estimate=0.61)
    [found] = findings(frame(turned), NAMES).shown
    assert found.says.startswith("smollm2 names specific things more often than Qwen")
    assert (found.above, found.below, found.effect, found.interval) == ("0.61", "0.49", "+0.12", "+0.08 to +0.16")
    assert "+0.07 without" in "; ".join(found.rests)


def test_a_native_language_may_have_less() -> None:
    less = {"verdict": "lower", "difference": -1.5, "low": -2.0, "high": -1.0}
    [found] = findings(frame(native("country", country="JP", **less)), NAMES).shown
    assert found.says.startswith(
        "Asked about Japan, models name fewer different things in its own language than in other languages, on"
    )
    assert (found.effect, found.interval) == ("\u22121.5", "\u22122.0 to \u22121.0")
    assert found.places[0].address == "#evidence&country=JP"


def test_every_family_metric_and_condition_has_a_sentence() -> None:
    conditions = ("neutral", "explicit", "implicit_male", "implicit_female", "audience", "of my own")
    others = [{"family": "language", "a": "ja", "b": "the rest"}, of_models(b="the rest")]
    others += [{"family": "condition", "a": one, "b": "neutral"} for one in conditions[1:]]
    for metric in COMPARED:
        for condition in conditions if is_per_country(metric) else (None,):
            for row in (of_models(), native("model", model=A), native("country", country="JP"), *others):
                if metric == "consensus" and row["family"].startswith("native"):
                    continue
                for sign in (1, -1):
                    own = None if row["family"] == "condition" else condition
                    told = row | {"metric": metric, "condition": own, "difference": 0.1 * sign}
                    [found] = findings(frame(told | {"verdict": "higher" if sign > 0 else "lower"}), NAMES).shown
                    assert "{" not in found.says
                    assert found.says
                    assert own is None or ", where " in found.says or own in found.says


def test_only_what_is_told_under_every_selection_of_the_texts_is_a_finding() -> None:
    told = frame(
        of_models(metric="diversity", robust_in_all=False),
        of_models(verdict="not shown", q=0.3),
        of_models(metric="consensus", verdict="untestable", p=None, q=None, reason="few responses"),
    )
    found = findings(told, NAMES)
    assert found.shown == ()
    assert "Of 3 comparisons, 2 could be tested; no comparison shows a difference. The smallest" in found.family


def test_a_side_without_any_linked_mention_is_no_finding() -> None:
    """That German texts name 0 things is what a snapshot without German names says, not what the texts do."""
    silent = {"family": "language", "a": "ja", "b": "the rest", "metric": "diversity", "a_estimate": 0.0}
    agreeing = {"family": "language", "a": "en", "b": "the rest", "metric": "consensus"}
    found = findings(frame(silent, agreeing, native("model"), of_models()), NAMES)
    assert [one.says for one in found.shown] == [findings(frame(of_models()), NAMES).shown[0].says]
    assert "fewer than ten linked items" in found.family
    alone = findings(frame(silent), NAMES)
    assert (alone.shown, "a difference is shown in 1 of them" in alone.family) == ((), True)
    assert "fewer than ten linked items" not in findings(frame(of_models()), NAMES).family


def test_of_a_family_and_metric_the_clearest_stands_alone() -> None:
    several = [of_models(p=p, q=p, difference=difference) for p, difference in ((0.01, 0.4), (0.001, 0.2), (0.02, 0.5))]
    found = findings(frame(*several, of_models(metric="diversity", p=0.0001, q=0.001)), NAMES)
    assert [one.effect for one in found.shown] == ["+0.1", "+0.20"]
    assert "a difference is shown in 4 of them (q < 0.05" in found.family


def test_what_could_not_be_tested_is_counted_with_what_it_needs() -> None:
    none = {"verdict": "untestable", "p": None, "q": None, "low": None, "high": None, "target": "same_prompts"}
    rows = [of_models(**none, reason="one response a prompt")] * 2 + [of_models(lacking="few topics")]
    one, other = findings(frame(*rows), NAMES).untested
    assert (one.count, "[sampling] n" in one.why) == ("2 of 3 could not be tested", True)
    assert other.count == "1 of 3 cannot be tested for new prompts like these"
    assert other.why.startswith("too few topics. Remedy: ")
    assert findings(frame(), NAMES).family.startswith("There is nothing to compare")


def test_the_first_screen_holds_findings_plot_and_strip(page: Page) -> None:
    header = page.all("header")[0]
    assert "What was found" in header.text
    cells = [e for e in page.all("td") if "header" in e.inside and "tabindex" in e.attributes]
    assert len(cells) == len(MODELS) * 5
    assert [e.attributes["tabindex"] for e in cells].count("0") == 1  # one stop of the Tab key
    assert all(" to " in e.text and "n = " in e.text for e in cells)
    places = [e.attributes for e in page.all("i") if "header" in e.inside]
    assert {place["class"] for place in places} >= {"dot", "range"}
    facts = {e.text for e in page.all("dt") if "header" in e.inside}
    assert {"Without an item", "Off-language", "Copies", "Refused", "Thinnest number", "Extractor"} <= facts


def number(model: str, value: float | None, metric: str = "granularity", **more: Any) -> dict[str, Any]:
    """A row of `sql/headline.sql`."""
    row = {"model": model, "metric": metric, "estimate": value, "language": None, "low": None, "high": None}
    row |= {"no_interval": None, "cells": 1, "missing": 0, "incidences": 1234, "shared": False}
    return row | dict.fromkeys(("wide_low", "wide_high", "no_wide", "no_estimate")) | more


def plot(numbers: list[dict[str, Any]], health: Any = (), ranks: Any = (), **more: Any) -> Dots:
    manifest = Manifest(experiment="x", polyculture="0", models=list(MODELS), languages=["en", "ja"], **more)
    return dots(numbers, ranks, model_lines(numbers, health, manifest), manifest, NAMES)


GRANULARITY, GAIN, CONSENSUS = map(COMPARED.index, ("granularity", "specificity_gain", "consensus"))
FIRST = {"dimension": "model", "name": A, "metric": "granularity", "rank_low": 1, "rank_high": 2, "ranked": 2}


def test_a_plot_has_one_scale_a_metric_and_a_dot_only_where_there_is_a_number() -> None:
    numbers = [
        number(A, 0.62, low=0.55, high=0.7),
        number(B, 0.31),
        number(A, -0.02, "specificity_gain", low=-0.1, high=0.06),
    ]
    drawn = plot(numbers, ranks=[FIRST])
    first, second = ([line.marks[GRANULARITY], line.marks[GAIN]] for line in drawn.lines)
    assert (first[0].rank, second[0].rank) == ("rank 1 to 2 of 2", "")
    scale = drawn.scales[GRANULARITY]
    assert (scale.least, scale.most, scale.zero) == ("0.30", "0.70", None)
    assert (first[0].at, first[0].low, first[0].width) == (80.0, 62.5, 37.5)
    assert (second[0].low, second[0].width, second[0].rests) == (None, None, "n = 1,234")
    assert (second[1].at, second[1].found.value) == (None, None)
    assert drawn.scales[GAIN].zero is not None
    narrow = plot([number(A, 1.0, low=0.999, high=1.0)]).scales[GRANULARITY]
    assert (narrow.least, narrow.most) == ("0.90", "1.00")
    low = plot([number(A, 0.01, "consensus", low=0.0, high=0.02)]).scales[CONSENSUS]
    assert (low.least, low.most) == ("0.00", "0.10")


def test_a_metric_that_the_extractor_fixes_is_not_the_first_one_and_is_marked() -> None:
    scales = plot([], **extracted_by({"with": "gazetteer"})).scales
    assert [(scale.metric.name, scale.fixed) for scale in (scales[0], scales[-1])] == [
        ("Culture specificity", False),
        ("Granularity", True),
    ]


@pytest.mark.parametrize(("linked", "reason"), [(9, "not comparable"), (0, "no linked mentions")])
def test_numbers_over_shared_cells_are_marked(linked: int, reason: str) -> None:
    numbers = [
        number(A, 0.6, low=0.5, high=0.7, shared=True, cells=96, missing=24),
        number(B, None, no_estimate="too few in common", shared=True, cells=0, missing=120),
    ]
    counts = {"language": "en", "answered": 9, "extracted": 9, "mentions": 9, "linked": linked}
    drawn = plot(numbers, [{"model": model, **counts} for model in MODELS])
    first, second = (line.marks[GRANULARITY].found for line in drawn.lines if line.language is None)
    assert (first.cells, second.value) == ("96 of 120 cells", None)
    assert reason in (second.missing or "")
    assert drawn.shared is not None


def test_models_of_different_languages_stand_side_by_side_in_those_that_all_have() -> None:
    of = ((A, None, 0.6), (B, None, None), (A, "en", 0.62), (A, "ja", 0.58), (B, "en", 0.55))
    numbers = [
        number(model, value, language=language, no_estimate=None if value else "too few in common")
        for model, language, value in of
    ]
    health = [{"model": model, "language": code, "asked": 9} for model, code in ((A, "en"), (A, "ja"), (B, "en"))]
    drawn = plot(numbers, health, [FIRST | {"rank_high": 1}], languages_of={B: ["en"]})
    marks = [(line.model, line.language, line.marks[GRANULARITY]) for line in drawn.lines]
    assert [(model, language, mark.found.value, mark.rank) for model, language, mark in marks] == [
        (A, "en", "0.62", "rank 1 of 2"), (B, "en", "0.55", ""), (A, None, "0.60", ""),
    ]  # fmt: skip


def test_trust_says_the_share_and_where_it_is_worst() -> None:
    counts = {"asked": 10, "answered": 10, "texts": 10, "mentions": 10, "linked": 5, "refused": 0, "cut": 1}
    health = [
        {"model": A, "language": "en", **counts, "unlinked": 1, "off_language": 0, "copies": 0},
        {"model": A, "language": "ja", **counts, "unlinked": 5, "off_language": 2, "copies": 4},
    ]
    thin = [{"incidences": 3, "language": "ja", "other_language": None, "country": None, "condition": None, "model": A}]
    manifest = Manifest(
        experiment="x", polyculture="0", models=[A], **extracted_by({"with": "openai:org/m"}),
        snapshot={"snapshot": "wikidata-2026-c7477f14a0b1c2d3.duckdb"},
    )  # fmt: skip
    countryless = [
        {"topic": "food", "items": 38, "without_country": 13},
        {"topic": "music", "items": 12, "without_country": 2},
    ]
    facts = trust(health, countryless, thin, manifest, Names(read_catalog(), [A]))
    found = {fact.name: (fact.value, fact.says) for fact in facts}
    assert found["Without a country"] == ("30\u00a0%", "of different items; 13 of 38 in Food")
    assert found["Without an item"] == ("30\u00a0%", "of mentions; 50\u00a0% in Japanese")
    assert found["Copies"] == ("20\u00a0%", "of texts, each counted once; 40\u00a0% in Japanese")
    assert found["Off-language"] == ("10\u00a0%", "of texts; 20\u00a0% in Japanese")
    assert found["Refused"] == ("0\u00a0%", "of what was asked")
    assert found["Cut"] == ("10\u00a0%", "of texts, at the token limit")
    unrecorded = [{**row, "cut": 0, "unrecorded_ending": 10} for row in health]
    facts_of_unknown = trust(unrecorded, countryless, thin, manifest, Names(read_catalog(), [A]))
    assert [(fact.value, "20 of 20 texts" in fact.says) for fact in facts_of_unknown if fact.name == "Cut"] == [
        ("not known", True)
    ]
    for unchecked, value in ((5, "10\u00a0%"), (10, "not known")):  # of 20 asked, in both languages together
        told = [{**row, "refused": int(row["language"] == "en"), "unchecked": unchecked} for row in health]
        facts_of_unchecked = trust(told, countryless, thin, manifest, Names(read_catalog(), [A]))
        (refused,) = [fact for fact in facts_of_unchecked if fact.name == "Refused"]
        assert (refused.value, f"{2 * unchecked} of 20 texts" in refused.says) == (value, True)
    imported = manifest.model_copy(update={"imported": ["a.csv"]})
    facts_of_import = trust(health, countryless, thin, imported, Names(read_catalog(), [A]))
    assert next(fact.says for fact in facts_of_import if fact.name == "Refused") == "of texts"
    assert found["Thinnest number"] == ("3", "linked items: Japanese; 1 below 10")
    assert (found["Extractor"][0], found["Snapshot"][0]) == ("m", "wikidata-2026")
    nothing = [{**row, "linked": 0} for row in health]
    assert "Thinnest number" not in {fact.name for fact in trust(nothing, [], [], manifest, Names(read_catalog(), [A]))}
