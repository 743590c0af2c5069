"""The section on what layers hold: what is drawn, counted, folded and left out, and the page as a reader uses it."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable, Sequence
from html import unescape
from itertools import permutations, product
from pathlib import Path
from statistics import fmean
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.cache.catalog import read_catalog
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.instruments.probe import section
from polyculture.instruments.probe.layer_groups import SHOWN, layer_groups
from polyculture.instruments.probe.layout import PROBE_SIMILARITIES, SimilarityRow
from polyculture.instruments.probe.measure import measure_probe
from polyculture.instruments.probe.sankey import sankey, split_at_mean
from polyculture.reports.figures.chart import Mark
from polyculture.reports.names import Names
from polyculture.reports.reading import read_store
from polyculture.reports.report import write_report
from polyculture.running.layout import store_layout
from tests.browsers import NoBrowserError, opened_browser, wait_until
from tests.instruments.probe_world import CULTURES, write_probes
from tests.store_builder import StoreBuilder

BESIDE = Path(section.__file__).with_name("arms_beside.sql")
BY_LAYER = Path(section.__file__).with_name("items_by_layer.sql")
NAMES = Names(read_catalog())


def words_of(seed: int, many: int = 40) -> Callable[[str, str, int, int], Sequence[str]]:
    """Items of a culture, of all, and some of the next culture; 'water' repeats the prompt."""
    chance = np.random.default_rng(seed)

    def said(arm: str, culture: str, question: int, layer: int) -> list[str]:
        own = CULTURES.index(culture)
        found = [f"dish {own} {chance.integers(many)}", f"thing {chance.integers(10 * many)}"]
        if arm == "patched" and chance.random() < 0.5:
            found.append(f"dish {(own + 1) % 4} {chance.integers(many)}")
        return [*found, "water"] if chance.random() < 0.2 else found

    return said


def page_of(run: RunFolder) -> str:
    """The page with this section alone."""
    return write_report(run, layout=store_layout(), sections=section.SECTIONS).read_text(encoding="utf-8")


scores = st.dictionaries(
    st.sampled_from(list(permutations("abcd", 2))), st.just(0.0) | st.floats(1e-3, 1e6), min_size=1, max_size=12
)


@settings(max_examples=40, deadline=None)
@given(scores)
def test_a_diagram_folds_what_is_below_the_mean_and_loses_nothing(found: dict[tuple[str, str], float]) -> None:
    flows = pd.DataFrame(
        {"culture": one, "toward": other, "score": score, "mark": Mark(f"{one} to {other}", to="row")}
        for (one, other), score in found.items()
    )
    drawn, folded = split_at_mean(flows)
    assert sorted([*drawn["mark"], *folded["mark"]], key=str) == sorted(flows["mark"], key=str)
    mean = flows["score"].mean()
    assert (drawn["score"] >= mean).all()
    assert mean == 0 or (folded["score"] < mean).all()
    if len(drawn):
        svg = ElementTree.fromstring(sankey(flows, {"a": 0.25}, "words").draw())
        assert {one.get("aria-label") for one in svg.iter("a")} == {mark.label for mark in drawn["mark"]}
        texts = ["".join(one.itertext()) for one in svg.iter("text")]
        others = f"{len(folded)} other pairs"
        assert (others in texts) == (folded["score"] > 0).any()


def test_layers_are_counted_as_a_loop_does(tmp_path: Path) -> None:
    run = StoreBuilder(tmp_path).write()
    kept: dict[tuple[str, int], list[tuple[int, int]]] = {}
    words = words_of(1)

    def said(arm: str, culture: str, question: int, layer: int) -> Sequence[str]:
        found = words(arm, culture, question, layer)
        kept.setdefault((arm, layer), []).append((len(found), found.count("water")))
        return found

    write_probes(run, said, arms=("patched", "text"), cultures=CULTURES[:4], questions=9, layers=3)
    with read_store(run, store_layout()) as reading:
        rows = reading.rows(BY_LAYER)
    assert (
        {(row["arm"], row["layer"]) for row in rows} == set(kept) == {*(("patched", n) for n in (1, 2, 3)), ("text", 0)}
    )
    for row in rows:
        counts = kept[row["arm"], row["layer"]]
        assert (row["texts"], row["questions"]) == (36, 9)
        assert row["kept_items"] == sum(one for one, _ in counts)
        assert row["items"] == pytest.approx(fmean(one for one, _ in counts))
        assert row["echo_rate"] == pytest.approx(sum(echo for _, echo in counts) / row["kept_items"])
        assert row["items_low"] < row["items"] < row["items_high"]
        assert 0 <= row["echo_rate_low"] < row["echo_rate"] < row["echo_rate_high"] <= 1


def test_the_filters_are_those_of_the_study_and_of_its_code(tmp_path: Path) -> None:
    """Each reason once: an item's similarity with the question, with culture and topic, and with a neighbour's name."""
    run = StoreBuilder(tmp_path).write()
    likeness = {
        "rice": (0.9, 0.3, 0.4), "far": (0.9, 0.2, 0.0), "near": (0.1, 0.9, 0.51), "alone": (0.2, 0.21, None),
        "a b c d": (0.1, 0.9, 0.0), "xylo": (0.1, 0.9, 0.0), "": (0.1, 0.9, 0.0),
    }  # fmt: skip
    write_probes(run, lambda *_: list(likeness), cultures=CULTURES[:3], questions=1, layers=1)
    rows = [
        SimilarityRow("open", "en", culture, "q0", item, "e", *values)
        for culture in CULTURES[:3]
        for item, values in likeness.items()
        if item
    ]
    write_parquet(objects_to_table(PROBE_SIMILARITIES, rows), run.table(PROBE_SIMILARITIES.name))
    query = "SELECT filter, item, dropped FROM probe_judged WHERE culture = 'Algeria'"
    with open_store(run, store_layout()) as store:
        found = {(name, item): dropped for name, item, dropped in store.sql(query).fetchall()}
    kept = {name: {item for of, item in found if of == name and found[of, item] is None} for name, _ in found}
    assert kept == {"none": set(likeness), "paper": {"rice", "far"}, "released": {"rice", "alone"}}
    for item, why in (("far", "topic"), ("near", "another culture"), ("a b c d", "words"), ("xylo", "x")):
        assert why in found["released", item]


def test_a_filter_that_keeps_nothing_of_a_culture_and_the_released_protocol_are_told(tmp_path: Path) -> None:
    """Iran's items all fell to the released filter, and its scores were not there, without a word."""
    run = StoreBuilder(tmp_path).write()
    first = CULTURES[0]
    write_probes(run, words_of(3, 5), cultures=CULTURES[:3], questions=12, layers=3, protocol="released")
    with open_store(run, store_layout()) as store:
        items = store.sql("SELECT DISTINCT culture, question_id, item_key FROM probe_judged").fetchall()
    rows = [
        SimilarityRow("open", "en", culture, question, item, "e", 0.9, 0.1 if culture == first else 0.5, 0.1)
        for culture, question, item in items
    ]
    write_parquet(objects_to_table(PROBE_SIMILARITIES, rows), run.table(PROBE_SIMILARITIES.name))
    measure_probe(run, 20, 1)
    page = page_of(run)
    assert f"keeps no item of {first}: no score without 3 cultures" in html.unescape(page)
    assert "three layers replaced together" in page
    assert "takes the last layer's state after the final" in html.unescape(page)


def test_intervals_by_layer_hold_the_truth(tmp_path: Path) -> None:
    """The rate of echoes in 200 worlds, each a layer: questions differ, so their items are no independent witnesses."""
    chance = np.random.default_rng(3)
    rates = chance.beta(2, 6, (200, 30))

    def said(arm: str, culture: str, question: int, layer: int) -> list[str]:
        return ["water" if chance.random() < rates[layer - 1, question] else f"item {n}" for n in range(5)]

    run = StoreBuilder(tmp_path).write()
    write_probes(run, said, cultures=CULTURES[:3], questions=30, layers=200)
    with read_store(run, store_layout()) as reading:
        rows = reading.rows(BY_LAYER)
    held = sum(row["echo_rate_low"] <= 0.25 <= row["echo_rate_high"] for row in rows)
    assert 180 <= held <= 198


def test_no_interval_where_all_are_alike_or_questions_are_few(tmp_path: Path) -> None:
    for questions in (4, 6):
        run = StoreBuilder(tmp_path / str(questions)).write()
        write_probes(run, lambda *_: ["rice", "tea"], cultures=CULTURES[:3], questions=questions, layers=1)
        with read_store(run, store_layout()) as reading:
            (row,) = reading.rows(BY_LAYER)
        assert (row["items"], row["echo_rate"]) == (2.0, 0.0)
        assert [row[name] for name in ("items_low", "items_high", "echo_rate_low", "echo_rate_high")] == [None] * 4


def test_arms_stand_beside_the_scores_with_what_is_missing(tmp_path: Path) -> None:
    """A control with layers, one without, and one of whose items nothing is left, with intervals or the reason."""
    arms = ("patched", "text", "noise", "other-culture")
    words = words_of(1)

    def said(arm: str, culture: str, question: int, layer: int) -> Sequence[str]:
        return [] if arm == "noise" else words(arm, culture, question, layer)

    for questions in (4, 12):
        run = StoreBuilder(tmp_path / str(questions)).write()
        write_probes(run, said, arms=arms, cultures=CULTURES[:4], questions=questions)
        measure_probe(run, 19, 1)
        with read_store(run, store_layout()) as reading:
            rows = {(row["arm"], row["metric"]): row for row in reading.rows(BESIDE)}
        metrics = {"flattening", "flattening_share"}
        assert {metric for arm, metric in rows if arm == "other-culture"} == metrics
        assert rows["noise", "flattening"]["lacking"] == "the filter keeps no item of this arm"
        assert "compare shares" in rows["text", "flattening"]["lacking"]
        assert rows["text", "flattening_share"]["difference"] is not None
        lent = rows["other-culture", "flattening"]
        assert lent["difference"] == pytest.approx(lent["patched"] - lent["control"])
        for metric in metrics:
            found = rows["other-culture", metric]
            assert (found["low"] is None) == (questions == 4) == (found["lacking"] == "fewer than 12 questions")
    part = page_of(run).partition('id="layers"')[2]
    assert part.count('class="heat still"') == 1
    assert "items kept per text: " in part
    body = unescape(part[part.index(">Arm: number<") : part.index("</table>", part.index(">Arm: number<"))])
    lines = dict(re.findall(r'<th scope="row" dir="auto">([^<]+)</th>(.*?)</tr>', body, re.DOTALL))
    line = lines["control: a vector of the same topic and another culture: F, mean over the pairs"]
    assert f"{lent['difference']:+.1f}".replace("-", "\u2212") in line
    assert len(re.findall(r'"interval">[+\u2212]?[\d.]+ to', line)) == 1
    assert "Controls not run beside it" not in part


def test_of_many_groups_one_filter_of_all_is_drawn_first_and_what_lacks_is_told() -> None:
    told = [
        {
            "model": f"maker:model-{n}", "dataset": "open", "language": language, "arm": "patched", "filter": name,
            "culture": one, "toward": other, "score": 2.0, "low": 1.0, "high": 3.0, "p": 0.5, "protocol": "paper",
            "toward_items": 0.25,
            "questions": 500, "no_interval": "the same in all halves" if one == CULTURES[0] else None,
        }
        for n, language, name in product(range(5), ("en", "zh"), ("none", "paper"))
        for one, other in permutations(CULTURES[:3], 2)
    ]  # fmt: skip
    groups, more = layer_groups(told, [], [{**told[0], "arm": "noise"}], NAMES)
    assert (len(groups), more) == (SHOWN, 20 - SHOWN)
    assert [group.title.endswith("than the mean") for group in groups[:10]] == [True] * 10
    assert {group.withheld for group in groups} == {"No interval for 2 of 6 pairs: the same in all halves (2)."}
    assert {group.uncontrolled for group in groups} == {
        "No control was run beside it.", "Controls not run beside it: text, other-culture.",
    }  # fmt: skip


def test_bands_are_reached_by_pointer_and_keys_where_no_text_was_written(tmp_path: Path) -> None:
    """The page's script once went to sleep where there were no entities, and with it arrow keys on every figure."""
    run = StoreBuilder(tmp_path).write()
    write_probes(run, words_of(1), arms=("patched", "text"), cultures=CULTURES[:4], questions=8)
    measure_probe(run, 9, 1)
    page_of(run)
    try:
        with opened_browser() as browser:
            page = browser.new_page(viewport={"width": 1440, "height": 1000})
            complaints: list[str] = []
            page.on("console", lambda message: complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(run.report.as_uri())
            bands = page.locator("#layers figure svg[role=group] a")
            first = bands.first
            first.scroll_into_view_if_needed()
            place = first.locator("path").evaluate(
                "path => { const at = path.getPointAtLength(1).matrixTransform(path.getScreenCTM());"
                " return [at.x + 4, at.y + 2]; }"
            )  # on a band at its upper left corner
            page.mouse.move(*place)
            under = page.evaluate("([x, y]) => document.elementFromPoint(x, y).closest('a').ariaLabel", place)
            assert page.locator("svg a.near").get_attribute("aria-label") == under == page.locator(".tip").inner_text()
            first.focus()
            page.keyboard.press("ArrowRight")
            label = page.evaluate("document.activeElement.getAttribute('aria-label')")
            assert label == bands.nth(1).get_attribute("aria-label") != first.get_attribute("aria-label")
            page.keyboard.press("Enter")
            wait_until(page, "location.hash === '#layers-0'")
            for width in (1440, 390):
                page.set_viewport_size({"width": width, "height": 900})
                # The page fits its tables where it hears of its new width, a frame later.
                wait_until(page, f"innerWidth === {width} && document.documentElement.scrollWidth <= {width}", 10)
            assert complaints == []
    except NoBrowserError as error:
        pytest.fail(str(error)) if os.environ.get("CI") else pytest.skip(str(error))
