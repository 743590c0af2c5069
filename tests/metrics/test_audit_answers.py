"""What judges are asked besides: is the thing invented, is the text on topic; and F1. Counted by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import JUDGEMENTS, Judgement
from polyculture.cache.store.store import open_store
from polyculture.metrics.audit.corrected import corrected_metrics
from polyculture.metrics.audit.judging import Case
from polyculture.metrics.audit.scores import JudgedShare, _share, answer_shares, audit_scores, open_rows
from polyculture.running.layout import store_layout
from tests.metrics.test_audit import build, judge, judged, judged_run, run_of, said
from tests.polyculture.test_command_line import polyculture

EXPERIMENT = 'name = "pilot"\nmodels = ["openai:one"]\nlanguages = ["ja"]\ntopics = ["food"]\ncountries = ["JP"]\n'


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    build(tmp_path).write()
    file = tmp_path / "exp.toml"
    file.write_text(EXPERIMENT, encoding="utf-8")
    return file


def shares_of(run: RunFolder, language: str | None = None) -> dict[str, JudgedShare]:
    with open_store(run, store_layout()) as store:
        return {one.what: one for one in answer_shares(store) if one.language == language and one.topic is None}


def also(case: Case) -> dict[str, str]:
    """`judged`, and: ramen has an item, udon is linked to another (it has one), the word is wrong and no thing."""
    if case.ordinal is None:
        return {**judged(case), "on_topic": "yes"}
    return {**judged(case), "existence": {"word": "invented"}.get(case.surface or "", "item")}


def test_from_answers_to_the_shares(experiment: Path) -> None:
    judge(experiment, "ana", also)
    judge(
        experiment,
        "ben",
        lambda case: {**also(case), **({"existence": "no item"} if case.surface == "word" else {})},
        per=4,
    )
    shown = polyculture("audit", experiment, cwd=experiment.parent)
    [line] = [line for line in shown.stdout.splitlines() if "ana, ben" in line and "existence" in line]
    assert {"12", "0.667"} <= set(line.replace("│", " ").split()), line
    assert polyculture("audit", experiment, "--remove", "ben", cwd=experiment.parent).returncode == 0
    for language in (None, "ja"):
        found = {what: (one.hits, one.of) for what, one in shares_of(run_of(experiment), language).items()}
        assert found["extraction F1"] == (40, 60)  # 20 right, 10 wrong, 10 missed
        assert found["link F1"] == (20, 40)  # 10 right; 10 linked to another item, wrong and missed
        assert found["fabrication"] == (0, 20)  # a wrong mention is nothing that the text names
        assert found["relevance"] == (10, 10)


def test_each_reading_of_what_judges_differ_on(tmp_path: Path) -> None:
    """Of four right mentions, ana calls two invented and ben one of them; both call a third one without an item."""
    ana = ("invented", "invented", "no item", "item")
    ben = ("invented", "item", "no item", "item")

    def judgements(extractions: list[str]) -> list[Judgement]:
        mentions = [
            said(judge, extraction, 0, mention="right", existence=word)
            for judge, words in (("ana", ana), ("ben", ben))
            for extraction, word in zip(extractions, words, strict=True)
        ]
        texts = [said("ana", extraction, None, on_topic="yes") for extraction in extractions]
        return [*mentions, *texts, said("ben", extractions[0], None, on_topic="no")]

    run = judged_run(tmp_path, ["ramen"] * 4, judgements)
    found = shares_of(run)
    fabrication, without, relevance = (found[what] for what in ("fabrication", "real without an item", "relevance"))
    assert (fabrication.hits, fabrication.of, fabrication.disputed) == (1.5, 4, 1)
    assert (fabrication.if_wrong, fabrication.value, fabrication.if_right) == (0.25, 0.375, 0.5)
    assert (without.hits, without.of, without.disputed) == (1, 4, 0)
    assert (relevance.hits, relevance.of, relevance.disputed) == (3.5, 4, 1)
    assert "extraction F1" not in found  # no response was judged whole
    with open_store(run, store_layout()) as store:
        assert open_rows(store)[0] == 2
        rows = store.sql("SELECT question, answer FROM audit_answers WHERE disputed ORDER BY question").fetchall()
    assert rows == [("existence", None), ("on_topic", None)]


def test_an_adjudicator_decides_and_a_disputed_mention_counts_by_halves(tmp_path: Path) -> None:
    def judgements(extractions: list[str]) -> list[Judgement]:
        one, two = extractions
        return [
            said("ana", one, 0, mention="right", existence="invented"),
            said("ben", one, 0, mention="right", existence="item"),
            replace(said("cem", one, 0, existence="no item"), adjudicator=True),
            said("ana", two, 0, mention="right", existence="invented"),
            said("ben", two, 0, mention="wrong"),
        ]

    found = shares_of(judged_run(tmp_path, ["ramen"] * 2, judgements))
    assert (found["fabrication"].hits, found["fabrication"].of) == (0.5, 1.5)
    assert (found["fabrication"].if_wrong, found["fabrication"].if_right) == (0, 0.5)
    assert found["real without an item"].hits == 1


def test_f1_is_that_of_precision_and_recall_where_all_was_judged(experiment: Path) -> None:
    judge(experiment, "ana", judged)
    with open_store(run_of(experiment), store_layout()) as store:
        scores = {one.what: one.value for one in audit_scores(store) if one.language is None}
    found = shares_of(run_of(experiment))
    for what in ("extraction", "link"):
        precision, recall = scores[f"{what} precision"], scores[f"{what} recall"]
        assert found[f"{what} F1"].value == pytest.approx(2 * precision * recall / (precision + recall))


def test_new_answers_change_no_correction_and_no_score(tmp_path: Path) -> None:
    def judgements(extractions: list[str]) -> list[Judgement]:
        return [said("ana", one, 0, mention="right", link="right", qid="Q1") for one in extractions]

    run = judged_run(tmp_path, ["ramen"] * 12, judgements)
    with open_store(run, store_layout()) as store:
        before = audit_scores(store), corrected_metrics(store)
        rows = [Judgement(**row) for row in store.sql("FROM stored_judgements").to_arrow_table().to_pylist()]
    told = [replace(one, existence="item") for one in rows] + [
        replace(one, judge="ben", mention=None, link=None, existence="invented") for one in rows
    ]
    texts = [replace(one, ordinal=None, qid=None, mention=None, link=None, on_topic="no") for one in rows]
    write_parquet(objects_to_table(JUDGEMENTS, [*told, *texts]), run.table("judgements"))
    with open_store(run, store_layout()) as store:
        assert (audit_scores(store), corrected_metrics(store)) == before
        assert len(answer_shares(store)) == 4 * 3  # link F1, and three of the new answers, at three places


@pytest.mark.parametrize("what", ["fabrication", "extraction F1"])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_intervals_hold_where_mentions_of_a_response_are_alike(what: str, share: float) -> None:
    """40 responses of 1 to 10 mentions; in half of them, all or no mention is a hit."""
    random = np.random.default_rng(7)
    truth = 2 * share / (1 + share) if what.endswith("F1") else share
    covered = 0
    for _ in range(400):
        cases = random.integers(1, 11, 40)
        together = np.where(random.random(40) < share, cases, 0)
        hits = np.where(random.random(40) < 0.5, together, random.binomial(cases, share))
        rows = np.column_stack([hits, cases, np.zeros(40), hits, cases, hits, cases]).astype(float)
        found = _share(what, (None, None), rows)
        covered += found.low <= truth <= found.high
    assert covered >= 370  # 92.5 %: two and a half standard errors below 95 %
