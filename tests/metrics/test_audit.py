"""Audits: answers of judges, precision and recall counted by hand, metrics corrected where the truth is known."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from polyculture.cache.errors import StoreError
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import JUDGEMENTS, Judgement
from polyculture.cache.store.store import open_store
from polyculture.metrics.audit.corrected import CorrectedMean, _corrected, _shift, corrected_metrics
from polyculture.metrics.audit.judging import Case, cases_of, drawn, judgements_of, keep_answer, regions_of
from polyculture.metrics.audit.scores import JudgedShare, audit_scores, share_limits
from polyculture.metrics.measure import measure
from polyculture.running.layout import store_layout
from tests.polyculture.test_command_line import polyculture
from tests.simulated import data_sets
from tests.store_builder import StoreBuilder


def build(folder: Path) -> StoreBuilder:
    """Twelve Japanese responses: ramen (right), udon (linked to a person of that name), nothing (a word, no dish)."""
    built = StoreBuilder(folder / "runs" / "pilot", models=("openai:one",), n=12)
    prompt = built.ask("ja", country="JP")
    for _ in range(12):
        built.answer(
            prompt,
            [{"surface": "=ramen"}, {"surface": "udon", "granularity": 1}, {"surface": "word", "granularity": 0}],
        )
    built.link("=ramen", "Q1")
    built.link("udon", "Q2")
    built.link("word")
    built.entity("Q1", "ramen", JP="P495")
    built.entity("Q2", "Udon, a person", IT="P27")
    return built


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    build(tmp_path).write()
    file = tmp_path / "exp.toml"
    file.write_text(
        'name = "pilot"\nmodels = ["openai:one"]\nlanguages = ["ja"]\ntopics = ["food"]\ncountries = ["JP"]\n',
        encoding="utf-8",
    )
    return file


def judge(experiment: Path, name: str, says: Callable[[Case], Mapping[str, str]], per: int = 10) -> None:
    """A judge who answers what `says` gives of each case of a sample."""
    run = run_of(experiment)
    with open_store(run, store_layout()) as store:
        regions = regions_of(store)
        for case in (case for one in drawn(store, per) for case in cases_of(store, one)):
            for question, word in says(case).items():
                keep_answer(run, case, name, question, word, regions)


def judged(case: Case) -> dict[str, str]:
    """Right: ramen and its link, udon but not its link; wrong: the word. Every response lacks one thing."""
    if case.ordinal is None:
        return {"missed": "1"}
    link = {"=ramen": "right", "udon": "wrong"}.get(case.surface or "", "")
    return {"mention": "wrong" if case.surface == "word" else "right", "link": link}


def milder(case: Case) -> dict[str, str]:
    """`judged`, who calls the word right, too."""
    return {**judged(case), **({"mention": "right"} if case.ordinal is not None else {})}


def test_from_answers_to_precision_and_recall(experiment: Path) -> None:
    judge(experiment, "ana", judged)
    shown = polyculture("audit", experiment, "-f", "csv", cwd=experiment.parent)
    rows = {
        (row["what"], row["language"], row["topic"]): (float(row["hits"]), float(row["of"]))
        for row in csv.DictReader(shown.stdout.splitlines())
    }
    for place in (("", ""), ("ja", ""), ("ja", "food")):
        assert rows["extraction precision", *place] == (20, 30)
        assert rows["extraction recall", *place] == (20, 30)
        assert rows["link precision", *place] == (10, 20)
        assert rows["link recall", *place] == (10, 20)


@pytest.mark.parametrize("said_of_wrong_mentions", ["", "right", "wrong", "none"])
def test_a_wrong_mention_is_no_entity_whatever_stands_in_link(tmp_path: Path, said_of_wrong_mentions: str) -> None:
    """Ten dishes of Japan and ten words that are none, in a cell of Japan and one of Italy: the truth is 10 and 1/2.

    The machine has 20 items a cell, and 1/4: ten of twenty in the one, none in the other. The link of one right mention
    is left open: it is taken to be like the others.
    """
    built = StoreBuilder(tmp_path, models=("m",), n=10)
    for country in ("JP", "IT"):
        prompt = built.ask("en", country=country)
        for number in range(10):
            built.answer(prompt, [f"dish {number}", f"word {number}"])
    for number in range(10):
        built.link(f"dish {number}", f"Q{number + 1}")
        built.link(f"word {number}", f"Q{number + 101}")
        built.entity(f"Q{number + 1}", JP="P495")
    run = built.write()
    with open_store(run, store_layout()) as store:
        every = [case for one in drawn(store, 20) for case in cases_of(store, one)]
    cases = [(case, "dish" in (case.surface or "")) for case in every if case.ordinal is not None]
    first = next(case for case, right in cases if right)
    judgements = [
        said(
            "judge", case.extraction_id, case.ordinal, mention="right" if right else "wrong", qid=case.qid,
            link=None if case is first else "right" if right else said_of_wrong_mentions or None,
        )
        for case, right in cases
    ]  # fmt: skip
    write_parquet(objects_to_table(JUDGEMENTS, judgements), run.table("judgements"))
    with open_store(run, store_layout()) as store:
        assert not corrected_metrics(store)  # a run that is not measured has no means to correct
    measure(run)
    with open_store(run, store_layout()) as store:
        found = {one.metric: one for one in corrected_metrics(store)}
        means = dict(
            store.sql("SELECT metric, estimate FROM numbers WHERE level IN ('model', 'model, condition')").fetchall()
        )
    diversity, specificity = found["diversity"], found["specificity"]
    assert {name: one.reported for name, one in found.items()} == {name: means[name] for name in found}
    assert (diversity.corrected, specificity.corrected) == pytest.approx((10, 0.5), abs=0.03)
    assert diversity.low is not None
    assert specificity.low is not None


def test_a_model_that_cannot_have_the_errors_of_its_language_is_not_corrected(tmp_path: Path) -> None:
    """Every mention is specific; one model's are all labelled so, the other's never: half would be added to each."""
    built = StoreBuilder(tmp_path, models=("right", "wrong"), n=20)
    prompt = built.ask("en", country="JP")
    for model, label in (("right", 1), ("wrong", 0)):
        for sample_number in range(20):
            built.answer(prompt, [{"surface": "ramen", "granularity": label}], model=model, sample=sample_number)
    built.link("ramen", "Q1")
    run = built.write()
    judgements = [
        Judgement("judge", row["extraction_id"], 0, "en", "food", "right", 1, "Q1", None, None)
        for row in built.rows["mentions"]
    ]
    write_parquet(objects_to_table(JUDGEMENTS, judgements), run.table("judgements"))
    measure(run)
    with open_store(run, store_layout()) as store:
        found = {one.model: one for one in corrected_metrics(store) if one.metric == "granularity"}
    assert (found["right"].corrected, found["right"].low, found["right"].refuted) == (None, None, True)
    wrong = found["wrong"]
    assert wrong.corrected == pytest.approx(0.5)
    assert 0 <= wrong.low < 0.5 < wrong.high <= 1
    assert not wrong.refuted


def test_a_sample_is_of_what_was_looked_up_and_grows_without_losing_any(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path, n=5)
    for language in ("en", "de"):
        prompt = built.ask(language, country="JP")
        for mentions in (["ramen"], [], ["ramen", "ramen"], ["ramen", "later"]):
            built.answer(prompt, mentions)
    built.link("ramen", "Q1")
    with open_store(built.write(), store_layout()) as store:
        few, more, german = drawn(store, 1), drawn(store, 20), drawn(store, 20, "de", "food")
        surfaces = [case.surface for one in more for case in cases_of(store, one)]
    assert (len(few), len(more), len(german)) == (2, 6, 3)
    assert set(few) < set(more) > set(german)
    assert (surfaces.count("ramen"), surfaces.count("later"), surfaces.count(None)) == (6, 0, 6)


def said(judge: str, extraction: str, ordinal: int | None, **words: Any) -> Judgement:
    """A judge's row of a mention of an English response about food, or of the response."""
    given = {"mention": None, "specific": None, "qid": None, "link": None, "missed": None, **words}
    return Judgement(judge, extraction, ordinal, "en", "food", **given)


def judged_run(folder: Path, mentions: Sequence[str], judgements: Callable[[list[str]], list[Judgement]]) -> RunFolder:
    """A run whose every response has one mention, with what `judgements` says of the extractions."""
    built = StoreBuilder(folder, models=("m",), n=len(mentions))
    prompt = built.ask("en", country="JP")
    for surface in mentions:
        built.answer(prompt, [surface])
    for surface in sorted(set(mentions)):
        built.link(surface, "Q1" if surface == "ramen" else None)
    built.entity("Q1", "ramen", JP="P495")
    run = built.write()
    rows = judgements([row["extraction_id"] for row in built.rows["extractions"]])
    write_parquet(objects_to_table(JUDGEMENTS, rows), run.table("judgements"))
    return run


def of_75(extractions: list[str]) -> list[Judgement]:
    """Ana calls 69 of 75 mentions right (0.92), Ben 62: both 57, neither one, and on 17 they differ."""
    ana = [True] * 57 + [True] * 12 + [False] * 5 + [False]
    ben = [True] * 57 + [False] * 12 + [True] * 5 + [False]
    return [
        said(judge, extraction, 0, mention="right" if right else "wrong")
        for judge, words in (("ana", ana), ("ben", ben))
        for extraction, right in zip(extractions, words, strict=True)
    ]


def scores_of(run: RunFolder) -> dict[str, JudgedShare]:
    with open_store(run, store_layout()) as store:
        return {one.what: one for one in audit_scores(store) if one.language is None}


def test_what_judges_differ_on_counts_one_half_and_the_interval_spans_both_readings(tmp_path: Path) -> None:
    """Without the 17 disputed mentions precision would be 57 of 58: a second judge would make the machine better."""
    found = scores_of(judged_run(tmp_path, ["ramen"] * 75, of_75))["extraction precision"]
    assert (found.hits, found.of, found.disputed) == (65.5, 75, 17)
    assert found.value == pytest.approx((69 + 62) / 2 / 75)  # the mean of what the two judges say
    assert (found.if_wrong, found.if_right) == (57 / 75, 74 / 75)
    worst, best = (stats.binomtest(hits, 75).proportion_ci(method="wilson") for hits in (57, 74))
    # One mention a response: the limits of shares of 75 responses, which are Wilson's with room for an exception.
    one, right, all_but = np.ones(75), np.arange(75) < 57, np.arange(75) < 74
    assert found.low == pytest.approx(share_limits(right.astype(float), one)[0])
    assert found.high == pytest.approx(share_limits(all_but.astype(float), one)[1])
    assert worst.low - 0.01 < found.low <= worst.low
    assert best.high <= found.high < best.high + 0.01


def test_the_mentions_of_a_response_are_no_independent_cases(tmp_path: Path) -> None:
    """Twenty responses of ten mentions, four of them wrong as a whole: four of twenty, not forty of two hundred."""
    built = StoreBuilder(tmp_path, models=("m",), n=20)
    prompt = built.ask("en", country="JP")
    for _ in range(20):
        built.answer(prompt, ["ramen"] * 10)
    built.link("ramen", "Q1")
    run = built.write()
    extractions = [row["extraction_id"] for row in built.rows["extractions"]]
    rows = [
        said("ana", extraction, ordinal, mention="wrong" if place < 4 else "right")
        for place, extraction in enumerate(extractions)
        for ordinal in range(10)
    ]
    write_parquet(objects_to_table(JUDGEMENTS, rows), run.table("judgements"))
    found = scores_of(run)["extraction precision"]
    assert (found.hits, found.of, found.value) == (160, 200, 0.8)
    twenty = stats.binomtest(16, 20).proportion_ci(method="wilson")
    assert found.low <= twenty.low
    assert found.high >= twenty.high


def test_an_adjudicator_decides_what_judges_differ_on(tmp_path: Path) -> None:
    """Of 17 disputed mentions the adjudicator calls ten right, six wrong, and cannot say of one."""

    def with_adjudicator(extractions: list[str]) -> list[Judgement]:
        words = ["right"] * 10 + ["wrong"] * 6 + [None]
        rows = [said("cem", one, 0, mention=word) for one, word in zip(extractions[57:74], words, strict=True)]
        return [*of_75(extractions), *(replace(row, adjudicator=True) for row in rows)]

    found = scores_of(judged_run(tmp_path, ["ramen"] * 75, with_adjudicator))["extraction precision"]
    assert (found.hits, found.of, found.disputed) == (67.5, 75, 1)
    assert (found.if_wrong, found.if_right) == (67 / 75, 68 / 75)


def test_an_adjudicator_who_leaves_the_label_alone_decides_nothing_of_it(tmp_path: Path) -> None:
    """Two judges call the mention right and its label wrong; the adjudicator says of the mention alone."""

    def judged(extractions: list[str]) -> list[Judgement]:
        rows = [said(judge, extractions[0], 0, mention="right", specific=0) for judge in ("ana", "ben")]
        return [*rows, said("cem", extractions[0], 0, mention="right", adjudicator=True)]

    with open_store(judged_run(tmp_path, ["ramen"], judged), store_layout()) as store:
        found = store.sql("SELECT granularity, specific, specifics, disputed FROM audited_mentions").fetchall()
    assert found == [(1, 0, [0], False)]


def test_disputes_of_links_and_of_what_is_missed_stay_in(tmp_path: Path) -> None:
    """Links by hand: both right, differing twice, and one of a mention of which judges differ; one missed or three."""
    words = [
        (("right", "right"), ("right", "right")),
        (("right", "right"), ("right", "wrong")),
        (("right", "wrong"), ("right", "none")),  # wrong either way; whether the mention has an item is open
        (("right", "right"), ("wrong", None)),
    ]

    def judgements(extractions: list[str]) -> list[Judgement]:
        rows = [
            said(judge, extraction, 0, mention=mention, link=link, qid="Q1")
            for extraction, both in zip(extractions, words, strict=True)
            for judge, (mention, link) in zip(("ana", "ben"), both, strict=True)
        ]
        return [*rows, said("ana", extractions[0], None, missed=1), said("ben", extractions[0], None, missed=3)]

    found = scores_of(judged_run(tmp_path, ["ramen"] * 4, judgements))
    counts = {what: (one.hits, one.of, one.disputed) for what, one in found.items()}
    assert counts == {
        "extraction precision": (3.5, 4, 1),
        "extraction recall": (1, 3, 1),
        "link precision": (2, 3.5, 2),
        "link recall": (2, 3, 3),
    }
    readings = {what: (one.if_wrong, one.if_right) for what, one in found.items()}
    assert readings == {
        "extraction precision": (3 / 4, 1),
        "extraction recall": (1 / 4, 1 / 2),
        "link precision": (1 / 3, 3 / 4),
        "link recall": (1 / 3, 1),
    }


def test_corrected_metrics_span_both_readings_of_what_judges_differ_on(tmp_path: Path) -> None:
    """Sixty mentions, all labelled specific: judges agree that 20 are general, and differ on 20 more."""

    def judgements(extractions: list[str]) -> list[Judgement]:
        return [
            said(judge, extraction, 0, mention="right", specific=0 if number < often else None)
            for judge, often in (("ana", 40), ("ben", 20))
            for number, extraction in enumerate(extractions)
        ]

    def alone(extractions: list[str], judge: str) -> list[Judgement]:
        return [one for one in judgements(extractions) if one.judge == judge]

    mentions = ["ramen"] * 60
    both, fewer, more = (
        corrected_granularity(judged_run(tmp_path / name, mentions, of))
        for name, of in (
            ("both", judgements),
            ("fewer", partial(alone, judge="ana")),
            ("more", partial(alone, judge="ben")),
        )
    )
    assert (more.corrected, fewer.corrected) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert both.corrected == pytest.approx(1 / 2)
    assert (both.low, both.high) == (pytest.approx(fewer.low), pytest.approx(more.high))


def corrected_granularity(run: RunFolder) -> CorrectedMean:
    measure(run)
    with open_store(run, store_layout()) as store:
        (found,) = (one for one in corrected_metrics(store) if one.metric == "granularity")
    return found


def test_an_item_of_a_response_counts_once_in_a_correction(tmp_path: Path) -> None:
    """Ramen, specific, twice in each response, once wrongly; udon, general and right: nothing is to be corrected."""
    built = StoreBuilder(tmp_path, models=("m",), n=12)
    prompt = built.ask("en", country="JP")
    for _ in range(12):
        built.answer(prompt, ["ramen", "ramen", {"surface": "udon", "granularity": 0}])
    for surface, qid in (("ramen", "Q1"), ("udon", "Q2")):
        built.link(surface, qid)
    built.entity("Q1", JP="P495")
    run = built.write()
    judgements = [
        said("judge", one["extraction_id"], ordinal, mention=mention, qid=qid, link=link)
        for one in built.rows["extractions"]
        for ordinal, mention, qid, link in (
            (0, "right", "Q1", "right"),
            (1, "wrong", "Q1", None),
            (2, "right", "Q2", "right"),
        )
    ]
    write_parquet(objects_to_table(JUDGEMENTS, judgements), run.table("judgements"))
    measure(run)
    with open_store(run, store_layout()) as store:
        found = {one.metric: (one.reported, one.corrected) for one in corrected_metrics(store)}
    for metric in ("granularity", "specificity"):  # of mentions: 2 of 3, and 1 of 2
        reported, corrected = found[metric]
        assert corrected == pytest.approx(reported), metric


def test_a_mention_judged_before_and_after_its_link_changed_counts_once(tmp_path: Path) -> None:
    def judgements(extractions: list[str]) -> list[Judgement]:
        (one,) = extractions
        return [
            said("ana", one, 0, mention="right", qid="Q7", link="wrong"),
            said("ben", one, 0, mention="wrong", qid="Q1", link="right"),
        ]

    found = scores_of(judged_run(tmp_path, ["ramen"], judgements))
    assert (found["extraction precision"].hits, found["extraction precision"].of) == (0.5, 1)
    assert (found["link precision"].hits, found["link precision"].of) == (0.5, 0.5)  # Ana's link is another


def test_an_adjudicator_is_named_and_a_judge_removed(experiment: Path) -> None:
    folder = experiment.parent
    judge(experiment, "ana", judged)
    judge(experiment, "ben", milder)
    shown = polyculture("audit", experiment, cwd=folder)
    assert max(map(len, shown.stdout.splitlines())) <= 100
    assert "10 judged rows" in shown.stderr
    assert "0.667" in shown.stdout  # if all were wrong: 20 of 30
    assert "ana, ben" in shown.stdout
    with open_store(run_of(experiment), store_layout()) as store:
        query = "SELECT sum(hits), sum(cases), sum(disputed) FROM audit_response_shares WHERE what ^@ 'extraction p'"
        assert store.sql(query).fetchall() == [(25, 30, 10)]  # what they differ on counts by halves
    nobody = polyculture("audit", experiment, "--adjudicator", "dan", cwd=folder)
    assert nobody.returncode == 2
    assert "Name one of ana, ben" in nobody.stderr
    judge(experiment, "cem", judged, per=1)
    done = polyculture("audit", experiment, "--adjudicator", "cem", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "ana, ben" in done.stdout
    assert "cem" not in done.stdout  # kappa is of independent judges
    judge(experiment, "cem", judged)  # an adjudicator who goes on remains one
    assert (scores_of(run_of(experiment))["extraction precision"].hits) == 20
    assert (scores_of(run_of(experiment))["extraction precision"].disputed) == 0
    removed = polyculture("audit", experiment, "--remove", "cem", cwd=folder)
    assert removed.stderr.startswith("judges now: ana, ben")
    assert (scores_of(run_of(experiment))["extraction precision"].hits) == 25
    assert polyculture("audit", experiment, "--remove", "ana", "--remove", "ben", cwd=folder).returncode == 0
    shown = polyculture("audit", experiment, cwd=folder)
    assert shown.returncode == 2
    assert "holds no judgements" in shown.stderr


def test_a_judgement_of_a_link_that_has_changed_does_not_count(experiment: Path, tmp_path: Path) -> None:
    judge(experiment, "ana", judged)
    relinked = build(tmp_path)
    relinked.rows["links"] = [row for row in relinked.rows["links"] if row["surface"] != "udon"]
    relinked.link("udon", "Q3")
    relinked.entity("Q3", "udon", JP="P495")
    relinked.write()
    with open_store(run_of(experiment), store_layout()) as store:
        found = {one.what: (one.hits, one.of) for one in audit_scores(store) if one.language is None}
    assert found["link precision"] == (10, 10)
    shown = polyculture("audit", experiment, cwd=experiment.parent)
    assert "10 judged mentions" in shown.stderr
    judge(experiment, "ben", lambda case: {"link": "right"} if case.surface == "udon" else {}, per=1)
    judge(experiment, "ana", lambda case: {"specific": "0"} if case.surface == "udon" else {}, per=1)
    [again] = [one for one in judgements_of(run_of(experiment)) if one.judge == "ana" and one.specific == 0]
    assert (again.qid, again.link, again.mention) == ("Q3", None, "right")  # what was said of the former link is gone


@pytest.mark.parametrize("label", [1.0, 0.0])
def test_a_sample_without_an_error_leaves_room_for_one(label: float) -> None:
    """Ten responses as the machine labelled them: a quarter may be wrong, and in the one direction that there is."""
    response, one = np.arange(10), np.ones(10)
    shift = _shift(response, [one * label, one, one * label, one])
    assert shift.value == 0
    found = _corrected("granularity", "m", "en", label, label, label, shift)
    assert found.low is not None
    assert found.high is not None
    low, high = stats.binomtest(int(10 * label), 10).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.001)


@pytest.mark.parametrize("wrong", [0.05, 0.2])
@pytest.mark.parametrize("responses", [10, 40, 100])
def test_limits_of_an_audit_hold_whatever_the_sample(responses: int, wrong: float) -> None:
    """A run whose every label is 1, and judges who call some of them wrong: the truth is inside in 91 % and more."""
    random, covered = np.random.default_rng([responses, int(wrong * 100)]), 0
    for _ in range(300):
        each = 1 + random.poisson(2, responses)
        owner, one = np.repeat(np.arange(responses), each), np.ones(each.sum())
        right = (random.random(len(one)) >= wrong).astype(float)
        found = _corrected("granularity", "m", "en", 1.0, 0.998, 1.0, _shift(owner, [right, one, one, one]))
        covered += found.low <= 1 - wrong <= found.high
    assert covered >= 273


MISTAKES = [
    (0, "mention", "yes", "Answer right or wrong"),
    (0, "specific", "2", "Answer 1 or 0"),
    (0, "missed", "1", "not asked"),
    (0, "existence", "real", "Answer item"),
    (None, "missed", "-1", "Say how many"),
    (None, "missed", "³", "Say how many"),
    (None, "on_topic", "maybe", "Answer yes or no"),
    (None, "mention", "right", "not asked"),
    (None, "region", "french", "neutral"),
]


@pytest.mark.parametrize(("ordinal", "question", "word", "told"), MISTAKES)
def test_an_answer_that_is_none_is_not_kept(
    experiment: Path, ordinal: int | None, question: str, word: str, told: str
) -> None:
    with pytest.raises(StoreError) as fault:
        judge(experiment, "ana", lambda case: {question: word} if case.ordinal == ordinal else {}, per=1)
    assert told in str(fault.value)
    assert not judgements_of(run_of(experiment))


@pytest.mark.parametrize(
    ("surface", "link", "existence"),
    [
        ("=ramen", "right", "invented"),
        ("udon", "none", "item"),
        ("word", "right", "item"),
        ("word", "wrong", "no item"),
    ],
)
def test_link_and_existence_must_agree(experiment: Path, surface: str, link: str, existence: str) -> None:
    words = {"mention": "right", "link": link, "existence": existence}
    with pytest.raises(StoreError, match="Take one of the two back"):
        judge(experiment, "ana", lambda case: words if case.surface == surface else {}, per=1)


def test_answers_of_many_tabs_are_all_kept_and_one_can_be_taken_back(experiment: Path) -> None:
    """Each answer reads and writes the file of all judgements: none writes over another's."""
    run = run_of(experiment)
    with open_store(run, store_layout()) as store:
        cases = [case for one in drawn(store, 10) for case in cases_of(store, one) if case.ordinal is not None]
    with ThreadPoolExecutor(8) as tabs:
        list(tabs.map(lambda case: keep_answer(run, case, "ana", "mention", "right"), cases))
    assert len(judgements_of(run)) == len(cases) == 30
    keep_answer(run, cases[0], "ana", "mention", "")
    assert len(judgements_of(run)) == 29  # of whom nothing is said, no row is left


def run_of(experiment: Path) -> RunFolder:
    return RunFolder(experiment.parent / "runs" / "pilot")


@data_sets(2, 8)
def test_corrected_numbers_cover_the_truth(tmp_path: Path, count: int) -> None:
    """Models whose mentions are often wrong: what is reported is far off, what is corrected covers the truth."""
    random, covered, off = np.random.default_rng(11), 0, 0
    for world in range(count):
        built = StoreBuilder(tmp_path / str(world), models=("m",), n=300)
        prompt = built.ask("en", country="JP")
        truth: dict[tuple[int, int], tuple[bool, int, bool]] = {}
        for response in range(300):
            mentions = []
            for ordinal in range(1 + random.poisson(2)):
                # A true thing is specific in 3 of 10, a wrong mention always labelled so.
                right = bool(random.random() < 0.7)
                specific = int(random.random() < 0.3)
                truth[response, ordinal] = (right, specific, right)
                label = specific if right else 1
                mentions.append({"surface": "right" if right else "wrong", "granularity": label})
            built.answer(prompt, mentions)
        built.link("right", "Q1")
        built.link("wrong", "Q2")
        built.entity("Q1", JP="P495")
        built.entity("Q2", IT="P495")
        run = built.write()
        answer(run, truth)
        measure(run)
        with open_store(run, store_layout()) as store:
            found = {one.metric: one for one in corrected_metrics(store)}
        granularity, specificity = found["granularity"], found["specificity"]
        covered += granularity.low <= 0.3 <= granularity.high
        off += granularity.reported_low > 0.3
        assert specificity.low <= 1.0 <= specificity.high + 0.03  # every right link is associated
        assert specificity.reported < 0.8
        diversity = found[
            "diversity"
        ]  # of two items one is right; the limits leave room for unseen ones in both numbers
        assert diversity.corrected is not None
        assert diversity.corrected == pytest.approx(1.0, abs=0.15)
        assert diversity.low <= 1.0 <= diversity.high < diversity.reported_high * 0.6
    assert off == count
    assert covered >= 0.75 * count  # of 8 at 95 %: fewer than six in one of 150 series


def answer(run: RunFolder, truth: dict[tuple[int, int], tuple[bool, int, bool]]) -> None:
    """A judge who knows the truth judges 80 responses."""
    with open_store(run, store_layout()) as store:
        cases = [case for one in drawn(store, 80) for case in cases_of(store, one) if case.ordinal is not None]
    judgements = []
    for case in cases:
        right, specific, link = truth[int(case.extraction_id[1:7]), case.ordinal or 0]
        words = {"mention": "right" if right else "wrong", "link": "right" if link else "wrong"}
        judgements.append(said("judge", case.extraction_id, case.ordinal, specific=specific, qid=case.qid, **words))
    write_parquet(objects_to_table(JUDGEMENTS, judgements), run.table("judgements"))
